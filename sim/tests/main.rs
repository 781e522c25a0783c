//! Tests of both engines: one program, with a module per file.

mod bodies;
mod bounds;
mod chains;
mod common;
mod constants;
mod contract;
mod datapath;
mod depthwise;
mod first;
mod golden_accumulators;
mod laws;
mod listed;
mod neighbours;
mod orders;
mod packing;
mod points;
mod presets;
mod rails;
mod ranges;
mod residency;
mod runs;
mod sparse;
mod states;
mod stepper;
mod sums;
mod trace;
