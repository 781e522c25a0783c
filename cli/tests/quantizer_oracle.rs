//! Networks quantized from the float ones of `examples/`: every code of every tensor in guardbit and ONNX Runtime.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{needed, root, succeed};

/// The float networks of `examples/` with the images that they are tested on.
const NETWORKS: [(&str, &str); 2] =
    [("digits", "digits/test_images_float.npy"), ("clutter", "clutter/test_images.npy")];

fn script(name: &str) -> Command {
    let mut command = Command::new(needed("GUARDBIT_ONNX_PYTHON"));
    command.arg(root().join("scripts").join(name));
    command
}

/// Runs a network here and in ONNX Runtime; returns how many codes were compared.
fn equal_codes(model: &Path, images: &str) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let images = root().join("examples").join(images);
    let words = [model, &images, &out].map(|path| path.to_string_lossy().into_owned());
    let [model, images, out] = &words;
    let args = ["run", model, "--hw", "exact-int32-os", "--input", images, "--samples", "100"];
    succeed(&[&args[..], &["--stats", "none", "--dump-tensors", "--quiet", "-o", out]].concat());
    let mut compare = script("check_quantized.py");
    let output = compare.args([model, images]).arg(Path::new(out).join("tensors.npz")).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{model}\n{printed}{}", String::from_utf8_lossy(&output.stderr));
    let sums: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    eprintln!("{model}: {sums}");
    sums["codes"].as_u64().unwrap()
}

/// What ONNX Runtime's static quantizer makes of them, by three methods and with both types of activations.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn networks_of_onnx_runtimes_quantizer_are_equal() {
    let dir = tempfile::tempdir().unwrap();
    let made = script("peer_onnxruntime.py").arg(dir.path().join("accuracy.csv")).arg(dir.path()).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let committed = root().join("examples/quantize/peers/onnxruntime.csv");
    let accuracy = fs::read_to_string(dir.path().join("accuracy.csv")).unwrap();
    assert_eq!(accuracy, fs::read_to_string(committed).unwrap());
    for (network, images) in NETWORKS {
        for method in ["min-max", "kl", "percentile"] {
            for activations in ["uint8", "int8"] {
                let model: PathBuf = dir.path().join(format!("{network}_{method}_{activations}.onnx"));
                assert!(equal_codes(&model, images) > 30_000);
            }
        }
    }
}
