//! A narrow register, addition by addition.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{Activations, Counts, LANES, Lane, Lanes, Rails, Row, Stepped, Vector, add, first};

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

/// Steps a register on lanes of type `V`, which hold every held value plus a product, or, if they saturate, the side of
/// the rails on which that lies. Overflows are counted if `COUNT`; their numbers fit a lane. `trail` is written for the
/// first pixel.
#[inline(always)]
pub(crate) fn step<V: Lane, X: Activations, const P: usize, const MODE: u8, const COUNT: bool>(
    x: &[X; P],
    weights: &[Row],
    start: &Lanes,
    rails: Rails<V>,
    trail: Trail<'_>,
    out: &mut [Stepped; P],
) {
    let x = first(x, weights.len());
    let mut value = [Vector::ZERO; P];
    for p in 0..P {
        for l in 0..LANES {
            value[p][l] = V::of_word(start[l]);
        }
    }
    let mut counts = [Counts::NONE; P];
    let mut free = [Vector::ONES; P];
    let mut from = 0;
    let mut entries = trail.checkpoints.iter().zip(trail.log);
    loop {
        let entry = entries.next();
        let to = entry.as_ref().map_or(weights.len(), |(step, _)| **step as usize);
        for k in from..to {
            let w = &weights[k];
            for p in 0..P {
                let a = x[p].lanes(k);
                let mut product = Vector::ZERO;
                for l in 0..LANES {
                    product[l] = V::product(a[l], w[l]);
                }
                (value[p], _) = add::<V, MODE>(&rails, &value[p], &product, &mut free[p], &mut counts[p]);
            }
        }
        let Some((_, entry)) = entry else { break };
        for l in 0..LANES {
            entry[l] = counts[0].high[l].plus(counts[0].low[l]).word();
        }
        from = to;
    }
    for p in 0..P {
        for l in 0..LANES {
            out[p].value[l] = value[p][l].word();
            (out[p].high[l], out[p].low[l]) = match COUNT {
                true => (counts[p].high[l].word(), counts[p].low[l].word()),
                false => (0, 0),
            };
        }
    }
}
