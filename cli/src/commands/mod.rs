//! One file per command.

mod check;
mod compare;
mod explore;
mod hw;
mod inspect;
mod quantize;
mod run;
mod schema;
mod size;
mod sweep;
mod vectors;

pub use check::check;
pub use compare::compare;
pub use explore::explore;
pub use hw::hw;
pub use inspect::inspect;
pub use quantize::quantize;
pub use run::run;
pub use schema::schema;
pub use size::size;
pub use sweep::{merge, status, sweep};
pub use vectors::vectors;

use std::process::ExitCode;

use guardbit_files::Existing;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{Axes, Axis, AxisError, InputConflict, InputSource, Progress, RawSettings, Settings};

use crate::args::{Common, Global};
use crate::diagnostic::Failure;
use crate::progress::Bar;

/// Warns of layers that work on real values though their weights are codes in the file. `strict` makes an error of it.
fn warn_of_float(layers: Vec<String>, strict: bool, global: &Global) -> ExitCode {
    match layers.is_empty() || global.quiet && !strict {
        true => ExitCode::SUCCESS,
        false => Failure::quantized_in_float(&layers, strict).report(),
    }
}

/// The checked form of what runs and sweeps have in common.
/// `default_stats` is what is counted in a mode where nothing is said.
fn settings(
    common: &Common,
    default_stats: fn(Mode) -> StatsLevel,
    events: Option<usize>,
    bar: &Bar,
) -> Result<Settings, Failure> {
    let settings = RawSettings {
        input: common.input.clone(),
        random: common.random,
        samples: common.samples,
        seed: common.seed,
        labels: common.labels.clone(),
        task: common.task,
        output: common.output.clone(),
        mode: common.mode,
        stats: common.stats,
        sets: common.set.clone(),
        requantize: common.requantize.map(|scheme| scheme.name().into()),
        events,
        profile: common.profile,
        cut: common.part.cut().map_err(Failure::usage)?,
    };
    let settings = settings.check(default_stats).map_err(|conflict| {
        Failure::usage(match conflict {
            InputConflict::SeedWithoutSamples => {
                "--seed with --input draws samples, but nothing says how many: add --samples N".into()
            }
            InputConflict::SamplesWithoutFile => {
                "--samples goes with --input; --random N is the number of random samples".into()
            }
            InputConflict::FileAndRandom => "--input and --random exclude each other".into(),
        })
    })?;
    if let (None, InputSource::Random { count, seed }) = (common.random, &settings.input) {
        bar.note(&format!("no --input: running {count} random samples, seed {seed}"));
    }
    Ok(settings)
}

/// What is varied beside the register of a level.
fn axes(axes: &[Axis], zips: &[String], conditions: &[String]) -> Result<Axes, AxisError> {
    // Not by clap, whose messages have no place.
    let conditions = conditions.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    let zips = zips.iter().map(|keys| keys.split(',').map(|key| key.trim().to_owned()).collect());
    Axes::new(axes.to_vec(), &zips.collect::<Vec<_>>(), conditions)
}

fn existing(global: &Global) -> Existing {
    if global.force { Existing::Replace } else { Existing::Refuse }
}
