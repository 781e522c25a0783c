//! Test vectors for RTL: bundles of stimuli and expected accumulators, and their replay in real simulators.
//!
//! [`export`](export()) creates a bundle from a layer, [`export_float`] from a floating-point one. It contains real and generated dot products, cycle by
//! cycle, with the expected value of every accumulator, flag and output. [`check`] replays a bundle
//! against the reference RTL (or checks it again without a simulator), and [`mutate`] proves that the bundle
//! detects faults. Expected values are those of the simulator's reference engine, step by step
//! ([`guardbit_sim::trace`]). [`GoldenModel`] is a live model of the unit, for lockstep with RTL.

mod aligned;
mod arithmetic;
mod array;
mod assemble;
mod axis;
mod beats;
mod bins;
mod bundle;
mod bundles;
mod check;
mod columns;
mod corners;
mod coverage;
mod describe;
pub mod discriminate;
mod error;
mod export;
mod fit;
mod golden;
mod hdl;
mod interface;
pub mod manifest;
mod profile;
mod reach;
mod read;
mod real;
#[cfg(test)]
mod seeds;
mod sizes;
mod solve;
mod synthetic;
mod text;
mod waves;
pub mod whole;
mod words;

pub use aligned::{
    FLOAT_KIND, FloatArithmetic, FloatBin, FloatBundle, FloatCase, FloatCompared, FloatInterface,
    FloatLayerInfo, FloatManifest, FloatOperands, FormatInfo, ScaleInfo, export_float, float_manifest_schema,
    float_reference_rtl, float_unit_rtl,
};
pub use beats::LevelState;
pub use bundle::{Bundle, Format, Request};
pub use bundles::{check, mutate};
pub use check::{
    CheckReport, CheckRequest, Divergence, Dut, DutFate, DutLatency, DutMutant, JUNIT, MutantResult, Outcome,
    Replayed, Simulator, StressBin, TIME_LIMIT, TrailBeat, Verdict, mutate_dut,
};
pub use error::{GoldenError, VectorError};
pub use export::export;
pub use golden::GoldenModel;
pub use profile::DutProfile;
pub use synthetic::LayerParameters;
pub use waves::WaveFormat;
pub use words::Words;

/// Returns name and text of the files of the reference RTL in SystemVerilog, e.g. for synthesis.
pub fn reference_rtl() -> &'static [(&'static str, &'static str)] {
    &hdl::UNIT_RTL
}
