//! Random networks of several layers.

use std::sync::Arc;

use guardbit_graph::ops::{
    Add, AvgPool2d, BatchMatmul, Conv2d, DepthwiseConv2d, FullyConnected, MaxPool2d, Mean, Reshape, Sum,
};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, Op, OutputSpec, Padding, Quantization, TensorId, TensorType,
};
use guardbit_hwmodels::{Accelerator, Datapath, LayerOverrides, LowerError, Placement, lower, partition};
use guardbit_num::Scheme;
use proptest::prelude::*;
use proptest::sample::select;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::{REQUANTIZE, random};

/// Network with inputs.
#[derive(Debug, Clone)]
pub struct NetworkCase {
    pub graph: Arc<Graph>,
    pub samples: Vec<Vec<i32>>,
    pub accelerator: Accelerator,
}

/// Description of one layer, which is adapted to the tensor before it.
#[derive(Debug, Clone)]
struct Layer {
    kind: Kind,
    kernel: [usize; 2],
    stride: usize,
    padding: Padding,
    channels: usize,
    dtype: DType,
    activation: Activation,
    scheme: Scheme,
    has_bias: bool,
    /// Seed of weights, bias, scales and zero points.
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Conv,
    Depthwise,
    FullyConnected,
    /// Product with a constant matrix of one scale.
    Matmul,
    /// Product with the result of a convolution of the input.
    TwoActivations,
    /// Scores of a tensor against itself, multiplied by the result of a convolution of it.
    Attention,
    /// A 1x1 convolution, added to its input.
    Residual,
    AvgPool,
    MaxPool,
    Mean,
    Sum,
}

/// Generates two to four layers on any datapath, with propagated errors likely; some layers have another
/// datapath.
pub fn network_case() -> impl Strategy<Value = NetworkCase> {
    let overrides = prop::collection::vec(prop::option::weighted(0.3, random::any_datapath()), 8);
    let packing = prop::option::weighted(0.1, random::packing());
    let network = (network(), prop::option::weighted(0.2, any::<u64>())).prop_map(random::narrowed);
    let cases = (network, random::base(), overrides, any::<bool>(), packing).prop_map(
        |((graph, samples), mut base, mut overrides, hosts_pools, packing)| {
            if hosts_pools {
                base.offload.retain(|op| !["avg_pool2d", "mean", "sum"].contains(&op.as_str()));
            }
            if let Some((chain, packing)) = packing {
                base.packing = packing.into();
                let own = overrides.iter_mut().flatten();
                own.chain([&mut base.datapath]).for_each(|path| random::pack(path, chain));
            }
            let accelerator = with_overrides(&graph, base, overrides);
            NetworkCase { graph: Arc::new(graph), samples, accelerator }
        },
    );
    // Dropped bits of several layers in a row may ask for a multiplier beyond those that exist.
    cases.prop_filter("the multipliers exist", |case| {
        !matches!(lower(Arc::clone(&case.graph), &case.accelerator), Err(LowerError::Multiplier { .. }))
    })
}

/// Gives accelerated layers datapaths of their own.
fn with_overrides(graph: &Graph, base: Accelerator, datapaths: Vec<Option<Datapath>>) -> Accelerator {
    let places = partition(graph, &base).unwrap();
    let accelerated =
        graph.nodes_with_ids().zip(places).filter(|(_, place)| *place == Placement::Accelerator);
    let mut layers = LayerOverrides::default();
    for (((node, _), _), datapath) in accelerated.zip(datapaths) {
        let Some(datapath) = datapath else { continue };
        layers.insert(graph.node_name(node).to_owned(), Accelerator { datapath, ..base.clone() });
    }
    Accelerator { layers, ..base }
}

fn network() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let shape = (1usize..6, 1usize..6, 1usize..5);
    (shape, dtype(), any::<u64>(), prop::collection::vec(layer(), 2..=4)).prop_map(
        |((rows, cols, channels), dtype, seed, layers)| {
            let mut codes = Codes::new(seed);
            let shape = [1, rows, cols, channels];
            let mut builder = GraphBuilder::new("network");
            let zero_point = codes.zero_point(dtype);
            let x = builder.input("x", super::quantized(&shape, dtype, 0.1, zero_point)).unwrap();
            let samples = (0..2).map(|_| codes.activations(dtype, shape.iter().product())).collect();
            let end = layers.iter().enumerate().fold(x, |x, (index, layer)| {
                Adding { builder: &mut builder, index, layer, codes: Codes::new(layer.seed) }.layer(x)
            });
            (builder.finish(vec![end]).unwrap(), samples)
        },
    )
}

fn layer() -> impl Strategy<Value = Layer> {
    let kind = prop_oneof![
        4 => Just(Kind::Conv),
        2 => Just(Kind::Depthwise),
        3 => Just(Kind::FullyConnected),
        1 => Just(Kind::Matmul),
        2 => Just(Kind::TwoActivations),
        1 => Just(Kind::Attention),
        2 => Just(Kind::Residual),
        1 => Just(Kind::AvgPool),
        1 => Just(Kind::MaxPool),
        1 => Just(Kind::Mean),
        1 => Just(Kind::Sum),
    ];
    let window = (prop::array::uniform2(1usize..4), 1usize..3, random::padding());
    let channels = select(vec![1, 2, 3, 4, 5, 7, 16, 18]);
    let finish = (
        dtype(),
        // Activations that clip hide earlier errors.
        prop_oneof![Just(Activation::None), select(Activation::ALL.to_vec())],
        select(vec![Scheme::Double, Scheme::Double, Scheme::Single, Scheme::Even]),
        any::<bool>(),
    );
    (kind, window, channels, finish, any::<u64>()).prop_map(
        |(kind, (kernel, stride, padding), channels, (dtype, activation, scheme, has_bias), seed)| Layer {
            kind,
            kernel,
            stride,
            padding,
            channels,
            dtype,
            activation,
            scheme,
            has_bias,
            seed,
        },
    )
}

fn dtype() -> impl Strategy<Value = DType> {
    prop_oneof![6 => Just(DType::Int8), 2 => Just(DType::UInt8), 1 => Just(DType::Int4), 1 => Just(DType::Int16)]
}

/// Pseudo-random numbers of one layer or network.
pub struct Codes(Pcg64Mcg);

impl Codes {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn within(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((i64::from(high) - i64::from(low) + 1) as u64) as i32
    }

    /// Returns a factor from 1 to 4.
    pub fn factor(&mut self) -> f32 {
        1.0 + self.below(1000) as f32 * 0.003
    }

    /// Returns a zero point, symmetric half of the time.
    pub fn zero_point(&mut self, dtype: DType) -> i32 {
        let middle = if dtype.is_signed() { 0 } else { 1 << (dtype.bits() - 1) };
        if self.below(2) == 0 { middle } else { self.within(dtype.min(), dtype.max()) }
    }

    /// Returns arbitrary codes; half of the time only the least and the greatest.
    pub fn activations(&mut self, dtype: DType, count: usize) -> Vec<i32> {
        let rails = self.below(2) == 0;
        let code = |_| match (rails, self.below(2)) {
            (true, 0) => dtype.min(),
            (true, _) => dtype.max(),
            (false, _) => self.within(dtype.min(), dtype.max()),
        };
        (0..count).map(code).collect()
    }
}

/// State while one layer is added to the graph.
struct Adding<'a> {
    builder: &'a mut GraphBuilder,
    index: usize,
    layer: &'a Layer,
    codes: Codes,
}

impl Adding<'_> {
    fn layer(&mut self, x: TensorId) -> TensorId {
        match self.layer.kind {
            Kind::Conv => self.conv(x),
            Kind::Depthwise => self.depthwise(x),
            Kind::FullyConnected => self.fully_connected(x),
            Kind::Matmul => self.matmul(x),
            Kind::TwoActivations => self.two_activations(x),
            Kind::Attention => self.attention(x),
            Kind::Residual => self.residual(x),
            Kind::AvgPool | Kind::MaxPool => self.pool(x),
            Kind::Mean | Kind::Sum => self.reduction(x),
        }
    }

    fn shape(&self, x: TensorId) -> [usize; 4] {
        self.builder.tensor(x).ty.shape.as_slice().try_into().unwrap()
    }

    fn name(&self, part: &str) -> String {
        format!("{part}{}", self.index)
    }

    fn node(&mut self, op: impl Into<Op>, inputs: &[Option<TensorId>], out: OutputSpec) -> TensorId {
        self.builder.node(op, inputs, out).unwrap()
    }

    /// Adds weights with a scale per channel, and a bias if requested.
    fn weights(&mut self, part: &str, shape: &[usize], axis: usize) -> [Option<TensorId>; 2] {
        let channels = shape[axis];
        let dtype = [DType::Int8, DType::Int8, DType::Int4, DType::UInt8][self.codes.below(4) as usize];
        let scales = (0..channels).map(|_| 0.01 * self.codes.factor()).collect();
        let zero_points = match dtype {
            DType::UInt8 => (0..channels).map(|_| self.codes.zero_point(dtype)).collect(),
            _ => vec![0; channels],
        };
        let quantization = Some(Quantization::per_axis(scales, zero_points, axis).unwrap());
        let ty = TensorType { shape: shape.to_vec(), dtype, quantization };
        let codes = self.codes.activations(dtype, shape.iter().product());
        let weights = self.builder.constant(self.name(&format!("{part}w")), ty, codes).unwrap();
        let bias = self.layer.has_bias.then(|| {
            let reach = [300, 20_000, 1_000_000][self.codes.below(3) as usize];
            let codes = (0..channels).map(|_| self.codes.within(-reach, reach)).collect();
            let ty = TensorType { shape: vec![channels], dtype: DType::Int32, quantization: None };
            self.builder.constant(self.name(&format!("{part}b")), ty, codes).unwrap()
        });
        [Some(weights), bias]
    }

    /// Returns an output whose codes use much of their range, for sums of `terms` products.
    fn output(&mut self, x: TensorId, part: &str, dtype: DType, terms: usize) -> OutputSpec {
        let from = &self.builder.tensor(x).ty;
        let spread = (terms as f32).sqrt() * 2f32.powi(from.dtype.bits() as i32 - 2) * 60.0;
        let scale = from.quantization.as_ref().unwrap().scale(0) * 0.02 * spread;
        let scale = scale / 2f32.powi(dtype.bits() as i32 - 3) * self.codes.factor();
        super::output(&self.name(part), dtype, scale, self.codes.zero_point(dtype))
    }

    /// Returns the requantization of the layer.
    fn requantize(&self) -> guardbit_graph::Requantize {
        REQUANTIZE.with_scheme(self.layer.scheme)
    }

    /// Returns the window, limited to the size of the image.
    fn kernel(&self, [_, rows, cols, _]: [usize; 4]) -> [usize; 2] {
        [self.layer.kernel[0].min(rows), self.layer.kernel[1].min(cols)]
    }

    fn conv(&mut self, x: TensorId) -> TensorId {
        let shape = self.shape(x);
        let [kh, kw] = self.kernel(shape);
        let groups = if shape[3].is_multiple_of(2) && self.layer.channels.is_multiple_of(2) { 2 } else { 1 };
        let depth = shape[3] / groups;
        let [w, b] = self.weights("", &[self.layer.channels, kh, kw, depth], 0);
        let op = Conv2d {
            stride: [self.layer.stride; 2],
            dilation: [1; 2],
            padding: self.layer.padding,
            activation: self.layer.activation,
            requantize: self.requantize(),
        };
        let out = self.output(x, "y", self.layer.dtype, kh * kw * depth);
        self.node(op, &[Some(x), w, b], out)
    }

    fn depthwise(&mut self, x: TensorId) -> TensorId {
        let shape = self.shape(x);
        let [kh, kw] = self.kernel(shape);
        let channels = shape[3] * if self.layer.channels > 4 { 2 } else { 1 };
        let [w, b] = self.weights("", &[1, kh, kw, channels], 3);
        let op = DepthwiseConv2d {
            stride: [self.layer.stride; 2],
            dilation: [1; 2],
            padding: self.layer.padding,
            activation: self.layer.activation,
            requantize: self.requantize(),
        };
        let out = self.output(x, "y", self.layer.dtype, kh * kw);
        self.node(op, &[Some(x), w, b], out)
    }

    /// Adds a fully connected layer, followed by a reshape to one pixel.
    fn fully_connected(&mut self, x: TensorId) -> TensorId {
        let terms = self.shape(x).iter().product();
        let units = self.layer.channels;
        let [w, b] = self.weights("", &[units, terms], 0);
        let op = FullyConnected {
            keep_num_dims: false,
            activation: self.layer.activation,
            requantize: self.requantize(),
        };
        let out = self.output(x, "y", self.layer.dtype, terms);
        let y = self.node(op, &[Some(x), w, b], out);
        let shape = vec![1, 1, 1, units as i64];
        let like = self.like(y, "flat");
        self.node(Reshape { shape }, &[Some(y)], like)
    }

    fn matmul(&mut self, x: TensorId) -> TensorId {
        let (terms, columns) = (self.shape(x)[3], self.layer.channels);
        let adj_y = self.codes.below(2) == 0;
        let shape = if adj_y { vec![columns, terms] } else { vec![terms, columns] };
        let dtype = self.builder.tensor(x).ty.dtype;
        let zero_point = self.codes.zero_point(dtype);
        let codes = self.codes.activations(dtype, terms * columns);
        let ty = super::quantized(&shape, dtype, 0.02, zero_point);
        let matrix = self.builder.constant(self.name("m"), ty, codes).unwrap();
        let op = BatchMatmul { adj_x: false, adj_y, requantize: self.requantize() };
        let out = self.output(x, "y", dtype, terms);
        self.node(op, &[Some(x), Some(matrix)], out)
    }

    /// Adds a convolution of `x` with the given kernel.
    fn projected(&mut self, x: TensorId, part: &str, channels: usize, kernel: [usize; 2]) -> TensorId {
        let depth = self.shape(x)[3];
        let [w, b] = self.weights(part, &[channels, kernel[0], kernel[1], depth], 0);
        let op = Conv2d {
            stride: [1; 2],
            dilation: [1; 2],
            padding: Padding::Valid,
            activation: Activation::None,
            requantize: self.requantize(),
        };
        let dtype = self.builder.tensor(x).ty.dtype;
        let out = self.output(x, part, dtype, kernel[0] * kernel[1] * depth);
        self.node(op, &[Some(x), w, b], out)
    }

    /// Adds a product of two activations with one, both or none of them transposed, or with one matrix of the
    /// second for all rows of the first.
    fn two_activations(&mut self, x: TensorId) -> TensorId {
        let [_, rows, cols, depth] = self.shape(x);
        let (adj_x, adj_y, y) = match self.codes.below(5) {
            0 => (false, true, self.projected(x, "p", depth, [1, 1])),
            1 => (true, false, self.projected(x, "p", self.layer.channels, [1, 1])),
            2 => (false, true, self.projected(x, "p", depth, [rows, 1])),
            3 => {
                let y = self.projected(x, "p", self.layer.channels, [1, 1]);
                let shape = vec![1, rows as i64, self.layer.channels as i64, cols as i64];
                let like = self.like(y, "r");
                (true, true, self.node(Reshape { shape }, &[Some(y)], like))
            }
            _ => {
                let y = self.projected(x, "p", depth * self.layer.channels, [1, cols]);
                let shape = vec![1, rows as i64, depth as i64, self.layer.channels as i64];
                let like = self.like(y, "r");
                (false, false, self.node(Reshape { shape }, &[Some(y)], like))
            }
        };
        let op = BatchMatmul { adj_x, adj_y, requantize: self.requantize() };
        let dtype = self.builder.tensor(x).ty.dtype;
        let out = self.output(x, "y", dtype, if adj_x { cols } else { depth });
        self.node(op, &[Some(x), Some(y)], out)
    }

    fn attention(&mut self, x: TensorId) -> TensorId {
        let [_, _, cols, depth] = self.shape(x);
        let dtype = self.builder.tensor(x).ty.dtype;
        let value = self.projected(x, "v", self.layer.channels, [1, 1]);
        let op = |adj_y| BatchMatmul { adj_x: false, adj_y, requantize: self.requantize() };
        let (scores, weighted) = (op(true), op(false));
        let out = self.output(x, "s", dtype, depth);
        let scores = self.node(scores, &[Some(x), Some(x)], out);
        let out = self.output(scores, "y", dtype, cols);
        self.node(weighted, &[Some(scores), Some(value)], out)
    }

    fn residual(&mut self, x: TensorId) -> TensorId {
        let [_, _, _, channels] = self.shape(x);
        let dtype = self.builder.tensor(x).ty.dtype;
        let [w, b] = self.weights("", &[channels, 1, 1, channels], 0);
        let op = Conv2d {
            stride: [1; 2],
            dilation: [1; 2],
            padding: Padding::Valid,
            activation: Activation::None,
            requantize: self.requantize(),
        };
        let out = self.output(x, "y", dtype, channels);
        let scale = out.quantization.as_ref().unwrap().scale(0);
        let y = self.node(op, &[Some(x), w, b], out);
        let sum = super::output(&self.name("sum"), dtype, scale * 1.5, self.codes.zero_point(dtype));
        let op = Add { activation: self.layer.activation, scheme: Scheme::Double };
        self.node(op, &[Some(x), Some(y)], sum)
    }

    /// Returns an output whose codes have the scale and zero point of `x`.
    fn like(&self, x: TensorId, name: &str) -> OutputSpec {
        let ty = &self.builder.tensor(x).ty;
        OutputSpec { name: self.name(name), dtype: ty.dtype, quantization: ty.quantization.clone() }
    }

    fn pool(&mut self, x: TensorId) -> TensorId {
        let kernel = self.kernel(self.shape(x));
        let (stride, activation) = ([self.layer.stride; 2], self.layer.activation);
        // With explicit padding, a window could contain no pixel.
        let padding = if self.layer.padding == Padding::Valid { Padding::Valid } else { Padding::Same };
        let out = self.like(x, "y");
        match self.layer.kind {
            Kind::AvgPool => self.node(AvgPool2d { kernel, stride, padding, activation }, &[Some(x)], out),
            _ => self.node(MaxPool2d { kernel, stride, padding, activation }, &[Some(x)], out),
        }
    }

    fn reduction(&mut self, x: TensorId) -> TensorId {
        let (axes, keep_dims, requantize) = (vec![1, 2], true, self.requantize());
        let [_, rows, cols, _] = self.shape(x);
        let dtype = self.builder.tensor(x).ty.dtype;
        let scale = self.builder.tensor(x).ty.quantization.as_ref().unwrap().scale(0);
        let spread = if self.layer.kind == Kind::Mean { 0.5 } else { (rows * cols) as f32 * 0.7 };
        let out = super::output(&self.name("y"), dtype, scale * spread, self.codes.zero_point(dtype));
        match self.layer.kind {
            Kind::Mean => self.node(Mean { axes, keep_dims, requantize }, &[Some(x)], out),
            _ => self.node(Sum { axes, keep_dims, requantize }, &[Some(x)], out),
        }
    }
}
