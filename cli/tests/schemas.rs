//! Compares guardbit's schemas, on values that break them, with the Python package `jsonschema`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use guardbit_files::schema_violations;
use guardbit_testing::is_full;
use serde_json::{Value, json};

use crate::common::{digits, needed, root, succeed};

/// Calls `change` with every pointer of `value`; in an array, for the first one or two items.
fn places(value: &Value, at: &str, change: &mut dyn FnMut(&str, &Value)) {
    change(at, value);
    match value {
        Value::Object(object) => object.iter().for_each(|(key, inner)| {
            places(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), change)
        }),
        Value::Array(items) => items
            .iter()
            .take(if is_full() { 2 } else { 1 })
            .enumerate()
            .for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), change)),
        _ => {}
    }
}

/// Returns the value, and its variants with one change anywhere.
fn variants(intact: &Value) -> Vec<Value> {
    let mut all = vec![intact.clone()];
    places(intact, "", &mut |at, found| {
        let mut add = |new: Value| {
            let mut value = intact.clone();
            *value.pointer_mut(at).unwrap() = new;
            all.push(value);
        };
        for new in [
            json!(null),
            json!(true),
            json!(-1),
            json!(65),
            json!(2.0),
            json!(0.5),
            json!("x"),
            json!([]),
            json!({}),
        ] {
            add(new);
        }
        if let Value::Object(object) = found {
            for key in object.keys() {
                let mut fewer = object.clone();
                fewer.remove(key);
                add(fewer.into());
            }
            let mut more = object.clone();
            more.insert("more".into(), json!(1));
            add(more.into());
        }
        if let Value::Array(items) = found {
            add([items.as_slice(), items].concat().into());
            add(items.iter().take(1).cloned().collect());
        }
    });
    all
}

/// Writes a test case. `schema` is committed or part of a bundle, and `intact` is a valid value.
fn write(out: &mut impl Write, schema: &str, intact: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    writeln!(out, "{}", json!({ "schema": schema })).unwrap();
    assert_eq!(schema_violations(&schema, intact), []);
    for value in variants(intact) {
        let places: Vec<String> = schema_violations(&schema, &value).into_iter().map(|v| v.at).collect();
        writeln!(out, "{}", json!({ "value": value, "places": places })).unwrap();
    }
}

#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn violations_are_those_of_jsonschema() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    succeed(&[
        "vectors",
        &digits("digits_int8.tflite"),
        "--hw",
        "fpga-int14-ws",
        "--layer",
        "5",
        "--random",
        "1",
        "--cases",
        "1",
        "-o",
        &bundle.to_string_lossy(),
    ]);
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let in_bundle = |name: &str| fs::read_to_string(bundle.join(name)).unwrap();
    let mut manifest: Value = serde_json::from_str(&in_bundle("manifest.json")).unwrap();
    for list in ["/cases", "/files", "/coverage/bins", "/array/tiles"] {
        if let Some(Value::Array(items)) = manifest.pointer_mut(list) {
            items.truncate(3);
        }
    }
    let yaml = |text: &str| serde_yaml::from_str::<Value>(text).unwrap();

    let python = needed("GUARDBIT_STATISTICS_PYTHON");
    let mut check = Command::new(python)
        .arg(root().join("scripts/oracles/check_schemas.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = check.stdin.take().unwrap();
    write(&mut stdin, &in_bundle("manifest.schema.json"), &manifest);
    write(&mut stdin, &text("frontends/graph.schema.json"), &yaml(&text("study/tests/net.yaml")));
    write(&mut stdin, &text("hwmodels/accelerator.schema.json"), &yaml(&in_bundle("accelerator.yaml")));
    write(&mut stdin, &text("study/study.schema.json"), &yaml(&text("examples/digits/study.yaml")));
    drop(stdin);
    let output = check.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    eprintln!("{}", String::from_utf8_lossy(&output.stdout));
}
