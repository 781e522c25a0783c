//! Failing allocations: all remaining files are complete, and the next run removes leftovers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{assert_same, digits};

/// Runs the digits network in `dir` with `kib` KiB of address space, for at most two minutes.
fn limited(dir: &Path, kib: u32) -> Output {
    // An allocation that fails while Rust prints a backtrace waits forever for the backtrace's lock.
    let script =
        format!("ulimit -v {kib}; RUST_BACKTRACE=0 MALLOC_ARENA_MAX=1 exec timeout 120 \"$0\" \"$@\" 2>&1");
    let (model, images) = (digits("digits_int8.tflite"), digits("test_images.npy"));
    let args = [
        "run",
        &model,
        "--hw",
        "fpga-int14-os",
        "--input",
        &images,
        "--samples",
        "20",
        "--threads",
        "1",
        "-o",
        "out",
    ];
    let binary = assert_cmd::cargo::cargo_bin("guardbit");
    Command::new("bash").current_dir(dir).arg("-c").arg(script).arg(binary).args(args).output().unwrap()
}

#[test]
fn a_folder_is_whole_or_absent_where_memory_ends() {
    let good = tempfile::tempdir().unwrap();
    assert!(limited(good.path(), 4 << 20).status.success());
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let (mut failed, mut finished) = (0, 0);
    for mib in (8..160).step_by(5) {
        let output = limited(dir.path(), mib << 10);
        if output.status.success() {
            finished += 1;
            assert_same(&good.path().join("out"), &out);
            fs::remove_dir_all(&out).unwrap();
        } else {
            failed += 1;
            assert_ne!(output.status.code(), Some(124), "{mib} MiB: it hangs");
            assert!(!out.exists(), "{mib} MiB: half a folder\n{}", String::from_utf8_lossy(&output.stdout));
        }
    }
    assert!(failed > 3 && finished > 0, "memory ended in some runs: {failed} failed, {finished} finished");
    assert!(limited(dir.path(), 4 << 20).status.success());
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["out"], "nothing else is left");
}
