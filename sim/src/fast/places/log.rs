//! Overflow counts of pixels that are stepped together, at each of their turns.

use std::ops::Range;

use super::super::kernels::{Aligned, LANES, Lanes, Stepped, TILE};
use super::super::pairs::Moment;
use super::schedule::{Entries, Turn};
use super::traces::{NEVER, Traces};

/// Overflows by slot and turn. A further slot without turns is for results that are not requested.
#[derive(Debug)]
pub(crate) struct Log {
    counts: Vec<Aligned<Lanes>>,
    /// Moments of the turns, if two windows are stepped together.
    moments: Vec<Moment>,
    slots: [Range<usize>; TILE + 1],
    /// Counts that a kernel recorded at checkpoints.
    noted: Vec<Lanes>,
    /// Counts that a kernel recorded for single windows after every product.
    traces: Traces,
}

impl Default for Log {
    fn default() -> Self {
        let slots = std::array::from_fn(|_| 0..0);
        Self { counts: Vec::new(), moments: Vec::new(), slots, noted: Vec::new(), traces: Traces::default() }
    }
}

impl Log {
    /// Removes all pixels.
    pub fn clear(&mut self) {
        self.slots.fill(0..0);
    }

    /// Makes room for `turns` turns of the pixel in `slot`, which follows the last one.
    pub fn open(&mut self, slot: usize, turns: usize) {
        let start = slot.checked_sub(1).map_or(0, |before| self.slots[before].end);
        self.slots[slot] = start..start + turns;
        if self.counts.len() < start + turns {
            self.counts.resize(start + turns, Aligned([0; LANES]));
            self.moments.resize(start + turns, Moment { at: [0; LANES], between: (0, 0) });
        }
    }

    /// Returns the log of the pixel in `slot`.
    pub fn of(&self, slot: usize) -> &[Aligned<Lanes>] {
        &self.counts[self.slots[slot].clone()]
    }

    /// Returns the log of the pixel in `slot` for writing, and the moments of its turns, which must be
    /// written first.
    pub fn of_mut(&mut self, slot: usize) -> (&mut [Moment], &mut [Aligned<Lanes>]) {
        let range = self.slots[slot].clone();
        (&mut self.moments[range.clone()], &mut self.counts[range])
    }

    /// Returns room for the counts that a kernel records at `checkpoints` checkpoints.
    pub fn notes(&mut self, checkpoints: usize) -> &mut [Lanes] {
        if self.noted.len() < checkpoints {
            self.noted.resize(checkpoints, [0; LANES]);
        }
        &mut self.noted[..checkpoints]
    }

    /// Returns the trace of a kernel.
    pub fn traces(&mut self) -> &mut Traces {
        &mut self.traces
    }

    /// Copies the trace of window `window` to the pixel in `slot`, which follows the last one.
    pub fn take_trace(&mut self, slot: usize, window: usize, turns: &[Turn], stepped: &Stepped) {
        self.open(slot, turns.len());
        let all = std::array::from_fn(|l| stepped.high[l] + stepped.low[l]);
        for (counts, turn) in self.counts[self.slots[slot].clone()].iter_mut().zip(turns) {
            **counts = self.traces.before(window, &turn.at, turn.between.1.into(), &all);
        }
    }

    /// Copies the recorded counts to the pixel in `slot`.
    pub fn take_notes(&mut self, slot: usize, turns: (&[Turn], &[Entries]), stepped: &Stepped) {
        let counts = &mut self.counts[self.slots[slot].clone()];
        for (counts, (turn, entries)) in counts.iter_mut().zip(turns.0.iter().zip(turns.1)) {
            for (l, count) in counts.iter_mut().enumerate() {
                *count = match turn.at[l] {
                    NEVER => stepped.high[l] + stepped.low[l],
                    _ => self.noted[usize::from(entries[l])][l],
                };
            }
        }
    }
}
