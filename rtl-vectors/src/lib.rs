//! Test vectors for RTL: bundles of stimuli and expected accumulators, and replay in real simulators.
//!
//! [`export`](export()) makes a bundle from a layer: real and generated dot products, cycle by cycle, with what every
//! accumulator, flag and output must be. [`check`](check()) replays a bundle against the reference RTL (or re-checks it
//! without a simulator), and [`mutate`] proves that the bundle finds faults. Expected values are those of the
//! simulator's reference engine, step by step ([`guardbit_sim::trace`]). [`GoldenModel`] is the same unit alive, for
//! lockstep with RTL.

mod arithmetic;
mod array;
mod assemble;
mod axis;
mod beats;
mod check;
mod columns;
mod corners;
mod coverage;
mod describe;
mod error;
mod export;
mod golden;
mod hdl;
mod interface;
pub mod manifest;
mod reach;
mod read;
mod real;
mod sizes;
mod solve;
mod synthetic;
mod text;
mod waves;
mod words;

pub use beats::LevelState;
pub use check::{
    CheckReport, CheckRequest, Divergence, MutantResult, Outcome, Simulator, TIME_LIMIT, Verdict, check,
    mutate,
};
pub use error::VectorError;
pub use export::{Bundle, Format, Request, export};
pub use golden::{GoldenError, GoldenModel};
pub use synthetic::LayerParameters;
pub use waves::WaveFormat;
pub use words::Words;

/// The reference RTL in SystemVerilog, name and text of every file: for those who synthesize it.
pub fn reference_rtl() -> &'static [(&'static str, &'static str)] {
    &hdl::UNIT_RTL
}
