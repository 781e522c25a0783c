//! Generators of random networks of several layers in which passes find something to change.

use guardbit_graph::ops::{
    Add, AvgPool2d, Cast, Concat, Conv2d, DepthwiseConv2d, Dequantize, FloatBinary, FloatConv2d,
    FloatMaxPool2d, FloatUnary, FullyConnected, HardSwish, IntegerBinary, IntegerPair, MaxPool2d, Mean, Pad,
    Quantize, QuantizeFloat, RealFunction, RealPair, Relu, Relu6, Reshape, Transpose,
};
use guardbit_graph::{
    Activation, CodeRange, DType, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Padding, Quantization,
    Requantize, Tensor, TensorId, TensorType, word_of,
};
use guardbit_num::{Rounding, Scheme};
use proptest::prelude::*;

use crate::common::DOUBLE;

/// The kind of a layer, and the seed of everything else. Layers that cannot be built are left out.
pub type Layer = (u8, u64);

pub const KINDS: u8 = 23;

/// Generates two to twelve layers.
pub fn layers() -> impl Strategy<Value = Vec<Layer>> {
    prop::collection::vec((0..KINDS, any::<u64>()), 2..=12)
}

/// A generator of pseudo-random numbers (Knuth's MMIX generator).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }

    fn between(&mut self, least: i32, greatest: i32) -> i32 {
        least + self.below((greatest - least + 1) as usize) as i32
    }

    pub fn codes(&mut self, range: CodeRange, count: usize) -> Vec<i32> {
        let codes: Vec<i32> = (0..count).map(|_| self.between(range.min(), range.max())).collect();
        codes.into_iter().map(|code| range.clamp(code.into())).collect()
    }

    /// Returns a narrower range in some cases.
    fn range(&mut self, dtype: DType) -> Option<CodeRange> {
        let (a, b) = (self.between(dtype.min(), dtype.max()), self.between(dtype.min(), dtype.max()));
        match self.below(8) {
            0 => CodeRange::new((-dtype.max()).max(dtype.min()), dtype.max()),
            1 => CodeRange::new(a.min(b), a.max(b)),
            // Codes with a step, like the bipolar ones.
            2 if a != b => CodeRange::new(a.min(b), a.max(b))?.with_step(a.abs_diff(b)),
            3 => CodeRange::new(dtype.min(), dtype.max() - 1)?.with_step(2),
            _ => None,
        }
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn pair(&mut self, end: usize) -> [usize; 2] {
        [1 + self.below(end), 1 + self.below(end)]
    }
}

/// Returns a network of these layers.
pub fn network(layers: &[Layer]) -> Graph {
    let seed = layers.iter().fold(1, |all, (kind, seed)| all ^ seed.rotate_left((*kind).into()));
    let mut random = Random(seed);
    let mut builder = GraphBuilder::new("network");
    let quantization = quantization(&mut random, DType::Int8);
    let shape = vec![1, 2 + random.below(4), 2 + random.below(4), 1 + random.below(3)];
    let x = builder.input("x", TensorType { shape, dtype: DType::Int8, quantization }).unwrap();
    let mut network = Network { builder, at: x, made: vec![x], states: Vec::new(), names: 0 };
    for &(kind, seed) in layers {
        network.layer(kind, &mut Random(seed));
    }
    network.finish(&mut random)
}

fn quantization(random: &mut Random, dtype: DType) -> Option<Quantization> {
    let zero_point = match random.below(3) {
        0 => dtype.min(),
        1 => 0.max(dtype.min()),
        _ => random.between(dtype.min(), dtype.max()),
    };
    let scale = random.one(&[0.1, 0.1, 0.05, 0.3]);
    let quantization = Quantization::per_tensor(scale, zero_point).unwrap();
    Some(match random.range(dtype) {
        Some(range) => quantization.with_range(range),
        None => quantization,
    })
}

struct Network {
    builder: GraphBuilder,
    at: TensorId,
    made: Vec<TensorId>,
    states: Vec<TensorId>,
    names: usize,
}

impl Network {
    fn shape(&self) -> Vec<usize> {
        self.builder.tensor(self.at).ty.shape.clone()
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// Adds an operation whose output has the type of `like`.
    fn add(&mut self, op: impl Into<Op>, inputs: &[TensorId], like: TensorId) -> Option<TensorId> {
        let output = OutputSpec { name: self.name(), ..OutputSpec::of(self.builder.tensor(like)) };
        self.add_as(op, inputs, output)
    }

    fn add_as(&mut self, op: impl Into<Op>, inputs: &[TensorId], output: OutputSpec) -> Option<TensorId> {
        let inputs: Vec<_> = inputs.iter().map(|&id| Some(id)).collect();
        self.builder.node(op, &inputs, output).ok()
    }

    fn constant(
        &mut self,
        shape: &[usize],
        random: &mut Random,
        quantization: Option<Quantization>,
    ) -> TensorId {
        let ty = TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization };
        let codes = random.codes(ty.code_range(), ty.len());
        let name = self.name();
        self.builder.constant(name, ty, codes).unwrap()
    }

    fn spec(&mut self, random: &mut Random) -> OutputSpec {
        let dtype = self.builder.tensor(self.at).ty.dtype;
        OutputSpec { name: self.name(), dtype, quantization: quantization(random, dtype) }
    }

    fn layer(&mut self, kind: u8, random: &mut Random) {
        if let Some(made) = self.made_by(kind, random) {
            self.made.push(made);
            self.at = made;
        }
    }

    fn made_by(&mut self, kind: u8, random: &mut Random) -> Option<TensorId> {
        let (x, shape) = (self.at, self.shape());
        let padding = match random.below(3) {
            0 => Padding::Valid,
            1 => Padding::Same,
            _ => Padding::Explicit { rows: [random.below(2), random.below(3)], cols: [random.below(2); 2] },
        };
        let activation = random.one(&Activation::ALL);
        let channels = shape.last().copied().unwrap_or(1);
        match kind {
            0..=2 => {
                let [rows, cols] = random.pair(3);
                let depthwise = kind == 2;
                let weights = if depthwise {
                    [1, rows, cols, channels]
                } else {
                    [1 + random.below(3), rows, cols, channels]
                };
                let scale = Quantization::per_tensor(0.02, random.one(&[0, 0, 3])).unwrap();
                let weights = self.constant(&weights, random, Some(scale));
                let spec = self.spec(random);
                let (stride, dilation) = (random.pair(2), random.pair(2));
                let op: Op = match depthwise {
                    true => {
                        DepthwiseConv2d { stride, dilation, padding, activation, requantize: DOUBLE }.into()
                    }
                    false => Conv2d { stride, dilation, padding, activation, requantize: DOUBLE }.into(),
                };
                self.add_as(op, &[x, weights], spec)
            }
            3 | 4 => {
                let mut paddings = vec![[0, 0]; shape.len()];
                let last = random.below(6) / 5;
                for sides in paddings.iter_mut().skip(1).rev().skip(1 - last) {
                    *sides = random.one(&[[0, 0], [1, 1], [0, 1], [2, 1]]);
                }
                let dtype = self.builder.tensor(x).ty.dtype;
                let value = random.one(&[None, None, Some(dtype.min()), Some(0)]);
                self.add(Pad { paddings, value }, &[x], x)
            }
            5 | 6 => {
                let elements: usize = shape.iter().product();
                let flat = vec![1, elements as i64];
                let same = shape.iter().map(|&size| size as i64).collect();
                let four = vec![1, -1, 1, channels as i64];
                self.add(Reshape { shape: random.one(&[flat, same, four]) }, &[x], x)
            }
            7 | 8 => {
                let mut permutation: Vec<usize> = (0..shape.len()).collect();
                for _ in 0..random.below(3) {
                    let (a, b) = (random.below(shape.len()), random.below(shape.len()));
                    permutation.swap(a, b);
                }
                self.add(Transpose { permutation }, &[x], x)
            }
            9 => {
                let (kernel, stride) = (random.pair(3), random.pair(2));
                self.add(
                    MaxPool2d {
                        kernel,
                        stride,
                        padding,
                        activation: random.one(&[Activation::None, activation]),
                    },
                    &[x],
                    x,
                )
            }
            10 => {
                let (kernel, stride) = (random.pair(2), random.pair(2));
                self.add(
                    AvgPool2d {
                        kernel,
                        stride,
                        padding,
                        activation: random.one(&[Activation::None, activation]),
                    },
                    &[x],
                    x,
                )
            }
            11 => match random.below(4) {
                0 => self.add(Relu { requantize: DOUBLE }, &[x], x),
                1 => self.add(Relu6 { requantize: DOUBLE }, &[x], x),
                2 => self.add(Quantize { requantize: DOUBLE }, &[x], x),
                _ => {
                    let spec = self.spec(random);
                    self.add_as(Quantize { requantize: DOUBLE }, &[x], spec)
                }
            },
            12 => {
                let inputs = vec![x; 1 + random.below(2)];
                self.add(Concat { axis: random.below(shape.len()), requantize: DOUBLE }, &inputs, x)
            }
            13 => {
                let scale = Quantization::per_tensor(0.02, 0).unwrap();
                let elements: usize = shape.iter().product();
                let weights = self.constant(&[1 + random.below(4), elements], random, Some(scale));
                let spec = self.spec(random);
                let op =
                    FullyConnected { keep_num_dims: random.below(3) == 0, activation, requantize: DOUBLE };
                self.add_as(op, &[x, weights], spec)
            }
            // An operation on constants, added to the last tensor.
            14 => {
                let ty = self.builder.tensor(x).ty.clone();
                let constant = self.constant(&[channels], random, ty.quantization);
                let made = self.add(Reshape { shape: vec![1, -1] }, &[constant], constant);
                let made = made.and_then(|made| self.add(Relu { requantize: DOUBLE }, &[made], made));
                made.and_then(|made| self.add(Add { activation, scheme: Scheme::Double }, &[x, made], x))
            }
            // A convolution followed by a rectifier.
            15 => {
                let scale = Quantization::per_tensor(0.02, 0).unwrap();
                let weights = self.constant(&[1 + random.below(3), 1, 1, channels], random, Some(scale));
                let spec = self.spec(random);
                let made =
                    self.add_as(Conv2d { requantize: DOUBLE, ..Conv2d::default() }, &[x, weights], spec);
                let relu: Op = match random.below(2) {
                    0 => Relu { requantize: DOUBLE }.into(),
                    _ => Relu6 { requantize: DOUBLE }.into(),
                };
                made.and_then(|made| self.add(relu, &[made], made))
            }
            // A layer whose sums are quantized by a separate node, optionally with a separate bias.
            17 | 18 => self.layer_of_sums(random, kind == 18),
            // A pool or mean on wider codes.
            19 => {
                let wide = self.cast(x, x, DType::Int16)?;
                let (kernel, axes) = (random.pair(2), vec![random.below(shape.len())]);
                let op: Op = match random.below(3) {
                    0 => Mean { axes, keep_dims: true, requantize: DOUBLE }.into(),
                    1 => MaxPool2d { kernel, stride: [1, 1], padding, activation }.into(),
                    _ => AvgPool2d { kernel, stride: [1, 1], padding, activation }.into(),
                };
                let made = self.add(op, &[wide], wide)?;
                self.cast(made, x, DType::Int8)
            }
            // Moved real values.
            20 => {
                let real = self.real(Dequantize {}, &[x])?;
                let paddings = vec![random.one(&[[0, 0], [1, 2]]); shape.len()];
                let value = random.one(&[None, Some(word_of(0.7))]);
                let op: Op = match random.below(4) {
                    0 => Reshape { shape: vec![1, -1] }.into(),
                    1 => Transpose { permutation: (0..shape.len()).rev().collect() }.into(),
                    2 => Pad { paddings, value }.into(),
                    _ => FloatMaxPool2d { kernel: random.pair(2), stride: [1, 1], padding }.into(),
                };
                let moved = self.real(op, &[real])?;
                let specs = [OutputSpec::of(self.builder.tensor(x)), self.spec(random)];
                let spec = random.one(&specs);
                self.codes(moved, spec)
            }
            // Functions of single codes.
            21 => {
                let mut real = self.real(Dequantize {}, &[x])?;
                for _ in 0..random.below(3) {
                    let function = random.one(&[RealFunction::Tanh, RealFunction::Silu, RealFunction::Abs]);
                    real = self.real(FloatUnary { function, parameters: vec![] }, &[real])?;
                }
                let specs = [OutputSpec::of(self.builder.tensor(x)), self.spec(random)];
                let spec = random.one(&specs);
                match random.below(3) {
                    0 => {
                        let output = OutputSpec { name: self.name(), ..spec };
                        self.add_as(HardSwish, &[x], output)
                    }
                    _ => self.codes(real, spec),
                }
            }
            // A float convolution between codes.
            22 => self.float_layer(random, padding),
            // An addition of an earlier tensor.
            16 if random.below(2) == 0 => {
                let Tensor { ty, .. } = self.builder.tensor(x).clone();
                let (codes, name) = (random.codes(ty.code_range(), ty.len()), self.name());
                let state = self.builder.state(name, ty, codes).ok()?;
                self.states.push(state);
                self.add(Add { activation, scheme: Scheme::Double }, &[x, state], x)
            }
            // An unused node, or a mean.
            _ => {
                let dead = self.add(Relu { requantize: DOUBLE }, &[x], x);
                let axes = vec![random.below(shape.len())];
                let keep_dims = random.below(2) == 0;
                let mean = self.add(Mean { axes, keep_dims, requantize: DOUBLE }, &[x], x);
                mean.filter(|_| dead.is_some() && keep_dims)
            }
        }
    }

    fn real(&mut self, op: impl Into<Op>, inputs: &[TensorId]) -> Option<TensorId> {
        let output = OutputSpec { name: self.name(), dtype: DType::Float32, quantization: None };
        self.add_as(op, inputs, output)
    }

    /// Adds a quantizer of real values.
    fn codes(&mut self, real: TensorId, like: OutputSpec) -> Option<TensorId> {
        let op = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false };
        let output = OutputSpec { name: self.name(), ..like };
        self.add_as(op, &[real], output)
    }

    /// Adds a cast of codes to another dtype.
    fn cast(&mut self, x: TensorId, like: TensorId, dtype: DType) -> Option<TensorId> {
        let output = OutputSpec { name: self.name(), dtype, ..OutputSpec::of(self.builder.tensor(like)) };
        self.add_as(Cast, &[x], output)
    }

    fn layer_of_sums(&mut self, random: &mut Random, with_bias: bool) -> Option<TensorId> {
        let (x, channels) = (self.at, self.shape().last().copied()?);
        let units = 1 + random.below(3);
        let scales: Vec<f32> = (0..units).map(|_| random.one(&[0.02, 0.013])).collect();
        let several = random.below(2) == 0;
        let quantization = match several {
            true => Quantization::per_axis(scales.clone(), vec![0; units], 0),
            false => Quantization::per_tensor(scales[0], 0),
        };
        let weights = self.constant(&[units, 1, 1, channels], random, quantization.ok());
        let input = self.builder.tensor(x).ty.quantization.as_ref()?.scale(0);
        let of_sums = scales.iter().map(|scale| scale * input).collect();
        let quantization = match several {
            true => Quantization::per_axis(of_sums, vec![0; units], 3),
            false => Quantization::per_tensor(scales[0] * input, 0),
        };
        let sums = OutputSpec { name: self.name(), dtype: DType::Int32, quantization: quantization.ok() };
        let op = Conv2d { requantize: DOUBLE, ..Conv2d::default() };
        let mut made = self.add_as(op, &[x, weights], sums.clone())?;
        if with_bias {
            let ty = TensorType { shape: vec![units], dtype: DType::Int32, quantization: None };
            let values = (0..units).map(|_| random.between(-2000, 2000)).collect();
            let name = self.name();
            let bias = self.builder.constant(name, ty, values).ok()?;
            let output = OutputSpec { name: self.name(), ..sums };
            made = self.add_as(IntegerBinary { function: IntegerPair::Add }, &[made, bias], output)?;
        }
        let scheme = random.one(&[Scheme::Double, Scheme::Single, Scheme::Even]);
        let rule = random.one(&MultiplierRule::ALL);
        let spec = self.spec(random);
        self.add_as(Quantize { requantize: Requantize { scheme, rule } }, &[made], spec)
    }

    fn float_layer(&mut self, random: &mut Random, padding: Padding) -> Option<TensorId> {
        let channels = self.shape().last().copied()?;
        let zero = random.between(-128, 127);
        let spec =
            OutputSpec::quantized(self.name(), DType::Int8, random.one(&[0.125, 0.25, 0.1]), zero).ok()?;
        let x = self.add_as(Quantize { requantize: DOUBLE }, &[self.at], spec)?;
        let scale = Quantization::per_tensor(random.one(&[0.0625, 0.5]), random.one(&[0, 3])).ok();
        let (units, [rows, cols]) = (1 + random.below(3), random.pair(2));
        let depthwise = random.below(2) == 0;
        let shape = if depthwise { [channels, rows, cols, 1] } else { [units, rows, cols, channels] };
        let units = shape[0];
        let weights = self.constant(&shape, random, scale);
        let (x, weights) = (self.real(Dequantize {}, &[x])?, self.real(Dequantize {}, &[weights])?);
        let op = FloatConv2d { stride: random.pair(2), dilation: [1, 1], padding };
        let mut made = self.real(op, &[x, weights])?;
        if random.below(2) == 0 {
            let ty = TensorType { shape: vec![units], dtype: DType::Float32, quantization: None };
            let words = (0..units).map(|_| word_of(random.between(-64, 64) as f32 / 32.0)).collect();
            let name = self.name();
            let bias = self.builder.constant(name, ty, words).ok()?;
            made = self.real(FloatBinary { function: RealPair::Add }, &[made, bias])?;
        }
        if random.below(2) == 0 {
            made = self.real(FloatUnary { function: RealFunction::Relu, parameters: vec![] }, &[made])?;
        }
        let spec = self.spec(random);
        self.codes(made, spec)
    }

    fn finish(mut self, random: &mut Random) -> Graph {
        for &state in &self.states {
            let all: Vec<TensorId> = self.made.iter().chain(&self.states).copied().collect();
            let like = |id: &TensorId| self.builder.tensor(*id).ty == self.builder.tensor(state).ty;
            let like: Vec<TensorId> = all.into_iter().filter(like).collect();
            let next = random.one(&like);
            self.builder.carry(state, next).unwrap();
        }
        let mut outputs = vec![self.at];
        if random.below(3) == 0 {
            outputs.push(random.one(&self.made));
        }
        self.builder.finish(outputs).unwrap()
    }
}
