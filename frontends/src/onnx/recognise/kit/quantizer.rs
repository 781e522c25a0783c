//! Nodes that quantize real values, with a clip of their codes.

use guardbit_num::Rounding;

use super::network::Network;
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::clip::{code_limits, within};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::quantizers::rule;
use crate::onnx::normalise::rule::Rule;
use crate::onnx::parse::node::{Node, normalized};

/// A node that quantizes real values.
#[derive(Clone)]
pub(in crate::onnx) struct Quantizer<'a> {
    pub node: Node<'a>,
    /// The clip of its codes that it includes (QCDQ).
    pub clip: Option<Node<'a>>,
    pub quant: Quant,
    pub rounding: Rounding,
    /// Whether it dequantizes the codes immediately (QONNX).
    pub dequantizes: bool,
    /// The scale of one-bit codes, whose values are the scale and its negative.
    pub bipolar: Option<f32>,
}

impl<'a> Quantizer<'a> {
    /// Returns a quantizer with the rule of ONNX.
    pub fn plain(node: Node<'a>, quant: Quant) -> Self {
        Self::by(node, Rule::plain(quant))
    }

    fn by(node: Node<'a>, rule: Rule) -> Self {
        let Rule { quant, rounding, dequantizes, bipolar } = rule;
        Self { node, clip: None, quant, rounding, dequantizes, bipolar }
    }

    /// Returns whether it rounds half to even, as ONNX does.
    pub fn is_plain(&self) -> bool {
        self.rounding == Rounding::HalfEven && self.bipolar.is_none()
    }

    /// Returns the node whose output its codes are.
    pub fn last(&self) -> Node<'a> {
        self.clip.unwrap_or(self.node)
    }

    /// Returns the quantizer with the clip of its codes, if the clip is their only reader.
    pub fn with_clip(self, network: &Network<'a>) -> Result<Self, OnnxError> {
        let Some(&[reader]) = self.node.output(0).map(|name| network.inner_readers(name)) else {
            return Ok(self);
        };
        let clip = network.nodes[reader];
        if clip.proto.op != "Clip"
            || !normalized(&clip.proto.domain).is_empty()
            || clip.input(0) != self.node.output(0)
        {
            return Ok(self);
        }
        let Some(limits) = code_limits(network.known, clip) else { return Ok(self) };
        let range = within(clip, self.quant.codes(), limits)?;
        Ok(Self { clip: Some(clip), quant: Quant { range: Some(range), ..self.quant }, ..self })
    }
}

/// Returns the quantizer that a node is, if it is one.
pub(in crate::onnx) fn quantizer<'a>(
    network: &Network<'a>,
    node: Node<'a>,
) -> Result<Option<Quantizer<'a>>, OnnxError> {
    let rank = node.input(0).and_then(|name| network.known.shapes.get(name)).map_or(8, Vec::len);
    let Some(rule) = rule(network.known, node, rank)? else { return Ok(None) };
    let quantizer = Quantizer::by(node, rule);
    if quantizer.dequantizes { Ok(Some(quantizer)) } else { quantizer.with_clip(network).map(Some) }
}
