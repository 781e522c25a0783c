//! Hostile inputs. Each gives its correct result, or exit code 2 (1 for a failed check) and one short
//! message, within 5 s of processor time and 512 MB of memory. Files are in `hostile/`; long ones are
//! generated here. `scripts/goldens/make_hostile_goldens.py` computes the correct results of valid networks.

mod bundles;
mod files;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use crate::common::root;
use assert_cmd::Command;
use ndarray::{ArrayD, IxDyn, OwnedRepr};
use ndarray_npy::{NpzReader, ReadNpyExt, ReadableElement};

/// Seconds of processor time.
const SECONDS: u32 = 5;
/// Limit of the address space, which is larger than the memory used.
const KIB: u32 = 512 << 10;

/// Maximum size of any written file, including temporary ones, in KiB.
const FILE: u32 = 64 << 10;

/// Returns the path of a file in `hostile/`.
fn hostile(name: &str) -> String {
    root().join("cli/tests/hostile").join(name).to_string_lossy().into_owned()
}

/// Runs the binary in `dir` within the limits.
fn limited(dir: &Path, args: &[&str]) -> Output {
    let binary = assert_cmd::cargo::cargo_bin("guardbit");
    // An allocator with an arena per thread reserves far more than it uses.
    let script =
        format!("ulimit -t {SECONDS} -v {KIB} -f {FILE}; MALLOC_ARENA_MAX=1 exec \"$0\" --threads 2 \"$@\"");
    let mut command = Command::new("bash");
    command.current_dir(dir).arg("-c").arg(script).arg(binary).args(args);
    // Only a process that waits forever takes longer.
    command.timeout(Duration::from_secs(60)).output().unwrap()
}

/// Checks that there is one short message without terminal control characters.
fn check_message(args: &[&str], output: &Output, code: i32) -> String {
    let text = String::from_utf8(output.stderr.clone()).expect("messages are UTF-8");
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}: {:?} {}",
        output.status,
        text.chars().take(2000).collect::<String>()
    );
    assert!(text.len() < 8 << 10, "{args:?}: {} bytes of messages", text.len());
    let obeyed = |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c);
    assert_eq!(text.chars().find(obeyed), None, "{args:?}: {text:?}");
    text
}

/// Returns the names in a folder. Files are not opened, because there are pipes.
fn names(dir: &Path) -> BTreeSet<OsString> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// Checks that the command is refused with a message that contains `expected`, and leaves nothing behind.
fn check_refused(dir: &Path, args: &[&str], expected: &str) {
    let before = names(dir);
    let output = limited(dir, args);
    let text = check_message(args, &output, 2);
    // Lines are wrapped for a terminal.
    let words = |text: &str| text.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).contains(expected), "{args:?}: `{expected}` is not in\n{text}");
    assert!(output.stdout.is_empty(), "{args:?}: nothing on stdout");
    assert_eq!(names(dir), before, "{args:?}: nothing is left");
}

/// Returns the array of a `.npy` file.
fn array<T: ReadableElement>(path: &str) -> ArrayD<T> {
    ArrayD::read_npy(fs::File::open(path).unwrap()).unwrap()
}

/// Checks that both runs of the network give LiteRT's codes, and that size, sweep and vectors succeed.
fn check_right<T>(model: &str, input: &str, layer: &str)
where
    T: ReadableElement + PartialEq + std::fmt::Debug + Clone,
{
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    let made = dir.path().join(format!("{model}.tflite"));
    let model_file =
        if made.exists() { made.to_string_lossy().into_owned() } else { hostile(&format!("{model}.tflite")) };
    let input = hostile(input);
    let common = [model_file.as_str(), "--hw", "exact-int32-os", "--input", &input];
    let with = |command: &str, more: &[&str]| {
        let args = [&[command], &common[..], more].concat();
        let output = limited(dir.path(), &args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    with("run", &["-o", "run"]);
    let expected: ArrayD<T> = array(&hostile(&format!("{model}_y.npy")));
    let mut archive = NpzReader::new(fs::File::open(dir.path().join("run/outputs.npz")).unwrap()).unwrap();
    let names = archive.names().unwrap();
    assert_eq!(names.len(), 2, "exact and simulated: {names:?}");
    for name in names {
        let ours: ArrayD<T> = archive.by_name::<OwnedRepr<T>, IxDyn>(&name).unwrap();
        assert_eq!(ours, expected, "{model} {name}");
    }
    with("size", &["-o", "size"]);
    with("sweep", &["--bits", "16..=18", "-o", "sweep"]);
    with(
        "vectors",
        &[
            "--layer",
            layer,
            "--cases",
            "3",
            "--set",
            "array.rows=2",
            "--set",
            "array.cols=2",
            "-o",
            "vectors",
        ],
    );
    let checked = limited(dir.path(), &["check", "vectors"]);
    assert!(checked.status.success(), "{model}: {}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn valid_networks_have_their_right_results() {
    check_right::<i8>("const_input", "const_input_x.npy", "f");
    check_right::<i8>("zp3", "f32max.npy", "y");
    check_right::<i16>("int16_conv_int32bias", "int16_conv_int32bias_x.npy", "y");
    check_right::<i8>("ctrl", "ctrl_x.npy", "0");
    check_right::<i8>("long", "ctrl_x.npy", "0");
}

/// With preload and a shift of products, the exact run stays exact: y1 is x + 10, in both modes.
#[test]
fn the_exact_run_is_exact_under_preload_and_a_shift() {
    let dir = tempfile::tempdir().unwrap();
    let accelerator = "schema: 1\nproduct: {shift: 1, round: floor}\nbias: {at: preload}\n\
                       accumulation: [{name: a, reduce: serial, terms: all, bits: auto}]\n";
    fs::write(dir.path().join("hw.yaml"), accelerator).unwrap();
    files::npy(&dir.path().join("x.npy"), &[5i8, 4, 7], &[3, 1]);
    for mode in ["propagated", "isolated"] {
        let model = hostile("exact_preload.yaml");
        let args = ["run", &model, "--hw", "hw.yaml", "--input", "x.npy", "--mode", mode, "-o", mode];
        let output = limited(dir.path(), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut archive =
            NpzReader::new(fs::File::open(dir.path().join(mode).join("outputs.npz")).unwrap()).unwrap();
        let exact: ArrayD<i8> = archive.by_name::<OwnedRepr<i8>, IxDyn>("exact/y1").unwrap();
        assert_eq!(exact.into_raw_vec_and_offset().0, [15, 14, 17], "{mode}");
    }
}

#[test]
fn networks_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    let cases = [
        (hostile("reshape_div0.yaml"), "0"),
        (hostile("empty_run.yaml"), "0"),
        (hostile("g_268m.yaml"), "elements"),
        (hostile("pads12.tflite"), "elements"),
        ("deep2.yaml".into(), "nested"),
        ("quad50000.tflite".into(), "unfold"),
        ("line.yaml".into(), "scale"),
        ("pipe.yaml".into(), "regular file"),
        ("/dev/zero".into(), ""),
        ("behind_pipe.yaml".into(), "regular file"),
        ("behind_zero.yaml".into(), "regular file"),
        ("behind_nested.yaml".into(), "header"),
        ("behind_v2.yaml".into(), "header"),
        ("aliases.yaml".into(), ""),
    ];
    for (model, expected) in &cases {
        check_refused(dir.path(), &["inspect", model], expected);
        check_refused(
            dir.path(),
            &["run", model, "--hw", "fpga-int14-os", "--random", "2", "-o", "out"],
            expected,
        );
    }
}

#[test]
fn accelerators_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    let net = hostile("exact_preload.yaml");
    let cases = [
        (hostile("inject.yaml"), "name"),
        (hostile("arr65536.yaml"), "rows"),
        ("deep2.yaml".into(), "nested"),
        ("hw_line.yaml".into(), "bits"),
        ("pipe.yaml".into(), "regular file"),
        ("/dev/zero".into(), "regular file"),
        ("aliases.yaml".into(), ""),
        ("rate.yaml".into(), "dram_bytes_per_cycle"),
    ];
    for (hw, expected) in &cases {
        for command in ["run", "size"] {
            check_refused(dir.path(), &[command, &net, "--hw", hw, "--random", "2", "-o", "out"], expected);
        }
        check_refused(dir.path(), &["vectors", &net, "--hw", hw, "--layer", "y0", "-o", "out"], expected);
    }
}

#[test]
fn an_accelerator_of_two_thousand_layers_is_read_at_once() {
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    let output = limited(dir.path(), &["hw", "check", "layers.yaml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn samples_and_labels_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    let net = hostile("exact_preload.yaml");
    for (file, expected) in [
        (hostile("nested_20.npy"), "header"),
        (hostile("v2_hlen_4g.npy"), "header"),
        ("bomb.npz".into(), "shape"),
        ("nested.npz".into(), "header"),
        ("pipe.npy".into(), "regular file"),
        ("/dev/zero".into(), "regular file"),
    ] {
        let run = ["run", &net, "--hw", "fpga-int14-os", "-o", "out"];
        check_refused(dir.path(), &[&run[..], &["--input", &file]].concat(), expected);
        if !file.ends_with("npz") {
            check_refused(dir.path(), &[&run[..], &["--labels", &file, "--random", "2"]].concat(), expected);
        }
    }
}

#[test]
fn studies_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    files::write_long(dir.path());
    for (study, expected) in [
        ("deep2.yaml", "nested"),
        ("study_line.yaml", "bits"),
        ("pipe.yaml", "regular file"),
        ("/dev/zero", "regular file"),
        ("aliases.yaml", ""),
    ] {
        check_refused(dir.path(), &["sweep", study, "-o", "out"], expected);
    }
}

#[test]
fn numbers_that_are_too_large_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let net = hostile("exact_preload.yaml");
    let run = ["run", &net, "--hw", "fpga-int14-os", "-o", "out"];
    for (more, expected) in [(["--threads", "100000"], "threads"), (["--random", "1000000000"], "samples")] {
        check_refused(dir.path(), &[&run[..], &more].concat(), expected);
    }
}
