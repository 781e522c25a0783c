//! `guardbit demo`: its files, its results, and the commands that it prints.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::root;

/// Copies in the crate, and what they are copies of.
const COPIES: [(&str, &str); 4] = [
    ("digits_int8.tflite", "examples/digits/digits_int8.tflite"),
    ("test_images.npy", "examples/digits/test_images.npy"),
    ("test_labels.npy", "examples/digits/test_labels.npy"),
    ("accelerator.yaml", "hwmodels/presets/fpga-int14-os.yaml"),
];

#[test]
fn the_files_of_the_demo_are_those_of_the_example() {
    for (name, original) in COPIES {
        let copy = root().join("cli/src/demo").join(name);
        let original = fs::read(root().join(original)).unwrap();
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            fs::write(&copy, &original).unwrap();
        }
        assert!(fs::read(&copy).unwrap() == original, "{} is stale: run scripts/renew", copy.display());
    }
}

/// Runs a command of a shell in a folder.
fn shell(dir: &Path, script: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("guardbit");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-ec", script]).current_dir(dir).env("PATH", path).output().unwrap()
}

fn succeed(dir: &Path, script: &str) -> String {
    let output = shell(dir, script);
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The printed commands run as they are, in the folder and from outside of it.
#[test]
fn the_demo_prints_commands_that_run() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (args, folder) in [("", "guardbit-demo"), (" -o 'my demo'", "my demo")] {
        let shown = succeed(dir, &format!("guardbit demo{args}"));
        assert!(shown.contains("18 bits on, saturate loses no accuracy on 540 samples"), "{shown}");
        let folder = dir.join(folder);
        assert!(folder.join("results/report.html").is_file());
        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["accelerator.yaml", "digits_int8.tflite", "results", "test_images.npy", "test_labels.npy"]
        );
        let lines = shown
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("cd ") || line.starts_with("guardbit "));
        let script = lines.collect::<Vec<_>>();
        assert_eq!(script.len(), 4, "{shown}");
        let printed = succeed(dir, &script.join("\n"));
        assert!(printed.contains("recommended") && printed.contains("bound by"), "{printed}");
        assert!(folder.join("accuracy.pdf").is_file() && folder.join("accuracy.csv").is_file());
    }
    // It continues in its own folder, and leaves files of others alone.
    let again = succeed(dir, "guardbit demo");
    assert!(again.contains("Try next"), "{again}");
    fs::write(dir.join("guardbit-demo/accelerator.yaml"), "mine").unwrap();
    let refused = shell(dir, "guardbit demo --force");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read_to_string(dir.join("guardbit-demo/accelerator.yaml")).unwrap(), "mine");
}
