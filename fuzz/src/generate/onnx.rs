//! Generates well-formed `.onnx` files whose operators, operands and attributes need not match.

#[path = "../../../frontends/tests/onnx/writer.rs"]
#[allow(dead_code)]
mod writer;

use std::borrow::Cow;

use self::writer::{Attribute, Model, Node, Tensor, element};
use crate::Choices;

/// Operators that the reader computes if their operands are constants.
const FOLDED: &[&str] = &[
    "Add",
    "And",
    "Cast",
    "Clip",
    "Concat",
    "ConstantOfShape",
    "DequantizeLinear",
    "Div",
    "Equal",
    "Expand",
    "Flatten",
    "Gather",
    "Greater",
    "Less",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Or",
    "Pow",
    "QuantizeLinear",
    "Range",
    "Relu",
    "Reshape",
    "Shape",
    "Size",
    "Slice",
    "Squeeze",
    "Sub",
    "Transpose",
    "Unsqueeze",
    "Where",
];

/// Operators on activations, and their domains.
const OTHERS: &[(&str, &str)] = &[
    ("", "Conv"),
    ("", "ConvTranspose"),
    ("", "MatMul"),
    ("", "Gemm"),
    ("", "MaxPool"),
    ("", "AveragePool"),
    ("", "Pad"),
    ("", "QuantizeLinear"),
    ("", "DequantizeLinear"),
    ("", "QLinearConv"),
    ("", "QLinearMatMul"),
    ("", "ConvInteger"),
    ("", "MatMulInteger"),
    ("", "Split"),
    ("", "Resize"),
    ("", "Softmax"),
    ("", "ReduceMean"),
    ("", "BatchNormalization"),
    ("", "DepthToSpace"),
    ("", "Tile"),
    ("", "DynamicQuantizeLinear"),
    ("com.microsoft", "QLinearAdd"),
    ("com.microsoft", "QLinearConcat"),
    ("com.microsoft", "QGemm"),
    ("com.microsoft", "MatMulNBits"),
    ("qonnx.custom_op.general", "Quant"),
    ("qonnx.custom_op.general", "Trunc"),
    ("qonnx.custom_op.general", "BipolarQuant"),
];

/// Returns a file of operators on constants. Input that already is an `.onnx` file is returned unchanged.
pub(crate) fn constants(bytes: &[u8]) -> Cow<'_, [u8]> {
    file(bytes, 1, |choices| Node::new(choices.one(FOLDED), &[], &[]))
}

/// Returns a file of any operators. Input that already is an `.onnx` file is returned unchanged.
pub(crate) fn operators(bytes: &[u8]) -> Cow<'_, [u8]> {
    file(bytes, 3, |choices| match choices.once_in(3) {
        true => Node::new(choices.one(FOLDED), &[], &[]),
        false => {
            let (domain, op) = choices.one(OTHERS);
            Node { domain: domain.into(), ..Node::new(op, &[], &[]) }
        }
    })
}

fn file<'a>(bytes: &'a [u8], given: usize, node: impl Fn(&mut Choices<'_>) -> Node) -> Cow<'a, [u8]> {
    // The field `ir_version` comes first in the files that libraries write.
    if bytes.len() > 64 && bytes[0] == 8 {
        return bytes.into();
    }
    let choices = &mut Choices::new(bytes);
    let mut model = Model {
        opset: 21,
        nodes: Vec::new(),
        constants: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    let mut names = Vec::new();
    for index in 0..given {
        let name = format!("x{index}");
        let number = choices.one(&[element::FLOAT, element::FLOAT, element::UINT8, element::INT8]);
        model.inputs.push((name.clone(), number, dims(choices)));
        names.push(name);
    }
    for index in 0..2 + choices.below(6) {
        let name = format!("c{index}");
        model.constants.push(constant(choices, &name));
        names.push(name);
    }
    for index in 0..1 + choices.below(6) {
        let mut made = node(choices);
        for _ in 0..1 + choices.below(5) {
            let absent = choices.once_in(12);
            let name = &names[choices.below(names.len() as u64) as usize];
            made.inputs.push(if absent { String::new() } else { name.clone() });
        }
        made.outputs =
            (0..if choices.once_in(8) { 2 } else { 1 }).map(|output| format!("t{index}_{output}")).collect();
        names.extend(made.outputs.iter().cloned());
        made.attributes = attributes(choices);
        model.nodes.push(made);
    }
    model.outputs.extend(names.last().cloned());
    model.to_bytes().into()
}

fn dims(choices: &mut Choices<'_>) -> Vec<i64> {
    (0..choices.below(5)).map(|_| choices.one(&[1, 2, 3, 4, 1, 0, 6])).collect()
}

fn constant(choices: &mut Choices<'_>, name: &str) -> Tensor {
    if choices.once_in(2) {
        let values: Vec<i64> = (0..choices.below(5)).map(|_| choices.below(8) as i64 - 2).collect();
        let tensor = Tensor::integers(name, &values);
        return if values.len() == 1 && choices.once_in(2) { tensor.with_dims(&[]) } else { tensor };
    }
    let dims = dims(choices);
    let count = dims.iter().product::<i64>() as usize;
    let number =
        choices.one(&[element::FLOAT, element::FLOAT, element::UINT8, element::INT8, element::INT32]);
    let bytes = match number {
        element::FLOAT => (0..count)
            .flat_map(|_| choices.one(&[0.5f32, 1.0, -2.0, 0.0, f32::NAN, 1e30]).to_le_bytes())
            .collect(),
        element::INT32 => (0..count).flat_map(|_| (choices.below(9) as i32 - 4).to_le_bytes()).collect(),
        _ => (0..count).map(|_| choices.below(256) as u8).collect(),
    };
    Tensor { name: name.into(), dims, element: number, bytes }
}

fn attributes(choices: &mut Choices<'_>) -> Vec<(String, Attribute)> {
    const NAMES: &[&str] = &[
        "axis",
        "axes",
        "perm",
        "to",
        "block_size",
        "pads",
        "strides",
        "dilations",
        "group",
        "kernel_shape",
        "ceil_mode",
        "fmod",
        "keepdims",
        "blocksize",
        "signed",
        "narrow",
        "transA",
        "transB",
        "output_shape",
        "start",
        "end",
        "allowzero",
        "mode",
        "split",
    ];
    let attribute = |choices: &mut Choices<'_>| {
        let value = match choices.below(4) {
            0 => Attribute::Ints((0..choices.below(5)).map(|_| choices.below(6) as i64 - 1).collect()),
            1 => Attribute::Int(choices.between(i64::MIN, i64::MAX)),
            2 => Attribute::Text(choices.one(&["CRD", "edge", "linear", "FLOOR", "SAME_UPPER", ""]).into()),
            _ => Attribute::Int(choices.below(14) as i64 - 2),
        };
        (choices.one(NAMES).to_owned(), value)
    };
    (0..choices.below(4)).map(|_| attribute(choices)).collect()
}
