//! Images of another size. The declarations resemble those of `average_pool`, because each pattern is a file of its
//! own.

use guardbit_graph::Op;
use guardbit_graph::ops::FloatResizeBilinear;
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::on_reals::OnReals;
use super::{Operation, Output, UnitPattern, activation, one_input};

/// Pattern of `float_resize_bilinear`. ONNX Runtime computes it on the real values of codes, unless the codes
/// before and after it have equal scale and zero point, where it rounds differently. Nearest-neighbour
/// resizing passes codes through.
pub(super) struct Resize;

#[derive(Debug)]
struct Resized(FloatResizeBilinear);

impl UnitPattern for Resize {
    fn name(&self) -> &'static str {
        "resize"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(Pattern::op::<FloatResizeBilinear>().reads([activation("x")]).named("resize"))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        one_input(found, Resized(found.op::<FloatResizeBilinear>("resize")?.clone()))
    }
}

impl OnReals for Resized {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn output(&self) -> Output {
        Output::Apart
    }
}
