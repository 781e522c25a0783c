//! Registers of at most 16 bits, one window per vector.

use std::arch::x86_64::*;

use super::super::super::kernels::{Rails, Stepped, Vector};
use super::super::super::pairs::{ABOVE, BELOW};
use super::super::super::places::traces::{COUNTED, Traced, Traces};
use super::super::super::singles::{SingleStepping, SingleWeights};
use super::super::short::{SATURATE_16, SATURATE_IN_15, WRAP_16, base};
use super::activations::Placed;
use super::{load, load_row, store, store_row, store_wide, widen};

/// Steps the windows at `corners`.
///
/// # Panics
/// If a window does not lie within the cells.
#[target_feature(enable = "avx2")]
pub(in super::super) fn step_singles<const MODE: u8, const COUNT: bool>(
    stepping: &SingleStepping<'_>,
    corners: &[usize],
    out: &mut [Stepped],
) {
    in_chunks!(corners, out, [4, 2, 1], |corners, out| {
        match stepping.own {
            true => step::<MODE, COUNT, true, _>(stepping, corners, out),
            false => step::<MODE, COUNT, false, _>(stepping, corners, out),
        }
    });
}

/// Steps four, two or one windows, and records the overflows after each product in `traces`.
///
/// # Panics
/// If a window does not lie within the cells, or there is another number of windows.
#[target_feature(enable = "avx2")]
pub(in super::super) fn trace_singles<const MODE: u8>(
    stepping: &SingleStepping<'_>,
    corners: &[usize],
    traces: &mut Traces,
    out: &mut [Stepped],
) {
    assert!(matches!(corners.len(), 4 | 2 | 1), "windows are stepped together");
    in_chunks!(corners, out, [4, 2, 1], |corners, out| {
        match stepping.own {
            true => trace::<MODE, true, _>(stepping, corners, traces, out),
            false => trace::<MODE, false, _>(stepping, corners, traces, out),
        }
    });
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn step<const MODE: u8, const COUNT: bool, const OWN: bool, const P: usize>(
    stepping: &SingleStepping<'_>,
    corners: &[usize; P],
    out: &mut [Stepped; P],
) {
    let windows = corners.map(|corner| Placed::<OWN>::new(stepping.cells, corner, stepping.offsets));
    let mut registers = Registers::<P>::new::<MODE>(stepping);
    for products in parts(stepping) {
        registers.steps::<MODE, COUNT, OWN, _>(stepping, &windows, products, &mut Nothing);
    }
    registers.store(out);
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn trace<const MODE: u8, const OWN: bool, const P: usize>(
    stepping: &SingleStepping<'_>,
    corners: &[usize; P],
    traces: &mut Traces,
    out: &mut [Stepped; P],
) {
    let windows = corners.map(|corner| Placed::<OWN>::new(stepping.cells, corner, stepping.offsets));
    let mut registers = Registers::<P>::new::<MODE>(stepping);
    let (counts, earlier) = traces.open::<P>(windows[0].offsets().len());
    for ((products, counts), earlier) in parts(stepping).zip(counts.chunks_mut(COUNTED)).zip(earlier) {
        for p in 0..P {
            store_row(&mut earlier[p], _mm256_add_epi16(registers.above[p], registers.below[p]));
        }
        registers.steps::<MODE, true, OWN, _>(stepping, &windows, products, &mut Noted(counts));
    }
    registers.store(out);
}

/// Products that are stepped one after the other: distances of their cells, weights and marks.
pub(super) type Products<'w> = (&'w [u32], &'w [Vector<i16>], &'w [Vector<i16>]);

/// Returns all products in parts of [`COUNTED`].
fn parts<'w>(stepping: &SingleStepping<'w>) -> impl Iterator<Item = Products<'w>> {
    let SingleWeights { rows, marks } = stepping.weights;
    let offsets = stepping.offsets.all().chunks(COUNTED);
    offsets
        .zip(rows.chunks(COUNTED))
        .zip(marks.chunks(COUNTED))
        .map(|((offsets, rows), marks)| (offsets, rows, marks))
}

/// Result of one step of a window.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub product: __m256i,
    /// All bits set in lanes without an overflow, if overflows are counted.
    pub fits: __m256i,
    /// Overflows of the part, as counted by [`SingleWeights::marks`].
    pub counts: __m256i,
}

/// Data that is computed from steps in addition to the sums.
pub(super) trait Beside {
    /// Processes step `k` of window `p`.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn take(&mut self, k: usize, p: usize, step: Step);
}

struct Nothing;

impl Beside for Nothing {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take(&mut self, _: usize, _: usize, _: Step) {}
}

/// Records the counters after each step.
struct Noted<'t, const P: usize>(&'t mut Traced<P>);

impl<const P: usize> Beside for Noted<'_, P> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take(&mut self, k: usize, p: usize, step: Step) {
        store_row(&mut self.0[k][p], step.counts);
    }
}

/// Sums and overflows so far.
pub(super) struct Registers<const P: usize> {
    /// Value that is subtracted from the stored sums.
    base: i32,
    pub value: [__m256i; P],
    pub above: [__m256i; P],
    pub below: [__m256i; P],
}

impl<const P: usize> Registers<P> {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn new<const MODE: u8>(stepping: &SingleStepping<'_>) -> Self {
        let base = base::<MODE>(stepping.rails);
        // The result fits 16 bits, because the start lies between the rails.
        let start = [0, 1].map(|half| _mm256_sub_epi32(load(stepping.start, half), _mm256_set1_epi32(base)));
        // Order of quarters after packing: 0, 2, 1, 3.
        let value = _mm256_permute4x64_epi64::<0xd8>(_mm256_packs_epi32(start[0], start[1]));
        let zero = _mm256_setzero_si256();
        Self { base, value: [value; P], above: [zero; P], below: [zero; P] }
    }

    /// Adds up to [`COUNTED`] products.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn steps<const MODE: u8, const COUNT: bool, const OWN: bool, B: Beside>(
        &mut self,
        stepping: &SingleStepping<'_>,
        windows: &[Placed<'_, OWN>; P],
        products: Products<'_>,
        beside: &mut B,
    ) {
        match stepping.negative && COUNT {
            true => self.add::<MODE, COUNT, true, OWN, B>(stepping.rails, windows, products, beside),
            false => self.add::<MODE, COUNT, false, OWN, B>(stepping.rails, windows, products, beside),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add<const MODE: u8, const COUNT: bool, const NEGATIVE: bool, const OWN: bool, B: Beside>(
        &mut self,
        rails: Rails,
        windows: &[Placed<'_, OWN>; P],
        (offsets, rows, marks): Products<'_>,
        beside: &mut B,
    ) {
        let [least, most] = ends::<MODE>(rails);
        let swap = _mm256_set1_epi16(ABOVE | BELOW);
        let (mut value, mut counts) = (self.value, [_mm256_setzero_si256(); P]);
        for (k, ((&offset, w), mark)) in offsets.iter().zip(rows).zip(marks).enumerate() {
            let (w, mark) = (load_row(w), load_row(mark));
            for p in 0..P {
                // SAFETY: the distance of a product's cell.
                let x = unsafe { windows[p].operands(offset as usize) };
                let product = _mm256_mullo_epi16(x, w);
                let wrapped = _mm256_add_epi16(value[p], product);
                let saturated = _mm256_adds_epi16(value[p], product);
                // The value that is held, and a value that differs from the wrapped sum exactly if the exact
                // sum lies beyond the rails.
                let (next, shows) = match MODE {
                    SATURATE_IN_15 => {
                        let next = _mm256_max_epi16(saturated, least);
                        (next, next)
                    }
                    SATURATE_16 => (saturated, saturated),
                    WRAP_16 => (wrapped, saturated),
                    _ => {
                        let next = _mm256_and_si256(wrapped, most);
                        (next, next)
                    }
                };
                value[p] = next;
                let mut fits = _mm256_setzero_si256();
                if COUNT {
                    let mark = match NEGATIVE {
                        // The direction is reversed if the activation is negative.
                        true => _mm256_xor_si256(mark, _mm256_and_si256(_mm256_srai_epi16::<15>(x), swap)),
                        false => mark,
                    };
                    fits = _mm256_cmpeq_epi16(shows, wrapped);
                    counts[p] = _mm256_add_epi16(counts[p], _mm256_andnot_si256(fits, mark));
                }
                // SAFETY: the CPU has AVX2, as for this function.
                unsafe { beside.take(k, p, Step { product, fits, counts: counts[p] }) };
            }
        }
        self.value = value;
        if COUNT {
            let low_bytes = _mm256_set1_epi16(0xff);
            for p in 0..P {
                self.above[p] = _mm256_add_epi16(self.above[p], _mm256_and_si256(counts[p], low_bytes));
                self.below[p] = _mm256_add_epi16(self.below[p], _mm256_srli_epi16::<8>(counts[p]));
            }
        }
    }

    /// Returns the sums of window `p`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn held(&self, p: usize) -> [__m256i; 2] {
        widen(self.value[p]).map(|value| _mm256_add_epi32(value, _mm256_set1_epi32(self.base)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(&self, out: &mut [Stepped; P]) {
        for (p, out) in out.iter_mut().enumerate() {
            for (half, value) in self.held(p).into_iter().enumerate() {
                store(&mut out.value, half, value);
            }
            store_wide(&mut out.high, self.above[p]);
            store_wide(&mut out.low, self.below[p]);
        }
    }
}

/// Returns the least and the greatest sum as stored.
#[inline]
#[target_feature(enable = "avx2")]
fn ends<const MODE: u8>(rails: Rails) -> [__m256i; 2] {
    [rails.low, rails.high].map(|rail| _mm256_set1_epi16((rail - base::<MODE>(rails)) as i16))
}
