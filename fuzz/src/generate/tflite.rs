//! Generates well-formed `.tflite` files whose operators, operands and options need not match.

#[path = "../../../frontends/tests/tflite/writer.rs"]
#[allow(dead_code)]
mod writer;

use std::borrow::Cow;

use self::writer::{FLOAT32, INT4, INT8, INT16, INT32, INT64, Model, Operator, Tensor, UINT8, Value};
use crate::Choices;

/// Returns a file of operators on lists of integers. Input that already is a `.tflite` file is returned unchanged.
pub(crate) fn lists(bytes: &[u8]) -> Cow<'_, [u8]> {
    const LISTS: &[i32] = &[0, 2, 18, 22, 36, 41, 45, 53, 77, 81, 83, 110];
    file(bytes, |choices| choices.one(LISTS), &[INT32, INT32, INT64])
}

/// Returns a file of any operators. Input that already is a `.tflite` file is returned unchanged.
pub(crate) fn operators(bytes: &[u8]) -> Cow<'_, [u8]> {
    const ELEMENTS: &[i8] = &[INT8, INT8, UINT8, INT16, INT32, FLOAT32, INT64, INT4];
    file(bytes, |choices| choices.below(160) as i32, ELEMENTS)
}

fn file<'a>(bytes: &'a [u8], builtin: impl Fn(&mut Choices<'_>) -> i32, elements: &[i8]) -> Cow<'a, [u8]> {
    if bytes.get(4..8) == Some(b"TFL3") {
        return bytes.into();
    }
    let choices = &mut Choices::new(bytes);
    let mut tensors: Vec<Tensor> = vec![tensor(choices, elements, None)];
    for _ in 0..1 + choices.below(6) {
        let constant = tensor(choices, elements, None);
        let bits: i32 = match constant.element {
            INT4 => 4,
            INT8 | UINT8 => 8,
            INT16 => 16,
            INT64 => 64,
            _ => 32,
        };
        let count = (constant.shape.iter().product::<i32>() * bits + 7) / 8;
        let value = |index: i32| if index % (bits / 8).max(1) == 0 { choices.below(12) as u8 } else { 0 };
        let data = (0..count).map(value).collect();
        tensors.push(Tensor { data: Some(data), ..constant });
    }
    let mut made = Vec::new();
    for _ in 0..1 + choices.below(6) {
        let code = builtin(choices);
        let inputs: Vec<i32> =
            (0..1 + choices.below(4)).map(|_| choices.below(tensors.len() as u64 + 1) as i32 - 1).collect();
        let like = inputs.first().and_then(|&first| tensors.get(usize::try_from(first).ok()?)).cloned();
        let outputs = (0..1 + choices.below(8).saturating_sub(6)).map(|_| {
            tensors.push(tensor(choices, elements, like.as_ref()));
            tensors.len() as i32 - 1
        });
        let outputs = outputs.collect();
        let options = options(choices, code);
        made.push(Operator { builtin: code, inputs, outputs, options });
    }
    Model::new(tensors, made).to_bytes().into()
}

fn tensor(choices: &mut Choices<'_>, elements: &[i8], like: Option<&Tensor>) -> Tensor {
    let element = choices.one(elements);
    let shape: Vec<i32> = (0..choices.below(5)).map(|_| choices.one(&[1, 2, 3, 4, 1, 0, 6])).collect();
    let (element, shape) = match like {
        Some(like) if !choices.once_in(3) => {
            (like.element, if choices.once_in(2) { shape } else { like.shape.clone() })
        }
        _ => (element, shape),
    };
    let quantized = ![INT32, INT64, FLOAT32].contains(&element) || choices.once_in(4);
    match quantized {
        true => {
            let scale = choices.one(&[0.5, 0.5, 1.0 / 256.0, 0.25, 1e-30, 1e30]);
            let zero_point = if element == UINT8 { 128 } else { choices.one(&[0, 0, -1, -128]) };
            Tensor { element, ..Tensor::int8("t", &shape, scale, zero_point) }
        }
        false => Tensor::plain("t", element, &shape),
    }
}

/// Returns options, mostly of the kind that the operator takes.
fn options(choices: &mut Choices<'_>, builtin: i32) -> Option<(u8, Vec<(u16, Value)>)> {
    const NUMBERS: &[(i32, u8)] = &[
        (0, 11),
        (1, 5),
        (2, 10),
        (3, 1),
        (4, 2),
        (5, 94),
        (9, 8),
        (11, 12),
        (17, 5),
        (18, 21),
        (22, 17),
        (23, 15),
        (25, 9),
        (26, 19),
        (36, 23),
        (40, 27),
        (41, 28),
        (42, 29),
        (43, 30),
        (45, 32),
        (49, 35),
        (67, 49),
        (74, 27),
        (81, 27),
        (82, 27),
        (83, 59),
        (88, 64),
        (89, 27),
        (97, 74),
        (98, 75),
        (100, 77),
        (126, 101),
    ];
    let known = NUMBERS.iter().find(|(known, _)| *known == builtin).map_or(0, |&(_, number)| number);
    let number = if choices.once_in(16) { choices.below(110) as u8 } else { known };
    let fields = (0..choices.below(8)).map(|slot| {
        let value = match choices.below(8) {
            0 => Value::Ints((0..choices.below(4)).map(|_| choices.below(6) as i32 - 2).collect()),
            1 => Value::Float(choices.one(&[1.0, 0.0, -0.5, f32::NAN, f32::MAX])),
            2 | 3 => Value::Int(choices.between(i32::MIN.into(), i32::MAX.into()) as i32),
            4 => Value::Int(choices.below(5) as i32),
            _ => Value::Int(i32::from(choices.once_in(4))),
        };
        (slot as u16, value)
    });
    (number != 0).then(|| (number, fields.collect()))
}
