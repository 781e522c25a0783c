//! Networks with states: samples are the steps of a stream.

use std::sync::Arc;

use guardbit_graph::ops::{Concat, FullyConnected};
use guardbit_graph::{Activation, DType, Graph, GraphBuilder};
use guardbit_hwmodels::{Program, Terms, lower};
use guardbit_num::Overflow;
use guardbit_sim::{
    Batch, Codes, Engine, Isa, Keep, LayerStats, Mode, Options, Placing, SampleTensors, Simulation,
    StatsLevel,
};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::common::network::NetworkCase;
use crate::common::stream::stream_case;
use crate::common::{REQUANTIZE, accelerator, datapath, output, quantized, register, serial};

/// Tensors and statistics of a whole stream.
type Ran = (Vec<SampleTensors>, Vec<Option<LayerStats>>);

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

const FAST: Options = Options { engine: Engine::Fast, ..REFERENCE };

fn program(case: &NetworkCase) -> Program {
    lower(Arc::clone(&case.graph), &case.accelerator).unwrap()
}

/// Runs the steps, at most `batch` of them at once.
fn run(program: &Program, steps: &[Vec<i32>], batch: usize, options: Options) -> Ran {
    let mut simulation = Simulation::new(program, options);
    let steps: Vec<Vec<Vec<i32>>> = steps.iter().map(|step| vec![step.clone()]).collect();
    let tensors = steps.chunks(batch).flat_map(|steps| simulation.run_batch(steps).unwrap()).collect();
    (tensors, simulation.finish())
}

/// Returns the codes of the graph outputs, step by step.
fn outputs(graph: &Graph, of: impl Iterator<Item = Vec<Option<Codes>>>) -> Vec<Vec<Vec<i32>>> {
    let output = |tensors: &[Option<Codes>], at: usize| tensors[at].as_ref().map(Codes::to_vec).unwrap();
    of.map(|tensors| graph.outputs().iter().map(|id| output(&tensors, id.index())).collect()).collect()
}

/// Every engine gives the codes and statistics of the reference.
fn check_engines(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let program = program(case);
    let all = case.samples.len();
    let expected = run(&program, &case.samples, all, Options { engine: Engine::Reference, ..options });
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let options = Options { engine: Engine::Fast, isa: Some(isa), ..options };
        prop_assert_eq!(&run(&program, &case.samples, all, options), &expected, "{:?}", options);
    }
    Ok(())
}

/// The exact run equals the model, step by step and tensor by tensor; in isolated mode, so do the inputs of
/// every layer.
fn check_model(case: &NetworkCase, mode: Mode) -> Result<(), TestCaseError> {
    let (graph, program) = (&case.graph, program(case));
    for options in [REFERENCE, FAST] {
        let (ran, _) = run(&program, &case.samples, 2, Options { mode, ..options });
        let mut states = graph.initial_states();
        for (step, (inputs, tensors)) in case.samples.iter().zip(ran).enumerate() {
            let before = states.clone();
            let expected = graph.interpret_step(&[inputs], &mut states).unwrap();
            for (node, made) in graph.nodes_with_ids() {
                let at = made.output.index();
                let found = tensors.exact[at].as_ref().map(Codes::to_vec);
                prop_assert_eq!(
                    found.as_ref(),
                    Some(&expected[at]),
                    "step {}, {}",
                    step,
                    graph.node_name(node)
                );
            }
            for (state, before) in graph.states().iter().zip(before) {
                let at = state.tensor.index();
                let read = |codes: &Option<Codes>| codes.as_ref().map(Codes::to_vec);
                prop_assert_eq!(read(&tensors.exact[at]), Some(before.clone()));
                if mode == Mode::Isolated {
                    prop_assert_eq!(read(&tensors.simulated[at]), Some(before));
                }
            }
        }
    }
    Ok(())
}

/// The hardware reads in every step what it produced in the step before.
fn check_carried(case: &NetworkCase) -> Result<(), TestCaseError> {
    let (ran, _) = run(&program(case), &case.samples, case.samples.len(), FAST);
    for state in case.graph.states() {
        let first = ran[0].simulated[state.tensor.index()].as_ref().map(Codes::to_vec);
        prop_assert_eq!(first.as_deref(), Some(&state.initial.to_vec()[..]));
        for pair in ran.windows(2) {
            let [made, read] = [(&pair[0], state.next), (&pair[1], state.tensor)]
                .map(|(tensors, id)| tensors.simulated[id.index()].as_ref().map(Codes::to_vec));
            prop_assert_eq!(made, read);
        }
    }
    Ok(())
}

/// Results depend neither on threads nor on the division of steps into batches.
fn check_threads(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let (program, all) = (program(case), case.samples.len());
    let expected = run(&program, &case.samples, all, options);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for batch in [1, 2, all] {
            let found = pool.install(|| run(&program, &case.samples, batch, options));
            prop_assert_eq!(&found, &expected, "{} threads, batches of {}", threads, batch);
        }
    }
    Ok(())
}

/// The first steps do not depend on later ones.
fn check_prefix(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let (program, all) = (program(case), case.samples.len());
    let (whole, _) = run(&program, &case.samples, all, options);
    for count in 1..all {
        let (part, _) = run(&program, &case.samples[..count], count, options);
        prop_assert_eq!(&part[..], &whole[..count]);
    }
    Ok(())
}

/// Outputs and statistics do not depend on whether other tensors are kept.
fn check_kept(case: &NetworkCase, options: Options) -> Result<(), TestCaseError> {
    let program = program(case);
    let seen = |keep| {
        let (ran, stats) = run(&program, &case.samples, 2, Options { keep, ..options });
        let exact = outputs(&case.graph, ran.iter().map(|tensors| tensors.exact.clone()));
        let simulated = outputs(&case.graph, ran.iter().map(|tensors| tensors.simulated.clone()));
        (exact, simulated, stats)
    };
    prop_assert_eq!(seen(Keep::Outputs), seen(Keep::All));
    Ok(())
}

fn options() -> impl Strategy<Value = Options> {
    let stats = prop::sample::select(StatsLevel::ALL.to_vec());
    let keep = prop::sample::select(vec![Keep::Outputs, Keep::All]);
    (prop::sample::select(Mode::ALL.to_vec()), stats, keep, prop::sample::select(vec![0usize, 20])).prop_map(
        |(mode, stats, keep, events_per_layer)| Options { mode, stats, keep, events_per_layer, ..FAST },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_streams_as_the_reference(case in stream_case(), options in options()) {
        check_engines(&case, options)?;
    }

    #[test]
    fn the_exact_stream_is_the_model_s_own(case in stream_case(), mode in prop::sample::select(Mode::ALL.to_vec())) {
        check_model(&case, mode)?;
    }

    #[test]
    fn the_hardware_reads_what_it_made(case in stream_case()) {
        check_carried(&case)?;
    }

    #[test]
    fn streams_depend_on_neither_threads_nor_batches(case in stream_case(), options in options()) {
        check_threads(&case, options)?;
    }

    #[test]
    fn the_first_steps_do_not_depend_on_later_ones(case in stream_case(), options in options()) {
        check_prefix(&case, options)?;
    }

    #[test]
    fn streams_do_not_depend_on_what_is_kept(case in stream_case(), options in options()) {
        check_kept(&case, options)?;
    }
}

/// The laws would be nearly vacuous without steps that start from a wrong state.
#[test]
fn errors_reach_later_steps_in_many_of_the_streams() {
    let mut runner = TestRunner::deterministic();
    let cases = 60;
    let wrong = (0..cases).filter(|_| {
        let case = stream_case().new_tree(&mut runner).unwrap().current();
        let at = case.graph.states()[0].tensor.index();
        let (ran, _) = run(&program(&case), &case.samples, case.samples.len(), FAST);
        ran.iter().any(|tensors| tensors.simulated[at] != tensors.exact[at])
    });
    let wrong = wrong.count();
    assert!(wrong > cases / 3, "{wrong} of {cases}");
}

/// Returns `y = (2 held + 4 x) / 4`, where `y` is held: codes of one scale for all, weights of scale 1/4.
fn leaky() -> Arc<Graph> {
    let mut builder = GraphBuilder::new("leaky");
    let x = builder.input("x", quantized(&[1, 1], DType::Int8, 1.0, 0)).unwrap();
    let held = builder.state("held", quantized(&[1, 1], DType::Int8, 1.0, 0), vec![0]).unwrap();
    let joined = Concat { axis: 1, requantize: REQUANTIZE };
    let joined = builder.node(joined, &[Some(held), Some(x)], output("joined", DType::Int8, 1.0, 0)).unwrap();
    let w = builder.constant("w", quantized(&[1, 2], DType::Int8, 0.25, 0), vec![2, 4]).unwrap();
    let dense = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize: REQUANTIZE };
    let y = builder.node(dense, &[Some(joined), Some(w)], output("y", DType::Int8, 1.0, 0)).unwrap();
    builder.carry(held, y).unwrap();
    Arc::new(builder.finish(vec![y]).unwrap())
}

/// Returns the network on one accumulator of the given width.
fn leaky_with(graph: &Arc<Graph>, bits: u32, overflow: Overflow) -> Program {
    let path = datapath(vec![serial("acc", Terms::All, register(bits, overflow))]);
    lower(Arc::clone(graph), &accelerator(path)).unwrap()
}

const LEAKY: [i32; 3] = [100, 10, -50];

/// | step | x | exact: held, sum, y | 9 bits, to 255: held, sum, y | 8 bits, to 127: held, sum, y |
/// |---|---|---|---|---|
/// | 0 | 100 | 0, 400, 100 | 0, 400 becomes 255, 63.75 rounds to 64 | 0, 400 becomes 127, 31.75 rounds to 32 |
/// | 1 | 10 | 100, 240, 60 | 64, 168, 42 | 32, 104, 26 |
/// | 2 | -50 | 60, -80, -20 | 42, -116, -29 | 26, -148 becomes -128, -32 |
///
/// In isolated mode every step starts from the exact state: on 9 bits only step 0 overflows, on 8 bits step 1 reads 100 and 10 too,
/// where 200 becomes 127, and 127 + 40 becomes 127 again; step 2 adds 120 - 200 = -80.
#[test]
fn what_overflows_in_a_step_is_the_state_of_the_next() {
    let graph = leaky();
    let programs = [(9, Overflow::Saturate), (12, Overflow::Saturate), (8, Overflow::Saturate)]
        .map(|(bits, overflow)| leaky_with(&graph, bits, overflow));
    let exact = [100, 60, -20];
    let cases = [
        (Mode::Propagated, [[64, 42, -29], exact, [32, 26, -32]], [1, 0, 2]),
        (Mode::Isolated, [[64, 60, -20], exact, [32, 32, -20]], [1, 0, 3]),
    ];
    for (mode, expected, events) in cases {
        for options in [REFERENCE, FAST].map(|options| Options { mode, keep: Keep::Outputs, ..options }) {
            let all: Vec<&Program> = programs.iter().collect();
            let mut batch = Batch::new(&all, options).unwrap();
            let steps = LEAKY.map(|x| vec![vec![x]]);
            let ran = batch.run_batch(&steps).unwrap();
            let flat = |of: Vec<Vec<Vec<i32>>>| of.into_iter().flatten().flatten().collect::<Vec<_>>();
            assert_eq!(
                flat(outputs(&graph, ran.iter().map(|step| step.exact.clone()))),
                exact,
                "{options:?}"
            );
            for (program, expected) in expected.iter().enumerate() {
                let own = ran.iter().map(|step| step.simulated[program].clone());
                assert_eq!(flat(outputs(&graph, own)), expected, "program {program}, {options:?}");
            }
            let counted = |stats: Vec<Option<LayerStats>>| {
                stats.iter().flatten().map(|stats| stats.levels[0].total().events()).sum::<u64>()
            };
            let found: Vec<u64> = batch.finish().into_iter().map(|stats| counted(stats.unwrap())).collect();
            assert_eq!(found, events, "{options:?}");
        }
    }
}

/// A program that traps in step 1 runs no further step, in that batch or a later one; the others continue as
/// they would alone.
#[test]
fn a_stopped_program_does_not_stop_the_stream_of_another() {
    let graph = leaky();
    let stops = leaky_with(&graph, 9, Overflow::Trap);
    let goes_on = leaky_with(&graph, 8, Overflow::Saturate);
    // y of 8 bits: 10 gives 10; 20 + 400 becomes 127, so 32; 64 + 40 gives 26; 52 - 200 becomes -128, so -32.
    let steps: Vec<Vec<Vec<i32>>> = [10, 100, 10, -50].map(|x| vec![vec![x]]).to_vec();
    let at = graph.outputs()[0].index();
    for options in [REFERENCE, FAST] {
        for size in [1, 2, 4] {
            let mut batch = Batch::new(&[&stops, &goes_on], options).unwrap();
            let ran: Vec<_> = steps.chunks(size).flat_map(|steps| batch.run_batch(steps).unwrap()).collect();
            let read = |codes: &Option<Codes>| codes.as_ref().map(|codes| codes.to_vec()[0]);
            let stopped: Vec<_> = ran.iter().map(|step| read(&step.simulated[0][at])).collect();
            assert_eq!((stopped[0], &stopped[2..]), (Some(10), &[None, None][..]), "{options:?}");
            let other: Vec<_> = ran.iter().map(|step| read(&step.simulated[1][at])).collect();
            assert_eq!(other, [10, 32, 26, -32].map(Some), "{options:?}");
            assert!(batch.stopped(0).is_some() && batch.stopped(1).is_none());
        }
    }
}
