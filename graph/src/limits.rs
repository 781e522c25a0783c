//! Limits on the size of a graph. They are far beyond any real network, and keep a small file from requesting an
//! arbitrary amount of memory.

use crate::ops::Operands;
use crate::{Brief, GraphError, Op, Window};

/// Maximum number of elements of all tensors of a graph, including constants, activations and other data of nodes.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// Maximum number of axes of a tensor.
pub const MAX_AXES: usize = 8;

/// Maximum size along one axis that an attribute gives: a kernel, its stride and dilation, an image, a factor. A
/// product of larger sizes could overflow.
pub const MAX_EXTENT: usize = 1 << 20;

/// Checks that the sizes of attribute `name` are within the limits.
pub(crate) fn check_extents(
    operands: &Operands<'_>,
    name: &'static str,
    sizes: [usize; 2],
) -> Result<(), GraphError> {
    if sizes.iter().all(|size| (1..=MAX_EXTENT).contains(size)) {
        return Ok(());
    }
    Err(operands.attribute_error(name, format!("{sizes:?} must be 1..={MAX_EXTENT}")))
}

/// The rest of [`MAX_ELEMENTS`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(usize);

impl Budget {
    pub fn new() -> Self {
        Self(MAX_ELEMENTS)
    }

    /// Returns the rest after adding a tensor of shape `shape`.
    pub fn with(self, name: &str, shape: &[usize]) -> Result<Self, GraphError> {
        self.take(name, elements(name, shape)?)
    }

    /// Returns the rest after adding a node with the output `name`.
    pub fn with_node(self, name: &str, op: &Op, operands: &Operands<'_>) -> Result<Self, GraphError> {
        let Some(window) = op.window(operands) else { return Ok(self) };
        if padded(&window).is_none_or(|padded| padded > MAX_ELEMENTS) {
            let problem = format!("reads more than {MAX_ELEMENTS} elements, padding included");
            return Err(operands.attribute_error("kernel", problem));
        }
        // The weights of a pool are not a tensor. They take one element per cell and channel.
        let weights =
            if operands.inputs.len() > 1 { Some(0) } else { window.terms().checked_mul(window.channels()) };
        let own = weights.and_then(|weights| weights.checked_add(window.terms())).unwrap_or(usize::MAX);
        self.take(name, own)
    }

    fn take(self, name: &str, elements: usize) -> Result<Self, GraphError> {
        let left = self.0.checked_sub(elements).map(Self);
        left.ok_or_else(|| GraphError::TooManyElements { tensor: name.into(), limit: MAX_ELEMENTS })
    }
}

/// Returns the number of elements of a valid shape.
fn elements(name: &str, shape: &[usize]) -> Result<usize, GraphError> {
    let fail = |problem: String| Err(GraphError::TensorShape { tensor: name.into(), problem });
    if shape.len() > MAX_AXES {
        return fail(format!("shape {} has {} axes; expected at most {MAX_AXES}", Brief(shape), shape.len()));
    }
    if let Some(axis) = shape.iter().position(|&size| size == 0) {
        return fail(format!("axis {axis} of shape {shape:?} is empty; expected at least 1 element"));
    }
    let elements = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
    elements.filter(|&elements| elements <= MAX_ELEMENTS).ok_or_else(|| GraphError::TooLarge {
        tensor: name.into(),
        shape: shape.to_vec(),
        limit: MAX_ELEMENTS,
    })
}

/// Returns the number of elements of an image with padding, up to the last cell that a window reads.
fn padded(window: &Window) -> Option<usize> {
    let along = |axis: usize| {
        let last = (window.output[axis].checked_sub(1)?).checked_mul(window.stride[axis])?;
        let reach = (window.kernel[axis].checked_sub(1)?).checked_mul(window.dilation[axis])?;
        last.checked_add(reach)?.checked_add(1)
    };
    let terms = window.kernel.iter().try_fold(1usize, |n, &size| n.checked_mul(size))?;
    let image = along(0)?.checked_mul(along(1)?)?.checked_mul(window.input[2])?.checked_mul(window.batch)?;
    Some(image.max(terms))
}
