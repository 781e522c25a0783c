//! Proved widths against the simulator: nothing exceeds them, and a witness shows that one bit less is too few.

mod common;

use common::random::{self, Case};
use common::{accelerator, datapath, independent_dots, program, register, run, serial};
use guardbit_graph::DType;
use guardbit_hwmodels::bounds::{LayerBounds, Witness, network_sums};
use guardbit_hwmodels::{Datapath, MacLayer, Program, Register, Terms};
use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow};
use guardbit_sim::{ChannelLevel, Options};
use proptest::prelude::*;

/// The counts of one channel at the last level.
fn last_level(program: &Program, input: &[i32], channel: usize) -> ChannelLevel {
    let ran = run(program, &[input.to_vec()], Options::default()).unwrap();
    ran.stats.levels.last().unwrap().channels[channel].clone()
}

fn only_layer(program: &Program) -> &MacLayer {
    program.mac_layers().next().unwrap()
}

/// Every level wide, the last one of `bits`.
fn with_width(datapath: &Datapath, bits: u32) -> Datapath {
    let mut datapath = datapath.clone();
    let last = datapath.levels.len() - 1;
    for (index, level) in datapath.levels.iter_mut().enumerate() {
        let signed = !matches!(level.register, Register::Fixed { format, .. } if !format.is_signed());
        let bits = if index == last { bits } else { MAX_BITS };
        let format = Format::new(bits, signed).unwrap();
        level.register = Register::Fixed { format, overflow: Overflow::Wrap };
    }
    datapath
}

fn check_witness(case: &Case) -> Result<(), TestCaseError> {
    let wide = program(&case.graph, &case.accelerator);
    let layer = only_layer(&wide);
    let bounds = LayerBounds::new(&case.graph, layer);
    let last = layer.datapath.levels.len() - 1;
    let witness = Witness::new(&case.graph, layer, &bounds).unwrap();
    let seen = last_level(&wide, &witness.input, witness.channel);
    prop_assert!(seen.min_prefix <= witness.sum && witness.sum <= seen.max_prefix);
    if !witness.attained {
        prop_assert!(witness.bits <= bounds.weight_bits(last));
        return Ok(());
    }
    prop_assert_eq!(witness.bits, bounds.weight_bits(last));
    prop_assert!([seen.min_prefix, seen.max_prefix].contains(&witness.sum));
    prop_assert_eq!(seen.required_final, witness.bits);
    let persistent = |bits| {
        let mut accelerator = case.accelerator.clone();
        accelerator.datapath = with_width(&accelerator.datapath, bits);
        last_level(&program(&case.graph, &accelerator), &witness.input, witness.channel).persistent
    };
    if (MIN_BITS..=MAX_BITS).contains(&witness.bits) {
        prop_assert_eq!(persistent(witness.bits), 0);
    }
    if (MIN_BITS + 1..=MAX_BITS + 1).contains(&witness.bits) {
        prop_assert!(persistent(witness.bits - 1) > 0);
    }
    Ok(())
}

fn check_soundness(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    let layer = only_layer(&program);
    let bounds = LayerBounds::new(&case.graph, layer);
    let sums = network_sums(&program).swap_remove(0).unwrap();
    let ran = run(&program, &case.samples, Options::default()).unwrap();
    for (level, seen) in ran.stats.levels.iter().enumerate() {
        for (channel, seen) in seen.channels.iter().enumerate() {
            let (proved, through) = (&bounds.channels[channel], sums[channel][level]);
            prop_assert!(proved.by_type[level].contains(proved.by_weights[level]));
            prop_assert!(proved.by_weights[level].contains(through));
            prop_assert!(through.min <= seen.min_prefix && seen.max_prefix <= through.max);
            prop_assert!(seen.required_prefix <= through.bits(bounds.signed[level]));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn witnesses_attain_what_is_proved(case in random::case()) {
        check_witness(&case)?;
    }

    #[test]
    fn nothing_exceeds_what_is_proved(case in random::case()) {
        check_soundness(&case)?;
    }
}

/// The bound by type is that of the worst weights, and a witness attains it.
#[test]
fn types_have_their_worst_weights() {
    let cases = [
        (DType::UInt8, DType::Int8, 9, 20),
        (DType::UInt8, DType::Int8, 64, 22),
        (DType::UInt8, DType::Int8, 256, 24),
        (DType::UInt8, DType::Int8, 576, 26),
        (DType::UInt8, DType::Int8, 4608, 29),
        (DType::Int8, DType::Int8, 576, 25),
        (DType::UInt4, DType::Int4, 64, 14),
        (DType::UInt4, DType::Int4, 128, 15),
        (DType::UInt4, DType::Int4, 576, 18),
        (DType::UInt4, DType::Int4, 4608, 21),
        (DType::Int8, DType::Int4, 4096, 24),
    ];
    for (x, w, terms, bits) in cases {
        // Least weights attain it in all of these types.
        let graph = independent_dots(x, w, terms, vec![w.min(); terms]);
        let at = |bits| {
            let level = serial("acc", Terms::All, register(bits, Overflow::Saturate));
            program(&graph, &accelerator(datapath(vec![level])))
        };
        let program = at(bits);
        let bounds = LayerBounds::new(&graph, only_layer(&program));
        assert_eq!((bounds.type_bits(0), bounds.weight_bits(0)), (bits, bits), "{x} {w} K={terms}");
        let witness = Witness::new(&graph, only_layer(&program), &bounds).unwrap();
        assert!(witness.attained);
        let events = |bits| last_level(&at(bits), &witness.input, 0).events();
        assert_eq!(events(bits), 0, "{x} {w} K={terms}");
        assert!(events(bits - 1) > 0, "{x} {w} K={terms}");
    }
}
