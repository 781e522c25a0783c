//! Activations that are not zero.

use super::super::gather::Gather;

/// Kinds of activations.
pub(super) const POSITIVE: u8 = 1;
pub(super) const NEGATIVE: u8 = 2;
pub(super) const NOT_FINITE: u8 = 4;

/// An activation that is not zero.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Term {
    pub cell: u32,
    pub code: u32,
}

/// Activations of all images that are not zero. Their cells are places.
#[derive(Debug)]
pub(crate) struct Nonzero {
    /// Positive ones, and negative ones.
    signs: [Vec<Term>; 2],
    /// How many lie before each place: positive, negative, and not finite ones.
    before: Vec<[u32; 3]>,
}

/// Activations of one pixel that are not zero, by addition.
#[derive(Debug, Default)]
pub(crate) struct ShortWindow {
    terms: Vec<Term>,
    /// Per addition, where its negative activations begin, and where they end.
    ends: Vec<[usize; 2]>,
    pub is_finite: bool,
}

/// Products of one addition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addition<'a> {
    pub terms: &'a [Term],
    /// Number of positive activations, which come first.
    pub positive: usize,
    /// Whether the accumulator is promoted afterwards.
    pub promotes: bool,
}

impl Nonzero {
    /// Returns those of all `codes`; `kinds` has the kind of each code.
    pub fn new(kinds: &[u8], codes: &[i32]) -> Self {
        let mut signs = [(); 2].map(|()| vec![Term::default(); codes.len() + 1]);
        let (mut before, mut counts) = (Vec::with_capacity(codes.len() + 1), [0u32; 3]);
        // Every activation is written, and overwritten if it is zero, which no branch can foresee.
        for (&code, cell) in codes.iter().zip(0..) {
            before.push(counts);
            let kind = kinds[code as usize];
            for (sign, own) in signs.iter_mut().enumerate() {
                own[counts[sign] as usize] = Term { cell, code: code as u32 };
            }
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += u32::from(kind >> bit & 1);
            }
        }
        before.push(counts);
        Self { signs, before }
    }
}

impl ShortWindow {
    /// Takes the activations of a pixel. `places` are those of the first channels of the pixels that its window covers.
    pub fn take(&mut self, nonzero: &Nonzero, gather: &Gather, places: &[Option<usize>]) {
        let Self { terms, ends, is_finite } = self;
        terms.clear();
        ends.clear();
        *is_finite = true;
        for runs in gather.additions() {
            let mut end = [0; 2];
            for (sign, end) in end.iter_mut().enumerate() {
                for run in runs {
                    let Some(first) = places[run.pixel] else { continue };
                    let first = first + run.channel;
                    let [from, to] = [first, first + run.count].map(|place| nonzero.before[place]);
                    let own = &nonzero.signs[sign][from[sign] as usize..to[sign] as usize];
                    let apart = (run.cell as u32).wrapping_sub(first as u32);
                    terms
                        .extend(own.iter().map(|term| Term { cell: term.cell.wrapping_add(apart), ..*term }));
                    *is_finite &= from[2] == to[2];
                }
                *end = terms.len();
            }
            ends.push(end);
        }
    }

    /// Returns the number of additions.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the additions; the accumulator is promoted after every `promotion` of them.
    #[inline(always)]
    pub fn additions(&self, promotion: Option<usize>) -> impl Iterator<Item = Addition<'_>> {
        (0..self.ends.len()).map(move |index| self.addition(promotion, index))
    }

    /// Returns an addition.
    #[inline(always)]
    pub fn addition(&self, promotion: Option<usize>, index: usize) -> Addition<'_> {
        let [middle, end] = self.ends[index];
        let first = if index > 0 { self.ends[index - 1][1] } else { 0 };
        let every = promotion.unwrap_or(0);
        let next = index + 1;
        let promotes = every > 0 && (next == self.ends.len() || next.is_multiple_of(every));
        Addition { terms: &self.terms[first..end], positive: middle - first, promotes }
    }
}
