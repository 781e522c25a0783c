//! `guardbit discriminate`: its result, its files, and its refusals.

use std::fs;

use serde_json::Value;

use crate::common::{csv_rows, guardbit, succeed};

const BASE: [&str; 6] = ["discriminate", "--hw", "fpga-int14-os", "--any", "overflow,check", "--json"];

/// The files of the folder hold what is printed, and inputs have all of their products.
#[test]
fn the_folder_holds_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let args = [&BASE[..], &["--terms", "12", "-o", out.to_str().unwrap()]].concat();
    let result: Value = serde_json::from_str(&succeed(&args)).unwrap();
    let manifest: Value = serde_json::from_slice(&fs::read(out.join("discriminate.json")).unwrap()).unwrap();
    assert_eq!(manifest["result"], result);
    let (inputs, classes) = (result["inputs"].as_array().unwrap(), result["classes"].as_array().unwrap());
    assert_eq!(csv_rows(&out.join("inputs.csv")).len(), 12 * inputs.len());
    let members = classes.iter().map(|class| class["accelerators"].as_array().unwrap().len());
    assert_eq!(csv_rows(&out.join("classes.csv")).len(), members.sum::<usize>());
}

/// The sums of every class select its accelerators; other sums select none, and the exit code is 1.
#[test]
fn observed_sums_select_a_class() {
    let result: Value = serde_json::from_str(&succeed(&BASE)).unwrap();
    let select = |sums: &str| {
        let output = guardbit(&[&BASE[..], &["--observed", sums]].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), found["matches"].clone())
    };
    for class in result["classes"].as_array().unwrap() {
        let sums: Vec<_> = class["sums"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(select(&sums.join(",")), (Some(0), class["accelerators"].clone()));
    }
    let unknown = vec!["?"; result["inputs"].as_array().unwrap().len()];
    assert_eq!(select(&unknown.join(",")).1.as_array().unwrap().len(), 10, "unknown sums select all");
    let other = vec!["12345678"; unknown.len()];
    assert_eq!(select(&other.join(",")), (Some(1), Value::Array(Vec::new())));
}

#[test]
fn bad_requests_say_what_to_do() {
    for (args, message) in [
        ("--hw fpga-int14-os", "alone cannot be told apart from another accelerator"),
        ("--hw fpga-int14-os --any bits --axis random=3", "`random` is no key of an accelerator"),
        ("--hw fpga-int14-os --any bits --axis accumulation.acc.bits=3,4", "appears twice"),
        ("--hw fpga-int14-os --any bits --weight int8:200", "the zero point of int8 is a whole number from"),
        ("--hw fpga-int14-os --any bits --weight float32", "expected a type, with its zero point"),
        ("--hw fpga-int14-os --any bits --terms 0", "0 products; expected 1 to 16384"),
        ("--hw fpga-int14-os --any bits --bias-bits 1", "a bias of 1 bits; expected 0 (none) or 2 to 32"),
        ("--hw fpga-int14-os --any bits --observed 1,2,3,x", "`x` is no whole number"),
        ("--hw fpga-int14-os --any bits --observed 1,2,3,4,5,6,7,8,9", "has 9 sums, but the table has"),
        ("--hw fpga-int14-os --hw dsp48e2-int8x2", "share an adder"),
        ("--hw inner14-outer24 --any bits,overflow,check", "62500 candidates; expected at most 20000"),
    ] {
        let output = guardbit(&[&["discriminate"], &args.split(' ').collect::<Vec<_>>()[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{args}");
        let text = String::from_utf8(output.stderr).unwrap().replace("\n  ", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(message), "{args}: {text}");
    }
}
