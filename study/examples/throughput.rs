//! Times the simulator on one thread or more, without reading and writing files: rows of a CSV table.
//!
//!     throughput layer                                   one layer whose sums all overflow
//!     throughput network MODEL.tflite IMAGES.npy         a network on a batch of 64
//!     throughput network MODEL IMAGES BITS STATS THREADS the same in one setting
//!
//! `scripts/bench` runs it beside its peers. Columns: tool, subject, setting, threads, figure, unit.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use guardbit_graph::ops::Conv2d;
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorType,
};
use guardbit_num::Scheme;
use guardbit_sim::{Body, Options, Simulation, StatsLevel};

/// Samples of a network.
const BATCH: usize = 64;

/// Accumulator bits, statistics, threads.
type Setting = (u32, StatsLevel, usize);

const SETTINGS: [Setting; 4] = [
    (20, StatsLevel::Events, 1),
    (14, StatsLevel::Events, 1),
    (14, StatsLevel::Full, 1),
    (14, StatsLevel::Events, 2),
];

type Samples = Vec<Vec<Vec<i32>>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["layer"] => layer(),
        ["network", model, images] => network(Path::new(model), Path::new(images), &SETTINGS),
        ["network", model, images, bits, stats, threads] => {
            let setting = (bits.parse()?, stats.parse()?, threads.parse()?);
            network(Path::new(model), Path::new(images), &[setting])
        }
        _ => Err("usage: throughput layer | network MODEL.tflite IMAGES.npy [BITS STATS THREADS]".into()),
    }
}

/// A 3x3 convolution of 64 channels over 16x16 pixels, full-range random operands: what peers step through too.
fn layer() -> Result<(), Box<dyn Error>> {
    let mut builder = GraphBuilder::new("layer");
    let ty = |shape: &[usize]| {
        let quantization = Some(Quantization::per_tensor(1.0, 0)?);
        Ok::<_, Box<dyn Error>>(TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization })
    };
    let codes = |seed, count| guardbit_frontends::random_codes(seed, -128..=127, count);
    let x = builder.input("x", ty(&[1, 18, 18, 64])?)?;
    let w = builder.constant("w", ty(&[64, 3, 3, 64])?, codes(1, 64 * 9 * 64))?;
    let op = Conv2d {
        stride: [1; 2],
        dilation: [1; 2],
        padding: Padding::Valid,
        activation: Activation::None,
        requantize: Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 },
    };
    let quantization = Some(Quantization::per_tensor(1024.0, 0)?);
    let out = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization };
    let y = builder.node(op, &[Some(x), Some(w)], out)?;
    let graph = Arc::new(builder.finish(vec![y])?);
    let samples: Samples = (0..8).map(|seed| vec![codes(seed + 2, 18 * 18 * 64)]).collect();
    let macs = 16.0 * 16.0 * 64.0 * 576.0;
    for body in Body::ALL.into_iter().filter(|body| body.is_available()) {
        for (bits, stats) in [(14, StatsLevel::Events), (14, StatsLevel::Full), (18, StatsLevel::Events)] {
            let seconds = time(&graph, bits, &samples, Options { stats, body: Some(body), ..quiet() }, 1)?;
            let setting = format!("{bits} bits saturating {} {body:?}", stats.name());
            println!("guardbit,layer,{setting},1,{:.3},GMAC/s", macs / seconds / 1e9);
        }
    }
    Ok(())
}

fn network(model: &Path, images: &Path, settings: &[Setting]) -> Result<(), Box<dyn Error>> {
    let graph = Arc::new(guardbit_frontends::load(model)?);
    let length = graph.tensor(graph.inputs()[0]).ty.len();
    let images: ndarray::ArrayD<i8> = ndarray_npy::read_npy(images)?;
    let codes: Vec<i32> = images.iter().map(|&code| code.into()).collect();
    let images: Vec<_> = codes.chunks_exact(length).map(<[i32]>::to_vec).collect();
    let samples: Samples = images.into_iter().map(|image| vec![image]).cycle().take(BATCH).collect();
    let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for &(bits, stats, threads) in settings {
        let seconds = time(&graph, bits, &samples, Options { stats, ..quiet() }, threads)?;
        println!("guardbit,{name},{bits} bits {},{threads},{:.3},ms/inference", stats.name(), seconds * 1e3);
    }
    Ok(())
}

fn quiet() -> Options {
    Options { events_per_layer: 0, ..Options::default() }
}

/// Seconds per sample at `bits` bits; the first sample runs untimed.
fn time(
    graph: &Arc<Graph>,
    bits: u32,
    samples: &Samples,
    options: Options,
    threads: usize,
) -> Result<f64, Box<dyn Error>> {
    let accelerator = guardbit_hwmodels::load("fpga-int14-os", &[format!("accumulation.acc.bits={bits}")])?;
    let program = guardbit_hwmodels::lower(Arc::clone(graph), &accelerator)?;
    let mut simulation = Simulation::new(&program, options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let seconds: Result<f64, guardbit_sim::SimError> = pool.install(|| {
        simulation.run_batch(&samples[..1])?;
        let (start, cpu) = (Instant::now(), cpu_seconds());
        simulation.run_batch(samples)?;
        let elapsed = start.elapsed().as_secs_f64();
        // What other processes took does not count where one thread works.
        let busy = cpu_seconds().zip(cpu).filter(|_| threads == 1).map(|(end, start)| end - start);
        Ok(busy.unwrap_or(elapsed) / samples.len() as f64)
    });
    Ok(seconds?)
}

/// Seconds that this thread has run so far, as Linux counts them.
fn cpu_seconds() -> Option<f64> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(times.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e9)
}
