//! A float network quantized in several ways, on accumulators of several widths.

use serde::Serialize;

/// What is left of a float network's accuracy behind narrow accumulators, by the way it was quantized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuantizersRecord {
    /// Name of the float network.
    pub model: String,
    /// Samples that the float network classifies right.
    pub float_right: u64,
    /// Samples with labels that every network was run on.
    pub samples: u64,
    /// One row per panel, way of quantizing and width, those of a curve by rising width.
    pub rows: Vec<QuantizerRow>,
}

/// One quantized network on one accumulator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuantizerRow {
    /// Which panel it stands in: the overflow mode, say.
    pub panel: String,
    /// How the network was quantized.
    pub quantizer: String,
    /// Width of the accumulator.
    pub bits: u32,
    /// Samples that are classified right.
    pub right: u64,
}
