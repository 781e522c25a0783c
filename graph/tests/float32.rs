//! Tests of conversions between codes and real values.

use crate::common;
use crate::common::{activations, build, error, output, run};
use guardbit_graph::ops::{Dequantize, QuantizeFloat, Relu, Reshape};
use guardbit_graph::{DType, OutputSpec, Quantization, TensorType, real_of, word_of};
use guardbit_num::Rounding;

fn reals(shape: &[usize], values: &[f32]) -> common::Input {
    let ty = TensorType { shape: shape.to_vec(), dtype: DType::Float32, quantization: None };
    common::Input { ty, codes: values.iter().map(|&value| word_of(value)).collect(), constant: false }
}

fn real_output() -> OutputSpec {
    OutputSpec { name: "output".into(), dtype: DType::Float32, quantization: None }
}

fn quantized(rounding: Rounding, values: &[f32], output: OutputSpec) -> Vec<i32> {
    run(QuantizeFloat { rounding, zero_point_first: false }, &[reals(&[values.len()], values)], output).1
}

/// Results of ONNX Runtime 1.31.1, `QuantizeLinear`. In the last pair of rows, a product with the inverse would be
/// wrong.
#[test]
fn real_values_become_codes_as_onnx_runtime_does() {
    let ties = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5];
    assert_eq!(quantized(Rounding::HalfEven, &ties, output(DType::Int8, 1.0, 0)), [0, 2, 2, 0, -2, -2]);
    assert_eq!(quantized(Rounding::HalfEven, &ties, output(DType::Int8, 1.0, 1)), [1, 3, 3, 1, -1, -1]);
    assert_eq!(quantized(Rounding::HalfAway, &ties, output(DType::Int8, 1.0, 0)), [1, 2, 3, -1, -2, -3]);
    let ends = [1e30, f32::INFINITY, -1e30, f32::NEG_INFINITY, f32::NAN];
    assert_eq!(quantized(Rounding::HalfEven, &ends, output(DType::UInt8, 1e-3, 7)), [255, 255, 0, 0, 7]);
    assert_eq!(
        quantized(Rounding::HalfEven, &[0.273_939_94], output(DType::Int8, 0.002_148_548_6, 0)),
        [127]
    );
}

/// The roundings of QONNX, on ties and next to them.
#[test]
fn every_rounding_of_real_values() {
    let values = [-1.5, -1.25, -0.5, -0.25, 0.25, 0.5, 1.5, 1.75];
    for (rounding, expected) in [
        (Rounding::Floor, [-2, -2, -1, -1, 0, 0, 1, 1]),
        (Rounding::TowardZero, [-1, -1, 0, 0, 0, 0, 1, 1]),
        (Rounding::HalfUp, [-1, -1, 0, 0, 0, 1, 2, 2]),
        (Rounding::HalfDown, [-2, -1, -1, 0, 0, 0, 1, 2]),
        (Rounding::HalfAway, [-2, -1, -1, 0, 0, 1, 2, 2]),
        (Rounding::HalfToZero, [-1, -1, 0, 0, 0, 0, 1, 2]),
        (Rounding::HalfEven, [-2, -1, 0, 0, 0, 0, 2, 2]),
        (Rounding::HalfOdd, [-1, -1, -1, 0, 0, 1, 1, 2]),
    ] {
        assert_eq!(quantized(rounding, &values, output(DType::Int8, 1.0, 0)), expected, "{rounding}");
    }
}

#[test]
fn codes_become_real_values() {
    let x = activations(&[4], DType::UInt8, 0.1, 3, &[0, 3, 4, 255]);
    let (_, words) = run(Dequantize {}, &[x], real_output());
    let expected = [-3.0f32 * 0.1, 0.0, 0.1, 252.0 * 0.1];
    assert_eq!(words.iter().map(|&word| real_of(word)).collect::<Vec<_>>(), expected);
}

#[test]
fn scales_may_lie_along_an_axis() {
    let quantization = Quantization::per_axis(vec![0.5, 2.0, 1.0], vec![0, 1, -1], 1).unwrap();
    let ty =
        TensorType { shape: vec![2, 3, 1], dtype: DType::Int8, quantization: Some(quantization.clone()) };
    let codes = [1, 2, 3, -1, -2, -3];
    let x = common::Input { ty, codes: codes.to_vec(), constant: false };
    let (_, words) = run(Dequantize {}, &[x], real_output());
    let values: Vec<f32> = words.iter().map(|&word| real_of(word)).collect();
    assert_eq!(values, [0.5, 2.0, 4.0, -0.5, -6.0, -2.0]);
    let spec = OutputSpec { name: "output".into(), dtype: DType::Int8, quantization: Some(quantization) };
    let op = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false };
    assert_eq!(run(op, &[reals(&[2, 3, 1], &values)], spec).1, codes);
}

#[test]
fn operations_that_move_elements_take_real_values() {
    let values = [f32::NAN, -0.0, 1.0, f32::INFINITY, 1e-40, -2.5];
    let (shape, words) = run(Reshape { shape: vec![3, 2] }, &[reals(&[6], &values)], real_output());
    assert_eq!(shape, [3, 2]);
    assert_eq!(words, values.map(word_of));
}

#[test]
fn real_values_are_no_codes() {
    let x = reals(&[2], &[0.5, 1.5]);
    let relu = Relu { requantize: common::DOUBLE };
    let message = error(relu, std::slice::from_ref(&x), real_output());
    assert!(message.starts_with("relu `output`: tensor `input0` is float32, expected int4"), "{message}");
    let message = error(Dequantize {}, std::slice::from_ref(&x), real_output());
    assert_eq!(message, "dequantize `output`: tensor `input0`: must be codes with a scale");
    let to_real = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false };
    let message = error(to_real, std::slice::from_ref(&x), real_output());
    assert_eq!(message, "quantize_float `output`: tensor `output`: must be codes with a scale");
    let mut scaled = x;
    scaled.ty.quantization = Some(Quantization::per_tensor(0.5, 0).unwrap());
    let message = build(Reshape { shape: vec![2] }, &[scaled], real_output()).map(|_| ()).unwrap_err();
    assert_eq!(message.to_string(), "tensor `input0`: real values have neither scale nor zero point");
}
