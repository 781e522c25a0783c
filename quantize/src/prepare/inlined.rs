//! Functions divided as in ONNX Runtime's quantizer.

use guardbit_graph::ops::{FloatBinary, FloatUnary, RealFunction, RealPair};
use guardbit_graph::pattern::{Match, Pattern, Rewrite};
use guardbit_graph::{GraphPatch, OutputSpec, PatchError};

use super::factors::fresh;

/// Expands a hard-swish as in its definition in ONNX: the product of its input with a hard-sigmoid, which has
/// codes of its own.
#[derive(Debug)]
pub(super) struct InlinedHardSwish;

impl Rewrite for InlinedHardSwish {
    fn name(&self) -> &'static str {
        "inlined_hard_swish"
    }

    fn description(&self) -> &'static str {
        "replaces a hard-swish by the product of its input and a hard-sigmoid"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op_where::<FloatUnary>(|op| op.function == RealFunction::HardSwish)
            .reads([Pattern::any().named("x")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let Some(x) = found.id("x") else { return Ok(false) };
        let output = OutputSpec { name: fresh(found, "gate"), ..OutputSpec::of(found.output()) };
        let parameters = vec![1.0 / 6.0, 0.5];
        let gate = FloatUnary { function: RealFunction::HardSigmoid, parameters };
        let gate = patch.node(gate, &[Some(x)], output)?;
        found.replace_by(patch, FloatBinary { function: RealPair::Mul }, &[Some(x), Some(gate)])
    }
}
