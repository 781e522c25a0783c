//! Checks a JSON value against a schema that this crate generated.
//!
//! The check covers the keywords that such schemas use, as defined by JSON Schema, draft 2020-12.
//! `scripts/oracles/check_schemas.py` compares the results with those of the Python package `jsonschema`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

use regex_lite::Regex;
use serde_json::Value;

/// A place where a value violates its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer of the value; `/` for the whole document.
    pub at: String,
    /// The problem. It quotes the value only if the value is short.
    pub problem: String,
}

/// Maximum length of a quoted text in a message, in bytes.
const MAX_QUOTED: usize = 200;
/// Maximum number of violations that are collected.
const MAX_VIOLATIONS: usize = 100;

/// Returns the places where `value` violates `schema`, sorted by pointer, at most 100.
///
/// # Panics
/// If the schema has an unknown keyword, or a reference outside its `$defs`. guardbit generates the schemas, so an
/// unknown constraint is a bug.
pub fn schema_violations(schema: &Value, value: &Value) -> Vec<Violation> {
    let (pointer, found, patterns) = (String::new(), Vec::new(), BTreeMap::new());
    let mut checker = Checker { root: schema, pointer, found, patterns };
    checker.check(schema, value);
    let mut found = checker.found;
    found.sort_by(|a, b| (&a.at, &a.problem).cmp(&(&b.at, &b.problem)));
    found.truncate(MAX_VIOLATIONS);
    found
}

struct Checker<'a> {
    root: &'a Value,
    pointer: String,
    found: Vec<Violation>,
    patterns: BTreeMap<&'a str, Regex>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value) {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return,
            _ => return self.violation("no value is allowed here"),
        };
        for (keyword, argument) in keywords {
            if self.found.len() >= MAX_VIOLATIONS {
                return;
            }
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => {}
                "$ref" => self.check(self.resolve(argument), value),
                "type" if !has_type(argument, value) => {
                    self.violation(format!("{} is not of type {}", quoted(value), either(argument)));
                }
                "const" if !equal(argument, value) => {
                    self.violation(format!("{} was expected", quoted(argument)));
                }
                "enum" if !alternatives(argument).iter().any(|choice| equal(choice, value)) => {
                    self.violation(format!("{} is not one of {}", quoted(value), either(argument)));
                }
                "minimum" if less(value, argument) => {
                    self.violation(format!("{value} is less than the minimum of {argument}"));
                }
                "maximum" if less(argument, value) => {
                    self.violation(format!("{value} is greater than the maximum of {argument}"));
                }
                "pattern" => self.pattern(argument, value),
                "maxLength" => self.length(argument, value),
                "minItems" | "maxItems" => self.count(keyword, argument, value),
                "type" | "const" | "enum" | "minimum" | "maximum" => {}
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.within(&index.to_string(), |inner| inner.check(argument, item));
                    }
                }
                "required" => self.required(argument, value),
                "properties" => {
                    for (key, item) in value.as_object().into_iter().flatten() {
                        if let Some(schema) = argument.get(key) {
                            self.within(key, |inner| inner.check(schema, item));
                        }
                    }
                }
                "additionalProperties" => self.additional(argument, keywords.get("properties"), value),
                "anyOf" => self.one(alternatives(argument), 1..=usize::MAX, value),
                "oneOf" => self.one(alternatives(argument), 1..=1, value),
                unknown => panic!("schemas of this project do not have the keyword `{unknown}`"),
            }
        }
    }

    fn resolve(&self, reference: &Value) -> &'a Value {
        let target = reference.as_str().and_then(|name| self.root.pointer(name.strip_prefix('#')?));
        target.unwrap_or_else(|| panic!("the schema has no {reference}"))
    }

    fn pattern(&mut self, pattern: &'a Value, value: &Value) {
        let (Some(pattern), Some(text)) = (pattern.as_str(), value.as_str()) else { return };
        let compile = || Regex::new(pattern).unwrap_or_else(|error| panic!("pattern {pattern}: {error}"));
        if !self.patterns.entry(pattern).or_insert_with(compile).is_match(text) {
            self.violation(format!("{} does not match {pattern:?}", quoted(value)));
        }
    }

    fn length(&mut self, limit: &Value, value: &Value) {
        let (Some(limit), Some(text)) = (limit.as_u64(), value.as_str()) else { return };
        if text.chars().count() as u64 > limit {
            self.violation(format!("{} has more than {limit} characters", quoted(value)));
        }
    }

    fn count(&mut self, keyword: &str, limit: &Value, value: &Value) {
        let (Some(limit), Some(items)) = (limit.as_u64(), value.as_array()) else { return };
        let (count, is_least) = (items.len() as u64, keyword == "minItems");
        if if is_least { count < limit } else { count > limit } {
            let bound = if is_least { "at least" } else { "at most" };
            self.violation(format!("{count} items, expected {bound} {limit}"));
        }
    }

    fn required(&mut self, keys: &Value, value: &Value) {
        let Some(object) = value.as_object() else { return };
        for key in alternatives(keys).iter().filter_map(Value::as_str) {
            if !object.contains_key(key) {
                self.violation(format!("the required key {key:?} is missing"));
            }
        }
    }

    fn additional(&mut self, schema: &'a Value, known: Option<&Value>, value: &Value) {
        let is_known = |key: &str| known.is_some_and(|known| known.get(key).is_some());
        let others = value.as_object().into_iter().flatten().filter(|(key, _)| !is_known(key));
        if schema == &Value::Bool(false) {
            let names: Vec<String> = others.map(|(key, _)| quoted(&Value::from(key.as_str()))).collect();
            if !names.is_empty() {
                let names = names.join(", ");
                self.violation(format!("unknown keys: {names}"));
            }
            return;
        }
        for (key, item) in others {
            self.within(key, |inner| inner.check(schema, item));
        }
    }

    /// Checks that the number of valid alternatives lies in `allowed`. If no alternative is valid, reports the
    /// violations of the most likely one: the one that is valid down to the deepest place and has the fewest
    /// violations.
    fn one(&mut self, schemas: &'a [Value], allowed: RangeInclusive<usize>, value: &Value) {
        let mut held = 0;
        let mut nearest: Option<Vec<Violation>> = None;
        for schema in schemas {
            let outer = std::mem::take(&mut self.found);
            self.check(schema, value);
            let found = std::mem::replace(&mut self.found, outer);
            held += usize::from(found.is_empty());
            let nearness = |found: &[Violation]| {
                (found.iter().map(|v| v.at.matches('/').count()).min(), Reverse(found.len()))
            };
            if nearest.as_ref().is_none_or(|nearest| nearness(nearest) < nearness(&found)) {
                nearest = Some(found);
            }
        }
        if allowed.contains(&held) {
            return;
        }
        match nearest {
            Some(nearest) if held == 0 && nearest.iter().all(|v| v.at.len() > self.pointer.len().max(1)) => {
                self.found.extend(nearest);
            }
            _ => self.violation(format!("{} is not one of the allowed forms", quoted(value))),
        }
    }

    fn within(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        let outer = self.pointer.len();
        // Escapes by RFC 6901.
        let _ = write!(self.pointer, "/{}", key.replace('~', "~0").replace('/', "~1"));
        check(self);
        self.pointer.truncate(outer);
    }

    fn violation(&mut self, problem: impl Into<String>) {
        let at = if self.pointer.is_empty() { "/" } else { &self.pointer };
        self.found.push(Violation { at: at.into(), problem: problem.into() });
    }
}

fn alternatives(argument: &Value) -> &[Value] {
    argument.as_array().map_or(&[], Vec::as_slice)
}

fn has_type(argument: &Value, value: &Value) -> bool {
    let is = |name: &Value| match (name.as_str().unwrap_or_default(), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        // 1.0 is an integer in JSON Schema.
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|real| real.fract() == 0.0)
        }
        _ => false,
    };
    match argument {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

/// Returns whether two values are equal. Numbers are compared by value, so 1 equals 1.0.
fn equal(a: &Value, b: &Value) -> bool {
    let numbers = a.is_number() && b.is_number();
    a == b || numbers && !less(a, b) && !less(b, a)
}

/// Returns whether both values are numbers and the first is less.
fn less(a: &Value, b: &Value) -> bool {
    let integer = |v: &Value| v.as_i64().map(i128::from).or_else(|| v.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a < b),
    }
}

/// Returns a value as messages show it.
fn quoted(value: &Value) -> String {
    match value {
        Value::Object(map) => format!("an object of {} keys", map.len()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::String(text) if text.len() > MAX_QUOTED => format!("a text of {} bytes", text.len()),
        short => short.to_string(),
    }
}

/// Returns the alternatives of a keyword as text: `"a", "b" or "c"`.
fn either(argument: &Value) -> String {
    let names = match argument {
        Value::Array(names) => names.iter().map(Value::to_string).collect(),
        name => vec![name.to_string()],
    };
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".into(),
    }
}
