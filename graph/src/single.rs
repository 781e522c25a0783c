//! Networks of a single node.

use std::collections::{BTreeMap, HashMap};

use crate::model::Node;
use crate::{Graph, GraphBuilder, GraphError, NodeId, Op, OutputSpec, TensorId, TensorType};

/// An operand of the only node of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub ty: TensorType,
    /// Its codes if it is a constant.
    pub codes: Option<Vec<i32>>,
}

impl Operand {
    /// Creates an input of the network.
    pub fn input(name: impl Into<String>, ty: TensorType) -> Self {
        Self { name: name.into(), ty, codes: None }
    }

    /// Creates a constant.
    pub fn constant(name: impl Into<String>, ty: TensorType, codes: Vec<i32>) -> Self {
        Self { name: name.into(), ty, codes: Some(codes) }
    }
}

impl Graph {
    /// Returns the network of one operation.
    ///
    /// # Errors
    /// [`GraphError`] if the operation does not accept these operands.
    pub fn of_op(
        name: impl Into<String>,
        op: impl Into<Op>,
        operands: impl IntoIterator<Item = Operand>,
        output: OutputSpec,
    ) -> Result<Self, GraphError> {
        let mut builder = GraphBuilder::new(name);
        let mut add = |Operand { name, ty, codes }| match codes {
            Some(codes) => builder.constant(name, ty, codes).map(Some),
            None => builder.input(name, ty).map(Some),
        };
        let inputs = operands.into_iter().map(&mut add).collect::<Result<Vec<_>, _>>()?;
        let output = builder.node(op, &inputs, output)?;
        builder.finish(vec![output])
    }

    /// Returns the network of one node alone.
    ///
    /// Its first operand and the outputs of other nodes that it reads become inputs, with their names and in the
    /// order of reading. Its output becomes that of the network.
    pub fn single_node(&self, id: NodeId) -> Self {
        let node = self.node(id);
        let name = self.node_name(id).to_owned();
        let mut alone = Self {
            name,
            tensors: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            states: Vec::new(),
            notes: Vec::new(),
            file_nodes: Vec::new(),
            metadata: BTreeMap::new(),
            short_names: vec![self.short_name(id).to_owned()],
        };
        let mut known: HashMap<TensorId, TensorId> = HashMap::new();
        let mut input = |id: TensorId| {
            *known.entry(id).or_insert_with(|| {
                let mut tensor = self.tensor(id).clone();
                // Operands for activations become inputs even if they are constants in the network.
                if alone.tensors.is_empty() {
                    tensor.constant = None;
                }
                let added = TensorId(alone.tensors.len());
                if tensor.constant.is_none() {
                    alone.inputs.push(added);
                }
                alone.tensors.push(tensor);
                added
            })
        };
        let inputs = node.inputs.iter().map(|id| id.map(&mut input)).collect();
        let output = TensorId(alone.tensors.len());
        alone.tensors.push(self.tensor(node.output).clone());
        alone.nodes.push(Node { op: node.op.clone(), inputs, output });
        alone.outputs.push(output);
        alone
    }
}
