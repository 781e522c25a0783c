//! Turns functions of single codes into tables.

use crate::ops::{QuantizeFloat, Table};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{Graph, GraphPatch, Links, NodeId, Op, PatchError, TensorId, TensorType};

/// A pass that turns every function of codes of 8 bits into a table.
///
/// It covers functions of single real values between codes and a quantizer, and curves of codes (logistic, tanh,
/// hard_swish, leaky_relu, exp). The function is evaluated for every code, so that the table is exact by
/// construction.
#[derive(Debug)]
pub struct Tables;

/// Operations on codes that are functions of single codes.
const CURVES: [&str; 5] = ["logistic", "tanh", "hard_swish", "leaky_relu", "exp"];

impl Rewrite for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn description(&self) -> &'static str {
        "turns functions of 8-bit codes into tables: float ones between dequantize and quantize, logistic, \
         tanh, hard_swish"
    }

    fn pattern(&self) -> Pattern {
        let [a, b, c, d, e] = CURVES;
        Pattern::op::<QuantizeFloat>().or(Pattern::op_named([a, b, c, d, e]))
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let graph = found.graph();
        let Some((codes, chain)) = chain(graph, &Links::new(graph), found.root()) else { return Ok(false) };
        let (from, to) = (graph.tensor(codes), found.output());
        let all: Vec<i32> = (from.ty.dtype.min()..=from.ty.dtype.max()).collect();
        let made = chain.iter().fold(all.clone(), |codes, node| graph.evaluate(*node, &[&codes]));
        // If no code changes, no operation is needed.
        if from.ty == to.ty && made == all && !Links::new(graph).is_output(graph.node(found.root()).output) {
            return patch.replace(graph.node(found.root()).output, codes).map(|()| true);
        }
        let ty = TensorType { shape: vec![made.len()], ..to.ty.clone() };
        let name = super::free_name(graph, &format!("{}_table", to.name));
        match patch.constant(name, ty, made) {
            Ok(table) => found.replace_by(patch, Table {}, &[Some(codes), Some(table)]),
            Err(_) => Ok(false),
        }
    }
}

/// Returns the codes of at most 8 bits that determine a node's output, code by code, and the nodes from there on.
fn chain(graph: &Graph, links: &Links, root: NodeId) -> Option<(TensorId, Vec<NodeId>)> {
    let single = |id: TensorId| graph.tensor(id).ty.quantization.as_ref().is_some_and(|q| q.axis().is_none());
    single(graph.node(root).output).then_some(())?;
    let mut nodes = vec![root];
    loop {
        let node = graph.node(*nodes.last()?);
        let &[Some(input)] = node.inputs.as_slice() else { return None };
        let codes = || (single(input) && graph.tensor(input).ty.dtype.bits() <= 8).then_some(input);
        match &node.op {
            Op::QuantizeFloat(_) | Op::FloatUnary(_) => {
                let before = links.producer(input)?;
                matches!(graph.node(before).op, Op::FloatUnary(_) | Op::Dequantize(_)).then_some(())?;
                nodes.push(before);
            }
            _ => {
                let input = codes()?;
                nodes.reverse();
                return Some((input, nodes));
            }
        }
    }
}
