//! Conversion of variables to states: tensors that a step reads, and the tensors whose codes they hold in the next
//! step.
//!
//! Operators run in order. A variable that is read before it is assigned holds the value of the previous step, or the
//! initial value. This read is the state. Every other read is a copy of the value assigned or read last.

use std::collections::{HashMap, HashSet};

use guardbit_graph::FileOutcome;

use crate::tflite::parse::{Assignment, Input, Network, Operator, State, TfliteError, Variable};

/// The operators that are resolved here.
pub(super) const OPERATORS: [&str; 4] = ["ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE"];

/// Replaces variables by states. The first problem becomes the damage of the network, after the operators before it.
pub(super) fn resolve(network: &mut Network<'_>) {
    let operators = std::mem::take(&mut network.operators);
    if !operators.iter().any(|operator| OPERATORS.contains(&operator.place().name)) {
        network.operators = operators;
        return;
    }
    let mut variables = Variables::default();
    for operator in operators {
        if let Err(error) = variables.take(network, operator) {
            network.damage = Some(error);
            break;
        }
    }
    variables.finish(network);
}

#[derive(Default)]
struct Variables<'a> {
    /// Variables, by the tensors that are their handles.
    handles: HashMap<usize, Variable>,
    /// The current value of each variable in the step.
    current: HashMap<Variable, Input>,
    initial: HashMap<Variable, Assignment<'a>>,
    /// The subgraphs that have run.
    called: HashSet<usize>,
    /// The variables that are read before they are assigned, with the index of their state.
    read: Vec<(Variable, usize)>,
    assigned: HashSet<Variable>,
}

impl<'a> Variables<'a> {
    fn take(&mut self, network: &mut Network<'a>, operator: Operator<'a>) -> Result<(), TfliteError> {
        let place = operator.place();
        let fail = |problem: &str| TfliteError::Operator { place: place.clone(), problem: problem.into() };
        if !OPERATORS.contains(&place.name) {
            network.operators.push(operator);
            return Ok(());
        }
        if let Some(twice) = operator.twice {
            return Err(TfliteError::written_twice(Some(place), &network.tensors[&twice].name));
        }
        let inputs = operator.inputs()?.to_vec();
        let variable = |input: &Input| {
            let handle = input.tensor().and_then(|tensor| self.handles.get(&tensor));
            handle.cloned().ok_or_else(|| fail("has a handle that does not come from VAR_HANDLE"))
        };
        match (place.name, &inputs[..], &operator.outputs[..]) {
            ("CALL_ONCE", [], []) => {
                if !self.current.is_empty() {
                    return Err(fail("runs after a variable was read or assigned; it must come before"));
                }
                let subgraph = operator.initialization()?;
                if self.called.insert(subgraph) {
                    let assignments = network.initializations.remove(&subgraph);
                    for assignment in assignments.unwrap_or(Ok(Vec::new()))? {
                        self.initial.insert(assignment.variable.clone(), assignment);
                    }
                }
            }
            ("VAR_HANDLE", [], &[output]) => {
                self.handles.insert(output, operator.variable()?);
            }
            ("ASSIGN_VARIABLE", [handle, value], []) => {
                let variable = variable(handle)?;
                if let Input::Unwritten(tensor) = *value {
                    let tensor = network.tensors[&tensor].name.clone();
                    return Err(TfliteError::Order { place, tensor });
                }
                self.assigned.insert(variable.clone());
                self.current.insert(variable, *value);
            }
            ("READ_VARIABLE", [handle], &[output]) => {
                let variable = variable(handle)?;
                if let Some(&current) = self.current.get(&variable) {
                    network.operators.push(operator.reading(vec![current]));
                    return Ok(());
                }
                self.current.insert(variable.clone(), Input::Written(output));
                self.read.push((variable.clone(), network.states.len()));
                network.states.push(State {
                    tensor: output,
                    next: Input::Written(output),
                    initial: self.initial.remove(&variable).map(|assignment| assignment.value),
                    variable: variable.name,
                    place,
                });
            }
            _ => return Err(fail("has the wrong number of inputs or outputs")),
        }
        network.computed.push((operator, FileOutcome::OfState));
        Ok(())
    }

    /// Sets the value of every state at the end of a step, after all operators.
    fn finish(self, network: &mut Network<'a>) {
        for (variable, state) in &self.read {
            if self.assigned.contains(variable) {
                network.states[*state].next = self.current[variable];
            }
        }
    }
}
