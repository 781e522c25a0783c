//! Benchmarks the simulator on one or more threads, without file access, and prints rows of a CSV table.
//!
//!     throughput layer                                   one layer whose sums all overflow
//!     throughput datapaths                               that layer on other datapaths, and on the scalar engine
//!     throughput network MODEL.tflite IMAGES.npy         a network on a batch of 64
//!     throughput network MODEL IMAGES BITS STATS THREADS a network in one setting
//!     throughput layers MODEL                            no times: M,K,N of each matrix product
//!
//! `scripts/bench` runs it next to comparable tools. Columns: tool, subject, setting, threads, figure, unit.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Failure, Samples, cpu_seconds, load};
use guardbit_graph::ops::{AvgPool2d, BatchMatmul, Conv2d, DepthwiseConv2d};
use guardbit_graph::{Activation, DType, Graph, Operand, OutputSpec, Padding, TensorType};
use guardbit_sim::{Engine, Isa, Options, Simulation, StatsLevel, Stepper};

/// Number of samples of a network.
const BATCH: usize = 64;

/// Minimum duration of every measurement.
const LEAST: Duration = Duration::from_millis(250);

/// Accumulator bits, statistics, threads.
type Setting = (u32, StatsLevel, usize);

const SETTINGS: [Setting; 6] = [
    (32, StatsLevel::Events, 1),
    (20, StatsLevel::Events, 1),
    (16, StatsLevel::Events, 1),
    (14, StatsLevel::Events, 1),
    (14, StatsLevel::Full, 1),
    (14, StatsLevel::Events, 2),
];

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["layer"] => layer(),
        ["datapaths"] => datapaths(""),
        ["datapaths", part] => datapaths(part),
        ["network", model, images] => network(Path::new(model), Path::new(images), &SETTINGS),
        ["network", model, images, bits, stats, threads] => {
            let setting = (bits.parse()?, stats.parse()?, threads.parse()?);
            network(Path::new(model), Path::new(images), &[setting])
        }
        ["layers", model] => layers(Path::new(model)),
        _ => Err(
            "usage: throughput layer | datapaths [PART OF A SETTING] | network MODEL IMAGES [BITS STATS THREADS] | layers MODEL"
                .into(),
        ),
    }
}

/// Pixels, channels and products per dot product of the layer.
const LAYER: [usize; 3] = [16 * 16, 64, 576];
/// Number of multiplications of the layer.
const MACS: f64 = (LAYER[0] * LAYER[1] * LAYER[2]) as f64;

/// Layers with random full-range operands.
#[derive(Clone, Copy)]
enum Layer {
    /// A 3x3 convolution of 64 channels over 16x16 pixels, with types of activations and weights. Other tools step
    /// through that of int8, too.
    Conv(DType, DType),
    /// A matrix product of two activations with as many dot products as the convolution, of the same length.
    TwoActivations,
    /// A 3x3 depthwise convolution of 64 channels over 16x16 padded pixels.
    Depthwise,
    /// A pool of the same windows.
    Pool,
}

impl Layer {
    /// Returns the number of multiplications; a pool multiplies by 1.
    fn macs(self) -> f64 {
        match self {
            Self::Conv(..) | Self::TwoActivations => MACS,
            Self::Depthwise | Self::Pool => (LAYER[0] * LAYER[1] * 9) as f64,
        }
    }

    fn network(self) -> Result<(Arc<Graph>, Samples), Failure> {
        let [pixels, channels, terms] = LAYER;
        let ty = |shape: &[usize], dtype| TensorType::quantized(shape, dtype, 1.0, 0);
        let codes = |seed, dtype: DType, count: usize| {
            guardbit_frontends::random_codes(seed, dtype.min()..=dtype.max(), count)
        };
        let input = |shape: &[usize], dtype| Ok::<_, Failure>(Operand::input("x", ty(shape, dtype)?));
        let weights = |shape: &[usize], dtype| {
            let codes = codes(1, dtype, shape.iter().product());
            Ok::<_, Failure>(Operand::constant("w", ty(shape, dtype)?, codes))
        };
        let (kernel, stride, padding, activation) = ([3; 2], [1; 2], Padding::Same, Activation::None);
        let small = OutputSpec::quantized("y", DType::Int8, 1.0, 0)?;
        let large = |scale| OutputSpec::quantized("y", DType::Int8, scale, 0);
        let graph = match self {
            Self::Conv(activations, by) => {
                let operands = [input(&[1, 18, 18, 64], activations)?, weights(&[64, 3, 3, 64], by)?];
                let factor = activations.max() as f32 * by.max() as f32 / 127.0 / 127.0;
                Graph::of_op("layer", Conv2d::default(), operands, large(1024.0 * factor)?)?
            }
            Self::TwoActivations => {
                let requantize = Conv2d::default().requantize;
                let op = BatchMatmul { adj_x: false, adj_y: false, requantize };
                let right = Operand::input("b", ty(&[terms, channels], DType::Int8)?);
                Graph::of_op("layer", op, [input(&[pixels, terms], DType::Int8)?, right], large(1024.0)?)?
            }
            Self::Depthwise => {
                let op = DepthwiseConv2d { padding, ..DepthwiseConv2d::default() };
                let operands = [input(&[1, 16, 16, 64], DType::Int8)?, weights(&[1, 3, 3, 64], DType::Int8)?];
                Graph::of_op("layer", op, operands, large(256.0)?)?
            }
            Self::Pool => {
                let op = AvgPool2d { kernel, stride, padding, activation };
                Graph::of_op("layer", op, [input(&[1, 16, 16, 64], DType::Int8)?], small)?
            }
        };
        let types: Vec<_> = graph.inputs().iter().map(|&input| graph.tensor(input).ty.clone()).collect();
        let sample =
            |seed| types.iter().zip(seed..).map(|(ty, seed)| codes(seed, ty.dtype, ty.len())).collect();
        Ok((Arc::new(graph), (0..8).map(|number| sample(2 * number + 2)).collect()))
    }
}

fn layer() -> Result<(), Failure> {
    let (graph, samples) = CONV.network()?;
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        kernel(isa)?;
        for (bits, stats) in [(14, StatsLevel::Events), (14, StatsLevel::Full), (18, StatsLevel::Events)] {
            let options = Options { stats, isa: Some(isa), ..quiet() };
            let seconds = time(&graph, ("fpga-int14-os", &[acc(bits)]), &samples, options, 1)?;
            let setting = format!("{bits} bits saturating {} {isa:?}", stats.name());
            println!("guardbit,layer,{setting},1,{:.3},GMAC/s", MACS / seconds / 1e9);
        }
    }
    Ok(())
}

/// Benchmarks the stepping kernel alone: it steps and counts, as the other tools do.
fn kernel(isa: Isa) -> Result<(), Failure> {
    let [pixels, channels, terms] = LAYER;
    let rows = |seed, rows: usize, cols: usize| -> Vec<Vec<i16>> {
        let codes = guardbit_frontends::random_codes(seed, -128..=127, rows * cols);
        codes.chunks(cols).map(|row| row.iter().map(|&code| code as i16).collect()).collect()
    };
    let stepper = Stepper::new(&rows(1, terms, channels), 14, Some(isa)).ok_or("14 bits are a width")?;
    let (activations, mut sums) = (rows(2, pixels, terms), Vec::new());
    let seconds = time_of(1, || {
        std::hint::black_box(stepper.run(&activations, &mut sums));
        Ok::<_, Failure>(())
    })?;
    println!("guardbit,layer,kernel 14 bits saturating events {isa:?},1,{:.3},GMAC/s", MACS / seconds / 1e9);
    Ok(())
}

/// A datapath to benchmark: its name, layer, accelerator and settings.
type Datapath = (&'static str, Layer, &'static str, &'static [&'static str]);

const OS: &str = "fpga-int14-os";
const WS: &str = "fpga-int14-ws";
const TREE: &str = "fpga-int14-tree";
const CONV: Layer = Layer::Conv(DType::Int8, DType::Int8);

/// Depthwise layers and pools are compared with the first depthwise row, the others with one level of 14 bits.
const DATAPATHS: &[Datapath] = &[
    (
        "chain of 16 rows in 14 bits under 20",
        CONV,
        WS,
        &["accumulation.chain.bits=14", "accumulation.acc.bits=20"],
    ),
    (
        "chain of 16 rows in 18 bits under 20",
        CONV,
        WS,
        &["accumulation.chain.bits=18", "accumulation.acc.bits=20"],
    ),
    (
        "tree of 16 in 14 bits under 20",
        CONV,
        TREE,
        &["array.dot_width=16", "accumulation.tree.bits=14", "accumulation.acc.bits=20"],
    ),
    (
        "tree of 16 in 18 bits under 20",
        CONV,
        TREE,
        &["array.dot_width=16", "accumulation.tree.bits=18", "accumulation.acc.bits=20"],
    ),
    ("int16 x int8 in 28 bits", Layer::Conv(DType::Int16, DType::Int8), OS, &["accumulation.acc.bits=28"]),
    ("int16 x int16 in 38 bits", Layer::Conv(DType::Int16, DType::Int16), OS, &["accumulation.acc.bits=38"]),
    ("gemmini-16", CONV, "gemmini-16", &[]),
    ("dsp48e2-int8x2", CONV, "dsp48e2-int8x2", &[]),
    ("two activations in 14 bits", Layer::TwoActivations, OS, &[]),
    ("stochastic rounding of 2 bits in 14", CONV, OS, &["product.shift=2", "product.round=stochastic"]),
    ("sorted in 14 bits", CONV, OS, &["reduction_order.walk=sorted"]),
    ("sign_paired in 14 bits", CONV, OS, &["reduction_order.walk=sign_paired"]),
    ("greedy in 14 bits", CONV, OS, &["reduction_order.walk=greedy"]),
    ("21 bits saturating", CONV, OS, &["accumulation.acc.bits=21"]),
    ("21 bits trap", CONV, OS, &["accumulation.acc.bits=21", "accumulation.acc.overflow=trap"]),
    ("depthwise in 14 bits", Layer::Depthwise, OS, &[]),
    ("pool over padding in 10 bits", Layer::Pool, OS, &["accumulation.acc.bits=10", "offload=[avg_pool2d]"]),
];

/// Benchmarks every datapath whose setting contains `part`.
fn datapaths(part: &str) -> Result<(), Failure> {
    for &(name, layer, hw, sets) in DATAPATHS {
        let (graph, samples) = layer.network()?;
        let macs = layer.macs();
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        for stats in [StatsLevel::Events, StatsLevel::Full] {
            let scalar = Options { stats, engine: Engine::Reference, ..quiet() };
            let fast = Isa::ALL.into_iter().filter(|isa| isa.is_available());
            let fast = fast.map(|isa| Options { stats, isa: Some(isa), ..quiet() });
            for options in std::iter::once(scalar).chain(fast) {
                let isa = options.isa.map_or("reference".into(), |isa| format!("{isa:?}"));
                let setting = format!("{name} {} {isa}", stats.name());
                if !setting.contains(part) {
                    continue;
                }
                let seconds = time(&graph, (hw, &sets), &samples, options, 1)?;
                println!("guardbit,layer,{setting},1,{:.3},GMAC/s", macs / seconds / 1e9);
            }
        }
    }
    Ok(())
}

fn acc(bits: u32) -> String {
    format!("accumulation.acc.bits={bits}")
}

fn network(model: &Path, images: &Path, settings: &[Setting]) -> Result<(), Failure> {
    let (name, graph, samples) = load(model, images, BATCH)?;
    for &(bits, stats, threads) in settings {
        let hw = ("fpga-int14-os", &[acc(bits)][..]);
        let seconds = time(&graph, hw, &samples, Options { stats, ..quiet() }, threads)?;
        println!("guardbit,{name},{bits} bits {},{threads},{:.3},ms/inference", stats.name(), seconds * 1e3);
    }
    Ok(())
}

/// Prints output pixels, products and channels of every layer that is one matrix product.
fn layers(model: &Path) -> Result<(), Failure> {
    let graph = Arc::new(guardbit_frontends::load(model)?);
    let program = guardbit_hwmodels::lower(graph, &guardbit_hwmodels::load("fpga-int14-os", &[])?)?;
    let windows = program.mac_layers().map(|layer| layer.dots.window).filter(|window| window.groups == 1);
    let sizes = windows.map(|window| {
        let channels = window.channels();
        format!("{},{},{channels}", window.dots() / channels.max(1), window.terms())
    });
    println!("{}", sizes.collect::<Vec<_>>().join(" "));
    Ok(())
}

fn quiet() -> Options {
    Options { events_per_layer: 0, ..Options::default() }
}

/// Returns the seconds per sample on a preset with some overrides; the first sample runs untimed.
fn time(
    graph: &Arc<Graph>,
    (hw, sets): (&str, &[String]),
    samples: &Samples,
    options: Options,
    threads: usize,
) -> Result<f64, Failure> {
    let accelerator = guardbit_hwmodels::load(hw, sets)?;
    let program = guardbit_hwmodels::lower(Arc::clone(graph), &accelerator)?;
    if program.mac_layers().next().is_none() {
        return Err("no layer runs on the accelerator: set `offload`".into());
    }
    let mut simulation = Simulation::new(&program, options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let seconds: Result<f64, guardbit_sim::SimError> = pool.install(|| {
        simulation.run_batch(&samples[..1])?;
        let per_batch = time_of(threads, || simulation.run_batch(samples).map(drop))?;
        Ok(per_batch / samples.len() as f64)
    });
    Ok(seconds?)
}

/// Returns the seconds that `work` takes on `threads` threads. With one thread it is CPU time, so that other
/// processes do not count. The work is repeated, because thread clocks have a coarse resolution.
fn time_of<E>(threads: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut times = 0;
    while times == 0 || start.elapsed() < LEAST {
        work()?;
        times += 1;
    }
    let elapsed = start.elapsed().as_secs_f64();
    let busy = cpu_seconds().zip(cpu).filter(|_| threads == 1).map(|(end, start)| end - start);
    Ok(busy.unwrap_or(elapsed) / f64::from(times))
}
