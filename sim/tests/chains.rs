//! Laws of networks: errors of one layer reach the next, but never the exact run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::network::{NetworkCase, network_case};
use crate::common::{datapath, serial};
use guardbit_graph::passes::Pass;
use guardbit_graph::pattern::{Expand, FusedOp, Pattern};
use guardbit_graph::{Graph, TensorId};
use guardbit_hwmodels::{
    Accelerator, BiasPlace, Datapath, MacLayer, OutputFit, Packing, Program, Register, Requantization, Terms,
    ZeroPoint, lower,
};
use guardbit_num::Overflow;
use guardbit_sim::{
    Engine, Isa, Keep, LayerStats, Mode, Options, Placing, SampleTensors, SimError, Simulation, StatsLevel,
};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Tensors and statistics of a whole network, or the error that stopped it.
type Ran = Result<(Vec<SampleTensors>, Vec<Option<LayerStats>>), SimError>;

const REFERENCE: Options = Options {
    engine: Engine::Reference,
    isa: None,
    mode: Mode::Propagated,
    stats: StatsLevel::Full,
    placing: Placing::All,
    events_per_layer: 20,
    events_per_sample: true,
    keep: Keep::All,
};

/// Returns options for every body of the fast engine that this CPU supports.
fn engines(options: Options) -> impl Iterator<Item = Options> {
    let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    isas.map(move |isa| Options { engine: Engine::Fast, isa: Some(isa), ..options })
}

fn program(case: &NetworkCase, accelerator: &Accelerator) -> Program {
    lower(Arc::clone(&case.graph), accelerator).unwrap()
}

fn run(program: &Program, samples: &[Vec<i32>], options: Options) -> Ran {
    let mut simulation = Simulation::new(program, options);
    let samples: Vec<Vec<Vec<i32>>> = samples.iter().map(|sample| vec![sample.clone()]).collect();
    let tensors = simulation.run_batch(&samples)?;
    Ok((tensors, simulation.finish()))
}

/// Returns the codes of every tensor in the exact run, sample by sample.
fn exact(ran: Ran) -> Vec<Vec<Option<Vec<i32>>>> {
    let codes = |tensors: SampleTensors| {
        tensors.exact.into_iter().map(|codes| codes.map(|codes| codes.to_vec())).collect()
    };
    ran.unwrap().0.into_iter().map(codes).collect()
}

/// Makes the last level of the common datapath trap, if it has a width.
fn with_trap(mut accelerator: Accelerator) -> Accelerator {
    let last = accelerator.datapath.levels.last_mut().unwrap();
    if let Register::Fixed { overflow, .. } = &mut last.register {
        *overflow = Overflow::Trap;
    }
    accelerator
}

/// Makes the bias adder trap, if it has a width.
fn with_bias_trap(mut accelerator: Accelerator) -> Accelerator {
    if let Register::Fixed { overflow, .. } = &mut accelerator.datapath.bias.register {
        *overflow = Overflow::Trap;
    }
    accelerator
}

/// Every engine gives the codes and statistics of the reference.
fn check_engines(
    case: &NetworkCase,
    accelerator: &Accelerator,
    options: Options,
) -> Result<(), TestCaseError> {
    let program = program(case, accelerator);
    let expected = run(&program, &case.samples, options);
    for options in engines(options) {
        let found = run(&program, &case.samples, options);
        if let (Ok((found, stats)), Ok((expected, expected_stats))) = (&found, &expected) {
            for (found, expected) in found.iter().zip(expected) {
                prop_assert_eq!(&found.exact, &expected.exact, "exact codes, {:?}", options);
                prop_assert_eq!(&found.simulated, &expected.simulated, "codes, {:?}", options);
            }
            prop_assert_eq!(stats, expected_stats, "{:?}", options);
        }
        prop_assert_eq!(&found, &expected, "{:?}", options);
    }
    Ok(())
}

/// Changes the datapath of the network and those of single layers.
fn with_datapaths(accelerator: &Accelerator, change: impl Fn(&Datapath) -> Datapath + Copy) -> Accelerator {
    let layers = &accelerator.layers;
    Accelerator {
        datapath: change(&accelerator.datapath),
        packing: Packing::None.into(),
        layers: layers.iter().map(|(name, own)| (name.to_owned(), with_datapaths(own, change))).collect(),
        ..accelerator.clone()
    }
}

/// Returns the parts of a datapath that affect the exact run: scheme, fit of the output, and whether the
/// bias, with the terms of zero points, is scaled on its own.
fn lifted(path: &Datapath) -> Datapath {
    let mut lifted = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
    lifted.bias.register = Register::Auto;
    (lifted.bias.at, lifted.operands.zero_point) = match path.bias.at {
        BiasPlace::PostRequantize => (BiasPlace::PostRequantize, path.operands.zero_point),
        BiasPlace::Post | BiasPlace::Preload => (BiasPlace::Post, ZeroPoint::Subtract),
    };
    lifted.requantize = path.requantize;
    lifted
}

/// Widths, shifts, levels, order, zero points and the place of a bias in the sum do not affect the exact run.
fn check_lifted(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let plain = program(case, &with_datapaths(&case.accelerator, lifted));
    let expected = exact(run(&plain, &case.samples, Options { engine: Engine::Fast, ..options }));
    let program = program(case, &case.accelerator);
    for options in engines(options) {
        prop_assert_eq!(&exact(run(&program, &case.samples, options)), &expected, "{:?}", options);
    }
    Ok(())
}

/// With the model's own scheme and output, the exact run equals the model, node by node.
fn check_model(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let own = |path: &Datapath| {
        let at = if path.bias.at == BiasPlace::PostRequantize { BiasPlace::Preload } else { path.bias.at };
        let bias = guardbit_hwmodels::Bias { at, ..path.bias };
        let mut path = Datapath {
            requantize: Requantization { scheme: None, output: OutputFit::Saturate },
            bias,
            ..path.clone()
        };
        if at == BiasPlace::Preload {
            path.levels.last_mut().unwrap().reduce = guardbit_hwmodels::Reduce::Serial;
        }
        path
    };
    let program = program(case, &with_datapaths(&case.accelerator, own));
    let expected: Vec<_> = case.samples.iter().map(|sample| evaluate(&case.graph, sample)).collect();
    for options in engines(options) {
        let found = exact(run(&program, &case.samples, options));
        for (found, expected) in found.iter().zip(&expected) {
            for (id, node) in case.graph.nodes_with_ids() {
                let at = node.output.index();
                prop_assert_eq!(&found[at], &expected[at], "{:?} of {:?}", id, options);
            }
        }
    }
    Ok(())
}

/// No tensor ever holds a code outside its range.
fn check_ranges(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let program = program(case, &case.accelerator);
    for options in engines(options).chain([options]) {
        for tensors in run(&program, &case.samples, options).unwrap().0 {
            for (tensor, (exact, simulated)) in
                case.graph.tensors().iter().zip(tensors.exact.iter().zip(&tensors.simulated))
            {
                let range = tensor.ty.code_range();
                for codes in [exact, simulated].into_iter().flatten() {
                    let outside = codes.to_vec().into_iter().find(|&code| !range.contains(code));
                    prop_assert_eq!(outside, None, "{} {:?}", &tensor.name, options);
                }
            }
        }
    }
    Ok(())
}

/// Fusing convolutions to operations of the accelerator, and expanding these again, gives every code of the
/// network.
fn check_composites(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let operands = [Pattern::any(), Pattern::constant(), Pattern::constant().or_absent()];
    let npu = FusedOp::new("npu.conv2d", Pattern::op_named(["conv2d"]).reads(operands));
    let Some(fused) = npu.run(&case.graph).unwrap() else { return Ok(()) };
    let back = Expand.run(&fused).unwrap().unwrap();
    let codes = |graph: &Graph| {
        let case = NetworkCase { graph: Arc::new(graph.clone()), ..case.clone() };
        let program = program(&case, &case.accelerator);
        let names = graph.tensors().iter().map(|tensor| tensor.name.clone());
        let names: Vec<String> = names.collect();
        let (tensors, stats) = run(&program, &case.samples, options).unwrap();
        let of_sample = |sample: SampleTensors| {
            let all = sample.exact.into_iter().zip(sample.simulated);
            let named = names.iter().cloned().zip(all).filter(|(_, (exact, _))| exact.is_some());
            named.collect::<BTreeMap<_, _>>()
        };
        let events: Vec<u64> = stats
            .iter()
            .flatten()
            .flat_map(|layer| layer.levels.iter().map(|l| l.total().events()))
            .collect();
        (tensors.into_iter().map(of_sample).collect::<Vec<_>>(), events)
    };
    let expected = codes(&case.graph);
    prop_assert_eq!(&codes(&fused), &expected);
    prop_assert_eq!(&codes(&back), &expected);
    Ok(())
}

/// Returns the codes of every tensor as computed by the operations themselves.
fn evaluate(graph: &Graph, sample: &[i32]) -> Vec<Option<Vec<i32>>> {
    let mut codes = vec![None; graph.tensors().len()];
    codes[graph.inputs()[0].index()] = Some(sample.to_vec());
    for (id, node) in graph.nodes_with_ids() {
        let read = |id: &Option<TensorId>| match *id {
            Some(id) => {
                let constant = graph.tensor(id).codes().map(|codes| codes.to_vec());
                constant.or_else(|| codes[id.index()].clone())
            }
            None => None,
        };
        let inputs: Vec<Vec<i32>> = node.inputs.iter().map(|id| read(id).unwrap_or_default()).collect();
        let made = graph.evaluate(id, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        codes[node.output.index()] = Some(made);
    }
    codes
}

fn options() -> impl Strategy<Value = Options> {
    let stats = prop_oneof![1 => Just(StatsLevel::Full), 1 => select(StatsLevel::ALL.to_vec())];
    let placing = select(vec![Placing::All, Placing::First]);
    (select(Mode::ALL.to_vec()), stats, placing, select(vec![0usize, 20])).prop_map(
        |(mode, stats, placing, events_per_layer)| Options {
            mode,
            stats,
            placing,
            events_per_layer,
            ..REFERENCE
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_engine_runs_a_network_as_the_reference(case in network_case(), options in options()) {
        check_engines(&case, &case.accelerator, options)?;
    }

    #[test]
    fn every_engine_stops_a_network_as_the_reference(case in network_case(), options in options()) {
        check_engines(&case, &with_trap(case.accelerator.clone()), options)?;
        check_engines(&case, &with_bias_trap(case.accelerator.clone()), options)?;
    }

    #[test]
    fn the_exact_network_has_neither_widths_nor_shifts(case in network_case(), options in options()) {
        check_lifted(&case, options)?;
    }

    #[test]
    fn fused_operations_make_the_codes_of_their_parts(case in network_case(), options in options()) {
        check_composites(&case, Options { engine: Engine::Fast, stats: StatsLevel::Full, ..options })?;
    }

    #[test]
    fn every_code_lies_in_its_range(case in network_case(), options in options()) {
        check_ranges(&case, options)?;
    }

    #[test]
    fn the_exact_network_is_the_model_s_own(case in network_case(), options in options()) {
        check_model(&case, options)?;
    }
}

/// The laws are not vacuous: most networks have a layer that reads errors of an earlier one.
#[test]
fn errors_reach_the_next_layer() {
    let mut runner = TestRunner::deterministic();
    let networks = 200;
    let mut reached = 0;
    let mut shifted = 0;
    for _ in 0..networks {
        let case = network_case().new_tree(&mut runner).unwrap().current();
        let program = program(&case, &case.accelerator);
        let (tensors, _) =
            run(&program, &case.samples, Options { engine: Engine::Fast, ..REFERENCE }).unwrap();
        let reads_wrong = |layer: &MacLayer| {
            let at = case.graph.node(layer.node).inputs[0].unwrap().index();
            tensors.iter().any(|tensors| tensors.exact[at] != tensors.simulated[at])
        };
        let loads_shifted = |layer: &MacLayer| {
            let path = &layer.datapath;
            layer.bias.is_some()
                && path.bias.at == BiasPlace::Preload
                && path.unit_shift(path.levels.len() - 1) > 0
        };
        reached += usize::from(program.mac_layers().any(reads_wrong));
        shifted += usize::from(program.mac_layers().any(|layer| reads_wrong(layer) && loads_shifted(layer)));
    }
    assert!(reached > networks / 2, "{reached} of {networks}");
    assert!(shifted > networks / 20, "{shifted} of {networks}");
}
