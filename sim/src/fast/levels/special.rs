//! Dot products whose values need more than multiplying, fitting and adding: lanes that share an adder, products
//! that are rounded at random or added in an order of their own, windows over padding, and wide operands.

use guardbit_hwmodels::Fixup;

use super::super::kernels::{
    Activations, Counts, Extremes, LANES, Lane, Row, Vector, WRAP, fit, shift_right, step_index,
};
use super::super::simd::Vectorized;
use super::kernel::Products;
use super::level::Reducer;
use super::loops::{Values, add_up, bounds, step};
use super::order::arrange;
use super::plan::{Plan, Product, Shared, Start};
use super::random::Draw;
use super::scratch::{RunLog, Scratch, Seen};
use super::work::Work;
use crate::reference::Stage;

/// Computes exact products, in the order of the flattened axes.
pub(super) struct Multiply<'a, S, V: Lane> {
    pub products: S,
    pub rows: &'a mut Vec<Vector<V>>,
}

/// Fits exact products, which are in the scratch, and computes the innermost level.
pub(super) struct Special<'a, V: Lane> {
    pub work: Work<'a, V>,
    pub scratch: &'a mut Scratch<V>,
}

impl<S: Values<V>, V: Lane> Vectorized for Multiply<'_, S, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { products, rows } = self;
        rows.resize(products.count(), Vector::ZERO);
        for (i, row) in rows.iter_mut().enumerate() {
            *row = products.at(step_index(i));
        }
    }
}

impl<V: Lane> Vectorized for Special<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { work, scratch } = self;
        scratch.clear();
        let count = scratch.run_exact.len();
        if work.plan.drops_bits {
            scratch.products = add_up(&scratch.run_exact[..], Vector::ZERO);
        }
        if let Some(walk) = &work.plan.walk {
            if !work.full && work.keeps_any_order(&scratch.run_exact) {
                return work.settle(scratch);
            }
            let Scratch { run_exact, run_narrow, run_sixteen, .. } = &mut *scratch;
            let short = work.plan.short_products.then_some((work.kernels, run_sixteen));
            arrange(walk, run_exact, &work.start.exact, run_narrow, short);
        }
        work.multiply(scratch);

        let mut level = work.level(0, false);
        let length = level.stage.terms.run_length(count);
        scratch.resize(count.max(1).div_ceil(length));
        scratch.logs[0].clear(work.full, count);
        let shared = work.plan.shared.as_ref().zip(work.high);
        level.lost = work.product_rails().is_some();
        if shared.is_some() {
            level.borrowing = None;
        }
        for index in 0..scratch.runs {
            let run = index * length..count.min((index + 1) * length);
            let Scratch { run_unbounded, run_narrow, run_exact, levels, logs, stepped, .. } = &mut *scratch;
            let (unbounded, narrow) = (&mut run_unbounded[run.clone()], &mut run_narrow[run.clone()]);
            let (seen, log) = (&mut levels[0], logs[0].run(run.start, run.len()));
            let (unbounded, narrow) = match shared {
                Some(shared) => {
                    level.share(shared, unbounded, narrow, &mut run_exact[run.clone()], seen, log)
                }
                None => level.run(unbounded, narrow, seen, stepped, log),
            };
            *stepped |= shared.is_some();
            let log = logs[0].run(run.start, run.len());
            let ended = level.leave((unbounded, narrow), index, seen, stepped, log);
            (scratch.unbounded[index], scratch.narrow[index]) = ended;
        }
        scratch.lost = scratch.differs();
    }
}

impl<V: Lane> Work<'_, V> {
    /// Returns whether no stage overflows or drops bits, in whatever order the products are added.
    #[inline(always)]
    fn keeps_any_order(self, products: &[Vector<V>]) -> bool {
        let Plan { product, levels, .. } = self.plan;
        let Extremes { mut min, mut max } = bounds(products);
        for l in 0..LANES {
            min[l] = min[l].plus(self.start.unbounded[l].min(V::ZERO));
            max[l] = max[l].plus(self.start.unbounded[l].max(V::ZERO));
        }
        let rails = levels.iter().map(|stage| &stage.rails).chain([&product.rails]);
        product.shift == 0
            && levels.iter().all(|stage| stage.shift == 0)
            && rails.flatten().all(|rails| rails.keep(&min, &max))
    }

    /// Stores the exact sum of all products as the only run.
    #[inline(always)]
    fn settle(self, scratch: &mut Scratch<V>) {
        let start = if self.plan.levels.len() == 1 { self.start.unbounded } else { Vector::ZERO };
        let sum = add_up(&scratch.run_exact[..], start);
        scratch.resize(1);
        (scratch.unbounded[0], scratch.narrow[0]) = (sum, sum);
    }

    /// Fits and shifts the products.
    #[inline(always)]
    fn multiply(self, scratch: &mut Scratch<V>) {
        let &Product { shift, round, random, .. } = &self.plan.product;
        let rails = self.product_rails();
        let mut counts = Counts::NONE;
        let count = scratch.run_exact.len();
        scratch.run_unbounded.resize(count, Vector::ZERO);
        scratch.run_narrow.resize(count, Vector::ZERO);
        let mut words = [Vector::ZERO; 4];
        for k in 0..count {
            let exact = scratch.run_exact[k];
            let fitted = match rails {
                Some(rails) => fit(rails, &exact, &mut counts).0,
                None => exact,
            };
            let shifted = match random.zip(self.random) {
                Some((seed, random)) => {
                    let draw = Draw { seed, shift, stage: Stage::Product };
                    if k % draw.per_block() == 0 {
                        words = random.words(draw, k / draw.per_block());
                    }
                    [draw.round(&exact, k, &words), draw.round(&fitted, k, &words)]
                }
                None => [shift_right(&exact, shift, round), shift_right(&fitted, shift, round)],
            };
            [scratch.run_unbounded[k], scratch.run_narrow[k]] = shifted;
        }
        for l in 0..LANES {
            scratch.product_events[l] = scratch.product_events[l].plus(counts.high[l]).plus(counts.low[l]);
        }
    }
}

impl<V: Lane> Reducer<'_, V> {
    /// Reduces one run in adders that every lane of `high` shares with the one before it. `addends` is
    /// overwritten.
    #[inline(always)]
    fn share(
        self,
        (shared, high): (&Shared<V>, &Vector<V>),
        unbounded: &[Vector<V>],
        narrow: &mut [Vector<V>],
        addends: &mut [Vector<V>],
        seen: &mut Seen<V>,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        // The low lanes' sums and what they have carried so far, at the lanes above them.
        let (mut sum, mut above) = (Vector::<V>::ZERO, Vector::<V>::ZERO);
        for (narrow, addend) in narrow.iter_mut().zip(&mut *addends) {
            let value = *narrow;
            for l in 1..LANES {
                sum[l] = sum[l].plus(value[l - 1]);
                let carried = sum[l].shift_right(shared.bits);
                addend[l] = value[l].plus(carried).minus(above[l]).and(high[l]);
                above[l] = carried;
            }
            addend[0] = V::ZERO;
            for l in 0..LANES {
                narrow[l] = value[l].and(high[l].not());
            }
        }
        // Each lane overflows only in the adder to which it adds.
        let level = Reducer { lost: true, ..self };
        let (exact, low) = level.serial(unbounded, &*narrow, seen, &mut false, log.again());
        let start = Start::ZERO;
        let rails = &shared.rails;
        let mut held = step::<V, _, WRAP>(rails, &*addends, &start, &mut seen.counts, log.rows());
        if shared.fixup == Fixup::Lut {
            let one = V::low_bits(1);
            for l in 0..LANES {
                held[l] = held[l].plus(sum[l].shift_right(shared.bits - 1).and(one).and(high[l]));
            }
            held = fit(rails, &held, &mut { Counts::NONE }).0;
        }
        for l in 0..LANES {
            held[l] = held[l].or(low[l]);
        }
        (exact, held)
    }
}

/// Products with the activations in them.
pub(super) trait Source<V: Lane>: Values<V> {
    /// Returns the activation of lane `lane` in product `i`.
    fn activation(self, i: usize, lane: usize) -> i64;
}

impl<X: Activations, V: Lane> Source<V> for Products<'_, X> {
    fn activation(self, i: usize, lane: usize) -> i64 {
        self.x.at(self.begin + i, lane).into()
    }
}

/// Products of operands beyond 16 bits.
#[derive(Clone, Copy)]
pub(super) struct WideProducts<'a> {
    /// Activations from the window's first cell on.
    pub cells: &'a [i32],
    /// Distance of each product's cell from the first one.
    pub offsets: &'a [usize],
    /// Further distance, per lane.
    pub lanes: [usize; LANES],
    pub weights: &'a [[i32; LANES]],
}

impl<V: Lane> Values<V> for WideProducts<'_> {
    #[inline(always)]
    fn count(self) -> usize {
        self.weights.len()
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        let (cells, weights) = (&self.cells[self.offsets[i]..], &self.weights[i]);
        let mut products = Vector::ZERO;
        for l in 0..LANES {
            products[l] = V::wide_product(cells[self.lanes[l]], weights[l]);
        }
        products
    }
}

impl<V: Lane> Source<V> for WideProducts<'_> {
    fn activation(self, i: usize, lane: usize) -> i64 {
        self.cells[self.offsets[i] + self.lanes[lane]].into()
    }
}

/// Some of the products.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a, S> {
    pub source: S,
    pub indices: &'a [usize],
}

impl<'a, X: Activations> Picked<'a, Products<'a, X>> {
    /// Returns the products at `indices` of a window with activations `x` and weights `[k][lane]`.
    pub fn of(x: X, weights: &'a [Row], indices: &'a [usize]) -> Self {
        Self { source: Products { x, weights, begin: 0, end: weights.len() }, indices }
    }
}

impl<V: Lane, S: Values<V>> Values<V> for Picked<'_, S> {
    #[inline(always)]
    fn count(self) -> usize {
        self.indices.len()
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        self.source.at(self.indices[i])
    }
}

impl<V: Lane, S: Source<V>> Source<V> for Picked<'_, S> {
    fn activation(self, i: usize, lane: usize) -> i64 {
        self.source.activation(self.indices[i], lane)
    }
}
