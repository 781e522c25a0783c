//! Functions of single values that stand alone: tables of all codes, with a scale of their own.

use guardbit_graph::ops::{FloatUnary, RealFunction};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Op, TensorId};

use super::clipped::is_clip;
use super::on_reals::OnReals;
use super::{Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// Pattern of `float_unary`: sigmoid, tanh, hard-swish, leaky relu, gelu, ... A rectifier or limits keep the
/// codes of their input (`max(z, x)`).
pub(super) struct Activation;

#[derive(Debug)]
struct Function(FloatUnary);

impl UnitPattern for Activation {
    fn name(&self) -> &'static str {
        "activation"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op_where::<FloatUnary>(is_bounded).reads([activation("x")]).named("function")
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        one_input(found, Function(found.op::<FloatUnary>("function")?.clone()))
    }
}

/// Returns whether a function is finite for all finite values, which is required for codes.
fn is_bounded(op: &FloatUnary) -> bool {
    !matches!(
        op.function,
        RealFunction::Log | RealFunction::Sqrt | RealFunction::Reciprocal | RealFunction::Exp
    )
}

impl OnReals for Function {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn output(&self) -> Output {
        if is_clip(&self.0) { Output::AsInput } else { Output::Chosen }
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        to.function(&self.0, parts.inputs[0], parts.name, codes).map(Some)
    }
}
