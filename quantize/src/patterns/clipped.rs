//! Rectifiers and limits after an operation, which are merged into its codes.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{FloatUnary, RealFunction};
use guardbit_graph::pattern::{Match, Pattern};

use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// Limits of real values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clip(FloatUnary);

/// Returns a pattern of `of`, optionally followed by a rectifier or limits.
pub(super) fn maybe_clipped(of: Pattern) -> Pattern {
    of.then_maybe(|of| Pattern::op_where::<FloatUnary>(is_clip).reads([of]).named("clip"))
}

/// Returns whether a function only limits values.
pub(super) fn is_clip(op: &FloatUnary) -> bool {
    matches!(op.function, RealFunction::Relu | RealFunction::Clip)
}

impl Clip {
    /// Returns the limits of a match.
    pub fn of(found: &Match<'_>) -> Option<Self> {
        found.op::<FloatUnary>("clip").cloned().map(Self)
    }

    /// Returns the value clamped to the limits.
    pub fn real(&self, value: f32) -> f32 {
        self.0.function.apply(value, &self.0.parameters)
    }

    /// Returns the code of the clamped real value of a code.
    pub fn code(&self, code: i32, codes: &TensorCodes) -> i32 {
        codes.code(self.real(codes.real(code)))
    }

    /// Returns whether it changes any code: a scale chosen for clipped values usually leaves nothing to clip.
    pub fn acts_on(&self, codes: &TensorCodes) -> bool {
        [codes.range.min(), codes.range.max()].iter().any(|&end| self.code(end, codes) != end)
    }

    /// Adds it to a network, between codes of one scale.
    pub fn emit(
        &self,
        to: &mut Emit,
        input: TensorId,
        name: &str,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        to.function(&self.0, input, name, codes)
    }
}
