//! A narrow register, addition by addition.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{Activations, LANES, Lanes, Rails, Row, Stepped, first};

pub(crate) const SATURATE: u8 = 0;
pub(crate) const WRAP_SIGNED: u8 = 1;
pub(crate) const WRAP_UNSIGNED: u8 = 2;
pub(crate) const CHOSEN: u8 = 3;
pub(crate) const LATCHED: u8 = 4;
pub(crate) const EXACT: u8 = 5;

/// Overflows recorded on the way: `log[i]` receives those before step `checkpoints[i]`. Checkpoints ascend.
pub(crate) struct Trail<'t> {
    pub checkpoints: &'t [u32],
    pub log: &'t mut [Lanes],
}

impl Trail<'_> {
    #[inline(always)]
    pub fn none() -> Self {
        Self { checkpoints: &[], log: &mut [] }
    }
}

/// Defines a stepping kernel on lanes of one integer type.
///
/// `trail` is written for the first pixel. Overflows are counted if `COUNT`. `$add` is an addition whose
/// result lies on the side of the rails on which the exact sum lies.
macro_rules! stepper {
    ($(#[$doc:meta])* $name:ident, $lane:ty, $add:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<X: Activations, const P: usize, const MODE: u8, const COUNT: bool>(
            x: &[X; P],
            weights: &[Row],
            start: &Lanes,
            rails: Rails,
            trail: Trail<'_>,
            out: &mut [Stepped; P],
        ) {
            const { assert!(MODE <= EXACT, "the mode is supported by these kernels") };
            type Lane = $lane;
            let (below_value, above_value) = (rails.below as Lane, rails.above as Lane);
            let (low_rail, high_rail) = (rails.low as Lane, rails.high as Lane);
            let shift = Lane::BITS - rails.bits.min(Lane::BITS);
            let mask = ((1u64 << rails.bits.min(Lane::BITS)) - 1) as Lane;
            let x = first(x, weights.len());
            let mut value = [[0 as Lane; LANES]; P];
            for p in 0..P {
                for l in 0..LANES {
                    value[p][l] = start[l] as Lane;
                }
            }
            let mut high = [[0 as Lane; LANES]; P];
            let mut low = high;
            let mut free = [[-1 as Lane; LANES]; P];
            let mut from = 0;
            let mut entries = trail.checkpoints.iter().zip(trail.log);
            loop {
                let entry = entries.next();
                let to = entry.as_ref().map_or(weights.len(), |(step, _)| **step as usize);
                for k in from..to {
                    let w = &weights[k];
                    for p in 0..P {
                        let a = x[p].lanes(k);
                        for l in 0..LANES {
                            let product = Lane::from(a[l]).wrapping_mul(Lane::from(w[l]));
                            let held = value[p][l];
                            let sum = held.$add(product);
                            let mut above = -((sum > high_rail) as Lane);
                            let mut below = -((sum < low_rail) as Lane);
                            if MODE == LATCHED {
                                above &= free[p][l];
                                below &= free[p][l];
                            }
                            if COUNT {
                                high[p][l] -= above;
                                low[p][l] -= below;
                            }
                            let clamped = sum.min(high_rail).max(low_rail);
                            value[p][l] = match MODE {
                                SATURATE => clamped,
                                WRAP_SIGNED => (held.wrapping_add(product) << shift) >> shift,
                                WRAP_UNSIGNED => held.wrapping_add(product) & mask,
                                CHOSEN if sum > high_rail => above_value,
                                CHOSEN if sum < low_rail => below_value,
                                LATCHED => (clamped & free[p][l]) | (held & !free[p][l]),
                                _ => sum,
                            };
                            if MODE == LATCHED {
                                free[p][l] &= !(above | below);
                            }
                        }
                    }
                }
                let Some((_, entry)) = entry else { break };
                for l in 0..LANES {
                    entry[l] = i32::from(high[0][l] + low[0][l]);
                }
                from = to;
            }
            for p in 0..P {
                for l in 0..LANES {
                    out[p].value[l] = i32::from(value[p][l]);
                    out[p].high[l] = i32::from(high[p][l]);
                    out[p].low[l] = i32::from(low[p][l]);
                }
            }
        }
    };
}

stepper! {
    /// On 16-bit lanes: products fit 16 bits, both rails lie inside of 16 bits by at least one, there are at
    /// most 32767 steps, and the mode is not [`EXACT`].
    step_i16, i16, saturating_add
}
stepper! {
    /// On 32-bit lanes: no held value plus a product leaves 32 bits.
    step_i32, i32, wrapping_add
}
