//! Functions that files express as several operations.

use guardbit_graph::ops::{FloatBinary, FloatUnary, RealFunction, RealPair};
use guardbit_graph::pattern::{Match, Pattern, Rewrite};
use guardbit_graph::{GraphPatch, PatchError};

use super::reals;

/// Merges `x * clip(x + 3, 0, 6) / 6`, as exported by PyTorch, into a hard-swish.
#[derive(Debug)]
pub(super) struct HardSwishes;

impl Rewrite for HardSwishes {
    fn name(&self) -> &'static str {
        "hard_swishes"
    }

    fn description(&self) -> &'static str {
        "replaces a sum, limits, product and division that form a hard-swish by a hard-swish"
    }

    fn pattern(&self) -> Pattern {
        let times_x = |of| pair(RealPair::Mul).reads_in_any_order([x(), of]);
        sixth(times_x(gate())).or(times_x(sixth(gate())))
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        replaced(found, patch, RealFunction::HardSwish, Vec::new())
    }
}

/// Merges `clip(x + 3, 0, 6) / 6` into a hard-sigmoid.
#[derive(Debug)]
pub(super) struct HardSigmoids;

impl Rewrite for HardSigmoids {
    fn name(&self) -> &'static str {
        "hard_sigmoids"
    }

    fn description(&self) -> &'static str {
        "replaces a sum, limits and division that form a hard-sigmoid by a hard-sigmoid"
    }

    fn pattern(&self) -> Pattern {
        sixth(gate())
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        replaced(found, patch, RealFunction::HardSigmoid, vec![1.0 / 6.0, 0.5])
    }
}

fn replaced(
    found: &Match<'_>,
    patch: &mut GraphPatch<'_>,
    function: RealFunction,
    parameters: Vec<f32>,
) -> Result<bool, PatchError> {
    let x = found.id("x").filter(|&x| found.graph().tensor(x).ty.shape == found.output().ty.shape);
    match x {
        Some(x) => found.replace_by(patch, FloatUnary { function, parameters }, &[Some(x)]),
        None => Ok(false),
    }
}

fn x() -> Pattern {
    Pattern::any().named("x")
}

/// Returns the pattern of `clip(x + 3, 0, 6)`.
fn gate() -> Pattern {
    let sum = pair(RealPair::Add).reads_in_any_order([x(), number(3.0)]);
    let is_clip = |op: &FloatUnary| op.function == RealFunction::Clip && op.parameters == [0.0, 6.0];
    Pattern::op_where(is_clip).reads([sum])
}

/// Returns the pattern of a sixth of `of`.
fn sixth(of: Pattern) -> Pattern {
    let over = pair(RealPair::Div).reads([of.clone(), number(6.0)]);
    over.or(pair(RealPair::Mul).reads_in_any_order([of, number(1.0 / 6.0)]))
}

fn pair(function: RealPair) -> Pattern {
    Pattern::op_where::<FloatBinary>(move |op| op.function == function)
}

/// Returns the pattern of a constant whose elements all equal `value`.
fn number(value: f32) -> Pattern {
    let is_it = move |values: Vec<f32>| values.iter().all(|&one| one == value);
    Pattern::constant().where_tensor(move |tensor| reals(tensor).is_some_and(is_it))
}
