//! Small networks and accelerators for tests.
#![allow(dead_code)]

pub mod narrow;
pub mod network;
pub mod random;
pub mod stream;

use std::sync::Arc;

use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Padding, Quantization,
    Requantize, TensorType, ops::Conv2d,
};
use guardbit_hwmodels::{
    Accelerator, Axis, Bias, BiasPlace, Check, Datapath, Level, Operands, OutputFit, Product, Program,
    Reduce, ReductionOrder, Register, Requantization, Terms, Walk, ZeroPoint, from_yaml, lower,
};
use guardbit_num::{Format, Overflow, Rounding, Scheme};
use guardbit_sim::{LayerStats, Options, SampleTensors, Settled, SimError, Simulation};

pub const REQUANTIZE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

pub fn register(bits: u32, overflow: Overflow) -> Register {
    Register::Fixed { format: Format::signed(bits).unwrap(), overflow }
}

pub fn serial(name: &str, terms: Terms, register: Register) -> Level {
    Level {
        name: name.into(),
        reduce: Reduce::Serial,
        terms,
        register,
        check: Check::EachAdd,
        shift: 0,
        round: Rounding::Floor.into(),
    }
}

pub fn datapath(levels: Vec<Level>) -> Datapath {
    Datapath {
        operands: Operands { zero_point: ZeroPoint::Subtract },
        order: ReductionOrder { axes: [Axis::Kh, Axis::Kw, Axis::Ic], walk: Walk::Forward, ic_block: None },
        product: Product { register: Register::Auto, shift: 0, round: Rounding::Floor.into() },
        levels,
        bias: Bias { at: BiasPlace::Post, register: register(32, Overflow::Saturate), from_model: false },
        requantize: Requantization { scheme: None, output: OutputFit::Saturate },
    }
}

const ACCELERATOR: &str = "
schema: 1
name: test
clock_mhz: 100
array: {rows: 4, cols: 4}
memory: {activation_kib: 64, weight_kib: 64, sram_bytes_per_cycle: 16, accumulator_bytes_per_cycle: 128}
";

pub fn accelerator(datapath: Datapath) -> Accelerator {
    let offload =
        ["conv2d", "depthwise_conv2d", "fully_connected", "batch_matmul", "avg_pool2d", "mean", "sum"];
    let defaults = from_yaml(ACCELERATOR, "hw.yaml", &[]).unwrap();
    Accelerator { offload: offload.map(String::from).to_vec(), datapath, ..defaults }
}

pub fn quantized(shape: &[usize], dtype: DType, scale: f32, zero_point: i32) -> TensorType {
    let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
    TensorType { shape: shape.to_vec(), dtype, quantization }
}

pub fn output(name: &str, dtype: DType, scale: f32, zero_point: i32) -> OutputSpec {
    let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
    OutputSpec { name: name.into(), dtype, quantization }
}

pub fn conv2d(stride: usize, padding: Padding) -> Conv2d {
    Conv2d {
        stride: [stride; 2],
        dilation: [1; 2],
        padding,
        activation: Activation::None,
        requantize: REQUANTIZE,
    }
}

/// Returns `dots` independent dot products of length `k`: a 1x1 convolution with one group per dot product.
pub fn independent_dots(activation: DType, weight: DType, k: usize, weights: Vec<i32>) -> Graph {
    let dots = weights.len() / k;
    let mut builder = GraphBuilder::new("dots");
    let x = builder.input("x", quantized(&[1, 1, 1, dots * k], activation, 1.0, 0)).unwrap();
    let w = builder.constant("w", quantized(&[dots, 1, 1, k], weight, 1.0, 0), weights).unwrap();
    let op = conv2d(1, Padding::Valid);
    let y = builder.node(op, &[Some(x), Some(w)], output("y", DType::Int8, 1024.0, 0)).unwrap();
    builder.finish(vec![y]).unwrap()
}

/// Returns a graph of one node with activations, and constant weights and bias if given.
pub fn one_layer(
    op: impl Into<Op>,
    x: TensorType,
    weights: Option<(TensorType, Vec<i32>)>,
    bias: Option<Vec<i32>>,
    out: OutputSpec,
) -> Graph {
    let mut builder = GraphBuilder::new("one");
    let mut inputs = vec![Some(builder.input("x", x).unwrap())];
    if let Some((ty, codes)) = weights {
        inputs.push(Some(builder.constant("w", ty, codes).unwrap()));
    }
    if let Some(codes) = bias {
        let ty = TensorType { shape: vec![codes.len()], dtype: DType::Int32, quantization: None };
        inputs.push(Some(builder.constant("b", ty, codes).unwrap()));
    }
    let y = builder.node(op, &inputs, out).unwrap();
    builder.finish(vec![y]).unwrap()
}

/// Results of a run of one layer.
pub struct Ran {
    pub tensors: Vec<SampleTensors>,
    pub stats: LayerStats,
    pub settled: Settled,
}

pub fn program(graph: &Graph, accelerator: &Accelerator) -> Program {
    lower(Arc::new(graph.clone()), accelerator).unwrap()
}

pub fn run(program: &Program, samples: &[Vec<i32>], options: Options) -> Result<Ran, SimError> {
    let mut simulation = Simulation::new(program, options);
    let samples: Vec<Vec<Vec<i32>>> = samples.iter().map(|s| vec![s.clone()]).collect();
    let tensors = simulation.run_batch(&samples)?;
    let settled = simulation.settled();
    let stats = simulation.finish().into_iter().flatten().next().unwrap();
    Ok(Ran { tensors, stats, settled })
}
