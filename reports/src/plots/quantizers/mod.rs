//! Plots of a float network that was quantized in several ways.

mod accuracy;

use super::Plot;
use crate::QuantizersRecord;

/// All plots of a comparison of quantizers.
pub const QUANTIZER_PLOTS: &[Plot<QuantizersRecord>] = &[accuracy::PLOT];
