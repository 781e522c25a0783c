//! Random float networks.

#![allow(dead_code, reason = "every test uses a part of it")]

use guardbit_graph::ops::{
    Concat, Dilate, FloatAvgPool2d, FloatBinary, FloatConv2d, FloatMatMul, FloatMaxPool2d, FloatMean,
    FloatResizeBilinear, FloatSoftmax, FloatUnary, Gather, Places, RealFunction, RealPair, Reshape,
    ResizeNearest, Transpose,
};
use guardbit_graph::{
    DType, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Padding, Requantize, TensorId, TensorType,
    word_of,
};
use guardbit_num::Scheme;
use proptest::prelude::*;

/// Operation of a random network.
#[derive(Debug, Clone, Copy)]
pub enum Layer {
    Conv {
        kernel: usize,
        channels: usize,
        bias: bool,
    },
    Depthwise,
    Grouped,
    BatchNorm,
    Function(usize),
    Residual(usize),
    Product,
    Offset,
    MaxPool,
    AvgPool,
    Concat,
    Dense {
        bias: bool,
    },
    /// Product along the channels of an image.
    Along {
        bias: bool,
    },
    Softmax,
    Normalization,
    /// Transposed convolution: cells between pixels, then a convolution.
    Transposed,
    /// Rectified layer, sum and hard-swish as written by PyTorch, divided by numbers.
    Over(usize),
    /// Mean over an image whose channels were moved to the front, which is added everywhere.
    MovedMean {
        keep_dims: bool,
    },
    /// Change of size: by the nearest pixel, by chosen rows, or by interpolation.
    Resize(usize),
}

pub fn layer() -> impl Strategy<Value = Layer> {
    prop_oneof![
        4 => (1..4usize, 1..5usize, any::<bool>())
            .prop_map(|(kernel, half, bias)| Layer::Conv { kernel, channels: 2 * half, bias }),
        2 => Just(Layer::Depthwise),
        1 => Just(Layer::Grouped),
        2 => Just(Layer::BatchNorm),
        4 => (0..FUNCTIONS.len()).prop_map(Layer::Function),
        3 => (0..3usize).prop_map(Layer::Residual),
        1 => Just(Layer::Product),
        1 => Just(Layer::Offset),
        1 => Just(Layer::MaxPool),
        1 => Just(Layer::AvgPool),
        1 => Just(Layer::Concat),
        1 => any::<bool>().prop_map(|bias| Layer::Dense { bias }),
        1 => any::<bool>().prop_map(|bias| Layer::Along { bias }),
        1 => Just(Layer::Softmax),
        1 => Just(Layer::Normalization),
        2 => (0..3usize).prop_map(Layer::Resize),
        1 => Just(Layer::Transposed),
        2 => (0..3usize).prop_map(Layer::Over),
        1 => any::<bool>().prop_map(|keep_dims| Layer::MovedMean { keep_dims }),
    ]
}

const FUNCTIONS: &[(RealFunction, &[f32])] = &[
    (RealFunction::Relu, &[]),
    (RealFunction::Clip, &[0.0, 6.0]),
    (RealFunction::Clip, &[-0.7, 0.9]),
    (RealFunction::LeakyRelu, &[0.1]),
    (RealFunction::Sigmoid, &[]),
    (RealFunction::Tanh, &[]),
    (RealFunction::HardSwish, &[]),
    (RealFunction::Gelu, &[]),
];

/// A seeded source of numbers between -1 and 1.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32) / (1u64 << 23) as f32 - 1.0
    }

    pub fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

pub const INPUT: [usize; 4] = [1, 6, 6, 4];

/// Returns samples of a random network.
pub fn samples(count: usize, seed: u64) -> Vec<Vec<Vec<f32>>> {
    let mut numbers = Numbers::new(seed ^ 0x5eed);
    (0..count).map(|_| vec![numbers.take(INPUT.iter().product())]).collect()
}

/// Returns a network of layers one after the other, with branches where layers request them, and a dense
/// layer at the end.
pub fn network(layers: &[Layer], seed: u64) -> Graph {
    let mut net =
        Net { builder: GraphBuilder::new("random"), numbers: Numbers::new(seed), made: Vec::new(), names: 0 };
    let ty = TensorType { shape: INPUT.to_vec(), dtype: DType::Float32, quantization: None };
    let mut x = net.builder.input("x", ty).unwrap();
    for &layer in layers {
        net.made.push(x);
        x = net.layer(layer, x);
    }
    x = net.dense(x, 5, true);
    net.builder.finish(vec![x]).unwrap()
}

/// Returns a network of one product with a matrix, given by the weights of each output.
pub fn product(weights: &[Vec<f32>]) -> Graph {
    let (terms, channels) = (weights[0].len(), weights.len());
    let mut builder = GraphBuilder::new("product");
    let ty = |shape: Vec<usize>| TensorType { shape, dtype: DType::Float32, quantization: None };
    let x = builder.input("x", ty(vec![1, terms])).unwrap();
    let cells = (0..terms).flat_map(|cell| weights.iter().map(move |own| word_of(own[cell])));
    let matrix = builder.constant("matrix", ty(vec![terms, channels]), cells.collect()).unwrap();
    let output = OutputSpec { name: "y".into(), dtype: DType::Float32, quantization: None };
    let y = builder.node(Op::from(FloatMatMul {}), &[Some(x), Some(matrix)], output).unwrap();
    builder.finish(vec![y]).unwrap()
}

struct Net {
    builder: GraphBuilder,
    numbers: Numbers,
    made: Vec<TensorId>,
    names: usize,
}

impl Net {
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    fn shape(&self, id: TensorId) -> Vec<usize> {
        self.builder.tensor(id).ty.shape.clone()
    }

    fn constant(&mut self, shape: &[usize], scale: f32, middle: f32) -> TensorId {
        let values = self.numbers.take(shape.iter().product());
        let words = values.into_iter().map(|value| word_of(middle + scale * value)).collect();
        let ty = TensorType { shape: shape.to_vec(), dtype: DType::Float32, quantization: None };
        let name = self.name("c");
        self.builder.constant(name, ty, words).unwrap()
    }

    fn node(&mut self, op: impl Into<Op>, inputs: &[TensorId]) -> TensorId {
        let op = op.into();
        let name = self.name(op.name());
        let output = OutputSpec { name, dtype: DType::Float32, quantization: None };
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        self.builder.node(op, &inputs, output).unwrap()
    }

    fn conv(&mut self, x: TensorId, weights: [usize; 4], bias: bool) -> TensorId {
        let [channels, rows, cols, depth] = weights;
        let pad = [(rows - 1) / 2, rows / 2];
        let side = [(cols - 1) / 2, cols / 2];
        let padding = Padding::Explicit { rows: pad, cols: side };
        let scale = 1.5 / ((rows * cols * depth) as f32).sqrt();
        let mut inputs = vec![x, self.constant(&weights, scale, 0.0)];
        if bias {
            inputs.push(self.constant(&[channels], 0.5, 0.1));
        }
        self.node(FloatConv2d { stride: [1, 1], dilation: [1, 1], padding }, &inputs)
    }

    fn dense(&mut self, x: TensorId, units: usize, bias: bool) -> TensorId {
        let count: usize = self.shape(x).iter().product();
        let x = self.node(Reshape { shape: vec![1, count as i64] }, &[x]);
        let matrix = self.constant(&[count, units], 1.5 / (count as f32).sqrt(), 0.0);
        let x = self.node(FloatMatMul {}, &[x, matrix]);
        if !bias {
            return x;
        }
        let bias = self.constant(&[units], 0.3, 0.0);
        self.node(FloatBinary { function: RealPair::Add }, &[x, bias])
    }

    fn pair(&mut self, function: RealPair, a: TensorId, b: TensorId) -> TensorId {
        self.node(FloatBinary { function }, &[a, b])
    }

    fn layer(&mut self, layer: Layer, x: TensorId) -> TensorId {
        let shape = self.shape(x);
        let &[_, rows, cols, channels] = &shape[..] else { return x };
        let per_channel = [1, 1, 1, channels];
        let earlier = self.made.iter().rev().skip(1).copied().find(|&id| self.shape(id) == shape);
        match layer {
            Layer::Conv { kernel, channels: out, bias } => {
                self.conv(x, [out, kernel, kernel, channels], bias)
            }
            Layer::Depthwise => self.conv(x, [channels, 3, 3, 1], true),
            Layer::Grouped if channels % 2 == 0 && channels > 2 => {
                self.conv(x, [channels, 3, 1, channels / 2], false)
            }
            Layer::Grouped => x,
            Layer::BatchNorm => {
                let factor = self.constant(&per_channel, 0.4, 1.0);
                let offset = self.constant(&per_channel, 0.4, 0.0);
                let x = self.pair(RealPair::Mul, x, factor);
                self.pair(RealPair::Add, x, offset)
            }
            Layer::Function(index) => {
                let (function, parameters) = FUNCTIONS[index];
                self.node(FloatUnary { function, parameters: parameters.to_vec() }, &[x])
            }
            Layer::Residual(kind) => {
                let function = [RealPair::Add, RealPair::Sub, RealPair::Maximum][kind];
                let other = earlier.unwrap_or(x);
                self.pair(function, x, other)
            }
            Layer::Product => {
                let gate =
                    self.node(FloatUnary { function: RealFunction::Sigmoid, parameters: vec![] }, &[x]);
                self.pair(RealPair::Mul, x, gate)
            }
            Layer::Offset => {
                let constant = self.constant(&per_channel, 1.0, 0.0);
                self.pair(RealPair::Sub, constant, x)
            }
            Layer::MaxPool | Layer::AvgPool if rows < 2 || cols < 2 => x,
            Layer::MaxPool => {
                self.node(FloatMaxPool2d { kernel: [2, 2], stride: [1, 1], padding: Padding::Valid }, &[x])
            }
            Layer::AvgPool => {
                let pool = FloatAvgPool2d {
                    kernel: [2, 2],
                    stride: [1, 1],
                    padding: Padding::Valid,
                    count_padding: false,
                };
                self.node(pool, &[x])
            }
            Layer::Concat => {
                let requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };
                let other = earlier.unwrap_or(x);
                self.node(Concat { axis: 3, requantize }, &[x, other])
            }
            Layer::Dense { bias } => {
                let mean = self.node(FloatMean { axes: vec![1, 2], keep_dims: bias }, &[x]);
                let x = self.dense(mean, channels, bias);
                self.node(Reshape { shape: vec![1, 1, 1, channels as i64] }, &[x])
            }
            Layer::Along { bias } => {
                let lines =
                    self.node(Reshape { shape: vec![1, (rows * cols) as i64, channels as i64] }, &[x]);
                let matrix = self.constant(&[channels, channels], 1.5 / (channels as f32).sqrt(), 0.0);
                let mut y = self.node(FloatMatMul {}, &[lines, matrix]);
                if bias {
                    let bias = self.constant(&[channels], 0.3, 0.0);
                    y = self.pair(RealPair::Add, y, bias);
                }
                self.node(Reshape { shape: [1, rows, cols, channels].map(|size| size as i64).to_vec() }, &[y])
            }
            Layer::Softmax => self.node(FloatSoftmax { axis: 3 }, &[x]),
            Layer::Transposed => {
                let x = self.node(Dilate { factor: [2, 1] }, &[x]);
                self.conv(x, [channels, 2, 3, channels], true)
            }
            Layer::Over(kind) => {
                let number = |net: &mut Self, value: f32| {
                    let ty = TensorType { shape: vec![], dtype: DType::Float32, quantization: None };
                    let name = net.name("number");
                    net.builder.constant(name, ty, vec![word_of(value)]).unwrap()
                };
                let unary =
                    |function, parameters: &[f32]| FloatUnary { function, parameters: parameters.to_vec() };
                let six = number(self, 6.0);
                let whole = match kind {
                    0 => {
                        let x = self.conv(x, [channels, 1, 1, channels], true);
                        self.node(unary(RealFunction::Clip, &[0.0, 1.0]), &[x])
                    }
                    1 => self.pair(RealPair::Add, x, earlier.unwrap_or(x)),
                    _ => {
                        let three = number(self, 3.0);
                        let sum = self.pair(RealPair::Add, three, x);
                        let gate = self.node(unary(RealFunction::Clip, &[0.0, 6.0]), &[sum]);
                        self.pair(RealPair::Mul, x, gate)
                    }
                };
                self.pair(RealPair::Div, whole, six)
            }
            Layer::MovedMean { keep_dims } => {
                let moved = self.node(Transpose { permutation: vec![0, 3, 1, 2] }, &[x]);
                let mean = self.node(FloatMean { axes: vec![2, 3], keep_dims }, &[moved]);
                let mean = self.node(Reshape { shape: vec![1, 1, 1, channels as i64] }, &[mean]);
                self.pair(RealPair::Add, x, mean)
            }
            Layer::Resize(0) => self.node(
                ResizeNearest { size: [rows + 1, cols], align_corners: false, half_pixel_centers: false },
                &[x],
            ),
            Layer::Resize(1) => {
                let ty = TensorType { shape: vec![rows], dtype: DType::Int32, quantization: None };
                let name = self.name("rows");
                let rows = (0..rows as i32).map(|row| row / 2).collect();
                let rows = self.builder.constant(name, ty, rows).unwrap();
                self.node(Gather { axis: 1, batch_dims: 0 }, &[x, rows])
            }
            Layer::Resize(_) => {
                let places = if channels % 3 == 0 { Places::AlignCorners } else { Places::HalfPixel };
                self.node(FloatResizeBilinear { size: [rows, cols + 2], places, scales: None }, &[x])
            }
            Layer::Normalization => {
                let parts = [self.constant(&[channels], 0.2, 1.0), self.constant(&[channels], 0.2, 0.0)];
                let norm = guardbit_graph::ops::FloatLayerNorm { axis: 3, epsilon: 1e-3 };
                self.node(norm, &[x, parts[0], parts[1]])
            }
        }
    }
}

/// Returns a convolution, a depthwise one and a pointwise one, with functions between them and a product at the end.
pub fn chain() -> Graph {
    let layers = [
        Layer::Conv { kernel: 3, channels: 6, bias: true },
        Layer::Function(0),
        Layer::Depthwise,
        Layer::Function(0),
        Layer::Conv { kernel: 1, channels: 4, bias: true },
    ];
    network(&layers, 7)
}
