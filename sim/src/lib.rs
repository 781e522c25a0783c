//! Runs a lowered program: values, overflow events, statistics.
//!
//! [`Simulation`] takes samples in batches and runs every layer twice: as the narrow hardware does, and
//! exactly. [`Batch`] does so for several programs that differ in their registers alone, with one exact run. Two
//! engines compute the dot products: the [`reference`](Engine::Reference) engine is the definition, written to be read;
//! the [`fast`](Engine::Fast) engine is equal to it, vectorized where it can be, and the reference, in parallel, where it
//! cannot. No I/O happens here.

#![deny(unsafe_code)]

mod accumulate;
mod batch;
mod codes;
mod comparable;
mod counts;
mod dot;
mod error;
mod event;
mod fast;
mod host;
mod layer;
mod options;
mod output;
mod packing;
mod reads;
mod reference;
mod sample;
mod simulation;
mod states;
mod statistics;
mod stats;
mod sums;
pub mod trace;

/// Version of all that turns a program and samples into figures: codes, sums, events, statistics, proved widths, cycles.
///
/// Raise it with every change after which the same network, accelerator, samples and settings give another figure
/// anywhere in a stored result, wherever the change was made: here, in the numbers, the operations, lowering or timing.
/// Stored results of another version are never mixed with new ones. A change that makes the same figures faster, or
/// adds a column of which a reader can tell that it is missing, leaves it as it is.
pub const ARITHMETIC_VERSION: u32 = 6;

pub use accumulate::Accumulate;
pub use batch::{Batch, BatchTensors};
pub use codes::{Codes, ToCodes};
pub use error::SimError;
pub use event::Event;
pub use fast::Settled;
#[doc(hidden)]
pub use fast::Stepper;
pub use options::{Engine, Isa, Keep, Mode, Options, Placing, StatsLevel, UnknownOption};
pub use reads::{LayerCodes, Reads};
pub use reference::LevelSums;
pub use simulation::{SampleTensors, Simulation};
pub use statistics::Needs;
pub use stats::{
    ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, LevelStats, SquaredError, TIMELINE_BINS, sqnr_db,
};
pub use sums::{DotSum, delivered_sums, unbounded_sums};
