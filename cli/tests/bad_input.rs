//! Bad input: exit code 2, one clear message, and no output folder.

use std::fs;
use std::path::Path;

use crate::common::digits;
use assert_cmd::Command;

const NETWORK: &str = "\
schema: 1
name: tiny
inputs:
  - {name: x, shape: [1, 4], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [2, 4], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 1}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: y, dtype: int8, scale: 0.2, zero_point: 0}}
outputs: [y]
";

const ACCELERATOR: &str = "\
schema: 1
name: mine
accumulation:
  - {name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}
";

/// Creates a folder of files that commands can name: valid ones, and `bad.*` as given.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let good = [("net.yaml", NETWORK), ("acc.yaml", ACCELERATOR)];
    for (name, text) in good.iter().chain(files) {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Runs the command in `dir`; returns stderr as shown.
fn refused(dir: &Path, args: &str) -> String {
    let before = fs::read_dir(dir).unwrap().count();
    let args: Vec<&str> = args.split_whitespace().collect();
    let output = Command::cargo_bin("guardbit").unwrap().current_dir(dir).args(&args).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "nothing on stdout");
    assert_eq!(fs::read_dir(dir).unwrap().count(), before, "nothing is left behind");
    let here = dir.to_string_lossy();
    stderr.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().replace(&*here, "DIR")
}

/// Runs the valid network on `hw`.
fn run_with(files: &[(&str, &str)], hw: &str) -> String {
    refused(folder(files).path(), &format!("run net.yaml --hw {hw} --random 2 -o out"))
}

fn run_model(name: &str, text: &str) -> String {
    refused(folder(&[(name, text)]).path(), &format!("run {name} --hw acc.yaml --random 2 -o out"))
}

#[test]
fn truncated_model() {
    let dir = folder(&[]);
    let bytes = fs::read(digits("digits_int8.tflite")).unwrap();
    fs::write(dir.path().join("bad.tflite"), &bytes[..bytes.len() / 2]).unwrap();
    insta::assert_snapshot!(refused(dir.path(), "run bad.tflite --hw acc.yaml --random 2 -o out"));
}

#[test]
fn unknown_op() {
    insta::assert_snapshot!(run_model("bad.yaml", &NETWORK.replace("fully_connected", "fft")));
}

#[test]
fn nan_scale() {
    let text = NETWORK.replace("dtype: int8, scale: 0.1", "dtype: int8, scale: .nan");
    insta::assert_snapshot!(run_model("bad.yaml", &text));
}

#[test]
fn input_shape_and_dtype() {
    use ndarray_npy::WriteNpyExt;
    let dir = folder(&[]);
    let write = |name: &str| fs::File::create(dir.path().join(name)).unwrap();
    ndarray::Array2::<i8>::zeros((3, 5)).write_npy(write("shape.npy")).unwrap();
    ndarray::Array2::<f64>::zeros((3, 4)).write_npy(write("dtype.npy")).unwrap();
    ndarray::Array2::<i8>::zeros((3, 4)).write_npy(write("good.npy")).unwrap();
    ndarray::Array1::<i64>::from(vec![0, 1, 2]).write_npy(write("labels.npy")).unwrap();
    let refuse = |rest: &str| refused(dir.path(), &format!("run net.yaml --hw acc.yaml -o out {rest}"));
    insta::assert_snapshot!("shape", refuse("--input shape.npy"));
    insta::assert_snapshot!("dtype", refuse("--input dtype.npy"));
    insta::assert_snapshot!("missing_labels", refuse("--input good.npy --labels none.npy"));
    insta::assert_snapshot!("label_range", refuse("--input good.npy --labels labels.npy"));
    insta::assert_snapshot!("no_output_of_that_name", refuse("--input good.npy --output z"));
}

/// Messages name the file that was expected, and its path.
#[test]
fn missing_files() {
    let study = "schema: 1\nmodel: gone.yaml\nhw: acc.yaml\nsweep: {bits: 8}\n";
    let dir = folder(&[("study.yaml", study)]);
    let refuse = |args: &str| refused(dir.path(), args);
    insta::assert_snapshot!("missing_model", refuse("run gone.tflite --hw acc.yaml -o out"));
    insta::assert_snapshot!("missing_input", refuse("run net.yaml --hw acc.yaml --input gone.npy -o out"));
    insta::assert_snapshot!("missing_hw", refuse("run net.yaml --hw gone.yaml -o out"));
    insta::assert_snapshot!("missing_study", refuse("sweep gone.yaml -o out"));
    insta::assert_snapshot!("missing_model_of_study", refuse("sweep study.yaml -o out"));
}

/// A seed selects samples, but not their number.
#[test]
fn picked_samples() {
    use ndarray_npy::WriteNpyExt;
    let dir = folder(&[]);
    let file = fs::File::create(dir.path().join("good.npy")).unwrap();
    ndarray::Array2::<i8>::zeros((3, 4)).write_npy(file).unwrap();
    let refuse = |rest: &str| refused(dir.path(), &format!("run net.yaml --hw acc.yaml -o out {rest}"));
    insta::assert_snapshot!("seed_alone", refuse("--input good.npy --seed 3"));
    insta::assert_snapshot!("too_few_samples", refuse("--input good.npy --samples 4"));
    insta::assert_snapshot!("samples_without_input", refuse("--samples 4"));
    let study = "schema: 1\nmodel: net.yaml\nhw: acc.yaml\ninput: x.npy\nseed: 3\nsweep: {bits: 8}\n";
    let refuse = |text: &str| refused(folder(&[("study.yaml", text)]).path(), "sweep study.yaml -o out");
    insta::assert_snapshot!("study_seed_alone", refuse(study));
}

#[test]
fn widths() {
    for bits in ["0", "1", "65"] {
        let text = ACCELERATOR.replace("bits: 14", &format!("bits: {bits}"));
        insta::assert_snapshot!(format!("bits_{bits}"), run_with(&[("bad.yaml", &text)], "bad.yaml"));
    }
    insta::assert_snapshot!("set_bits", run_with(&[], "acc.yaml --set accumulation.acc.bits=65"));
    insta::assert_snapshot!(
        "sweep_open_range",
        refused(folder(&[]).path(), "sweep net.yaml --hw acc.yaml --bits 14..16 --random 2 -o out")
    );
    insta::assert_snapshot!(
        "sweep_bits",
        refused(folder(&[]).path(), "sweep net.yaml --hw acc.yaml --bits 1..=8 --random 2 -o out")
    );
}

/// Networks that an accelerator cannot run, with the code and the help of each reason. `too_many_products`
/// has no test file, because a graph with such a large window is refused earlier.
#[test]
fn networks_that_do_not_go_onto_the_accelerator() {
    let node = "  - {op: fully_connected, inputs: [x, w], output: {name: y, dtype: int8, scale: 0.2, zero_point: 0}}\n";
    let two = NETWORK.replace(node, &[node, &node.replace("name: y", "name: \"0\"")].concat());
    let wide = "\
schema: 1
name: tiny
inputs:
  - {name: x, shape: [1, 100, 100, 1000], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [1000, 1, 1, 1000], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 1}}
nodes:
  - {op: conv2d, inputs: [x, w], output: {name: y, dtype: int8, scale: 0.2, zero_point: 0}}
outputs: [y]
";
    let slow = "\
array: {rows: 1, cols: 1}
memory: {activation_kib: 0.000001, weight_kib: 0.000001, sram_bytes_per_cycle: 1e-6}
";
    let tree = "layers: {y: {bias.at: preload}, 0: {accumulation: [{name: sum, reduce: tree}]}}\n";
    for (name, model, hw) in [
        ("unknown_layer", NETWORK, "layers: {z: {bias.bits: 20}}\n"),
        ("ambiguous_layer", &two, "layers: {0: {bias.bits: 20}}\n"),
        ("host_layer", NETWORK, "offload: [conv2d]\nlayers: {y: {bias.bits: 20}}\n"),
        ("overrides_together", NETWORK, tree),
        ("multiplier", &NETWORK.replace("scale: 0.2", "scale: 1e-9"), "product: {shift: 31}\n"),
        ("no_permutation", NETWORK, "reduction_order: {walk: file, file: order.json}\n"),
        ("too_many_cycles", wide, slow),
    ] {
        let hw = format!("{ACCELERATOR}{hw}");
        let dir = folder(&[("bad.yaml", model), ("bad_hw.yaml", &hw), ("order.json", "[2, 0, 1]")]);
        let shown = refused(dir.path(), "run bad.yaml --hw bad_hw.yaml --random 1 -o out");
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn unknown_keys() {
    let text = ACCELERATOR.replace("name: mine", "name: mine\nacumulation: []");
    insta::assert_snapshot!("key", run_with(&[("bad.yaml", &text)], "bad.yaml"));
    insta::assert_snapshot!("set_level", run_with(&[], "acc.yaml --set accumulation.sum.bits=12"));
    insta::assert_snapshot!("preset", run_with(&[], "fpga-int15-os"));
}

#[test]
fn study_files() {
    let study = "schema: 1\nmodel: net.yaml\nhw: acc.yaml\nsweep: {bits: 8..=10, overflow: [wrap, clip]}\n";
    let refuse = |text: &str| refused(folder(&[("study.yaml", text)]).path(), "sweep study.yaml -o out");
    insta::assert_snapshot!("study_mode", refuse(study));
    insta::assert_snapshot!("study_key", refuse(&study.replace("hw:", "hardware:")));
    insta::assert_snapshot!("study_sweep_key", refuse(&study.replace("bits:", "widths:")));
    insta::assert_snapshot!("study_bits", refuse(&study.replace("8..=10", "8-10").replace("clip", "trap")));
}

#[test]
fn a_level_must_be_chosen_where_there_are_several() {
    let dir = folder(&[]);
    let args = "sweep net.yaml --hw fpga-int14-ws --bits 8..=10 --random 2 -o out";
    insta::assert_snapshot!(refused(dir.path(), args));
}

#[test]
fn other_peoples_folders_are_left_alone() {
    let dir = folder(&[]);
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("out/notes.txt"), "mine").unwrap();
    insta::assert_snapshot!(refused(dir.path(), "run net.yaml --hw acc.yaml --random 2 -o out"));
    insta::assert_snapshot!(
        "forced",
        refused(dir.path(), "run net.yaml --hw acc.yaml --random 2 -o out --force")
    );
    assert_eq!(fs::read_to_string(dir.path().join("out/notes.txt")).unwrap(), "mine");
}

/// A trapped overflow: exit code 1, no folder.
#[test]
fn trap() {
    let dir = folder(&[]);
    let args = "run net.yaml --hw acc.yaml --random 2 -o out --set accumulation.acc.overflow=trap --set accumulation.acc.bits=8";
    let output = Command::cargo_bin("guardbit")
        .unwrap()
        .current_dir(dir.path())
        .args(args.split_whitespace())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!dir.path().join("out").exists());
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap().trim());
}

/// Names from untrusted files are printed as plain text.
#[test]
fn nothing_in_a_message_acts_on_a_terminal() {
    let escapes = "schema: 1\n\"\\e[31mred\\a\": 1\n";
    for (shown, what) in [
        (run_with(&[("bad.yaml", escapes)], "bad.yaml"), "\\u{1b}[31mred\\u{7}"),
        (run_with(&[], "\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}"),
        (run_with(&[], "acc.yaml --set \u{9b}2J=1"), "\\u{9b}2J"),
        (
            run_model(
                "bad.yaml",
                &NETWORK.replace("name: y", "name: \"\\e[2J\"").replace("[x, w]", "[x, v]"),
            ),
            "",
        ),
    ] {
        assert!(shown.contains(what), "{shown}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
}

/// For any input, a message is at most a screen of text and shows its position.
#[test]
fn messages_are_bounded() {
    let long = "x".repeat(70_000);
    let one_line = format!("{{schema: 1, description: \"{long}\", array: {{rows: 0}}}}");
    let shown = run_with(&[("bad.yaml", &one_line)], "bad.yaml");
    assert!(shown.contains("bad.yaml:1:70044") && shown.contains("x\", array: {rows: 0}}"), "{shown}");
    for shown in [
        shown,
        run_with(&[("bad.yaml", &format!("schema: 1\n{long}: 1\n"))], "bad.yaml"),
        run_with(&[], &format!("acc.yaml --set {long}=1")),
        run_with(&[], &long[..4000]),
        run_model("bad.yaml", &NETWORK.replace("[x, w]", &format!("[x, {long}]"))),
    ] {
        assert!(shown.len() < 8_000, "{} bytes", shown.len());
        assert!(shown.lines().all(|line| line.chars().count() < 300), "{shown}");
    }
}

#[test]
fn grids_are_bounded() {
    let study = |text: &str| {
        let text = format!("schema: 1\n{text}\n");
        refused(folder(&[("study.yaml", &text)]).path(), "sweep study.yaml -o out").replace("\n", " ")
    };
    let presets = guardbit_hwmodels::PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let modes = "wrap, saturate, saturate_symmetric, saturate_zero, sticky, observe, trap";
    let all = format!("hw: [{presets}]\nsweep: {{bits: 2..=64, overflow: [{modes}]}}");
    for (text, expected) in [
        (format!("model: [a.yaml, b.yaml]\n{all}"), "32634 points; expected at most 10000"),
        ("model: [net.yaml, net.yaml]\nhw: acc.yaml\nsweep: {bits: 8}".into(), "a network appears twice"),
        (
            "model: net.yaml\nhw: [acc.yaml, acc.yaml]\nsweep: {bits: 8}".into(),
            "an accelerator appears twice",
        ),
        ("model: net.yaml\nhw: acc.yaml\nsweep: {bits: 0..=4000000000}".into(), "invalid list of widths"),
        (
            format!("model: [{}]\nhw: acc.yaml\nsweep: {{bits: 8}}", "x, ".repeat(1001)),
            "more than 1000 elements",
        ),
        ("model: net.yaml\nhw: acc.yaml\nrandom: 1000001\nsweep: {bits: 8}".into(), "at most 1000000"),
    ] {
        let shown = study(&text);
        let words = shown.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        assert!(words.contains(expected), "`{expected}`: {shown}");
    }
}

/// Some editors start a file with a byte order mark, or end lines with two characters.
#[test]
fn marks_and_line_ends_of_studies() {
    let text = "\u{feff}schema: 1\r\nmodel: net.yaml\r\nhw: acc.yaml\r\nrandom: 1\r\nsweep: {bits: 8}\r\n";
    let dir = folder(&[("study.yaml", text)]);
    let mut command = Command::cargo_bin("guardbit").unwrap();
    command.current_dir(dir.path()).args(["sweep", "study.yaml", "--quiet"]).assert().success();
}

/// Messages contain no terms of Rust.
#[test]
fn no_words_of_rust() {
    let study = |rest: &str| format!("schema: 1\nmodel: net.yaml\nhw: acc.yaml\n{rest}\n");
    for (rest, message) in [
        ("sweep: x", "it must be a map of axes"),
        ("random: x\nsweep: {bits: 14}", "expected a whole number of at least 0"),
        ("sweep: {bits: [x]}", "invalid list of widths"),
        (
            "random: 99999999999999999999\nsweep: {bits: 14}",
            "`random` is 99999999999999999999; it must be a whole",
        ),
    ] {
        let text = refused(folder(&[("bad.yaml", &study(rest))]).path(), "sweep bad.yaml -o out");
        assert!(text.contains(message), "{text}");
    }
    let dir = folder(&[("bad.npy", "")]);
    let text = refused(dir.path(), "run net.yaml --hw acc.yaml --input bad.npy -o out");
    assert!(text.contains("ends before its array does"), "{text}");
}

#[test]
fn the_root_is_no_place_for_results() {
    let text = refused(folder(&[]).path(), "run net.yaml --hw acc.yaml --random 2 -o /");
    assert!(text.contains("refusing to replace /: it is the root of the file system"), "{text}");
}

/// Every message says what to do. The notes of a run appear only if it starts.
#[test]
fn mistakes_are_explained() {
    use ndarray_npy::WriteNpyExt;
    let off = format!("{ACCELERATOR}offload: []\n");
    let study = "schema: 1\nmodel: net.yaml\nhw: acc.yaml\nrandom: 1\n";
    let axis = format!("{study}sweep:\n  axes:\n    seed: [1, 2]\n    accumulation.acc.bitz: [8, 9]\n");
    let set = format!("{study}set: {{accumulation.acc.bits: 99}}\nsweep: {{bits: 8}}\n");
    let points = format!("{study}sweep:\n  axes: {{seed: 1..=2}}\n  where: seed > 2\n");
    let cost = "schema: 1\nsource: x\nfigures:\n  - {part: adder, energy_pj: -1, source: x}\n";
    let dir = folder(&[
        ("off.yaml", &off),
        ("axis.yaml", &axis),
        ("set.yaml", &set),
        ("points.yaml", &points),
        ("cost.yaml", cost),
        ("not.tflite", "not a network"),
        ("text.npy", "not an array"),
    ]);
    let write = |name: &str| fs::File::create(dir.path().join(name)).unwrap();
    ndarray::Array2::<i8>::zeros((3, 4)).write_npy(write("int8.npy")).unwrap();
    ndarray::Array2::from_elem((3, 4), f32::NAN).write_npy(write("nan.npy")).unwrap();
    ndarray::Array1::from(vec![0i64, 1, 9]).write_npy(write("y.npy")).unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    for name in ["digits_int8.tflite", "digits_float.onnx", "calibration.npy"] {
        fs::copy(digits(name), dir.path().join(name)).unwrap();
    }
    let mistakes = [
        "run net.yaml --hw acc.yaml -o out --random -3",
        "run net.yaml --hw acc.yaml -o out --mode exact",
        "run net.yaml --hw acc.yaml -o out --labels y.npy",
        "run net.yaml --hw acc.yaml -o out --input text.npy",
        "run net.yaml --hw acc.yaml -o out --input nan.npy",
        "run net.yaml --hw acc.yaml -o out --layer nothing",
        "run digits_int8.tflite --hw fpga-int14-os -o out --layer 3",
        "run net.yaml --hw acc.yaml -o out --cost cost.yaml",
        "run not.tflite --hw acc.yaml -o out",
        "sweep net.yaml --hw acc.yaml -o out --bits 14,14",
        "sweep net.yaml --hw acc.yaml -o out --axis seed=1,2 --zip seed",
        "sweep net.yaml --hw acc.yaml -o out --axis accumulation.acc.bitz=8",
        "sweep net.yaml --hw acc.yaml -o out --axis seed=1,1",
        "sweep net.yaml --hw acc.yaml -o out --axis seed=1 --axis seed=2",
        "sweep net.yaml --hw acc.yaml -o out --axis mode=both",
        "sweep net.yaml --hw acc.yaml -o out --axis quantize:bits=2",
        "sweep digits_int8.tflite -o out --bits 8",
        "sweep net.yaml -o out",
        "sweep axis.yaml -o out",
        "sweep set.yaml -o out",
        "sweep points.yaml -o out",
        "sweep axis.yaml -o out --bits 8",
        "explore net.yaml --hw acc.yaml -o out --mode isolated",
        "explore net.yaml --hw acc.yaml -o out --axis arary.rows=4",
        "size net.yaml --hw off.yaml -o out",
        "status nothing empty",
        "vectors net.yaml --hw acc.yaml -o out --layer y --formats hex",
        "check nothing",
        "quantize digits_float.onnx --calibration int8.npy -o q.onnx",
        "inspect net.yaml --export net.bin",
        "man net.yaml",
    ];
    let message = |args: &str| {
        let shown = refused(dir.path(), args);
        // A wrong value of an option points to its help text.
        assert!(["  help: ", "try '--help'"].iter().any(|help| shown.contains(help)), "{shown}");
        format!("$ guardbit {args}\n{shown}\n")
    };
    insta::assert_snapshot!(mistakes.map(message).join("\n"));
}
