//! Codes that a network carries from one step of a stream to the next.

use crate::model::{Tensor, TensorType};
use crate::{Graph, GraphError, Integers, TensorId};

/// A tensor whose codes come from the previous step. A network with states runs the samples of a stream in order.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct State {
    /// The tensor that a step reads. No node computes it.
    pub tensor: TensorId,
    /// The tensor whose codes at the end of a step become those of [`tensor`](Self::tensor) in the next step.
    pub next: TensorId,
    /// The codes of [`tensor`](Self::tensor) in the first step.
    pub initial: Integers,
}

impl Graph {
    /// Returns the tensors that are carried from one step of a stream to the next. Empty if samples are independent.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns whether samples are steps of one stream. They run in order, and none can be left out.
    pub fn has_states(&self) -> bool {
        !self.states.is_empty()
    }

    /// Returns the codes of every state in the first step, in the order of [`states`](Self::states).
    pub fn initial_states(&self) -> Vec<Vec<i32>> {
        self.states.iter().map(|state| state.initial.to_vec()).collect()
    }
}

/// Checks that a state of the type of `tensor` can take the unchanged codes of `next`.
pub(crate) fn check_next(tensor: &Tensor, next: &Tensor) -> Result<(), GraphError> {
    let fail =
        |problem| Err(GraphError::State { tensor: tensor.name.clone(), next: next.name.clone(), problem });
    let (to, from): (&TensorType, &TensorType) = (&tensor.ty, &next.ty);
    if to.shape != from.shape {
        return fail(format!("its shape is {:?}, not {:?}", from.shape, to.shape));
    }
    if to.dtype != from.dtype {
        return fail(format!("it is {}, not {}", from.dtype, to.dtype));
    }
    if !to.code_range().includes(from.code_range()) {
        return fail(format!("it may hold {}, the state {}", from.code_type(), to.code_type()));
    }
    Ok(())
}
