//! A manifest that violates its schema fails the check, which names the place.

use std::fs;

use crate::common::{UNITS, bundle};
use guardbit_rtl_vectors::manifest::manifest_schema;
use guardbit_rtl_vectors::{CheckRequest, Outcome, check};
use serde_json::{Value, json};

/// Returns the first violation that `check` reports for a manifest, and their number; `None` if it is valid.
fn violation(dir: &std::path::Path, manifest: &Value) -> Option<(String, u64)> {
    fs::write(dir.join("manifest.json"), serde_json::to_string(manifest).unwrap()).unwrap();
    let report = check(dir, &CheckRequest::default()).unwrap();
    let (name, outcome) = &report.checks[0];
    assert_eq!(name, "manifest");
    match outcome {
        Outcome::Pass { .. } => None,
        Outcome::Fail { mismatches, first } => {
            assert!(!report.passed() && report.checks.len() == 1 && first.kind == "schema");
            Some((first.details.clone(), *mismatches))
        }
        Outcome::NotApplicable { reason } | Outcome::Absent { reason } => panic!("{reason}"),
    }
}

#[test]
fn broken_manifests_are_named_by_place() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    bundle(dir, UNITS[0]);
    let intact: Value = serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(violation(dir, &intact), None);

    let set = |pointer: &str, value: Value| {
        let mut manifest = intact.clone();
        *manifest.pointer_mut(pointer).unwrap() = value;
        manifest
    };
    let without = |pointer: &str, key: &str| {
        let mut manifest = intact.clone();
        manifest.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key).unwrap();
        manifest
    };
    let with = |pointer: &str, key: &str| {
        let mut manifest = intact.clone();
        manifest.pointer_mut(pointer).unwrap()[key] = json!(1);
        manifest
    };
    let cases = [
        (set("/arithmetic/levels/0/reduce", json!("parallel")), "at /arithmetic/levels/0/reduce: ", 1),
        (set("/arithmetic/levels/0/overflow", json!("clamp")), "at /arithmetic/levels/0/overflow: ", 1),
        (set("/arithmetic/levels/0/bits", json!("14")), "at /arithmetic/levels/0/bits: ", 1),
        (set("/arithmetic/levels/0/bits", json!(65)), "at /arithmetic/levels/0/bits: ", 1),
        (set("/arithmetic/levels", json!([])), "at /arithmetic/levels: ", 1),
        (set("/interface/lanes", json!(0)), "at /interface/lanes: ", 1),
        (set("/interface/packing", json!("loose")), "at /interface/packing: ", 1),
        (set("/files/2/sha256", json!("ABC")), "at /files/2/sha256: ", 1),
        (set("/files/0/path", json!("../stim_a.mem")), "at /files/0/path: ", 1),
        (set("/cases/3/expected/high", json!([-1])), "at /cases/3/expected/high/0: ", 1),
        (set("/cases", json!({})), "at /cases: ", 1),
        (without("", "coverage"), "at /: ", 1),
        (without("/arithmetic/bias", "at"), "at /arithmetic/bias: ", 1),
        (with("/interface", "more"), "at /interface: ", 1),
        (with("/arithmetic/levels/0", "more"), "at /arithmetic/levels/0: ", 1),
        (with("/arithmetic/bias", "more"), "at /arithmetic/bias: ", 1),
    ];
    for (manifest, place, count) in cases {
        let (details, violations) = violation(dir, &manifest).unwrap_or_default();
        assert!(
            details.starts_with(place) && violations == count,
            "{place} {count}: {details} ({violations})"
        );
    }
    let two = {
        let mut manifest = set("/interface/lanes", json!(-1));
        manifest["arithmetic"]["zero_point"] = json!("maybe");
        manifest
    };
    assert_eq!(violation(dir, &two).map(|v| v.1), Some(2));
}

/// A folder that is not a bundle, or one of another version, is refused.
#[test]
fn other_versions_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    bundle(dir, UNITS[0]);
    let path = dir.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, part) in [
        ("\"schema\": 4", "\"schema\": 9", "schema 9"),
        ("\"version\": \"0.1.0\"", "\"version\": \"0.0.9\"", "written by guardbit 0.0.9"),
        ("{", "[", "line"),
    ] {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = check(dir, &CheckRequest::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn every_unit_of_the_schema_is_closed() {
    let schema: Value = serde_json::from_str(&manifest_schema()).unwrap();
    let objects = schema["$defs"].as_object().unwrap().iter().filter(|(_, def)| def["type"] == "object");
    for (name, def) in objects {
        let closed = def["additionalProperties"] == false || def["unevaluatedProperties"] == false;
        assert!(closed, "{name} allows anything");
    }
}
