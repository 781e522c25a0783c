//! Extraction of the part of a file that some tensors depend on.

use std::collections::{HashMap, HashSet};

use super::network::{Input, Network};

/// Operators that assign to variables.
const VARIABLES: [&str; 2] = ["ASSIGN_VARIABLE", "CALL_ONCE"];

impl Network<'_> {
    /// Makes the tensors `to` the outputs, and removes operators and inputs that they do not depend on.
    ///
    /// Returns whether operators compute all of them. If not, nothing changes.
    pub fn cut(&mut self, to: &[String]) -> bool {
        let (mut makers, mut named) = (HashMap::new(), HashMap::new());
        for (index, operator) in self.operators.iter().enumerate() {
            for &output in &operator.outputs {
                named.insert(self.tensors[&output].name.as_str(), output);
                makers.insert(output, index);
            }
        }
        let found: Option<Vec<usize>> = to.iter().map(|name| named.get(name.as_str()).copied()).collect();
        let Some(mut outputs) = found else { return false };
        let mut listed = HashSet::new();
        outputs.retain(|&output| listed.insert(output));
        // A variable that the part reads was assigned in other steps, so all assignments belong to the part.
        let on_variables: Vec<usize> = (0..self.operators.len())
            .filter(|&index| VARIABLES.contains(&self.operators[index].place().name))
            .collect();
        let (mut operators, mut needed) = (HashSet::new(), HashSet::new());
        let mut pending = outputs.clone();
        while let Some(tensor) = pending.pop() {
            if let Some(&maker) = makers.get(&tensor)
                && operators.insert(maker)
            {
                let reads_variable = self.operators[maker].place().name == "READ_VARIABLE";
                let variables = on_variables.iter().copied().filter(|_| reads_variable);
                for operator in
                    variables.filter(|&other| operators.insert(other)).chain([maker]).collect::<Vec<_>>()
                {
                    if let Ok(inputs) = self.operators[operator].inputs() {
                        pending.extend(inputs.iter().filter_map(|input: &Input| input.tensor()));
                    }
                }
            }
            needed.insert(tensor);
        }
        let mut index = 0..;
        self.operators.retain(|_| index.next().is_some_and(|index| operators.contains(&index)));
        self.inputs.retain(|input| needed.contains(input));
        self.outputs = outputs;
        // The damage lies after the part, except for assignments to its variables.
        if !self.operators.iter().any(|operator| operator.place().name == "READ_VARIABLE") {
            self.damage = None;
        }
        true
    }
}
