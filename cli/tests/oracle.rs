//! Every tensor of every layer against LiteRT's reference kernels.
//!
//! The digits network is compared with a committed golden file. Real networks are compared with LiteRT
//! itself, which `scripts/test` installs. Without it, or without the models, those tests print a message and
//! pass.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::common::{digits, int8_array, int8_arrays, needed, root, shared_model, succeed};
use ndarray_npy::{NpzReader, WriteNpyExt};

/// Both runs, if no sum overflows.
const BOTH: &[&str] = &["exact", "simulated"];
const WIDE: &[&str] = &["--hw", "exact-int32-os"];

/// Settings with which the narrow run of any network is far from the exact run, which must not depend on
/// them.
const NARROW: [&[&str]; 4] = [
    &["--hw", "fpga-int14-os", "--set", "accumulation.acc.bits=11", "--set", "product.shift=2"],
    &["--hw", "fpga-int14-os-wrap", "--set", "bias.at=preload", "--set", "product.shift=3"],
    &["--hw", "fpga-int14-ws", "--set", "bias.at=preload", "--set", "accumulation.chain.shift=2"],
    &[
        "--hw",
        "fpga-int14-tree",
        "--set",
        "operands.zero_point=fold",
        "--set",
        "reduction_order=[ic, kw, kh]",
    ],
];

/// Checks that these runs of every tensor in `dumped` equal `expected`; returns the number of codes compared.
fn check_tensors(dumped: &Path, runs: &[&str], expected: &[(String, ndarray::ArrayD<i8>)]) -> usize {
    let mut archive = NpzReader::new(File::open(dumped).unwrap()).unwrap();
    let mut codes = 0;
    for (name, golden) in expected {
        for run in runs {
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
    let input = dir.path().join("x.npy");
    inputs[0].1.write_npy(File::create(&input).unwrap()).unwrap();
    let (input, model) = (input.to_string_lossy(), digits("digits_int8.tflite"));
    let check = |hw: &[&str], runs: &[&str]| {
        let out = dir.path().join("out");
        let out_text = out.to_string_lossy();
        let args = ["run", &model, "--input", &input, "--dump-tensors", "--force", "-o", &out_text];
        succeed(&[&args, hw].concat());
        assert!(check_tensors(&out.join("tensors.npz"), runs, &tensors) > 5_000);
    };
    check(WIDE, BOTH);
    for hw in NARROW {
        check(hw, &["exact"]);
    }
}

/// Accuracy of the exact network on all test images, with datapaths that halve the accuracy of the narrow
/// one.
#[test]
fn the_exact_accuracy_is_one_figure() {
    let dir = tempfile::tempdir().unwrap();
    let (model, x, y) = (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let common = ["run", &model, "--hw", "fpga-int14-os", "--input", &x, "--labels", &y, "--stats", "none"];
    let common =
        [&common[..], &["--json", "--force", "-o", &out, "--set", "accumulation.acc.bits=10"]].concat();
    for shift in ["0", "2", "4"] {
        for place in ["post", "preload"] {
            for order in ["[kh, kw, ic]", "[ic, kw, kh]"] {
                let sets = [
                    format!("product.shift={shift}"),
                    format!("bias.at={place}"),
                    format!("reduction_order={order}"),
                ];
                let sets = sets.iter().flat_map(|set| ["--set", set]);
                let printed = succeed(&common.iter().copied().chain(sets).collect::<Vec<_>>());
                let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
                let accuracy = |key: &str| printed["outcome"][key].as_f64().unwrap();
                // LiteRT's reference kernels classify 532 of 540 correctly; printed with six decimals.
                assert_eq!(accuracy("accuracy_exact"), 0.985185, "{shift} {place} {order}");
                assert!(accuracy("accuracy") < 0.98, "{shift} {place} {order}: {}", accuracy("accuracy"));
            }
        }
    }
}

/// Runs `model` on the arguments' input here and in LiteRT.
fn check_model(model: &str, input: &[&str], hw: &[&str], runs: &[&str]) {
    let Some(model) = shared_model(model) else { return };
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out_text = out.to_string_lossy();
    let args = ["run", &model, "--dump-tensors", "--stats", "none", "-o", &out_text];
    succeed(&[&args, input, hw].concat());

    let inputs = match input {
        ["--input", path] => Path::new(path).to_path_buf(),
        _ => out.join("inputs.npz"),
    };
    let golden = dir.path().join("litert.npz");
    let script = root().join("scripts/oracles/litert_dump.py");
    let status = Command::new(python).arg(script).arg(&model).arg(&inputs).arg(&golden).status().unwrap();
    assert!(status.success(), "litert_dump.py failed");
    let codes = check_tensors(&out.join("tensors.npz"), runs, &int8_arrays(&golden));
    eprintln!("{model}: {codes} codes equal");
}

/// Checks accumulators that hold every sum, and the exact run next to narrow ones.
fn check_real_and_random(model: &str, inputs: Option<&str>) {
    if let Some(path) = inputs.and_then(shared_model) {
        check_model(model, &["--input", &path], WIDE, BOTH);
    }
    check_model(model, &["--random", "100", "--seed", "7"], WIDE, BOTH);
    for (seed, hw) in ["1", "2", "3", "4"].into_iter().zip(NARROW) {
        check_model(model, &["--random", "2", "--seed", seed], hw, &["exact"]);
    }
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8() {
    check_real_and_random("resnet8_cifar10_int8.tflite", Some("resnet8_cifar10_images.npy"));
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn visual_wake_words() {
    check_real_and_random("vww_mobilenet_v1_025_int8.tflite", Some("vww_images.npy"));
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn anomaly_autoencoder() {
    check_real_and_random("anomaly_autoencoder_int8.tflite", Some("anomaly_windows.npy"));
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn keyword_spotting() {
    check_real_and_random("kws_dscnn_int8.tflite", None);
}

/// Sums of every layer of the digits network in five orders, at several widths.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn orders_of_the_digits_network() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let script = root().join("scripts/second/check_orders.py");
    let guardbit = assert_cmd::cargo::cargo_bin("guardbit");
    let status = Command::new(python).arg(script).arg(guardbit).status().unwrap();
    assert!(status.success(), "check_orders.py found differences");
}

/// Random datapaths against another implementation of `docs/reference/arithmetic.md`.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn arithmetic() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let script = root().join("scripts/second/check_arithmetic.py");
    let guardbit = assert_cmd::cargo::cargo_bin("guardbit");
    let status = Command::new(python).arg(script).arg(guardbit).args(["--cases", "60"]).status().unwrap();
    assert!(status.success(), "check_arithmetic.py found differences");
}

/// Checks the maximum bytes that stay on the chip, next to the arena that TensorFlow Lite Micro plans from
/// the lifetimes of all tensors, including inputs, scratch buffers and gaps.
fn check_arena(model: &str, expected: [u64; 2]) {
    let Some(model) = shared_model(model) else { return };
    let script = root().join("scripts/oracles/tflm_arena.py");
    let output = Command::new(needed("GUARDBIT_ORACLE_PYTHON")).arg(script).arg(&model).output().unwrap();
    let arena: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let keys = ["--set", "memory.residency=fit", "--set", "memory.activation_kib=4096"];
    let printed = succeed(&[&["inspect", &model, "--hw", "exact-int32-os", "--json"], &keys[..]].concat());
    let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let peak = json["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|op| op["resident_bytes"].as_u64())
        .max()
        .unwrap();
    assert_eq!([peak, arena], expected, "{model}");
    assert!(peak <= arena);
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn peaks_lie_within_the_arena() {
    // Input and output of a layer: 25 x 5 pixels of 64 channels each.
    check_arena("kws_dscnn_int8.tflite", [2 * 25 * 5 * 64, 16000]);
    // 48 x 48 pixels of 8 channels, and of 16.
    check_arena("vww_mobilenet_v1_025_int8.tflite", [48 * 48 * (8 + 16), 73728]);
    // 32 x 32 pixels of 16 channels twice; the third tensor is the host's.
    check_arena("resnet8_cifar10_int8.tflite", [2 * 32 * 32 * 16, 49152]);
    // Two layers of 128; the arena has the input of 640 and one of them.
    check_arena("anomaly_autoencoder_int8.tflite", [2 * 128, 640 + 128]);
}
