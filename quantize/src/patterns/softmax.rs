//! Softmax.

use guardbit_graph::ops::{FloatSoftmax, QLinearSoftmax};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{CodeRange, Op, TensorId};

use super::on_reals::OnReals;
use super::{Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{Parameters, QuantizeError, TensorCodes};

/// Pattern of `float_softmax`, whose outputs always lie between 0 and 1.
pub(super) struct Softmax;

#[derive(Debug)]
struct Along(FloatSoftmax);

impl UnitPattern for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<FloatSoftmax>().reads([activation("x")]).named("softmax")
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        one_input(found, Along(found.op::<FloatSoftmax>("softmax")?.clone()))
    }
}

impl OnReals for Along {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn output(&self) -> Output {
        Output::Given(whole_unit)
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        let op = QLinearSoftmax { axis: self.0.axis };
        let alike = to.bytes_alike(parts.inputs, codes);
        alike.then(|| to.codes(op, parts.inputs, parts.name, codes)).transpose()
    }
}

/// Returns parameters that cover 0 to 1 with all codes and a power of two as scale, as runtimes use for the
/// output of a softmax.
fn whole_unit(codes: CodeRange) -> Parameters {
    let steps = (f64::from(codes.max()) - f64::from(codes.min()) + 1.0).log2().ceil();
    Parameters { scale: (-steps).exp2() as f32, zero_point: codes.min() }
}
