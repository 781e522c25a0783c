//! `parts.csv` and its companions: results of quantizing a float network.

use super::table::table;
use crate::Decibel;

table! {
    "parts.csv"
    /// A row of `parts.csv`: a part of the float network that is one operation, or a chain of them, of the quantized one.
    PartRow {
        /// Place in the order of execution.
        index: usize,
        /// Name of its output.
        part: String,
        /// The pattern that it matches, or the operation that none takes.
        pattern: String,
        /// What layer it is: conv, pointwise, depthwise, grouped, dense, matmul.
        class: Option<String>,
        /// Width of its weights.
        weight_bits: Option<u32> ["bits"],
        /// Why it stays in float; blank if it does not.
        float: Option<String>,
        /// Of its output against that of the float network, on the calibration samples.
        sqnr_db: Option<Decibel> ["dB"],
        /// Of the angle between both.
        cosine: Option<f64>,
        /// Greatest difference of both.
        max_error: f64,
        /// Sums that a float32 does not hold: runtimes that multiply in float32 round them first.
        rounded_sums: u64,
    }
}

table! {
    "tensors.csv"
    /// A row of `tensors.csv`: a tensor of activations whose codes were chosen.
    TensorRow {
        /// Its name.
        tensor: String,
        /// Type that holds the codes.
        dtype: String,
        /// Least code.
        code_min: i128,
        /// Greatest code.
        code_max: i128,
        /// Real value of a step.
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
        /// Those of them that have the least code.
        at_min: u64,
        /// Those of them that have the greatest code.
        at_max: u64,
    }
}

table! {
    "histograms.csv"
    /// A row of `histograms.csv`: one bin of the values of a tensor in the float network.
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
    /// A row of `proofs.csv`: an accumulation level of an accelerated layer, and the width that is proved for it.
    ProofRow {
        /// Index of the layer in the quantized network.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level, innermost first.
        level: String,
        /// Width of the level's register; blank if it is as wide as needed.
        register_bits: Option<u32> ["bits"],
        /// The least width that no input of the layer makes overflow, in any order of additions.
        proved_bits: u32 ["bits"],
        /// Whether no input makes the register overflow.
        safe: bool,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "tradeoffs.csv"
    /// A network of mixed widths that a search met.
    TradeOffRow {
        /// Bytes of weights and biases, each of its own width.
        bytes: u64 ["bytes"],
        /// Width of the accumulator that no input makes overflow, the widest over the layers.
        accumulator_bits: u32 ["bits"],
        /// Share of the calibration samples whose class is that of the float network.
        agreement: f64,
        /// Signal to noise ratio of the outputs on the accelerator against those of the float network.
        sqnr_db: Decibel ["dB"],
        /// Whether no other network is better in one of these and no worse in the others.
        pareto: bool,
        /// Whether it is the one that was written.
        chosen: bool,
        /// By layer, the bits of its weights and of its activations.
        widths: String,
    }
}
