//! Codes that a layer has for itself if other operations read the tensor too.

use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Op, TensorId, ops::Reshape};

use super::on_reals::OnReals;
use super::{Operation, Output, Parts, UnitPattern, activation, one_input};
use crate::emit::Emit;
use crate::{QuantizeError, TensorCodes};

/// Pattern of a `reshape` without effect, which [`own_inputs`](crate::prepare::own_inputs) inserts before
/// layers: other codes of the same values.
pub(super) struct OwnInput;

#[derive(Debug)]
struct Requantized(Reshape);

impl UnitPattern for OwnInput {
    fn name(&self) -> &'static str {
        "requantize"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<Reshape>().reads([activation("x")]).named("own")
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let graph = found.graph();
        let output = graph.node(found.root()).output;
        let same = graph.tensor(output).ty.shape == found.ty("x")?.shape;
        // An output of the network keeps its name.
        let op = (same && !graph.outputs().contains(&output)).then(|| found.op::<Reshape>("own")).flatten();
        one_input(found, Requantized(op?.clone()))
    }
}

impl OnReals for Requantized {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn output(&self) -> Output {
        Output::AsInputAtFirst
    }

    fn on_codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<Option<TensorId>, QuantizeError> {
        let input = parts.inputs[0];
        match to.has_codes(input, codes) {
            true => Ok(Some(input)),
            false => to.requantized(input, parts.name, codes).map(Some),
        }
    }
}
