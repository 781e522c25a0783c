//! Runs the additions of a few pixels with the weights of a block.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_num::{AlignedRule, AlignedSum, FloatFormat};

use super::super::held::{Held, Narrow, promote};
use super::super::outcomes::Outcomes;
use super::adding::{Adding, Buckets, most, products};
use super::lanes::ShortLanes;
use super::rows::ShortRows;
use super::window::{Addition, ShortWindow};
use crate::fast::{LANES, Vectorized};

/// Greatest number of pixels that are walked together, so that weights stay in the cache.
pub(crate) const TILE: usize = 8;

/// Sums of all lanes, delivered and exact, and what was lost.
#[derive(Debug, Default)]
pub(crate) struct ShortSums {
    held: Held,
    cut: [i32; LANES],
    vanished: [i32; LANES],
    exact_bits: [i32; LANES],
    /// Exact sums in units of [`ShortSums::unit`].
    exact: [i64; LANES],
    /// Exponent of the unit of exact sums.
    unit: i32,
    /// Codes of sums of promoted accumulators, if they are promoted.
    totals: Option<[u32; LANES]>,
}

impl ShortLanes {
    /// Returns the sums of pixels with the weights of a block; `None` if 32 bits are too few. `fraction_bits` are those of
    /// the layer unless given.
    pub fn run(
        &self,
        windows: &[ShortWindow],
        rows: &ShortRows,
        fraction_bits: Option<u32>,
    ) -> Option<[ShortSums; TILE]> {
        let fraction_bits = fraction_bits.unwrap_or(self.rule().fraction_bits);
        let rule = AlignedRule { fraction_bits, ..self.rule() };
        let left = fraction_bits.saturating_sub(self.fraction_bits());
        let product_bits = rows.product_bits();
        // Terms are below 4 in units of the largest exponent.
        let sum_bits = fraction_bits.max(self.fraction_bits()) + 2 + (self.terms() + 1).ilog2() + 1;
        // The products of an addition fit a bucket.
        let bucket_bits = product_bits + self.terms().ilog2() + 1;
        if product_bits + left > 31 || sum_bits > 30 || bucket_bits > 31 || !self.is_exact(windows, rows) {
            return None;
        }
        let mut sums = [(); TILE].map(|()| ShortSums { unit: self.unit(rows), ..ShortSums::default() });
        self.kernels().run(Walk { lanes: self, windows, rows, rule, sums: &mut sums });
        Some(sums)
    }

    /// Returns what happened in the dot products of sums, without what they require.
    pub fn outcomes(&self, sums: &ShortSums, rows: &ShortRows, count: usize) -> Outcomes {
        let ran = std::array::from_fn(|lane| lane < count && !rows.special[lane]);
        let mut outcomes = Outcomes { ran, ..Outcomes::default() };
        // Results are normal numbers or zero.
        let missing = FloatFormat::FLOAT32.fraction_bits() - self.result().fraction_bits();
        self.kernels().run(Deliver { sums, missing, outcomes: &mut outcomes });
        outcomes
    }

    /// Returns the exact sums only, if they fit.
    pub fn exact(&self, windows: &[ShortWindow], rows: &ShortRows) -> Option<[ShortSums; TILE]> {
        if !self.is_exact(windows, rows) {
            return None;
        }
        let mut sums = [(); TILE].map(|()| ShortSums { unit: self.unit(rows), ..ShortSums::default() });
        self.kernels().run(Exact { lanes: self, windows, rows, sums: &mut sums });
        Some(sums)
    }
}

impl ShortSums {
    /// Returns the fraction bits with which no term would have lost any.
    pub fn exact_bits(&self) -> &[i32; LANES] {
        &self.exact_bits
    }

    /// Returns the codes of what the lanes deliver, in the format of the result.
    fn codes(&self) -> &[u32; LANES] {
        self.totals.as_ref().unwrap_or(&self.held.codes)
    }

    /// Returns what the lanes deliver and lost.
    pub fn lost(&self) -> [AlignedSum; LANES] {
        let codes = self.codes();
        std::array::from_fn(|lane| AlignedSum {
            code: codes[lane],
            cut_terms: self.cut[lane] as u32,
            vanished_terms: self.vanished[lane] as u32,
            exact_fraction_bits: self.exact_bits[lane] as u32,
        })
    }
}

/// Makes outcomes of sums.
struct Deliver<'a> {
    sums: &'a ShortSums,
    /// Bits that the fraction of a code lacks to that of a float32.
    missing: u32,
    outcomes: &'a mut Outcomes,
}

impl Vectorized for Deliver<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { sums, missing, outcomes } = self;
        let (codes, power) = (sums.codes(), power(sums.unit));
        for l in 0..LANES {
            outcomes.delivered[l] = codes[l] << missing;
            // The sum is a normal number, so that the power of two rounds nothing.
            outcomes.exact[l] = (sums.exact[l] as f32 * power).to_bits();
            outcomes.cut[l] = sums.cut[l] as u32;
            outcomes.vanished[l] = sums.vanished[l] as u32;
            outcomes.exact_bits[l] = sums.exact_bits[l] as u32;
        }
    }
}

fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Runs all additions of the lanes, of all pixels at a time.
struct Walk<'a> {
    lanes: &'a ShortLanes,
    windows: &'a [ShortWindow],
    rows: &'a ShortRows,
    rule: AlignedRule,
    sums: &'a mut [ShortSums; TILE],
}

impl Vectorized for Walk<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, windows, rows, rule, sums } = self;
        let narrow = Narrow::new(&rule);
        let mut adding = [(); TILE].map(|()| Adding::new(rows));
        for index in 0..windows.first().map_or(0, |window| window.count()) {
            for ((window, sums), adding) in windows.iter().zip(&mut *sums).zip(&mut adding) {
                let Addition { terms, positive, promotes } = window.addition(lanes.promotion(), index);
                adding.buckets.reserve(terms.len(), &mut sums.exact);
                let most = most(lanes, rows, terms);
                let (held, mut exponents) = (&mut sums.held, [0; LANES]);
                for l in 0..LANES {
                    exponents[l] = held.exponents[l].max(most[3 * LANES + l].into());
                    let bits = exponents[l] + i32::from(most[LANES + l]);
                    let bits = bits.max(exponents[l] - held.lasts[l]);
                    sums.exact_bits[l] = sums.exact_bits[l].max(bits);
                }
                adding.begin(lanes, rows, &rule, &exponents);
                adding.add::<false>(lanes, rows, &terms[..positive]);
                adding.add::<true>(lanes, rows, &terms[positive..]);
                adding.hold(held, &rule, &exponents);
                for l in 0..LANES {
                    sums.cut[l] += adding.cut[l];
                    sums.vanished[l] += adding.vanished[l];
                }
                narrow.join(&adding.totals, &exponents, held);
                if promotes {
                    promote(&mut sums.totals, &rule, held);
                }
            }
        }
        for (adding, sums) in adding.iter_mut().zip(sums) {
            adding.buckets.empty(&mut sums.exact);
        }
    }
}

/// Adds products exactly, without aligning them.
struct Exact<'a> {
    lanes: &'a ShortLanes,
    windows: &'a [ShortWindow],
    rows: &'a ShortRows,
    sums: &'a mut [ShortSums; TILE],
}

impl Vectorized for Exact<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, windows, rows, sums } = self;
        let mut buckets = [(); TILE].map(|()| Buckets::new(rows));
        for index in 0..windows.first().map_or(0, |window| window.count()) {
            for ((window, sums), buckets) in windows.iter().zip(&mut *sums).zip(&mut buckets) {
                for terms in window.addition(lanes.promotion(), index).terms.chunks(buckets.capacity) {
                    buckets.reserve(terms.len(), &mut sums.exact);
                    for term in terms {
                        let short = &lanes.codes[0][term.code as usize];
                        buckets.add(lanes, short, &products(&rows.row(term).values, short));
                    }
                }
            }
        }
        for (buckets, sums) in buckets.iter_mut().zip(sums) {
            buckets.empty(&mut sums.exact);
        }
    }
}
