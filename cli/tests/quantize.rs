//! `guardbit quantize`: output, refusals, and use of its networks like any other.

use std::fs;
use std::path::Path;

use crate::common::{csv_rows, digits, guardbit, root, succeed};
use assert_cmd::Command;

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

#[test]
fn what_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for name in
        ["digits_float.onnx", "digits_int8.tflite", "calibration.npy", "test_images.npy", "test_labels.npy"]
    {
        fs::copy(digits(name), dir.path().join(name)).unwrap();
    }
    fs::write(dir.path().join("there.onnx"), "of others").unwrap();
    let float = "quantize digits_float.onnx --calibration calibration.npy -o out.onnx";
    let cases = [
        ("no samples", "quantize digits_float.onnx -o out.onnx".to_owned()),
        (
            "a quantized network",
            "quantize digits_int8.tflite --calibration calibration.npy -o out.onnx".into(),
        ),
        (
            "samples that are codes",
            "quantize digits_float.onnx --calibration test_images.npy -o out.onnx".into(),
        ),
        ("labels of other samples", format!("{float} --labels test_labels.npy")),
        ("codes", format!("{float} --weights int9")),
        ("codes of a layer", format!("{float} --layer depthwise:weights=none")),
        ("a layer", format!("{float} --layer nobody:float")),
        ("an accelerator's key without one", format!("{float} --set accumulation.acc.bits=14")),
        ("a method", format!("{float} --method best")),
        ("a method of accelerators without one", format!("{float} --method guaranteed")),
        ("a seed alone", format!("{float} --seed 3")),
        (
            "a file that is there",
            "quantize digits_float.onnx --calibration calibration.npy -o there.onnx".into(),
        ),
        (
            "a file of others, by force",
            "quantize digits_float.onnx --calibration calibration.npy -o there.onnx --force".into(),
        ),
        (
            "no name of an ONNX file",
            "quantize digits_float.onnx --calibration calibration.npy -o out.tflite".into(),
        ),
        ("network and report in one place", format!("{float} --report ./out.onnx")),
        ("a folder", "quantize digits_float.onnx --calibration calibration.npy -o . --force".into()),
    ];
    let text: Vec<String> =
        cases.iter().map(|(what, args)| format!("# {what}\n{}\n", refused(dir.path(), args))).collect();
    insta::assert_snapshot!(text.join("\n"));
    assert_eq!(fs::read_to_string(dir.path().join("there.onnx")).unwrap(), "of others");
}

/// The quantized network is an ordinary network.
#[test]
fn its_networks_run_as_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (model, images, labels) =
        (path("digits.onnx"), digits("test_images_float.npy"), digits("test_labels.npy"));
    let (float, calibration) = (digits("digits_float.onnx"), digits("calibration.npy"));
    let hw = ["--hw", "fpga-int14-os", "--set", "accumulation.acc.bits=16"];
    let quantize =
        ["quantize", &float, "--calibration", &calibration, "--test", &images, "--labels", &labels, "--json"];
    let report = path("report");
    let printed = succeed(&[&quantize[..], &hw, &["--report", &report, "-o", &model]].concat());
    let record: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let run = ["run", &model, "--input", &images, "--labels", &labels, "--json"];
    let again = succeed(&[&run[..], &hw, &["-o", &path("run")]].concat());
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(record["accuracy_hw"], again["outcome"]["accuracy"]);
    assert_eq!(record["accuracy"], again["outcome"]["accuracy_exact"]);
    // Both records have an equal number of events.
    assert_eq!(record["layers"][0]["events"], again["layers"][0]["events"]);
    succeed(
        &[&["size", &model, "--input", &images, "--samples", "8", "-o", &path("size")][..], &hw[..2]]
            .concat(),
    );
    // Widths are proved as by `size`, and listed next to the register widths.
    let columns = |table: String, columns: &[&str]| -> Vec<Vec<String>> {
        let rows = csv_rows(Path::new(&table));
        rows.iter().map(|row| columns.iter().map(|&column| row[column].clone()).collect()).collect()
    };
    let proofs = columns(path("report/proofs.csv"), &["index", "proved_bits"]);
    assert_eq!(proofs, columns(path("size/size.csv"), &["index", "bits_weights"]));
    for row in columns(path("report/proofs.csv"), &["register_bits", "proved_bits", "safe"]) {
        let proved: u32 = row[1].parse().unwrap();
        assert_eq!((row[0].as_str(), row[2] == "true"), ("16", proved <= 16), "{row:?}");
    }
    succeed(
        &[&["vectors", &model, "--layer", "0", "--input", &images, "-o", &path("bundle")][..], &hw[..2]]
            .concat(),
    );
    succeed(&["check", &path("bundle")]);
    let sweep = [
        "sweep",
        &model,
        "--hw",
        "fpga-int14-os",
        "--bits",
        "14,20",
        "--input",
        &images,
        "--labels",
        &labels,
    ];
    succeed(&[&sweep[..], &["-o", &path("sweep")]].concat());
    let inspect = succeed(&["inspect", &model]);
    assert!(inspect.contains("fully_connected") && !inspect.contains("float_conv2d"), "{inspect}");
    // The bytes do not depend on the number of threads.
    let other = path("new/folder/other.onnx");
    let one = ["quantize", &float, "--calibration", &calibration, "--threads", "1", "-o", &other];
    succeed(&[&one[..], &hw].concat());
    assert_eq!(fs::read(&other).unwrap(), fs::read(&model).unwrap());
    let refused = guardbit(&["quantize", &float, "--calibration", &calibration, "-o", &model]);
    assert!(!refused.status.success() && root().is_dir());
}
