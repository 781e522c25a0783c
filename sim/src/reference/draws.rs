//! Random numbers for stages that use them to round; each depends only on its place.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;
use guardbit_num::philox4x32;

/// Random numbers of one dot product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    layer: usize,
    sample: usize,
    output: usize,
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
        Self { layer: layer.node.index(), sample, output: index }
    }

    /// Returns the random words of the first output of the first sample.
    pub fn first(layer: &MacLayer) -> Self {
        Self::of_output(layer, 0, 0)
    }

    /// Returns at least `shift` random bits for the `number`th product, or run, of a stage; see [`bits_per_draw`].
    pub fn word(&self, seed: u64, shift: u32, stage: Stage, number: usize) -> u64 {
        let bits = bits_per_draw(shift) as usize;
        let (counter, key) = self.block(seed, stage, number / (BLOCK_BITS / bits));
        let first = bits * (number % (BLOCK_BITS / bits));
        u64::from(philox4x32(counter, key)[first / 32] >> (first % 32))
    }

    /// Returns the counter and the key of the `index`th block of a stage. All numbers fit: outputs and
    /// samples are held in memory, and a seed has 31 bits.
    pub fn block(&self, seed: u64, stage: Stage, index: usize) -> ([u32; 4], [u32; 2]) {
        let stage = match stage {
            Stage::Product => 0,
            Stage::Level(level) => 1 + level as u32,
        };
        let counter = [index as u32, stage, self.output as u32, self.sample as u32];
        (counter, [seed as u32, self.layer as u32])
    }
}

/// Number of random bits in a block of Philox.
pub(crate) const BLOCK_BITS: usize = 128;

/// Returns how many bits of a block a product, or run, uses to drop `shift` bits.
pub(crate) fn bits_per_draw(shift: u32) -> u32 {
    shift.next_power_of_two().max(8)
}
