//! States that a stream carries from one step to the next.

use guardbit_hwmodels::Program;

use crate::codes::Codes;
use crate::options::Mode;
use crate::tensors::BatchTensors;

/// Codes of every state of the graph at the start of the next step.
#[derive(Debug, Default)]
pub(crate) struct States {
    /// States of the exact network.
    exact: Vec<Codes>,
    /// States by program. Codes that equal the exact ones are shared with them.
    simulated: Vec<Vec<Codes>>,
}

impl States {
    /// Returns the states at the first step, for `programs` programs like `program`.
    pub fn new(program: &Program, programs: usize) -> Self {
        let graph = &program.graph;
        let initial = |state: &guardbit_graph::State| {
            Codes::within(graph.tensor(state.tensor).ty.dtype, &state.initial.to_words())
        };
        let exact: Vec<Codes> = graph.states().iter().map(initial).collect();
        Self { simulated: vec![exact.clone(); programs], exact }
    }

    /// Returns whether the network has no states, so that samples are independent.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// Copies the states to the tensors that a step reads.
    pub fn give(&self, program: &Program, tensors: &mut BatchTensors) {
        for (place, state) in program.graph.states().iter().enumerate() {
            let at = state.tensor.index();
            tensors.exact[at] = Some(self.exact[place].clone());
            for (tensors, states) in tensors.simulated.iter_mut().zip(&self.simulated) {
                tensors[at] = Some(states[place].clone());
            }
        }
    }

    /// Takes over the states after a step. In isolated mode every step starts from the exact states, because
    /// every layer reads exact activations. A program that was stopped runs no further step.
    pub fn take(&mut self, program: &Program, tensors: &mut BatchTensors, mode: Mode) {
        for (place, state) in program.graph.states().iter().enumerate() {
            let at = state.next.index();
            let Some(exact) = &tensors.exact[at] else { continue };
            self.exact[place] = exact.clone();
            for (tensors, states) in tensors.simulated.iter().zip(&mut self.simulated) {
                states[place] = match &tensors[at] {
                    Some(codes) if mode == Mode::Propagated && codes != exact => codes.clone(),
                    _ => exact.clone(),
                };
            }
        }
    }

    /// Keeps only the first `count` programs.
    pub fn keep_first(&mut self, count: usize) {
        self.simulated.truncate(count);
    }
}
