//! Compares proved widths with the simulator: nothing exceeds them, and a witness shows that one bit less is
//! too few.

use crate::common;
use crate::common::random::{self, Case};
use crate::common::{
    accelerator, conv2d, datapath, independent_dots, one_layer, output, program, quantized, register, run,
    serial,
};
use guardbit_graph::ops::Conv2d;
use guardbit_graph::{DType, Graph, OutputSpec, Padding};
use guardbit_hwmodels::bounds::{LayerBounds, TypeWitness, Witness, network_sums};
use guardbit_hwmodels::{Datapath, MacLayer, Program, Register, Terms, ZeroPoint};
use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow};
use guardbit_sim::{ChannelLevel, Options, Simulation};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Returns the counts of one channel at one level for the inputs of a witness.
fn seen_at(program: &Program, witness: &Witness, level: usize, channel: usize) -> ChannelLevel {
    let inputs = std::iter::once(&witness.input).chain(&witness.weights).cloned().collect();
    let mut simulation = Simulation::new(program, Options::default());
    simulation.run_batch::<Vec<i32>>(&[inputs]).unwrap();
    let stats = simulation.finish().into_iter().flatten().next().unwrap();
    stats.levels[level].channels[channel]
}

fn only_layer(program: &Program) -> &MacLayer {
    program.mac_layers().next().unwrap()
}

/// Returns a datapath in which every level is wide, except one of `bits` bits.
fn with_width(datapath: &Datapath, narrow: usize, bits: u32) -> Datapath {
    let mut datapath = datapath.clone();
    for (index, level) in datapath.levels.iter_mut().enumerate() {
        let signed = !matches!(level.register, Register::Fixed { format, .. } if !format.is_signed());
        let bits = if index == narrow { bits } else { MAX_BITS };
        let format = Format::new(bits, signed).unwrap();
        level.register = Register::Fixed { format, overflow: Overflow::Wrap };
    }
    datapath
}

fn check_witnesses(case: &Case) -> Result<(), TestCaseError> {
    let wide = program(&case.graph, &case.accelerator);
    let layer = only_layer(&wide);
    let bounds = LayerBounds::new(&case.graph, layer);
    for level in 0..layer.datapath.levels.len() {
        (0..bounds.channels.len())
            .try_for_each(|channel| check_witness(case, &wide, &bounds, level, channel))?;
    }
    Ok(())
}

fn check_witness(
    case: &Case,
    wide: &Program,
    bounds: &LayerBounds,
    level: usize,
    channel: usize,
) -> Result<(), TestCaseError> {
    let layer = only_layer(wide);
    // A product of a tensor with itself cannot read two different inputs.
    if layer.dots.streams_weights() && case.graph.inputs().len() < 2 {
        return Ok(());
    }
    let bits = bounds.channels[channel].proved()[level].bits(bounds.signed[level]);
    let path = &layer.datapath;
    let witness = Witness::of_channel(&case.graph, layer, bounds, level, channel);
    prop_assert!(witness.is_some() || path.order.walk.depends_on_data() || path.rounds_at_random());
    let Some(witness) = witness else { return Ok(()) };
    // The sums of a single output always reach their extremes: what it does not read, no output reads.
    let [rows, columns, _] = layer.dots.window.output;
    let zero = layer.dots.input_zero_point;
    let takes_zero = case.graph.tensor(case.graph.inputs()[0]).ty.code_range().contains(zero);
    let alone = rows * columns == 1 || layer.dots.streams_weights();
    if alone && takes_zero && path.operands.zero_point == ZeroPoint::Subtract {
        prop_assert!(witness.attained);
    }
    let seen = seen_at(wide, &witness, level, channel);
    prop_assert!(seen.min_prefix <= witness.sum && witness.sum <= seen.max_prefix);
    if !witness.attained {
        prop_assert!(witness.bits <= bits && witness.bits <= seen.required_final);
        return Ok(());
    }
    prop_assert_eq!(witness.bits, bits);
    prop_assert!([seen.min_prefix, seen.max_prefix].contains(&witness.sum));
    prop_assert_eq!(seen.required_final, bits);
    let persistent = |bits| {
        let mut accelerator = case.accelerator.clone();
        accelerator.datapath = with_width(&accelerator.datapath, level, bits);
        seen_at(&program(&case.graph, &accelerator), &witness, level, channel).persistent
    };
    if (MIN_BITS..=MAX_BITS).contains(&bits) {
        prop_assert_eq!(persistent(bits), 0);
    }
    if (MIN_BITS + 1..=MAX_BITS + 1).contains(&bits) {
        prop_assert!(persistent(bits - 1) > 0);
    }
    Ok(())
}

/// With the weights of a type's witness, the bound by weights equals the bound by type, and has a witness
/// itself.
fn check_type_witnesses(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    let layer = only_layer(&program);
    let bounds = LayerBounds::new(&case.graph, layer);
    let last = layer.datapath.levels.len() - 1;
    for (channel, found) in bounds.channels.iter().enumerate() {
        let Some(witness) = TypeWitness::of_channel(&case.graph, layer, &bounds, channel) else { continue };
        prop_assert_eq!(witness.bits, found.by_type[last].bits(bounds.signed[last]));
        if layer.dots.streams_weights() {
            let widest = Witness::of_channel(&case.graph, layer, &bounds, last, channel).unwrap();
            prop_assert_eq!((widest.sum, widest.attained), (witness.sum, true));
            continue;
        }
        let mut case = case.clone();
        case.graph = with_weights(&case.graph, witness.weight);
        let worst = common::program(&case.graph, &case.accelerator);
        let worst_bounds = LayerBounds::new(&case.graph, only_layer(&worst));
        prop_assert_eq!(witness.side.of(worst_bounds.channels[channel].proved()[last]), witness.sum);
        check_witness(&case, &worst, &worst_bounds, last, channel)?;
        let of_weights =
            Witness::of_channel(&case.graph, only_layer(&worst), &worst_bounds, last, channel).unwrap();
        prop_assert!(!of_weights.attained || of_weights.bits == witness.bits);
    }
    Ok(())
}

/// Returns a network of one layer whose weights all have the given code.
fn with_weights(graph: &Graph, code: i32) -> Graph {
    let (_, node) = graph.nodes_with_ids().next().unwrap();
    let tensors: Vec<_> = node.inputs.iter().flatten().map(|&id| graph.tensor(id)).collect();
    let (weights, output) = (tensors[1], graph.tensor(node.output));
    let bias = tensors.get(2).map(|bias| bias.codes().unwrap().to_vec());
    let weights = (weights.ty.clone(), vec![code; weights.ty.len()]);
    let quantization = output.ty.quantization.clone();
    let out = OutputSpec { name: output.name.clone(), dtype: output.ty.dtype, quantization };
    common::one_layer(node.op.clone(), tensors[0].ty.clone(), Some(weights), bias, out)
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
            prop_assert_eq!(proved.by_weights.is_none(), layer.dots.streams_weights());
            prop_assert!(proved.by_type[level].contains(proved.proved()[level]));
            prop_assert!(proved.proved()[level].contains(through));
            prop_assert!(through.min <= seen.min_prefix && seen.max_prefix <= through.max);
            prop_assert!(seen.required_prefix <= through.bits(bounds.signed[level]));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn witnesses_attain_what_is_proved(case in random::case()) {
        check_witnesses(&case)?;
    }

    #[test]
    fn witnesses_of_two_activations_attain_what_is_proved(case in random::case_of_two_inputs()) {
        check_witnesses(&case)?;
    }

    #[test]
    fn types_have_witnesses_too(case in random::case()) {
        check_type_witnesses(&case)?;
    }

    #[test]
    fn nothing_exceeds_what_is_proved(case in random::case()) {
        check_soundness(&case)?;
    }
}

/// A proved width does not count products that are padding at every output, in windows larger than the image.
#[test]
fn padding_everywhere_needs_no_bits() {
    for (image, stride, kernel) in [([1, 2], [2, 2], 3), ([2, 2], [2, 2], 3), ([1, 1], [1, 1], 5)] {
        let pixels = image[0] * image[1];
        let x = quantized(&[1, image[0], image[1], 2], DType::Int8, 1.0, 0);
        let shape = [1, kernel, kernel, 2];
        let count = shape.iter().product::<usize>();
        let weights = Some((quantized(&shape, DType::Int8, 1.0, 0), vec![127; count]));
        let op = Conv2d { stride, ..conv2d(1, Padding::Same) };
        let graph = one_layer(op, x, weights, None, output("y", DType::Int8, 1024.0, 0));
        let program =
            program(&graph, &accelerator(datapath(vec![serial("acc", Terms::All, Register::Auto)])));
        let bounds = LayerBounds::new(&graph, only_layer(&program));
        let greatest = 2 * pixels as i128 * 128 * 127;
        let bound = bounds.channels[0].proved()[0];
        assert_eq!(bound.min, -greatest, "{image:?} {kernel}");
        let witness = Witness::of_level(&graph, only_layer(&program), &bounds, 0).unwrap();
        assert_eq!((witness.attained, witness.sum), (true, witness.side.of(bound)), "{image:?} {kernel}");
        assert_eq!(seen_at(&program, &witness, 0, 0).required_final, witness.bits);
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
        // The least weights attain it in all of these types.
        let graph = independent_dots(x, w, terms, vec![w.min(); terms]);
        let at = |bits| {
            let level = serial("acc", Terms::All, register(bits, Overflow::Saturate));
            program(&graph, &accelerator(datapath(vec![level])))
        };
        let program = at(bits);
        let bounds = LayerBounds::new(&graph, only_layer(&program));
        assert_eq!((bounds.type_bits(0), bounds.weight_bits(0)), (bits, Some(bits)), "{x} {w} K={terms}");
        let witness = Witness::of_level(&graph, only_layer(&program), &bounds, 0).unwrap();
        assert!(witness.attained);
        let events = |bits| seen_at(&at(bits), &witness, 0, 0).events();
        assert_eq!(events(bits), 0, "{x} {w} K={terms}");
        assert!(events(bits - 1) > 0, "{x} {w} K={terms}");
    }
}
