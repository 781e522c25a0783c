//! Plots of a quantization.

mod sqnr_to_float;
mod tradeoffs;
mod value_histograms;

use super::plots;
use crate::QuantizeRecord;

plots! {
    /// All plots of a quantization, in the order of the report.
    QUANTIZE_PLOTS of QuantizeRecord:
    sqnr_to_float
    value_histograms
    tradeoffs
}

fn subtitle(record: &QuantizeRecord) -> String {
    let samples = crate::numbers::counted(record.samples, "calibration sample");
    format!("{} · {} · {samples}", record.model, record.method)
}
