//! Exact execution of a network, equal to that of its runtime.

use crate::{Graph, GraphError, checks};

impl Graph {
    /// Runs the network exactly on one sample. Takes the codes of every input and returns those of every tensor.
    ///
    /// The result is in the order of [`tensors`](Self::tensors). Biases of 64 bits have no codes, so their lists are
    /// empty. If the network has states, the sample is the first step of a stream: see
    /// [`interpret_step`](Self::interpret_step).
    ///
    /// # Errors
    /// [`GraphError`] unless there is one list of codes per input, of the right length and within its type.
    pub fn interpret(&self, inputs: &[&[i32]]) -> Result<Vec<Vec<i32>>, GraphError> {
        self.interpret_step(inputs, &mut self.initial_states())
    }

    /// Runs the network exactly on one step of a stream, and returns the codes of every tensor.
    ///
    /// `states` holds the codes of every state at the start of the step, in the order of [`states`](Self::states),
    /// and is replaced by those of the next step. The first step starts with
    /// [`initial_states`](Self::initial_states).
    ///
    /// # Errors
    /// [`GraphError`] unless there is one list of codes per input and state, of the right length and within its type.
    pub fn interpret_step(
        &self,
        inputs: &[&[i32]],
        states: &mut [Vec<i32>],
    ) -> Result<Vec<Vec<i32>>, GraphError> {
        if inputs.len() != self.inputs.len() {
            return Err(GraphError::InputCount { expected: self.inputs.len(), found: inputs.len() });
        }
        let constant = |tensor: &crate::Tensor| tensor.codes().map_or_else(Vec::new, |codes| codes.to_vec());
        let mut codes: Vec<Vec<i32>> = self.tensors.iter().map(constant).collect();
        for (&id, &input) in self.inputs.iter().zip(inputs) {
            let tensor = self.tensor(id);
            checks::count(&tensor.name, &tensor.ty, input.len())?;
            checks::in_range(&tensor.name, &tensor.ty, input)?;
            codes[id.0] = input.to_vec();
        }
        if states.len() != self.states.len() {
            return Err(GraphError::StateCount { expected: self.states.len(), found: states.len() });
        }
        for (state, held) in self.states.iter().zip(&*states) {
            let tensor = self.tensor(state.tensor);
            checks::count(&tensor.name, &tensor.ty, held.len())?;
            checks::in_range(&tensor.name, &tensor.ty, held)?;
            codes[state.tensor.0] = held.clone();
        }
        for (id, node) in self.nodes_with_ids() {
            let read = |id: &Option<crate::TensorId>| id.map_or(&[][..], |id| codes[id.0].as_slice());
            let made = self.evaluate(id, &node.inputs.iter().map(read).collect::<Vec<_>>());
            codes[node.output.0] = made;
        }
        for (state, held) in self.states.iter().zip(states) {
            held.clone_from(&codes[state.next.0]);
        }
        Ok(codes)
    }
}
