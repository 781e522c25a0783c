//! The activations of one window, read once for all channels of a group.

use guardbit_graph::{OutputPosition, Tap};
use guardbit_hwmodels::MacLayer;

/// The activations under the window, in the order of addition, as the multiplier sees them.
pub(crate) struct Patch<'a> {
    layer: &'a MacLayer,
    input: &'a [i32],
    at: Option<(usize, usize, usize, usize)>,
    activations: Vec<i32>,
    sum: i64,
}

impl<'a> Patch<'a> {
    pub fn new(layer: &'a MacLayer, input: &'a [i32]) -> Self {
        Self { layer, input, at: None, activations: Vec::with_capacity(layer.order.len()), sum: 0 }
    }

    /// Moves the window to `out`.
    pub fn read(&mut self, out: OutputPosition) {
        let window = &self.layer.dots.window;
        let at = (out.n, out.h, out.w, window.group(out.c));
        if self.at == Some(at) {
            return;
        }
        let offset = self.layer.activation_offset();
        let skips_padding = self.layer.dots.weights.is_none();
        self.activations.clear();
        for &cell in &self.layer.order {
            match window.tap(out, window.kernel_position(cell)) {
                Tap::Input(index) => self.activations.push(self.input[index] - offset.subtract),
                Tap::Padding if skips_padding => {}
                Tap::Padding => self.activations.push(offset.padding),
            }
        }
        self.sum = self.activations.iter().map(|&x| i64::from(x)).sum();
        self.at = Some(at);
    }

    pub fn activations(&self) -> &[i32] {
        &self.activations
    }

    pub fn sum(&self) -> i64 {
        self.sum
    }
}
