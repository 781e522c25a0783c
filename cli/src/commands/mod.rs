//! Commands, one file each.

mod check;
mod compare;
mod demo;
mod diff_layer;
mod discriminate;
mod explain;
mod explore;
mod help;
mod hw;
mod inspect;
mod packaging;
mod plot;
mod quantize;
mod run;
mod schema;
mod size;
mod sweep;
mod vectors;
mod whole;

pub use check::check;
pub use compare::compare;
pub use demo::demo;
pub use diff_layer::diff_layer;
pub use discriminate::discriminate;
pub use explain::explain;
pub use explore::explore;
pub use help::help;
pub use hw::hw;
pub use inspect::inspect;
pub use packaging::{completions, man};
pub use plot::plot;
pub use quantize::quantize;
pub use run::run;
pub use schema::schema;
pub use size::size;
pub use sweep::{merge, status, sweep};
pub use vectors::vectors;

use std::process::ExitCode;

use guardbit_files::Existing;
use guardbit_study::{Arguments, InputSource, Settings};

use crate::args::Global;
use crate::diagnostic::Failure;
use crate::progress::Bar;

/// Warns of layers that work on real values although their weights are codes in the file. With `strict` it is
/// an error.
fn warn_of_float(layers: Vec<String>, strict: bool, global: &Global) -> ExitCode {
    match layers.is_empty() || global.quiet && !strict {
        true => ExitCode::SUCCESS,
        false => Failure::quantized_in_float(&layers, strict).report(),
    }
}

/// Notes the default samples if none were given, once the run starts.
fn note_random(given: &Arguments, settings: &Settings, bar: &Bar) {
    if let (None, InputSource::Random { count, seed }) = (given.random, &settings.input) {
        bar.note_at_start(format!("no --input: running {count} random samples, seed {seed}"));
    }
}

fn existing(global: &Global) -> Existing {
    if global.force { Existing::Replace } else { Existing::Refuse }
}
