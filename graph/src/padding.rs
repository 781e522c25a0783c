//! Padding of windows.

/// The padding of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Padding {
    /// No padding.
    Valid,
    /// Enough padding for `ceil(in / stride)` outputs. An odd cell goes to the end (TensorFlow's SAME).
    Same,
    /// Explicit numbers of cells before and after.
    Explicit {
        /// Rows above and below.
        rows: [usize; 2],
        /// Columns left and right.
        cols: [usize; 2],
    },
}

/// One axis of a window, with sizes in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowAxis {
    pub input: usize,
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
}

impl Padding {
    /// Returns `(cells before, output size)` along the rows, or `None` if the window does not fit once.
    pub(crate) fn rows(self, axis: WindowAxis) -> Option<(usize, usize)> {
        self.along(axis, |rows, _| rows)
    }

    /// Returns `(cells before, output size)` along the columns, or `None` if the window does not fit once.
    pub(crate) fn cols(self, axis: WindowAxis) -> Option<(usize, usize)> {
        self.along(axis, |_, cols| cols)
    }

    fn along(
        self,
        axis: WindowAxis,
        pick: impl Fn([usize; 2], [usize; 2]) -> [usize; 2],
    ) -> Option<(usize, usize)> {
        let reach = (axis.kernel.checked_sub(1)?).checked_mul(axis.dilation)?.checked_add(1)?;
        match self {
            Self::Same => {
                let output = axis.input.div_ceil(axis.stride);
                let covered = (output.checked_sub(1)? * axis.stride).checked_add(reach)?;
                Some((covered.saturating_sub(axis.input) / 2, output))
            }
            Self::Valid => Some((0, axis.input.checked_sub(reach)? / axis.stride + 1)),
            Self::Explicit { rows, cols } => {
                let [before, after] = pick(rows, cols);
                let padded = axis.input.checked_add(before)?.checked_add(after)?;
                Some((before, padded.checked_sub(reach)? / axis.stride + 1))
            }
        }
    }
}
