//! The JSON Schema of graph YAML, for editors.

use guardbit_graph::{Activation, DType, MultiplierRule};
use guardbit_num::{Rounding, Scheme};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::file::GraphFile;
use super::operations::OPERATIONS;

/// Returns the schema (draft 2020-12) as text, which equals the committed `graph.schema.json`.
pub fn graph_schema() -> String {
    guardbit_files::schema_text::<GraphFile>(|schema| {
        if let Some(node) = schema.pointer_mut("/$defs/NodeFile") {
            *node = per_operation(node);
        }
    })
}

/// Returns the schema of a node, which may only have the attributes of its operation.
fn per_operation(node: &Value) -> Value {
    let properties = &node["properties"];
    let of_operation = |operation: &super::Operation| {
        let own = ["inputs", "output"].iter().chain(operation.attributes);
        let mut shown: Map<String, Value> =
            own.map(|name| ((*name).to_owned(), attribute(name, &properties[name]))).collect();
        shown.insert("op".into(), json!({ "const": operation.name }));
        json!({
            "type": "object",
            "properties": shown,
            "required": ["op", "inputs", "output"],
            "additionalProperties": false,
        })
    };
    let operations: Vec<Value> = OPERATIONS.iter().map(of_operation).collect();
    json!({ "description": "An operation.", "oneOf": operations })
}

/// Returns the schema of an attribute. It lists the values if they have names.
fn attribute(name: &str, ty: &Value) -> Value {
    match name {
        // An absent optional input is null.
        "inputs" => json!({ "type": "array", "items": { "type": ["string", "null"] } }),
        "activation" => json!({ "enum": Activation::ALL.map(Activation::name) }),
        "requantize" => {
            let names = Scheme::ALL.iter().flat_map(|scheme| [scheme.name(), scheme.id()]);
            json!({ "enum": names.collect::<Vec<_>>() })
        }
        "multiplier" => json!({ "enum": MultiplierRule::ALL.map(MultiplierRule::name) }),
        "rounding" => json!({ "enum": Rounding::ALL.map(Rounding::name) }),
        _ => ty.clone(),
    }
}

pub(super) fn version(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": 1 })
}

pub(super) fn dtype(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": DType::ALL.map(DType::name) })
}

/// Returns the schema of a scale: a number, a list with one per index of `axis`, or `none` for plain integers.
pub(super) fn scale(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "number" },
        { "type": "array", "items": { "type": "number" } },
        { "const": "none" },
    ] })
}

pub(super) fn integer_or_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "array", "items": { "type": "integer" } }] })
}

/// Returns the schema of integers in a flat list, or nested like the shape.
pub(super) fn integers(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["integer", "array"] })
}

/// Returns the schema of padding, by rule or in cells.
pub(super) fn padding(_: &mut SchemaGenerator) -> Schema {
    let pair = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2 });
    json_schema!({ "anyOf": [
        { "enum": ["same", "valid"] },
        {
            "type": "object",
            "properties": { "rows": pair, "cols": pair },
            "required": ["rows", "cols"],
            "additionalProperties": false,
        },
    ] })
}
