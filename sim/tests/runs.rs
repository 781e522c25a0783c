//! Runs of an innermost level that is stepped two windows per lane, at its limits: lengths of runs, widths of
//! lanes, sums at the rails, and more windows than counters of few bits hold.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Graph, Padding};
use guardbit_hwmodels::{Accelerator, Array, BiasPlace, Dataflow, Level, Reduce, Terms};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Keep, Options, Placing, StatsLevel};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

const SIDE: usize = 7;
const DEPTH: usize = 10;
const CHANNELS: usize = 21;

/// Codes of int8: random ones, the two ends, or only the least one.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Random,
    Ends,
    Least,
}

fn codes(seed: u64, count: usize, kind: Kind) -> Vec<i32> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut code = || {
        let byte = random.next_u32() as i8;
        match kind {
            Kind::Random => byte,
            Kind::Ends if byte < 0 => i8::MIN,
            Kind::Ends => i8::MAX,
            Kind::Least => i8::MIN,
        }
    };
    (0..count).map(|_| i32::from(code())).collect()
}

/// Returns a 2x2 convolution over an odd number of columns: 36 windows, with the last one of each second pair
/// of rows unpaired.
fn layer(kind: Kind, zero_point: i32) -> Graph {
    layer_of_depth(DEPTH, kind, zero_point)
}

fn layer_of_depth(depth: usize, kind: Kind, zero_point: i32) -> Graph {
    let weights = codes(1, CHANNELS * 4 * depth, kind);
    one_layer(
        conv2d(1, Padding::Same),
        quantized(&[1, SIDE, SIDE, depth], DType::Int8, 1.0, zero_point),
        Some((quantized(&[CHANNELS, 2, 2, depth], DType::Int8, 1.0, 0), weights)),
        Some((0..CHANNELS as i32).map(|channel| 1000 * (channel - 10)).collect()),
        output("y", DType::Int8, 256.0, 0),
    )
}

fn check(graph: &Graph, kind: Kind, accelerator: &Accelerator) {
    let program = program(graph, accelerator);
    let count = graph.tensor(graph.inputs()[0]).ty.len();
    let samples = [codes(2, count, kind), codes(3, count, kind)];
    let full = (StatsLevel::Full, Placing::First);
    for (stats, placing) in StatsLevel::ALL.map(|stats| (stats, Placing::All)).into_iter().chain([full]) {
        let options = Options { stats, placing, keep: Keep::All, events_per_layer: 3, ..Options::default() };
        let reference = Options { engine: Engine::Reference, ..options };
        let expected = run(&program, &samples, reference).unwrap();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let ran = run(&program, &samples, Options { isa: Some(isa), ..options }).unwrap();
            let levels = &accelerator.datapath.levels;
            assert_eq!(ran.tensors, expected.tensors, "{isa:?} {stats:?} {kind:?} {levels:?}");
            assert_eq!(ran.stats, expected.stats, "{isa:?} {stats:?} {kind:?} {levels:?}");
        }
    }
}

/// Returns the innermost level with 18 bits, on an array.
fn hardware(inner: Level, at: BiasPlace, dataflow: Dataflow, cols: usize, dot_width: usize) -> Accelerator {
    let mut path = datapath(vec![inner, serial("acc", Terms::All, register(18, Overflow::Saturate))]);
    path.bias.at = at;
    Accelerator { array: Array::new(16, cols, dot_width), dataflow, ..accelerator(path) }
}

#[test]
fn lengths_and_widths() {
    for (kind, zero_point) in [(Kind::Random, 0), (Kind::Ends, 1), (Kind::Least, 0)] {
        let graph = layer(kind, zero_point);
        for (bits, overflow) in [
            (14, Overflow::Saturate),
            (15, Overflow::SaturateSymmetric),
            (16, Overflow::Saturate),
            (13, Overflow::Wrap),
            (15, Overflow::Wrap),
            (16, Overflow::Wrap),
        ] {
            for length in [1, 3, 16, 18, 40] {
                for reduce in [Reduce::Serial, Reduce::Tree] {
                    let inner = serial("runs", Terms::Count(length), register(bits, overflow));
                    let inner = Level { reduce, ..inner };
                    check(
                        &graph,
                        kind,
                        &hardware(inner, BiasPlace::Post, Dataflow::WeightStationary, 32, 16),
                    );
                }
            }
        }
    }
}

/// More products than lanes of 16 bits add without being flushed.
#[test]
fn long_runs() {
    for kind in [Kind::Random, Kind::Least] {
        let graph = layer_of_depth(160, kind, 0);
        for (length, reduce) in [(300, Reduce::Serial), (640, Reduce::Serial), (640, Reduce::Tree)] {
            let inner = serial("runs", Terms::Count(length), register(14, Overflow::Saturate));
            let inner = Level { reduce, ..inner };
            check(&graph, kind, &hardware(inner, BiasPlace::Post, Dataflow::OutputStationary, 32, 16));
        }
    }
}

#[test]
fn dataflows() {
    let graph = layer(Kind::Random, 5);
    for reduce in [Reduce::Serial, Reduce::Tree] {
        for dataflow in [
            Dataflow::WeightStationary,
            Dataflow::OutputStationary,
            Dataflow::InputStationary,
            Dataflow::Vector,
        ] {
            // 16 bits hold any first product: with a cycle for each, the first event is in a later one.
            for (bits, cols, dot_width) in [(14, 4, 16), (14, 64, 16), (16, 64, 1)] {
                let inner = serial("runs", Terms::Count(16), register(bits, Overflow::Saturate));
                let inner = Level { reduce, shift: 1, ..inner };
                check(&graph, Kind::Random, &hardware(inner, BiasPlace::Preload, dataflow, cols, dot_width));
            }
        }
    }
}

/// The second half of a tree falls below a value that every prefix exceeds.
#[test]
fn nodes_are_no_prefixes() {
    const HALF: usize = 64;
    let weight = |i: usize| if i % (2 * HALF) < HALF { 30 } else { -40 };
    let weights = (0..CHANNELS * 2 * HALF).map(weight).collect();
    let graph = one_layer(
        conv2d(1, Padding::Valid),
        quantized(&[1, 2, 2, 2 * HALF], DType::Int8, 1.0, 0),
        Some((quantized(&[CHANNELS, 1, 1, 2 * HALF], DType::Int8, 1.0, 0), weights)),
        None,
        output("y", DType::Int8, 16.0, 0),
    );
    let mut tree = serial("tree", Terms::Count(2 * HALF), register(12, Overflow::Saturate));
    tree.reduce = Reduce::Tree;
    let levels = vec![tree, serial("acc", Terms::All, register(20, Overflow::Saturate))];
    let program = program(&graph, &accelerator(datapath(levels)));
    let with = |engine, isa| {
        let options = Options { engine, isa, stats: StatsLevel::Events, ..Options::default() };
        run(&program, &[vec![1; 4 * 2 * HALF]], options).unwrap()
    };
    let reference = with(Engine::Reference, None);
    assert_eq!(reference.stats.levels[0].channels[0].events(), 4);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let fast = with(Engine::Fast, Some(isa));
        assert_eq!(reference.tensors, fast.tensors, "{isa:?}");
        assert_eq!(reference.stats, fast.stats, "{isa:?}");
    }
}
