//! `parts.csv` and its companions: results of quantizing a float network.

use super::table::table;
use crate::Decibel;

table! {
    "parts.csv"
    /// One part of the float network: it becomes one operation, or a chain of operations, of the quantized
    /// network.
    PartRow {
        /// Place in the order of execution.
        index: usize,
        /// Name of the part's output.
        part: String,
        /// The pattern that the part matches, or the operation that no pattern matches.
        pattern: String,
        /// Class of the layer: conv, pointwise, depthwise, grouped, dense or matmul.
        class: Option<String>,
        /// Width of the weights.
        weight_bits: Option<u32> ["bits"],
        /// Reason why the part stays in float; blank if it is quantized.
        float: Option<String>,
        /// SQNR of the part's output against the float network, on the calibration samples.
        sqnr_db: Option<Decibel> ["dB"],
        /// Cosine of the angle between the part's output and that of the float network.
        cosine: Option<f64>,
        /// Greatest difference between the part's output and that of the float network.
        max_error: f64,
        /// Sums that a float32 cannot represent; runtimes that multiply in float32 round them first.
        rounded_sums: u64,
        /// Name of its layer in the quantized network, as `layers.csv` and `aligned.csv` of a run list it; blank if it has
        /// none.
        layer: Option<String>,
        /// Index of this layer over all operations of the quantized network.
        layer_index: Option<usize>,
        /// Floating-point codes of the weights with their scales, e.g. `e4m3 per channel`; blank for integer codes.
        weights: Option<String>,
        /// Floating-point codes of the activations with their scales, e.g. `mxfp4 per 32`; blank for integer codes.
        activations: Option<String>,
    }
}

table! {
    "tensors.csv"
    /// One tensor of activations whose codes were chosen.
    TensorRow {
        /// Its name.
        tensor: String,
        /// Type that holds the codes.
        dtype: String,
        /// Least code.
        code_min: i128,
        /// Greatest code.
        code_max: i128,
        /// Real value of one code step.
        scale: f64,
        /// Code of real 0.
        zero_point: i128,
        /// Least value in the float network.
        float_min: f64,
        /// Greatest value in the float network.
        float_max: f64,
        /// Real value of the least code.
        real_min: f64,
        /// Real value of the greatest code.
        real_max: f64,
        /// Values on the calibration samples.
        values: u64,
        /// Values that have the least code.
        at_min: u64,
        /// Values that have the greatest code.
        at_max: u64,
    }
}

table! {
    "histograms.csv"
    /// One bin of the values of a tensor in the float network.
    HistogramRow {
        /// Its name.
        tensor: String,
        /// Least value of the bin.
        low: f64,
        /// Greatest value of the bin.
        high: f64,
        /// Values in it.
        count: u64,
    }
}

table! {
    "proofs.csv"
    /// One accumulation level of an accelerated layer, with the width that is proved for it.
    ProofRow {
        /// Index of the layer in the quantized network.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level, innermost first.
        level: String,
        /// Width of the level's register; blank for `auto`.
        register_bits: Option<u32> ["bits"],
        /// The smallest width that does not overflow for any input of the layer, in any order of additions.
        proved_bits: u32 ["bits"],
        /// Whether no input makes the register overflow.
        safe: bool,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "tradeoffs.csv"
    /// One network of mixed widths that the search evaluated.
    TradeOffRow {
        /// Bytes of weights and biases, each of its own width.
        bytes: u64 ["bytes"],
        /// Width of an accumulator that no input makes overflow, the largest over the layers.
        accumulator_bits: u32 ["bits"],
        /// Share of the calibration samples with the same class as in the float network.
        agreement: f64,
        /// Signal to noise ratio of the outputs on the accelerator against those of the float network.
        sqnr_db: Decibel ["dB"],
        /// Whether the network is on the Pareto front of these figures.
        pareto: bool,
        /// Whether this network was written.
        chosen: bool,
        /// Bits of the weights and of the activations, per layer.
        widths: String,
    }
}
