//! The directions of dependencies between the crates: nothing points back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
    for_sources(&["num", "graph", "sim", "quantize"], |path, text| {
        for word in ["std::fs", "std::io", "std::net", "println!", "eprintln!", "print!(", "dbg!"] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    });
}

/// Every source file of some crates, and its text.
fn for_sources(crates: &[&str], check: impl Fn(&Path, &str)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> = crates.iter().map(|name| root.join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            check(&entry.path(), &std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Functions of the platform's own library differ in their last bits between platforms; results are shared among them.
#[test]
fn codes_do_not_depend_on_the_platforms_functions() {
    let words = [
        "exp", "exp2", "log2", "exp_m1", "ln", "ln_1p", "powf", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "cbrt",
    ];
    for_sources(&["num", "graph", "sim"], |path, text| {
        for word in words {
            let used = text.contains(&format!(".{word}(")) || text.contains(&format!("f64::{word}"));
            assert!(!used, "{} calls `{word}` of the platform: take that of `libm`", path.display());
        }
    });
}
