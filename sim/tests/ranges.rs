//! Samples that run in several ranges of pixels.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Padding};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

const ROWS: usize = 80;
const COLUMNS: usize = 64;
const INPUTS: usize = 128;
const CHANNELS: usize = 17;

/// Rows without possible overflows lie between rows in which everything overflows. From the first of the
/// latter on, every range has codes of its own, including those of quiet rows.
#[test]
fn quiet_rows_between_loud_ones() {
    let activation = |index: usize| if index / (COLUMNS * INPUTS) % 3 == 1 { 250 } else { 1 };
    let sample: Vec<i32> = (0..ROWS * COLUMNS * INPUTS).map(activation).collect();
    let weights: Vec<i32> = (0..CHANNELS * INPUTS).map(|i| 4 + (i % 3) as i32).collect();
    let shape = [CHANNELS, 1, 1, INPUTS];
    let weights = Some((quantized(&shape, DType::Int8, 1.0, 0), weights));
    let x = quantized(&[1, ROWS, COLUMNS, INPUTS], DType::UInt8, 1.0, 0);
    let graph = one_layer(conv2d(1, Padding::Valid), x, weights, None, output("y", DType::Int8, 4096.0, 0));
    for overflow in [Overflow::Saturate, Overflow::Wrap] {
        let level = serial("acc", Terms::All, register(16, overflow));
        let program = program(&graph, &accelerator(datapath(vec![level])));
        let with = |engine, isa| {
            let options = Options { engine, isa, stats: StatsLevel::Events, ..Options::default() };
            run(&program, std::slice::from_ref(&sample), options).unwrap()
        };
        let reference = with(Engine::Reference, None);
        assert!(reference.stats.levels[0].channels[0].events() > 0);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let fast = with(Engine::Fast, Some(isa));
            assert_eq!(reference.tensors, fast.tensors, "{overflow:?} {isa:?}");
            assert_eq!(reference.stats, fast.stats, "{overflow:?} {isa:?}");
        }
    }
}
