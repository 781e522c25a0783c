//! Generators of networks that no other test file contains: codes of few bits and with ranges, rectifiers inside the
//! codes, arbitrary tables, regions in float.

use guardbit_frontends::RandomCodes;
use guardbit_graph::ops::{
    AvgPool2d, Conv2d, DepthwiseConv2d, Dequantize, FloatAvgPool2d, FloatConv2d, FloatUnary, FullyConnected,
    MaxPool2d, Mean, QLinearAdd, QLinearMul, QuantizeFloat, RealFunction, Reshape, Table,
};
use guardbit_graph::{
    Activation, CodeRange, DType, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Padding, Quantization,
    Requantize, TensorId, TensorType,
};
use guardbit_num::{Rounding, Scheme};

const EVEN: Requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };

/// A network built from seeded choices.
pub struct Builder {
    random: RandomCodes,
    builder: GraphBuilder,
    signed: bool,
    count: usize,
}

impl Builder {
    fn new(seed: u64) -> Self {
        let mut random = RandomCodes::new(seed, 0..=i32::MAX);
        let signed = random.next().unwrap() % 2 == 0;
        Self { random, builder: GraphBuilder::new("built"), signed, count: 0 }
    }

    fn below(&mut self, count: u32) -> u32 {
        self.random.next().unwrap() as u32 % count
    }

    fn scale(&mut self) -> f32 {
        0.01 + self.below(1000) as f32 / 4000.0
    }

    /// Returns a dtype and a range of it.
    fn codes(&mut self) -> (DType, Option<[i32; 2]>) {
        match (self.signed, self.below(4)) {
            (true, 0) => (DType::Int4, None),
            (true, 1) => (DType::Int8, Some([-16, 15])),
            (true, 2) => (DType::Int8, Some([-127, 127])),
            (true, _) => (DType::Int8, None),
            (false, 0) => (DType::UInt4, None),
            (false, 1) => (DType::UInt8, Some([0, 31])),
            (false, 2) => (DType::UInt8, Some([3, 200])),
            (false, _) => (DType::UInt8, None),
        }
    }

    fn quantization(&mut self, scale: f32) -> (DType, Quantization) {
        let (dtype, range) = self.codes();
        let (low, high) = range.map_or((dtype.min(), dtype.max()), |[low, high]| (low, high));
        let zero_point = low + self.below((high - low + 1) as u32) as i32;
        let quantization = Quantization::per_tensor(scale, zero_point).unwrap();
        let range = range.and_then(|[low, high]| CodeRange::new(low, high));
        (dtype, range.map_or(quantization.clone(), |range| quantization.with_range(range)))
    }

    fn output(&mut self, scale: f32) -> OutputSpec {
        self.count += 1;
        let (dtype, quantization) = self.quantization(scale);
        OutputSpec { name: format!("t{}", self.count), dtype, quantization: Some(quantization) }
    }

    fn float(&mut self) -> OutputSpec {
        self.count += 1;
        OutputSpec { name: format!("r{}", self.count), dtype: DType::Float32, quantization: None }
    }

    fn input(&mut self, shape: &[usize]) -> TensorId {
        let scale = self.scale();
        let (dtype, quantization) = self.quantization(scale);
        let ty = TensorType { shape: shape.to_vec(), dtype, quantization: Some(quantization) };
        self.builder.input("x", ty).unwrap()
    }

    fn node(&mut self, op: impl Into<Op>, inputs: &[TensorId], output: OutputSpec) -> TensorId {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        self.builder.node(op, &inputs, output).unwrap()
    }

    fn like(&mut self, id: TensorId) -> OutputSpec {
        self.count += 1;
        OutputSpec { name: format!("t{}", self.count), ..OutputSpec::of(self.builder.tensor(id)) }
    }

    fn scale_of(&self, id: TensorId) -> f32 {
        self.builder.tensor(id).ty.quantization.as_ref().unwrap().scale(0)
    }

    /// Adds weights of few bits, with a bias.
    fn weights(&mut self, shape: &[usize], axis: usize) -> [TensorId; 2] {
        let (dtype, range) = match self.below(3) {
            0 => (DType::Int4, None),
            1 => (DType::Int4, CodeRange::new(-1, 1)),
            _ => (DType::Int8, CodeRange::new(-127, 127)),
        };
        let (low, high) = range.unwrap_or(CodeRange::of(dtype)).ends();
        let channels = shape[axis];
        let scales = (0..channels).map(|_| 0.01 + self.below(100) as f32 / 1000.0).collect();
        let quantization = Quantization::per_axis(scales, vec![0; channels], axis).unwrap();
        let quantization = Some(range.map_or(quantization.clone(), |range| quantization.with_range(range)));
        let count = shape.iter().product::<usize>();
        let codes = (0..count).map(|_| low + self.below((high - low + 1) as u32) as i32).collect();
        let bias = (0..channels).map(|_| self.below(400) as i32 - 200).collect();
        self.count += 1;
        let name = format!("w{}", self.count);
        let weights = TensorType { shape: shape.to_vec(), dtype, quantization };
        let biases = TensorType { shape: vec![channels], dtype: DType::Int32, quantization: None };
        [
            self.builder.constant(name.clone(), weights, codes).unwrap(),
            self.builder.constant(format!("{name}_bias"), biases, bias).unwrap(),
        ]
    }

    fn activation(&mut self, output: &OutputSpec) -> Activation {
        let quantization = output.quantization.as_ref().unwrap();
        // An activation that clamps nothing, or less than the range, is left out.
        let chosen = [Activation::None, Activation::Relu, Activation::Relu6][self.below(3) as usize];
        let whole = quantization.range().is_none();
        let clamps = chosen.clamp(output.dtype, quantization) != CodeRange::of(output.dtype).ends();
        if whole && clamps { chosen } else { Activation::None }
    }

    fn conv(&mut self, x: TensorId, channels: usize) -> TensorId {
        let depth = self.builder.tensor(x).ty.shape[3];
        let [w, b] = self.weights(&[channels, 3, 3, depth], 0);
        let output = self.output(self.scale_of(x));
        let activation = self.activation(&output);
        let padding = Padding::Explicit { rows: [1, 1], cols: [1, 0] };
        let op = Conv2d { stride: [1, 1], dilation: [1, 1], padding, activation, requantize: EVEN };
        self.node(op, &[x, w, b], output)
    }

    fn depthwise(&mut self, x: TensorId) -> TensorId {
        let depth = self.builder.tensor(x).ty.shape[3];
        let [w, b] = self.weights(&[1, 2, 2, depth], 3);
        let output = self.output(self.scale_of(x) / 4.0);
        let activation = self.activation(&output);
        let padding = Padding::Valid;
        let op = DepthwiseConv2d { stride: [1, 1], dilation: [1, 1], padding, activation, requantize: EVEN };
        self.node(op, &[x, w, b], output)
    }

    fn dense(&mut self, x: TensorId, channels: usize) -> TensorId {
        let terms = self.builder.tensor(x).ty.shape[1];
        let [w, b] = self.weights(&[channels, terms], 0);
        let output = self.output(self.scale_of(x));
        let activation = self.activation(&output);
        self.node(FullyConnected { keep_num_dims: true, activation, requantize: EVEN }, &[x, w, b], output)
    }

    /// Adds a table of random codes.
    fn table(&mut self, x: TensorId) -> TensorId {
        let scale = self.scale();
        let output = self.output(scale);
        let (low, high) = output.quantization.as_ref().unwrap().codes_of(output.dtype).ends();
        let count = 1 << self.builder.tensor(x).ty.dtype.bits();
        let codes = (0..count).map(|_| low + self.below((high - low + 1) as u32) as i32).collect();
        let ty =
            TensorType { shape: vec![count], dtype: output.dtype, quantization: output.quantization.clone() };
        let table = self.builder.constant(format!("{}_table", output.name), ty, codes).unwrap();
        self.node(Table {}, &[x, table], output)
    }

    fn pool(&mut self, x: TensorId) -> TensorId {
        let real = self.float();
        let real = self.node(Dequantize {}, &[x], real);
        let (kernel, stride, padding) = ([2, 2], [1, 1], Padding::Valid);
        let pooled = self.float();
        let pooled =
            self.node(FloatAvgPool2d { kernel, stride, padding, count_padding: false }, &[real], pooled);
        let scale = self.scale();
        let output = self.output(scale);
        self.node(QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: true }, &[pooled], output)
    }

    /// Adds a float convolution between codes.
    fn float_region(&mut self, x: TensorId) -> TensorId {
        let real = self.float();
        let real = self.node(Dequantize {}, &[x], real);
        let depth = self.builder.tensor(x).ty.shape[3];
        let ty = TensorType { shape: vec![2, 1, 1, depth], dtype: DType::Float32, quantization: None };
        // Sums of eighths are exact in every order.
        let words = (0..2 * depth).map(|i| guardbit_graph::word_of(i as f32 / 8.0 - 0.5)).collect();
        self.count += 1;
        let w = self.builder.constant(format!("w{}", self.count), ty, words).unwrap();
        let output = self.float();
        let op = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid };
        let y = self.node(op, &[real, w], output);
        let output = self.float();
        let op = FloatUnary { function: RealFunction::LeakyRelu, parameters: vec![0.25] };
        let y = self.node(op, &[y], output);
        let scale = self.scale();
        let output = self.output(scale);
        self.node(QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false }, &[y], output)
    }
}

/// Returns a network of every operation that can be written.
pub fn network(seed: u64) -> Graph {
    let mut b = Builder::new(seed);
    let x = b.input(&[1, 6, 5, 3]);
    let x = b.conv(x, 4);
    let y = b.depthwise(x);
    let z = b.pool(x);
    let scale = b.scale_of(y) * 2.0;
    let sum = b.output(scale);
    let activation = b.activation(&sum);
    let sum = b.node(QLinearAdd { activation }, &[y, z], sum);
    let product = b.output(scale * 4.0);
    let activation = b.activation(&product);
    let product = b.node(QLinearMul { activation }, &[sum, y], product);
    let table = b.table(product);
    let pooled = b.like(table);
    let op =
        MaxPool2d { kernel: [2, 2], stride: [2, 2], padding: Padding::Valid, activation: Activation::None };
    let pooled = b.node(op, &[table], pooled);
    let region = b.float_region(pooled);
    let mean = b.output(scale);
    let mean = b.node(Mean { axes: vec![1, 2], keep_dims: true, requantize: EVEN }, &[pooled], mean);
    let flat = b.like(mean);
    let flat = b.node(Reshape { shape: vec![1, 4] }, &[mean], flat);
    let dense = b.dense(flat, 5);
    let graph = b.builder.finish(vec![dense, region]).unwrap();
    graph.with_metadata([("guardbit.made_for".to_owned(), format!("seed {seed}"))].into())
}

/// Returns networks that cannot be written, each with the reason.
pub fn refused() -> Vec<(&'static str, Graph)> {
    let round = |scheme| Requantize { scheme, rule: MultiplierRule::Float64 };
    let spec = |dtype| OutputSpec::quantized("y", dtype, 0.5, 0).unwrap();
    let operand = |name: &str, shape: &[usize], dtype| {
        let ty = TensorType::quantized(shape, dtype, 0.25, 0).unwrap();
        guardbit_graph::Operand::input(name, ty)
    };
    let weights = |dtype| {
        let ty = TensorType::quantized(&[2, 3], dtype, 0.25, 0).unwrap();
        guardbit_graph::Operand::constant("w", ty, vec![1; 6])
    };
    let dense = |scheme| FullyConnected {
        keep_num_dims: false,
        activation: Activation::None,
        requantize: round(scheme),
    };
    let layer = |scheme, x, w, y| {
        Graph::of_op("net", dense(scheme), [operand("x", &[1, 3], x), weights(w)], spec(y)).unwrap()
    };
    let image = |op: Op, dtype| Graph::of_op("net", op, [operand("x", &[1, 4, 4, 2], dtype)], spec(dtype));
    let same = |op: Op| {
        let output = OutputSpec::quantized("y", DType::Int8, 0.25, 0).unwrap();
        Graph::of_op("net", op, [operand("x", &[1, 4, 4, 2], DType::Int8)], output).unwrap()
    };
    let (kernel, stride, padding) = ([2, 2], [2, 2], Padding::Valid);
    let mean = |axes: Vec<usize>, keep_dims| Mean { axes, keep_dims, requantize: EVEN };
    vec![
        ("scheme", layer(Scheme::Double, DType::Int8, DType::Int8, DType::Int8)),
        ("int16", layer(Scheme::Even, DType::Int16, DType::Int8, DType::Int16)),
        ("signs", layer(Scheme::Even, DType::UInt8, DType::Int8, DType::Int8)),
        ("unsigned_weights", layer(Scheme::Even, DType::Int8, DType::UInt8, DType::Int8)),
        ("average_pool", same(AvgPool2d { kernel, stride, padding, activation: Activation::None }.into())),
        ("mean_of_columns", image(mean(vec![2], true).into(), DType::Int8).unwrap()),
        ("mean_without_axes", image(mean(vec![1, 2], false).into(), DType::Int8).unwrap()),
        (
            "activation_of_pool",
            same(MaxPool2d { kernel, stride, padding, activation: Activation::Relu6 }.into()),
        ),
    ]
}
