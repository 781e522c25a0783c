//! Every tensor of every layer against LiteRT's reference kernels.
//!
//! The digits network against a committed golden file; the real networks against LiteRT itself, which
//! `scripts/test` installs (without it, or without the models, those tests say so and pass).

mod common;

use std::fs::File;
use std::path::Path;
use std::process::Command;

use common::{digits, int8_array, int8_arrays, root, shared_model, succeed};
use ndarray_npy::{NpzReader, WriteNpyExt};

/// Both runs of every tensor in `dumped` equal `expected`; returns the number of codes compared.
fn check_tensors(dumped: &Path, expected: &[(String, ndarray::ArrayD<i8>)]) -> usize {
    let mut archive = NpzReader::new(File::open(dumped).unwrap()).unwrap();
    let mut codes = 0;
    for (name, golden) in expected {
        for run in ["exact", "simulated"] {
            let ours = int8_array(&mut archive, &format!("{run}/{name}"));
            assert_eq!(ours.shape(), golden.shape(), "{run}/{name}");
            let wrong = ours.iter().zip(golden).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{run}/{name}: {wrong} of {} codes differ", golden.len());
            codes += golden.len();
        }
    }
    codes
}

#[test]
fn digits_equal_the_golden_codes() {
    let golden = int8_arrays(Path::new(&digits("golden/litert_ref.npz")));
    let (inputs, tensors): (Vec<_>, Vec<_>) = golden.into_iter().partition(|(name, _)| name == "inputs");
    let tensors: Vec<_> = tensors
        .into_iter()
        .map(|(name, codes)| (name.strip_prefix("tensor/").unwrap().to_string(), codes))
        .collect();
    assert_eq!(tensors.len(), 6, "one tensor per operation");

    let dir = tempfile::tempdir().unwrap();
    let (input, out) = (dir.path().join("x.npy"), dir.path().join("out"));
    inputs[0].1.write_npy(File::create(&input).unwrap()).unwrap();
    let (input, out_text) = (input.to_string_lossy(), out.to_string_lossy());
    let model = digits("digits_int8.tflite");
    let args =
        ["run", &model, "--hw", "exact-int32-os", "--input", &input, "--dump-tensors", "-o", &out_text];
    succeed(&args);
    assert!(check_tensors(&out.join("tensors.npz"), &tensors) > 10_000);
}

/// Runs `model` on the arguments' input here and in LiteRT.
fn check_model(model: &str, input: &[&str]) {
    let Some(model) = shared_model(model) else { return };
    let Ok(python) = std::env::var("GUARDBIT_ORACLE_PYTHON") else {
        eprintln!("skipped: GUARDBIT_ORACLE_PYTHON names no Python with ai-edge-litert; see scripts/test");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out_text = out.to_string_lossy();
    let mut args =
        vec!["run", &model, "--hw", "exact-int32-os", "--dump-tensors", "--stats", "none", "-o", &out_text];
    args.extend(input);
    succeed(&args);

    let inputs = match input {
        ["--input", path] => Path::new(path).to_path_buf(),
        _ => out.join("inputs.npz"),
    };
    let golden = dir.path().join("litert.npz");
    let script = root().join("scripts/litert_dump.py");
    let status = Command::new(python).arg(script).arg(&model).arg(&inputs).arg(&golden).status().unwrap();
    assert!(status.success(), "litert_dump.py failed");
    let codes = check_tensors(&out.join("tensors.npz"), &int8_arrays(&golden));
    eprintln!("{model}: {codes} codes equal");
}

fn check_real_and_random(model: &str, inputs: Option<&str>) {
    if let Some(path) = inputs.and_then(shared_model) {
        check_model(model, &["--input", &path]);
    }
    check_model(model, &["--random", "100", "--seed", "7"]);
}

#[test]
fn resnet8() {
    check_real_and_random("resnet8_cifar10_int8.tflite", Some("resnet8_cifar10_images.npy"));
}

#[test]
fn visual_wake_words() {
    check_real_and_random("vww_mobilenet_v1_025_int8.tflite", Some("vww_images.npy"));
}

#[test]
fn anomaly_autoencoder() {
    check_real_and_random("anomaly_autoencoder_int8.tflite", Some("anomaly_windows.npy"));
}

#[test]
fn keyword_spotting() {
    check_real_and_random("kws_dscnn_int8.tflite", None);
}
