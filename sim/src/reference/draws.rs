//! Random numbers for stages that use them to round; each depends only on its place.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;
use guardbit_num::philox4x64;

/// Random numbers of one dot product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    layer: u64,
    sample: u64,
    output: u64,
}

/// Stage that draws a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    Product,
    /// Levels count from 0, innermost first.
    Level(usize),
}

impl Draws {
    /// Returns the random words of the dot product at `out`.
    pub fn new(layer: &MacLayer, sample: usize, out: OutputPosition) -> Self {
        let [rows, cols, channels] = layer.dots.window.output;
        let output = ((out.n * rows + out.h) * cols + out.w) * channels + out.c;
        Self::of_output(layer, sample, output)
    }

    /// Returns the random words of the dot product of output `index`.
    pub fn of_output(layer: &MacLayer, sample: usize, index: usize) -> Self {
        Self { layer: layer.node.index() as u64, sample: sample as u64, output: index as u64 }
    }

    /// Returns the random words of the first output of the first sample.
    pub fn first(layer: &MacLayer) -> Self {
        Self { layer: layer.node.index() as u64, sample: 0, output: 0 }
    }

    /// Returns the word of the `number`th product, or run, of a stage. It is the first word of block
    /// `[number, stage, output, sample]` under the key `[seed, layer]`, where stage 0 is the multipliers and
    /// stage `1 + i` is level i.
    pub fn word(&self, seed: u64, stage: Stage, number: usize) -> u64 {
        let stage = match stage {
            Stage::Product => 0,
            Stage::Level(level) => 1 + level as u64,
        };
        philox4x64([number as u64, stage, self.output, self.sample], [seed, self.layer])[0]
    }
}
