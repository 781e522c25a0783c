//! Activation codes that a layer may read.

use guardbit_graph::CodeRange;

use crate::{LayerInput, LayerParameters, LayerProblem, Parameters, Range, Target};

/// Codes of activations with their parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Input {
    pub parameters: Parameters,
    pub codes: CodeRange,
}

/// Narrowest codes that are tried.
const LEAST_BITS: u32 = 2;

impl Input {
    /// Returns the codes that the layer reads unless it chooses others.
    pub fn plain(layer: &LayerProblem<'_>) -> Self {
        Self { parameters: layer.plain.input, codes: layer.plain.input_codes }
    }

    /// Returns codes of `bits` bits for the fraction `part` of the plain range.
    pub fn of(layer: &LayerProblem<'_>, bits: u32, part: f64) -> Self {
        let plain = Self::plain(layer);
        let codes = narrowed(plain.codes, bits);
        if codes == plain.codes && part == 1.0 {
            return plain;
        }
        let end = |code: i32| plain.parameters.real(code) * part;
        let range = Range { low: end(plain.codes.min()), high: end(plain.codes.max()) };
        Self { parameters: Target { codes, ..layer.targets.input }.parameters(range), codes }
    }

    /// Returns `parameters` changed to read these codes.
    pub fn with(self, parameters: &LayerParameters) -> LayerParameters {
        LayerParameters { input: self.parameters, input_codes: self.codes, ..parameters.clone() }
    }
}

/// Returns the widths that the layer's input may have, widest first.
pub(super) fn widths(layer: &LayerProblem<'_>) -> impl Iterator<Item = u32> + use<> {
    let widest = layer.plain.input_codes.bits();
    let least = match layer.input {
        LayerInput::Free(_) => LEAST_BITS.min(widest),
        LayerInput::Fixed(_) => widest,
    };
    (least..=widest).rev()
}

/// Returns the codes of `bits` bits within wider codes that start at 0 or lie around it.
fn narrowed(codes: CodeRange, bits: u32) -> CodeRange {
    let (min, max) = match (codes.min() < 0, codes.min() == -codes.max()) {
        (false, _) => (0, (1 << bits) - 1),
        (true, false) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (true, true) => (1 - (1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    if bits >= codes.bits() { codes } else { CodeRange::new(min, max).unwrap_or(codes) }
}
