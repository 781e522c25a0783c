//! Quantizers and dequantizers of float8 codes: a division before a conversion, and a multiplication after one.

use guardbit_graph::ops::{FloatBinary, RealPair};
use guardbit_graph::{DType, NodeId, Op, TensorId, real_of, word_of};

use super::codes::Made;
use super::ops::available;
use super::{ExportError, Order, Writer, int};

/// The operands of a conversion with constant scales.
struct Scaled {
    /// The tensor that is divided, or the codes that are converted and multiplied.
    from: TensorId,
    scales: Vec<f32>,
    /// The axis of several scales.
    axis: Option<usize>,
    /// Elements of a block along the axis, and the shape of the scales.
    blocks: Option<(usize, Vec<usize>)>,
}

fn is_float8(dtype: DType) -> bool {
    dtype.is_short_float() && dtype.bits() == 8 && dtype != DType::Float8E8M0
}

/// Returns the operands of a division or multiplication by constant scales: one, or one per element of an axis.
fn scaled(writer: &Writer<'_>, id: NodeId, function: RealPair) -> Option<Scaled> {
    let graph = writer.graph;
    let node = graph.node(id);
    let (Op::FloatBinary(FloatBinary { function: own }), &[Some(from), Some(by)]) =
        (&node.op, &node.inputs[..])
    else {
        return None;
    };
    let (ty, scales) = (&graph.tensor(from).ty, graph.tensor(by));
    if *own != function
        || graph.tensor(from).constant.is_some()
        || ty.shape != graph.tensor(node.output).ty.shape
    {
        return None;
    }
    let words = scales.codes()?;
    let wide: Vec<usize> = (0..scales.ty.shape.len()).filter(|&axis| scales.ty.shape[axis] != 1).collect();
    let axis = match wide[..] {
        [] => None,
        [axis] if scales.ty.shape.len() == ty.shape.len() && ty.shape[axis] == scales.ty.shape[axis] => {
            Some(axis)
        }
        _ if scales.ty.shape == ty.shape => {
            let (axis, size, shape, words) = blocks(&ty.shape, &words.to_words())?;
            let scales = words.into_iter().map(real_of).collect();
            return Some(Scaled { from, scales, axis: Some(axis), blocks: Some((size, shape)) });
        }
        _ => return None,
    };
    Some(Scaled { from, scales: words.iter().map(real_of).collect(), axis, blocks: None })
}

/// Returns the axis along which blocks of elements have one scale each, the size of blocks, and the scales with their
/// shape: that with the fewest scales.
fn blocks(shape: &[usize], words: &[i32]) -> Option<(usize, usize, Vec<usize>, Vec<i32>)> {
    let along = |axis: usize, size: usize| {
        let inner: usize = shape[axis + 1..].iter().product();
        let (length, size) = (shape[axis], size.min(shape[axis]).max(1));
        let first = |at: usize| at - at / inner % length % size * inner;
        let is_alike = words.iter().enumerate().all(|(at, &word)| words[first(at)] == word);
        let kept =
            || words.iter().enumerate().filter(|&(at, _)| first(at) == at).map(|(_, &word)| word).collect();
        let sizes =
            shape.iter().enumerate().map(|(at, &own)| if at == axis { length.div_ceil(size) } else { own });
        is_alike.then(|| (axis, size, sizes.collect::<Vec<_>>(), kept()))
    };
    // Input channels are the last axis of a convolution and the last but one of a matrix.
    let places = (0..shape.len()).rev().flat_map(|axis| [32, 16].map(|size| (axis, size)));
    places
        .filter_map(|(axis, size)| along(axis, size))
        .min_by_key(|(.., words): &(_, _, _, Vec<i32>)| words.len())
}

/// Returns whether codes are dequantized by a node of their own.
fn is_small(dtype: DType) -> bool {
    is_float8(dtype) || dtype == DType::Float4E2M1
}

/// Returns the division before a conversion to float8 codes, if nothing else reads the quotient.
fn quantizer(writer: &Writer<'_>, cast: NodeId) -> Option<Scaled> {
    let node = writer.graph.node(cast);
    let input = node.inputs.first().copied().flatten()?;
    let fits = matches!(node.op, Op::FloatCast(_)) && is_float8(writer.graph.tensor(node.output).ty.dtype);
    if !fits || writer.links.only_reader(input) != Some(cast) {
        return None;
    }
    scaled(writer, writer.links.producer(input)?, RealPair::Div).filter(|found| found.blocks.is_none())
}

/// Returns the float8 codes whose conversion a node multiplies.
fn dequantizer(writer: &Writer<'_>, product: NodeId) -> Option<Scaled> {
    let found = scaled(writer, product, RealPair::Mul)?;
    let cast = writer.graph.node(writer.links.producer(found.from)?);
    let codes = cast.inputs.first().copied().flatten()?;
    let fits = matches!(cast.op, Op::FloatCast(_)) && is_small(writer.graph.tensor(codes).ty.dtype);
    fits.then_some(Scaled { from: codes, ..found })
}

/// Returns the float8 codes whose values times scales a tensor holds.
pub(super) fn codes(writer: &Writer<'_>, id: TensorId) -> Option<TensorId> {
    dequantizer(writer, writer.links.producer(id)?).map(|found| found.from)
}

/// Returns whether a node is part of a quantizer or dequantizer that another node writes.
pub(super) fn is_part(writer: &Writer<'_>, id: NodeId) -> bool {
    let output = writer.graph.node(id).output;
    match writer.graph.node(id).op {
        Op::FloatBinary(_) => {
            let reader = writer.links.only_reader(output);
            reader.is_some_and(|cast| quantizer(writer, cast).is_some()) || dequantizer(writer, id).is_some()
        }
        Op::FloatCast(_) => {
            let readers = writer.links.readers(output);
            let all = readers.iter().all(|&reader| dequantizer(writer, reader).is_some());
            all && !readers.is_empty() && !writer.links.is_output(output)
        }
        _ => false,
    }
}

/// Writes a conversion to float8 codes as QuantizeLinear, if a division precedes it.
pub(super) fn quantize(writer: &mut Writer<'_>, id: NodeId, saturate: bool) -> Result<bool, ExportError> {
    let Some(Scaled { from, scales, axis, .. }) = quantizer(writer, id) else { return Ok(false) };
    let output = writer.graph.node(id).output;
    let (order, name) = (available(writer, from), writer.result_name(id));
    let (x, rank) = (writer.real(from, order)?, writer.graph.tensor(output).ty.shape.len());
    let inputs = operands(writer, x, &name, &scales, writer.graph.tensor(output).ty.dtype, axis.is_some());
    let mut attributes = vec![int("saturate", saturate.into())];
    attributes.extend(axis.map(|axis| int("axis", order.axis(axis, rank) as i64)));
    writer.node("QuantizeLinear", inputs, &name, attributes);
    writer.result(id, Made::Real(&name), order).map(|()| true)
}

/// Returns the name of real values that are float8 codes times scales, written as DequantizeLinear.
///
/// Constants have their axes in the given order, and activations that of their codes.
pub(super) fn dequantized(
    writer: &mut Writer<'_>,
    id: TensorId,
    wanted: Order,
) -> Result<Option<(String, Order)>, ExportError> {
    let Some(product) = writer.links.producer(id) else { return Ok(None) };
    let Some(Scaled { from, scales, axis, blocks }) = dequantizer(writer, product) else { return Ok(None) };
    let codes = writer.graph.tensor(from);
    let order = if codes.constant.is_some() { wanted } else { available(writer, from) };
    let (x, name) = (writer.real(from, order)?, writer.graph.tensor(id).name.clone());
    let name = if writer.known.contains_key(&name) { writer.fresh(&name, "real") } else { name };
    let rank = codes.ty.shape.len();
    let mut attributes: Vec<_> =
        axis.map(|axis| int("axis", order.axis(axis, rank) as i64)).into_iter().collect();
    let inputs = match blocks {
        Some((size, shape)) => {
            attributes.push(int("block_size", size as i64));
            let words = || scales.iter().map(|&scale| word_of(scale)).collect();
            let (shape, words) = writer.ordered(&shape, words, order);
            let values: Vec<f32> = words.into_iter().map(real_of).collect();
            vec![x, writer.reals_constant(&name, &shape, &values)]
        }
        None => operands(writer, x, &name, &scales, codes.ty.dtype, axis.is_some()),
    };
    writer.node("DequantizeLinear", inputs, &name, attributes);
    let shape = writer.shape_in(id, order);
    writer.shaped(&name, super::tensors::real_element(DType::Float32), shape);
    Ok(Some((name, order)))
}

/// Returns the names of a tensor, scales and zero points.
fn operands(
    writer: &mut Writer<'_>,
    x: String,
    name: &str,
    scales: &[f32],
    dtype: DType,
    several: bool,
) -> Vec<String> {
    let shape: &[usize] = if several { &[scales.len()] } else { &[] };
    let scale = writer.reals_constant(name, shape, scales);
    // With a zero point of float4, -0 would become 0.
    let zero = (dtype != DType::Float4E2M1)
        .then(|| writer.integers_constant(name, shape, dtype, &vec![0; scales.len()]));
    [Some(x), Some(scale), zero].into_iter().flatten().collect()
}
