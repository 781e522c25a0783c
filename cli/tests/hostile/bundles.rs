//! Bundles with one change.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{check_message, hostile, limited};

/// Exports a bundle to `dir`, and returns its manifest.
fn bundle(dir: &Path) -> Value {
    let net = hostile("exact_preload.yaml");
    let args = [
        "vectors",
        &net,
        "--hw",
        "fpga-int14-os",
        "--set",
        "array.rows=2",
        "--set",
        "array.cols=2",
        "--random",
        "2",
    ];
    let output = limited(dir, &[&args[..], &["--layer", "y1", "--cases", "2", "-o", "bundle"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&fs::read(dir.join("bundle/manifest.json")).unwrap()).unwrap()
}

/// Checks that `check` rejects the bundle: exit code 1 or 2, quickly, with a short message.
fn check_caught(dir: &Path, what: &str) {
    let output = limited(dir, &["check", "bundle"]);
    let code = output.status.code().unwrap_or_else(|| panic!("{what}: {:?}", output.status));
    assert!(code == 1 || code == 2, "{what}: exit code {code}\n{}", String::from_utf8_lossy(&output.stdout));
    check_message(&["check", what], &output, code);
    assert!(output.stdout.len() < 16 << 10, "{what}: {} bytes of results", output.stdout.len());
}

/// Checks a manifest with other values at some pointers.
fn check_changed(changes: &[(&str, Value)]) {
    let dir = tempfile::tempdir().unwrap();
    let manifest = bundle(dir.path());
    for (at, value) in changes {
        let mut changed = manifest.clone();
        let place = changed.pointer_mut(at).unwrap_or_else(|| panic!("there is no {at}"));
        assert_ne!(place, value, "{at} is changed");
        *place = value.clone();
        fs::write(dir.path().join("bundle/manifest.json"), changed.to_string()).unwrap();
        check_caught(dir.path(), &format!("{at} {value}"));
    }
}

#[test]
fn sizes_that_no_bundle_has_are_caught() {
    let widest = json!(u32::MAX);
    let widths = [
        "/arithmetic/requantize/mult_bits",
        "/arithmetic/requantize/out_bits",
        "/arithmetic/levels/0/acc_bits",
        "/arithmetic/levels/0/port_bits",
        "/arithmetic/product/port_bits",
        "/arithmetic/bias/port_bits",
        "/arithmetic/bias/input_bits",
        "/interface/activation_slot",
        "/files/0/bits",
        "/files/0/slot_bits",
    ];
    let counts = [
        "/layer/terms",
        "/layer/dots",
        "/layer/channels",
        "/cases/0/terms",
        "/cases/0/beats",
        "/cases/0/first_beat",
        "/array/rows",
        "/array/beats",
        "/array/words",
        "/array/tiles/0/terms",
        "/files/0/words",
        "/layer/window/kernel/0",
        "/layer/window/stride/0",
    ];
    let mut changes =
        vec![("/interface/lanes", json!(48)), ("/arithmetic/requantize/zero_point", json!(1u64 << 32))];
    changes.extend(widths.map(|at| (at, widest.clone())));
    for count in [1u64 << 31, 1 << 40, 1 << 63] {
        changes.extend(counts.map(|at| (at, json!(count))));
    }
    check_changed(&changes);
}

#[test]
fn claims_that_are_not_true_are_caught() {
    let claims = [
        "/cases/0/expected/sum",
        "/cases/0/expected/exact",
        "/cases/0/expected/code",
        "/cases/0/bias",
        "/coverage/hit",
        "/coverage/missed",
        "/coverage/unreachable",
        "/coverage/bins/0/cases",
        "/interface/acc_latency",
        "/interface/out_latency",
        "/arithmetic/levels/0/bound_min",
        "/arithmetic/levels/0/bound_max",
        "/timing/cycles",
        "/array/cycles/cycles",
        "/array/cycles/model",
    ];
    check_changed(&claims.map(|at| (at, json!(77))));
}

/// A layer with a bias or a multiplier has constants, even if the seal of the manifest is right.
#[test]
fn constants_take_space() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifest = bundle(dir.path());
    manifest["layer"]["constant_bits"] = json!(0);
    fs::write(dir.path().join("bundle/manifest.json"), manifest.to_string()).unwrap();
    let output = limited(dir.path(), &["check", "bundle"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("/layer/constant_bits: 0 is not a possible size"), "{text}");
}

/// A file named in the manifest is a pipe, or endless.
#[test]
fn files_that_are_none_are_caught() {
    let dir = tempfile::tempdir().unwrap();
    bundle(dir.path());
    let file = dir.path().join("bundle/stim_a.mem");
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    check_caught(dir.path(), "a pipe");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    check_caught(dir.path(), "a device");
    fs::remove_file(&file).unwrap();
    fs::write(&file, "0\n".repeat(1 << 16)).unwrap();
    check_caught(dir.path(), "a file longer than its memory");
    fs::write(dir.path().join("bundle/manifest.json"), "[".repeat(1 << 20)).unwrap();
    check_caught(dir.path(), "brackets");
}
