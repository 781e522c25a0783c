//! Laws of the simulator, on random layers and datapaths.

use crate::common::random::{self, Case};
use crate::common::{Ran, accelerator, conv2d, datapath, output, program, quantized, run, serial};
use guardbit_graph::{DType, GraphBuilder, OutputPosition, Padding};
use guardbit_hwmodels::{
    BiasPlace, Check, Datapath, Fixup, Level, OutputFit, PRESETS, Packing, Register, Terms, Walk, ZeroPoint,
    load,
};
use guardbit_num::{Format, Overflow};
use guardbit_sim::trace::operands;
use guardbit_sim::{
    Accumulate, Codes, Engine, EventCounts, EventStage, Isa, Mode, Options, Reads, Settled, SimError,
    StatsLevel,
};
use guardbit_testing::cases;
use proptest::prelude::*;

const REFERENCE: Options = Options {
    engine: Engine::Reference,
    isa: None,
    mode: Mode::Propagated,
    stats: StatsLevel::Full,
    placing: guardbit_sim::Placing::All,
    events_per_layer: 50,
    events_per_sample: true,
    keep: guardbit_sim::Keep::All,
};

const FAST: Options = Options { engine: Engine::Fast, ..REFERENCE };

/// Returns options for every instruction set of the fast engine that this CPU supports.
fn engines() -> impl Iterator<Item = Options> {
    let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    isas.map(|isa| Options { engine: Engine::Fast, isa: Some(isa), ..REFERENCE })
}

fn check_engines(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    // Events that are not listed are counted in another way, and short lists skip events that come too late
    // for them.
    let short =
        [(StatsLevel::Full, 0), (StatsLevel::Full, 2), (StatsLevel::Events, 0), (StatsLevel::Events, 2)];
    for (stats, events_per_layer) in StatsLevel::ALL.map(|stats| (stats, 50)).into_iter().chain(short) {
        let with = |options| Options { stats, events_per_layer, ..options };
        let reference = run(&program, &case.samples, with(REFERENCE));
        for options in engines() {
            let other = run(&program, &case.samples, with(options));
            let (reference, other) = match (&reference, other) {
                (Ok(reference), Ok(other)) => (reference, other),
                (reference, other) => {
                    let errors = (reference.as_ref().err(), other.as_ref().err());
                    prop_assert_eq!(errors.0, errors.1, "{:?} {:?}", options, stats);
                    continue;
                }
            };
            check_settled(&other)?;
            prop_assert_eq!(&reference.tensors, &other.tensors, "{:?}", options);
            for (a, b) in reference.stats.levels.iter().zip(&other.stats.levels) {
                prop_assert_eq!(&a.channels, &b.channels, "{:?} {:?}", options, stats);
            }
            for (a, b) in reference.stats.events.iter().zip(&other.stats.events) {
                prop_assert_eq!(a, b, "{:?} {:?}", options, stats);
            }
            prop_assert_eq!(&reference.stats, &other.stats, "{:?} {:?}", options, stats);
        }
    }
    Ok(())
}

/// Every counted event is listed, at its register, with the value that the overflow mode stored.
fn check_listed(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    let layer = program.mac_layers().next().unwrap();
    let all = Options { events_per_layer: usize::MAX >> 8, ..REFERENCE };
    for options in [all, Options { engine: Engine::Fast, ..all }] {
        let ran = run(&program, &case.samples, options).unwrap();
        let stats = ran.stats;
        let mut counted = EventCounts::default();
        ran.tensors.iter().flat_map(|sample| &sample.events).for_each(|&events| counted.merge(events));
        let listed = |stage| stats.events.iter().filter(|event| event.stage == stage).count() as u64;
        for (index, level) in stats.levels.iter().enumerate() {
            prop_assert_eq!(listed(EventStage::Level(index)), level.total().events(), "{:?}", options.engine);
        }
        let total = stats.total();
        let levels = stats.levels.iter().map(|level| level.total().events()).sum();
        let (products, biases) = (total.product_events, total.bias_events);
        prop_assert_eq!(counted, EventCounts { levels, products, biases }, "{:?}", options.engine);
        prop_assert_eq!(listed(EventStage::Product), total.product_events, "{:?}", options.engine);
        prop_assert_eq!(listed(EventStage::Bias), total.bias_events, "{:?}", options.engine);
        for event in &stats.events {
            let datapath = &layer.datapath;
            let last = datapath.levels.last().unwrap();
            let register = match event.stage {
                EventStage::Product => datapath.product.register,
                EventStage::Level(level) => datapath.levels[level].register,
                EventStage::Bias if datapath.bias.at == BiasPlace::Preload => last.register,
                EventStage::Bias => datapath.bias.register,
            };
            let Register::Fixed { format, overflow } = register else {
                return Err(TestCaseError::fail("an exact register has no events"));
            };
            let fit = overflow.fit(event.exact(), format);
            prop_assert_eq!((event.stored, Some(event.direction)), (fit.value, fit.overflow));
        }
    }
    Ok(())
}

/// The fast engine settles every dot product.
fn check_settled(ran: &Ran) -> Result<(), TestCaseError> {
    let Settled { by_weights, by_sums, stepped } = ran.settled;
    prop_assert_eq!(by_weights + by_sums + stepped, ran.stats.dots);
    Ok(())
}

/// Removes bits from every level, as far as possible.
fn narrow(path: &mut Datapath, spared: u32) {
    for level in &mut path.levels {
        if let Register::Fixed { format, overflow } = level.register {
            let bits = format.bits().saturating_sub(spared).max(4);
            level.register =
                Register::Fixed { format: Format::new(bits, format.is_signed()).unwrap(), overflow };
        }
    }
}

/// Lets the registers trap whose turn is `true`: the product's, the bias', then those of levels, and again.
fn with_traps(mut case: Case, turns: [bool; 4]) -> Case {
    let Datapath { product, levels, bias, .. } = &mut case.accelerator.datapath;
    let registers = [&mut product.register, &mut bias.register];
    let registers = registers.into_iter().chain(levels.iter_mut().map(|level| &mut level.register));
    for (register, traps) in registers.zip(turns.into_iter().cycle()) {
        if let (Register::Fixed { overflow, .. }, true) = (register, traps) {
            *overflow = Overflow::Trap;
        }
    }
    case
}

fn check_threads(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    for options in engines() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&program, &case.samples, options).unwrap())
        };
        let (one, two) = (with(1), with(2));
        prop_assert_eq!(one.tensors, two.tensors);
        prop_assert_eq!(one.stats, two.stats);
    }
    Ok(())
}

/// Layers that are so large that threads share their pixels give the results of one thread.
#[test]
fn parts_of_a_layer_give_the_whole() {
    let (side, channels) = (24, [32, 64]);
    let codes = |seed: usize, count: usize| {
        (0..count).map(|i| ((i * 37 + seed * i / 91) % 255) as i32 - 127).collect::<Vec<_>>()
    };
    let mut builder = GraphBuilder::new("large");
    let x = builder.input("x", quantized(&[1, side, side, channels[0]], DType::Int8, 1.0, -3)).unwrap();
    let shape = [channels[1], 3, 3, channels[0]];
    let weights = codes(5, shape.iter().product());
    let w = builder.constant("w", quantized(&shape, DType::Int8, 1.0, 0), weights).unwrap();
    let conv = conv2d(1, Padding::Same);
    let y = builder.node(conv, &[Some(x), Some(w)], output("y", DType::Int8, 3000.0, 4)).unwrap();
    let graph = builder.finish(vec![y]).unwrap();
    let samples: Vec<_> = [3, 7].map(|seed| codes(seed, side * side * channels[0])).into();

    let trap = "accumulation.acc.overflow=trap";
    let settings: [(&str, &[&str]); 7] = [
        ("fpga-int14-os", &[]),
        ("fpga-int14-ws", &[]),
        ("fpga-int14-tree", &[]),
        ("inner14-outer24", &[]),
        ("fpga-int14-os", &[trap]),
        ("fpga-int14-ws", &[trap]),
        ("fpga-int14-ws", &["accumulation.acc.bits=13", "accumulation.chain.overflow=wrap"]),
    ];
    for (preset, settings) in settings {
        let settings: Vec<_> = settings.iter().map(|setting| setting.to_string()).collect();
        let program = program(&graph, &load(preset, &settings).unwrap());
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&program, &samples, FAST))
        };
        let (one, three) = (with(1), with(3));
        let found = |ran: &Result<Ran, SimError>| match ran {
            Ok(ran) => ran.stats.first_event_cycle.is_some(),
            Err(_) => settings.iter().any(|setting| setting == trap),
        };
        assert!(found(&one), "{preset} {settings:?} overflows, and stops only at a trap");
        match (one, three) {
            (Ok(one), Ok(three)) => {
                assert_eq!(one.tensors, three.tensors, "{preset} {settings:?}");
                assert_eq!(one.stats, three.stats, "{preset} {settings:?}");
            }
            (one, three) => assert_eq!(one.err(), three.err(), "{preset} {settings:?}"),
        }
    }
}

/// The exact run of a program equals the model's own runtime.
fn check_exact_is_the_graph(case: &Case) -> Result<(), TestCaseError> {
    let mut accelerator = case.accelerator.clone();
    accelerator.datapath.requantize.scheme = None;
    accelerator.datapath.requantize.output = OutputFit::Saturate;
    accelerator.datapath.bias.at = in_the_sum(accelerator.datapath.bias.at);
    let program = program(&case.graph, &accelerator);
    let ran = run(&program, &case.samples, FAST).unwrap();
    let (id, node) = case.graph.nodes_with_ids().next().unwrap();
    for (sample, tensors) in case.samples.iter().zip(&ran.tensors) {
        let constant = |id: &guardbit_graph::TensorId| Some(case.graph.tensor(*id).codes()?.to_words());
        let inputs: Vec<_> =
            node.inputs.iter().flatten().map(|id| constant(id).unwrap_or(sample[..].into())).collect();
        let expected = case.graph.evaluate(id, &inputs.iter().map(|codes| &codes[..]).collect::<Vec<_>>());
        prop_assert_eq!(tensors.exact[node.output.index()].as_ref().map(Codes::to_vec), Some(expected));
    }
    Ok(())
}

/// Results of the shared adders equal 48-bit arithmetic written out: the errors of every channel.
fn check_packed_lanes(case: &Case) -> Result<(), TestCaseError> {
    let mut accelerator = case.accelerator.clone();
    let Packing::Dsp48e2Int8x2(fixup) = accelerator.packing.into() else { return Ok(()) };
    let mut adder = accelerator.datapath.levels[0].clone();
    if adder.terms == Terms::All {
        adder.terms = Terms::Count(5);
    }
    let Terms::Count(chain) = adder.terms else { return Ok(()) };
    accelerator.datapath.levels = vec![adder, serial("outer", Terms::All, Register::Auto)];
    accelerator.datapath.bias.at = BiasPlace::Post;
    let program = program(&case.graph, &accelerator);
    let ran = run(&program, &case.samples, FAST).unwrap();
    let layer = program.mac_layers().next().unwrap();
    let window = &layer.dots.window;
    let mut errors = vec![0u128; window.channels()];
    for sample in &case.samples {
        let weights = layer.dots.streams_weights().then_some(&sample[..]);
        let reads = Reads { activations: &sample[..], weights };
        for out in (0..window.dots()).map(|index| window.output_position(index)) {
            let own = operands(layer, reads, out);
            let low = layer.low_lane(out.c).map(|c| operands(layer, reads, OutputPosition { c, ..out }));
            let (mut delivered, mut exact) = (0i128, 0i128);
            let mut adder = 0i128;
            for (k, a) in own.iter().enumerate() {
                let b = a.activation;
                exact += a.weight * b;
                // Alone, or below another lane: the low 18 bits. Above another lane: the bits from 18 on.
                let lanes = low.as_ref().map_or(a.weight, |low| (a.weight << 18) + low[k].weight);
                adder = ((adder + lanes * b) << 80) >> 80;
                if (k + 1) % chain == 0 || k + 1 == own.len() {
                    let sign = if fixup == Fixup::Lut { (adder >> 17) & 1 } else { 0 };
                    delivered += if low.is_some() {
                        (((adder >> 18) + sign) << 98) >> 98
                    } else {
                        (adder << 110) >> 110
                    };
                    adder = 0;
                }
            }
            errors[out.c] += (delivered - exact).unsigned_abs();
        }
    }
    let found: Vec<u128> = ran.stats.channels.iter().map(|channel| channel.sum_abs_err).collect();
    prop_assert_eq!(found, errors);
    Ok(())
}

/// With one level, an exact product and no shift, wrapped results depend on neither order nor check place.
fn check_wrap(case: &Case, bits: u32, signed: bool, others: [Walk; 2]) -> Result<(), TestCaseError> {
    let format = Format::new(bits, signed).unwrap();
    let level = serial("acc", Terms::All, Register::Fixed { format, overflow: Overflow::Wrap });
    let seen = |walk, check, reduce| {
        let mut path = datapath(vec![Level { check, reduce, ..level.clone() }]);
        path.operands.zero_point = case.accelerator.datapath.operands.zero_point;
        path.order.walk = walk;
        // Partial sums, and so events, do depend on the order.
        let options = Options { events_per_sample: false, ..FAST };
        let ran = run(&program(&case.graph, &accelerator(path)), &case.samples, options).unwrap();
        let persistent: Vec<u64> = ran.stats.levels[0].channels.iter().map(|c| c.persistent).collect();
        (ran.tensors, ran.stats.channels, persistent)
    };
    use guardbit_hwmodels::Reduce::{Serial, Tree};
    let expected = seen(Walk::Forward, Check::EachAdd, Serial);
    for walk in &others {
        for check in [Check::EachAdd, Check::HandOver] {
            prop_assert_eq!(&seen(walk.clone(), check, Serial), &expected);
        }
    }
    // A tree passes a single value unchanged, so the law needs two values.
    if program(&case.graph, &case.accelerator).mac_layers().all(|layer| layer.order.len() > 1)
        && case.graph.nodes()[0].op.name() != "avg_pool2d"
    {
        prop_assert_eq!(&seen(others[0].clone(), Check::EachAdd, Tree), &expected);
    }
    Ok(())
}

/// If every level is at least as wide as its required prefix, with exact product and bias and without shift,
/// nothing overflows.
fn check_wide_enough(case: &Case, modes: &[Overflow], spare: u32) -> Result<(), TestCaseError> {
    let mut accelerator = case.accelerator.clone();
    let path = &mut accelerator.datapath;
    path.product = guardbit_hwmodels::Product { register: Register::Auto, shift: 0, ..path.product };
    path.bias.register = Register::Auto;
    path.requantize.output = OutputFit::Saturate;
    for level in &mut path.levels {
        level.shift = 0;
        level.register = Register::Auto;
    }
    let exact = run(&program(&case.graph, &accelerator), &case.samples, FAST).unwrap();
    let levels = accelerator.datapath.levels.iter_mut().zip(&exact.stats.levels).zip(modes.iter().cycle());
    for ((level, seen), &overflow) in levels {
        let total = seen.total();
        let required = total.required_prefix.max(2);
        let at_the_most_negative =
            overflow == Overflow::SaturateSymmetric && total.min_prefix == -(1i128 << (required - 1));
        let bits = required + u32::from(at_the_most_negative) + spare;
        level.register = Register::Fixed { format: Format::signed(bits).unwrap(), overflow };
    }
    let ran = run(&program(&case.graph, &accelerator), &case.samples, FAST).unwrap();
    for level in &ran.stats.levels {
        let total = level.total();
        prop_assert_eq!((total.events(), total.persistent, total.transient), (0, 0, 0));
    }
    let total = ran.stats.total();
    prop_assert_eq!((total.wrong, total.output_mismatch, total.bias_events), (0, 0, 0));
    Ok(())
}

/// A bias that is scaled on its own is rounded on its own, so laws about exact codes add it to the sum
/// instead.
fn in_the_sum(place: BiasPlace) -> BiasPlace {
    if place == BiasPlace::PostRequantize { BiasPlace::Post } else { place }
}

/// Folding the zero points changes where sums overflow, but not their exact values.
fn check_fold(case: &Case) -> Result<(), TestCaseError> {
    let exact = |zero_point| {
        let mut path = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
        path.bias.register = Register::Auto;
        path.bias.at = in_the_sum(case.accelerator.datapath.bias.at);
        path.operands.zero_point = zero_point;
        let ran = run(&program(&case.graph, &accelerator(path)), &case.samples, FAST).unwrap();
        ran.tensors
    };
    prop_assert_eq!(exact(ZeroPoint::Subtract), exact(ZeroPoint::Fold));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_equals_the_reference(case in random::case()) {
        check_engines(&case)?;
    }

    #[test]
    fn every_engine_packs_lanes_as_the_reference(case in random::packed_case()) {
        check_engines(&case)?;
    }

    #[test]
    fn packed_lanes_are_those_of_48_bits(case in random::packed_case()) {
        check_packed_lanes(&case)?;
    }

    #[test]
    fn every_body_of_the_kernels_equals_the_reference(case in random::vector_case()) {
        check_engines(&case)?;
    }

    #[test]
    fn every_body_equals_the_reference_on_any_datapath(case in random::levels_case()) {
        check_engines(&case)?;
    }

    #[test]
    fn every_body_steps_runs_as_the_reference(case in random::runs_case()) {
        check_engines(&case)?;
    }

    #[test]
    fn every_engine_traps_as_the_reference(
        case in prop_oneof![random::case(), random::vector_case(), random::levels_case()],
        turns in any::<[bool; 4]>(),
    ) {
        check_engines(&with_traps(case, turns))?;
    }

    #[test]
    fn every_preset_runs_on_every_body(
        (graph, samples) in random::vector_layer(vec![DType::Int8]),
        preset in prop::sample::select(PRESETS),
        spared in 0u32..20,
    ) {
        // Some leave depthwise convolutions to the host.
        let offload = "offload=[conv2d, depthwise_conv2d, fully_connected, batch_matmul]";
        let mut accelerator = load(preset.name, &[offload.into()]).unwrap();
        narrow(&mut accelerator.datapath, spared);
        let case = Case { graph, samples, accelerator };
        check_engines(&case)?;
    }

    #[test]
    fn every_event_is_listed(case in prop_oneof![random::case(), random::levels_case()], spared in 0u32..8) {
        let mut case = case;
        narrow(&mut case.accelerator.datapath, spared);
        check_listed(&case)?;
    }

    #[test]
    fn results_do_not_depend_on_threads(case in prop_oneof![random::case(), random::levels_case()]) {
        check_threads(&case)?;
    }

    #[test]
    fn the_exact_run_is_the_model_s_own(case in random::case()) {
        check_exact_is_the_graph(&case)?;
    }

    #[test]
    fn wrap_depends_on_neither_order_nor_check_place(
        case in random::case(), bits in 2u32..20, signed in any::<bool>(),
        others in prop::array::uniform2(random::walk()),
    ) {
        check_wrap(&case, bits, signed, others)?;
    }

    #[test]
    fn a_level_that_holds_its_prefixes_is_exact(
        case in random::case(), modes in prop::collection::vec(random::mode(), 3), spare in 0u32..3,
    ) {
        check_wide_enough(&case, &modes, spare)?;
    }

    #[test]
    fn folded_zero_points_give_the_same_exact_codes(case in random::case()) {
        check_fold(&case)?;
    }
}
