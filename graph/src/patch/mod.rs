//! Checked replacement of a part of a graph.

mod assemble;
mod error;

use std::collections::{BTreeMap, BTreeSet};

pub use error::PatchError;

use crate::model::Tensor;
use crate::ops::Operands;
use crate::{Graph, GraphError, NodeId, Op, OutputSpec, TensorId, TensorType, checks};

/// A change of a graph: added nodes and constants, replaced tensors, and removed nodes.
///
/// Additions pass the checks of [`GraphBuilder`](crate::GraphBuilder). An added node reads its inputs, or their
/// replacements, as they are when it is added, so it can itself replace one of its inputs. All other readers of a
/// replaced tensor, including the network's outputs and states, read the new one instead. A name can be reused if its
/// tensor is removed. [`apply`](Self::apply) returns the new graph; the old one does not change.
///
/// ```
/// # use guardbit_graph::{DType, GraphBuilder, GraphPatch, OutputSpec, Quantization, TensorType, ops::Reshape};
/// # let quantization = Some(Quantization::per_tensor(0.5, 0)?);
/// # let spec = |name: &str| OutputSpec { name: name.into(), dtype: DType::Int8, quantization: quantization.clone() };
/// # let mut builder = GraphBuilder::new("two reshapes");
/// # let ty = TensorType { shape: vec![1, 6], dtype: DType::Int8, quantization: quantization.clone() };
/// # let x = builder.input("x", ty)?;
/// # let h = builder.node(Reshape { shape: vec![2, 3] }, &[Some(x)], spec("h"))?;
/// # let y = builder.node(Reshape { shape: vec![3, 2] }, &[Some(h)], spec("y"))?;
/// # let graph = builder.finish(vec![y])?;
/// // x -> reshape `h` -> reshape `y` becomes x -> reshape `y`.
/// let mut patch = GraphPatch::new(&graph);
/// let direct = patch.node(Reshape { shape: vec![3, 2] }, &[Some(x)], spec("y"))?;
/// patch.replace(y, direct)?;
/// assert_eq!(patch.apply()?.nodes().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphPatch<'g> {
    graph: &'g Graph,
    /// The additions. Their indices follow those of the graph.
    added: Vec<Added>,
    replaced: BTreeMap<TensorId, TensorId>,
    removed: BTreeSet<NodeId>,
}

/// An added tensor with its operation and inputs. A constant has none.
#[derive(Debug, Clone)]
struct Added {
    tensor: Tensor,
    made_by: Option<(Op, Vec<Option<TensorId>>)>,
}

impl<'g> GraphPatch<'g> {
    /// Creates a patch that changes nothing.
    pub fn new(graph: &'g Graph) -> Self {
        Self { graph, added: Vec::new(), replaced: BTreeMap::new(), removed: BTreeSet::new() }
    }

    /// Adds a constant.
    ///
    /// # Errors
    /// [`PatchError::Graph`] under the conditions of [`GraphBuilder::constant`](crate::GraphBuilder::constant).
    pub fn constant(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        codes: Vec<i32>,
    ) -> Result<TensorId, PatchError> {
        self.add(checks::constant(name.into(), ty, codes.into())?, None)
    }

    /// Adds a constant of 64-bit biases.
    ///
    /// # Errors
    /// [`PatchError::Graph`] under the conditions of
    /// [`GraphBuilder::wide_constant`](crate::GraphBuilder::wide_constant).
    pub fn wide_constant(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        values: Vec<i64>,
    ) -> Result<TensorId, PatchError> {
        self.add(checks::wide_constant(name.into(), ty, values)?, None)
    }

    /// Adds a node and its output tensor. It can read tensors of the graph and added ones. If a tensor of the graph
    /// is already replaced, the node reads its replacement.
    ///
    /// # Errors
    /// [`PatchError`] if the operation does not accept these inputs.
    pub fn node(
        &mut self,
        op: impl Into<Op>,
        inputs: &[Option<TensorId>],
        output: OutputSpec,
    ) -> Result<TensorId, PatchError> {
        let (op, output) = (op.into(), output.canonical());
        let inputs: Vec<_> = inputs.iter().map(|id| id.map(|id| self.in_place_of(id))).collect();
        let read = inputs.iter().map(|id| id.map(|id| self.tensor(id)).transpose());
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let tensor = checks::output(&op, &Operands::new(&op, read, &output), &output)?;
        self.add(tensor, Some((op, inputs)))
    }

    /// Replaces `tensor` by `by` for all its readers.
    ///
    /// Both must have equal shapes, dtypes, scales, zero points and ranges. An output of the network keeps its name,
    /// so `by` must have an equal name then.
    ///
    /// # Errors
    /// [`PatchError`] if the types differ, if `tensor` was replaced before, or if `by` was replaced by it.
    pub fn replace(&mut self, tensor: TensorId, by: TensorId) -> Result<(), PatchError> {
        let (old, new) = (self.tensor(tensor)?, self.tensor(by)?);
        if let Some(difference) = difference(&old.ty, &new.ty) {
            let (tensor, by) = (old.name.clone(), new.name.clone());
            return Err(PatchError::Type { tensor, by, difference });
        }
        let name = old.name.clone();
        if tensor.0 >= self.graph.tensors.len() {
            return Err(PatchError::Unknown { what: "tensor of the graph", index: tensor.0 });
        }
        if self.replaced.contains_key(&tensor) {
            return Err(PatchError::ReplacedTwice { tensor: name });
        }
        let by = self.in_place_of(by);
        if by == tensor {
            return Err(PatchError::Cycle { tensor: name });
        }
        self.replaced.insert(tensor, by);
        Ok(())
    }

    /// Removes a node. [`apply`](Self::apply) fails if something still needs it. Nodes that nothing needs are removed
    /// automatically.
    ///
    /// # Errors
    /// [`PatchError::Unknown`] if the graph has no such node.
    pub fn remove(&mut self, node: NodeId) -> Result<(), PatchError> {
        if node.0 >= self.graph.nodes.len() {
            return Err(PatchError::Unknown { what: "node", index: node.0 });
        }
        self.removed.insert(node);
        Ok(())
    }

    /// Returns the changed graph.
    ///
    /// It contains all inputs, and only those nodes and constants that its outputs depend on. Nodes keep their order.
    /// A new node is placed where it is first needed, or at the place of the node that it replaces.
    ///
    /// # Errors
    /// [`PatchError`] if a removed node is still needed, two tensors have equal names, an output changes its name, or
    /// a node would depend on itself.
    pub fn apply(self) -> Result<Graph, PatchError> {
        assemble::assemble(&self)
    }

    /// Returns whether the changed graph would lack nodes or constants of the old one.
    pub fn leaves_out(&self) -> bool {
        let plan = assemble::Plan::new(self);
        (0..self.graph.tensors.len()).any(|index| !plan.is_needed(index))
    }

    /// Returns a tensor of the graph, or an added one.
    ///
    /// # Errors
    /// [`PatchError::Unknown`] if there is none.
    pub fn tensor(&self, id: TensorId) -> Result<&Tensor, PatchError> {
        let tensors = self.graph.tensors.len();
        let tensor = match id.0.checked_sub(tensors) {
            None => self.graph.tensors.get(id.0),
            Some(index) => self.added.get(index).map(|added| &added.tensor),
        };
        tensor.ok_or(PatchError::Unknown { what: "tensor", index: id.0 })
    }

    /// Returns the current replacement of a tensor. `replace` makes sure that no tensor replaces itself.
    fn in_place_of(&self, mut id: TensorId) -> TensorId {
        while let Some(&by) = self.replaced.get(&id) {
            id = by;
        }
        id
    }

    fn add(
        &mut self,
        tensor: Tensor,
        made_by: Option<(Op, Vec<Option<TensorId>>)>,
    ) -> Result<TensorId, PatchError> {
        checks::tensor(&tensor)?;
        let id = TensorId(self.graph.tensors.len() + self.added.len());
        self.added.push(Added { tensor, made_by });
        Ok(id)
    }
}

/// Returns the difference of two types as a phrase.
fn difference(old: &TensorType, new: &TensorType) -> Option<String> {
    if old.shape != new.shape {
        return Some(format!("its shape is {:?}, not {:?}", new.shape, old.shape));
    }
    if old.dtype != new.dtype {
        return Some(format!("its dtype is {}, not {}", new.dtype, old.dtype));
    }
    (old.quantization != new.quantization).then(|| "its scales, zero points or range differ".into())
}

impl From<GraphError> for PatchError {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}
