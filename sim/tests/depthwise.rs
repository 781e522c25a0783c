//! Mappings of groups change cycles and places, but no value.

use std::sync::Arc;

use crate::common;
use crate::common::network::network_case;
use crate::common::{accelerator, conv2d, datapath, one_layer, output, quantized, register, serial};
use guardbit_graph::ops::{Conv2d, DepthwiseConv2d};
use guardbit_graph::{DType, Graph, Padding, Quantization, TensorType};
use guardbit_hwmodels::{
    Accelerator, Axis, Dataflow, Depthwise, Program, ReductionOrder, Terms, Walk, ZeroPoint, lower,
};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Keep, LayerStats, Mode, Options, Placing, Simulation, StatsLevel};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::sample::select;

fn options(engine: Engine, isa: Option<Isa>, mode: Mode) -> Options {
    Options {
        engine,
        isa,
        mode,
        stats: StatsLevel::Full,
        placing: Placing::All,
        events_per_layer: 20,
        events_per_sample: true,
        keep: Keep::All,
    }
}

/// Returns the reference engine, then the fast engine with every body that this CPU supports.
fn engines(mode: Mode) -> impl Iterator<Item = Options> {
    let fast = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let fast = fast.map(move |isa| options(Engine::Fast, Some(isa), mode));
    std::iter::once(options(Engine::Reference, None, mode)).chain(fast)
}

type Ran = (Vec<String>, Vec<Option<LayerStats>>);

fn run(program: &Program, samples: &[Vec<i32>], options: Options) -> Ran {
    let mut simulation = Simulation::new(program, options);
    let samples: Vec<_> = samples.iter().map(|sample| vec![sample.clone()]).collect();
    let tensors = simulation.run_batch(&samples).unwrap();
    (tensors.iter().map(|tensors| format!("{tensors:?}")).collect(), simulation.finish())
}

/// Returns the events of every level.
fn events(stats: &[Option<LayerStats>]) -> Vec<u64> {
    stats.iter().flatten().flat_map(|layer| layer.levels.iter().map(|level| level.total().events())).collect()
}

/// Returns the accelerator with the mapping on every layer.
fn with(accelerator: &Accelerator, dataflow: Dataflow, depthwise: Depthwise, rows: usize) -> Accelerator {
    let mut changed = accelerator.clone();
    changed.dataflow = dataflow;
    (changed.array.rows, changed.array.depthwise) = (rows, depthwise);
    changed.layers = Default::default();
    for (name, own) in accelerator.layers.iter() {
        changed.layers.insert(name.to_owned(), with(own, dataflow, depthwise, rows));
    }
    changed
}

/// Returns a depthwise convolution with its inputs, on levels of a chain and a sum, and the equivalent dense
/// one.
#[derive(Debug, Clone)]
struct Diagonal {
    channels: usize,
    kernel: [usize; 2],
    zero_points: [i32; 2],
    fold: bool,
    /// Returns the number of groups that a chain holds.
    shared: usize,
    bits: [u32; 2],
    overflow: [Overflow; 2],
    weights: Vec<i32>,
    sample: Vec<i32>,
}

const SIZE: usize = 4;

fn diagonals() -> impl Strategy<Value = Diagonal> {
    // `observe` counts an addition of 0 to a value out of range, and `trap` stops.
    let modes = || {
        let all = Overflow::ALL.into_iter();
        select(all.filter(|mode| ![Overflow::Observe, Overflow::Trap].contains(mode)).collect::<Vec<_>>())
    };
    let sizes = (1..5usize, [1..4usize, 1..4usize], [-128..=127i32, -128..=127i32], any::<bool>(), 1..4usize);
    (sizes, [9..18u32, 9..20u32], [modes(), modes()]).prop_flat_map(
        |((channels, kernel, zero_points, fold, shared), bits, overflow)| {
            let code = || prop_oneof![-128..=127i32, select(vec![-128, 127])];
            let weights = prop::collection::vec(code(), channels * kernel[0] * kernel[1]);
            let sample = prop::collection::vec(code(), SIZE * SIZE * channels);
            (weights, sample).prop_map(move |(weights, sample)| Diagonal {
                channels,
                kernel,
                zero_points,
                fold,
                shared,
                bits,
                overflow,
                weights,
                sample,
            })
        },
    )
}

impl Diagonal {
    /// If raw codes are multiplied, the zeros of the matrix are the code 0.
    fn weight_zero_point(&self) -> i32 {
        if self.fold { 0 } else { self.zero_points[1] }
    }

    fn weights(&self, shape: &[usize]) -> TensorType {
        let quantization = Some(Quantization::per_tensor(0.02, self.weight_zero_point()).unwrap());
        TensorType { shape: shape.into(), dtype: DType::Int8, quantization }
    }

    fn graph(&self, op: impl Into<guardbit_graph::Op>, shape: &[usize], weights: Vec<i32>) -> Graph {
        let x = quantized(&[1, SIZE, SIZE, self.channels], DType::Int8, 0.1, self.zero_points[0]);
        one_layer(op, x, Some((self.weights(shape), weights)), None, output("y", DType::Int8, 4.0, 3))
    }

    fn depthwise(&self) -> Graph {
        let [kh, kw] = self.kernel;
        let Conv2d { stride, dilation, padding, activation, requantize } = conv2d(1, Padding::Same);
        let op = DepthwiseConv2d { stride, dilation, padding, activation, requantize };
        self.graph(op, &[1, kh, kw, self.channels], self.weights.clone())
    }

    /// Channel `c` only reads channel `c`; all other weights are zero.
    fn dense(&self) -> Graph {
        let ([kh, kw], channels) = (self.kernel, self.channels);
        let code = |index: usize| {
            let (c, cell, from) =
                (index / channels / (kh * kw), index / channels % (kh * kw), index % channels);
            if c == from { self.weights[cell * channels + c] } else { self.weight_zero_point() }
        };
        let weights = (0..channels * kh * kw * channels).map(code).collect();
        self.graph(conv2d(1, Padding::Same), &[channels, kh, kw, channels], weights)
    }

    /// Tests chains of whole groups, one after the other.
    fn accelerator(&self) -> Accelerator {
        let [chain, acc] = [0, 1].map(|level| register(self.bits[level], self.overflow[level]));
        let terms = self.kernel[0] * self.kernel[1] * self.shared;
        let mut path =
            datapath(vec![serial("chain", Terms::Count(terms), chain), serial("acc", Terms::All, acc)]);
        path.order =
            ReductionOrder { axes: [Axis::Ic, Axis::Kh, Axis::Kw], walk: Walk::Forward, ic_block: None };
        path.operands.zero_point = if self.fold { ZeroPoint::Fold } else { ZeroPoint::Subtract };
        accelerator(path)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(150),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The mapping affects neither codes nor events of a layer, and the engines agree on every figure and
    /// place.
    #[test]
    fn no_mapping_changes_a_value(
        case in network_case(),
        dataflow in select(Dataflow::ALL.to_vec()),
        mode in select(Mode::ALL.to_vec()),
        rows in 1..40usize,
    ) {
        let program = |depthwise| {
            lower(Arc::clone(&case.graph), &with(&case.accelerator, dataflow, depthwise, rows)).unwrap()
        };
        let (codes, stats) =
            run(&program(Depthwise::ByKind), &case.samples, options(Engine::Reference, None, mode));
        for depthwise in [Depthwise::Serial, Depthwise::BlockDiagonal, Depthwise::OwnInputs] {
            let program = program(depthwise);
            let mut reference: Option<Ran> = None;
            for options in engines(mode) {
                let found = run(&program, &case.samples, options);
                let expected = reference.get_or_insert_with(|| found.clone());
                prop_assert_eq!(&found, &*expected, "{} {:?}", depthwise, options);
            }
            let (found, found_stats) = reference.unwrap();
            prop_assert_eq!(found, codes.clone());
            prop_assert_eq!(events(&found_stats), events(&stats));
        }
    }

    /// In a block-diagonal matrix, zeros of other groups before, after and between the terms change no code
    /// and no event, in chains that hold whole groups.
    #[test]
    fn zeros_change_no_sum(diagonal in diagonals(), engine in select(vec![Engine::Reference, Engine::Fast])) {
        let [alone, dense] = [diagonal.depthwise(), diagonal.dense()].map(|graph| {
            let program = common::program(&graph, &diagonal.accelerator());
            let mut simulation = Simulation::new(&program, options(engine, None, Mode::Propagated));
            let tensors = simulation.run_batch(&[vec![diagonal.sample.clone()]]).unwrap();
            let y = graph.outputs()[0].index();
            let codes: Vec<_> =
                tensors.iter().map(|sample| sample.simulated[y].as_ref().map(|codes| codes.to_vec())).collect();
            (codes, events(&simulation.finish()))
        });
        prop_assert_eq!(alone, dense);
    }
}
