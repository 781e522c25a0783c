//! A manifest with any false field fails the check: every field is changed in turn.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{digits, succeed};
use guardbit_rtl_vectors::{CheckRequest, check};
use serde_json::{Value, json};

/// Fields that a bundle cannot prove, as pointers with `*` for a number, and the reason.
const UNPROVED: &[(&str, &str)] = &[
    ("/source/model", "the network is not in the bundle"),
    ("/source/model_sha256", "the network is not in the bundle"),
    ("/source/accelerator_sha256", "overrides of other layers are not in the bundle"),
    ("/source/input", "the samples are not in the bundle"),
    ("/layer/name", "the network alone has it"),
    ("/layer/window/input/*", "the network alone tells which activations a window reads"),
    ("/layer/window/stride/*", "the same"),
    ("/layer/window/dilation/*", "the same"),
    ("/layer/window/pad/*", "the same"),
    ("/layer/input/zero_points/*", "under `fold` it is part of the biases"),
    ("/cases/*/place/*", "the network alone tells from where the operands are; it is an output of the layer"),
    ("/array/first_pixel", "the same; it is one of eight"),
    (
        "/arithmetic/requantize/exp_min",
        "the network alone has all multipliers; those of real cases lie in the range",
    ),
    ("/arithmetic/requantize/exp_max", "the same"),
];

/// Collects fields: the pointer of each, and its pattern with `*` for numbers.
fn fields(value: &Value, at: &str, pattern: &str, found: &mut Vec<(String, String)>) {
    found.push((at.to_owned(), pattern.to_owned()));
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                fields(value, &format!("{at}/{key}"), &format!("{pattern}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                fields(value, &format!("{at}/{index}"), &format!("{pattern}/*"), found);
            }
        }
        _ => {}
    }
}

/// Returns other values of a field: similar ones, and ones that no machine can handle.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(n) => {
            let near = match n.as_i64() {
                Some(n) => json!(n + 1),
                None => json!(n.as_f64().unwrap_or(1.0) * 1.5),
            };
            vec![near, json!(u32::MAX), json!(1u64 << 63)]
        }
        Value::String(text) => vec![json!(format!("{text}x")), json!("a\nb */ `x` $(y) \u{202e}")],
        Value::Bool(on) => vec![json!(!on)],
        Value::Null => vec![json!(1), json!("x")],
        Value::Array(list) => {
            let shorter = list.split_last().map(|(_, rest)| json!(rest));
            let longer = list.last().map(|last| json!([&list[..], std::slice::from_ref(last)].concat()));
            shorter.into_iter().chain(longer).collect()
        }
        Value::Object(_) => vec![Value::Null],
    }
}

/// Returns whether `check` accepts the bundle with this manifest.
fn passes(dir: &Path, manifest: &Value) -> bool {
    fs::write(dir.join("manifest.json"), serde_json::to_string(manifest).unwrap()).unwrap();
    let report = check(dir, &CheckRequest::default());
    report.is_ok_and(|report| report.passed())
}

/// An array of few elements: each change is checked anew.
const SMALL: &[&str] = &["--set", "array.rows=4", "--set", "array.cols=6"];

/// Exports a layer of the digits network and changes every field of its manifest; in lists, those of the last
/// entry.
fn no_field_may_lie(hw: &str, layer: &str, more: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    let out = bundle.to_string_lossy();
    let model = digits("digits_int8.tflite");
    let args = ["vectors", &model, "--hw", hw, "--layer", layer, "--random", "1", "--cases", "4", "-o", &out];
    succeed(&args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>());
    let intact: Value = serde_json::from_slice(&fs::read(bundle.join("manifest.json")).unwrap()).unwrap();
    assert!(passes(&bundle, &intact), "{hw} {layer} {more:?}");
    let mut all = Vec::new();
    fields(&intact, "", "", &mut all);
    let last: BTreeMap<String, String> = all.into_iter().skip(1).map(|(at, pattern)| (pattern, at)).collect();
    let mut changes = 0;
    for (pattern, at) in &last {
        let mut manifest = intact.clone();
        for other in others(intact.pointer(at).unwrap()) {
            manifest.pointer_mut(at).unwrap().clone_from(&other);
            changes += 1;
            let is_known = UNPROVED.iter().any(|(known, _)| known == pattern);
            assert!(is_known || !passes(&bundle, &manifest), "{hw} {layer}: {at} may be {other}");
        }
    }
    eprintln!("{hw} {layer}: {} fields, {changes} changes", last.len());
}

#[test]
fn no_field_of_an_output_stationary_array_may_lie() {
    no_field_may_lie("fpga-int14-os", "0", SMALL);
}

#[test]
fn no_field_of_a_weight_stationary_array_may_lie() {
    let more = [SMALL, &["--formats", "dec,axis", "--waves", "vcd"]].concat();
    no_field_may_lie("fpga-int14-ws", "0", &more);
}

#[test]
fn no_field_of_a_tree_may_lie() {
    no_field_may_lie("fpga-int14-tree", "2", &["--set", "operands.zero_point=fold", "--byte-slots"]);
}

#[test]
fn no_field_of_a_preloaded_register_may_lie() {
    no_field_may_lie("fpga-int14-os", "2", &["--set", "bias.at=preload"]);
}
