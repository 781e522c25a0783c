//! Tests of what each pass changes, and of what it leaves unchanged.

use guardbit_graph::ops::{
    Add, Conv2d, FullyConnected, MaxPool2d, Pad, Quantize, Relu, Relu6, Reshape, Transpose,
};
use guardbit_graph::passes::{PASSES, find};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, Op, OutputSpec, Padding, Quantization, TensorId, TensorType,
};
use guardbit_num::Scheme;

use crate::common::DOUBLE;

/// A network that grows along one line, with int8 tensors of scale 0.1 and one zero point.
pub struct Line {
    pub builder: GraphBuilder,
    pub at: TensorId,
    zero_point: i32,
}

impl Line {
    pub fn new(shape: &[usize], zero_point: i32) -> Self {
        let mut builder = GraphBuilder::new("line");
        let quantization = Some(Quantization::per_tensor(0.1, zero_point).unwrap());
        let ty = TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization };
        let at = builder.input("x", ty).unwrap();
        Self { builder, at, zero_point }
    }

    pub fn spec(&self, name: &str) -> OutputSpec {
        let quantization = Some(Quantization::per_tensor(0.1, self.zero_point).unwrap());
        OutputSpec { name: name.into(), dtype: DType::Int8, quantization }
    }

    pub fn constant(&mut self, name: &str, shape: &[usize]) -> TensorId {
        let quantization = Some(Quantization::per_tensor(0.1, 0).unwrap());
        let ty = TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization };
        let codes = (0..ty.len()).map(|i| (i * 5 % 17) as i32 - 8).collect();
        self.builder.constant(name, ty, codes).unwrap()
    }

    /// Adds an operation that reads the last tensor and constants.
    pub fn then(mut self, name: &str, op: impl Into<Op>, constants: &[&[usize]]) -> Self {
        let mut inputs = vec![Some(self.at)];
        for (index, shape) in constants.iter().enumerate() {
            inputs.push(Some(self.constant(&format!("{name}.{index}"), shape)));
        }
        let spec = self.spec(name);
        self.at = self.builder.node(op, &inputs, spec).unwrap();
        self
    }

    pub fn finish(self) -> Graph {
        self.builder.finish(vec![self.at]).unwrap()
    }
}

/// Returns `NAME op(INPUTS)` for every node.
pub fn text(graph: &Graph) -> Vec<String> {
    let line = |(id, node): (_, &guardbit_graph::Node)| {
        let inputs = node.inputs.iter().flatten().map(|&id| graph.tensor(id).name.as_str());
        format!("{} = {}({})", graph.node_name(id), node.op.name(), inputs.collect::<Vec<_>>().join(", "))
    };
    graph.nodes_with_ids().map(line).collect()
}

/// Compares the result of a pass. An empty list means that nothing changes.
fn check(pass: &str, graph: &Graph, expected: &[&str]) {
    let pass = find(pass).unwrap();
    let changed = pass.run(graph).unwrap();
    assert_eq!(changed.as_ref().map(text).unwrap_or_default(), expected);
    super::check(pass, graph);
}

fn conv(padding: Padding) -> Conv2d {
    let activation = Activation::None;
    Conv2d { stride: [1, 1], dilation: [1, 1], padding, activation, requantize: DOUBLE }
}

fn pad(value: Option<i32>) -> Pad {
    Pad { paddings: vec![[0, 0], [1, 2], [0, 1], [0, 0]], value }
}

fn pool(activation: Activation) -> MaxPool2d {
    MaxPool2d { kernel: [3, 3], stride: [1, 1], padding: Padding::Valid, activation }
}

const QUANTIZE: Quantize = Quantize { requantize: DOUBLE };
const RELU: Relu = Relu { requantize: DOUBLE };

#[test]
fn names_are_different_and_described() {
    for (index, pass) in PASSES.iter().enumerate() {
        assert!(PASSES[..index].iter().all(|other| other.name() != pass.name()));
        assert!(!pass.description().contains('\n') && !pass.description().is_empty());
        assert_eq!(find(pass.name()).unwrap().name(), pass.name());
    }
    assert!(find("none").is_none());
}

#[test]
fn identities() {
    let line = || Line::new(&[1, 2, 2, 1], -128);
    let same = || Reshape { shape: vec![1, 2, 2, 1] };
    let after = conv(Padding::Valid);
    for op in
        [Op::from(same()), QUANTIZE.into(), RELU.into(), Transpose { permutation: vec![3, 1, 2, 0] }.into()]
    {
        let graph =
            line().then("nothing", op.clone(), &[]).then("y", after.clone(), &[&[1, 1, 1, 1]]).finish();
        check("identities", &graph, &["y = conv2d(x, y.0)"]);
        // An output keeps its name.
        check("identities", &line().then("y", op, &[]).finish(), &[]);
    }
    // Codes below the zero point are clipped. Rows and columns are exchanged.
    let clipped = Line::new(&[1, 2, 2, 1], -127).then("relu", RELU, &[]).then("y", QUANTIZE, &[]).finish();
    check("identities", &clipped, &[]);
    let turned = line().then("t", Transpose { permutation: vec![0, 2, 1, 3] }, &[]).then("y", QUANTIZE, &[]);
    check("identities", &turned.finish(), &[]);
    // A long row of identities is removed at once.
    let long = (0..50).fold(line(), |line, i| line.then(&format!("r{i}"), same(), &[]));
    check("identities", &long.then("y", after, &[&[1, 1, 1, 1]]).finish(), &["y = conv2d(x, y.0)"]);
}

#[test]
fn layouts() {
    let line = || Line::new(&[1, 2, 3, 4], 3);
    let dense = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize: DOUBLE };
    let flat = || Reshape { shape: vec![1, 24] };
    let graph =
        line().then("a", Reshape { shape: vec![6, 4] }, &[]).then("b", flat(), &[]).then("y", flat(), &[]);
    check("merge_layouts", &graph.finish(), &["y = reshape(x)"]);
    let graph = line().then("a", flat(), &[]).then("y", dense.clone(), &[&[2, 24]]).finish();
    check("merge_layouts", &graph, &["y = fully_connected(x, y.0)"]);
    let graph =
        line().then("a", flat(), &[]).then("y", FullyConnected { keep_num_dims: true, ..dense }, &[&[2, 24]]);
    check("merge_layouts", &graph.finish(), &[]);
    let turn = |permutation: [usize; 4]| Transpose { permutation: permutation.to_vec() };
    let graph = line().then("a", turn([0, 2, 3, 1]), &[]).then("y", turn([0, 3, 2, 1]), &[]).finish();
    check("merge_layouts", &graph, &["y = transpose(x)"]);
    // Only a reshape and a transpose that keeps the order can be merged.
    let graph = line().then("a", turn([0, 2, 3, 1]), &[]).then("y", flat(), &[]).finish();
    check("merge_layouts", &graph, &[]);
}

#[test]
fn pads() {
    let line = || Line::new(&[1, 4, 4, 2], -128);
    let folded = ["y = conv2d(x, y.0)"];
    for (value, expected) in [(None, &folded[..]), (Some(-128), &folded), (Some(0), &[])] {
        for padding in [Padding::Valid, Padding::Same, Padding::Explicit { rows: [0, 1], cols: [2, 0] }] {
            let graph = line().then("p", pad(value), &[]).then("y", conv(padding), &[&[1, 3, 3, 2]]).finish();
            check("fold_pads", &graph, expected);
        }
    }
    let below = [
        ("max_pool2d", -128, -128, Activation::None, true),
        ("", 5, 5, Activation::Relu, true),
        ("", 5, 5, Activation::None, false),
    ];
    for (_, zero_point, value, activation, folds) in below {
        let line = Line::new(&[1, 4, 4, 2], zero_point).then("p", pad(Some(value)), &[]);
        let expected: &[&str] = if folds { &["y = max_pool2d(x)"] } else { &[] };
        check("fold_pads", &line.then("y", pool(activation), &[]).finish(), expected);
    }
    // A convolution cannot pad channels, and a pool cannot pad a whole window.
    let channels = Pad { paddings: vec![[0, 0], [0, 0], [0, 0], [0, 1]], value: None };
    let graph = line().then("p", channels, &[]).then("y", conv(Padding::Valid), &[&[1, 3, 3, 3]]).finish();
    check("fold_pads", &graph, &[]);
    let wide = Pad { paddings: vec![[0, 0], [3, 0], [0, 0], [0, 0]], value: None };
    check("fold_pads", &line().then("p", wide, &[]).then("y", pool(Activation::None), &[]).finish(), &[]);
}

#[test]
fn activations() {
    let line = || Line::new(&[1, 2, 2, 1], 3).then("c", conv(Padding::Valid), &[&[1, 1, 1, 1]]);
    let fused = ["r = conv2d(x, c.0)"];
    check("fuse_activations", &line().then("r", RELU, &[]).finish(), &fused);
    check("fuse_activations", &line().then("r", Relu6 { requantize: DOUBLE }, &[]).finish(), &fused);
    // Another scale means another rounding.
    let mut other = line();
    let spec = OutputSpec::quantized("r", DType::Int8, 0.2, 3).unwrap();
    other.at = other.builder.node(RELU, &[Some(other.at)], spec).unwrap();
    check("fuse_activations", &other.finish(), &[]);
    // Another node reads the preceding operation.
    let mut both = line();
    let (before, spec) = (both.at, both.spec("q"));
    both.builder.node(QUANTIZE, &[Some(before)], spec).unwrap();
    check("fuse_activations", &both.then("r", RELU, &[]).finish(), &[]);
    // The operation already has an activation.
    let conv = Conv2d { activation: Activation::Relu, ..conv(Padding::Valid) };
    let line = Line::new(&[1, 2, 2, 1], 3).then("c", conv, &[&[1, 1, 1, 1]]);
    check("fuse_activations", &line.then("r", RELU, &[]).finish(), &[]);
}

#[test]
fn constants_and_what_is_dead() {
    let add = Add { activation: Activation::None, scheme: Scheme::Double };
    let mut line = Line::new(&[1, 4], 0);
    let c = line.constant("c", &[2, 2]);
    let spec = |line: &Line, name: &str| line.spec(name);
    let (a, b, y, dead) = (spec(&line, "a"), spec(&line, "b"), spec(&line, "y"), spec(&line, "dead"));
    let a = line.builder.node(Reshape { shape: vec![1, 4] }, &[Some(c)], a).unwrap();
    let b = line.builder.node(RELU, &[Some(a)], b).unwrap();
    line.builder.node(RELU, &[Some(line.at)], dead).unwrap();
    line.at = line.builder.node(add, &[Some(line.at), Some(b)], y).unwrap();
    let graph = line.finish();
    check("dead_nodes", &graph, &["a = reshape(c)", "b = relu(a)", "y = add(x, b)"]);
    check("fold_constants", &graph, &["y = add(x, b)"]);
    let folded = find("fold_constants").unwrap().run(&graph).unwrap().unwrap();
    let constant = folded.tensor(folded.find_tensor("b").unwrap()).codes().unwrap();
    assert_eq!(*constant, [0, 0, 2, 7]);
}
