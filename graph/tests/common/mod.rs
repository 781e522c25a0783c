//! Helpers for graphs of one operation.

// Each test file uses some of these helpers.
#![allow(dead_code)]

use guardbit_graph::{
    DType, Graph, GraphError, MultiplierRule, NodeId, Op, OutputSpec, Quantization, Requantize, TensorType,
};
use guardbit_num::Scheme;

/// The requantization of most operations of TensorFlow Lite.
pub const DOUBLE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// An input of a node.
#[derive(Debug, Clone)]
pub struct Input {
    pub ty: TensorType,
    pub codes: Vec<i32>,
    pub constant: bool,
}

/// Returns int8 activations with scale 1 and zero point 0.
pub fn int8(shape: &[usize], codes: &[i32]) -> Input {
    activations(shape, DType::Int8, 1.0, 0, codes)
}

pub fn activations(shape: &[usize], dtype: DType, scale: f32, zero_point: i32, codes: &[i32]) -> Input {
    let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
    let ty = TensorType { shape: shape.to_vec(), dtype, quantization };
    Input { ty, codes: codes.to_vec(), constant: false }
}

/// Returns activations with different codes.
pub fn ramp(shape: &[usize]) -> Input {
    let count: usize = shape.iter().product();
    let codes: Vec<_> = (0..count).map(|i| (i * 37 % 256) as i32 - 128).collect();
    int8(shape, &codes)
}

/// Returns int8 weights with scale 1 and zero point 0.
pub fn weights(shape: &[usize], codes: &[i32]) -> Input {
    Input { constant: true, ..int8(shape, codes) }
}

/// Returns weights of 1.
pub fn ones(shape: &[usize]) -> Input {
    weights(shape, &vec![1; shape.iter().product()])
}

pub fn bias(codes: &[i32]) -> Input {
    let ty = TensorType { shape: vec![codes.len()], dtype: DType::Int32, quantization: None };
    Input { ty, codes: codes.to_vec(), constant: true }
}

/// Returns an output with this dtype, scale and zero point.
pub fn output(dtype: DType, scale: f32, zero_point: i32) -> OutputSpec {
    let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
    OutputSpec { name: "output".into(), dtype, quantization }
}

/// Returns an int8 output with scale 1 and zero point 0.
pub fn int8_output() -> OutputSpec {
    output(DType::Int8, 1.0, 0)
}

/// Returns the graph of one node.
pub fn build(op: impl Into<Op>, inputs: &[Input], output: OutputSpec) -> Result<Graph, GraphError> {
    let operand = |(index, input): (usize, &Input)| guardbit_graph::Operand {
        name: format!("input{index}"),
        ty: input.ty.clone(),
        codes: input.constant.then(|| input.codes.clone()),
    };
    Graph::of_op("one op", op, inputs.iter().enumerate().map(operand), output)
}

/// Returns the graph's node.
pub fn node(graph: &Graph) -> NodeId {
    graph.nodes_with_ids().next().unwrap().0
}

/// Returns the output's shape and codes.
pub fn run(op: impl Into<Op>, inputs: &[Input], output: OutputSpec) -> (Vec<usize>, Vec<i32>) {
    let graph = build(op, inputs, output).unwrap();
    let id = node(&graph);
    let codes: Vec<_> = inputs.iter().map(|input| input.codes.as_slice()).collect();
    (graph.tensor(graph.node(id).output).ty.shape.clone(), graph.evaluate(id, &codes))
}

/// Returns the error of building the graph of one node.
pub fn error(op: impl Into<Op>, inputs: &[Input], output: OutputSpec) -> String {
    build(op, inputs, output).map(|_| ()).expect_err("the graph must be refused").to_string()
}
