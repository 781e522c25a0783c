//! The schema of study files accepts exactly what the reader accepts.

use std::fs;
use std::path::Path;

use guardbit_files::schema_violations;
use guardbit_study::{load_study, study_schema};

/// `scripts/renew` renews the file.
#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("study.schema.json");
    let text = study_schema();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "scripts/renew renews study.schema.json");
}

fn is_valid(text: &str) -> bool {
    let schema = serde_json::from_str(&study_schema()).unwrap();
    schema_violations(&schema, &serde_yaml::from_str(text).unwrap()).is_empty()
}

/// Study files of `examples/`.
#[test]
fn examples_are_valid() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut found = 0;
    for folder in ["digits", "studies"] {
        for entry in fs::read_dir(examples.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
            let text = if is_yaml { fs::read_to_string(&path).unwrap() } else { continue };
            if text.contains("sweep:") {
                assert!(is_valid(&text), "{}", path.display());
                found += 1;
            }
        }
    }
    assert!(found >= 8, "{found}");
}

const STUDY: &str = "schema: 1\nmodel: net.yaml\nhw: fpga-int14-os\nsweep: {bits: 8..=10}\n";

/// Checks whether schema and reader accept a study with a part replaced. `agree` is whether both must agree.
fn check(from: &str, to: &str, valid: bool) {
    let text = STUDY.replacen(from, to, 1);
    assert_eq!(is_valid(&text), valid, "{text}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("study.yaml");
    fs::write(&path, &text).unwrap();
    assert_eq!(load_study(&path).is_ok(), valid, "{text}");
}

#[test]
fn schema_and_reader_agree() {
    check("", "", true);
    check("schema: 1", "schema: 2", false);
    check("schema: 1\n", "", false);
    check("net.yaml", "[net.yaml, other.yaml]", true);
    check("net.yaml", "[]", false);
    check("fpga-int14-os", "[fpga-int14-os, mine.yaml]", true);
    check("bits: 8..=10", "bits: [8, 10]", true);
    check("bits: 8..=10", "bits: [1]", false);
    check("bits: 8..=10", "bits: 65", false);
    check("bits: 8..=10", "bitz: 8", false);
    check("bits: 8..=10", "bits: 8, overflow: wrap", true);
    check("bits: 8..=10", "bits: 8, overflow: [wrap, saturate]", true);
    check("bits: 8..=10", "bits: 8, overflow: warp", false);
    check("bits: 8..=10", "axes: {accumulation.acc.bits: 8..=10, seed: [1, 2]}, zip: []", true);
    check("bits: 8..=10", "axes: {seed: []}", false);
    check("bits: 8..=10", "axes: {seed: 1..=3, random: [4, 5]}, where: [seed < random]", true);
    for more in [
        "mode: isolated",
        "stats: full",
        "task: detect",
        "requantize: S",
        "profile: tflm",
        "set: {bias.bits: 20}",
    ] {
        check("schema: 1", &format!("schema: 1\n{more}"), true);
    }
    for more in
        ["mode: both", "stats: some", "task: sort", "profile: none", "sets: {}", "random: many", "random: -1"]
    {
        check("schema: 1", &format!("schema: 1\n{more}"), false);
    }
}
