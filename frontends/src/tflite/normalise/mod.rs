//! The second stage of the reader: replaces operators that depend only on constants by their results.
//!
//! If a converter left the batch open, the shape of a `RESHAPE` is computed by `SHAPE`, `STRIDED_SLICE` and `PACK`.
//! All sizes are those of the file, for which runtimes allocate memory. Only short lists of integers without scales
//! are computed; codes stay codes. Before that, variables become states (`variables`).
//!
//! Operators that cannot be computed stay unchanged. To add an operator, write its function and add its row.

mod lists;
mod strided;
mod variables;

use std::collections::HashSet;

use guardbit_graph::FileOutcome;

use crate::tflite::parse::{Input, Network, Operator};

use lists::Integers;
pub(crate) use strided::{Masks, taken};

/// Computes the output of an operator. Returns `None` if it does not depend only on constants.
type Fold = fn(&Operands<'_, '_>) -> Option<Integers>;

/// The operators that can be computed, by name in the schema.
const FOLDS: &[(&str, Fold)] = &[
    ("ADD", lists::add),
    ("CAST", lists::cast),
    ("CONCATENATION", lists::concatenation),
    ("GATHER", lists::gather),
    ("MUL", lists::mul),
    ("PACK", lists::pack),
    ("RANK", lists::rank),
    ("REDUCE_PROD", lists::product),
    ("RESHAPE", lists::reshape),
    ("SHAPE", lists::shape),
    ("STRIDED_SLICE", lists::strided_slice),
    ("SUB", lists::sub),
];

/// Returns the names of the operators that can be computed or resolved.
pub(crate) fn operators() -> impl Iterator<Item = &'static str> {
    FOLDS.iter().map(|(name, _)| *name).chain(variables::OPERATORS)
}

/// Replaces variables by states, and computes what depends only on constants, except outputs of the network.
pub(crate) fn normalise(network: &mut Network<'_>) {
    variables::resolve(network);
    let outputs: HashSet<_> = network.outputs.iter().copied().collect();
    let mut computed = HashSet::new();
    for operator in std::mem::take(&mut network.operators) {
        match operator.outputs[..] {
            [output] if !outputs.contains(&output) && folded(network, &operator, output, &computed) => {
                computed.insert(output);
                network.computed.push((operator, FileOutcome::Constant));
            }
            _ => network.operators.push(operator),
        }
    }
    network.computed.sort_by_key(|(operator, _)| operator.index);
}

/// Turns `output` of `operator` into a constant, if it can be computed.
fn folded(
    network: &mut Network<'_>,
    operator: &Operator<'_>,
    output: usize,
    computed: &HashSet<usize>,
) -> bool {
    let Some(&(_, fold)) = FOLDS.iter().find(|(name, _)| *name == operator.place().name) else {
        return false;
    };
    let (Ok(inputs), None) = (operator.inputs(), operator.twice) else { return false };
    let Some(values) = fold(&Operands { network, operator, inputs, computed }) else { return false };
    network.tensors.get_mut(&output).is_some_and(|tensor| values.store(tensor))
}

/// The arguments of the function of an operator.
struct Operands<'n, 'a> {
    network: &'n Network<'a>,
    operator: &'n Operator<'a>,
    inputs: &'n [Input],
    /// The tensors computed so far.
    computed: &'n HashSet<usize>,
}
