//! Comparison of quantizers of a float network on accumulators of several widths.

use serde::Serialize;

/// Accuracy of a float network with narrow accumulators, by quantizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuantizersRecord {
    /// Name of the float network.
    pub model: String,
    /// Number of samples that the float network classifies as labelled.
    pub float_right: u64,
    /// Number of labelled samples on which every network was run.
    pub samples: u64,
    /// One row per panel, quantizer and width; the rows of a curve are sorted by width.
    pub rows: Vec<QuantizerRow>,
}

/// One quantized network on one accumulator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuantizerRow {
    /// Panel that shows the row, e.g. the overflow mode.
    pub panel: String,
    /// Quantizer of the network.
    pub quantizer: String,
    /// Width of the accumulator in bits.
    pub bits: u32,
    /// Number of samples classified as labelled.
    pub right: u64,
}
