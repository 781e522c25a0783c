//! Benchmarks the overhead of a sweep over its points and prints rows of a CSV table.
//!
//!     sweep_cost MODEL.tflite IMAGES.npy [SAMPLES [REPEATS]]
//!
//! One thread; the points are 8 to 24 bits, wrapping and saturating. The variants are measured in turn, and
//! medians of the repeats are compared. Columns: tool, subject, setting, threads, figure, unit.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use common::{Failure, Samples, cpu_seconds, load};
use guardbit_graph::Graph;
use guardbit_hwmodels::{Program, lower};
use guardbit_sim::{Batch, Mode, Options, Placing, StatsLevel};
use guardbit_study::POINTS_TOGETHER;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let [model, images, ..] = arguments.as_slice() else {
        return Err("usage: sweep_cost MODEL.tflite IMAGES.npy [SAMPLES [REPEATS]]".into());
    };
    let (count, repeats) = (number(2, 8)?, number(3, 5)?);
    let (name, graph, samples) = load(Path::new(model), Path::new(images), count)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| measure(&graph, &name, &samples, repeats))
}

fn measure(graph: &Arc<Graph>, name: &str, samples: &Samples, repeats: usize) -> Result<(), Failure> {
    let program = |overflow: &str, bits: u32| -> Result<Program, Failure> {
        let sets = [format!("accumulation.acc.bits={bits}"), format!("accumulation.acc.overflow={overflow}")];
        Ok(lower(Arc::clone(graph), &guardbit_hwmodels::load("fpga-int14-os", &sets)?)?)
    };
    let mut points = Vec::new();
    for overflow in ["wrap", "saturate"] {
        for bits in 8..=24 {
            points.push(program(overflow, bits)?);
        }
    }
    let all: Vec<&Program> = points.iter().collect();
    let own = program("saturate", 14)?;
    let options = |mode, stats| {
        let placing = Placing::First;
        Options { mode, stats, placing, events_per_layer: 0, ..Options::default() }
    };
    let isolated = options(Mode::Isolated, StatsLevel::Full);
    let isolated_values = options(Mode::Isolated, StatsLevel::Values);
    let isolated_events = options(Mode::Isolated, StatsLevel::Events);
    let propagated = options(Mode::Propagated, StatsLevel::Events);

    let mut seconds = [const { Vec::new() }; 6];
    for _ in 0..repeats {
        let alone: Result<Vec<f64>, _> =
            all.iter().map(|&point| time(&[point], samples, propagated)).collect();
        let measured = [
            time(&[&own], samples, Options { placing: Placing::All, ..isolated })?,
            sweep(&all, samples, isolated)?,
            sweep(&all, samples, isolated_values)?,
            sweep(&all, samples, isolated_events)?,
            alone?.iter().sum(),
            sweep(&all, samples, propagated)?,
        ];
        seconds.iter_mut().zip(measured).for_each(|(all, one)| all.push(one));
    }
    let [run, sweep, values, events, alone, together] = seconds.map(median);
    let row = |setting: &str, figure: f64, unit: &str| {
        println!("guardbit,{name},{setting},1,{figure:.3},{unit}");
    };
    let per_sample = 1e3 / samples.len() as f64;
    row("isolated run 14 bits full", run * per_sample, "ms/inference");
    row("isolated sweep 17 widths x 2 modes full", sweep * per_sample, "ms/inference");
    row("isolated sweep 17 widths x 2 modes values", values * per_sample, "ms/inference");
    row("isolated sweep 17 widths x 2 modes events", events * per_sample, "ms/inference");
    row("propagated points alone 17 widths x 2 modes events", alone * per_sample, "ms/inference");
    row("propagated sweep 17 widths x 2 modes events", together * per_sample, "ms/inference");
    row("isolated sweep full / isolated run full", sweep / run, "runs");
    row("isolated sweep values / isolated run full", values / run, "runs");
    row("isolated sweep events / isolated run full", events / run, "runs");
    row("propagated sweep / its points alone", together / alone, "ratio");
    Ok(())
}

/// Returns the seconds of a sweep's points, in groups of the size that [`guardbit_study::sweep`] uses.
fn sweep(programs: &[&Program], samples: &Samples, options: Options) -> Result<f64, Failure> {
    programs.chunks(POINTS_TOGETHER).map(|together| time(together, samples, options)).sum()
}

/// Returns the CPU seconds of this thread; the first sample runs untimed.
fn time(programs: &[&Program], samples: &Samples, options: Options) -> Result<f64, Failure> {
    let mut points = Batch::new(programs, options)?;
    points.run_batch(&samples[..1])?;
    let (start, cpu) = (Instant::now(), cpu_seconds());
    for batch in samples.chunks(8) {
        points.run_batch(batch)?;
    }
    let busy = cpu_seconds().zip(cpu).map(|(end, start)| end - start);
    Ok(busy.unwrap_or(start.elapsed().as_secs_f64()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
