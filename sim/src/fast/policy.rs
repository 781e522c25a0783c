//! Decides what is computed about sums before any is stepped.

use guardbit_hwmodels::Check;

use super::prepare::{Path, SumBlock};
use crate::options::StatsLevel;

/// Information that is computed with the sums of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sums {
    /// Final sums only.
    Only,
    /// Final sums with bounds of their prefixes.
    Bounded,
    /// Final sums with the exact extremes of their prefixes.
    Walked,
}

/// Policy of one block for proofs that dot products fit, updated tile after tile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policy {
    /// Whether no dot product of the block can overflow.
    pub certain: bool,
    /// Whether no dot product of the current tile can overflow, by the norms of its windows.
    pub fits: bool,
    trials: Trials,
}

/// Decides from recent results whether computing bounds pays off.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trials {
    /// Number of recent pixels with bounds, and of those among them that were stepped regardless.
    seen: usize,
    stepped: usize,
    /// Number of tiles without bounds since the last one with bounds.
    without: usize,
}

impl Trials {
    /// Number of pixels after which bounds are suspended if they mostly fail.
    const TRIAL: usize = 16;
    /// Number of times for which bounds are then suspended.
    const PAUSE: usize = 64;
    /// Greatest number of pixels that are remembered.
    const MEMORY: usize = 256;

    /// Records the results of some pixels with bounds.
    pub fn note(&mut self, stepped: usize, pixels: usize) {
        self.stepped += stepped;
        self.seen += pixels;
        if self.seen > Self::MEMORY {
            (self.stepped, self.seen) = (self.stepped / 2, self.seen / 2);
        }
    }

    /// Returns whether bounds are to be computed now.
    pub fn try_now(&mut self) -> bool {
        let mostly_fail = self.seen >= Self::TRIAL && 2 * self.stepped > self.seen;
        let due = !mostly_fail || self.without == Self::PAUSE;
        self.without = if due { 0 } else { self.without + 1 };
        due
    }
}

impl Policy {
    /// Returns a policy that only knows what the weights imply.
    pub fn new(block: &SumBlock, path: Path) -> Self {
        let certain = path.register.is_none_or(|narrow| block.is_certain(&narrow));
        Self { certain, ..Self::default() }
    }

    /// Returns whether no dot product of the current tile can overflow.
    pub fn settles(&self) -> bool {
        self.certain || self.fits
    }

    /// Records the results of a tile's pixels with bounds.
    pub fn note(&mut self, stepped: usize, pixels: usize) {
        self.trials.note(stepped, pixels);
    }

    /// Returns how the sums of the next tile are computed; `fits` states whether the norms of its windows
    /// prove that all of them fit. Without bounds, every dot product is stepped.
    pub fn sums(&mut self, fits: bool, block: &SumBlock, path: Path, stats: StatsLevel) -> Sums {
        self.fits = fits;
        if stats.counts_prefixes() || (!block.fits_pairs && block.bytes().is_none()) {
            return Sums::Walked;
        }
        if self.certain || fits || path.check == Check::HandOver {
            return Sums::Only;
        }
        if self.trials.try_now() { Sums::Bounded } else { Sums::Only }
    }
}
