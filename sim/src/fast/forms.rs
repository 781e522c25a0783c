//! Forms of a layer's weights that only some runs need. They are made when they are first read, and freed after
//! the layer's run if the network is so large that all of them together would take much memory.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::blocks::{self, Block};
use super::bytes::{QuadLayout, QuadTurns};
use super::kernels::{Lanes, Pair, Row};
use super::pairs::{PairRow, PairWeights};
use super::prepare::SumBlock;
use super::simd::Kernels;
use super::singles::SingleWeights;

/// Forms of the weights of a block.
#[derive(Debug, Default)]
pub(super) struct Forms {
    rows: OnceLock<Vec<Row>>,
    pairs: OnceLock<Vec<Pair>>,
    doubled: OnceLock<PairWeights>,
    singles: OnceLock<SingleWeights>,
    turns: OnceLock<Vec<QuadTurns>>,
    wide: OnceLock<Vec<Lanes>>,
}

/// Forms of the weights of a layer, by block.
#[derive(Debug)]
pub(super) enum LayerForms {
    /// They live as long as the layer.
    Kept(Arc<[Forms]>),
    /// They live as long as some run holds them.
    Held(Mutex<Weak<[Forms]>>),
}

impl LayerForms {
    /// Creates empty forms of `blocks` blocks.
    pub fn new(blocks: usize, kept: bool) -> Self {
        match kept {
            true => Self::Kept(empty(blocks)),
            false => Self::Held(Mutex::new(Weak::<[Forms; 0]>::new())),
        }
    }

    /// Returns the forms of `blocks` blocks, shared with all who hold them.
    pub fn hold(&self, blocks: usize) -> Arc<[Forms]> {
        match self {
            Self::Kept(forms) => Arc::clone(forms),
            Self::Held(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                last.upgrade().unwrap_or_else(|| {
                    let forms = empty(blocks);
                    *last = Arc::downgrade(&forms);
                    forms
                })
            }
        }
    }
}

fn empty(blocks: usize) -> Arc<[Forms]> {
    (0..blocks).map(|_| Forms::default()).collect()
}

impl Forms {
    /// Returns the weights of `block`, indexed `[k][lane]`; 0 where there is no channel.
    pub fn rows(&self, block: &Block) -> &[Row] {
        self.rows.get_or_init(|| block.rows())
    }

    /// Returns the weights like [`Self::rows`], on 32 bits.
    pub fn wide(&self, block: &Block) -> &[Lanes] {
        self.wide.get_or_init(|| block.wide_rows())
    }

    /// Returns another form of the weights. The rows of which it is made are not kept for it.
    fn of_rows<T>(&self, block: &Block, make: impl FnOnce(&[Row]) -> T) -> T {
        match self.rows.get() {
            Some(rows) => make(rows),
            None => make(&block.rows()),
        }
    }

    /// Returns the weights of two steps at a time.
    pub fn pairs(&self, block: &Block) -> &[Pair] {
        self.pairs.get_or_init(|| self.of_rows(block, blocks::pairs))
    }

    /// Returns the weights for two windows. Those of a block always have one layout.
    pub fn doubled(&self, block: &Block, lay_out: impl Fn(&Row) -> PairRow) -> &PairWeights {
        self.doubled.get_or_init(|| self.of_rows(block, |rows| PairWeights::new(rows, lay_out)))
    }

    /// Returns the weights with marks.
    pub fn singles(&self, block: &Block) -> &SingleWeights {
        self.singles.get_or_init(|| self.of_rows(block, SingleWeights::new))
    }
}

/// A block and the forms of its weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormedBlock<'f> {
    block: &'f SumBlock,
    forms: &'f Forms,
}

impl Deref for FormedBlock<'_> {
    type Target = SumBlock;

    fn deref(&self) -> &SumBlock {
        self.block
    }
}

impl<'f> FormedBlock<'f> {
    pub fn new(block: &'f SumBlock, forms: &'f Forms) -> Self {
        Self { block, forms }
    }

    /// Returns the weights, indexed `[k][lane]`; 0 where there is no channel.
    pub fn rows(self) -> &'f [Row] {
        self.forms.rows(self.block)
    }

    /// Returns the weights of two steps at a time, if sums can be computed from them.
    pub fn pairs(self) -> Option<&'f [Pair]> {
        self.fits_pairs.then(|| self.forms.pairs(self.block))
    }

    /// Returns the weights for two windows, if these are stepped together. `layout` is that of the layer.
    pub fn doubled(self, kernels: Kernels, layout: Option<&QuadLayout>) -> Option<&'f PairWeights> {
        let lay_out = self.two_windows?;
        let of_bytes = || {
            let counts = layout.filter(|_| self.reads_window())?.counts()?;
            Some(PairWeights::of_rows(kernels.double(&self.bytes()?.quads, counts)))
        };
        let of_rows = || self.forms.of_rows(self.block, |rows| PairWeights::new(rows, lay_out));
        Some(self.forms.doubled.get_or_init(|| of_bytes().unwrap_or_else(of_rows)))
    }

    /// Returns the weights with marks, if windows are stepped one by one on lanes of 16 bits.
    pub fn singles(self) -> Option<&'f SingleWeights> {
        self.one_window.then(|| self.forms.singles(self.block))
    }

    /// Returns where the prefixes of every quad may turn; `None` if sums are not computed from bytes, or if
    /// operands may be negative, or are added in another order.
    pub fn turns(self) -> Option<&'f [QuadTurns]> {
        let bytes = self.block.bytes().filter(|bytes| bytes.has_turns)?;
        Some(self.forms.turns.get_or_init(|| bytes.quads.iter().map(QuadTurns::new).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytes::QuadRow;
    use super::super::kernels::Aligned;
    use super::*;

    /// All who hold forms share them. Forms that are not kept are made anew once nobody holds them.
    #[test]
    fn forms_live_as_long_as_they_are_held() {
        let read = |forms: &[Forms]| forms[1].rows.get_or_init(|| vec![[7; 16]; 3]).len();
        for kept in [true, false] {
            let layer = LayerForms::new(2, kept);
            let (first, second) = (layer.hold(2), layer.hold(2));
            assert_eq!(read(&first), 3);
            assert!(second[1].rows.get().is_some() && second[0].rows.get().is_none());
            drop(first);
            assert!(layer.hold(2)[1].rows.get().is_some());
            drop(second);
            assert_eq!(layer.hold(2)[1].rows.get().is_some(), kept);
        }
    }

    /// Rows unpacked from quads are the rows that were packed, also if quads have fewer than four products.
    #[test]
    fn weights_of_quads_are_those_of_rows() {
        let kernels = Kernels::choose(None);
        if !kernels.steps_pairs() {
            return;
        }
        let counts: Vec<usize> = (0..80).map(|quad| 1 + quad * 7 % 5 % 4).chain([4; 40]).collect();
        let weight = |k: usize, lane: usize| ((k * 37 + lane * 101) % 255) as i16 - 127;
        let (mut rows, mut quads): (Vec<Row>, Vec<QuadRow>) = Default::default();
        for &count in &counts {
            let first = rows.len();
            rows.extend((first..first + count).map(|k| std::array::from_fn(|lane| weight(k, lane))));
            let product = |i: usize| if i % 4 < count { rows[first + i % 4][i / 4] as i8 } else { 0 };
            quads.push(Aligned(std::array::from_fn(product)));
        }
        for quads_of in [counts.len(), 3] {
            let counts = &counts[..quads_of];
            let rows = &rows[..counts.iter().sum()];
            let made = PairWeights::of_rows(kernels.double(&quads[..quads_of], counts.iter().copied()));
            let expected = PairWeights::new(rows, PairRow::doubled);
            assert!(made.rows == expected.rows && made.marks == expected.marks);
        }
    }
}
