//! Products of two matrices of activations.

use std::sync::Arc;

use guardbit_graph::TensorId;
use guardbit_graph::ops::{self, FloatMatMul};
use guardbit_graph::pattern::{Match, Pattern};

use super::{Forms, Operation, Parts, UnitPattern, activation};
use crate::emit::{EVEN, Emit};
use crate::{QuantizeError, TensorCodes};

/// Pattern of `float_matmul` of two activations.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchMatmul;

impl UnitPattern for BatchMatmul {
    fn name(&self) -> &'static str {
        "batch_matmul"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<FloatMatMul>().reads([activation("a"), activation("b")])
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let inputs = vec![found.id("a")?, found.id("b")?];
        Some(Operation { forms: Arc::new(*self), inputs, clip: None })
    }
}

impl Forms for BatchMatmul {
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        let reals = [to.dequantized(parts.inputs[0])?, to.dequantized(parts.inputs[1])?];
        to.real(FloatMatMul {}, &reals, parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        let op = ops::BatchMatmul { adj_x: false, adj_y: false, requantize: EVEN };
        to.codes(op, parts.inputs, parts.name, codes)
    }
}
