//! Results described in sentences.

mod answer;
mod certainty;
mod compare;
mod run;
mod sweep;

pub(crate) use answer::{quantize_answer, run_answer, size_answer, sweep_answer};
pub(crate) use compare::{Measure, Unit, compare_answer, lead, row_name, tally, value};
pub(crate) use run::RunFindings;
pub use run::run_findings;
pub(crate) use sweep::group_findings;
pub use sweep::{Finding, Question, sweep_findings};
