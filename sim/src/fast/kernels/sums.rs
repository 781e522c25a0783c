//! Exact sums, and information about their prefixes.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{Activations, LANES, Lanes, Pair, Rails, Row, Walked, first};

/// Computes exact sums from `start`, with the extremes of their prefixes. No sum may exceed 32 bits, and with
/// `SHORT` no product may exceed 16 bits.
#[inline(always)]
pub(crate) fn walk<X: Activations, const P: usize, const SHORT: bool>(
    x: &[X; P],
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let x = first(x, weights.len());
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (k, w) in weights.iter().enumerate() {
        for p in 0..P {
            let a = x[p].lanes(k);
            for l in 0..LANES {
                let product = match SHORT {
                    true => i32::from(a[l].wrapping_mul(w[l])),
                    false => i32::from(a[l]).wrapping_mul(i32::from(w[l])),
                };
                sum[p][l] = sum[p][l].wrapping_add(product);
                min[p][l] = min[p][l].min(sum[p][l]);
                max[p][l] = max[p][l].max(sum[p][l]);
            }
        }
    }
    for p in 0..P {
        out[p] = Walked { sum: sum[p], min: min[p], max: max[p] };
    }
}

/// Computes, for each lane, the first step after which the exact sum lies outside the rails, counted from 0,
/// or the number of steps if there is none. No sum may exceed 32 bits.
#[inline(always)]
pub(crate) fn first_outside<X: Activations>(
    x: X,
    weights: &[Row],
    start: &Lanes,
    rails: Rails,
    out: &mut Lanes,
) {
    let x = x.first(weights.len());
    let span = rails.high.wrapping_sub(rails.low) as u32;
    let mut sum = *start;
    let mut inside = [-1; LANES];
    *out = [0; LANES];
    for (k, w) in weights.iter().enumerate() {
        let a = x.lanes(k);
        for l in 0..LANES {
            sum[l] = sum[l].wrapping_add(i32::from(a[l]).wrapping_mul(i32::from(w[l])));
            inside[l] &= -i32::from(sum[l].wrapping_sub(rails.low) as u32 <= span);
            out[l] -= inside[l];
        }
    }
}

/// Computes [`sum`] with bounds, from 0, for every run of `pairs` pairs of steps.
#[inline(always)]
pub(crate) fn sum_runs<X: Activations>(x: X, weights: &[Pair], pairs: usize, out: &mut [Walked]) {
    for ((run, weights), out) in weights.chunks(pairs).enumerate().zip(out.as_chunks_mut::<1>().0) {
        sum::<X, 1, true>(&[x.skip(2 * run * pairs)], weights, &[0; LANES], out);
    }
}

/// Returns the number of lanes with a prefix outside the rails.
#[inline(always)]
pub(crate) fn misfits(walked: &Walked, rails: Rails) -> usize {
    let mut misfits = 0;
    for l in 0..LANES {
        misfits += i32::from((walked.min[l] < rails.low) | (walked.max[l] > rails.high));
    }
    misfits as usize
}

/// Number of pairs of steps after which a new bound is taken.
pub(crate) const BOUND_PAIRS: usize = 32;

/// Computes exact sums from `start`, with bounds of their prefixes. Let P and N be the sums of the positive
/// and of the negative products of some steps. Every prefix within these steps lies between N and P, relative
/// to their start.
///
/// Without `BOUNDED` only the sums are computed. The sum of the products of [`BOUND_PAIRS`] pairs may not
/// exceed 31 bits.
#[inline(always)]
pub(crate) fn sum<X: Activations, const P: usize, const BOUNDED: bool>(
    x: &[X; P],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let x = first(x, 2 * weights.len());
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (part, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
        let before = sum;
        let mut size = [[0i32; LANES]; P];
        for (i, w) in weights.iter().enumerate() {
            let k = 2 * (part * BOUND_PAIRS + i);
            for p in 0..P {
                let (a, b) = (x[p].lanes(k), x[p].lanes(k + 1));
                for l in 0..LANES {
                    let first = i32::from(a[l]) * i32::from(w[2 * l]);
                    let second = i32::from(b[l]) * i32::from(w[2 * l + 1]);
                    sum[p][l] += first + second;
                    if BOUNDED {
                        size[p][l] += first.abs() + second.abs();
                    }
                }
            }
        }
        for p in 0..P {
            for l in 0..LANES {
                let change = sum[p][l] - before[p][l];
                // Both operands are even.
                max[p][l] = max[p][l].max(before[p][l] + (size[p][l] + change) / 2);
                min[p][l] = min[p][l].min(before[p][l] - (size[p][l] - change) / 2);
            }
        }
    }
    for p in 0..P {
        out[p] = Walked { sum: sum[p], min: min[p], max: max[p] };
    }
}
