//! Registers of at most 16 bits, two windows per vector. A [`Source`] defines how both share it.

use std::arch::x86_64::*;

#[cfg(doc)]
use super::super::super::kernels::NOTED;
use super::super::super::kernels::{Lanes, Rails, Stepped};
use super::super::super::pairs::{ABOVE, BELOW, PairOfWindows, PairRow, PairStepping, PairWeights};
use super::super::short::{SATURATE_16, SATURATE_IN_15, WRAP, WRAP_15, WRAP_16, base};
use super::sources::Source;
use super::{load, store};

/// Number of steps whose overflows are counted in the bytes of a lane.
pub(super) const COUNTED: usize = 255;

/// Direction of overflows where activations are not negative: from the marks of the weights.
pub(super) const BY_MARK: u8 = 0;
/// Direction of overflows where activations are not negative: from the signs of the weights.
pub(super) const BY_WEIGHT: u8 = 1;
/// Direction of overflows where activations may be negative: from the marks and the signs of the activations.
pub(super) const BY_MARK_AND_SIGN: u8 = 2;
/// Direction of overflows where activations may be negative: from the signs of both.
pub(super) const BY_SIGNS: u8 = 3;

/// Ternary logic of `a & b | c`, `a ^ b & c` and `(a ^ b) & c`.
const AND_OR: i32 = 0xea;
const XOR_OF_AND: i32 = 0x78;
const AND_OF_XOR: i32 = 0x28;

/// Loads the weights of row `row`.
///
/// # Safety
/// The row exists.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) unsafe fn load_row(rows: &[PairRow], row: usize) -> __m512i {
    // SAFETY: the caller guarantees that the row exists; rows are aligned.
    unsafe { _mm512_load_si512(rows.as_ptr().add(row).cast()) }
}

/// Returns the least and the greatest sum as stored.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn ends<const MODE: u8>(rails: Rails) -> [__m512i; 2] {
    [rails.low, rails.high].map(|rail| _mm512_set1_epi16((rail - base::<MODE>(rails)) as i16))
}

/// Sums and overflows so far, of two windows per register.
pub(super) struct Registers<const P: usize> {
    /// Value that is subtracted from the stored sums.
    pub base: i32,
    pub value: [__m512i; P],
    /// Number of overflows in both directions.
    pub events: [__m512i; P],
    pub below: [__m512i; P],
}

/// One bit per step, the last one in the lowest bit: whether the exact sum lay above the rails, and below
/// them.
pub(super) struct Noted<const P: usize> {
    pub overs: [__m512i; P],
    pub unders: [__m512i; P],
}

/// Data that is computed in addition to stepping, product by product.
pub(super) trait Beside {
    /// Processes the product of `x` and `w` for the two windows in register `p`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn take(&mut self, p: usize, x: __m512i, w: __m512i, product: __m512i);
}

/// Computes nothing.
impl Beside for () {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, _: __m512i, _: __m512i, _: __m512i) {}
}

impl<const P: usize> Registers<P> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn new<S: Source>(start: &Lanes, base: i32) -> Self {
        let zero = _mm512_setzero_si512();
        // The result fits 16 bits, because the start lies between the rails.
        let start = _mm512_sub_epi32(load(start), _mm512_set1_epi32(base));
        // SAFETY: the CPU has them, as for this function.
        let start = unsafe { S::both(start) };
        Self { value: [start; P], events: [zero; P], below: [zero; P], base }
    }

    /// Adds up to [`COUNTED`] products; windows and weights have been checked.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn tally<const MODE: u8, const COUNT: bool, const SIDE: u8, S: Source>(
        &mut self,
        stepping: &PairStepping<'_>,
        (windows, context): (&[PairOfWindows<S>; P], S::Context),
        steps: std::ops::Range<usize>,
    ) {
        let [least, most] = ends::<MODE>(stepping.rails);
        let PairWeights { rows, marks } = stepping.weights;
        let marks = marks.as_deref().unwrap_or_default();
        let (one, minus) = (_mm512_set1_epi16(ABOVE), _mm512_set1_epi16(BELOW));
        let mut counts = [_mm512_setzero_si512(); P];
        for i in steps {
            for p in 0..P {
                // SAFETY: the callers have checked the windows, and that there are weights for all their products.
                let (x, row) = unsafe { (windows[p].source.operands(context, i), windows[p].source.row(i)) };
                // SAFETY: as above.
                let w = unsafe { load_row(rows, row) };
                let product = _mm512_mullo_epi16(x, w);
                let wrapped = _mm512_add_epi16(self.value[p], product);
                let saturated = _mm512_adds_epi16(self.value[p], product);
                // The value that is held, and a value that differs from the wrapped sum exactly if the exact
                // sum lies beyond the rails.
                let (next, shows) = match MODE {
                    SATURATE_IN_15 => {
                        let next = _mm512_max_epi16(saturated, least);
                        (next, next)
                    }
                    SATURATE_16 => (saturated, saturated),
                    WRAP_16 => (wrapped, saturated),
                    _ => {
                        let next = _mm512_and_si512(wrapped, most);
                        (next, next)
                    }
                };
                self.value[p] = next;
                if COUNT {
                    // The lower byte counts all events. The upper byte counts those below the rails, which
                    // come from negative products. An operand of nine bits has its sign in the lowest bit of
                    // its upper byte too.
                    let event = match SIDE {
                        // SAFETY: as above, and that there are marks.
                        BY_MARK => unsafe { load_row(marks, row) },
                        BY_WEIGHT => _mm512_ternarylogic_epi32::<{ AND_OR }>(w, minus, one),
                        BY_MARK_AND_SIGN => {
                            // SAFETY: as above.
                            let mark = unsafe { load_row(marks, row) };
                            _mm512_ternarylogic_epi32::<{ XOR_OF_AND }>(mark, x, minus)
                        }
                        _ => {
                            let below = _mm512_ternarylogic_epi32::<{ AND_OF_XOR }>(w, x, minus);
                            _mm512_or_si512(below, one)
                        }
                    };
                    let events = _mm512_cmpneq_epi16_mask(shows, wrapped);
                    counts[p] = _mm512_mask_add_epi16(counts[p], events, counts[p], event);
                }
            }
        }
        if COUNT {
            let low_bytes = _mm512_set1_epi16(0xff);
            for p in 0..P {
                self.events[p] = _mm512_add_epi16(self.events[p], _mm512_and_si512(counts[p], low_bytes));
                self.below[p] = _mm512_add_epi16(self.below[p], _mm512_srli_epi16::<8>(counts[p]));
            }
        }
    }

    /// Adds up to [`NOTED`] products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn step<const MODE: u8, S: Source>(
        &mut self,
        (rows, rails): (&[PairRow], Rails),
        (sources, context): (&[S; P], S::Context),
        steps: std::ops::Range<usize>,
        beside: &mut impl Beside,
    ) -> Noted<P> {
        let [least, most] = ends::<MODE>(rails);
        let zero = _mm512_setzero_si512();
        let mut value = self.value;
        let (mut overs, mut unders) = ([zero; P], [zero; P]);
        for i in steps {
            for p in 0..P {
                // SAFETY: the callers have checked the windows, and that there are weights for all their products.
                let (x, w) = unsafe { (sources[p].operands(context, i), load_row(rows, sources[p].row(i))) };
                let product = _mm512_mullo_epi16(x, w);
                // SAFETY: the CPU has them, as for this function.
                unsafe { beside.take(p, x, w, product) };
                let sum = _mm512_adds_epi16(value[p], product);
                let wrapped = _mm512_add_epi16(value[p], product);
                // An overflow above occurred if both addends are non-negative and the result is negative.
                let above_lanes = _mm512_ternarylogic_epi32::<0x02>(value[p], product, wrapped);
                // Negative where the sum is too great, and where it is too small. Saturating additions and
                // comparisons run on one port of some CPUs, the other instructions on two.
                let (over, under, next) = match MODE {
                    // The difference fits: a held sum is at least the least one, and a product has 16 bits.
                    SATURATE_IN_15 => {
                        (above_lanes, _mm512_sub_epi16(sum, least), _mm512_max_epi16(sum, least))
                    }
                    WRAP => (_mm512_subs_epi16(most, sum), sum, _mm512_and_si512(wrapped, most)),
                    WRAP_15 => (above_lanes, sum, _mm512_and_si512(wrapped, most)),
                    _ => {
                        let under = _mm512_ternarylogic_epi32::<0x40>(value[p], product, wrapped);
                        (above_lanes, under, if MODE == SATURATE_16 { sum } else { wrapped })
                    }
                };
                overs[p] = _mm512_shldi_epi16::<1>(overs[p], over);
                unders[p] = _mm512_shldi_epi16::<1>(unders[p], under);
                value[p] = next;
            }
        }
        self.value = value;
        Noted { overs, unders }
    }

    /// Counts recorded overflows.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn count(&mut self, noted: Noted<P>) {
        for p in 0..P {
            let [events, below] = [_mm512_or_si512(noted.overs[p], noted.unders[p]), noted.unders[p]];
            self.events[p] = _mm512_add_epi16(self.events[p], _mm512_popcnt_epi16(events));
            self.below[p] = _mm512_add_epi16(self.below[p], _mm512_popcnt_epi16(below));
        }
    }

    /// Returns the number of overflows above the rails.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn above(&self, p: usize) -> __m512i {
        _mm512_sub_epi16(self.events[p], self.below[p])
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn store<S: Source>(&self, windows: &[PairOfWindows<S>; P], out: &mut [Stepped]) {
        let base = _mm512_set1_epi32(self.base);
        for p in 0..P {
            // SAFETY: the CPU has them, as for this function.
            let lanes = [self.value[p], self.above(p), self.below[p]].map(|lanes| unsafe { S::apart(lanes) });
            for (half, &slot) in windows[p].slots.iter().enumerate() {
                let stepped = &mut out[slot];
                store(&mut stepped.value, _mm512_add_epi32(lanes[0][half], base));
                store(&mut stepped.high, lanes[1][half]);
                store(&mut stepped.low, lanes[2][half]);
            }
        }
    }
}
