//! Tests of the error messages of invalid files.

use guardbit_frontends::{FrontendError, read_tflite};

use super::writer::{FLOAT32, INT8, INT32, INT64, Model, Operator, Tensor, Value};

fn rendered(bytes: &[u8]) -> String {
    let error = read_tflite(bytes, "model.tflite").unwrap_err();
    render(&error)
}

fn render(error: &FrontendError) -> String {
    let help = format!("\nhelp: {}", error.help());
    format!("{}\n{error}{help}", error.code())
}

/// Returns the error of a fully connected layer changed by `change`.
fn changed(change: impl FnOnce(&mut Model)) -> String {
    let tensors = vec![
        Tensor::int8("x", &[1, 4], 0.5, -1),
        Tensor::int8("w", &[2, 4], 0.25, 0).with_data([1, 2, 3, 4, 5, 6, 7, 8]),
        Tensor::ints("b", &[9, 10]),
        Tensor::int8("y", &[1, 2], 0.75, 1),
    ];
    let mut model = Model::new(tensors, vec![Operator::new(9, &[0, 1, 2], 3)]);
    change(&mut model);
    rendered(&model.to_bytes())
}

#[test]
fn another_kind_of_file() {
    insta::assert_snapshot!(rendered(b"PK\x03\x04 this is a zip file"), @r"
    guardbit::tflite::identifier
    model.tflite: not a TFLite file: bytes 4 to 7 are not `TFL3`
    help: the extension of a network file selects its reader: rename a file of another format
    ");
    insta::assert_snapshot!(rendered(b""), @r"
    guardbit::tflite::identifier
    model.tflite: not a TFLite file: bytes 4 to 7 are not `TFL3`
    help: the extension of a network file selects its reader: rename a file of another format
    ");
}

#[test]
fn truncated() {
    let bytes = Model::new(vec![Tensor::int8("x", &[1, 4], 0.5, -1)], vec![]).to_bytes();
    insta::assert_snapshot!(rendered(&bytes[..bytes.len() / 2]), @r"
    guardbit::tflite::truncated
    model.tflite: the file is cut off or damaged: Tensor.name at byte 140 needs 4 bytes, the file ends at byte 140
    help: compare its size or checksum with the original
    ");
}

#[test]
fn version_and_subgraphs() {
    insta::assert_snapshot!(changed(|m| m.version = 2), @r"
    guardbit::tflite::version
    model.tflite: schema version 2 is not supported; expected version 3
    help: convert the network again with a current TensorFlow
    ");
    insta::assert_snapshot!(changed(|m| m.subgraphs = 2), @r"
    guardbit::tflite::subgraphs
    model.tflite: the model has 2 subgraphs; expected one, and those that CALL_ONCE runs
    help: convert a single function, without loops and conditions
    ");
    insta::assert_snapshot!(changed(|m| m.subgraphs = 0), @r"
    guardbit::tflite::subgraphs
    model.tflite: the model has 0 subgraphs; expected one, and those that CALL_ONCE runs
    help: convert a single function, without loops and conditions
    ");
}

#[test]
fn unknown_operators() {
    insta::assert_snapshot!(changed(|m| m.operators[0].builtin = 16), @r"
    guardbit::tflite::unsupported_operator
    model.tflite: operator 0 is LSTM (16), which is not supported (output tensor `y`)
    help: docs/reference/tflite.md lists the supported operators; replace this one before converting, or read only the part of the network before it with `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].builtin = 9999), @r"
    guardbit::tflite::unsupported_operator
    model.tflite: operator 0 is builtin operator 9999, which is not supported (output tensor `y`)
    help: docs/reference/tflite.md lists the supported operators; replace this one before converting, or read only the part of the network before it with `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].builtin = 32), @r"
    guardbit::tflite::unsupported_operator
    model.tflite: operator 0 is CUSTOM (32) ``, which is not supported (output tensor `y`)
    help: docs/reference/tflite.md lists the supported operators; replace this one before converting, or read only the part of the network before it with `--to TENSOR`
    ");
}

#[test]
fn float_model() {
    insta::assert_snapshot!(changed(|m| m.tensors[0].element = FLOAT32), @r"
    guardbit::tflite::float
    model.tflite: operator 0 (FULLY_CONNECTED) works on `x`, which is float32; it only supports codes
    help: convert with full-integer quantization: a representative dataset, TFLITE_BUILTINS_INT8, and int8 inference_input_type and inference_output_type
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[1].element = FLOAT32), @r"
    guardbit::tflite::float
    model.tflite: operator 0 (FULLY_CONNECTED) works on `w`, which is float32; it only supports codes
    help: convert with full-integer quantization: a representative dataset, TFLITE_BUILTINS_INT8, and int8 inference_input_type and inference_output_type
    ");
}

#[test]
fn types() {
    insta::assert_snapshot!(changed(|m| m.tensors[2].element = INT64), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `b`: 8 bytes of data do not match int64 of shape [2]
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[2].element = INT8), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `b`: 8 bytes of data do not match int8 of shape [2]
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].element = INT32), @r"
    guardbit::tflite::graph
    model.tflite: operator 0 (FULLY_CONNECTED): fully_connected `y`: tensor `x` is int32, expected int4 or uint4 or int8 or uint8 or int16 or uint16
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].element = 99), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `x`: type number 99, expected int4, int8, uint8, int16, int32 or int64
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn quantization() {
    insta::assert_snapshot!(changed(|m| m.tensors[3].scales = vec![f32::NAN]), @r"
    guardbit::tflite::quantization
    model.tflite: tensor `y`: scale NaN at index 0 is not a finite number above 0
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[3].scales = vec![0.0]), @r"
    guardbit::tflite::quantization
    model.tflite: tensor `y`: scale 0 at index 0 is not a finite number above 0
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[3].scales = vec![]), @r"
    guardbit::tflite::graph
    model.tflite: operator 0 (FULLY_CONNECTED): fully_connected `y`: tensor `y`: has no scale
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[1].scales = vec![0.5, -0.5]), @r"
    guardbit::tflite::quantization
    model.tflite: tensor `w`: 2 scales do not match 1 zero points
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].zero_points = vec![200]), @r"
    guardbit::tflite::graph
    model.tflite: tensor `x`: zero point 200 is outside int8
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].zero_points = vec![1 << 40]), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `x`: zero point 1099511627776 does not fit 32 bits
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| {
        m.tensors[1].scales = vec![0.5; 3];
        m.tensors[1].zero_points = vec![0; 3];
    }), @r"
    guardbit::tflite::graph
    model.tflite: operator 0 (FULLY_CONNECTED): tensor `w`: 3 scales along axis 0 of shape [2, 4]
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn shapes() {
    insta::assert_snapshot!(changed(|m| m.tensors[3].shape = vec![2, 1]), @r"
    guardbit::tflite::shape
    model.tflite: operator 0 (FULLY_CONNECTED): output `y` has shape [2, 1] in the file, but [1, 2] follows
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].shape = vec![-1, 4]), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `x`: negative size -1
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[1].shape = vec![4, 2]), @r"
    guardbit::tflite::graph
    model.tflite: operator 0 (FULLY_CONNECTED): fully_connected `y`: tensor `b` has shape [2], expected [4]
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[1].shape = vec![2, 5]), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `w`: 8 bytes of data do not match int8 of shape [2, 5]
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].shape = vec![1 << 20, 1 << 20]), @r"
    guardbit::tflite::graph
    model.tflite: tensor `x` of shape [1048576, 1048576] has more than 268435456 elements
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.tensors[0].shape = vec![1; 9]), @r"
    guardbit::tflite::tensor
    model.tflite: tensor `x`: 9 axes; expected at most 8
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn operands() {
    insta::assert_snapshot!(changed(|m| m.tensors[1].data = None), @r"
    guardbit::tflite::order
    model.tflite: operator 0 (FULLY_CONNECTED) reads tensor `w`, which is neither a constant nor written before
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].inputs = vec![0, 0]), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): tensor `x` must be a constant
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].inputs = vec![0, 7]), @r"
    guardbit::tflite::index
    model.tflite: the file is damaged: tensor 7 does not exist
    help: compare its size or checksum with the original
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].inputs = vec![0, -1]), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): lacks input 1
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].inputs = vec![0]), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): has 1 inputs, expected 2 to 3
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].outputs = vec![]), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): has no output
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].outputs = vec![3, 3]), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): has 2 outputs, expected 1
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.operators[0].outputs = vec![0]), @r"
    guardbit::tflite::graph
    model.tflite: operator 0 (FULLY_CONNECTED): tensor `x` is defined twice
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.outputs = vec![5]), @r"
    guardbit::tflite::index
    model.tflite: the file is damaged: tensor 5 does not exist
    help: compare its size or checksum with the original
    ");
    insta::assert_snapshot!(changed(|m| m.inputs = vec![]), @r"
    guardbit::tflite::order
    model.tflite: operator 0 (FULLY_CONNECTED) reads tensor `x`, which is neither a constant nor written before
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(changed(|m| m.inputs = vec![-3]), @r"
    guardbit::tflite::index
    model.tflite: the file is damaged: tensor -3 does not exist
    help: compare its size or checksum with the original
    ");
}

#[test]
fn options() {
    let with = |number, field, value| {
        changed(|m| m.operators[0].options = Some((number, vec![(field, Value::Byte(value))])))
    };
    insta::assert_snapshot!(with(8, 0, 4), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): the fused activation TANH is not supported
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(with(8, 0, 5), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): the fused activation SIGN_BIT is not supported
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(with(8, 1, 1), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): shuffled weights are not supported
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
    insta::assert_snapshot!(with(1, 0, 0), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (FULLY_CONNECTED): has options of type 1, expected 8
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn operators_out_of_order() {
    let tensor = |name| Tensor::int8(name, &[1, 4], 0.5, -1);
    let operators = vec![Operator::new(19, &[1], 2), Operator::new(19, &[0], 1)];
    let model = Model::new(vec![tensor("x"), tensor("y"), tensor("z")], operators);
    insta::assert_snapshot!(rendered(&model.to_bytes()), @r"
    guardbit::tflite::order
    model.tflite: operator 0 (RELU) reads tensor `y`, which is neither a constant nor written before
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn concatenation_of_other_scales() {
    let tensors = vec![Tensor::int8("x", &[1, 4], 0.5, -1), Tensor::int8("y", &[1, 4], 0.25, -1)];
    insta::assert_snapshot!(rendered(&Model::new(tensors, vec![Operator::new(2, &[0], 1)]).to_bytes()), @r"
    guardbit::tflite::operator
    model.tflite: operator 0 (CONCATENATION): tensor `x` must have the scale and zero point of the output
    help: docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part of it with `--from TENSOR` and `--to TENSOR`
    ");
}

#[test]
fn file_names() {
    let load = |name: &str| render(&guardbit_frontends::load(name.as_ref()).unwrap_err());
    insta::assert_snapshot!(load("model"), @r"
    guardbit::model::extension
    model: not a network file: unknown extension
    help: networks are .tflite, .onnx, .yaml or .yml files
    ");
}
