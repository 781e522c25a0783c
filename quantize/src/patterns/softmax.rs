//! Softmax.

use guardbit_graph::ops::{FloatSoftmax, QLinearSoftmax};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{CodeRange, TensorId};

use super::{Forms, Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{Parameters, QuantizeError, TensorCodes};

/// `float_softmax`, whose outputs lie between 0 and 1 whatever it reads.
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

impl Forms for Along {
    fn output(&self) -> Output {
        Output::Given(whole_unit)
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
        if to.bytes_alike(parts.inputs, codes) {
            return to.codes(QLinearSoftmax { axis: self.0.axis }, parts.inputs, parts.name, codes);
        }
        let real = to.dequantized(parts.inputs[0])?;
        let name = to.fresh(parts.name, "real");
        let real = to.real(self.0.clone(), &[real], name)?;
        to.quantized(real, parts.name, codes, false)
    }
}

/// 0 to 1 over all codes, a power of two per step: what runtimes give the output of a softmax.
fn whole_unit(codes: CodeRange) -> Parameters {
    let steps = (f64::from(codes.max()) - f64::from(codes.min()) + 1.0).log2().ceil();
    Parameters { scale: (-steps).exp2() as f32, zero_point: codes.min() }
}
