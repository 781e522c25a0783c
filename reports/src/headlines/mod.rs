//! What came out, in words.

mod run;
mod sweep;

pub use run::run_headlines;
pub use sweep::{Headline, Question, sweep_headlines};
