//! Beats and words of an array part: control bits, the outputs that words hold, and the operands in the beats.

use guardbit_hwmodels::{Dataflow, MacLayer};
use guardbit_sim::trace::{TraceOperand, trace_observed};

use crate::manifest::{Arithmetic, ArrayInfo, TileInfo};

/// Control bits of a beat.
pub(crate) const CTRL: [&str; 6] = ["valid", "first", "last", "load", "start", "done"];
pub(crate) const VALID: i64 = 1;
pub(crate) const FIRST: i64 = 1 << 1;
pub(crate) const LAST: i64 = 1 << 2;
pub(crate) const LOAD: i64 = 1 << 3;
pub(crate) const START: i64 = 1 << 4;
pub(crate) const DONE: i64 = 1 << 5;

/// Output of a slice, as positions within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub group: usize,
    pub pixel: usize,
    pub channel: usize,
    /// Last tile that adds to the output.
    pub tile: usize,
}

impl ArrayInfo {
    /// Returns the output whose sum is word `word` of column `col`, or `None` if that word belongs to no
    /// output.
    pub(crate) fn output(&self, word: usize, col: usize) -> Option<Output> {
        let (index, tile) = self
            .tiles
            .iter()
            .enumerate()
            .find(|(_, tile)| tile.first_word.is_some_and(|w| (w..w + tile.words).contains(&word)))?;
        let line = word - tile.first_word?;
        // Stationary sums leave a column from the bottom row on.
        let row = if self.dataflow == Dataflow::OutputStationary { self.rows - 1 - line } else { line };
        (row < tile.pixels && col < tile.channels).then_some(Output {
            group: tile.group,
            pixel: tile.first_pixel + row,
            channel: tile.first_channel + col,
            tile: index,
        })
    }

    /// Returns the operands of `output`, reconstructed from the beats: `word(beat, row or column)`.
    pub(crate) fn operands(
        &self,
        output: Output,
        activation: impl Fn(usize, usize) -> i64,
        weight: impl Fn(usize, usize) -> i64,
    ) -> Vec<TraceOperand> {
        let mut all = Vec::new();
        let same = |t: &&TileInfo| {
            t.group == output.group
                && (t.first_pixel..t.first_pixel + t.pixels).contains(&output.pixel)
                && (t.first_channel..t.first_channel + t.channels).contains(&output.channel)
        };
        for tile in self.tiles.iter().filter(same) {
            let (pixel, col) = (output.pixel - tile.first_pixel, output.channel - tile.first_channel);
            for k in 0..tile.terms {
                let (a, w) = match self.dataflow {
                    Dataflow::OutputStationary => {
                        (activation(tile.first_beat + k, pixel), weight(tile.first_beat + k, col))
                    }
                    _ => (activation(tile.first_beat + pixel, k), weight(tile.first_beat - 1 - k, col)),
                };
                all.push(TraceOperand { activation: a.into(), weight: w.into() });
            }
        }
        all
    }
}

/// Returns the number of beats between the last real tile and the first corner tile, after which every sum
/// has left the array.
pub(crate) fn corner_gap(info: &ArrayInfo) -> usize {
    2 * info.rows + info.cols + 8
}

/// Returns the number of fields of a control word.
pub(crate) fn ctrl_bits() -> u32 {
    CTRL.len() as u32
}

/// Returns whether the array is output-stationary.
pub(crate) fn is_output_stationary(info: &ArrayInfo) -> bool {
    info.dataflow == Dataflow::OutputStationary
}

/// Returns the width of a sum that leaves the array.
pub(crate) fn sum_bits(arithmetic: &Arithmetic) -> u32 {
    arithmetic.levels.last().map_or(32, |l| l.register.port_bits)
}

/// Returns whether some register of a level overflows in a dot product of output channel `channel`.
pub(super) fn overflows(layer: &MacLayer, channel: usize, operands: &[TraceOperand]) -> bool {
    let mut any = false;
    trace_observed(layer, channel, operands, &mut |step| any |= step.overflow.is_some());
    any
}
