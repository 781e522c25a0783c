//! Tensors joined along an axis.

use std::sync::Arc;

use guardbit_graph::TensorId;
use guardbit_graph::ops;
use guardbit_graph::pattern::{Match, Pattern};

use super::{Forms, Operation, Parts, UnitPattern, activation};
use crate::emit::{EVEN, Emit};
use crate::{QuantizeError, TensorCodes};

/// `concat` of activations: inputs of other scales are moved to that of the output.
pub(super) struct Concat;

#[derive(Debug)]
struct Joined(usize);

impl UnitPattern for Concat {
    fn name(&self) -> &'static str {
        "concat"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<ops::Concat>().reads_only(activation("x"))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let ops::Concat { axis, .. } = concat(found)?;
        Some(Operation { forms: Arc::new(Joined(*axis)), inputs: found.all("x").to_vec(), clip: None })
    }
}

fn concat<'g>(found: &Match<'g>) -> Option<&'g ops::Concat> {
    <ops::Concat as guardbit_graph::OpType>::of(&found.graph().node(found.root()).op)
}

impl Joined {
    fn op(&self) -> ops::Concat {
        ops::Concat { axis: self.0, requantize: EVEN }
    }
}

impl Forms for Joined {
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        let reals: Result<Vec<_>, _> = parts.inputs.iter().map(|&input| to.dequantized(input)).collect();
        to.real(self.op(), &reals?, parts.name.into())
    }

    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        if to.bytes_alike(parts.inputs, codes) {
            return to.codes(self.op(), parts.inputs, parts.name, codes);
        }
        let reals: Result<Vec<_>, _> = parts.inputs.iter().map(|&input| to.dequantized(input)).collect();
        let name = to.fresh(parts.name, "real");
        let real = to.real(self.op(), &reals?, name)?;
        to.quantized(real, parts.name, codes, false)
    }
}
