//! Plain data from which reports are drawn, so that they can be redrawn without a simulation.

mod activity;
mod compare;
mod costs;
mod coverage;
mod curves;
mod design;
mod explore;
mod fraction_bits;
mod histogram;
mod point;
mod quantize;
mod quantizers;
mod run;
mod schemes;
mod size;
mod sums;
mod timing;

pub use activity::LayerActivity;
pub use compare::{Compared, ComparedPoint, ComparedRow, Comparison};
pub use costs::CostRecord;
pub use coverage::{CoverageRecord, HostLayer, quantized_weights_in_float};
pub use curves::{CurvePoint, CurvesRecord};
pub use design::{DesignRecord, LayerDesign, LevelDesign, MOST_STARTS, PATHS};
pub use explore::{ExploreCost, ExploreRecord};
pub(crate) use fraction_bits::{Aim, FractionBits};
pub use histogram::LevelHistogram;
pub use point::PointRecord;
pub use quantize::QuantizeRecord;
pub use quantizers::{QuantizerRow, QuantizersRecord};
pub use run::RunRecord;
pub use schemes::{SchemeRow, SchemesRecord};
pub use size::{DesignLevel, SizeRecord, WitnessRecord};
pub use sums::{SumBins, SumHistogram, SumKind};
pub use timing::{NetworkTiming, TileRecord};
