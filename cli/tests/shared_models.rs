//! Published figures of real networks, reproduced by the binary.

use std::process::Command;

use crate::common::{csv_rows, needed, shared_model, succeed};

/// Writes codes from NumPy's generator: `default_rng(1).integers(-128, 128, shape)`.
fn numpy_codes(dir: &std::path::Path, shape: &str) -> String {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let path = dir.join("x.npy").to_string_lossy().into_owned();
    let script = format!(
        "import numpy as np; np.save({path:?}, np.random.default_rng(1).integers(-128, 128, {shape}).astype('int8'))"
    );
    assert!(Command::new(python).args(["-c", &script]).status().unwrap().success());
    path
}

/// Returns the pool sums of the keyword network that do not fit 14 bits.
fn pool_sums_that_do_not_fit(zero_point: &str) -> Option<(String, String)> {
    let model = shared_model("kws_dscnn_int8.tflite")?;
    let dir = tempfile::tempdir().unwrap();
    let input = numpy_codes(dir.path(), "(20, 49, 10, 1)");
    let out = dir.path().join("out");
    let zero_point = format!("operands.zero_point={zero_point}");
    let out_text = out.to_string_lossy();
    succeed(&[
        "run",
        &model,
        "--hw",
        "fpga-int14-os",
        "--input",
        &input,
        "--mode",
        "isolated",
        "--set",
        "offload=[conv2d, depthwise_conv2d, fully_connected, avg_pool2d]",
        "--set",
        &zero_point,
        "-o",
        &out_text,
    ]);
    let rows = csv_rows(&out.join("layers.csv"));
    let pool = rows.iter().find(|row| row["op"] == "avg_pool2d").unwrap();
    Some((pool["dots"].clone(), pool["persistent"].clone()))
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn pool_sums_overflow_by_zero_point() {
    for (zero_point, expected) in [("subtract", "22"), ("fold", "1251")] {
        let Some((sums, misfits)) = pool_sums_that_do_not_fit(zero_point) else { return };
        assert_eq!((sums.as_str(), misfits.as_str()), ("1280", expected), "{zero_point}");
    }
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8_classifies_the_photographs() {
    let (Some(model), Some(images), Some(labels)) = (
        shared_model("resnet8_cifar10_int8.tflite"),
        shared_model("resnet8_cifar10_images.npy"),
        shared_model("resnet8_cifar10_labels.npy"),
    ) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out = out.to_string_lossy();
    let args = [
        "sweep",
        &model,
        "--hw",
        "fpga-int14-os",
        "--input",
        &images,
        "--labels",
        &labels,
        "--bits",
        "8,14,24",
        "--overflow",
        "wrap,saturate",
        "--json",
        "-o",
        &out,
    ];
    let rows: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    for row in rows.as_array().unwrap() {
        assert_eq!(row["accuracy_exact"], 1.0, "all five");
        if row["bits"] == 24 {
            assert_eq!((&row["accuracy"], &row["output_mismatch"]), (&1.0.into(), &0.into()));
        }
    }
}

/// Out-of-range final sums of random inputs, pooled over all layers (no bias, exact activations).
#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8_out_of_range_rates() {
    let Some(model) = shared_model("resnet8_cifar10_int8.tflite") else { return };
    let dir = tempfile::tempdir().unwrap();
    let input = numpy_codes(dir.path(), "(1, 32, 32, 3)");
    let out = dir.path().join("out");
    let out = out.to_string_lossy();
    let args = [
        "sweep",
        &model,
        "--hw",
        "fpga-int14-os",
        "--input",
        &input,
        "--mode",
        "isolated",
        "--bits",
        "12,14,16,18,20",
        "--json",
        "-o",
        &out,
    ];
    let rows: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    let dots: u64 = {
        let layers = csv_rows(&dir.path().join("out/sweep.csv"));
        layers
            .iter()
            .filter(|row| row["point_bits"] == "14")
            .map(|row| row["dots"].parse::<u64>().unwrap())
            .sum()
    };
    for (bits, percent) in [(12, 92.5), (14, 70.9), (16, 19.2), (18, 0.07), (20, 0.0)] {
        let row = rows.as_array().unwrap().iter().find(|row| row["bits"] == bits).unwrap();
        let rate = 100.0 * row["persistent"].as_u64().unwrap() as f64 / dots as f64;
        assert!((rate - percent).abs() < 0.05, "{bits} bits: {rate:.3} %, published {percent} %");
    }
}

/// Pooled figures from `size`, which sums over the layers itself.
#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8_out_of_range_rates_of_size() {
    let Some(model) = shared_model("resnet8_cifar10_int8.tflite") else { return };
    let dir = tempfile::tempdir().unwrap();
    let input = numpy_codes(dir.path(), "(1, 32, 32, 3)");
    let out = dir.path().join("out");
    succeed(&["size", &model, "--hw", "fpga-int14-os", "--input", &input, "-o", &out.to_string_lossy()]);
    let rates = csv_rows(&out.join("size_rates.csv"));
    for (bits, percent) in [("12", 92.5), ("14", 70.9), ("16", 19.2), ("18", 0.07), ("19", 0.0)] {
        let row = rates.iter().find(|row| row["bits"] == bits).unwrap();
        let rate = 100.0 * row["rate_final"].parse::<f64>().unwrap();
        assert!((rate - percent).abs() < 0.05, "{bits} bits: {rate:.3} %, published {percent} %");
    }
}
