//! Golden table of statistics of narrow accumulation: data from a defined LCG, every figure from an external
//! source.
//!
//! `x = 1664525 x + 1013904223 mod 2^32`, seed 1, each draw `x >> 16`; per dot product K activations
//! (`draw mod 2^N`), then K weights (`draw mod 2^M - 2^(M-1)`).

use crate::common::{accelerator, datapath, independent_dots, program, register, run, serial};
use guardbit_graph::DType;
use guardbit_hwmodels::{Terms, Walk};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, LayerStats, Options};

struct Lcg(u32);

impl Lcg {
    fn draw(&mut self) -> i32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) as i32
    }
}

struct Set {
    activation: DType,
    weight: DType,
    k: usize,
    activations: Vec<i32>,
    weights: Vec<i32>,
}

fn set(activation: DType, weight: DType, k: usize, dots: usize) -> Set {
    let mut lcg = Lcg(1);
    let (mut activations, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..dots {
        activations.extend((0..k).map(|_| lcg.draw() % (activation.max() + 1)));
        weights.extend((0..k).map(|_| lcg.draw() % (2 * (weight.max() + 1)) + weight.min()));
    }
    Set { activation, weight, k, activations, weights }
}

fn w4a4() -> Set {
    set(DType::UInt4, DType::Int4, 256, 1000)
}

fn w8a8() -> Set {
    set(DType::UInt8, DType::Int8, 576, 300)
}

fn stats(set: &Set, bits: u32, overflow: Overflow, walk: Walk, engine: Engine) -> LayerStats {
    let graph = independent_dots(set.activation, set.weight, set.k, set.weights.clone());
    let mut path = datapath(vec![serial("acc", Terms::All, register(bits, overflow))]);
    path.order.walk = walk;
    let program = program(&graph, &accelerator(path));
    let options = Options { engine, ..Options::default() };
    run(&program, std::slice::from_ref(&set.activations), options).unwrap().stats
}

/// Row of the table.
struct Row {
    bits: u32,
    persistent: u64,
    /// Figures for forward, reverse and stride 16; greedy order has none.
    transient: [u64; 3],
    wrong: u64,
    events: u64,
    error_saturate: u128,
    error_wrap: u128,
}

const fn row(
    bits: u32,
    persistent: u64,
    transient: [u64; 3],
    wrong: u64,
    events: u64,
    error_saturate: u128,
    error_wrap: u128,
) -> Row {
    Row { bits, persistent, transient, wrong, events, error_saturate, error_wrap }
}

const W4A4: [Row; 5] = [
    row(9, 877, [122, 122, 123], 999, 31044, 879_478, 972_288),
    row(10, 751, [168, 161, 170], 918, 20181, 661_324, 973_824),
    row(11, 434, [114, 118, 116], 548, 8556, 283_353, 888_832),
    row(12, 53, [11, 12, 15], 64, 552, 17120, 217_088),
    row(13, 0, [0, 0, 0], 0, 0, 0, 0),
];

const W8A8: [Row; 4] = [
    row(18, 182, [112, 117, 113], 294, 8715, 49_885_608, 58_458_112),
    row(19, 87, [92, 96, 89], 179, 2977, 22_773_676, 46_137_344),
    row(20, 17, [5, 12, 8], 22, 326, 2_416_312, 17_825_792),
    row(21, 0, [0, 0, 0], 0, 0, 0, 0),
];

fn check(set: &Set, row: &Row, engine: Engine) {
    let bits = row.bits;
    let walks = [Walk::Forward, Walk::Reverse, Walk::Stride(16), Walk::Greedy];
    for (walk, transient) in walks.into_iter().zip(row.transient.into_iter().chain([0])) {
        for overflow in [Overflow::Saturate, Overflow::Wrap] {
            let stats = stats(set, bits, overflow, walk.clone(), engine);
            let level = stats.levels[0].total();
            let errors = stats.total();
            assert_eq!(level.persistent, row.persistent, "persistent, P {bits}, {walk:?}, {overflow}");
            assert_eq!(level.transient, transient, "transient, P {bits}, {walk:?}, {overflow}");
            if overflow == Overflow::Wrap {
                assert_eq!(errors.sum_abs_err, row.error_wrap, "error, P {bits}, wrap, {walk:?}");
                assert_eq!(errors.wrong, row.persistent, "wrap is wrong exactly where persistent");
            } else if walk == Walk::Forward {
                assert_eq!(errors.wrong, row.wrong, "wrong, P {bits}");
                assert_eq!(level.events(), row.events, "events, P {bits}");
                assert_eq!(errors.sum_abs_err, row.error_saturate, "error, P {bits}, saturate");
            }
        }
    }
}

#[test]
fn four_bit_operands() {
    W4A4.iter().for_each(|row| check(&w4a4(), row, Engine::Fast));
}

#[test]
fn eight_bit_operands() {
    W8A8.iter().for_each(|row| check(&w8a8(), row, Engine::Fast));
}

#[test]
fn the_reference_engine_gives_the_same_table() {
    W4A4.iter().for_each(|row| check(&w4a4(), row, Engine::Reference));
    W8A8.iter().for_each(|row| check(&w8a8(), row, Engine::Reference));
}

#[test]
fn the_data_are_those_of_the_table() {
    let extremes = |set: &Set| {
        let stats = stats(set, 40, Overflow::Saturate, Walk::Forward, Engine::Fast);
        let level = stats.levels[0].total();
        level.max_prefix.max(-level.min_prefix)
    };
    assert_eq!(extremes(&w4a4()), 3012);
    assert_eq!(extremes(&w8a8()), 821_196);

    let sum_of_dots = |set: &Set| -> i64 {
        let pairs = set.activations.iter().zip(&set.weights);
        pairs.map(|(&x, &w)| i64::from(x) * i64::from(w)).sum()
    };
    assert_eq!(sum_of_dots(&w4a4()), -933_950);
    assert_eq!(sum_of_dots(&w8a8()), -5_739_111);
}
