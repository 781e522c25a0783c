//! Scales of blocks that follow from values: nodes of guardbit's own domain, which the file defines as functions.
//!
//! The functions consist of ONNX operators, so that other programs compute them. guardbit reads the nodes themselves.

use guardbit_graph::ops::FloatBlockScale;
use guardbit_graph::{DType, NodeId, RealCodes};

use super::codes::Made;
use super::ops::{available, operand, refused};
use super::{ExportError, Writer, int, ints, text};
use crate::onnx::own::{BLOCK_SCALES, DOMAIN};
use crate::onnx::parse::proto::{self, element};

/// Writes the scales in the order in which their input exists.
pub(super) fn write(writer: &mut Writer<'_>, id: NodeId, op: &FloatBlockScale) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    let (order, rank) = (available(writer, input), writer.graph.tensor(input).ty.shape.len());
    let named = BLOCK_SCALES.iter().find(|(_, dtype)| *dtype == op.scale_dtype);
    let Some((name, _)) = named else {
        return Err(refused(writer, id, format!("has scales of {}", op.scale_dtype)));
    };
    let (x, output) = (writer.real(input, order)?, writer.result_name(id));
    let unit = unit(op);
    let attributes = vec![
        int("axis", order.axis(op.axis, rank) as i64),
        int("block_size", op.block_size as i64),
        super::float("unit", unit),
        text("elements", op.element_dtype.name()),
    ];
    writer.node(name, vec![x], &output, attributes);
    if let Some(node) = writer.nodes.last_mut() {
        node.domain = DOMAIN.into();
    }
    writer.result(id, Made::Real(&output), order)
}

/// Returns what a magnitude is divided by: the power of two of the largest element, or the largest element.
fn unit(op: &FloatBlockScale) -> f32 {
    let codes = RealCodes::of(op.element_dtype).zip(op.element_dtype.float_format());
    let largest = codes.map_or(1.0, |(codes, format)| codes.real(format.largest() as i32));
    match op.scale_dtype {
        DType::Float8E8M0 => f32::from_bits(largest.to_bits() & 0x7F80_0000),
        _ => largest,
    }
}

/// The body of a function.
struct Body(Vec<proto::Node>);

impl Body {
    fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: Vec<proto::Attribute>) {
        let inputs = inputs.iter().map(|&name| name.into()).collect();
        let (outputs, op) = (vec![output.into()], op.into());
        self.0.push(proto::Node { inputs, outputs, op, attributes, ..Default::default() });
    }

    fn list(&mut self, output: &str, value: i64) {
        self.node("Constant", &[], output, vec![ints("value_ints", vec![value])]);
    }

    fn floats(&mut self, output: &str, values: Vec<f32>) {
        const FLOATS: i32 = 6;
        let attribute = proto::Attribute {
            name: "value_floats".into(),
            floats: values,
            kind: FLOATS,
            ..Default::default()
        };
        self.node("Constant", &[], output, vec![attribute]);
    }

    /// Adds the value of an attribute of the calling node, as a list of one.
    fn attribute(&mut self, output: &str, attribute: &str, value: &str, kind: i32) {
        let (name, reference) = (value.into(), attribute.into());
        let own = proto::Attribute { name, reference, kind, ..Default::default() };
        let scalar = format!("{output}_scalar");
        self.node("Constant", &[], &scalar, vec![own]);
        self.node("Unsqueeze", &[&scalar, "zero"], output, Vec::new());
    }
}

/// Returns the functions that nodes of a file call.
pub(super) fn functions(writer: &Writer<'_>, version: i64) -> Vec<proto::Function> {
    let is_called = |name: &str| writer.nodes.iter().any(|node| node.domain == DOMAIN && node.op == name);
    let called = BLOCK_SCALES.iter().filter(|(name, _)| is_called(name));
    called.map(|&(name, dtype)| function(name, dtype, version)).collect()
}

fn function(name: &str, scales: DType, version: i64) -> proto::Function {
    let mut body = Body(Vec::new());
    body.list("zero", 0);
    body.list("one", 1);
    body.attribute("axes", "axis", "value_int", super::kind::INT);
    body.attribute("size", "block_size", "value_int", super::kind::INT);
    body.attribute("unit", "unit", "value_float", super::kind::FLOAT);
    // The largest magnitude of each block: [before, blocks, size, after], padded with 0.
    body.node("Shape", &["x"], "shape", Vec::new());
    body.node("Gather", &["shape", "axes"], "count", Vec::new());
    body.node("Sub", &["size", "one"], "rest", Vec::new());
    body.node("Add", &["count", "rest"], "reach", Vec::new());
    body.node("Div", &["reach", "size"], "blocks", Vec::new());
    body.node("Mul", &["blocks", "size"], "padded", Vec::new());
    body.node("Sub", &["padded", "count"], "more", Vec::new());
    body.node("Concat", &["zero", "more"], "pads", vec![int("axis", 0)]);
    body.node("Abs", &["x"], "magnitudes", Vec::new());
    body.node("Pad", &["magnitudes", "pads", "", "axes"], "full", Vec::new());
    body.node("Shape", &["full"], "full_shape", Vec::new());
    body.node("Slice", &["shape", "zero", "axes"], "outer", Vec::new());
    body.node("Concat", &["one", "outer"], "outer_sizes", vec![int("axis", 0)]);
    body.node("ReduceProd", &["outer_sizes"], "before", Vec::new());
    body.node("Add", &["axes", "one"], "next", Vec::new());
    body.list("end", i64::from(i32::MAX));
    body.node("Slice", &["shape", "next", "end"], "inner", Vec::new());
    body.node("Concat", &["one", "inner"], "inner_sizes", vec![int("axis", 0)]);
    body.node("ReduceProd", &["inner_sizes"], "after", Vec::new());
    body.node("Concat", &["before", "blocks", "size", "after"], "parts", vec![int("axis", 0)]);
    body.node("Reshape", &["full", "parts"], "divided", Vec::new());
    body.list("within", 2);
    body.node("ReduceMax", &["divided", "within"], "largest", Vec::new());
    body.node("Div", &["largest", "unit"], "quotient", Vec::new());
    match scales {
        DType::Float8E8M0 => {
            // The greatest power of two that is not above the quotient: Log would not be exact.
            body.floats("powers", (-126..=127).map(|exponent| 2f32.powi(exponent)).collect());
            body.floats("least", vec![2f32.powi(-127)]);
            body.list("last", -1);
            body.node("Unsqueeze", &["quotient", "last"], "quotients", Vec::new());
            body.node("LessOrEqual", &["powers", "quotients"], "reached", Vec::new());
            body.node("Where", &["reached", "powers", "least"], "candidates", Vec::new());
            body.node("ReduceMax", &["candidates", "last"], "scale", vec![int("keepdims", 0)]);
        }
        _ => {
            body.floats("least", vec![2f32.powi(-9)]);
            let to = int("to", element::FLOAT8E4M3FN.into());
            body.node("Cast", &["quotient"], "codes", vec![to, int("saturate", 1)]);
            body.node("Cast", &["codes"], "rounded", vec![int("to", element::FLOAT.into())]);
            body.node("Max", &["rounded", "least"], "scale", Vec::new());
        }
    }
    // NaN if a value is not finite.
    body.node("Sub", &["largest", "largest"], "doubt", Vec::new());
    body.node("Add", &["scale", "doubt"], "scales", Vec::new());
    body.node("Expand", &["scales", "parts"], "each", Vec::new());
    body.node("Reshape", &["each", "full_shape"], "spread", Vec::new());
    body.node("Slice", &["spread", "zero", "count", "axes"], "y", Vec::new());
    proto::Function {
        name: name.into(),
        inputs: vec!["x".into()],
        outputs: vec!["y".into()],
        attributes: ["axis", "block_size", "unit", "elements"].map(String::from).into(),
        nodes: body.0,
        opsets: vec![proto::Opset { domain: String::new(), version }],
        domain: DOMAIN.into(),
        defaults: Vec::new(),
    }
}
