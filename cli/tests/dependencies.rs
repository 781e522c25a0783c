//! The directions of dependencies between the crates: nothing points back.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What each crate may use directly; 'may use' is transitive.
const ALLOWED: &[(&str, &[&str])] = &[
    ("num", &[]),
    ("files", &[]),
    ("graph", &["num"]),
    ("frontends", &["graph", "files"]),
    ("hwmodels", &["graph", "files"]),
    ("sim", &["hwmodels"]),
    ("quantize", &["sim"]),
    ("reports", &["sim", "files"]),
    ("rtl-vectors", &["sim"]),
    ("capi", &["rtl-vectors"]),
    ("study", &["frontends", "sim", "reports", "quantize"]),
    ("library", &["study", "rtl-vectors"]),
    ("fuzz", &["study", "rtl-vectors"]),
    ("python", &["study", "rtl-vectors"]),
];

fn closure(of: &str, allowed: &BTreeMap<&str, &[&str]>) -> BTreeSet<String> {
    let direct = allowed.get(of).copied().unwrap_or_default();
    direct.iter().flat_map(|&next| [next.to_string()].into_iter().chain(closure(next, allowed))).collect()
}

#[test]
fn crates_depend_only_downwards() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let Some(name) = package["name"].as_str().unwrap().strip_prefix("guardbit-") else { continue };
        assert!(allowed.contains_key(name), "crate `{name}` is not in the list above");
        let may_use = closure(name, &allowed);
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(used) = dependency["name"].as_str().unwrap().strip_prefix("guardbit-") else { continue };
            assert!(may_use.contains(used), "`{name}` uses `{used}`, which is not below it");
            seen += 1;
        }
    }
    assert!(seen > 10, "the workspace was looked at");
}

/// The core crates open no file and print nothing.
#[test]
fn core_crates_do_no_io() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> =
        ["num", "graph", "sim", "quantize"].iter().map(|name| root.join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            for word in ["std::fs", "std::io", "std::net", "println!", "eprintln!", "print!(", "dbg!"] {
                assert!(!text.contains(word), "{} contains {word}", entry.path().display());
            }
        }
    }
}
