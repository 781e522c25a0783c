//! Operations of an accelerator that consist of several elementary ones.

use std::sync::Arc;

use serde::Serialize;

use super::{Operands, Operator};
use crate::effort::Effort;
use crate::model::Tensor;
use crate::passes::{FuseActivations, Pass};
use crate::{DotProducts, Graph, GraphError, NodeId, PatchError, Products, TensorType};

/// One operation of an accelerator that performs a small network, e.g. a fused convolution.
///
/// It reads the inputs of that network, in their order, and then its constants. Its output codes are those of the
/// network. [`pattern::FusedOp`](crate::pattern::FusedOp) creates it from the nodes that a pattern matches, and
/// [`pattern::Expand`](crate::pattern::Expand) replaces it with its network. Files never contain this operation.
#[derive(Debug, Clone, Serialize)]
pub struct Composite {
    /// Name of the accelerator's operation, e.g. `npu.conv2d`.
    name: String,
    #[serde(serialize_with = "crate::canonical::graph")]
    body: Arc<Graph>,
    /// The body if it is one node after fusing activations into preceding nodes.
    #[serde(skip)]
    one: Option<Arc<Graph>>,
}

impl Composite {
    /// Creates an operation with this name that performs `body`.
    ///
    /// # Errors
    /// [`PatchError`] if a pass over the body fails.
    pub fn new(name: impl Into<String>, body: Graph) -> Result<Self, PatchError> {
        let fused = FuseActivations.run(&body)?;
        let one = Some(fused.unwrap_or_else(|| body.clone())).filter(|fused| fused.nodes().len() == 1);
        Ok(Self { name: name.into(), body: Arc::new(body), one: one.map(Arc::new) })
    }

    /// Returns the name of the accelerator's operation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the network that it performs.
    pub fn body(&self) -> &Arc<Graph> {
        &self.body
    }

    /// Returns the name of its elementary operation if its body is only one.
    pub fn single(&self) -> Option<&'static str> {
        self.one.as_ref().map(|one| one.node(NodeId::default()).op.name())
    }

    /// Returns the tensors of the body that it reads: inputs, then constants.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Tensor> {
        let inputs = self.body.inputs().iter().map(|&id| self.body.tensor(id));
        inputs.chain(self.body.tensors().iter().filter(|tensor| tensor.constant.is_some()))
    }

    fn output(&self) -> &TensorType {
        &self.body.tensor(self.body.outputs()[0]).ty
    }
}

impl PartialEq for Composite {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.body == other.body
    }
}

impl Operator for Composite {
    const NAME: &'static str = "composite";
    /// [`Graph::work`] counts the body instead.
    const EFFORT: Effort = Effort::NOTHING;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let count = self.reads().count();
        operands.expect_inputs(count, count)?;
        for (index, own) in self.reads().enumerate() {
            let read = operands.input(index);
            if read.ty != own.ty || own.constant.is_some() && read.constant != own.constant {
                let problem = format!("has another type than `{}` of the body", own.name);
                return Err(operands.operand_error(&read.name, problem));
            }
        }
        if self.body.has_states() {
            return Err(operands.attribute_error(
                "body",
                "has states, which are only supported in a whole \
                                                         network"
                    .into(),
            ));
        }
        let output = self.output();
        operands.expect_output_dtype(&[output.dtype])?;
        if operands.output_quantization != output.quantization.as_ref() {
            let problem = "has another type than the output of the body".into();
            return Err(operands.operand_error(operands.output_name, problem));
        }
        Ok(output.shape.clone())
    }

    fn dot_products(&self, _operands: &Operands<'_>) -> Option<DotProducts> {
        self.one.as_ref()?.dot_products(NodeId::default())
    }

    fn products(&self, _operands: &Operands<'_>) -> Option<Products> {
        let inner = self.body.nodes_with_ids().filter_map(|(id, _)| self.body.products(id));
        // Fused operations have at most one layer. Of several, the longest sum represents all.
        inner.max_by_key(Products::macs)
    }

    fn evaluate(&self, _operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let made = self.body.interpret(&inputs[..self.body.inputs().len()]);
        made.map_or_else(|_| Vec::new(), |mut codes| codes.swap_remove(self.body.outputs()[0].index()))
    }
}
