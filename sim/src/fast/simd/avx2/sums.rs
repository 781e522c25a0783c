//! [`kernels::sum`](super::super::super::kernels::sum) with the multiply-add of pairs, which compilers do not
//! derive from the plain code.

use std::arch::x86_64::*;

use super::super::super::cells::PlacedWindows;
use super::super::super::kernels::{BOUND_PAIRS, LANES, Lanes, Pair, Row, Walked};
use super::super::super::words::PairLayout;
use super::activations::{InPlace, Pairs, Placed};
use super::runs::Finals;
use super::{HALF, VectorActivations, load, load_row, store};

/// Computes sums of the windows of a tile.
///
/// # Panics
/// If a window has fewer steps than there are weights.
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_tile<X: VectorActivations, const BOUNDED: bool>(
    x: &[X],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked],
) {
    // Ensures that the steps that are read exist.
    let some = |x: X| x.first(2 * weights.len());
    if BOUNDED {
        in_chunks!(x, out, [2, 1], |x, out| sum::<_, _, 2, BOUNDED>(&x.map(some), weights, start, out));
    } else {
        in_chunks!(x, out, [4, 2, 1], |x, out| sum::<_, _, 2, BOUNDED>(&x.map(some), weights, start, out));
    }
}

/// Computes sums of windows that all lanes share, in place. Weights of lanes from `count` on are 0.
///
/// # Panics
/// If a window does not lie within the cells, or the number of weights differs from that of the pairs.
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_in_place<const BOUNDED: bool>(
    (cells, corners): (&[i16], &[usize]),
    layout: &PairLayout,
    (weights, count): (&[Pair], usize),
    start: &Lanes,
    out: &mut [Walked],
) {
    assert_eq!(weights.len(), layout.offsets().len());
    let window = |corner: usize| InPlace::new(cells, corner, layout);
    match (BOUNDED, count <= HALF) {
        (true, false) => in_chunks!(corners, out, [2, 1], |corners, out| {
            sum::<_, _, 2, BOUNDED>(&corners.map(window), weights, start, out)
        }),
        (false, false) => in_chunks!(corners, out, [4, 2, 1], |corners, out| {
            sum::<_, _, 2, BOUNDED>(&corners.map(window), weights, start, out)
        }),
        (true, true) => in_chunks!(corners, out, [4, 2, 1], |corners, out| {
            sum::<_, _, 1, BOUNDED>(&corners.map(window), weights, start, out)
        }),
        (false, true) => in_chunks!(corners, out, [8, 4, 2, 1], |corners, out| {
            sum::<_, _, 1, BOUNDED>(&corners.map(window), weights, start, out)
        }),
    }
}

/// Computes [`kernels::sum_runs`](super::super::super::kernels::sum_runs).
///
/// # Panics
/// If the window has fewer steps than there are weights.
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_runs<X: VectorActivations>(
    x: X,
    weights: &[Pair],
    pairs: usize,
    out: &mut [Walked],
) {
    for ((run, weights), out) in weights.chunks(pairs).enumerate().zip(out.as_chunks_mut::<1>().0) {
        let x = x.skip(2 * run * pairs).first(2 * weights.len());
        sum::<_, _, 2, true>(&[x], weights, &[0; LANES], out);
    }
}

/// Computes sums of windows with one pair of steps per weight, in the first `HALVES` halves of the lanes. The
/// other lanes keep their start.
#[inline]
#[target_feature(enable = "avx2")]
fn sum<X: Pairs, const P: usize, const HALVES: usize, const BOUNDED: bool>(
    x: &[X; P],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let weight = |pair: &Pair, half: usize| {
        // SAFETY: sixteen weights from `16 * half` on, `half` being 0 or 1; the load takes any alignment.
        unsafe { _mm256_loadu_si256(pair.as_ptr().add(LANES * half).cast()) }
    };
    let start = [load(start, 0), load(start, 1)];
    let mut sum = [start; P];
    let mut min = sum;
    let mut max = sum;
    for (part, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
        let offset = part * BOUND_PAIRS;
        let before = sum;
        let mut size = [[_mm256_setzero_si256(); 2]; P];
        for (k, pair) in weights.iter().enumerate() {
            let w = [weight(pair, 0), weight(pair, 1)];
            let w_size = w.map(|w| _mm256_abs_epi16(w));
            for p in 0..P {
                // SAFETY: there are as many pairs as weights.
                let pairs = unsafe { x[p].pairs(offset + k) };
                for half in 0..HALVES {
                    let a = pairs[half];
                    sum[p][half] = _mm256_add_epi32(sum[p][half], _mm256_madd_epi16(a, w[half]));
                    if BOUNDED {
                        // 16 bits hold every negated magnitude, but not the magnitude of -32768.
                        let size_below = _mm256_min_epi16(a, _mm256_sub_epi16(_mm256_setzero_si256(), a));
                        let products = _mm256_madd_epi16(size_below, w_size[half]);
                        size[p][half] = _mm256_sub_epi32(size[p][half], products);
                    }
                }
            }
        }
        if BOUNDED {
            for p in 0..P {
                for half in 0..HALVES {
                    let (before, size) = (before[p][half], size[p][half]);
                    let change = _mm256_sub_epi32(sum[p][half], before);
                    let up = _mm256_srai_epi32::<1>(_mm256_add_epi32(size, change));
                    let down = _mm256_srai_epi32::<1>(_mm256_sub_epi32(size, change));
                    max[p][half] = _mm256_max_epi32(max[p][half], _mm256_add_epi32(before, up));
                    min[p][half] = _mm256_min_epi32(min[p][half], _mm256_sub_epi32(before, down));
                }
            }
        }
    }
    for p in 0..P {
        for half in 0..2 {
            store(&mut out[p].sum, half, sum[p][half]);
            if BOUNDED {
                store(&mut out[p].min, half, min[p][half]);
                store(&mut out[p].max, half, max[p][half]);
            }
        }
    }
}

/// Greatest number of products of [`sum_own`].
pub(in super::super) const SPLIT_PRODUCTS: usize = Finals::PRODUCTS;

/// Computes [`kernels::sum`](super::super::super::kernels::sum) of windows in which lane `l` reads the `l`-th
/// cell from each product's cell on. Products fit 16 bits; there are at most [`SPLIT_PRODUCTS`].
///
/// # Panics
/// If a window does not lie within the cells.
#[target_feature(enable = "avx2")]
pub(in super::super) fn sum_own<const BOUNDED: bool>(
    PlacedWindows { cells, corners, offsets, .. }: PlacedWindows<'_>,
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked],
) {
    let window = |corner: usize| Placed::<true>::new(cells, corner, offsets);
    if BOUNDED {
        in_chunks!(corners, out, [2, 1], |corners, out| {
            own::<_, BOUNDED>(&corners.map(window), weights, start, out)
        });
    } else {
        in_chunks!(corners, out, [4, 2, 1], |corners, out| {
            own::<_, BOUNDED>(&corners.map(window), weights, start, out)
        });
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn own<const P: usize, const BOUNDED: bool>(
    windows: &[Placed<'_, true>; P],
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let (mut sum, mut size) = ([Finals::new(); P], [Finals::new(); P]);
    for (&offset, weights) in windows[0].offsets().iter().zip(weights) {
        let w = load_row(weights);
        for p in 0..P {
            // SAFETY: the distance of a product's cell, the same for all windows.
            let x = unsafe { windows[p].operands(offset as usize) };
            let product = _mm256_mullo_epi16(x, w);
            sum[p].add(product);
            if BOUNDED {
                size[p].add(_mm256_abs_epi16(product));
            }
        }
    }
    for p in 0..P {
        sum[p].flush();
        size[p].flush();
        let (change, size) = (sum[p].end(), size[p].end());
        for half in 0..2 {
            let (start, change) = (load(start, half), change[half]);
            store(&mut out[p].sum, half, _mm256_add_epi32(start, change));
            if BOUNDED {
                // Sums of the positive and of the negative products.
                let up = _mm256_srai_epi32::<1>(_mm256_add_epi32(size[half], change));
                let down = _mm256_srai_epi32::<1>(_mm256_sub_epi32(size[half], change));
                store(&mut out[p].max, half, _mm256_add_epi32(start, up));
                store(&mut out[p].min, half, _mm256_sub_epi32(start, down));
            }
        }
    }
}
