//! Tests with one network in the three forms in which tools write it: operations on codes; operations on codes whose
//! sums are quantized afterwards; and operations in float between dequantize and quantize.

use guardbit_graph::ops::{
    AvgPool2d, Cast, Conv2d, DepthwiseConv2d, Dequantize, FloatConv2d, FloatMatMul, FloatMaxPool2d,
    FloatUnary, FullyConnected, IntegerBinary, IntegerPair, Logistic, MaxPool2d, Pad, Quantize,
    QuantizeFloat, RealFunction, Relu, Reshape,
};
use guardbit_graph::passes::find;
use guardbit_graph::{
    Activation, Arithmetic, DType, Graph, GraphBuilder, MultiplierRule, Node, Op, OutputSpec, Padding,
    Quantization, Requantize, TensorId, TensorType, word_of,
};
use guardbit_num::{Rounding, Scheme};

use super::networks::Random;
use super::outputs;

const EVEN: Requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };
const PASSES_OF_CONVENTIONS: [&str; 10] = [
    "fold_bias",
    "fold_requantize",
    "fuse_activations",
    "fold_casts",
    "hoist_quantize",
    "tables",
    "fold_float_layers",
    "merge_layouts",
    "identities",
    "dead_nodes",
];

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// From codes to codes.
    Codes,
    /// From codes to sums, followed by a requantization.
    Sums,
    /// Real values between codes.
    Float,
}

/// The state of building a network.
struct Builder {
    form: Form,
    builder: GraphBuilder,
    at: TensorId,
    names: usize,
    random: Random,
}

fn spec(dtype: DType, scale: f32, zero_point: i32) -> OutputSpec {
    OutputSpec::quantized("", dtype, scale, zero_point).unwrap()
}

impl Builder {
    fn add(&mut self, op: impl Into<Op>, inputs: &[TensorId], output: OutputSpec) -> TensorId {
        self.names += 1;
        let inputs: Vec<_> = inputs.iter().map(|&id| Some(id)).collect();
        let output = OutputSpec { name: format!("t{}", self.names), ..output };
        self.builder.node(op, &inputs, output).unwrap()
    }

    fn real(&mut self, op: impl Into<Op>, inputs: &[TensorId]) -> TensorId {
        self.add(op, inputs, OutputSpec { name: String::new(), dtype: DType::Float32, quantization: None })
    }

    fn quantize(&mut self, real: TensorId, output: OutputSpec) -> TensorId {
        self.add(QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false }, &[real], output)
    }

    fn like(&self) -> OutputSpec {
        OutputSpec::of(self.builder.tensor(self.at))
    }

    fn constant(&mut self, ty: TensorType, codes: Vec<i32>) -> TensorId {
        self.names += 1;
        self.builder.constant(format!("c{}", self.names), ty, codes).unwrap()
    }

    /// Returns weights whose scales are powers of 2, one per channel, and a bias of their sums.
    fn weights(&mut self, shape: &[usize], axis: usize) -> (Vec<i32>, Quantization, Vec<i32>) {
        let channels = shape[axis];
        let scales: Vec<f32> = (0..channels).map(|_| 2f32.powi(-4 - self.random.below(4) as i32)).collect();
        let quantization = Quantization::per_axis(scales, vec![0; channels], axis).unwrap();
        let codes = (0..shape.iter().product()).map(|_| self.random.below(255) as i32 - 127).collect();
        let bias = (0..channels).map(|_| self.random.below(4001) as i32 - 2000).collect();
        (codes, quantization, bias)
    }

    /// Adds a layer. `float` is its float form, with the order of axes of its weights.
    fn layer(
        &mut self,
        op: impl Fn(Activation) -> Op,
        (float, order): (Op, &[usize]),
        (shape, axis): (&[usize], usize),
        relu: bool,
        output: OutputSpec,
    ) {
        let (codes, quantization, bias) = self.weights(shape, axis);
        let ty =
            TensorType { shape: shape.into(), dtype: DType::Int8, quantization: Some(quantization.clone()) };
        let scale = self.like().quantization.unwrap().scale(0);
        let of_sums: Vec<f32> = quantization.scales().iter().map(|weight| weight * scale).collect();
        let bias_type = |dtype| TensorType { shape: vec![bias.len()], dtype, quantization: None };
        self.at = match self.form {
            Form::Codes => {
                let w = self.constant(ty, codes);
                let b = self.constant(bias_type(DType::Int32), bias);
                self.add(op(if relu { Activation::Relu } else { Activation::None }), &[self.at, w, b], output)
            }
            Form::Sums => {
                let (w, b) = (self.constant(ty, codes), self.constant(bias_type(DType::Int32), bias.clone()));
                let last = if float.name() == "float_matmul" { 1 } else { 3 };
                let quantization = Quantization::per_axis(of_sums, vec![0; bias.len()], last).ok();
                let sums = OutputSpec { name: String::new(), dtype: DType::Int32, quantization };
                let at = self.add(op(Activation::None), &[self.at, w], sums.clone());
                let at = self.add(IntegerBinary { function: IntegerPair::Add }, &[at, b], sums);
                let at = self.add(Quantize { requantize: EVEN }, &[at], output.clone());
                if relu { self.add(Relu { requantize: EVEN }, &[at], output) } else { at }
            }
            Form::Float => {
                let place = |index: usize| {
                    let (mut rest, mut at) = (index, vec![0; shape.len()]);
                    for &axis in order.iter().rev() {
                        (at[axis], rest) = (rest % shape[axis], rest / shape[axis]);
                    }
                    at.iter().zip(shape).fold(0, |all, (at, size)| all * size + at)
                };
                let to = order.iter().position(|&from| from == axis).unwrap();
                let quantization =
                    Quantization::per_axis(quantization.scales().into(), vec![0; bias.len()], to).ok();
                let moved =
                    TensorType { shape: order.iter().map(|&axis| shape[axis]).collect(), quantization, ..ty };
                let w = self.constant(moved, (0..codes.len()).map(|index| codes[place(index)]).collect());
                let words =
                    bias.iter().zip(&of_sums).map(|(&bias, scale)| word_of(bias as f32 * scale)).collect();
                let b = self.constant(bias_type(DType::Float32), words);
                let (x, w) = (self.real(Dequantize {}, &[self.at]), self.real(Dequantize {}, &[w]));
                let mut at = match float.name() {
                    "float_conv2d" => self.real(float, &[x, w, b]),
                    _ => {
                        let product = self.real(float, &[x, w]);
                        let add =
                            guardbit_graph::ops::FloatBinary { function: guardbit_graph::ops::RealPair::Add };
                        self.real(add, &[product, b])
                    }
                };
                if relu {
                    at = self.real(FloatUnary { function: RealFunction::Relu, parameters: vec![] }, &[at]);
                }
                self.quantize(at, output)
            }
        };
    }

    /// Adds an operation that moves codes. It works on real values, too.
    fn moves(&mut self, op: impl Into<Op>, float: impl Into<Op>) {
        let output = self.like();
        self.at = match self.form {
            Form::Float => {
                let real = self.real(Dequantize {}, &[self.at]);
                let moved = self.real(float, &[real]);
                self.quantize(moved, output)
            }
            _ => self.add(op, &[self.at], output),
        };
    }

    /// Adds a pool, on wider codes if the form has them.
    fn average(&mut self, op: AvgPool2d) {
        let output = self.like();
        self.at = match self.form {
            Form::Codes => self.add(op, &[self.at], output),
            _ => {
                let wide = OutputSpec { dtype: DType::Int16, ..output.clone() };
                let at = self.add(Cast, &[self.at], wide.clone());
                let at = self.add(op, &[at], wide);
                self.add(Cast, &[at], output)
            }
        };
    }

    fn sigmoid(&mut self) {
        let output = spec(DType::Int8, 1.0 / 256.0, -128);
        self.at = match self.form {
            Form::Float => {
                let real = self.real(Dequantize {}, &[self.at]);
                let made =
                    self.real(FloatUnary { function: RealFunction::Sigmoid, parameters: vec![] }, &[real]);
                self.quantize(made, output)
            }
            _ => self.add(Logistic { arithmetic: Arithmetic::Table }, &[self.at], output),
        };
    }
}

fn network(form: Form, seed: u64) -> Graph {
    let mut builder = GraphBuilder::new("network");
    let ty = TensorType::quantized(&[1, 8, 8, 2], DType::Int8, 0.125, -3).unwrap();
    let at = builder.input("x", ty).unwrap();
    let mut net = Builder { form, builder, at, names: 0, random: Random(seed) };
    let (stride, dilation, padding) = ([1, 1], [1, 1], Padding::Same);
    let conv = |activation| Conv2d { stride, dilation, padding, activation, requantize: EVEN }.into();
    let depthwise =
        |activation| DepthwiseConv2d { stride, dilation, padding, activation, requantize: EVEN }.into();
    let float = || Op::from(FloatConv2d { stride, dilation, padding });
    net.layer(conv, (float(), &[0, 1, 2, 3]), (&[4, 3, 3, 2], 0), true, spec(DType::Int8, 0.25, -20));
    let pool = |kernel| MaxPool2d { kernel, stride: [2, 2], padding, activation: Activation::None };
    net.moves(pool([2, 2]), FloatMaxPool2d { kernel: [2, 2], stride: [2, 2], padding });
    net.layer(depthwise, (float(), &[3, 1, 2, 0]), (&[1, 3, 3, 4], 3), false, spec(DType::Int8, 0.5, 7));
    let around = vec![[0, 0], [1, 0], [0, 1], [0, 0]];
    net.moves(Pad { paddings: around.clone(), value: None }, Pad { paddings: around, value: None });
    net.average(AvgPool2d {
        kernel: [2, 2],
        stride: [1, 1],
        padding: Padding::Valid,
        activation: Activation::None,
    });
    net.sigmoid();
    net.moves(Reshape { shape: vec![1, -1] }, Reshape { shape: vec![1, -1] });
    let dense = |activation| FullyConnected { keep_num_dims: true, activation, requantize: EVEN }.into();
    net.layer(dense, (FloatMatMul {}.into(), &[1, 0]), (&[5, 64], 0), false, spec(DType::Int8, 0.0625, 4));
    let at = net.at;
    net.builder.finish(vec![at]).unwrap()
}

/// Returns the network after all passes that handle these forms, repeated until nothing changes.
fn canonical(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    loop {
        let changes = PASSES_OF_CONVENTIONS.iter().filter_map(|name| {
            let changed = find(name).unwrap().run(&graph).unwrap()?;
            graph = changed;
            Some(())
        });
        if changes.count() == 0 {
            return graph;
        }
    }
}

/// Returns every node with everything that determines its codes, except names of tensors.
fn nodes(graph: &Graph) -> Vec<String> {
    let place = |id: TensorId| graph.nodes().iter().position(|node| node.output == id);
    let operand = |id: &Option<TensorId>| match id.map(|id| (id, graph.tensor(id))) {
        None => "none".into(),
        Some((_, tensor)) if tensor.constant.is_some() => format!("{:?} {:?}", tensor.ty, tensor.constant),
        Some((id, _)) => format!("node {:?}", place(id)),
    };
    let line = |node: &Node| {
        let inputs: Vec<String> = node.inputs.iter().map(operand).collect();
        format!("{:?} of {inputs:?} makes {:?}", node.op, graph.tensor(node.output).ty)
    };
    graph.nodes().iter().map(line).collect()
}

#[test]
fn three_forms_of_a_network_become_one() {
    for seed in 0..12 {
        let forms = [Form::Codes, Form::Sums, Form::Float].map(|form| network(form, seed));
        let found = forms.each_ref().map(canonical);
        for (form, canonical) in forms.iter().zip(&found) {
            let mut random = Random(seed);
            let ty = &form.tensor(form.inputs()[0]).ty;
            let inputs = vec![random.codes(ty.code_range(), ty.len())];
            assert_eq!(outputs(canonical, &inputs)[0].1, outputs(form, &inputs)[0].1, "{seed}");
        }
        let [codes, sums, float] = found.each_ref().map(nodes);
        assert_eq!(codes.len(), 8);
        for (at, node) in codes.iter().enumerate() {
            assert_eq!(sums.get(at), Some(node), "{seed}");
            assert_eq!(float.get(at), Some(node), "{seed}");
        }
        assert_eq!([sums.len(), float.len()], [codes.len(); 2], "{seed}");
    }
}

/// Returns whether a float layer between codes with these scales becomes one of codes.
fn folds(input: f32, weights: f32, output: f32) -> bool {
    let mut builder = GraphBuilder::new("layer");
    let x = builder.input("x", TensorType::quantized(&[1, 4, 4, 1], DType::Int8, input, 0).unwrap()).unwrap();
    let w = TensorType::quantized(&[1, 3, 3, 1], DType::Int8, weights, 0).unwrap();
    let w = builder.constant("w", w, (0..9).map(|i| i * 29 - 127).collect()).unwrap();
    let mut net = Builder { form: Form::Float, builder, at: x, names: 0, random: Random(1) };
    let (xr, wr) = (net.real(Dequantize {}, &[x]), net.real(Dequantize {}, &[w]));
    let y = net.real(FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid }, &[xr, wr]);
    let y = net.quantize(y, spec(DType::Int8, output, 0));
    let changed = canonical(&net.builder.finish(vec![y]).unwrap());
    changed.nodes().iter().all(|node| node.op.name() == "conv2d")
}

/// A layer stays in float if a code could differ: if float32 rounds a sum, or the quotient of a sum.
#[test]
fn what_rounds_otherwise_stays() {
    assert!(folds(0.125, 0.5, 0.25));
    assert!(!folds(0.1, 0.5, 0.25));
    assert!(!folds(0.125, 0.3, 0.25));
    // The output's scale is arbitrary unless a sum is so near to a tie that both forms differ.
    let scales = (1..200).map(|n| n as f32 / 1000.0);
    let kept = scales.filter(|&scale| !folds(0.125, 0.5, scale)).count();
    assert!((1..190).contains(&kept), "{kept} of 199");
}
