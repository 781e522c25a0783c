//! Operations of a network on the accelerator, and operations left on the host with the reason: nothing is
//! omitted silently.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{digits, guardbit, root, succeed};

/// A layer on the accelerator, two products of codes (one of two activations), and three products of real
/// values: with weights that are codes in the file, with real weights, and of two activations.
const NETWORK: &str = "\
schema: 1
name: mixed
inputs:
  - {name: x, shape: [4, 4], dtype: int8, scale: 0.5, zero_point: 0}
constants:
  - {name: w, shape: [4, 4], dtype: int8, scale: 0.5, zero_point: 0, random: {seed: 1}}
  - {name: v, shape: [4, 4], dtype: int8, scale: 0.5, zero_point: 0, random: {seed: 2}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: dense, dtype: int8, scale: 8, zero_point: 0}}
  - {op: batch_matmul, inputs: [dense, x], output: {name: scores, dtype: int8, scale: 32, zero_point: 0}}
  - {op: dequantize, inputs: [scores], output: {name: real, dtype: float32}}
  - {op: dequantize, inputs: [v], output: {name: weights, dtype: float32}}
  - {op: float_matmul, inputs: [real, weights], output: {name: projected, dtype: float32}}
  - {op: float_matmul, inputs: [projected, real], output: {name: mixed, dtype: float32}}
outputs: [mixed]
";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mixed.yaml"), NETWORK).unwrap();
    dir
}

/// Returns exit code, stdout and stderr.
fn shown(dir: &Path, args: &str) -> (Option<i32>, String, String) {
    let model = dir.join("mixed.yaml").to_string_lossy().into_owned();
    let out = dir.join("out").to_string_lossy().into_owned();
    let args = args.replace("MODEL", &model).replace("OUT", &out);
    let args: Vec<&str> = args.split_whitespace().collect();
    let output = guardbit(&args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&*dir.to_string_lossy(), "DIR");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn lines_with(text: &str, words: &[&str]) -> String {
    let lines = text.lines().filter(|line| words.iter().any(|word| line.contains(word)));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn commands_name_what_the_host_multiplies() {
    let dir = folder();
    let mut all = String::new();
    for command in [
        "inspect MODEL --hw exact-int32-os",
        "run MODEL --hw exact-int32-os --random 2 --stats none -o OUT/run",
        "size MODEL --hw exact-int32-os --random 2 -o OUT/size",
        "sweep MODEL --hw fpga-int14-os --bits 12,14 --random 2 -o OUT/sweep",
        "explore MODEL --hw fpga-int14-os --axis accumulation.acc.bits=12,14 --random 2 -o OUT/explore",
    ] {
        let (code, stdout, stderr) = shown(dir.path(), command);
        assert_eq!(code, Some(0), "{command}: {stderr}");
        let words = ["MACs", "one design", "matmul"];
        all += &format!("$ guardbit {command}\n{}\n", lines_with(&stdout, &words));
    }
    insta::assert_snapshot!(all);
    let json = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(dir.path().join("out").join(path)).unwrap()).unwrap()
    };
    let coverage = &json("run/run.json")["coverage"];
    assert_eq!(coverage, &json("size/size.json")["result"]["coverage"]);
    assert_eq!((&coverage["layers"], &coverage["layers_on_accelerator"]), (&4.into(), &2.into()));
    assert_eq!((&coverage["macs"], &coverage["macs_on_accelerator"]), (&256.into(), &128.into()));
    let host = coverage["host"].as_array().unwrap();
    assert_eq!(host.iter().map(|layer| layer["macs"].as_u64().unwrap()).sum::<u64>(), 128);
    assert!(
        fs::read_to_string(dir.path().join("out/run/report.html")).unwrap().contains("2 of 4 MAC layers")
    );
}

/// Without host operations, all multiply-accumulates are on the accelerator.
#[test]
fn a_whole_network_is_whole() {
    let stdout = succeed(&["inspect", &digits("digits_int8.tflite"), "--hw", "fpga-int14-os"]);
    assert!(stdout.contains("The accelerator runs 100 % of the "), "{stdout}");
    assert!(!stdout.contains("MACs run on the host"), "{stdout}");
}

/// A layer with quantized weights that works on real values is a warning, and with `--strict` exit code 1.
#[test]
fn strict_fails_for_quantized_weights_in_float() {
    let dir = folder();
    for (at, command) in [
        "inspect MODEL",
        "run MODEL --hw exact-int32-os",
        "size MODEL --hw exact-int32-os",
        "sweep MODEL --hw fpga-int14-os --bits 12",
        "explore MODEL --hw fpga-int14-os --axis accumulation.acc.bits=12",
    ]
    .into_iter()
    .enumerate()
    {
        let rest = if at == 0 { "" } else { "--random 2" };
        let run = |how: &str, place: &str| {
            let out = if at == 0 { String::new() } else { format!("-o OUT/{place}{at}") };
            shown(dir.path(), &format!("{command} {rest} {how} {out}"))
        };
        let (code, _, stderr) = run("", "warned");
        assert_eq!(code, Some(0), "{command}: {stderr}");
        assert!(stderr.contains("guardbit::network::quantized_in_float"), "{command}: {stderr}");
        let (code, stdout, stderr) = run("--strict --quiet", "strict");
        assert_eq!(code, Some(1), "{command}: {stderr}");
        assert!(!stdout.is_empty(), "{command}: results are there");
        if at == 0 {
            insta::assert_snapshot!(stderr);
        }
        let (code, _, stderr) = run("--quiet", "quiet");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{command}");
    }
    let whole = digits("digits_int8.tflite");
    succeed(&["inspect", &whole, "--strict"]);
}

/// `--audit` has a line for every node of an ONNX file, and of a TFLite file.
#[test]
fn audit_accounts_for_every_node_of_the_file() {
    let onnx = root().join("frontends/tests/onnx/golden/cnn_w2a2_1.onnx").to_string_lossy().into_owned();
    let audit = succeed(&["inspect", &onnx, "--audit"]);
    insta::assert_snapshot!(audit);
    let tflite = digits("digits_int8.tflite");
    let lines: Value = serde_json::from_str(&succeed(&["inspect", &tflite, "--audit", "--json"])).unwrap();
    let what: Vec<&str> =
        lines["decisions"].as_array().unwrap().iter().map(|line| line["what"].as_str().unwrap()).collect();
    assert!(what[0].starts_with("CONV_2D is conv2d `conv_1`"), "{what:?}");
}

/// The reason is complete in the table, however long names are.
#[test]
fn audit_gives_reasons_whole() {
    let path = root().join("frontends/tests/onnx/exported/quark/block_S16S16_MIXED_S8S8.onnx");
    let args = ["inspect", &path.to_string_lossy(), "--audit"];
    let lines: Value = serde_json::from_str(&succeed(&[&args[..], &["--json"]].concat())).unwrap();
    let text = succeed(&args);
    for line in lines["decisions"].as_array().unwrap() {
        assert!(text.contains(line["what"].as_str().unwrap()), "{line}");
    }
    assert!(text.contains("both operands are activations, of more than 8 bits"), "{text}");
}

/// Overflows of the bias adder are reported if no accumulator overflows.
#[test]
fn overflows_beside_the_accumulator_are_told() {
    let model = root().join("frontends/tests/onnx/exported/quark/mlp_INT16_CNN_DEFAULT.onnx");
    let (model, dir) = (model.to_string_lossy().into_owned(), tempfile::tempdir().unwrap());
    let told = |command: &str, bias: &str| {
        let out = dir.path().join(format!("{command}{bias}")).to_string_lossy().into_owned();
        let bias = format!("bias.bits={bias}");
        let common = [&model[..], "--hw", "exact-int32-os", "--random", "4", "--set", &bias, "-o", &out];
        let own: &[&str] =
            if command == "run" { &["--set", "accumulation.acc.bits=48"] } else { &["--bits", "48,60"] };
        let stdout = succeed(&[&[command], &common[..], own].concat());
        (stdout.contains("overflowed the bias adder"), stdout)
    };
    for command in ["run", "sweep"] {
        let (is_told, stdout) = told(command, "32");
        assert!(is_told && stdout.contains("`--set bias.bits=auto`"), "{stdout}");
        assert!(!told(command, "auto").0, "{command}");
    }
}

/// A long path in an error stays in one piece and can be copied.
#[test]
fn a_path_in_an_error_is_not_broken() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a-long folder-of several-words/".repeat(6));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("net.onnx");
    fs::write(&path, b"nothing of ONNX").unwrap();
    let path = path.to_string_lossy().into_owned();
    let output = guardbit(&["inspect", &path]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(&path), "{stderr}");
    assert!(
        stderr.lines().filter(|line| !line.contains(&path)).all(|line| line.chars().count() <= 110),
        "{stderr}"
    );
}
