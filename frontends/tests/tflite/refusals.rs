//! Tests of rejected operators and profiles, with the reasons.

use std::path::Path;

use guardbit_frontends::{Profile, load_as, read_tflite_as};

use super::writer::{INT16, Model, Operator, Tensor, UINT8, Value};

/// Checks the error of a network of one operator under a profile.
#[track_caller]
fn check(profile: Profile, tensors: Vec<Tensor>, operator: Operator, problem: &str) {
    let file = Model::new(tensors, vec![operator]).to_bytes();
    let error = read_tflite_as(&file, "net", profile).unwrap_err();
    assert_eq!(error.to_string(), format!("net: {problem}"));
}

fn x(shape: &[i32]) -> Tensor {
    Tensor::int8("x", shape, 0.5, -1)
}

fn y(shape: &[i32]) -> Tensor {
    Tensor { name: "y", ..x(shape) }
}

/// Cases that no profile supports.
#[test]
fn operators() {
    let reference = Profile::LitertRef;
    let ints = |name, values: &[i32]| Tensor::ints(name, values);
    let gather = Operator::new(36, &[0, 1], 2).with_options(23, [(0, Value::Int(1))]);
    check(
        reference,
        vec![x(&[2, 3]), ints("i", &[0, 3]), y(&[2, 2])],
        gather,
        "operator 0 (GATHER): gather `y`: tensor `i`: selects element 3 of 3",
    );
    let split = Operator { outputs: vec![2, 3], ..Operator::new(49, &[1, 0], 2) };
    let split = split.with_options(35, [(0, Value::Int(2))]);
    let parts = vec![x(&[1, 3]), ints("axis", &[1]), y(&[1, 1]), Tensor { name: "z", ..y(&[1, 2]) }];
    check(reference, parts, split, "operator 0 (SPLIT): 2 parts do not divide axis 1 of [1, 3]");
    let strided = |masks: i32| Operator::new(45, &[0, 1, 2, 3], 4).with_options(32, [(2, Value::Int(masks))]);
    let tensors = || vec![x(&[4]), ints("b", &[0, 0]), ints("e", &[0, 4]), ints("s", &[1, 1]), y(&[4])];
    check(
        reference,
        tensors(),
        strided(1),
        "operator 0 (STRIDED_SLICE): has an ellipsis for no axis, which the runtime counts as one",
    );
    check(
        reference,
        tensors(),
        strided(0),
        "operator 0 (STRIDED_SLICE): has more entries than there are axes",
    );
    let resize = Operator::new(23, &[0, 1], 2).with_options(15, []);
    check(
        reference,
        vec![x(&[1, 3, 1, 1]), ints("size", &[2000, 1]), y(&[1, 2000, 1, 1])],
        resize,
        "operator 0 (RESIZE_BILINEAR): resize_bilinear `y`: size 2000 reads outside of the 3 pixels of the input",
    );
    let neg = Operator::new(59, &[0], 1).with_options(42, []);
    check(
        reference,
        vec![x(&[4]), y(&[4])],
        neg,
        "operator 0 (NEG): neg `y`: tensor `y`: must have the scale of the input and the opposite zero point",
    );
    let logistic = Operator::new(14, &[0], 1);
    check(
        reference,
        vec![x(&[4]), y(&[4])],
        logistic,
        "operator 0 (LOGISTIC): logistic `y`: tensor `y`: must have scale 1/256 and zero point -128",
    );
}

/// Cases in which a runtime follows no known scheme, or is wrong.
#[test]
fn profiles() {
    let moved = || Tensor { scales: vec![0.25], ..y(&[4]) };
    check(
        Profile::Tflm,
        vec![x(&[4]), moved()],
        Operator::new(21, &[0], 1),
        "operator 0 (RELU6): TensorFlow Lite Micro does not requantize here",
    );
    let byte = |tensor: Tensor| Tensor { element: UINT8, zero_points: vec![128], ..tensor };
    check(
        Profile::Tflm,
        vec![byte(x(&[4])), byte(moved())],
        Operator::new(2, &[0], 1),
        "operator 0 (CONCATENATION): TensorFlow Lite Micro does not requantize here",
    );
    check(
        Profile::Xnnpack,
        vec![x(&[4]), moved()],
        Operator::new(114, &[0], 1),
        "operator 0 (QUANTIZE): the results of profile xnnpack with another scale are unknown",
    );
    check(
        Profile::Xnnpack,
        vec![x(&[4]), y(&[4])],
        Operator::new(98, &[0], 1),
        "operator 0 (LEAKY_RELU): the results of profile xnnpack on int8 are unknown",
    );
    let wide = |tensor: Tensor| Tensor { element: INT16, zero_points: vec![0], ..tensor };
    let both = vec![wide(x(&[4])), Tensor { name: "z", ..wide(x(&[4])) }, wide(y(&[4]))];
    check(
        Profile::Xnnpack,
        both,
        Operator::new(0, &[0, 0], 2),
        "operator 0 (ADD): the results of profile xnnpack on int16 are unknown",
    );
}

#[test]
fn profiles_are_of_tflite_files() {
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.yaml");
    let error = load_as(&yaml, Profile::Tflm).unwrap_err();
    assert_eq!(error.code(), "guardbit::model::profile");
    assert!(error.message().starts_with("profile tflm is for runtimes of TensorFlow Lite"), "{error}");
    assert_eq!(
        "tfl".parse::<Profile>().unwrap_err().to_string(),
        "unknown runtime profile `tfl`; the profiles are litert-ref, tflm, tflite-single, xnnpack"
    );
}
