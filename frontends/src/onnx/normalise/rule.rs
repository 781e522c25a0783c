//! Rules for quantizing real values.

use guardbit_num::Rounding;

use super::quant::{Quant, element_of};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// A rule for quantizing real values.
#[derive(Debug, Clone)]
pub(in crate::onnx) struct Rule {
    pub quant: Quant,
    pub rounding: Rounding,
    /// Whether the codes are dequantized immediately (QONNX).
    pub dequantizes: bool,
    /// The scale of one-bit codes, whose values are the scale and its negative.
    pub bipolar: Option<f32>,
}

impl Rule {
    /// Returns the rule of ONNX's QuantizeLinear.
    pub fn plain(quant: Quant) -> Self {
        Self { quant, rounding: Rounding::HalfEven, dequantizes: false, bipolar: None }
    }

    /// Returns the code of a real value: `x / s`, rounded, plus the zero point, clamped.
    fn code(&self, real: f32, channel: usize) -> i32 {
        if self.bipolar.is_some() {
            return if real >= 0.0 { 1 } else { -1 };
        }
        let quant = &self.quant;
        let steps = real / quant.scales[if quant.scales.len() == 1 { 0 } else { channel }];
        let zero_point = quant.zero_points[if quant.zero_points.len() == 1 { 0 } else { channel }];
        let rounded = match self.rounding {
            Rounding::Floor => steps.floor(),
            Rounding::TowardZero => steps.trunc(),
            Rounding::HalfAway => steps.round(),
            Rounding::HalfToZero if steps.fract().abs() == 0.5 => steps.trunc(),
            _ => steps.round_ties_even(),
        };
        quant.codes().clamp((rounded as i128).saturating_add(zero_point.into()))
    }

    /// Returns the codes of constant real values.
    pub fn codes(&self, node: Node<'_>, constant: &Constant) -> Result<Constant, OnnxError> {
        let values = constant.as_reals().ok_or_else(|| {
            node.error(
                "quantizes values that are not real \
                                                                   numbers",
            )
        })?;
        let quant = &self.quant;
        if quant.scales.contains(&0.0) {
            return Err(node.error("quantizes constants by a scale of 0; store their codes instead"));
        }
        let (inner, size) = match quant.axis {
            Some(axis) if axis < constant.shape.len() => {
                (constant.shape[axis + 1..].iter().product(), constant.shape[axis])
            }
            Some(axis) => {
                return Err(
                    node.error(format!("has axis {axis}, but {} axes to quantize", constant.shape.len()))
                );
            }
            None => (usize::MAX, 1),
        };
        if size != quant.scales.len() && quant.scales.len() > 1 {
            return Err(node.error(format!("has {} scales along an axis of {size}", quant.scales.len())));
        }
        let code = |(index, &value): (usize, &f32)| i64::from(self.code(value, index / inner % size));
        let codes = values.iter().enumerate().map(code);
        let codes = Constant::integers(element_of(quant.dtype), constant.shape.clone(), codes);
        Ok(Constant { range: quant.range, ..codes })
    }
}
