//! QuantizeLinear and DequantizeLinear with a scale per block.

use std::rc::Rc;

use guardbit_graph::ops::{FloatBinary, RealPair};
use guardbit_graph::{Brief, DType, TensorId};

use super::quantize::{bind_codes, check_codes, emit_quantizer};
use super::quantizer::{Quantizer, quant_of};
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::proto::element;
use crate::onnx::value::{Dequantized, Located, Quant, Source, Value};

/// Scales and zero points of blocks, one per element, as real numbers.
fn blocks(
    network: &Network<'_>,
    node: Node<'_>,
    shape: &[usize],
) -> Result<(Constant, Option<Constant>), OnnxError> {
    let axis = node.axis(node.int("axis", 1), shape.len())?;
    let size = usize::try_from(node.int("block_size", 0)).unwrap_or(0).max(1);
    let (scale, zero) = (network.constant(node, 1)?, network.optional_constant(node, 2)?);
    let wanted: Vec<usize> =
        shape.iter().enumerate().map(|(i, &n)| if i == axis { n.div_ceil(size) } else { n }).collect();
    if scale.shape != wanted || zero.as_ref().is_some_and(|zero| zero.shape != wanted) {
        return Err(
            node.error(format!("has scales of shape {}; blocks of {size} need {wanted:?}", Brief(&scale.shape)))
        );
    }
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * wanted[i];
    }
    let count: usize = shape.iter().product();
    let place = |index: usize| {
        let (mut rest, mut at) = (index, 0);
        for i in (0..shape.len()).rev() {
            let step = rest % shape[i];
            at += strides[i] * if i == axis { step / size } else { step };
            rest /= shape[i];
        }
        at
    };
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?;
    let scales = Constant::reals(shape.to_vec(), (0..count).map(|i| scales[place(i)]).collect());
    let zeros = zero.map(|zero| {
        let values = zero.as_integers().unwrap_or_default().to_vec();
        let at = |i: usize| values.get(place(i)).copied().unwrap_or(0) as f32;
        Constant::reals(shape.to_vec(), (0..count).map(at).collect())
    });
    Ok((scales, zeros))
}

/// Blocked DequantizeLinear: `(x - zero point) * scale` element by element.
pub(super) fn dequantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network, node, &shape)?;
    if let Value::Constant(codes) = &value {
        let codes = codes.as_integers().ok_or_else(|| node.error("reads no codes"))?;
        let (scales, zeros) =
            (scales.as_reals().unwrap_or_default(), zeros.as_ref().and_then(Constant::as_reals));
        let real = |(i, &code): (usize, &i64)| (code as f32 - zeros.map_or(0.0, |z| z[i])) * scales[i];
        let reals = codes.iter().enumerate().map(real).collect();
        return network.bind(node, 0, Value::Constant(Rc::new(Constant::reals(shape, reals))));
    }
    let Value::Codes(at) = value else { return Err(node.error("reads real values; it works on codes")) };
    let dtype = network.builder.tensor(at.id).ty.dtype;
    let steps = Dequantized::new(Source::Tensor(at), Quant::per_tensor(dtype, 1.0, 0));
    check_codes(network, node, at, &steps.quant)?;
    let mut id = network.real_tensor(node, Value::Dequantized(steps), false)?;
    let name = node.first_output()?.to_owned();
    if let Some(zeros) = zeros {
        id = pair(network, node, RealPair::Sub, id, &zeros, &format!("{name}_steps"))?;
    }
    let id = pair(network, node, RealPair::Mul, id, &scales, &name)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

/// Blocked QuantizeLinear: `round(x / scale) + zero point` element by element.
pub(super) fn quantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network, node, &shape)?;
    let zero = network.optional_constant(node, 2)?;
    let declared = i32::try_from(node.int("output_dtype", 0)).ok().filter(|&number| number != 0);
    let number = zero.as_ref().map(|zero| zero.element).or(declared).unwrap_or(element::UINT8);
    let one = Constant::reals(vec![], vec![1.0]);
    let quant = quant_of(node, &one, None, number, shape.len(), 0)?;
    let name = node.first_output()?.to_owned();
    let id = network.real_tensor(node, value, false)?;
    let mut id = pair(network, node, RealPair::Div, id, &scales, &format!("{name}_quotient"))?;
    if let Some(zeros) = zeros {
        let round = guardbit_graph::ops::RealFunction::Round;
        let at = Located { id, channels_last: false };
        id = super::elementwise::apply(network, node, at, round, vec![], &format!("{name}_rounded"))?.id;
        id = pair(network, node, RealPair::Add, id, &zeros, &format!("{name}_moved"))?;
    }
    let quantizer = Quantizer::plain(node, quant);
    let at = emit_quantizer(network, &quantizer, Located { id, channels_last: false }, &name)?;
    bind_codes(network, &quantizer, at)
}

fn pair<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    function: RealPair,
    id: TensorId,
    constant: &Constant,
    name: &str,
) -> Result<TensorId, OnnxError> {
    let other = network.reals(node, &format!("{name}_by"), constant)?;
    network.emit(node, FloatBinary { function }, &[id, other], name, (DType::Float32, None))
}
