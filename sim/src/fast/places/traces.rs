//! Overflow counts of windows after every product, for placing events.

use super::super::kernels::Vector;

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

    /// Returns the overflows of lane `lane` of window `window` before product `product`.
    pub fn before(&self, window: usize, product: usize, lane: usize) -> i32 {
        let Some(last) = product.checked_sub(1) else { return 0 };
        let row = |rows: &[Vector<i16>], index: usize| rows[index * self.windows + window][lane];
        let [above, below] = row(&self.counts, last).to_le_bytes();
        i32::from(above) + i32::from(below) + i32::from(row(&self.earlier, last / COUNTED))
    }
}
