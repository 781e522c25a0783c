//! Exact execution of whole operations on the host.

use std::sync::OnceLock;

use guardbit_graph::ops::Op;
use guardbit_graph::{DType, Graph, IntegerSlice, Node, NodeId, TensorId};

use crate::codes::{Bytes, Codes, Packed};
use crate::fast::{Kernels, Plane};

/// Implementation of a node on the host.
#[derive(Debug)]
pub(crate) enum HostNode {
    /// Table of output codes, as [`Bytes`], for all pairs of input codes of 8 bits: `[first][second]`.
    Pairs(Box<[u8]>),
    /// Arithmetic that is verified to give the output code of every pair of input codes of 8 bits.
    Sum(Plane),
    /// Table of output codes for all input codes of 8 bits.
    Each(Box<[u8]>),
    /// Output codes equal the input codes.
    Same,
    /// Evaluation by the operation itself.
    Any(Constants),
}

/// Constants of a node on four bytes each, which operations read. They are widened when they are first read.
#[derive(Debug, Default)]
pub(crate) struct Constants(OnceLock<Vec<Option<Vec<i32>>>>);

impl HostNode {
    /// Selects the implementation. Tables are computed by the operation itself.
    pub fn new(graph: &Graph, id: NodeId) -> Self {
        let node = graph.node(id);
        let inputs: Option<Vec<TensorId>> = node.inputs.iter().copied().collect();
        let Some(inputs) = inputs else { return Self::any() };
        let types = inputs.iter().chain([&node.output]).map(|&id| &graph.tensor(id).ty);
        let bytes = types.clone().all(|ty| matches!(ty.dtype, DType::Int8 | DType::UInt8));
        let plain = bytes && inputs.iter().all(|&id| graph.tensor(id).constant.is_none());
        let elements = graph.tensor(node.output).ty.len();
        match (&node.op, &inputs[..]) {
            (Op::Reshape(_), [_, ..]) if graph.tensor(inputs[0]).constant.is_none() => Self::Same,
            (Op::Add(_) | Op::Mul(_), &[a, b]) if plain => {
                let [a, b] = [a, b].map(|id| &graph.tensor(id).ty);
                if a.shape != b.shape || elements < TABLE {
                    return Self::any();
                }
                let table = pairs(graph, id, [a.dtype, b.dtype]);
                match plane(graph, id, &table) {
                    Some(plane) => Self::Sum(plane),
                    None => Self::Pairs(table),
                }
            }
            (Op::Relu(_) | Op::Relu6(_) | Op::Quantize(_), &[a]) if plain && elements >= TABLE => {
                Self::each(graph, id, graph.tensor(a).ty.dtype)
            }
            _ => Self::any(),
        }
    }

    fn any() -> Self {
        Self::Any(Constants::default())
    }

    fn each(graph: &Graph, id: NodeId, dtype: DType) -> Self {
        let codes: Vec<i32> = (0..256).map(|byte| dtype.min() + byte).collect();
        Self::Each(bytes(graph, id, &[&codes]).into())
    }

    /// Returns the output codes. `read` returns the codes of every input that is not a constant.
    pub fn run<'c>(&self, graph: &Graph, id: NodeId, read: impl Fn(TensorId) -> &'c Codes) -> Codes {
        let node = graph.node(id);
        let bytes = |index: usize| match node.inputs[index].map(|id| read(id).packed()) {
            Some(Packed::Bytes(codes)) => codes.get(),
            _ => &[],
        };
        let made = || Bytes::zeros(graph.tensor(node.output).ty.dtype.min(), bytes(0).len());
        match (self, node.inputs[0]) {
            (Self::Same, Some(input)) => read(input).clone(),
            (Self::Each(table), _) => {
                let mut made = made();
                let pairs = made.get_mut().iter_mut().zip(bytes(0));
                pairs.for_each(|(to, &byte)| *to = table[usize::from(byte)]);
                Packed::Bytes(made).into()
            }
            (Self::Pairs(table), _) => {
                let mut made = made();
                let inputs = bytes(0).iter().zip(bytes(1));
                for (to, (&a, &b)) in made.get_mut().iter_mut().zip(inputs) {
                    *to = table[usize::from(a) << 8 | usize::from(b)];
                }
                Packed::Bytes(made).into()
            }
            (Self::Sum(plane), _) => {
                let mut made = made();
                Kernels::choose(None).plane(*plane, bytes(0), bytes(1), made.get_mut());
                Packed::Bytes(made).into()
            }
            (Self::Any(constants), _) => evaluate(graph, id, constants, read),
            (Self::Same, None) => evaluate(graph, id, &Constants::default(), read),
        }
    }
}

/// Returns the table of all pairs of codes of 8 bits: see [`HostNode::Pairs`].
fn pairs(graph: &Graph, id: NodeId, [a, b]: [DType; 2]) -> Box<[u8]> {
    let first: Vec<i32> = (0..1 << 16).map(|i| a.min() + (i >> 8)).collect();
    let second: Vec<i32> = (0..1 << 16).map(|i| b.min() + (i & 0xff)).collect();
    bytes(graph, id, &[&first, &second]).into()
}

/// Returns arithmetic that gives the result of an addition for all pairs.
fn plane(graph: &Graph, id: NodeId, table: &[u8]) -> Option<Plane> {
    let node = graph.node(id);
    let Op::Add(_) = node.op else { return None };
    let steps = |id: TensorId| {
        let ty = &graph.tensor(id).ty;
        let quantization = ty.quantization.as_ref()?;
        Some((quantization.scale(0), quantization.zero_point(0) as f32 - ty.dtype.min() as f32))
    };
    let ((a, a_zero), (b, b_zero)) = (steps(node.inputs[0]?)?, steps(node.inputs[1]?)?);
    let (out, out_zero) = steps(node.output)?;
    let slopes = [a / out, b / out];
    Plane::through(Kernels::choose(None), table, slopes, out_zero - a_zero * slopes[0] - b_zero * slopes[1])
}

/// Number of elements from which on a table is faster.
const TABLE: usize = 256;

/// Returns the node's output codes for these inputs, as bytes.
fn bytes(graph: &Graph, id: NodeId, inputs: &[&[i32]]) -> Vec<u8> {
    let least = graph.tensor(graph.node(id).output).ty.dtype.min();
    graph.evaluate(id, inputs).into_iter().map(|code| (code - least) as u8).collect()
}

fn evaluate<'c>(
    graph: &Graph,
    id: NodeId,
    constants: &Constants,
    read: impl Fn(TensorId) -> &'c Codes,
) -> Codes {
    let node = graph.node(id);
    let constants = constants.of(graph, node);
    let made: Vec<Option<Vec<i32>>> = node
        .inputs
        .iter()
        .map(|id| id.filter(|&id| graph.tensor(id).constant.is_none()).map(|id| read(id).to_vec()))
        .collect();
    let inputs: Vec<&[i32]> = node
        .inputs
        .iter()
        .zip(made.iter().zip(constants))
        .map(|(id, (made, widened))| match made.as_ref().or(widened.as_ref()) {
            Some(codes) => codes.as_slice(),
            None => words(graph, *id).unwrap_or_default(),
        })
        .collect();
    Codes::within(graph.tensor(node.output).ty.dtype, &graph.evaluate(id, &inputs))
}

/// Returns the codes of a constant if they are stored on four bytes each.
fn words(graph: &Graph, id: Option<TensorId>) -> Option<&[i32]> {
    match graph.tensor(id?).codes()?.all() {
        IntegerSlice::I32(words) => Some(words),
        _ => None,
    }
}

impl Constants {
    /// Returns, by input, the codes of the constants that are not stored on four bytes each.
    fn of(&self, graph: &Graph, node: &Node) -> &[Option<Vec<i32>>] {
        self.0.get_or_init(|| {
            let narrow = |&id: &Option<TensorId>| match words(graph, id) {
                Some(_) => None,
                None => Some(graph.tensor(id?).codes()?.to_vec()),
            };
            node.inputs.iter().map(narrow).collect()
        })
    }
}
