//! Compares sums of single dot products with the statistics of all of them.

use crate::common::random::{self, Case};
use crate::common::{program, run};
use guardbit_graph::Graph;
use guardbit_hwmodels::Register;
use guardbit_num::required_bits;
use guardbit_sim::{Codes, Options, Reads, delivered_sums, unbounded_sums};
use guardbit_testing::cases;
use proptest::prelude::*;

fn activations(graph: &Graph, sample: &[i32]) -> Codes {
    Codes::new(graph.tensor(graph.inputs()[0]).ty.dtype, sample).unwrap()
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    let layer = program.mac_layers().next().unwrap();
    let stats = run(&program, &case.samples, Options::default()).unwrap().stats;
    let window = &layer.dots.window;
    let channel_of = |index: usize| window.output_position(index).c;
    let mut wrong = vec![0u64; window.channels()];
    let levels = layer.datapath.levels.len();
    let mut extremes = vec![vec![(0i128, 0i128, 1u32); window.channels()]; levels];
    let shift = layer.datapath.unit_shift(levels);
    for (number, sample) in case.samples.iter().enumerate() {
        let codes = activations(&case.graph, sample);
        let reads = Reads { activations: &codes, weights: layer.dots.streams_weights().then_some(&codes) };
        for (index, sum) in delivered_sums(layer, reads, number).into_iter().enumerate() {
            wrong[channel_of(index)] += u64::from(sum.delivered << shift != sum.exact);
        }
        for (index, sums) in unbounded_sums(layer, reads, number).into_iter().enumerate() {
            for (level, sums) in sums.into_iter().enumerate() {
                let signed = match layer.datapath.levels[level].register {
                    Register::Auto => true,
                    Register::Fixed { format, .. } => format.is_signed(),
                };
                let (min, max, bits) = &mut extremes[level][channel_of(index)];
                (*min, *max) = ((*min).min(sums.min_prefix), (*max).max(sums.max_prefix));
                *bits = sums.finals.iter().map(|&sum| required_bits(sum, signed)).fold(*bits, u32::max);
            }
        }
    }
    let counted: Vec<u64> = stats.channels.iter().map(|channel| channel.wrong).collect();
    prop_assert_eq!(wrong, counted);
    for (level, channels) in extremes.into_iter().enumerate() {
        for (seen, extremes) in stats.levels[level].channels.iter().zip(channels) {
            prop_assert_eq!((seen.min_prefix, seen.max_prefix, seen.required_final), extremes);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn single_sums_make_the_statistics(case in random::case()) {
        check(&case)?;
    }
}
