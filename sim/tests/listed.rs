//! Lists of events contain the first events of a layer, for any limit, even if many happen in one cycle.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Graph, Padding};
use guardbit_hwmodels::{Accelerator, Array, Dataflow, Terms};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Keep, Mode, Options, Placing, StatsLevel};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

const CHANNELS: usize = 64;
const TERMS: usize = 5;

/// Returns a 1x1 convolution of 16 pixels and 64 channels with random weights.
fn layer() -> Graph {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let weights = (0..CHANNELS * TERMS).map(|_| random.next_u32() as i8 as i32).collect();
    one_layer(
        conv2d(1, Padding::Valid),
        quantized(&[1, 4, 4, TERMS], DType::Int8, 1.0, 0),
        Some((quantized(&[CHANNELS, 1, 1, TERMS], DType::Int8, 1.0, 0), weights)),
        None,
        output("y", DType::Int8, 256.0, 0),
    )
}

/// Returns an array on which several channels and pixels begin in one cycle.
fn array(dataflow: Dataflow, rows: usize) -> Accelerator {
    let levels = vec![serial("acc", Terms::All, register(11, Overflow::Saturate))];
    Accelerator { array: Array::new(rows, CHANNELS, 1), dataflow, ..accelerator(datapath(levels)) }
}

fn check(dataflow: Dataflow, rows: usize, stats: StatsLevel) {
    let program = program(&layer(), &array(dataflow, rows));
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let mut sample = || (0..16 * TERMS).map(|_| random.next_u32() as i8 as i32).collect::<Vec<i32>>();
    let samples = [sample(), sample()];
    let options = Options {
        engine: Engine::Reference,
        isa: None,
        mode: Mode::Propagated,
        stats,
        placing: Placing::First,
        events_per_layer: usize::MAX >> 8,
        events_per_sample: true,
        keep: Keep::All,
    };
    let all = run(&program, &samples, options).unwrap().stats.events;
    assert!(all.len() > 1000, "{} events", all.len());
    for events_per_layer in (1..200).chain([all.len() - 1, all.len(), all.len() + 1]) {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let options = Options { engine: Engine::Fast, isa: Some(isa), events_per_layer, ..options };
            let listed = run(&program, &samples, options).unwrap().stats.events;
            let first = &all[..events_per_layer.min(all.len())];
            let other = listed.iter().zip(first).position(|(a, b)| a != b);
            assert_eq!((listed.len(), other), (first.len(), None), "{options:?}, {rows} rows");
        }
    }
}

#[test]
fn short_lists_are_the_first_events() {
    for dataflow in [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::Vector] {
        for rows in [1, 4, 16] {
            check(dataflow, rows, StatsLevel::Events);
        }
    }
    check(Dataflow::OutputStationary, 4, StatsLevel::Full);
}
