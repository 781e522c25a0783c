//! Overflow counts of windows after every product, for placing events.

use super::super::kernels::{LANES, Lanes, Vector};

/// Marks a turn that does not come before the end of a dot product.
pub(crate) const NEVER: i16 = i16::MAX;

/// Number of steps whose overflows are counted in the bytes of a lane.
pub(crate) const COUNTED: usize = 255;

/// Numbers of overflows, after each product, of windows that are stepped together.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Counters of two bytes, indexed `[k][window]`, which restart every [`COUNTED`] products.
    counts: Vec<Vector<i16>>,
    /// Overflows before each restart, indexed `[k / COUNTED][window]`.
    earlier: Vec<Vector<i16>>,
    /// Number of windows.
    windows: usize,
}

/// Trace of `P` windows, step by step.
pub(crate) type Traced<const P: usize> = [[Vector<i16>; P]];

impl Traces {
    /// Makes room for `products` products of `P` windows. Returns the counters and the overflows before each
    /// restart, both to be written.
    pub fn open<const P: usize>(&mut self, products: usize) -> (&mut Traced<P>, &mut Traced<P>) {
        let Self { counts, earlier, windows } = self;
        *windows = P;
        let room = |rows: &mut Vec<Vector<i16>>, count: usize| {
            if rows.len() < count * P {
                rows.resize(count * P, Vector::ZERO);
            }
        };
        let parts = products.div_ceil(COUNTED);
        room(counts, products);
        room(earlier, parts);
        (&mut counts.as_chunks_mut().0[..products], &mut earlier.as_chunks_mut().0[..parts])
    }

    /// Returns, for every lane of window `window`, its overflows before product `at[lane]`; those in `all` for
    /// lanes of which no product is asked. `last` is the last product asked for.
    #[inline]
    pub fn before(&self, window: usize, at: &[i16; LANES], last: usize, all: &Lanes) -> Lanes {
        let mut counted = [0; LANES];
        let mut earlier = [0; LANES];
        let asked = |l: usize| if at[l] == NEVER { None } else { (at[l] as usize).checked_sub(1) };
        for l in 0..LANES {
            counted[l] = asked(l).map_or(0, |product| self.counts[product * self.windows + window][l]);
        }
        // The first part begins without overflows.
        if last > COUNTED {
            for l in 0..LANES {
                let part = |product: usize| self.earlier[product / COUNTED * self.windows + window][l];
                earlier[l] = asked(l).map_or(0, part);
            }
        }
        std::array::from_fn(|l| match at[l] {
            NEVER => all[l],
            _ => i32::from(counted[l] & 0xff) + i32::from(counted[l] >> 8 & 0xff) + i32::from(earlier[l]),
        })
    }
}
