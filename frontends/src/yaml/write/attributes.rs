//! Attributes of operations, taken from the serialized operation.
//!
//! An operation serializes with all its attributes. Attributes whose names or values differ in graph YAML are listed
//! here. Every written node is read again, which checks that none is missing.

use std::fmt::Debug;

use guardbit_documents::flow;
use guardbit_graph::ops::{DynamicPart, IntegerPair, Places, RealFunction, RealPair, RealReduction};
use guardbit_graph::{Activation, Arithmetic, DType, MultiplierRule, Op};
use guardbit_num::Scheme;
use serde_yaml::{Mapping, Value};

use crate::yaml::operations::{self, NodeFile};
use guardbit_documents::Path;

/// Returns the map of a node with these operands, or `None` if it would be read as a different operation.
pub(super) fn written(op: &Op, operands: &[(&'static str, Value)]) -> Option<Mapping> {
    let Value::Tagged(tagged) = serde_yaml::to_value(op).ok()? else { return None };
    let mut said = vec![("op".to_owned(), Value::from(op.name()))];
    said.extend(operands.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    if let Value::Mapping(fields) = &tagged.value {
        for (field, value) in fields {
            said.extend(attribute(field.as_str()?, value)?);
        }
    }
    let map = map(said.iter().map(|(key, value)| (key.as_str(), value.clone())));
    let again: NodeFile = serde_yaml::from_str(&flow::text_in_float32(&Value::Mapping(map.clone()))).ok()?;
    (operations::read(&again, &Path::default()).ok()? == *op).then_some(map)
}

/// Returns the attributes for a field, or none if it has its default value.
fn attribute(field: &str, value: &Value) -> Option<Vec<(String, Value)>> {
    let one = |key: &str, value: Value| Some(vec![(key.to_owned(), value)]);
    match (field, value) {
        (_, Value::Null | Value::Bool(false)) => Some(Vec::new()),
        ("stride" | "dilation", value) if *value == Value::from(vec![1, 1]) => Some(Vec::new()),
        ("padding", Value::Tagged(cells)) => one(field, cells.value.clone()),
        ("padding", Value::String(rule)) if rule == "Valid" => Some(Vec::new()),
        ("padding", Value::String(rule)) => one(field, rule.to_lowercase().into()),
        ("activation", Value::String(variant)) => match name(variant, &Activation::ALL, Activation::name)? {
            "none" => Some(Vec::new()),
            name => one(field, name.into()),
        },
        ("arithmetic", Value::String(variant)) => {
            one(field, name(variant, &Arithmetic::ALL, Arithmetic::name)?.into())
        }
        ("function" | "places" | "part", Value::String(variant)) => {
            let name = name(variant, RealFunction::ALL, RealFunction::name)
                .or_else(|| name(variant, RealPair::ALL, RealPair::name))
                .or_else(|| name(variant, RealReduction::ALL, RealReduction::name))
                .or_else(|| name(variant, IntegerPair::ALL, IntegerPair::name))
                .or_else(|| name(variant, Places::ALL, Places::name))
                .or_else(|| name(variant, DynamicPart::ALL, DynamicPart::name));
            one("function", name?.into())
        }
        ("scale_dtype" | "element_dtype", Value::String(variant)) => {
            one(field, name(variant, &DType::ALL, DType::name)?.into())
        }
        ("scales", value) => one("parameters", value.clone()),
        ("scheme", scheme) => Some(requantize(scheme.as_str()?, None)),
        ("requantize", Value::Mapping(own)) => {
            let rule = name(own.get("rule")?.as_str()?, &MultiplierRule::ALL, MultiplierRule::name)?;
            Some(requantize(own.get("scheme")?.as_str()?, Some(rule)))
        }
        (field, value) => one(field, value.clone()),
    }
}

/// Returns the name in files of the variant `variant`.
fn name<T: Debug + Copy>(
    variant: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Option<&'static str> {
    all.iter().find(|value| format!("{value:?}") == variant).map(|&value| name_of(value))
}

/// Returns a scheme, and the rule of its multipliers if that is not the default.
fn requantize(scheme: &str, rule: Option<&str>) -> Vec<(String, Value)> {
    let meant = match scheme.parse().is_ok_and(|scheme: Scheme| scheme.forms_multiplier_in_float32()) {
        true => MultiplierRule::Float32.name(),
        false => MultiplierRule::Float64.name(),
    };
    let mut said = Vec::new();
    if scheme != Scheme::Double.name() {
        said.push(("requantize".to_owned(), scheme.into()));
    }
    if let Some(rule) = rule.filter(|&rule| rule != meant) {
        said.push(("multiplier".to_owned(), rule.into()));
    }
    said
}

/// Returns a map of these keys.
pub(super) fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Mapping {
    entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect()
}
