//! Operations that move or compare codes: their output has the scale and zero point of their input. The pass
//! `hoist_quantize` has a list of its own, of operations before which a quantizer may move in any network.

use guardbit_graph::ops::{FloatMaxPool2d, Gather, MaxPool2d, Pad};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, Op, Tensor, TensorId, real_of};

use super::on_reals::{OnReals, with_constant};
use super::{Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// Pattern of the operations that pass codes through.
pub(super) struct PassThrough;

#[derive(Debug)]
struct Moved {
    op: Op,
    /// Elements that a `gather` selects.
    chosen: Option<Tensor>,
}

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
            "dilate",
            "tile",
            "reverse",
            "space_to_depth",
            "depth_to_space",
            "resize_nearest",
            "float_max_pool2d",
        ]);
        let gather = Pattern::op::<Gather>().reads([activation("x"), Pattern::constant().named("chosen")]);
        moved.reads([activation("x")]).or(gather)
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let op = &found.graph().node(found.root()).op;
        // Padding with another number than 0 may not be representable as a code.
        let representable = !matches!(op, Op::Pad(Pad { value: Some(word), .. }) if real_of(*word) != 0.0);
        representable
            .then(|| one_input(found, Moved { op: op.clone(), chosen: found.tensor("chosen").cloned() }))
            .flatten()
    }
}

impl OnReals for Moved {
    fn op(&self) -> Op {
        self.op.clone()
    }

    fn constant(&self) -> Option<(&Tensor, usize)> {
        self.chosen.as_ref().map(|tensor| (tensor, 1))
    }

    fn output(&self) -> Output {
        Output::AsInput
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        let op: Op = match self.op.clone() {
            Op::FloatMaxPool2d(FloatMaxPool2d { kernel, stride, padding }) => {
                MaxPool2d { kernel, stride, padding, activation: Activation::None }.into()
            }
            // Without a value, the padding is the zero point: real 0.
            Op::Pad(pad) => Pad { value: None, ..pad }.into(),
            op => op,
        };
        let inputs = with_constant(self, to, parts.inputs.to_vec(), parts.name)?;
        to.codes(op, &inputs, parts.name, codes).map(Some)
    }
}
