//! Operations that move codes or compare them: their output has the scale and zero point of their input.

use guardbit_graph::ops::{FloatMaxPool2d, MaxPool2d, Pad};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, Op, TensorId, real_of};

use super::{Forms, Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// The operations that are pushed through.
pub(super) struct PassThrough;

#[derive(Debug)]
struct Moved(Op);

impl UnitPattern for PassThrough {
    fn name(&self) -> &'static str {
        "pass_through"
    }

    fn pattern(&self) -> Pattern {
        let moved = Pattern::op_named([
            "reshape",
            "transpose",
            "slice",
            "pad",
            "mirror_pad",
            "tile",
            "reverse",
            "space_to_depth",
            "depth_to_space",
            "float_max_pool2d",
        ]);
        moved.reads([activation("x")])
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let op = &found.graph().node(found.root()).op;
        // Padding with another number than 0 may be no code.
        let representable = !matches!(op, Op::Pad(Pad { value: Some(word), .. }) if real_of(*word) != 0.0);
        representable.then(|| one_input(found, Moved(op.clone()))).flatten()
    }
}

impl Forms for Moved {
    fn output(&self) -> Output {
        Output::AsInput
    }

    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        let real = to.dequantized(parts.inputs[0])?;
        to.real(self.0.clone(), &[real], parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let op: Op = match self.0.clone() {
            Op::FloatMaxPool2d(FloatMaxPool2d { kernel, stride, padding }) => {
                MaxPool2d { kernel, stride, padding, activation: Activation::None }.into()
            }
            // No value is the zero point: real 0.
            Op::Pad(pad) => Pad { value: None, ..pad }.into(),
            op => op,
        };
        to.codes(op, parts.inputs, parts.name, codes)
    }
}
