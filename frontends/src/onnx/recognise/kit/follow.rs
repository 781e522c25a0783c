//! The codes of an operator with a quantizer after it.

use guardbit_graph::{Activation, CodeRange, DType};

use super::network::Network;
use super::quantizer::{Quantizer, quantizer};
use super::value::{Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::clip::limits;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::scales::quant_at;
use crate::onnx::parse::node::{Node, normalized};

/// Maximum number of nodes to examine after an operator.
const MOST: usize = 64;

/// The codes that follow an operator.
pub(in crate::onnx) struct Follow<'a> {
    pub quantizer: Option<Quantizer<'a>>,
    pub quant: Quant,
    /// The type of the codes of the quantizer directly after the operator. `quant` may be narrower.
    pub kernel: DType,
    /// Nodes that become part of the operator.
    via: Vec<usize>,
    /// The node whose output the codes are, if it is another one.
    owner: Option<Node<'a>>,
    /// The name of the codes.
    pub name: String,
    /// The activation of a rectifier or clip in between. Any other clamp is a range of the codes.
    pub activation: Activation,
}

/// Returns the quantizer after the output of a node, optionally with a rectifier or clip in between.
///
/// Nothing else may read the tensors in between.
pub(in crate::onnx) fn follow<'a>(
    network: &Network<'a>,
    node: Node<'a>,
) -> Result<Option<Follow<'a>>, OnnxError> {
    let Some(mut behind) = Behind::find(network, node.output(0))? else { return Ok(None) };
    let kernel = behind.quantizer.quant.dtype;
    // Further quantizers with equal scales only clamp the codes.
    while behind.via.len() < MOST
        && let Some(next) = behind.narrowed(network)?
    {
        behind = next;
    }
    Ok(Some(Follow { kernel, ..behind.follow() }))
}

/// Returns the quantizer after a clip with these limits, if nothing else reads the tensors in between.
pub(in crate::onnx) fn clipped<'a>(
    network: &Network<'a>,
    clip: Node<'a>,
    limits: [f32; 2],
) -> Result<Option<Follow<'a>>, OnnxError> {
    let behind = Behind::find(network, clip.output(0))?.filter(|behind| !behind.quantizer.dequantizes);
    Ok(behind.map(|behind| Behind { clip: both(limits, behind.clip), ..behind }.follow()))
}

/// Returns a clamp of the codes `name` to fewer values, directly after them.
pub(in crate::onnx) fn narrowed_codes<'a>(
    network: &Network<'a>,
    name: &str,
    quant: &Quant,
) -> Result<Option<Follow<'a>>, OnnxError> {
    Ok(Behind::narrowing(network, name, quant)?.map(|behind| behind.follow().without_activation()))
}

/// Returns the only quantizer that reads an input of the network, optionally after a rectifier or clip.
///
/// The codes must not be an output of the network.
pub(in crate::onnx) fn of_input<'a>(
    network: &Network<'a>,
    name: &'a str,
) -> Result<Option<Follow<'a>>, OnnxError> {
    let behind = Behind::find(network, Some(name))?.filter(|behind| !network.is_output(behind.output));
    Ok(behind.map(Behind::follow))
}

/// A quantizer with the nodes before it.
struct Behind<'a> {
    quantizer: Quantizer<'a>,
    clip: [f32; 2],
    via: Vec<usize>,
    output: &'a str,
}

impl<'a> Behind<'a> {
    /// Returns the quantizer that is the only reader of a name, possibly through rectifiers and clips.
    fn find(network: &Network<'a>, name: Option<&'a str>) -> Result<Option<Self>, OnnxError> {
        let Some(mut name) = name else { return Ok(None) };
        let mut via = Vec::new();
        let mut clip = [f32::NEG_INFINITY, f32::INFINITY];
        while via.len() < MOST {
            let &[reader] = network.inner_readers(name) else { return Ok(None) };
            let next = network.nodes[reader];
            let Some(output) = next.output(0) else { return Ok(None) };
            via.push(reader);
            if let Some(quantizer) = quantizer(network, next)? {
                let plain = quantizer.is_plain() && quantizer.quant.single().is_some();
                let Some(output) = quantizer.last().output(0) else { return Ok(None) };
                via.extend(quantizer.clip.map(|clip| clip.index));
                return Ok(plain.then_some(Self { quantizer, clip, via, output }));
            }
            let limits = match next.proto.op.as_str() {
                _ if !normalized(&next.proto.domain).is_empty() => return Ok(None),
                "Relu" => [0.0, f32::INFINITY],
                "Clip" => match limits(network.known, next)? {
                    Some(limits) => limits,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            clip = both(clip, limits);
            name = output;
        }
        Ok(None)
    }

    /// Extends this by a dequantizer and a quantizer with equal scale and zero point, which restrict the codes.
    fn narrowed(&self, network: &Network<'a>) -> Result<Option<Self>, OnnxError> {
        if self.quantizer.dequantizes {
            return Ok(None);
        }
        let Some(mut next) = Self::narrowing(network, self.output, &self.quantizer.quant)? else {
            return Ok(None);
        };
        next.clip = both(self.clip, next.clip);
        next.via = [&self.via[..], &next.via].concat();
        Ok(Some(next))
    }

    /// Returns a dequantizer of the codes `name` followed by a quantizer with equal scale and zero point.
    fn narrowing(network: &Network<'a>, name: &str, quant: &Quant) -> Result<Option<Self>, OnnxError> {
        let &[reader] = network.inner_readers(name) else { return Ok(None) };
        let node = network.nodes[reader];
        if node.proto.op != "DequantizeLinear" || node.int("block_size", 0) != 0 {
            return Ok(None);
        }
        let read = quant_at(network.known, node, 1, None, 1, 0).ok().and_then(|read| read.single());
        if read != quant.single() {
            return Ok(None);
        }
        let Some(mut next) = Self::find(network, node.output(0))? else { return Ok(None) };
        let to = &mut next.quantizer.quant;
        if next.quantizer.dequantizes || to.single() != quant.single() || to.dtype.bits() > quant.dtype.bits()
        {
            return Ok(None);
        }
        let [(low, high), (least, greatest)] = [&*to, quant].map(|quant| quant.limits().into());
        let Some(range) = CodeRange::new(i32::max(low, least), i32::min(high, greatest)) else {
            return Ok(None);
        };
        to.range = Some(range).filter(|&range| range != to.dtype.into());
        next.via.insert(0, reader);
        Ok(Some(next))
    }

    fn follow(self) -> Follow<'a> {
        let Self { quantizer, clip, via, output } = self;
        let follow = Follow::to(quantizer.quant.clone(), output, clip);
        Follow { via, owner: Some(quantizer.last()), quantizer: Some(quantizer), ..follow }
    }
}

/// Returns the limits of two consecutive clips.
fn both(first: [f32; 2], then: [f32; 2]) -> [f32; 2] {
    first.map(|limit| limit.max(then[0]).min(then[1]))
}

impl<'a> Follow<'a> {
    /// Returns the codes that an operator computes itself, with a clip that is their only reader.
    pub fn of_operator(network: &Network<'a>, node: Node<'a>, quant: Quant) -> Result<Self, OnnxError> {
        let made = Quantizer::plain(node, quant).with_clip(network)?;
        let via = made.clip.map(|clip| clip.index).into_iter().collect();
        let follow =
            Self::to(made.quant.clone(), made.last().first_output()?, [f32::NEG_INFINITY, f32::INFINITY]);
        Ok(Self { via, owner: made.clip, ..follow })
    }

    /// Returns the codes of real values within `clip`.
    fn to(quant: Quant, name: &str, clip: [f32; 2]) -> Self {
        let [low, high] = quant.limits();
        let code = |real: f32| {
            if real.is_finite() {
                quant.code(real, 0)
            } else if real < 0.0 {
                low
            } else {
                high
            }
        };
        let clamp = clip.map(code);
        // Codes with a restricted range have one form, with or without a rectifier.
        let activation = activation(&quant, clip, clamp).filter(|_| quant.range.is_none());
        let mut quant = quant;
        if activation.is_none() {
            quant.range = CodeRange::new(clamp[0], clamp[1]);
        }
        let activation = activation.unwrap_or(Activation::None);
        Self {
            quantizer: None,
            kernel: quant.dtype,
            quant,
            via: Vec::new(),
            owner: None,
            name: name.into(),
            activation,
        }
    }

    /// Returns this for an operation without an activation. Its clamp becomes a range of the codes.
    pub fn without_activation(mut self) -> Self {
        if let Ok(quantization) = self.quant.quantization(None) {
            let (low, high) = self.activation.clamp(self.quant.dtype, &quantization);
            self.quant.range = CodeRange::new(low, high).filter(|&range| range != self.quant.dtype.into());
        }
        Self { activation: Activation::None, ..self }
    }

    /// Returns whether the codes are dequantized immediately.
    pub fn dequantizes(&self) -> bool {
        self.quantizer.as_ref().is_some_and(|quantizer| quantizer.dequantizes)
    }

    /// Binds the name of the codes to the new tensor.
    pub fn finish(self, network: &mut Network<'a>, node: Node<'a>, at: Located) -> Result<(), OnnxError> {
        self.via.iter().for_each(|&index| network.done(index));
        let value = match self.dequantizes() {
            true => Value::Dequantized(Dequantized::new(Source::Tensor(at), self.quant)),
            false => Value::Codes(at),
        };
        let owner = self.owner.unwrap_or(node);
        network.bind(owner, 0, value)
    }
}

/// Returns the activation that clamps codes like real limits do.
fn activation(quant: &Quant, clip: [f32; 2], clamp: [i32; 2]) -> Option<Activation> {
    let quantization = quant.quantization(None).ok()?;
    let fits = |activation: &Activation| {
        let limits = match activation {
            Activation::None => clip,
            Activation::Relu => [0.0, f32::INFINITY],
            Activation::Relu6 => [0.0, 6.0],
            Activation::ReluN1To1 => [-1.0, 1.0],
            Activation::Relu0To1 => [0.0, 1.0],
        };
        limits == clip && activation.clamp(quant.dtype, &quantization) == clamp.into()
    };
    Activation::ALL.into_iter().find(fits)
}
