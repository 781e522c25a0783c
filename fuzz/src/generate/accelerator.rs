//! Generates accelerators from their schema: any key, with any value that the schema allows.

use guardbit_hwmodels::schema;
use serde_json::{Map, Value, json};

use crate::Choices;

/// Returns the YAML text of an accelerator.
pub(crate) fn accelerator(choices: &mut Choices<'_>) -> String {
    let schema: Value = serde_json::from_str(&schema()).expect("a schema is JSON");
    let mut file = Value::Object(Map::new());
    let keys = schema["properties"].as_object().expect("a schema has properties");
    for (key, of) in keys {
        if !["schema", "extends", "layers", "name", "accumulation"].contains(&key.as_str())
            && choices.once_in(3)
        {
            file[key] = value(of, &schema, choices);
        }
    }
    file["schema"] = json!(1);
    if choices.once_in(3) {
        file["extends"] = value(&schema["properties"]["extends"]["anyOf"][0], &schema, choices);
    }
    if file.get("extends").is_none() || choices.once_in(3) {
        file["accumulation"] = levels(&schema, choices);
    }
    file.to_string()
}

/// Returns one to three levels, each with its own name.
fn levels(schema: &Value, choices: &mut Choices<'_>) -> Value {
    let names = ["acc", "outer", "outmost"];
    let count = 1 + choices.below(3) as usize;
    let level = |name: &&str| {
        let mut level = value(&schema["$defs"]["LevelFile"], schema, choices);
        level["name"] = json!(name);
        level
    };
    names[..count].iter().map(level).collect()
}

/// Returns a value that the schema `of` allows.
fn value(of: &Value, schema: &Value, choices: &mut Choices<'_>) -> Value {
    if let Some(reference) = of["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return value(&schema["$defs"][name], schema, choices);
    }
    for alternatives in ["oneOf", "anyOf"] {
        if let Some(of) = of[alternatives].as_array() {
            return value(&choices.one(of), schema, choices);
        }
    }
    if let Some(of) = of["enum"].as_array() {
        return choices.one(of);
    }
    if let Some(only) = of.get("const") {
        return only.clone();
    }
    match of["type"].as_str() {
        Some("object") => {
            let keys = of["properties"].as_object().cloned().unwrap_or_default();
            let chosen: Vec<_> = keys.into_iter().filter(|_| choices.once_in(2)).collect();
            chosen.into_iter().map(|(key, of)| (key, value(&of, schema, choices))).collect()
        }
        Some("array") => {
            let most = of["maxItems"].as_u64().unwrap_or(4);
            let count = choices.below(most + 1).max(of["minItems"].as_u64().unwrap_or(0));
            (0..count).map(|_| value(&of["items"], schema, choices)).collect()
        }
        Some("integer") => {
            let low = of["minimum"].as_i64().unwrap_or(0);
            let high = of["maximum"].as_i64().unwrap_or(i64::MAX);
            json!(choices.between(low, high))
        }
        Some("number") => json!(choices.one(&[1.0, 0.5, 0.1, 3.0, 64.0, 1e-3, 1e-9, 1e3, 1e9])),
        Some("boolean") => json!(choices.once_in(2)),
        _ => json!("x"),
    }
}
