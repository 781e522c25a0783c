//! Scales of blocks.

use guardbit_graph::Brief;

use super::known::Known;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::Node;

/// Scales and zero points of blocks, one per element.
pub(in crate::onnx) struct Blocks {
    pub scales: Vec<f32>,
    pub zeros: Option<Vec<f32>>,
}

impl Blocks {
    /// Returns the scales and zero points that a node with a block size names for codes of a shape.
    pub fn of(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Self, OnnxError> {
        let axis = node.axis(node.int("axis", 1), shape.len())?;
        let size = usize::try_from(node.int("block_size", 0)).unwrap_or(0).max(1);
        let (scale, zero) = (known.constant(node, 1)?, known.optional_constant(node, 2)?);
        let wanted: Vec<usize> =
            shape.iter().enumerate().map(|(i, &n)| if i == axis { n.div_ceil(size) } else { n }).collect();
        if scale.shape != wanted || zero.as_ref().is_some_and(|zero| zero.shape != wanted) {
            let given = Brief(&scale.shape);
            return Err(node.error(format!("has scales of shape {given}; blocks of {size} need {wanted:?}")));
        }
        let mut strides = vec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = strides[i] * wanted[i];
        }
        let count = elements_of(shape).unwrap_or(0);
        let place = |index: usize| {
            let (mut rest, mut at) = (index, 0);
            for i in (0..shape.len()).rev() {
                let step = rest % shape[i];
                at += strides[i] * if i == axis { step / size } else { step };
                rest /= shape[i];
            }
            at
        };
        let given = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?;
        let zeros = zero.map(|zero| {
            let values = zero.as_integers().ok_or_else(|| node.error("has a zero point that is no integer"))?;
            Ok((0..count).map(|i| values.at(place(i)) as f32).collect())
        });
        let zeros = zeros.transpose()?;
        Ok(Self { scales: (0..count).map(|i| given[place(i)]).collect(), zeros })
    }
}
