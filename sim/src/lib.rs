//! Runs a lowered program and returns values, overflow events and statistics.
//!
//! [`Simulation`] takes samples in batches and runs every layer twice: as the narrow hardware computes it,
//! and exactly. [`Batch`] does so for several programs that differ only in their registers, with one exact
//! run. Two engines compute the dot products. The [`reference`](Engine::Reference) engine is the definition,
//! written to be read. The [`fast`](Engine::Fast) engine gives equal results: it is vectorized for most
//! datapaths, and runs the reference in parallel for all others. No I/O happens here.

#![deny(unsafe_code)]

mod accumulate;
mod aligned;
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
mod setup;
mod simulation;
mod states;
mod statistics;
mod stats;
mod sums;
mod tensors;
pub mod trace;

/// Version of everything that turns a program and samples into figures: codes, sums, events, statistics,
/// proved widths and cycles.
///
/// Raise it with every change after which one network, accelerator, samples and settings give another figure
/// anywhere in a stored result, wherever the change was made: here, in the numbers, the operations, the
/// lowering or the timing. Stored results of different versions are never mixed. Do not raise it for a change
/// that only computes the figures faster, or that adds a column whose absence a reader can detect.
pub const ARITHMETIC_VERSION: u32 = 7;

pub use accumulate::Accumulate;
pub use aligned::{FLOAT_BINS, FirstOverflow, FloatStats, INTEGER_BINS, Most, Overflowed, SquaredReals};
pub use batch::Batch;
pub use codes::{Codes, ToCodes};
pub use error::SimError;
pub use event::{Event, EventStage};
pub use fast::Settled;
#[doc(hidden)]
pub use fast::Stepper;
pub use options::{Engine, Isa, Keep, Mode, Options, Placing, StatsLevel, UnknownOption};
pub use reads::{LayerCodes, Reads};
pub use reference::LevelSums;
pub use simulation::{SampleTensors, Simulation};
pub use statistics::Needs;
pub use stats::{
    ChannelErrors, ChannelLevel, EventCounts, HISTOGRAM_BINS, LayerStats, LevelStats, SquaredError,
    TIMELINE_BINS, sqnr_db,
};
pub use sums::{DotSum, delivered_sums, unbounded_sums};
pub use tensors::BatchTensors;
