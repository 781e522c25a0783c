//! Activations many of which are 0, unevenly over the windows: their products change no sum and cannot
//! overflow.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Padding};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

/// Rows and columns, input and output channels.
const SIZE: usize = 6;
const INPUTS: usize = 32;
const CHANNELS: usize = 17;

#[test]
fn activations_of_all_signs() {
    let mut random = Random(1);
    let weights: Vec<i32> = (0..CHANNELS * 9 * INPUTS).map(|_| random.below(255) as i32 - 127).collect();
    for (dtype, zero_point) in [(DType::UInt8, 0), (DType::Int8, -128), (DType::Int8, 3)] {
        check(dtype, zero_point, &weights, &mut random);
    }
}

/// Products of 16 bits, from factors of few and of many bits: their signs are not where those of products of
/// two bytes are.
#[test]
fn weights_of_more_than_nine_bits() {
    let mut random = Random(3);
    let weights: Vec<i32> = (0..CHANNELS * 9 * INPUTS).map(|_| random.below(4369) as i32 - 2184).collect();
    for (dtype, zero_point) in [(DType::UInt4, 0), (DType::Int4, 2)] {
        check(dtype, zero_point, &weights, &mut random);
    }
}

/// Every addition overflows, in one direction: as many times as there are products.
#[test]
fn all_overflow_above_or_below() {
    for weight in [127, -127] {
        check(DType::UInt8, 0, &[weight; CHANNELS * 9 * INPUTS], &mut Random(2));
    }
}

fn check(dtype: DType, zero_point: i32, weights: &[i32], random: &mut Random) {
    let shape = [CHANNELS, 3, 3, INPUTS];
    let is_byte = weights.iter().all(|&weight| DType::Int8.saturate(weight.into()) == weight);
    let weight_type = if is_byte { DType::Int8 } else { DType::Int16 };
    let weights = Some((quantized(&shape, weight_type, 1.0, 0), weights.to_vec()));
    let x = quantized(&[1, SIZE, SIZE, INPUTS], dtype, 1.0, zero_point);
    let y = output("y", DType::Int8, 4096.0, 0);
    let graph = one_layer(conv2d(1, Padding::Same), x, weights, None, y);
    let densities = [&[1][..], &[1, 7, usize::MAX]];
    let samples = densities.map(|one_in| sample(dtype, zero_point, one_in, random));
    for bits in [8, 14, 15, 16] {
        for overflow in [Overflow::Saturate, Overflow::Wrap] {
            let level = serial("acc", Terms::All, register(bits, overflow));
            let program = program(&graph, &accelerator(datapath(vec![level])));
            for stats in [StatsLevel::Values, StatsLevel::Events, StatsLevel::Full] {
                let with = |engine, isa| {
                    let options = Options { engine, isa, stats, ..Options::default() };
                    run(&program, &samples, options).unwrap()
                };
                let reference = with(Engine::Reference, None);
                for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                    let fast = with(Engine::Fast, Some(isa));
                    let case = (dtype, zero_point, bits, overflow, stats, isa);
                    assert_eq!(reference.tensors, fast.tensors, "{case:?}");
                    assert_eq!(reference.stats, fast.stats, "{case:?}");
                }
            }
        }
    }
}

/// Returns codes of which about one in `one_in` is nonzero, position by position.
fn sample(dtype: DType, zero_point: i32, one_in: &[usize], random: &mut Random) -> Vec<i32> {
    let mut codes = Vec::new();
    for _ in 0..SIZE * SIZE {
        let one_in = one_in[random.below(one_in.len())];
        for _ in 0..INPUTS {
            let code = dtype.min() + random.below(1 << dtype.bits()) as i32;
            codes.push(if random.below(one_in) == 0 { code } else { zero_point });
        }
    }
    codes
}

/// Multiplicative congruential generator (L'Ecuyer, "Tables of linear congruential generators", 1999).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(3_935_559_000_370_003_845).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}
