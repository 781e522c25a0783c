//! The loops of the fast engine, as plain safe code over arrays of lanes.
//!
//! A lane is an output channel; the products of one dot product are added one after the other, those of
//! [`LANES`] channels and of up to `P` pixels side by side. The functions are inlined into the bodies of
//! [`simd`](super::simd), each of which compiles them for other vector instructions.

/// Output channels that are computed side by side.
pub(crate) const LANES: usize = 16;

/// One 16-bit operand per lane.
pub(crate) type Row = [i16; LANES];

/// The activations of one pixel, one step after the other.
pub(crate) trait Activations: Copy {
    /// The first `steps` steps.
    fn first(self, steps: usize) -> Self;
    /// What every lane multiplies in step `k`.
    fn lanes(self, k: usize) -> Row;
}

/// All lanes read the same activation.
impl Activations for &[i16] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        [self[k]; LANES]
    }
}

/// Every lane reads an activation of its own.
impl Activations for &[Row] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        self[k]
    }
}

/// The exact sums of one pixel: their final values and the extremes over their prefixes and the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walked {
    pub sum: [i32; LANES],
    pub min: [i32; LANES],
    pub max: [i32; LANES],
}

/// The narrow sums of one pixel and its overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stepped {
    pub value: [i32; LANES],
    pub high: [i32; LANES],
    pub low: [i32; LANES],
}

/// What a narrow register does, as far as a kernel must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rails {
    /// Least and greatest value that is left alone.
    pub low: i32,
    pub high: i32,
    /// Width; used where the register wraps.
    pub bits: u32,
}

pub(crate) const SATURATE: u8 = 0;
pub(crate) const WRAP_SIGNED: u8 = 1;
pub(crate) const WRAP_UNSIGNED: u8 = 2;
pub(crate) const ZERO: u8 = 3;
pub(crate) const STICKY: u8 = 4;
pub(crate) const OBSERVE: u8 = 5;

/// Exact sums from `start`, with the extremes of their prefixes. No sum may leave 32 bits.
#[inline(always)]
pub(crate) fn walk<X: Activations, const P: usize>(
    x: [X; P],
    weights: &[Row],
    start: &[i32; LANES],
) -> [Walked; P] {
    let x = x.map(|x| x.first(weights.len()));
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (k, w) in weights.iter().enumerate() {
        for p in 0..P {
            let a = x[p].lanes(k);
            for l in 0..LANES {
                sum[p][l] = sum[p][l].wrapping_add(i32::from(a[l]).wrapping_mul(i32::from(w[l])));
                min[p][l] = min[p][l].min(sum[p][l]);
                max[p][l] = max[p][l].max(sum[p][l]);
            }
        }
    }
    std::array::from_fn(|p| Walked { sum: sum[p], min: min[p], max: max[p] })
}

/// Two weights per lane: those of two steps that follow each other.
pub(crate) type Pair = [i16; 2 * LANES];

/// Pairs of steps after which a bound is taken anew.
pub(crate) const BOUND_PAIRS: usize = 32;

/// Exact sums from `start`, and bounds of their prefixes: with P and N the sums of the positive and of the
/// negative products of a stretch of steps, every prefix within it lies between N and P beyond its start.
///
/// Without `BOUNDED` only the sums count. `x` has two activations per pair. No product of a stretch may leave
/// 31 bits in sum.
#[inline(always)]
pub(crate) fn sum<const P: usize, const BOUNDED: bool>(
    x: [&[i16]; P],
    weights: &[Pair],
    start: &[i32; LANES],
) -> [Walked; P] {
    let x = x.map(|x| &x[..2 * weights.len()]);
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (stretch, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
        let before = sum;
        let mut size = [[0i32; LANES]; P];
        for (i, w) in weights.iter().enumerate() {
            let k = 2 * (stretch * BOUND_PAIRS + i);
            for p in 0..P {
                let (a, b) = (i32::from(x[p][k]), i32::from(x[p][k + 1]));
                for l in 0..LANES {
                    let (first, second) = (a * i32::from(w[2 * l]), b * i32::from(w[2 * l + 1]));
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
                // Both are even.
                max[p][l] = max[p][l].max(before[p][l] + (size[p][l] + change) / 2);
                min[p][l] = min[p][l].min(before[p][l] - (size[p][l] - change) / 2);
            }
        }
    }
    std::array::from_fn(|p| Walked { sum: sum[p], min: min[p], max: max[p] })
}

/// Defines a stepping kernel on lanes of one integer type.
///
/// With `LOG`, `log[k * P + p]` counts the overflows of pixel `p` up to and with step `k`, of which there are
/// at most 32767. `$add` is the addition whose result still shows on which side of the rails the exact sum lies.
macro_rules! stepper {
    ($(#[$doc:meta])* $name:ident, $lane:ty, $add:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<X: Activations, const P: usize, const MODE: u8, const LOG: bool>(
            x: [X; P],
            weights: &[Row],
            start: &[i32; LANES],
            rails: Rails,
            log: &mut [Row],
        ) -> [Stepped; P] {
            type Lane = $lane;
            let (low_rail, high_rail) = (rails.low as Lane, rails.high as Lane);
            let shift = Lane::BITS - rails.bits.min(Lane::BITS);
            let mask = ((1u64 << rails.bits.min(Lane::BITS)) - 1) as Lane;
            let x = x.map(|x| x.first(weights.len()));
            let mut value = [start.map(|s| s as Lane); P];
            let mut high = [[0 as Lane; LANES]; P];
            let mut low = high;
            let mut free = [[-1 as Lane; LANES]; P];
            let log = if LOG { &mut log[..weights.len() * P] } else { log };
            for (k, w) in weights.iter().enumerate() {
                for p in 0..P {
                    let a = x[p].lanes(k);
                    for l in 0..LANES {
                        let product = Lane::from(a[l]).wrapping_mul(Lane::from(w[l]));
                        let held = value[p][l];
                        let sum = held.$add(product);
                        let mut above = -((sum > high_rail) as Lane);
                        let mut below = -((sum < low_rail) as Lane);
                        if MODE == STICKY {
                            above &= free[p][l];
                            below &= free[p][l];
                        }
                        high[p][l] -= above;
                        low[p][l] -= below;
                        let clamped = sum.min(high_rail).max(low_rail);
                        value[p][l] = match MODE {
                            SATURATE => clamped,
                            WRAP_SIGNED => (held.wrapping_add(product) << shift) >> shift,
                            WRAP_UNSIGNED => held.wrapping_add(product) & mask,
                            ZERO => sum & !(above | below),
                            STICKY => (clamped & free[p][l]) | (held & !free[p][l]),
                            _ => sum,
                        };
                        if MODE == STICKY {
                            free[p][l] &= !(above | below);
                        }
                    }
                    if LOG {
                        for l in 0..LANES {
                            log[k * P + p][l] = (high[p][l] + low[p][l]) as i16;
                        }
                    }
                }
            }
            std::array::from_fn(|p| Stepped {
                value: value[p].map(i32::from),
                high: high[p].map(i32::from),
                low: low[p].map(i32::from),
            })
        }
    };
}

stepper! {
    /// On 16-bit lanes: products fit 16 bits, both rails lie inside of 16 bits by at least one, there are at
    /// most 32767 steps, and the mode is not [`OBSERVE`].
    step_i16, i16, saturating_add
}
stepper! {
    /// On 32-bit lanes: no held value plus a product leaves 32 bits.
    step_i32, i32, wrapping_add
}
