//! What is found out about sums before any is stepped.

use guardbit_hwmodels::Check;

use super::prepare::{Block, Path};
use crate::options::StatsLevel;

/// How the sums of a block are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sums {
    /// Final sums alone.
    Only,
    /// With bounds of their prefixes.
    Bounded,
    /// With the exact extremes of their prefixes.
    Walked,
}

/// What one block does about certificates, tile after tile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Policy {
    /// No dot product of the block can overflow.
    pub certain: bool,
    /// No dot product of the tile at hand can, by the norms of its windows.
    pub fits: bool,
    trials: Trials,
}

/// Whether bounds pay, by what became of them of late.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trials {
    /// Pixels of late that had bounds, and those of them that were stepped all the same.
    seen: usize,
    stepped: usize,
    /// Times without bounds since the last one with them.
    without: usize,
}

impl Trials {
    /// Pixels after which those whose certificates mostly fail do without them.
    const TRIAL: usize = 16;
    /// Times that they then do without.
    const PAUSE: usize = 64;
    /// Pixels that are remembered, at most.
    const MEMORY: usize = 256;

    /// Takes what became of some pixels with bounds.
    pub fn note(&mut self, stepped: usize, pixels: usize) {
        self.stepped += stepped;
        self.seen += pixels;
        if self.seen > Self::MEMORY {
            (self.stepped, self.seen) = (self.stepped / 2, self.seen / 2);
        }
    }

    /// Whether bounds are to be made now.
    pub fn try_now(&mut self) -> bool {
        let mostly_fail = self.seen >= Self::TRIAL && 2 * self.stepped > self.seen;
        let due = !mostly_fail || self.without == Self::PAUSE;
        self.without = if due { 0 } else { self.without + 1 };
        due
    }
}

impl Policy {
    /// Nothing known yet but what the weights say.
    pub fn new(block: &Block, path: Path) -> Self {
        let certain = path.register.is_none_or(|narrow| block.is_certain(&narrow));
        Self { certain, ..Self::default() }
    }

    /// Whether no dot product of the tile at hand can overflow.
    pub fn settles(&self) -> bool {
        self.certain || self.fits
    }

    /// Takes what became of the pixels of a tile with bounds.
    pub fn note(&mut self, stepped: usize, pixels: usize) {
        self.trials.note(stepped, pixels);
    }

    /// How the sums of the next tile are made, whose windows are such that all of them fit, or not: without bounds, every
    /// dot product is stepped.
    pub fn sums(&mut self, fits: bool, block: &Block, path: Path, stats: StatsLevel) -> Sums {
        self.fits = fits;
        if stats.counts_prefixes() || (block.pairs.is_none() && block.bytes.is_none()) {
            return Sums::Walked;
        }
        if self.certain || fits || path.check == Check::HandOver {
            return Sums::Only;
        }
        if self.trials.try_now() { Sums::Bounded } else { Sums::Only }
    }
}
