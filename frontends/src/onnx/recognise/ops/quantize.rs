//! QuantizeLinear and DequantizeLinear.

use guardbit_graph::ops::{FloatBinary, RealPair};
use guardbit_graph::{DType, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocked::blocks;
use crate::onnx::normalise::floats;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::scales::{declared, quant_at, quant_of};
use crate::onnx::parse::constant::{Constant, short_float};
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;
use crate::onnx::recognise::kit::codes::{check_codes, table};
use crate::onnx::recognise::kit::computed;
use crate::onnx::recognise::kit::floats::{float_cast, rounded};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::pairs::apply;
use crate::onnx::recognise::kit::quantize::{bind_codes, emit_quantizer, quantized};
use crate::onnx::recognise::kit::quantizer::{Quantizer, quantizer};
use crate::onnx::recognise::kit::value::{Coding, Dequantized, Located, Source, Value};

pub(super) fn quantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if let Some(dtype) = floats::codes_of(network.known, node) {
        return quantize_float(network, node, dtype);
    }
    if node.int("block_size", 0) != 0 {
        return quantize_blocks(network, node);
    }
    if computed::quantize(network, node)? {
        return Ok(());
    }
    let quantizer = quantizer(network, node)?.ok_or_else(|| node.error("is not supported"))?;
    let value = network.input(node, 0)?;
    quantized(network, quantizer, value)
}

pub(super) fn dequantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if floats::codes_of(network.known, node).is_some() {
        return dequantize_float(network, node);
    }
    if node.int("block_size", 0) != 0 {
        return dequantize_blocks(network, node);
    }
    if computed::dequantize(network, node)? {
        return Ok(());
    }
    let value = network.input(node, 0)?;
    let Value::Codes(at) = value else { return Err(node.error("reads real values; it works on codes")) };
    let rank = network.shape_of(at).len();
    let mut quant = quant_at(network.known, node, 1, None, rank, node.int("axis", 1))?;
    // Codes of fewer values may be read as codes of 8 bits.
    let dtype = network.builder.tensor(at.id).ty.dtype;
    if network.known.optional_constant(node, 2)?.is_none() {
        quant.dtype = dtype;
    }
    let at = match check_codes(network, node, at, &quant) {
        Ok(()) => at,
        // Equal codes with another quantization.
        Err(_) if quant.single().is_some() && quant.dtype == dtype && dtype.bits() <= 8 => {
            let name = format!("{}_codes", node.first_output()?);
            let id = table(network, node, at.id, &quant, &name, |code| code)?;
            network.reread.insert(id, at.id);
            Located { id, ..at }
        }
        Err(error) => return Err(error),
    };
    network.bind(node, 0, Value::Dequantized(Dequantized::new(Source::Tensor(at), quant)))
}

/// Reads a QuantizeLinear to floating-point codes: `x / scale`, converted.
fn quantize_float<'a>(network: &mut Network<'a>, node: Node<'a>, dtype: DType) -> Result<(), OnnxError> {
    if dtype == DType::Float8E8M0 {
        return Err(node.error("quantizes to float8e8m0, a type of scales; expected float8 or float4 codes"));
    }
    let name = node.first_output()?;
    let value = network.input(node, 0)?;
    let at = scaled(network, node, value, RealPair::Div, &format!("{name}_quotient"))?;
    let at = match floats::adds_zero(node, dtype) {
        true => {
            let zero = Constant::reals(vec![], vec![0.0]);
            Located { id: pair(network, node, RealPair::Add, at.id, zero, &format!("{name}_sum"))?, ..at }
        }
        false => at,
    };
    let at = float_cast(network, node, at, dtype, node.int("saturate", 1) != 0, name)?;
    network.bind(node, 0, Value::Codes(at))
}

/// Reads a DequantizeLinear of floating-point codes: `x * scale`.
fn dequantize_float<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let name = node.first_output()?;
    let at = scaled(network, node, value, RealPair::Mul, name)?;
    network.bind(node, 0, Value::Real(at))
}

/// Returns real values multiplied or divided by the scales of a node, in the precision of the node.
fn scaled<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    function: RealPair,
    name: &str,
) -> Result<Located, OnnxError> {
    floats::check_zero_points(network.known, node)?;
    let shape = network.shape(&value);
    let scale = match network.input(node, 1)? {
        Value::Real(scale) if network.shape_of(scale).iter().all(|&size| size == 1) => Err(scale.id),
        _ => Ok(floats::scales(network.known, node, &shape)?),
    };
    // A single scale keeps the order of axes.
    let single = scale.as_ref().map_or(true, |scales| scales.data.len() == 1);
    let channels_last = single && value.located().is_some_and(|at| at.channels_last);
    let id = network.real_tensor(node, value, channels_last)?;
    let scale = match scale {
        Err(id) => id,
        Ok(scales) => network.reals(node, &format!("{name}_by"), &scales)?,
    };
    let precision = short_float(floats::precision(network.known, node));
    let own = if precision.is_some() { format!("{name}_float32") } else { name.to_owned() };
    let id = network.emit(node, FloatBinary { function }, &[id, scale], &own, Coding::REAL)?;
    let at = Located { id, channels_last };
    precision.map_or(Ok(at), |dtype| rounded(network, node, at, dtype, name))
}

/// Reads a blocked DequantizeLinear: `(x - zero point) * scale` element by element.
fn dequantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network.known, node, &shape)?.spread(&shape);
    let Value::Codes(at) = value else { return Err(node.error("reads real values; it works on codes")) };
    let dtype = network.builder.tensor(at.id).ty.dtype;
    let steps = Dequantized::new(Source::Tensor(at), Quant::per_tensor(dtype, 1.0, 0));
    check_codes(network, node, at, &steps.quant)?;
    let mut id = network.real_tensor(node, Value::Dequantized(steps), false)?;
    let name = node.first_output()?.to_owned();
    if let Some(zeros) = zeros {
        id = pair(
            network,
            node,
            RealPair::Sub,
            id,
            Constant::reals(shape.clone(), zeros),
            &format!("{name}_steps"),
        )?;
    }
    let id = pair(network, node, RealPair::Mul, id, Constant::reals(shape, scales), &name)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

/// Reads a blocked QuantizeLinear: `round(x / scale) + zero point` element by element.
fn quantize_blocks<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let (scales, zeros) = blocks(network.known, node, &shape)?.spread(&shape);
    let zero = network.known.optional_constant(node, 2)?;
    let number = zero.as_ref().map(|zero| zero.element).or(declared(node)).unwrap_or(element::UINT8);
    let one = Constant::reals(vec![], vec![1.0]);
    let quant = quant_of(node, &one, None, number, shape.len(), 0)?;
    let name = node.first_output()?.to_owned();
    let id = network.real_tensor(node, value, false)?;
    let mut id = pair(
        network,
        node,
        RealPair::Div,
        id,
        Constant::reals(shape.clone(), scales),
        &format!("{name}_quotient"),
    )?;
    if let Some(zeros) = zeros {
        let round = guardbit_graph::ops::RealFunction::Round;
        let at = Located { id, channels_last: false };
        id = apply(network, node, at, round, vec![], &format!("{name}_rounded"))?.id;
        id = pair(network, node, RealPair::Add, id, Constant::reals(shape, zeros), &format!("{name}_moved"))?;
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
    other: Constant,
    name: &str,
) -> Result<TensorId, OnnxError> {
    let other = network.reals(node, &format!("{name}_by"), &other)?;
    network.emit(node, FloatBinary { function }, &[id, other], name, Coding::REAL)
}
