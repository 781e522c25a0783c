//! Results described in sentences.

mod certainty;
mod run;
mod sweep;

pub use run::run_findings;
pub(crate) use sweep::group_findings;
pub use sweep::{Finding, Question, sweep_findings};
