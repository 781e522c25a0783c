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
    /// Table of output codes, as [`Bytes`], for all words of float32, by [`word_index`].
    Words(Box<[u8]>),
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
            (Op::FloatCast(_), &[a]) if elements >= WORDS && graph.tensor(a).constant.is_none() => {
                let [from, to] = [a, node.output].map(|id| graph.tensor(id).ty.dtype);
                let short = from == DType::Float32 && to.bits() <= 8;
                short.then(|| of_words(graph, id)).flatten().map_or_else(Self::any, Self::Words)
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
            (Self::Words(table), Some(input)) => {
                let Packed::I32(words) = read(input).packed() else { unreachable!("words have 32 bits") };
                let mut made = Bytes::zeros(graph.tensor(node.output).ty.dtype.min(), words.len());
                let pairs = made.get_mut().iter_mut().zip(words);
                pairs.for_each(|(to, &word)| *to = table[word_index(word)]);
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
            (Self::Same | Self::Words(_), None) => evaluate(graph, id, &Constants::default(), read),
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

/// Number of elements from which on a table of words is faster, which takes several times as many.
const WORDS: usize = 1 << 12;
/// Bits at the end of a word of float32 of which only counts whether one is set: formats of at most 8 bits keep three bits of
/// the fraction, and the next one decides about rounding.
const REST: u32 = 19;

/// Returns the index of a word in a table of all words.
fn word_index(word: i32) -> usize {
    let word = word as u32;
    (word >> REST << 1) as usize | usize::from(word << (32 - REST) != 0)
}

/// Returns the table of all words, or `None` if words of one index differ. It is enough to look at the first and the last one:
/// conversions keep the order.
fn of_words(graph: &Graph, id: NodeId) -> Option<Box<[u8]>> {
    let of_rest = |rest: [i32; 2]| {
        let words =
            (0..1 << (32 - REST)).flat_map(|first: u32| rest.map(|rest| (first << REST) as i32 | rest));
        bytes(graph, id, &[&words.collect::<Vec<_>>()])
    };
    let table = of_rest([0, 1]);
    (table == of_rest([0, (1 << REST) - 1])).then(|| table.into())
}

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

#[cfg(test)]
mod tests {
    use guardbit_graph::ops::FloatCast;
    use guardbit_graph::{GraphBuilder, OutputSpec, TensorType, word_of};

    use super::*;

    /// A table of words gives the codes of the operation itself.
    #[test]
    fn tables_of_words_equal_the_conversion() {
        let mut checked = 0;
        let short = |dtype: &DType| dtype.is_float() && dtype.bits() <= 8;
        for (dtype, saturate) in
            DType::ALL.into_iter().filter(short).flat_map(|one| [(one, false), (one, true)])
        {
            let mut builder = GraphBuilder::new("net");
            let ty = TensorType { shape: vec![WORDS], dtype: DType::Float32, quantization: None };
            let x = builder.input("x", ty).unwrap();
            let output = OutputSpec { name: "y".into(), dtype, quantization: None };
            let Ok(y) = builder.node(FloatCast { saturate }, &[Some(x)], output) else { continue };
            let graph = builder.finish(vec![y]).unwrap();
            let id = graph.producer(y).unwrap();
            let node = HostNode::new(&graph, id);
            assert!(matches!(node, HostNode::Words(_)), "{dtype}");
            // Words of all sizes, and numbers near codes and halfway between two of them.
            let mut words: Vec<i32> =
                (0..1 << 16).map(|word: i32| word.wrapping_mul(0x9E37_79B1_u32 as i32)).collect();
            for halves in -2000..2000 {
                let middle = word_of(halves as f32 / 1024.0);
                words.extend([middle - 1, middle, middle + 1]);
            }
            let codes = Codes::within(DType::Float32, &words);
            assert_eq!(
                node.run(&graph, id, |_| &codes).to_vec(),
                graph.evaluate(id, &[&words]),
                "{dtype} {saturate}"
            );
            checked += 1;
        }
        assert!(checked >= 8, "{checked}");
    }
}
