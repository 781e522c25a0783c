//! The quantization of one network.

use serde::Serialize;

use crate::Fraction;
use crate::tables::{HistogramRow, LayerRow, PartRow, ProofRow, TensorRow, TradeOffRow};

/// All that is reported of one quantization.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuantizeRecord {
    /// The float network, as it is called in the report.
    pub model: String,
    /// The accelerator that it was run on, as it is called in the report.
    pub hw: String,
    /// The calibration method.
    pub method: String,
    /// Calibration samples.
    pub samples: u64,
    /// Samples that the network was run on afterwards.
    pub evaluated: u64,
    /// Accuracy of the float network.
    pub accuracy_float: Option<Fraction>,
    /// Accuracy of the quantized network, every accumulator wide enough.
    pub accuracy: Option<Fraction>,
    /// Accuracy of the quantized network on the accelerator.
    pub accuracy_hw: Option<Fraction>,
    /// `parts.csv`.
    pub parts: Vec<PartRow>,
    /// `tensors.csv`.
    pub tensors: Vec<TensorRow>,
    /// `histograms.csv`.
    #[serde(skip)]
    pub histograms: Vec<HistogramRow>,
    /// `layers.csv`: the layers of the quantized network on the accelerator.
    pub layers: Vec<LayerRow>,
    /// `proofs.csv`: the width that is proved for every level of them.
    pub proofs: Vec<ProofRow>,
    /// `tradeoffs.csv`: networks of mixed widths that were met, if they were looked for.
    pub tradeoffs: Vec<TradeOffRow>,
    /// Figures that the user added.
    pub own: Vec<(String, String)>,
}
