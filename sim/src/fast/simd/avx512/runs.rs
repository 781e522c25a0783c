//! Runs of an innermost level for AVX-512, two windows to a lane: the low half of every lane the first one, the high
//! half the second.

use std::arch::x86_64::*;

use super::super::super::kernels::{LANES, Lanes, NOTED, PAIR_TREE, Row, RunsOut, rounds};
use super::super::super::pairs::PairRuns;
use super::registers::{Beside, Noted, Registers, base, load_row};
use super::sources::{Dense, Source};
use super::{halves, load, store};

/// Exact sums of runs, found beside stepping.
trait Sums: Beside {
    /// Has to be called after [`NOTED`] products at the latest.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn flush(&mut self);

    /// The sums of both windows since the run before; nothing is left to be flushed.
    ///
    /// # Safety
    /// As above.
    unsafe fn end(&mut self) -> [__m512i; 2];
}

/// Final sums alone. A sum of few products follows from its low 16 bits and the sum of their upper bytes: the lower
/// bytes add less than 2^15 to that.
struct Finals {
    low: __m512i,
    upper: __m512i,
    sums: [__m512i; 2],
}

/// The same with the least and the greatest prefix.
struct Prefixes {
    sums: [__m512i; 2],
    min: [__m512i; 2],
    max: [__m512i; 2],
}

impl Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn new() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, upper: zero, sums: [zero; 2] }
    }
}

impl Beside for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, _: __m512i, _: __m512i, product: __m512i) {
        self.low = _mm512_add_epi16(self.low, product);
        self.upper = _mm512_add_epi16(self.upper, _mm512_srai_epi16::<8>(product));
    }
}

impl Sums for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn flush(&mut self) {
        let rest = halves(_mm512_sub_epi16(self.low, _mm512_slli_epi16::<8>(self.upper)));
        let upper = halves(self.upper);
        for half in 0..2 {
            let sum = _mm512_add_epi32(_mm512_slli_epi32::<8>(upper[half]), rest[half]);
            self.sums[half] = _mm512_add_epi32(self.sums[half], sum);
        }
        (self.low, self.upper) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end(&mut self) -> [__m512i; 2] {
        std::mem::replace(&mut self.sums, [_mm512_setzero_si512(); 2])
    }
}

impl Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn new() -> Self {
        let zero = [_mm512_setzero_si512(); 2];
        Self { sums: zero, min: zero, max: zero }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn note(&mut self, half: usize, prefix: __m512i) {
        self.min[half] = _mm512_min_epi32(self.min[half], prefix);
        self.max[half] = _mm512_max_epi32(self.max[half], prefix);
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn store(&self, out: &mut [RunsOut<'_>; 2]) {
        for (half, out) in out.iter_mut().enumerate() {
            if let Some([min, max]) = &mut out.prefixes {
                store(min, self.min[half]);
                store(max, self.max[half]);
            }
        }
    }
}

impl Beside for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, x: __m512i, w: __m512i, _: __m512i) {
        let few = _mm512_set1_epi32(0xffff);
        let weights = [_mm512_and_si512(w, few), _mm512_andnot_si512(few, w)];
        for half in 0..2 {
            // One of the two products is 0.
            self.sums[half] = _mm512_add_epi32(self.sums[half], _mm512_madd_epi16(x, weights[half]));
            self.note(half, self.sums[half]);
        }
    }
}

impl Sums for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn flush(&mut self) {}

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end(&mut self) -> [__m512i; 2] {
        std::mem::replace(&mut self.sums, [_mm512_setzero_si512(); 2])
    }
}

/// Serial runs of the windows at `corner`.
///
/// # Panics
/// If a window does not lie within the pairs, or there is no room for what comes out.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn chains<const MODE: u8, const OWN: bool>(
    runs: &PairRuns<'_>,
    corner: usize,
    out: &mut [RunsOut<'_>; 2],
) {
    match out[0].prefixes {
        Some(_) => {
            let mut prefixes = Prefixes::new();
            chains_beside::<MODE, OWN, _>(runs, corner, &mut prefixes, out);
            prefixes.store(out);
        }
        None => chains_beside::<MODE, OWN, _>(runs, corner, &mut Finals::new(), out),
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn chains_beside<const MODE: u8, const OWN: bool, S: Sums>(
    runs: &PairRuns<'_>,
    corner: usize,
    sums: &mut S,
    out: &mut [RunsOut<'_>; 2],
) {
    let &PairRuns { cells, weights, rails, length, .. } = runs;
    let source = Dense::<OWN>::new(cells, corner);
    let steps = source.steps();
    assert_eq!(steps, weights.len());
    let mut registers = Registers::<1>::new(&[0; LANES], base::<MODE>(rails));
    let empty = registers.value;
    let mut part = 0;
    for (run, begin) in (0..steps).step_by(length).enumerate() {
        let end = steps.min(begin + length);
        registers.value = empty;
        for from in (begin..end).step_by(NOTED) {
            let to = end.min(from + NOTED);
            let noted = registers.step::<MODE, _>((weights, rails), &[source], from..to, sums);
            // SAFETY: the CPU has them, as for this function.
            unsafe { sums.flush() };
            log_part(&noted, part, out);
            part += 1;
            registers.count(noted);
        }
        // SAFETY: as above.
        let exact = unsafe { sums.end() };
        let held = halves(registers.value[0]);
        let base = _mm512_set1_epi32(registers.base);
        for (half, out) in out.iter_mut().enumerate() {
            store(&mut out.exact[run], exact[half]);
            store(&mut out.held[run], _mm512_add_epi32(held[half], base));
        }
    }
    store_counts([registers.above[0], registers.below[0]], out);
}

/// Logs what was noted of part `part`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn log_part(noted: &Noted<1>, part: usize, out: &mut [RunsOut<'_>; 2]) {
    if out[0].log.is_empty() {
        return;
    }
    let rows = rows(_mm512_or_si512(noted.overs[0], noted.unders[0]));
    out.iter_mut().zip(rows).for_each(|(out, row)| store_row(&mut out.log[part], row));
}

/// Trees of the windows at `corner`, of up to [`PAIR_TREE`] products each. Both rails lie inside of 16 bits.
///
/// # Panics
/// If a window does not lie within the pairs, or there is no room for what comes out.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn trees<const WRAPS: bool, const OWN: bool>(
    runs: &PairRuns<'_>,
    corner: usize,
    out: &mut [RunsOut<'_>; 2],
) {
    match (out[0].prefixes.is_some(), out[0].log.is_empty()) {
        (false, _) => trees_beside::<WRAPS, OWN, false, false>(runs, corner, out),
        (true, true) => trees_beside::<WRAPS, OWN, true, false>(runs, corner, out),
        (true, false) => trees_beside::<WRAPS, OWN, true, true>(runs, corner, out),
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn trees_beside<const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool>(
    runs: &PairRuns<'_>,
    corner: usize,
    out: &mut [RunsOut<'_>; 2],
) {
    let &PairRuns { cells, weights, length, .. } = runs;
    let source = Dense::<OWN>::new(cells, corner);
    let steps = source.steps();
    assert_eq!(steps, weights.len());
    let zero = _mm512_setzero_si512();
    let (mut values, mut wide) = ([zero; PAIR_TREE], [[zero; 2]; PAIR_TREE]);
    // Per product, the overflows of the nodes that end with it.
    let mut noted = [zero; PAIR_TREE];
    let mut nodes = Nodes::<WRAPS>::new(runs);
    let (mut finals, mut prefixes) = (Finals::new(), Prefixes::new());
    for (run, begin) in (0..steps).step_by(length).enumerate() {
        let products = begin..steps.min(begin + length);
        let count = products.len();
        for (i, k) in products.clone().enumerate() {
            // SAFETY: there are so many products, and weights for them.
            let product = unsafe { _mm512_mullo_epi16(source.operands(k), load_row(weights, k)) };
            values[i] = product;
            if FULL {
                wide[i] = halves(product);
                continue;
            }
            // SAFETY: the CPU has them, as for this function.
            unsafe {
                finals.take(0, zero, zero, product);
                if i % NOTED == NOTED - 1 || i + 1 == count {
                    finals.flush();
                }
            }
        }
        let held = tree(&mut values[..count], |&left, &right, last| {
            let (node, misfit) = nodes.add(left, right);
            if LOG {
                noted[last] = _mm512_mask_add_epi16(noted[last], misfit, noted[last], _mm512_set1_epi16(1));
            }
            node
        });
        let held = halves(held);
        if LOG {
            let [first, second] = out.each_mut().map(|out| &mut out.log[products.clone()]);
            for ((noted, first), second) in noted[..count].iter_mut().zip(first).zip(second) {
                let [a, b] = rows(std::mem::replace(noted, zero));
                store_row(first, a);
                store_row(second, b);
            }
        }
        let exact = if FULL {
            tree(&mut wide[..count], |left, right, _| {
                let node = [0, 1].map(|half| _mm512_add_epi32(left[half], right[half]));
                node.iter().enumerate().for_each(|(half, &node)| prefixes.note(half, node));
                node
            })
        } else {
            // SAFETY: as above.
            unsafe { finals.end() }
        };
        for (half, out) in out.iter_mut().enumerate() {
            store(&mut out.exact[run], exact[half]);
            store(&mut out.held[run], held[half]);
        }
    }
    prefixes.store(out);
    store_counts([nodes.above, nodes.below], out);
}

/// [`rounds`] of vectors, unrolled where they are as many as most trees have leaves.
#[inline(always)]
fn tree<T: Copy>(values: &mut [T], node: impl FnMut(&T, &T, usize) -> T) -> T {
    match values.as_mut_array::<USUAL_TREE>() {
        Some(values) => rounds::<_, false>(values, node),
        None => rounds::<_, false>(values, node),
    }
}

/// Leaves of a tree whose rounds are unrolled.
const USUAL_TREE: usize = 16;

/// Adders of a tree, and their overflows so far.
struct Nodes<const WRAPS: bool> {
    least: __m512i,
    most: __m512i,
    above: __m512i,
    below: __m512i,
}

impl<const WRAPS: bool> Nodes<WRAPS> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn new(runs: &PairRuns<'_>) -> Self {
        let rails = runs.rails;
        let [least, most] = [rails.low, rails.high].map(|rail| _mm512_set1_epi16(rail as i16));
        let zero = _mm512_setzero_si512();
        Self { least, most, above: zero, below: zero }
    }

    /// One node, and which lanes overflow in it.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn add(&mut self, left: __m512i, right: __m512i) -> (__m512i, __mmask32) {
        let sum = _mm512_adds_epi16(left, right);
        let (over, under) =
            (_mm512_cmpgt_epi16_mask(sum, self.most), _mm512_cmplt_epi16_mask(sum, self.least));
        let one = _mm512_set1_epi16(1);
        self.above = _mm512_mask_add_epi16(self.above, over, self.above, one);
        self.below = _mm512_mask_add_epi16(self.below, under, self.below, one);
        let node = if WRAPS {
            let span = _mm512_sub_epi16(self.most, self.least);
            let beyond = _mm512_sub_epi16(_mm512_add_epi16(left, right), self.least);
            _mm512_add_epi16(_mm512_and_si512(beyond, span), self.least)
        } else {
            _mm512_max_epi16(_mm512_min_epi16(sum, self.most), self.least)
        };
        (node, over | under)
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn store_counts(counts: [__m512i; 2], out: &mut [RunsOut<'_>; 2]) {
    for (i, counts) in counts.into_iter().enumerate() {
        for (out, counts) in out.iter_mut().zip(halves(counts)) {
            let counted: &mut Lanes = out.counts[i];
            let sum = _mm512_add_epi32(load(counted), counts);
            store(counted, sum);
        }
    }
}

/// What belongs to the first windows, and to the second ones, on 16-bit lanes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn rows(pairs: __m512i) -> [__m256i; 2] {
    [_mm512_cvtepi32_epi16(pairs), _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(pairs))]
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn store_row(row: &mut Row, value: __m256i) {
    // SAFETY: sixteen lanes of 16 bits; the store takes any alignment.
    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), value) };
}
