//! Tensors joined along an axis.

use std::sync::Arc;

use guardbit_graph::ops;
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Op, TensorId};

use super::on_reals::OnReals;
use super::{Operation, Parts, UnitPattern, activation};
use crate::emit::{EVEN, Emit};
use crate::{QuantizeError, TensorCodes};

/// Pattern of `concat` of activations. Inputs of other scales are requantized to that of the output.
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

impl OnReals for Joined {
    fn op(&self) -> Op {
        ops::Concat { axis: self.0, requantize: EVEN }.into()
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        let alike = to.bytes_alike(parts.inputs, codes);
        alike.then(|| to.codes(self.op(), parts.inputs, parts.name, codes)).transpose()
    }
}
