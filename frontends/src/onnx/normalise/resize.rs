//! Output sizes of Resize and Upsample.

use guardbit_graph::{Brief, MAX_ELEMENTS};

use super::known::Known;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::Node;

/// Sizes of the output, and the scales that lead to them, per axis.
pub(in crate::onnx) struct Target {
    pub sizes: Vec<usize>,
    pub scales: Vec<f32>,
    /// Whether the file contains scales, from which the sizes follow.
    pub scaled: bool,
}

/// Returns the output of a Resize or Upsample node for a shape.
pub(in crate::onnx) fn target(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Target, OnnxError> {
    let upsample = node.proto.op == "Upsample" || known.opset < 11;
    let (scales, sizes) = if upsample { (1, 9) } else { (2, 3) };
    let given = |index: usize| known.optional_constant(node, index);
    let scales = given(scales)?.filter(|constant| constant.data.len() > 0);
    if let Some(constant) = scales {
        let scales = constant.as_reals().ok_or_else(|| node.error("has scales that are not real numbers"))?;
        let fits = |scale: &f32| scale.is_finite() && *scale > 0.0 && *scale < 1e6;
        if scales.len() != shape.len() || !scales.iter().all(fits) {
            return Err(node.error(format!("has scales {} for {} axes", Brief(scales), shape.len())));
        }
        let sizes = shape.iter().zip(scales).map(|(&size, &scale)| (size as f32 * scale).floor() as usize);
        return Ok(Target { sizes: possible(node, sizes.collect())?, scales: scales.to_vec(), scaled: true });
    }
    let Some(constant) = given(sizes)? else { return Err(node.error("needs constant scales or sizes")) };
    let sizes = constant.as_integers().ok_or_else(|| node.error("has sizes that are not integers"))?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(size).ok()).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == shape.len());
    let sizes = sizes.ok_or_else(|| node.error("has sizes for another number of axes"))?;
    let sizes = possible(node, sizes)?;
    let scales = sizes.iter().zip(shape).map(|(&to, &from)| to as f32 / from as f32).collect();
    Ok(Target { sizes, scales, scaled: false })
}

/// Returns sizes if a tensor can have them.
fn possible(node: Node<'_>, sizes: Vec<usize>) -> Result<Vec<usize>, OnnxError> {
    match elements_of(&sizes) {
        Some(0) => Err(node.error("produces an empty tensor")),
        Some(_) => Ok(sizes),
        None => Err(node.error(format!(
            "produces the sizes {sizes:?}; expected at most {MAX_ELEMENTS} \
                                        elements"
        ))),
    }
}
