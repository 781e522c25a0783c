//! Operations of an accelerator: fused from matches of a pattern, and expanded again.

use std::collections::HashMap;

use super::{Match, Pattern, Rewrite};
use crate::ops::Composite;
use crate::passes::Pass;
use crate::{Graph, GraphBuilder, GraphError, GraphPatch, Op, OutputSpec, PatchError, TensorId};

/// An accelerator operation that performs what a pattern describes. It is a pass that turns every match into one
/// [`Composite`].
///
/// A match can be fused only if its inputs are tensors and constants. Nodes shared with others are copied into it. If
/// the match is one layer (a convolution with its bias, requantization and activation), accelerators that offload
/// this layer run the composite on their datapath.
///
/// ```
/// use guardbit_graph::ops::{Composite, Conv2d, Relu};
/// use guardbit_graph::passes::Pass;
/// use guardbit_graph::pattern::{Expand, FusedOp, Pattern};
/// # use guardbit_graph::{DType, GraphBuilder, OutputSpec, Requantize, TensorType};
/// # let mut builder = GraphBuilder::new("conv and relu");
/// # let x = builder.input("x", TensorType::quantized(&[1, 4, 4, 2], DType::Int8, 0.1, 3)?)?;
/// # let w = builder.constant("w", TensorType::quantized(&[1, 1, 1, 2], DType::Int8, 0.1, 0)?, vec![5, -7])?;
/// # let spec = |name: &str| OutputSpec::quantized(name, DType::Int8, 0.2, -3);
/// # let c = builder.node(Conv2d::default(), &[Some(x), Some(w)], spec("c")?)?;
/// # let r = builder.node(Relu { requantize: Requantize::default() }, &[Some(c)], spec("r")?)?;
/// # let graph = builder.finish(vec![r])?;
/// // x -> conv2d `c` -> relu `r`
/// let operands = || Pattern::any().or_absent();
/// let conv = Pattern::op::<Conv2d>().reads([Pattern::any(), Pattern::constant(), operands()]);
/// let npu = FusedOp::new("npu.conv2d", conv.then_maybe(|conv| Pattern::op::<Relu>().reads([conv])));
///
/// let fused = npu.run(&graph)?.expect("there is a convolution");
/// assert_eq!(fused.nodes().len(), 1);
/// let id = fused.nodes_with_ids().next().map(|(id, _)| id).expect("one node");
/// assert!(fused.dot_products(id).is_some(), "an accelerator can run it");
///
/// let codes: Vec<i32> = (0..32).map(|i| i * 7 - 100).collect();
/// let of = |graph: &guardbit_graph::Graph| -> Result<_, guardbit_graph::GraphError> {
///     Ok(graph.interpret(&[&codes])?[graph.outputs()[0].index()].clone())
/// };
/// assert_eq!(of(&fused)?, of(&graph)?);
///
/// let back = Expand.run(&fused)?.expect("there is a composite");
/// assert_eq!((back.nodes().len(), of(&back)?), (2, of(&graph)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FusedOp {
    name: &'static str,
    pattern: Pattern,
}

impl FusedOp {
    /// Creates the accelerator operation `name`, which performs what `pattern` describes.
    pub fn new(name: &'static str, pattern: Pattern) -> Self {
        Self { name, pattern }
    }
}

impl Rewrite for FusedOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        "fuses the operations of a pattern into one accelerator operation"
    }

    fn pattern(&self) -> Pattern {
        self.pattern.clone()
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        // Composites are not nested.
        if found.nodes().any(|node| matches!(found.graph().node(node).op, Op::Composite(_))) {
            return Ok(false);
        }
        let Some(Part { body, reads }) = extract(found)? else { return Ok(false) };
        found.replace_by(patch, Composite::new(self.name, body)?, &reads)
    }
}

/// A network that was cut out, and the tensors that it reads from the surrounding one: inputs, then constants.
struct Part {
    body: Graph,
    reads: Vec<Option<TensorId>>,
}

/// Returns the part, or `None` if it is computed only from constants.
fn extract(found: &Match<'_>) -> Result<Option<Part>, GraphError> {
    let graph = found.graph();
    let made = |id: TensorId| found.nodes().any(|node| graph.node(node).output == id);
    let mut known: HashMap<TensorId, TensorId> = HashMap::new();
    let (mut inputs, mut constants) = (Vec::new(), Vec::new());
    for id in found.nodes().flat_map(|node| graph.node(node).inputs.iter().flatten().copied()) {
        let list = if graph.tensor(id).constant.is_some() { &mut constants } else { &mut inputs };
        if !made(id) && !list.contains(&id) {
            list.push(id);
        }
    }
    if inputs.is_empty() {
        return Ok(None);
    }
    let mut builder = GraphBuilder::new(found.output().name.clone());
    for &id in inputs.iter().chain(&constants) {
        let tensor = graph.tensor(id);
        let added = match &tensor.constant {
            None => builder.input(&tensor.name, tensor.ty.clone())?,
            Some(_) => builder.add(tensor.clone())?,
        };
        known.insert(id, added);
    }
    for node in found.nodes().map(|node| graph.node(node)) {
        let read: Vec<_> = node.inputs.iter().map(|id| id.map(|id| known[&id])).collect();
        let output = OutputSpec::of(graph.tensor(node.output));
        known.insert(node.output, builder.node(node.op.clone(), &read, output)?);
    }
    let output = known[&graph.node(found.root()).output];
    let reads = inputs.into_iter().chain(constants).map(Some).collect();
    Ok(Some(Part { body: builder.finish(vec![output])?, reads }))
}

/// A pass that replaces each [`Composite`] by its elementary operations.
#[derive(Debug)]
pub struct Expand;

impl Pass for Expand {
    fn name(&self) -> &'static str {
        "expand_composites"
    }

    fn description(&self) -> &'static str {
        "replaces an accelerator operation by its elementary operations"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let mut patch = GraphPatch::new(graph);
        let mut changes = 0;
        for node in graph.nodes() {
            let Op::Composite(composite) = &node.op else { continue };
            let body = composite.body();
            let own = composite.reads().filter_map(|tensor| body.find_tensor(&tensor.name));
            let mut known: HashMap<TensorId, TensorId> =
                own.zip(node.inputs.iter().flatten().copied()).collect();
            for inner in body.nodes() {
                let read: Vec<_> = inner.inputs.iter().map(|id| id.map(|id| known[&id])).collect();
                let output = OutputSpec::of(body.tensor(inner.output));
                known.insert(inner.output, patch.node(inner.op.clone(), &read, output)?);
            }
            patch.replace(node.output, known[&body.outputs()[0]])?;
            changes += 1;
        }
        Ok((changes > 0).then_some(patch))
    }
}
