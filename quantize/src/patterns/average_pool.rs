//! Average pools.

use guardbit_graph::TensorId;
use guardbit_graph::ops::FloatAvgPool2d;
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::{Forms, Operation, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// `float_avg_pool2d`: ONNX Runtime computes it on the real values of codes.
pub(super) struct AveragePool;

#[derive(Debug)]
struct Pool(FloatAvgPool2d);

impl UnitPattern for AveragePool {
    fn name(&self) -> &'static str {
        "average_pool"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(Pattern::op::<FloatAvgPool2d>().reads([activation("x")]).named("pool"))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        one_input(found, Pool(found.op::<FloatAvgPool2d>("pool")?.clone()))
    }
}

impl Forms for Pool {
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
        let kernel = to.bytes_alike(parts.inputs, codes);
        let real = to.dequantized(parts.inputs[0])?;
        let name = to.fresh(parts.name, "real");
        let real = to.real(self.0.clone(), &[real], name)?;
        to.quantized(real, parts.name, codes, kernel)
    }
}
