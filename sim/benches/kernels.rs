//! Benchmarks every kernel of the fast engine with every instruction set that this CPU supports:
//! `cargo bench -p guardbit-sim`.
//!
//! Kernels run as in a layer: exact sums, output codes and counts are part of the time. Operands are random
//! and of full range, so that nearly every dot product must be stepped at 14 bits, and none at 32 bits.

use std::error::Error;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use guardbit_graph::ops::{Conv2d, DepthwiseConv2d};
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorType,
};
use guardbit_hwmodels::Program;
use guardbit_num::Scheme;
use guardbit_sim::{Engine, Isa, Options, Simulation, StatsLevel};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

criterion_group!(benches, kernels);
criterion_main!(benches);

/// Rows, columns and channels of the output.
const OUTPUT: [usize; 3] = [16, 16, 32];
const KERNEL: usize = 3;

/// Benchmark: its name, the layer, the accelerator, and the statistics that are counted.
type Case = (&'static str, Layer, &'static str, &'static [&'static str], StatsLevel);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Conv,
    Depthwise,
}

const OS: &str = "fpga-int14-os";

const CASES: &[Case] = &[
    ("sum", Layer::Conv, OS, &["accumulation.acc.bits=32"], StatsLevel::Events),
    ("walk", Layer::Conv, OS, &["accumulation.acc.bits=32"], StatsLevel::Full),
    ("step_i16/saturate", Layer::Conv, OS, &[], StatsLevel::Events),
    ("step_i16/wrap", Layer::Conv, OS, &["accumulation.acc.overflow=wrap"], StatsLevel::Events),
    ("step_i16/sticky", Layer::Conv, OS, &["accumulation.acc.overflow=sticky"], StatsLevel::Events),
    (
        "step_i16/saturate_zero",
        Layer::Conv,
        OS,
        &["accumulation.acc.overflow=saturate_zero"],
        StatsLevel::Events,
    ),
    ("step_i16/with_trail", Layer::Conv, OS, &[], StatsLevel::Full),
    ("step_i32/saturate", Layer::Conv, OS, &["accumulation.acc.bits=17"], StatsLevel::Events),
    ("step_i32/observe", Layer::Conv, OS, &["accumulation.acc.overflow=observe"], StatsLevel::Events),
    ("sum/depthwise", Layer::Depthwise, OS, &["accumulation.acc.bits=32"], StatsLevel::Events),
    ("step_i16/depthwise", Layer::Depthwise, OS, &[], StatsLevel::Events),
    ("levels/serial_serial", Layer::Conv, "inner14-outer24", &[], StatsLevel::Events),
    ("levels/tree", Layer::Conv, "fpga-int14-tree", &[], StatsLevel::Events),
];

fn kernels(criterion: &mut Criterion) {
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect();
    for &(name, layer, preset, settings, stats) in CASES {
        let settings: Vec<String> = settings.iter().map(|setting| setting.to_string()).collect();
        let accelerator = guardbit_hwmodels::load(preset, &settings).expect("a preset with valid settings");
        let (graph, terms) = network(layer).expect("a valid network");
        let input = codes(2, graph.tensor(graph.inputs()[0]).ty.len());
        let program = guardbit_hwmodels::lower(Arc::new(graph), &accelerator).expect("it can be lowered");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements((OUTPUT.iter().product::<usize>() * terms) as u64));
        for &isa in &isas {
            group.bench_with_input(
                BenchmarkId::from_parameter(format!("{isa:?}")),
                &program,
                |bencher, program| {
                    let mut simulation = simulation(program, isa, stats);
                    let batch = [vec![input.clone()]];
                    bencher.iter(|| simulation.run_batch(&batch).expect("a sample of the network's shape"));
                },
            );
        }
        group.finish();
    }
}

fn simulation(program: &Program, isa: Isa, stats: StatsLevel) -> Simulation<'_> {
    let options =
        Options { engine: Engine::Fast, isa: Some(isa), stats, events_per_layer: 0, ..Options::default() };
    Simulation::new(program, options)
}

/// Returns a network of one layer, and the number of products of one of its dot products.
fn network(layer: Layer) -> Result<(Graph, usize), Box<dyn Error>> {
    let [rows, cols, channels] = OUTPUT;
    let mut builder = GraphBuilder::new("bench");
    let ty = |shape: &[usize]| {
        let quantization = Some(Quantization::per_tensor(1.0, 0)?);
        Ok::<_, Box<dyn Error>>(TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization })
    };
    let x = builder.input("x", ty(&[1, rows + KERNEL - 1, cols + KERNEL - 1, channels])?)?;
    let requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
    let quantization = Some(Quantization::per_tensor(1024.0, 0)?);
    let out = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization };
    let (stride, dilation, padding, activation) = ([1; 2], [1; 2], Padding::Valid, Activation::None);
    let (y, terms) = match layer {
        Layer::Conv => {
            let shape = [channels, KERNEL, KERNEL, channels];
            let w = builder.constant("w", ty(&shape)?, codes(1, shape.iter().product()))?;
            let op = Conv2d { stride, dilation, padding, activation, requantize };
            (builder.node(op, &[Some(x), Some(w)], out)?, KERNEL * KERNEL * channels)
        }
        Layer::Depthwise => {
            let shape = [1, KERNEL, KERNEL, channels];
            let w = builder.constant("w", ty(&shape)?, codes(1, shape.iter().product()))?;
            let op = DepthwiseConv2d { stride, dilation, padding, activation, requantize };
            (builder.node(op, &[Some(x), Some(w)], out)?, KERNEL * KERNEL)
        }
    };
    Ok((builder.finish(vec![y])?, terms))
}

fn codes(seed: u64, count: usize) -> Vec<i32> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..count).map(|_| i32::from(random.next_u32() as i8)).collect()
}
