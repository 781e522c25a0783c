//! Tests of schema violations. `cli/tests/schemas.rs` compares with the Python package `jsonschema`.

use guardbit_files::schema_violations;
use serde_json::{Value, json};

/// Compares the violations of `value`, one line each, with the expected ones.
fn check(schema: &Value, value: Value, expected: &[&str]) {
    let found: Vec<String> =
        schema_violations(schema, &value).iter().map(|v| format!("{}: {}", v.at, v.problem)).collect();
    assert_eq!(found, expected, "{value}");
}

#[test]
fn every_keyword_is_checked() {
    let of = |keyword: &str, argument: Value| json!({ "properties": { "a": { keyword: argument } } });
    check(&of("type", json!("integer")), json!({"a": 2.0}), &[]);
    check(
        &of("type", json!(["integer", "null"])),
        json!({"a": 0.5}),
        &[r#"/a: 0.5 is not of type "integer" or "null""#],
    );
    check(&of("const", json!(1)), json!({"a": 1.0}), &[]);
    check(&of("const", json!(1)), json!({"a": true}), &["/a: 1 was expected"]);
    check(&of("enum", json!(["x", null])), json!({"a": "y"}), &[r#"/a: "y" is not one of "x" or null"#]);
    check(&of("minimum", json!(1)), json!({"a": 0}), &["/a: 0 is less than the minimum of 1"]);
    check(&of("minimum", json!(0)), json!({"a": u64::MAX}), &[]);
    check(&of("maximum", json!(64)), json!({"a": 64.5}), &["/a: 64.5 is greater than the maximum of 64"]);
    check(
        &of("pattern", json!("^[0-9a-f]{2}$")),
        json!({"a": "0G"}),
        &[r#"/a: "0G" does not match "^[0-9a-f]{2}$""#],
    );
    check(&of("minItems", json!(1)), json!({"a": []}), &["/a: 0 items, expected at least 1"]);
    check(&of("maxItems", json!(1)), json!({"a": [1, 2]}), &["/a: 2 items, expected at most 1"]);
    check(
        &of("items", json!({"type": "null"})),
        json!({"a": [null, 1]}),
        &[r#"/a/1: 1 is not of type "null""#],
    );
    check(&json!({"maxLength": 2}), json!("äö"), &[]);
    check(&json!({"maxLength": 2}), json!("abc"), &[r#"/: "abc" has more than 2 characters"#]);
    check(&json!({"required": ["a", "b"]}), json!({"b": 1}), &[r#"/: the required key "a" is missing"#]);
    check(&json!({"additionalProperties": false}), json!({"a": 1}), &[r#"/: unknown keys: "a""#]);
    check(
        &json!({"additionalProperties": {"type": "null"}}),
        json!({"a/b": 1}),
        &[r#"/a~1b: 1 is not of type "null""#],
    );
    let shared = json!({"$defs": {"bit": {"maximum": 1}}, "items": {"$ref": "#/$defs/bit"}});
    check(&shared, json!([0, 2]), &["/1: 2 is greater than the maximum of 1"]);
}

/// Of several alternatives, the most likely one is reported.
#[test]
fn alternatives_are_told_apart() {
    let named = |name: &str| json!({"properties": {"op": {"const": name}, "n": {"type": "integer"}}, "required": ["op"]});
    let schema = json!({"oneOf": [named("add"), named("mul"), {"type": "null"}]});
    check(&schema, json!(null), &["/: null is not one of the allowed forms"]);
    check(&schema, json!({"op": "mul", "n": 1}), &[]);
    check(&schema, json!({"op": "mul", "n": "x"}), &[r#"/n: "x" is not of type "integer""#]);
    check(
        &json!({"anyOf": [{"items": named("add")}, {"type": "null"}]}),
        json!([{"op": 1}]),
        &[r#"/0/op: "add" was expected"#],
    );
    check(
        &json!({"anyOf": [{"type": "null"}]}),
        json!([1, 2]),
        &["/: an array of 2 items is not one of the allowed forms"],
    );
}

#[test]
fn messages_and_their_number_are_bounded() {
    let schema = json!({"items": {"type": "null"}});
    let found = schema_violations(&schema, &json!(vec!["x".repeat(10_000); 1000]));
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|v| v.problem.len() < 300), "{}", found[0].problem);
}

/// A schema must not hold a constraint that nothing checks.
#[test]
#[should_panic(expected = "multipleOf")]
fn unknown_keywords_are_no_constraints() {
    schema_violations(&json!({"multipleOf": 2}), &json!(3));
}
