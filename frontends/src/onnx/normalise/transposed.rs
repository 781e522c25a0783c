//! Geometry of transposed convolutions.

use guardbit_graph::{Brief, MAX_ELEMENTS};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// The attributes of a transposed convolution of images.
pub(in crate::onnx) struct Geometry {
    pub groups: usize,
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    /// Cells removed at the beginning of rows and columns, and the sizes of the output.
    pub begin: [usize; 2],
    pub size: [usize; 2],
}

/// Returns the geometry of a ConvTranspose node.
pub(in crate::onnx) fn geometry(
    node: Node<'_>,
    image: [usize; 2],
    kernel: [usize; 2],
) -> Result<Geometry, OnnxError> {
    let two = |name: &str, default: usize| -> Result<[usize; 2], OnnxError> {
        let given = node.sizes(name)?.unwrap_or_else(|| vec![default; 2]);
        <[usize; 2]>::try_from(given).map_err(|_| node.error(format!("`{name}` must have 2 numbers")))
    };
    let (stride, dilation, more) = (two("strides", 1)?, two("dilations", 1)?, two("output_padding", 0)?);
    let groups = usize::try_from(node.int("group", 1)).ok().filter(|&groups| groups > 0);
    let groups = groups.ok_or_else(|| node.error("has no groups"))?;
    if stride.contains(&0) || dilation.contains(&0) || kernel.contains(&0) {
        return Err(node.error("has invalid strides or dilations"));
    }
    let pads = node.sizes("pads")?.unwrap_or_else(|| vec![0; 4]);
    let auto = node.text("auto_pad", "NOTSET");
    if pads.len() != 4 || !matches!(auto.as_str(), "NOTSET" | "VALID" | "SAME_UPPER" | "SAME_LOWER") {
        return Err(node.error(format!("has pads {} and `auto_pad` `{auto}`", Brief(&pads))));
    }
    let wanted = wanted(node)?;
    let too_large = || {
        node.error(format!(
            "produces an image of more than {MAX_ELEMENTS} elements along an axis, its pads \
                            included"
        ))
    };
    let (mut begin, mut size) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let reached = reached(image[axis], stride[axis], kernel[axis], dilation[axis]);
        let full = reached.and_then(|reached| reached.checked_add(more[axis])).and_then(bounded);
        let full = full.ok_or_else(too_large)?;
        let (front, back) = if auto == "NOTSET" { (pads[axis], pads[axis + 2]) } else { (0, 0) };
        let target = match (wanted, auto.as_str()) {
            (Some(sizes), _) => Some(sizes[axis]),
            (None, "SAME_UPPER" | "SAME_LOWER") => Some(image[axis].saturating_mul(stride[axis])),
            _ => None,
        };
        (begin[axis], size[axis]) = match target {
            None => (front, full.saturating_sub(front.saturating_add(back))),
            Some(target) => {
                let total = full.saturating_sub(target);
                let front = if auto == "SAME_UPPER" { total / 2 } else { total - total / 2 };
                (front, bounded(target).ok_or_else(too_large)?)
            }
        };
        if size[axis] == 0 {
            return Err(node.error("produces an empty image"));
        }
    }
    Ok(Geometry { groups, stride, dilation, begin, size })
}

/// Returns rows and columns of `output_shape`, which may also contain the batch and the channels.
fn wanted(node: Node<'_>) -> Result<Option<[usize; 2]>, OnnxError> {
    match node.sizes("output_shape")?.as_deref() {
        None => Ok(None),
        Some(&[rows, columns] | &[_, _, rows, columns]) => Ok(Some([rows, columns])),
        Some(other) => Err(node.error(format!("`output_shape` {} must have 2 or 4 numbers", Brief(other)))),
    }
}

/// Returns the number of elements that a kernel covers over pixels at a distance of `stride`.
fn reached(pixels: usize, stride: usize, kernel: usize, dilation: usize) -> Option<usize> {
    let between = pixels.checked_sub(1)?.checked_mul(stride)?;
    let reach = kernel.checked_sub(1)?.checked_mul(dilation)?;
    between.checked_add(reach)?.checked_add(1)
}

/// Returns a size if a tensor can have it.
fn bounded(size: usize) -> Option<usize> {
    (size <= MAX_ELEMENTS).then_some(size)
}
