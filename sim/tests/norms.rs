//! Dot products whose operands are parallel: their sums are the product of the norms, so that windows which fit by that
//! and windows which do not lie next to each other.

mod common;

use common::{accelerator, datapath, one_layer, output, program, quantized, register, run, serial};
use guardbit_graph::ops::FullyConnected;
use guardbit_graph::{Activation, DType};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

const TERMS: usize = 256;
const CHANNELS: usize = 17;

/// 256 products of 64 and 64 are 2^20, one more than the greatest sum of 21 bits; of their negatives the same number of
/// either sign, and the least sum.
#[test]
fn parallel_operands_next_to_the_rails() {
    for (dtype, activation) in [(DType::UInt8, 64), (DType::Int8, 64), (DType::Int8, -64)] {
        for weight in [64, -64] {
            for less in 0..3 {
                check(dtype, activation, weight, less);
            }
        }
    }
}

/// With `less` taken off the magnitude of the first activation.
fn check(dtype: DType, activation: i32, weight: i32, less: i32) {
    let weights = quantized(&[CHANNELS, TERMS], DType::Int8, 1.0, 0);
    let weights = Some((weights, vec![weight; CHANNELS * TERMS]));
    let op =
        FullyConnected { activation: Activation::None, keep_num_dims: false, requantize: common::REQUANTIZE };
    let x = quantized(&[1, TERMS], dtype, 1.0, 0);
    let graph = one_layer(op, x, weights, None, output("y", DType::Int8, 8192.0, 0));
    let mut sample = vec![activation; TERMS];
    sample[0] -= less * activation.signum();
    for bits in 19..=23 {
        for overflow in [Overflow::Saturate, Overflow::Wrap] {
            let level = serial("acc", Terms::All, register(bits, overflow));
            let program = program(&graph, &accelerator(datapath(vec![level])));
            let with = |engine, isa| {
                let options = Options { engine, isa, stats: StatsLevel::Events, ..Options::default() };
                run(&program, std::slice::from_ref(&sample), options).unwrap()
            };
            let reference = with(Engine::Reference, None);
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let fast = with(Engine::Fast, Some(isa));
                let case = (dtype, activation, weight, less, bits, overflow, isa);
                assert_eq!(reference.tensors, fast.tensors, "{case:?}");
                assert_eq!(reference.stats, fast.stats, "{case:?}");
            }
        }
    }
}
