//! Programs that run together give the results of separate runs.

use std::sync::Arc;

use crate::common;
use crate::common::network::network_case;
use crate::common::random::{self, Case};
use crate::common::stream::stream_case;
use crate::common::{accelerator, conv2d, datapath, output, quantized, serial};
use guardbit_graph::ops::{FullyConnected, MaxPool2d};
use guardbit_graph::{Activation, DType, Graph, GraphBuilder, Padding};
use guardbit_hwmodels::{Accelerator, Program, Register, Terms, lower};
use guardbit_num::{Format, Overflow};
use guardbit_sim::{
    Batch, Engine, Keep, LayerStats, Mode, Options, Placing, SampleTensors, SimError, Simulation, StatsLevel,
};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::sample::select;

type Samples = Vec<Vec<Vec<i32>>>;

/// Results of one program: tensors and statistics, or the error that stopped it.
type Ran = Result<(Vec<SampleTensors>, Vec<Option<LayerStats>>), SimError>;

/// Returns convolutions, a pool and a dense layer in a row: errors of one layer reach the next.
fn network() -> Graph {
    let mut builder = GraphBuilder::new("net");
    let codes = |seed: usize, count: usize| {
        let code = |i: usize| ((i * 37 + seed * 101) % 255) as i32 - 127;
        (0..count).map(code).collect::<Vec<_>>()
    };
    let x = builder.input("x", quantized(&[1, 6, 6, 3], DType::Int8, 1.0, -3)).unwrap();
    let w = builder.constant("w1", quantized(&[5, 3, 3, 3], DType::Int8, 1.0, 0), codes(1, 135)).unwrap();
    let conv = conv2d(1, Padding::Same);
    let a = builder.node(conv, &[Some(x), Some(w)], output("a", DType::Int8, 300.0, 4)).unwrap();
    let w = builder.constant("w2", quantized(&[17, 1, 1, 5], DType::Int8, 1.0, 0), codes(2, 85)).unwrap();
    let conv = conv2d(1, Padding::Valid);
    let b = builder.node(conv, &[Some(a), Some(w)], output("b", DType::Int8, 30_000.0, 0)).unwrap();
    let pool =
        MaxPool2d { kernel: [2, 2], stride: [2, 2], padding: Padding::Valid, activation: Activation::None };
    let c = builder.node(pool, &[Some(b)], output("c", DType::Int8, 30_000.0, 0)).unwrap();
    let w = builder.constant("w3", quantized(&[4, 153], DType::Int8, 1.0, 0), codes(3, 612)).unwrap();
    let dense =
        FullyConnected { activation: Activation::None, keep_num_dims: false, requantize: common::REQUANTIZE };
    let d = builder.node(dense, &[Some(c), Some(w)], output("d", DType::Int8, 6e6, 0)).unwrap();
    builder.finish(vec![d, b]).unwrap()
}

fn alone(program: &Program, samples: &Samples, options: Options) -> Ran {
    let mut simulation = Simulation::new(program, options);
    let mut tensors = Vec::new();
    for batch in samples.chunks(2) {
        tensors.extend(simulation.run_batch(batch)?);
    }
    Ok((tensors, simulation.finish()))
}

/// Runs the programs together; only the first `kept` continue after the first samples.
fn together(programs: &[&Program], kept: usize, samples: &Samples, options: Options) -> Vec<Ran> {
    let mut batch = Batch::new(programs, options).unwrap();
    let mut tensors = vec![Vec::new(); kept];
    for (index, samples) in samples.chunks(2).enumerate() {
        if index == 1 {
            batch.keep_first(kept);
        }
        // An error means that all of them are stopped.
        for sample in batch.run_batch(samples).unwrap_or_default() {
            for ((tensors, simulated), events) in tensors.iter_mut().zip(sample.simulated).zip(sample.events)
            {
                tensors.push(SampleTensors { exact: sample.exact.clone(), simulated, events });
            }
        }
    }
    batch.keep_first(kept);
    tensors.into_iter().zip(batch.finish()).map(|(tensors, stats)| Ok((tensors, stats?))).collect()
}

/// Returns the accelerator with a different register at the last level for each point.
fn programs(graph: &Arc<Graph>, base: &Accelerator, registers: &[Register]) -> Vec<Program> {
    let program = |&register: &Register| {
        let mut accelerator = base.clone();
        accelerator.datapath.levels.last_mut().unwrap().register = register;
        lower(Arc::clone(graph), &accelerator).unwrap()
    };
    registers.iter().map(program).collect()
}

fn check(
    graph: Graph,
    base: &Accelerator,
    registers: &[Register],
    samples: &Samples,
    options: Options,
) -> Result<(), TestCaseError> {
    let programs = programs(&Arc::new(graph), base, registers);
    let all: Vec<&Program> = programs.iter().collect();
    let each: Vec<Ran> = programs.iter().map(|program| alone(program, samples, options)).collect();
    for kept in [all.len(), all.len().div_ceil(2)] {
        prop_assert_eq!(&together(&all, kept, samples, options), &each[..kept], "{} {:?}", kept, options);
    }
    Ok(())
}

fn registers() -> impl Strategy<Value = Vec<Register>> {
    let mode = select(Overflow::ALL.to_vec());
    let register = (2u32..26, any::<bool>(), mode).prop_map(|(bits, signed, overflow)| Register::Fixed {
        format: Format::new(bits, signed || overflow == Overflow::SaturateSymmetric).unwrap(),
        overflow,
    });
    prop::collection::vec(prop_oneof![9 => register, 1 => Just(Register::Auto)], 1..7)
}

fn options() -> impl Strategy<Value = Options> {
    let engine = select(vec![Engine::Reference, Engine::Fast, Engine::Fast]);
    let keep = select(vec![Keep::Outputs, Keep::All]);
    (
        engine,
        select(Mode::ALL.to_vec()),
        select(StatsLevel::ALL.to_vec()),
        keep,
        select(vec![0usize, 20]),
        select(vec![Placing::All, Placing::First]),
    )
        .prop_map(|(engine, mode, stats, keep, events_per_layer, placing)| Options {
            engine,
            mode,
            stats,
            keep,
            events_per_layer,
            events_per_sample: true,
            placing,
            isa: None,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layers_together_are_layers_alone(
        case in prop_oneof![random::case(), random::vector_case()],
        registers in registers(),
        options in options(),
    ) {
        let Case { graph, samples, accelerator } = case;
        let samples = samples.into_iter().map(|sample| vec![sample]).collect();
        check(graph, &accelerator, &registers, &samples, options)?;
    }

    #[test]
    fn random_networks_together_are_networks_alone(
        case in network_case(), registers in registers(), options in options(),
    ) {
        let samples = case.samples.iter().map(|sample| vec![sample.clone()]).collect();
        check(Graph::clone(&case.graph), &case.accelerator, &registers, &samples, options)?;
    }

    #[test]
    fn streams_together_are_streams_alone(
        case in stream_case(), registers in registers(), options in options(),
    ) {
        let samples = case.samples.iter().map(|sample| vec![sample.clone()]).collect();
        check(Graph::clone(&case.graph), &case.accelerator, &registers, &samples, options)?;
    }

    #[test]
    fn networks_together_are_networks_alone(
        registers in registers(),
        options in options(),
        seed in 0u64..1000,
    ) {
        let base = accelerator(datapath(vec![serial("acc", Terms::All, Register::Auto)]));
        let sample = |i: u64| {
            let code = |k: u64| ((seed + 1) * (i + 3) * (k * k + 7) % 256) as i32 - 128;
            vec![(0..108).map(code).collect()]
        };
        let samples = (0..3).map(sample).collect();
        check(network(), &base, &registers, &samples, options)?;
    }
}

#[test]
fn programs_of_other_orders_do_not_run_together() {
    let graph = Arc::new(network());
    let mut other = accelerator(datapath(vec![serial("acc", Terms::All, Register::Auto)]));
    let first = lower(Arc::clone(&graph), &other).unwrap();
    other.datapath.order.walk = guardbit_hwmodels::Walk::Reverse;
    let second = lower(Arc::clone(&graph), &other).unwrap();
    let refused = Batch::new(&[&first, &second], Options::default()).map(|_| ());
    assert_eq!(refused, Err(SimError::Unlike { what: "layer `a`".into() }));
}
