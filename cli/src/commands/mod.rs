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
pub use sweep::{merge, sweep};
pub use vectors::vectors;

use guardbit_files::Existing;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{
    Axes, Axis, AxisError, Condition, DEFAULT_RANDOM_SAMPLES, InputSource, Pick, Progress, Settings,
    TableFormat,
};

use crate::args::{Common, Global};
use crate::diagnostic::Failure;
use crate::progress::Bar;

/// The checked form of what runs and sweeps have in common.
/// `default_stats` is what is counted in a mode where nothing is said.
fn settings(
    common: &Common,
    default_stats: fn(Mode) -> StatsLevel,
    events: usize,
    bar: &Bar,
) -> Result<Settings, Failure> {
    let input = match (&common.input, common.random) {
        (Some(path), _) => {
            let pick = Pick::new(common.samples, common.seed).ok_or_else(|| {
                let message = "--seed with --input draws samples, but nothing says how many: add --samples N";
                Failure::usage(message.into())
            })?;
            InputSource::File { path: path.clone(), pick }
        }
        (None, random) => {
            let (count, seed) = (random.unwrap_or(DEFAULT_RANDOM_SAMPLES), common.seed.unwrap_or(0));
            if random.is_none() {
                bar.note(&format!("no --input: running {count} random samples, seed {seed}"));
            }
            InputSource::Random { count, seed }
        }
    };
    let mut sets = common.set.clone();
    sets.extend(common.requantize.map(|scheme| format!("requantize.scheme={}", scheme.name())));
    let mode = common.mode.unwrap_or(Mode::Propagated);
    Ok(Settings {
        input,
        labels: common.labels.clone(),
        task: common.task,
        output: common.output.clone(),
        mode,
        stats: common.stats.unwrap_or_else(|| default_stats(mode)),
        sets,
        events,
        profile: common.profile,
        format: TableFormat::Csv,
    })
}

/// What is varied beside the register of a level.
fn axes(axes: &[Axis], zips: &[String], conditions: &[Condition]) -> Result<Axes, AxisError> {
    let zips = zips.iter().map(|keys| keys.split(',').map(|key| key.trim().to_owned()).collect());
    Axes::new(axes.to_vec(), &zips.collect::<Vec<_>>(), conditions.to_vec())
}

fn existing(global: &Global) -> Existing {
    if global.force { Existing::Replace } else { Existing::Refuse }
}
