//! Sliding windows over images.

use guardbit_graph::{Brief, MAX_ELEMENTS, Padding};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// The window of a convolution or pool.
#[derive(Clone, Copy)]
pub(in crate::onnx) struct Sliding {
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub padding: Padding,
}

/// Returns the window of a node's attributes over an image of `image` rows and columns. A single axis becomes the
/// columns.
pub(in crate::onnx) fn sliding(
    node: Node<'_>,
    kernel: &[usize],
    image: &[usize],
) -> Result<Sliding, OnnxError> {
    let axes = kernel.len();
    if !(1..=2).contains(&axes) || image.len() != axes {
        let problem = format!("slides over {} axes; expected 1 or 2", image.len());
        return Err(node.error(problem));
    }
    let sizes = |name: &str| -> Result<Vec<usize>, OnnxError> {
        let found = node.sizes(name)?.unwrap_or_else(|| vec![1; axes]);
        if found.len() != axes {
            return Err(node.error(format!("`{name}` {} must have {axes} numbers", Brief(&found))));
        }
        Ok(found)
    };
    let (stride, dilation) = (sizes("strides")?, sizes("dilations")?);
    let pads = node.sizes("pads")?.unwrap_or_else(|| vec![0; 2 * axes]);
    if pads.len() != 2 * axes || stride.contains(&0) || dilation.contains(&0) || kernel.contains(&0) {
        return Err(node.error("has invalid strides, dilations or pads"));
    }
    let two = |values: &[usize], one: usize| {
        if let [only] = values { [one, *only] } else { [values[0], values[1]] }
    };
    let side = |axis: usize| {
        let reach = (kernel[axis] - 1).saturating_mul(dilation[axis]).saturating_add(1);
        let covered = (image[axis].div_ceil(stride[axis]).saturating_sub(1)).saturating_mul(stride[axis]);
        let total = covered.saturating_add(reach).saturating_sub(image[axis]);
        match node.text("auto_pad", "NOTSET").as_str() {
            "NOTSET" => Ok([pads[axis], pads[axes + axis]]),
            "VALID" => Ok([0, 0]),
            "SAME_UPPER" => Ok([total / 2, total - total / 2]),
            "SAME_LOWER" => Ok([total - total / 2, total / 2]),
            other => Err(node.error(format!("has the unknown `auto_pad` `{other}`"))),
        }
    };
    let sides = (0..axes).map(side).collect::<Result<Vec<_>, _>>()?;
    if sides.as_flattened().iter().any(|&side| side > MAX_ELEMENTS) {
        return Err(node.error(format!("has pads {sides:?}; expected at most {MAX_ELEMENTS} elements")));
    }
    let (rows, cols) = if axes == 1 { ([0, 0], sides[0]) } else { (sides[0], sides[1]) };
    let padding =
        if rows == [0, 0] && cols == [0, 0] { Padding::Valid } else { Padding::Explicit { rows, cols } };
    Ok(Sliding { kernel: two(kernel, 1), stride: two(&stride, 1), dilation: two(&dilation, 1), padding })
}

/// Returns the window of a pool. With `ceil_mode` the last window may extend beyond the padding, if `hangs` allows
/// it.
pub(in crate::onnx) fn pooling(node: Node<'_>, shape: &[usize], hangs: bool) -> Result<Sliding, OnnxError> {
    let kernel = node.sizes("kernel_shape")?.ok_or_else(|| node.error("lacks `kernel_shape`"))?;
    let image = shape.get(2..).unwrap_or_default();
    if !(1..=2).contains(&image.len()) {
        return Err(node.error(format!("pools {}; expected an image with one or two axes", Brief(shape))));
    }
    let mut window = sliding(node, &kernel, image)?;
    if window.dilation != [1, 1] {
        return Err(node.error("has dilations; expected 1"));
    }
    if node.int("ceil_mode", 0) != 0 {
        let sides = match window.padding {
            Padding::Explicit { rows, cols } => [rows, cols],
            _ => [[0, 0]; 2],
        };
        let mut over = sides;
        for axis in 0..image.len() {
            let at = 2 - image.len() + axis;
            let ([front, back], stride) = (sides[at], window.stride[at]);
            let padded = image[axis] + front + back;
            if padded < kernel[axis] {
                return Err(node.error("has a window larger than the padded image"));
            }
            let mut last = (padded - kernel[axis]).div_ceil(stride) * stride;
            // Every window starts within the image or the padding before it.
            if last >= image[axis] + front {
                last -= stride;
            }
            over[at][1] = (last + kernel[axis]).saturating_sub(image[axis] + front);
        }
        if over != sides && !hangs {
            return Err(
                node.error("has `ceil_mode` with windows beyond the padding, which cannot be represented")
            );
        }
        if over != sides {
            window.padding = Padding::Explicit { rows: over[0], cols: over[1] };
        }
    }
    Ok(window)
}
