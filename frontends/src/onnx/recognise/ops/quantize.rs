//! QuantizeLinear and DequantizeLinear.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{FloatBinary, RealPair};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocked::blocks;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::scales::{declared, quant_at, quant_of};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;
use crate::onnx::recognise::kit::codes::{check_codes, table};
use crate::onnx::recognise::kit::computed;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::pairs::apply;
use crate::onnx::recognise::kit::quantize::{bind_codes, emit_quantizer, quantized};
use crate::onnx::recognise::kit::quantizer::{Quantizer, quantizer};
use crate::onnx::recognise::kit::value::{Coding, Dequantized, Located, Source, Value};

pub(super) fn quantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
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
