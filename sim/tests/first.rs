//! The first event of a layer, if it is not that of the first product that overflows.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Padding};
use guardbit_hwmodels::{Accelerator, Array, Dataflow, Memory, Reduce, Terms};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

const ROWS: usize = 16;
const TERMS: usize = ROWS + 1;
const CHANNELS: usize = 17;

/// Checks the first event of one dot product per channel over an array of [`ROWS`] rows. Products are 1, except
/// for one of 100 at the end of the first pass, and the only one of the second pass, also of 100, which is added
/// while sums of the first still move down the columns.
fn check(reduce: Reduce, chain: u32, acc: u32) {
    let loud = |k: usize| if k == ROWS - 1 || k == ROWS { 100 } else { 1 };
    let sample: Vec<i32> = (0..TERMS).map(loud).collect();
    let weights = (quantized(&[CHANNELS, 1, 1, TERMS], DType::Int8, 1.0, 0), vec![1; CHANNELS * TERMS]);
    let x = quantized(&[1, 1, 1, TERMS], DType::Int8, 1.0, 0);
    let graph =
        one_layer(conv2d(1, Padding::Valid), x, Some(weights), None, output("y", DType::Int8, 16.0, 0));
    let level = |name, terms, bits| serial(name, terms, register(bits, Overflow::Saturate));
    let mut levels = vec![level("chain", Terms::Count(ROWS), chain), level("acc", Terms::All, acc)];
    levels[0].reduce = reduce;
    let plain = accelerator(datapath(levels));
    let memory = Memory { dram_bytes_per_cycle: 1e6, dram_latency_cycles: 0, ..plain.memory };
    let accelerator = Accelerator {
        array: Array::new(ROWS, CHANNELS, 1),
        dataflow: Dataflow::WeightStationary,
        memory,
        ..plain
    };
    let program = program(&graph, &accelerator);
    let timing = &program.mac_layers().next().unwrap().timing;
    let cycle = |k| timing.place(Default::default(), k, 0).cycle;
    assert!(cycle(ROWS) < cycle(ROWS - 1), "{:?}", [cycle(ROWS - 1), cycle(ROWS)]);
    let first = |engine, isa| {
        let stats = StatsLevel::Events;
        let options = Options { engine, isa, stats, events_per_layer: 0, ..Options::default() };
        run(&program, std::slice::from_ref(&sample), options).unwrap().stats.first_event_cycle
    };
    let expected = first(Engine::Reference, None);
    assert!(expected.is_some());
    if chain < 8 {
        assert_eq!(expected, Some(cycle(ROWS)), "of the second pass");
    }
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        assert_eq!(first(Engine::Fast, Some(isa)), expected, "{reduce:?} {chain} {acc} {isa:?}");
    }
}

#[test]
fn a_pass_overtakes_the_one_before() {
    check(Reduce::Serial, 7, 20);
}

/// No sum of the innermost level overflows.
#[test]
fn an_outer_level_overflows_alone() {
    check(Reduce::Serial, 20, 8);
    check(Reduce::Tree, 20, 8);
}
