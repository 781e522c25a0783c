//! What is searched for: the inputs that a device can have.

use guardbit_graph::CodeRange;

use crate::{GoldenError, LayerParameters};

/// Maximum number of accelerators.
pub const MAX_CANDIDATES: usize = 20_000;
/// Maximum number of products of an input.
pub const MAX_INPUT_TERMS: usize = 16_384;
/// Maximum width of the bias, in bits.
pub const MAX_BIAS_BITS: u32 = 32;
/// What the inputs may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// Types of the codes, and the number of products of a dot product.
    pub layer: LayerParameters,
    /// Width of the biases that inputs may have; 0: none.
    pub bias_bits: u32,
    /// Seed of the random inputs, which are tried last.
    pub seed: u64,
}

/// Dot product for all accelerators. The products after the last one listed have weights of value 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestInput {
    /// Codes of activation and weight, per product.
    pub products: Vec<[i32; 2]>,
    /// Bias.
    pub bias: i32,
}

impl TestInput {
    /// The input without products.
    pub(super) fn empty() -> Self {
        Self { products: Vec::new(), bias: 0 }
    }
}

impl Search {
    /// Checks the request for a number of accelerators.
    pub(super) fn check(&self, candidates: usize) -> Result<(), GoldenError> {
        let terms = self.layer.terms;
        if !(1..=MAX_INPUT_TERMS).contains(&terms) {
            let problem = format!("{terms} products; expected 1 to {MAX_INPUT_TERMS}");
            return Err(GoldenError::Parameters(problem));
        }
        if !(2..=MAX_CANDIDATES).contains(&candidates) {
            let problem =
                format!("{candidates} accelerator(s) to tell apart; expected 2 to {MAX_CANDIDATES}");
            return Err(GoldenError::Parameters(problem));
        }
        if self.bias_bits > MAX_BIAS_BITS || self.bias_bits == 1 {
            let problem =
                format!("a bias of {} bits; expected 0 (none) or 2 to {MAX_BIAS_BITS}", self.bias_bits);
            return Err(GoldenError::Parameters(problem));
        }
        let LayerParameters { activation, activation_zero_point, weight, weight_zero_point, .. } = self.layer;
        for (name, dtype, zero_point) in
            [("activation", activation, activation_zero_point), ("weight", weight, weight_zero_point)]
        {
            let range = CodeRange::of(dtype);
            if !(range.min()..=range.max()).contains(&zero_point) {
                let problem = format!(
                    "the zero point {zero_point} of the {name} is no code of {dtype}: expected {} to {}",
                    range.min(),
                    range.max()
                );
                return Err(GoldenError::Parameters(problem));
            }
        }
        Ok(())
    }
}
