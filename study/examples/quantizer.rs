//! Benchmarks the quantizer and prints rows of a CSV table.
//!
//!     quantizer FLOAT.onnx CALIBRATION.npy [SAMPLES]
//!
//! The samples are repeated until there are SAMPLES (default: 1000). Columns: tool, subject, setting,
//! threads, figure, unit.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use guardbit_frontends::npy::{Header, Values};
use guardbit_quantize::method::METHODS;
use guardbit_quantize::{Config, Plan, Sample, calibrate, realize};
use guardbit_sim::{Codes, Options, Simulation, StatsLevel};

type Failure = Box<dyn std::error::Error>;

/// Minimum duration of every measurement.
const LEAST: Duration = Duration::from_millis(500);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, calibration, count) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [model, calibration] => (Path::new(model), Path::new(calibration), 1000),
        [model, calibration, count] => (Path::new(model), Path::new(calibration), count.parse()?),
        _ => return Err("usage: quantizer FLOAT.onnx CALIBRATION.npy [SAMPLES]".into()),
    };
    let graph = guardbit_frontends::load(model)?;
    let samples: Vec<Sample> = samples(calibration)?.into_iter().cycle().take(count).collect();
    let threads = rayon::current_num_threads();
    let print = |setting: &str, figure: Duration| {
        let name = model.file_stem().unwrap_or_default().to_string_lossy();
        println!("guardbit,{name},{setting},{threads},{:.4},s", figure.as_secs_f64());
    };
    for &method in METHODS {
        let config = Config { method: std::sync::Arc::new(method), ..Config::default() };
        let begin = Instant::now();
        guardbit_quantize::quantize(&graph, &samples, &config, None)?;
        print(&format!("{} on {count} samples", method.name()), begin.elapsed());
    }
    forms(&graph, &samples, print)
}

/// Measures both forms of a network on equal samples, with wide accumulators.
fn forms(
    graph: &guardbit_graph::Graph,
    samples: &[Sample],
    print: impl Fn(&str, Duration),
) -> Result<(), Failure> {
    let config = Config::default();
    let plan = Plan::new(graph, &config)?;
    let calibrated = calibrate(&plan, &config, None, &samples[..samples.len().min(64)])?;
    let integer = realize(&calibrated.simulated)?;
    let accelerator = guardbit_hwmodels::load("exact-int32-os", &[])?;
    let program = guardbit_hwmodels::lower(integer.into(), &accelerator)?;
    let input = program.graph.tensor(program.graph.inputs()[0]);
    let quantization = input.ty.quantization.as_ref().ok_or("the input has no codes")?;
    let code = |&value: &f32| {
        let steps = (value / quantization.scale(0)).round_ties_even() as i128;
        input.ty.code_range().clamp(steps + i128::from(quantization.zero_point(0)))
    };
    let codes = |sample: &Sample| {
        let codes: Vec<i32> = sample[0].iter().map(code).collect();
        let codes = Codes::new(input.ty.dtype, &codes);
        Ok(vec![codes.map_err(|code| format!("{code} is no code of the input"))?])
    };
    let codes = samples.iter().map(codes).collect::<Result<Vec<_>, Failure>>()?;
    let simulated = time(|| Ok(calibrated.simulated.run(samples)?.len()))?;
    let integer = time(|| {
        let options = Options { stats: StatsLevel::None, ..Options::default() };
        Ok(Simulation::new(&program, options).run_batch(&codes)?.len())
    })?;
    print(&format!("simulated form on {} samples", samples.len()), simulated);
    print(&format!("integer form on {} samples", samples.len()), integer);
    Ok(())
}

/// Returns the mean time of one call.
fn time(mut call: impl FnMut() -> Result<usize, Failure>) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let mut calls = 0;
    while calls == 0 || begin.elapsed() < LEAST {
        assert!(call()? > 0, "there are samples");
        calls += 1;
    }
    Ok(begin.elapsed() / calls)
}

/// Reads real samples of a network with one input, along the first axis.
fn samples(path: &Path) -> Result<Vec<Sample>, Failure> {
    let mut file = File::open(path)?;
    let header = Header::read(&mut file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let Values::Float32(values) = header.element.values(&bytes)? else {
        return Err("calibration samples have to be float32".into());
    };
    let of_sample = header.shape[1..].iter().product::<usize>().max(1);
    Ok(values.chunks_exact(of_sample).map(|sample| vec![sample.to_vec()]).collect())
}
