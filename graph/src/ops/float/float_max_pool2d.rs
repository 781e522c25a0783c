//! Max pool of real values.

use super::elements::expect;
use crate::dot::{Tap, Window};
use crate::effort::Effort;
use crate::ops::window::{Sliding, output_shape};
use crate::ops::{Operands, Operator};
use crate::{GraphError, Padding, real_of, word_of};

/// The greatest value in a window of `[n, h, w, c]` without padding.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatMaxPool2d {
    /// Size of the window along rows and columns.
    pub kernel: [usize; 2],
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Padding.
    pub padding: Padding,
}

impl Operator for FloatMaxPool2d {
    const NAME: &'static str = "float_max_pool2d";
    const EFFORT: Effort = Effort::per_cell(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        self.geometry(operands).map(|window| output_shape(&window))
    }

    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.geometry(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(window) = self.geometry(operands) else { return Vec::new() };
        let greatest = |index| {
            let values = taps(&window, index).map(|at| real_of(inputs[0][at]));
            word_of(values.fold(f32::NEG_INFINITY, f32::max))
        };
        (0..window.dots()).map(greatest).collect()
    }
}

impl FloatMaxPool2d {
    fn geometry(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        window(operands, self.kernel, self.stride, self.padding)
    }
}

/// Returns the checked window of a pool over real values. Every window reads at least one element.
pub(super) fn window(
    operands: &Operands<'_>,
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: Padding,
) -> Result<Window, GraphError> {
    operands.expect_inputs(1, 1)?;
    let input @ [_, _, _, channels] = operands.shape(0)?;
    if let Padding::Explicit { rows, cols } = padding {
        for (sides, size) in [(rows, kernel[0]), (cols, kernel[1])] {
            if sides.iter().any(|&side| side >= size) {
                let problem = format!("{sides:?} must be below the size {size} of the window");
                return Err(operands.attribute_error("padding", problem));
            }
        }
    }
    Sliding { kernel, stride, dilation: [1, 1], padding }.over(operands, input, channels, 1, channels)
}

/// Returns the elements that the window at output `index` reads, row by row.
pub(super) fn taps(window: &Window, index: usize) -> impl Iterator<Item = usize> + '_ {
    let out = window.output_position(index);
    (0..window.terms()).filter_map(move |k| match window.tap(out, window.kernel_position(k)) {
        Tap::Input(at) => Some(at),
        Tap::Padding => None,
    })
}
