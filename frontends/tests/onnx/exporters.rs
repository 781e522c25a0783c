//! Tests of networks that real exporters wrote, against the exporters' own runtimes: one family of
//! `scripts/oracles/make_onnx_oracle.py` each.
//!
//! Every row contains its expected number of layers. A row whose results may differ from the runtime's contains the
//! bound and the reason.

use super::oracle::{PYTHON, table_and_errors};

/// Checks every row of a family, and that there are at least `least`. Returns the exporter's errors for networks that
/// it cannot write.
fn check(family: &str, least: usize) -> String {
    let (rows, unexported) = table_and_errors(PYTHON, family, "network");
    assert!(rows.len() >= least, "{} rows", rows.len());
    let wrong: Vec<_> = rows.iter().filter(|(_, row)| !row.is_within(row.near)).collect();
    assert!(wrong.is_empty(), "{} of {} rows: {wrong:#?}", wrong.len(), rows.len());
    unexported.iter().map(|(name, error)| format!("{name}: {error}\n")).collect()
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

/// torch.ao's static, FX and trained networks in QDQ, as `torch.onnx` writes them, and PyTorch's errors for others.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON and GUARDBIT_BREVITAS_PYTHON"]
fn torch_ao() {
    insta::assert_snapshot!(check("torch_ao", 115));
}

/// Every quantizer of `brevitas.quant`, in QONNX and QCDQ, and Brevitas' errors for those that it cannot export.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON and GUARDBIT_BREVITAS_PYTHON"]
fn brevitas_quantizers() {
    insta::assert_snapshot!(check("brevitas_quantizers", 100));
}

/// ONNX Runtime's other tools: types per tensor, QNN, preprocessing, dynamic quantization.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn onnx_runtime_s_other_tools() {
    check("onnxruntime_more", 20);
}
