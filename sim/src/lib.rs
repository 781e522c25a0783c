//! Runs a lowered program: values, overflow events, statistics.
//!
//! [`Simulation`] takes samples in batches and runs every layer twice: as the narrow hardware does, and
//! exactly. [`Points`] does so for several programs that differ in their registers alone, with one exact run. Three
//! engines compute the dot products: the [`reference`](Engine::Reference) engine is the
//! definition, written to be read; the [`parallel`](Engine::Parallel) engine is equal to it on 64-bit integers
//! for every datapath; the [`fast`](Engine::Fast) engine is equal to it and vectorized where it can be. No I/O
//! happens here.

#![deny(unsafe_code)]

mod accumulate;
mod alike;
mod dot;
mod error;
mod event;
mod exact;
mod fast;
mod group;
mod layer;
mod options;
mod output;
mod packing;
mod parallel;
mod points;
mod reference;
mod simulation;
mod spare;
mod statistics;
mod stats;
pub mod trace;

/// Version of all that turns a program and samples into figures: codes, sums, events, statistics, proved widths, cycles.
///
/// Raise it with every change after which the same network, accelerator, samples and settings give another figure
/// anywhere in a stored result, wherever the change was made: here, in the numbers, the operations, lowering or timing.
/// Stored results of another version are never mixed with new ones. A change that makes the same figures faster, or
/// adds a column of which a reader can tell that it is missing, leaves it as it is.
pub const ARITHMETIC_VERSION: u32 = 2;

pub use accumulate::Accumulate;
pub use error::SimError;
pub use event::Event;
pub use fast::Settled;
#[doc(hidden)]
pub use fast::Stepper;
pub use options::{Body, Engine, Keep, Mode, Options, Placing, StatsLevel, UnknownOption};
pub use points::{PointTensors, Points};
pub use simulation::{Codes, SampleTensors, Simulation};
pub use statistics::Needs;
pub use stats::{
    ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, LevelStats, SquaredError, TIMELINE_BINS,
};
