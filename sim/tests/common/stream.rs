//! Random small networks with states.

use std::sync::Arc;

use guardbit_graph::ops::{Concat, FullyConnected, Slice};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, OutputSpec, Padding, Quantization, TensorId, TensorType,
};
use guardbit_hwmodels::{Accelerator, BiasPlace, OutputFit, Register, Terms};
use guardbit_num::Format;
use proptest::prelude::*;
use proptest::sample::select;

use super::network::{Codes, NetworkCase};
use super::{REQUANTIZE, accelerator, datapath, quantized, random, serial};

/// State that a network carries from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Output of a fully connected layer that reads the state next to the input.
    Dense,
    /// Output of a convolution that reads the state next to the channels of the input.
    Image,
    /// Last rows that a convolution reads: a slice of a layer's output for the input, below the previous
    /// rows.
    Rows,
}

/// Generates a network with a state that an accelerated layer reads and another one produces, and a second
/// state that follows the first one by a step. Samples are the steps of a stream. Schemes are the model's
/// own, so that the exact run equals the model.
pub fn stream_case() -> impl Strategy<Value = NetworkCase> {
    let kind = select(vec![Kind::Dense, Kind::Image, Kind::Rows]);
    let dtype = select(vec![DType::Int8, DType::Int8, DType::UInt8, DType::Int16]);
    let sizes = prop::array::uniform4(1usize..5);
    (kind, dtype, sizes, 2usize..7, any::<u64>()).prop_flat_map(|(kind, dtype, sizes, steps, seed)| {
        let (graph, samples) = network(kind, dtype, sizes, steps, seed);
        let graph = Arc::new(graph);
        hardware(dtype).prop_map(move |accelerator| NetworkCase {
            graph: Arc::clone(&graph),
            samples: samples.clone(),
            accelerator,
        })
    })
}

/// Generates one narrow accumulator, or any datapath.
fn hardware(dtype: DType) -> impl Strategy<Value = Accelerator> {
    let narrow = (3u32..9, random::mode()).prop_map(move |(spare, overflow)| {
        let format = Format::signed(dtype.bits() + spare).unwrap();
        accelerator(datapath(vec![serial("acc", Terms::All, Register::Fixed { format, overflow })]))
    });
    prop_oneof![2 => narrow, 1 => random::base()].prop_map(|mut accelerator| {
        let path = &mut accelerator.datapath;
        path.requantize.scheme = None;
        path.requantize.output = OutputFit::Saturate;
        if path.bias.at == BiasPlace::PostRequantize {
            path.bias.at = BiasPlace::Post;
        }
        accelerator
    })
}

fn network(
    kind: Kind,
    dtype: DType,
    [rows, cols, inputs, outputs]: [usize; 4],
    steps: usize,
    seed: u64,
) -> (Graph, Vec<Vec<i32>>) {
    let mut codes = Codes::new(seed);
    let builder = GraphBuilder::new("stream");
    let quantization = Quantization::per_tensor(0.1, codes.zero_point(dtype)).unwrap();
    let mut adding = Adding { builder, codes, dtype, quantization };
    let (x, held, next, outputs) = match kind {
        Kind::Dense => adding.dense(inputs, outputs),
        Kind::Image => adding.image([rows, cols], inputs, outputs),
        Kind::Rows => adding.rows([rows, cols], inputs, outputs),
    };
    let Adding { mut builder, mut codes, .. } = adding;
    builder.carry(held, next).unwrap();
    let ty = builder.tensor(held).ty.clone();
    let initial = codes.activations(dtype, ty.len());
    let late = builder.state("late", ty, initial).unwrap();
    let first = builder.tensor(x).ty.len();
    builder.carry(late, held).unwrap();
    let samples = (0..steps).map(|_| codes.activations(dtype, first)).collect();
    (builder.finish(vec![outputs, late]).unwrap(), samples)
}

/// State while a network is built. All activations have one scale and zero point.
struct Adding {
    builder: GraphBuilder,
    codes: Codes,
    dtype: DType,
    quantization: Quantization,
}

/// Input, state, next value of the state, and output.
type Made = (TensorId, TensorId, TensorId, TensorId);

impl Adding {
    fn ty(&self, shape: &[usize]) -> TensorType {
        let quantization = Some(self.quantization.clone());
        TensorType { shape: shape.to_vec(), dtype: self.dtype, quantization }
    }

    fn spec(&self, name: &str) -> OutputSpec {
        OutputSpec { name: name.into(), dtype: self.dtype, quantization: Some(self.quantization.clone()) }
    }

    fn input(&mut self, shape: &[usize]) -> TensorId {
        let ty = self.ty(shape);
        self.builder.input("x", ty).unwrap()
    }

    fn state(&mut self, shape: &[usize]) -> TensorId {
        let ty = self.ty(shape);
        let initial = self.codes.activations(self.dtype, ty.len());
        self.builder.state("held", ty, initial).unwrap()
    }

    fn joined(&mut self, axis: usize, parts: [TensorId; 2]) -> TensorId {
        let op = Concat { axis, requantize: REQUANTIZE };
        let spec = self.spec("joined");
        self.builder.node(op, &parts.map(Some), spec).unwrap()
    }

    /// Adds weights whose scaled sums use much of the range of the output.
    fn weights(&mut self, name: &str, shape: &[usize]) -> TensorId {
        let terms = shape.iter().skip(1).product::<usize>();
        let scale = self.codes.factor() / (70.0 * (terms as f32).sqrt());
        let codes = self.codes.activations(DType::Int8, shape.iter().product());
        self.builder.constant(name, quantized(shape, DType::Int8, scale, 0), codes).unwrap()
    }

    fn conv(
        &mut self,
        name: &str,
        x: TensorId,
        kernel: [usize; 2],
        channels: usize,
        padding: Padding,
    ) -> TensorId {
        let depth = *self.builder.tensor(x).ty.shape.last().unwrap();
        let w = self.weights(&format!("{name} weights"), &[channels, kernel[0], kernel[1], depth]);
        let spec = self.spec(name);
        self.builder.node(super::conv2d(1, padding), &[Some(x), Some(w)], spec).unwrap()
    }

    fn dense(&mut self, inputs: usize, units: usize) -> Made {
        let (x, held) = (self.input(&[1, inputs]), self.state(&[1, units]));
        let joined = self.joined(1, [held, x]);
        let w = self.weights("weights", &[units, units + inputs]);
        let op =
            FullyConnected { keep_num_dims: false, activation: Activation::None, requantize: REQUANTIZE };
        let spec = self.spec("y");
        let y = self.builder.node(op, &[Some(joined), Some(w)], spec).unwrap();
        (x, held, y, y)
    }

    fn image(&mut self, [rows, cols]: [usize; 2], inputs: usize, channels: usize) -> Made {
        let (x, held) = (self.input(&[1, rows, cols, inputs]), self.state(&[1, rows, cols, channels]));
        let joined = self.joined(3, [held, x]);
        let y = self.conv("y", joined, [rows.min(3), cols.min(3)], channels, Padding::Same);
        (x, held, y, y)
    }

    fn rows(&mut self, [rows, cols]: [usize; 2], inputs: usize, channels: usize) -> Made {
        let before = 2;
        let (x, held) = (self.input(&[1, rows, cols, inputs]), self.state(&[1, before, cols, channels]));
        let made = self.conv("made", x, [1, 1], channels, Padding::Valid);
        let joined = self.joined(1, [held, made]);
        let y = self.conv("y", joined, [before + 1, 1], channels, Padding::Valid);
        let shape = [1, before + rows, cols, channels];
        let (begin, size) = (vec![0, rows, 0, 0], vec![1, before, cols, channels]);
        let last = Slice { begin, size, ..Slice::whole(&shape) };
        let spec = self.spec("last");
        let next = self.builder.node(last, &[Some(joined)], spec).unwrap();
        (x, held, next, y)
    }
}
