//! Dot products that come as close to the rails as possible, and one further, which bounds of sums must not
//! underestimate.

use crate::common;
use crate::common::{accelerator, datapath, one_layer, output, program, quantized, register, run, serial};
use guardbit_graph::ops::FullyConnected;
use guardbit_graph::{Activation, DType};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

const CHANNELS: usize = 17;

/// Windows that fit by their norms, and windows that do not: 256 products of 64 and 64 are 2^20, one more
/// than the greatest sum of 21 bits. Their negatives give the least sum, which fits.
#[test]
fn parallel_operands_next_to_the_rails() {
    for (dtype, activation) in [(DType::UInt8, 64), (DType::Int8, 64), (DType::Int8, -64)] {
        for weight in [64, -64] {
            for less in 0..3 {
                check(dtype, &sample(activation, 256, less), &[weight; 256], 19..=23);
            }
        }
    }
}

/// Only prefixes reach the rails, and the sum is next to 0. The first half adds up to a power of two, which
/// the register only holds if negative, and the second half cancels it.
#[test]
fn prefixes_next_to_the_rails() {
    for (dtype, bits) in [(DType::Int16, 16), (DType::Int8, 8)] {
        for (half, weight) in [(1, 1), (1, -1), (2, 64), (16, 1), (16, -2), (32, 1), (32, -4), (64, 64)] {
            let mut weights = vec![weight; half];
            weights.resize(2 * half, -weight);
            let peak: i32 = half as i32 * weight;
            let width = bits + peak.unsigned_abs().ilog2();
            for less in 0..3 {
                check(dtype, &sample(dtype.min(), 2 * half, less), &weights, width - 1..=width + 1);
            }
        }
    }
}

/// More overflows in a row than a byte can count.
#[test]
fn overflows_in_a_row() {
    for (dtype, activation) in [(DType::UInt8, 255), (DType::Int8, 127), (DType::Int8, -128)] {
        for weight in [127, -127] {
            check(dtype, &sample(activation, 600, 0), &[weight; 600], 13..=17);
        }
    }
}

/// Returns `terms` equal activations, with the magnitude of the first one reduced by `less`.
fn sample(activation: i32, terms: usize, less: i32) -> Vec<i32> {
    let mut sample = vec![activation; terms];
    sample[0] -= less * activation.signum();
    sample
}

/// Tests equal weights in every channel, on registers of `widths`.
fn check(dtype: DType, sample: &[i32], weights: &[i32], widths: std::ops::RangeInclusive<u32>) {
    let terms = weights.len();
    let ty = quantized(&[CHANNELS, terms], DType::Int8, 1.0, 0);
    let op =
        FullyConnected { activation: Activation::None, keep_num_dims: false, requantize: common::REQUANTIZE };
    let x = quantized(&[1, terms], dtype, 1.0, 0);
    let graph =
        one_layer(op, x, Some((ty, weights.repeat(CHANNELS))), None, output("y", DType::Int8, 8192.0, 0));
    let samples = [sample.to_vec()];
    for bits in widths {
        for overflow in [Overflow::Saturate, Overflow::Wrap] {
            let level = serial("acc", Terms::All, register(bits, overflow));
            let program = program(&graph, &accelerator(datapath(vec![level])));
            let with = |engine, isa| {
                let options = Options { engine, isa, stats: StatsLevel::Events, ..Options::default() };
                run(&program, &samples, options).unwrap()
            };
            let reference = with(Engine::Reference, None);
            let misfits = overflowing(sample, weights, bits);
            let counted = reference.stats.levels[0].channels[0].events();
            assert_eq!(counted > 0, misfits, "{dtype} {sample:?} {weights:?} {bits} {overflow:?}");
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let fast = with(Engine::Fast, Some(isa));
                let case = (dtype, &sample, &weights, bits, overflow, isa);
                assert_eq!(reference.tensors, fast.tensors, "{case:?}");
                assert_eq!(reference.stats, fast.stats, "{case:?}");
            }
        }
    }
}

/// Returns whether some prefix of the exact sum does not fit a signed register of `bits`.
fn overflowing(sample: &[i32], weights: &[i32], bits: u32) -> bool {
    let (mut sum, limit) = (0i64, 1i64 << (bits - 1));
    sample.iter().zip(weights).any(|(&x, &w)| {
        sum += i64::from(x) * i64::from(w);
        !(-limit..limit).contains(&sum)
    })
}
