//! Networks that real exporters wrote, against the exporters' own runtimes: a family of `scripts/make_onnx_oracle.py` each. Every row
//! states how many layers it has. One whose results may differ from the runtime's says by how much, and why.

use super::oracle::{PYTHON, table};

/// Checks every row of a family, and that there are no fewer than `least`.
fn check(family: &str, least: usize) {
    let rows = table(PYTHON, family, "network");
    assert!(rows.len() >= least, "{} rows", rows.len());
    let wrong: Vec<_> = rows.iter().filter(|(_, row)| !row.is_within(row.near)).collect();
    assert!(wrong.is_empty(), "{} of {} rows: {wrong:#?}", wrong.len(), rows.len());
}

/// `quantize_static` with each of its options.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn onnx_runtime_s_quantizer() {
    check("onnxruntime", 400);
}

/// AMD Quark's configurations of standard operators.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn quark() {
    check("quark", 30);
}

/// NVIDIA Model Optimizer's files for TensorRT.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn model_optimizer() {
    check("modelopt", 15);
}

/// QKeras networks in QONNX, as `qonnx.converters` writes them.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn qkeras() {
    check("qkeras", 40);
}
