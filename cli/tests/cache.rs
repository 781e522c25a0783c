//! Points that one study takes from another: equal bytes, and only if everything they depend on is equal.

use std::fs;
use std::path::Path;

use crate::common::{assert_same, contents};
use assert_cmd::Command;
use ndarray::Array2;
use ndarray_npy::write_npy;

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 32], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [4, 32], dtype: int8, scale: 0.1, zero_point: 0, file: w.npy}
  - {name: v, shape: [3, 4], dtype: int8, scale: 0.1, zero_point: 0, values: [1, -20, 3, 40, 5, -6, 70, 8, -9, 10, 11, 12]}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: h, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 9.0, zero_point: 0}}
outputs: [y]
";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
    weights(dir.path(), 0);
    dir
}

/// Writes weights whose last one is changed by `change`.
fn weights(dir: &Path, change: i8) {
    let mut codes: Vec<i8> = (0..128).map(|i| ((i * 61) % 255) as u8 as i8).collect();
    codes[127] = codes[127].wrapping_add(change);
    write_npy(dir.join("w.npy"), &Array2::from_shape_vec((4, 32), codes).unwrap()).unwrap();
}

/// Runs a sweep; returns how many points were taken from the cache.
fn sweep(dir: &Path, args: &str) -> String {
    let all = format!("sweep net.yaml --hw fpga-int14-os --random 6 {args}");
    let output =
        Command::cargo_bin("guardbit").unwrap().current_dir(dir).args(all.split_whitespace()).output();
    let output = output.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    stderr.lines().find(|line| line.contains("from the cache")).unwrap_or_default().trim().to_owned()
}

#[test]
fn overlapping_studies_share_points() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    assert_eq!(
        sweep(dir.path(), "--bits 11..=13 -o first --cache cache"),
        "0 of 3 points are from the cache"
    );
    assert_eq!(
        sweep(dir.path(), "--bits 12..=15 -o second --cache cache"),
        "2 of 4 points are from the cache"
    );
    // Equal points given by another axis, with a grid over it.
    let grid = "--axis accumulation.acc.bits=11..=15 --axis accumulation.acc.overflow=saturate,wrap";
    assert_eq!(
        sweep(dir.path(), &format!("{grid} -o grid --cache cache")),
        "5 of 10 points are from the cache"
    );
    assert_eq!(sweep(dir.path(), &format!("{grid} --cache cache")), "10 of 10 points are from the cache");
    assert_eq!(sweep(dir.path(), "--bits 12..=15 -o alone"), "");
    assert_same(&at("second"), &at("alone"));
    sweep(dir.path(), &format!("{grid} -o grid_alone"));
    assert_same(&at("grid"), &at("grid_alone"));
    assert_eq!(contents(&at("cache")).len(), 10, "a file per point");
}

/// A changed byte of a weight, in an array or in the text, is another network; so are other samples and
/// settings.
#[test]
fn nothing_else_is_taken() {
    let dir = folder();
    sweep(dir.path(), "--bits 12 --cache cache");
    let hits = |more: &str| sweep(dir.path(), &format!("--bits 12 --cache cache {more}"));
    const NONE: &str = "0 of 1 points are from the cache";
    assert_eq!(hits(""), "1 of 1 points are from the cache");
    weights(dir.path(), 1);
    assert_eq!(hits(""), NONE, "a byte of w.npy");
    weights(dir.path(), 0);
    assert_eq!(hits(""), "1 of 1 points are from the cache");
    fs::write(dir.path().join("net.yaml"), NETWORK.replace("values: [1, -20", "values: [2, -20")).unwrap();
    assert_eq!(hits(""), NONE, "a weight in the text");
    fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
    for more in ["--seed 1", "--mode isolated", "--stats full", "--set bias.bits=30", "--task regress"] {
        assert_eq!(hits(more), NONE, "{more}");
    }
}

/// Damaged files are reported and not used, and concurrent sweeps do not disturb each other.
#[test]
fn a_cache_is_safe() {
    let dir = folder();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let path = dir.path();
            scope.spawn(move || sweep(path, &format!("--bits 10..=14 -o out{i} --cache cache")));
        }
    });
    sweep(dir.path(), "--bits 10..=14 -o alone");
    for i in 0..4 {
        assert_same(&dir.path().join(format!("out{i}")), &dir.path().join("alone"));
    }
    for name in contents(&dir.path().join("cache")).keys() {
        let path = dir.path().join("cache").join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"events\":", "\"events\":1", 1)).unwrap();
    }
    assert_eq!(
        sweep(dir.path(), "--bits 10..=14 -o again --cache cache"),
        "0 of 5 points are from the cache"
    );
    assert_same(&dir.path().join("again"), &dir.path().join("alone"));
}

/// A cache that cannot be created, read or extended causes a warning, and the sweep ends as without it.
#[test]
fn a_cache_that_fails_is_a_warning() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    sweep(dir.path(), "--bits 10..=14 -o alone");
    sweep(dir.path(), "--bits 10 --cache cache");
    // Files instead of folders prevent writing; permissions would not stop root.
    let store = fs::read_dir(at("cache")).unwrap().next().unwrap().unwrap().path();
    for first in 0..=255u8 {
        let _ = fs::File::create_new(store.join(format!("{first:02x}")));
    }
    for (cache, warning) in [
        ("cache", "warning: cannot add more points to the cache"),
        ("net.yaml/cache", "warning: cannot use the cache"),
        ("/proc/cache", "warning: cannot use the cache"),
    ] {
        let all =
            format!("sweep net.yaml --hw fpga-int14-os --random 6 --bits 10..=14 -o out --cache {cache}");
        let mut command = Command::cargo_bin("guardbit").unwrap();
        let output = command.current_dir(dir.path()).args(all.split_whitespace()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{cache}: {stderr}");
        assert_eq!(stderr.matches("warning").count(), 1, "{cache}: {stderr}");
        assert!(stderr.contains(warning), "{cache}: {stderr}");
        assert_same(&at("out"), &at("alone"));
        fs::remove_dir_all(at("out")).unwrap();
    }
}
