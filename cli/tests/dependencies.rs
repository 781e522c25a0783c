//! Directions of dependencies between the crates: downwards only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::common::sources::for_sources;

/// Crates that each crate may use directly; permission is transitive.
const ALLOWED: &[(&str, &[&str])] = &[
    ("num", &[]),
    ("files", &[]),
    ("documents", &[]),
    ("graph", &["num"]),
    ("frontends", &["graph", "files", "documents"]),
    ("hwmodels", &["graph", "files", "documents"]),
    ("sim", &["hwmodels"]),
    ("quantize", &["sim"]),
    ("reports", &["sim", "files"]),
    ("rtl-vectors", &["sim"]),
    ("capi", &["rtl-vectors"]),
    ("study", &["frontends", "sim", "reports", "quantize"]),
    ("guardbit", &["study", "rtl-vectors"]),
    // The library in tests alone.
    ("cli", &["guardbit", "study", "rtl-vectors"]),
    ("fuzz", &["study", "rtl-vectors"]),
    ("python", &["study", "rtl-vectors"]),
    ("testing", &[]),
];

fn closure(of: &str, allowed: &BTreeMap<&str, &[&str]>) -> BTreeSet<String> {
    let direct = allowed.get(of).copied().unwrap_or_default();
    direct.iter().flat_map(|&next| [next.to_string()].into_iter().chain(closure(next, allowed))).collect()
}

/// The folder of a crate.
fn folder(name: &'static str) -> &'static str {
    match name {
        "guardbit" => "library",
        "capi" => "rtl-vectors/capi",
        name => name,
    }
}

/// The name of a package without the prefix that all but the library have.
fn short(name: &serde_json::Value) -> &str {
    let name = name.as_str().unwrap();
    name.strip_prefix("guardbit-").unwrap_or(name)
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
        let name = short(&package["name"]);
        assert!(allowed.contains_key(name), "crate `{name}` is not in the list above");
        let may_use = closure(name, &allowed);
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() {
                continue;
            }
            let used = short(&dependency["name"]);
            if used == "testing" {
                assert_eq!(dependency["kind"], "dev", "`{name}` uses `testing` outside its tests");
                continue;
            }
            assert!(may_use.contains(used), "`{name}` uses `{used}`, which is not below it");
            seen += 1;
        }
    }
    assert!(seen > 10, "the workspace was looked at");
}

/// A test file that `tests/main.rs` does not list would never run.
#[test]
fn every_file_of_tests_is_in_its_suite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut suites = 0;
    for (name, _) in ALLOWED.iter().chain([&("library", &[][..]), &("rtl-vectors/capi", &[])]) {
        let folder = root.join(name).join("tests");
        let Ok(main) = std::fs::read_to_string(folder.join("main.rs")) else { continue };
        suites += 1;
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, module) = (entry.path(), entry.path().file_stem().unwrap().display().to_string());
            let is_tests = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").exists();
            let listed = main.lines().any(|line| line == format!("mod {module};"));
            assert!(!is_tests || module == "main" || listed, "{name}/tests/main.rs has no `mod {module};`");
        }
    }
    assert_eq!(suites, 12, "suites of crates");
}

/// A file that only a macro declares is out of the formatter's reach.
#[test]
fn every_file_has_a_line_that_declares_it() {
    let mut texts = BTreeMap::new();
    let folders: Vec<&str> = ALLOWED.iter().map(|(name, _)| folder(name)).collect();
    for_sources(&folders, |path, text| {
        texts.insert(path.to_owned(), text.to_owned());
    });
    for path in texts.keys() {
        let folder = path.parent().unwrap();
        let (name, folder) = match path.file_stem().unwrap().to_str().unwrap() {
            "lib" | "main" => continue,
            "mod" => (folder.file_name().unwrap().to_str().unwrap(), folder.parent().unwrap()),
            name => (name, folder),
        };
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        let parent = parents.iter().find_map(|path| texts.get(path));
        let line = format!("mod {name};");
        let is_it =
            |found: &str| found == line || found.starts_with("pub") && found.ends_with(&format!(" {line}"));
        let declared = parent.unwrap().lines().any(is_it);
        assert!(declared, "{}: no line of the module above it is `{line}`", path.display());
    }
}

/// A module with files below it is the `mod.rs` of their folder.
#[test]
fn modules_stand_in_the_folder_of_their_files() {
    let folders: Vec<&str> = ALLOWED.iter().map(|(name, _)| folder(name)).collect();
    for_sources(&folders, |path, _| {
        let below = path.with_extension("");
        assert!(!below.is_dir(), "{} belongs into {} as mod.rs", path.display(), below.display());
    });
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

/// Functions of the platform's library differ in their last bits between platforms, but results are shared
/// Packages have no files of other crates. A path that leaves its crate compiles here, and nowhere else.
#[test]
fn sources_include_only_files_of_their_crates() {
    let crates: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    let folders = crates.iter().filter(|name| !["guardbit", "capi", "fuzz"].contains(name));
    let folders: Vec<&str> = folders.copied().chain(["library", "rtl-vectors/capi"]).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for folder in folders {
        let manifest = std::fs::read_to_string(root.join(folder).join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("\nbuild = \"../"), "{folder}: the build script is outside");
        for_sources(&[folder], |path, text| {
            // Levels between the file's folder and that of its crate.
            let depth = path.strip_prefix(root.join(folder)).unwrap().components().count() - 1;
            for word in ["include_str!(", "include_bytes!(", "include!(", "#[path"] {
                for after in text.split(word).skip(1) {
                    let included = after.split('"').nth(1).unwrap_or_default();
                    let up = included.split('/').take_while(|part| *part == "..").count();
                    assert!(up <= depth, "{} includes {included}", path.display());
                    seen += 1;
                }
            }
        });
    }
    assert!(seen > 3, "{seen} files are included");
}

/// among them.
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
