//! Layers whose weights have a scale per block of input channels.
//!
//! Each block is a group of one convolution, so that each dot product of the layer covers one block. The sums become
//! real values with the scale of their block and output channel, and the host adds them.

use guardbit_graph::ops::{FloatBinary, FloatReduce, Pad, RealPair, RealReduction, Reshape};
use guardbit_graph::{Activation, CodeRange, DType, FloatReason, Op, Requantize, TensorId};

use super::network::Network;
use super::value::{Coding, Located, Value};
use super::weighted::{Bias, Layer};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocks::Blocked;
use crate::onnx::normalise::quant::{Quant, dtype, element_of};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// The weights of a layer with a group per block.
pub(in crate::onnx) struct Weights {
    /// `[block and output channel, rows, columns, input channel of the block]`, minus their zero points.
    codes: Constant,
    dtype: DType,
    range: CodeRange,
    /// Scales, one per block and output channel, not negative.
    scales: Vec<f32>,
    /// The signs of the scales, if some are negative.
    signs: Option<Vec<f32>>,
    blocks: usize,
    /// Number of input channels.
    pub inputs: usize,
}

impl Weights {
    /// Arranges codes `[output channel, rows, columns, input channel]` with a scale per block.
    ///
    /// `axis` is the axis of the file's tensor that is divided into blocks.
    ///
    /// # Errors
    /// The reason why a layer of codes cannot use them.
    pub fn new(from: &Blocked, axis: usize) -> Result<Self, FloatReason> {
        let &[outputs, rows, columns, inputs] = from.codes.shape.as_slice() else {
            return Err(FloatReason::Blocks { axis });
        };
        if from.reordered {
            return Err(FloatReason::Order);
        }
        if from.blocks.axis != 3 || from.codes.shape.contains(&0) {
            return Err(FloatReason::Blocks { axis });
        }
        // A last block with fewer input channels is padded with weights of 0.
        let size = from.blocks.size.min(inputs);
        let (blocks, cells) = (inputs.div_ceil(size), rows * columns);
        let place = |block: usize, output: usize, cell: usize| (output * cells + cell) * blocks + block;
        let given = &from.blocks.scales;
        let channels = || (0..blocks).flat_map(|block| (0..outputs).map(move |output| (block, output)));
        let mut scales = Vec::with_capacity(blocks * outputs);
        for (block, output) in channels() {
            let scale = given[place(block, output, 0)];
            if (1..cells).any(|cell| given[place(block, output, cell)] != scale) {
                return Err(FloatReason::Blocks { axis });
            }
            scales.push(scale);
        }
        let (zeros, dtype, range) = zero_points(from)?;
        let zero = |at: usize| zeros.as_ref().map_or(0, |zeros| zeros[at]);
        let codes = from.codes.as_integers().ok_or(FloatReason::ZeroPoints)?;
        let mut made = Vec::with_capacity(blocks * outputs * cells * size);
        for (block, output) in channels() {
            for cell in 0..cells {
                let zero = zero(place(block, output, cell));
                let row = (output * cells + cell) * inputs;
                let used = block * size..((block + 1) * size).min(inputs);
                let padding = (block + 1) * size - used.end;
                made.extend(used.map(|input| codes.at(row + input) - zero));
                made.extend(std::iter::repeat_n(0, padding));
            }
        }
        let negative = scales.iter().any(|&scale| scale < 0.0);
        let signs = negative.then(|| scales.iter().map(|scale| 1f32.copysign(*scale)).collect());
        let codes = Constant::integers(element_of(dtype), vec![blocks * outputs, rows, columns, size], made);
        let scales = scales.into_iter().map(f32::abs).collect();
        Ok(Self { codes, dtype, range, scales, signs, blocks, inputs })
    }
}

/// Returns the zero points of the blocks, if they have any, and the possible codes minus their zero points.
fn zero_points(from: &Blocked) -> Result<(Option<Vec<i64>>, DType, CodeRange), FloatReason> {
    const MOST: f32 = (1 << 16) as f32;
    let codes = from.range().ok_or(FloatReason::ZeroPoints)?;
    let integer = |&zero: &f32| (zero.fract() == 0.0 && zero.abs() <= MOST).then_some(zero as i64);
    let zeros: Option<Vec<i64>> = match &from.blocks.zeros {
        Some(zeros) => Some(zeros.iter().map(integer).collect::<Option<_>>().ok_or(FloatReason::ZeroPoints)?),
        None => None,
    };
    let (least, greatest) = zeros.as_ref().map_or((0, 0), |zeros| {
        zeros
            .iter()
            .fold((i64::MAX, i64::MIN), |(least, greatest), &zero| (least.min(zero), greatest.max(zero)))
    });
    // The range must contain 0, the value of padding weights.
    let ends = [i64::from(codes.min()) - greatest, i64::from(codes.max()) - least];
    let ends = [ends[0].min(0), ends[1].max(0)].map(|end| i32::try_from(end).ok());
    let range = ends[0].zip(ends[1]).and_then(|(low, high)| CodeRange::new(low, high));
    let range = range.ok_or(FloatReason::ZeroPoints)?;
    let own = dtype(from.codes.element).filter(|dtype| dtype.bits() <= 16);
    let types = [DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16];
    let fits = |dtype: &DType| CodeRange::of(*dtype).includes(range);
    let dtype = own.into_iter().chain(types).find(fits).ok_or(FloatReason::ZeroPoints)?;
    Ok((zeros, dtype, range))
}

/// A product of images with weights that have a scale per block.
pub(in crate::onnx) struct Product<'n> {
    /// Images, channels last.
    pub x: TensorId,
    pub x_quant: Quant,
    pub weights: Weights,
    /// Axes of the output before that of the output channels; by default those of the images.
    pub front: Option<&'n [usize]>,
    /// Name of the output.
    pub name: &'n str,
}

impl Product<'_> {
    /// Adds the product as a layer `op`, and returns real values whose last axis is that of the output channels.
    /// Otherwise returns the reason why it cannot be a layer of codes.
    pub fn add<'a>(
        self,
        network: &mut Network<'a>,
        node: Node<'a>,
        op: impl Fn(Requantize, Activation) -> Op,
    ) -> Result<Result<TensorId, FloatReason>, OnnxError> {
        let Self { x, x_quant, weights, front, name } = self;
        let Weights { codes, dtype, range, scales, signs, blocks, inputs } = weights;
        let steps = || scales.iter().map(|scale| scale * x_quant.scales[0]);
        if !steps().all(f32::is_finite) || steps().all(|step| step == 0.0) {
            return Ok(Err(FloatReason::BlockScales));
        }
        let channels = scales.len();
        let padding = codes.shape[3] * blocks - inputs;
        let weight_quant =
            Quant { dtype, scales, zero_points: vec![0; channels], axis: Some(0), range: Some(range) };
        let x = Located { id: x, channels_last: true };
        let layer = Layer {
            x,
            x_quant,
            weights: codes,
            weight_quant,
            axis: 0,
            channels,
            bias: Bias::None,
            line: false,
        };
        if !layer.sums_fit(network) {
            return Ok(Err(FloatReason::WideSums));
        }
        let x = Located { id: filled(network, node, x.id, padding)?, ..x };
        let sums = Layer { x, ..layer }.sums(network, node, op, true)?;
        let Value::Real(at) = network.materialize(node, sums)? else { return Err(node.error("has no sums")) };
        let made = network.builder.tensor(at.id).ty.shape.clone();
        let (cells, outputs) = (made[..3].iter().product::<usize>(), channels / blocks);
        let shape = [front.unwrap_or(&made[..3]), &[outputs]].concat();
        let apart = [cells, blocks, outputs];
        let mut id = reshaped(network, node, at.id, &apart, &format!("{name}_blocks"))?;
        if let Some(signs) = signs {
            let signs = Constant::reals(vec![blocks, outputs], signs);
            let signs = network.reals(node, &format!("{name}_signs"), &signs)?;
            let op = FloatBinary { function: RealPair::Mul };
            id = network.emit(node, op, &[id, signs], &format!("{name}_signed"), Coding::REAL)?;
        }
        if blocks > 1 {
            let added = if shape == [cells, outputs] { name.to_owned() } else { format!("{name}_added") };
            let op = FloatReduce { function: RealReduction::Sum, axes: vec![1], keep_dims: false };
            id = network.emit(node, op, &[id], &added, Coding::REAL)?;
        }
        Ok(Ok(reshaped(network, node, id, &shape, name)?))
    }
}

/// Returns images with additional channels of value 0, which are read with weights of 0.
fn filled<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    id: TensorId,
    padding: usize,
) -> Result<TensorId, OnnxError> {
    if padding == 0 {
        return Ok(id);
    }
    let tensor = network.builder.tensor(id);
    let zero = tensor.ty.quantization.as_ref().map_or(0, |quantization| quantization.zero_point(0));
    // The zero point may be outside the range of codes. Any code is valid, because the weights are 0.
    let value = Some(tensor.ty.code_range().clamp(zero.into()));
    let name = format!("{}_filled", tensor.name);
    let paddings = vec![[0, 0], [0, 0], [0, 0], [0, padding]];
    network.emit_like(node, Pad { paddings, value }, &[id], &name, id)
}

/// Returns the tensor with another shape.
pub(in crate::onnx) fn reshaped<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    id: TensorId,
    shape: &[usize],
    name: &str,
) -> Result<TensorId, OnnxError> {
    if network.builder.tensor(id).ty.shape == shape {
        return Ok(id);
    }
    let shape = shape.iter().map(|&size| size as i64).collect();
    network.emit_like(node, Reshape { shape }, &[id], name, id)
}

/// Records why a product works on real values although its operands are codes.
pub(in crate::onnx) fn note(network: &mut Network<'_>, id: TensorId, reason: Option<FloatReason>) {
    if let Some(reason) = reason {
        let name = network.builder.tensor(id).name.clone();
        network.builder.note_left_in_float(name, reason);
    }
}
