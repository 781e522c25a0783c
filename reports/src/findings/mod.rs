//! Results described in sentences.

mod answer;
mod certainty;
mod compare;
mod explore;
mod float;
mod run;
mod sweep;

pub use answer::{quantize_answer, run_answer, size_answer, sweep_answer};
pub use compare::compare_answer;
pub(crate) use compare::{Measure, Unit, index, label, lead, ranked, row_name, tally, value};
pub use explore::explore_answer;
pub(crate) use explore::{best_first, recommended, takes};
pub(crate) use run::RunFindings;
pub use run::run_findings;
pub(crate) use sweep::group_findings;
pub use sweep::{Finding, Question, sweep_findings};
