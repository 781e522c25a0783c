//! Quantization of one network.

use serde::Serialize;

use crate::Fraction;
use crate::tables::{HistogramRow, LayerRow, PartRow, ProofRow, TensorRow, TradeOffRow};

/// All results of one quantization.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuantizeRecord {
    /// Name of the float network in the report.
    pub model: String,
    /// Name in the report of the accelerator on which it ran.
    pub hw: String,
    /// Calibration method.
    pub method: String,
    /// Number of calibration samples.
    pub samples: u64,
    /// Number of samples on which the quantized network was evaluated.
    pub evaluated: u64,
    /// Accuracy of the float network.
    pub accuracy_float: Option<Fraction>,
    /// Accuracy of the quantized network without overflows.
    pub accuracy: Option<Fraction>,
    /// Accuracy of the quantized network on the accelerator.
    pub accuracy_hw: Option<Fraction>,
    /// Rows of `parts.csv`.
    pub parts: Vec<PartRow>,
    /// Rows of `tensors.csv`.
    pub tensors: Vec<TensorRow>,
    /// Rows of `histograms.csv`.
    #[serde(skip)]
    pub histograms: Vec<HistogramRow>,
    /// Rows of `layers.csv`: the layers of the quantized network on the accelerator.
    pub layers: Vec<LayerRow>,
    /// Rows of `proofs.csv`: the proved width of every level of these layers.
    pub proofs: Vec<ProofRow>,
    /// Rows of `tradeoffs.csv`: the networks of mixed widths found, if they were searched for.
    pub tradeoffs: Vec<TradeOffRow>,
    /// Name and value of every figure that the user added.
    pub own: Vec<(String, String)>,
}
