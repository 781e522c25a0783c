//! Computes the delivered sums of the last level from operands, for the lanes of one block.
//!
//! Control flow is equal for all lanes because runs are fixed. Every narrow value is accompanied by its
//! unbounded counterpart. A run is not stepped if its counterpart fits and all of its inputs are exact.

use super::super::kernels::{
    Activations, Counts, Extremes, LANES, Lane, NOTED, Rails, Row, Vector, fit, noted_parts, shift_right,
    step_index,
};
use super::super::simd::Vectorized;
use super::level::Reducer;
use super::loops::{Values, add_up};
use super::plan::Known;
use super::scratch::Scratch;
use super::sixteen::{serial_sixteen, tree_sixteen};
use super::work::Work;

impl<'a, V: Lane> Work<'a, V> {
    /// Returns what reduces the runs of a level. `scratch_lost` states whether its narrow values may differ already.
    pub fn level(&self, index: usize, scratch_lost: bool) -> Reducer<'a, V> {
        let stage = &self.plan.levels[index];
        let is_last = index + 1 == self.plan.levels.len();
        Reducer {
            stage,
            rails: stage.rails.as_ref().filter(|_| index + 1 >= self.certain),
            start: is_last.then_some(self.start),
            full: self.full,
            lost: scratch_lost,
            random: stage.random.zip(self.random),
            index,
            borrowing: self.borrowing().filter(|_| index == 0),
        }
    }
}

/// Computes products and the innermost level, and stores the results in the scratch.
pub(super) struct Inner<'a, X, V: Lane> {
    pub work: Work<'a, V>,
    pub x: X,
    pub weights: &'a [Row],
    pub scratch: &'a mut Scratch<V>,
}

/// Computes the exact sums alone.
pub(super) struct Exact<'a, X, V: Lane> {
    pub x: X,
    pub weights: &'a [Row],
    pub sums: &'a mut Vector<V>,
}

/// Adds up the activations of every lane.
pub(super) struct Totals<'a, X> {
    pub x: X,
    pub count: usize,
    pub totals: &'a mut [i64; LANES],
}

/// Uses the exact sums of the innermost runs as results if `rails` contain their bounds. Returns whether all
/// do.
pub(super) struct TakeSums<'a, V: Lane> {
    pub rails: Option<&'a Rails<V>>,
    pub scratch: &'a mut Scratch<V>,
    pub keeps: &'a mut bool,
}

/// Ends the runs of the innermost level, whose unshifted sums are in the scratch.
pub(super) struct Leave<'a, V: Lane> {
    pub work: Work<'a, V>,
    pub scratch: &'a mut Scratch<V>,
}

/// Computes the levels above the innermost one.
pub(super) struct Outer<'a, V: Lane> {
    pub work: Work<'a, V>,
    pub scratch: &'a mut Scratch<V>,
}

impl<X: Activations, V: Lane> Vectorized for Inner<'_, X, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { work, x, weights, scratch } = self;
        scratch.clear();
        let plan = work.plan;
        let product_rails = work.product_rails();
        let plain = product_rails.is_none() && plan.product.shift == 0;
        let mut level = work.level(0, product_rails.is_some());
        // Values that need 64 bits come from products of more than 16 bits.
        let sixteen = plan.sixteen.as_ref().filter(|_| V::BITS == 32 && level.rails.is_some());
        let length = level.stage.terms.run_length(weights.len());
        scratch.resize(weights.len().div_ceil(length));
        let mut counts = Counts::<i16>::NONE;
        scratch.logs[0].clear(work.full, weights.len());
        let parts = noted_parts(weights.len(), length).count();
        let x = x.first(weights.len());
        for (index, begin) in (0..weights.len()).step_by(length).enumerate() {
            let run = Products { x, weights, begin, end: weights.len().min(begin + length) };
            let count = run.end - run.begin;
            let seen = &mut scratch.levels[0];
            let (unbounded, narrow) = match (sixteen, level.stage.known) {
                (Some(rails), Known::Serial) => {
                    scratch.stepped = true;
                    let bits = scratch.logs[0].rows_to_write(parts, Some(length));
                    // Every run except the last one has an equal number of parts.
                    let first = bits.len().min(index * length.div_ceil(NOTED));
                    serial_sixteen(rails, run, work.full, seen, &mut counts, &mut bits[first..])
                }
                (Some(rails), Known::Tree) => {
                    scratch.stepped = true;
                    let buffers = (&mut scratch.run_sixteen, &mut scratch.run_unbounded);
                    let log = scratch.logs[0].run(begin, count);
                    tree_sixteen(rails, run, work.full, seen, &mut counts, buffers, log)
                }
                (None, Known::Serial) if plain => {
                    let log = scratch.logs[0].run(begin, count);
                    level.serial(run, run, seen, &mut scratch.stepped, log)
                }
                (None, _) => {
                    run.fill(work, product_rails, scratch);
                    level.lost = product_rails.is_some();
                    let seen = &mut scratch.levels[0];
                    let unbounded = &mut scratch.run_unbounded[..];
                    let log = scratch.logs[0].run(begin, count);
                    level.run(unbounded, &mut scratch.run_narrow, seen, &mut scratch.stepped, log)
                }
            };
            if plan.drops_bits && plan.product.shift == 0 {
                let start = level.start.map_or(Vector::ZERO, |start| start.unbounded);
                for l in 0..LANES {
                    scratch.products[l] = scratch.products[l].plus(unbounded[l]).minus(start[l]);
                }
            }
            let seen = &mut scratch.levels[0];
            let log = scratch.logs[0].run(begin, count);
            let ended = level.leave((unbounded, narrow), index, seen, &mut scratch.stepped, log);
            (scratch.unbounded[index], scratch.narrow[index]) = ended;
        }
        let may_differ = scratch.stepped || product_rails.is_some() || level.borrowing.is_some();
        scratch.lost = may_differ && scratch.differs();
        let seen = &mut scratch.levels[0].counts;
        for l in 0..LANES {
            seen.high[l] = seen.high[l].plus(V::of_product(counts.high[l]));
            seen.low[l] = seen.low[l].plus(V::of_product(counts.low[l]));
        }
    }
}

impl<X: Activations, V: Lane> Vectorized for Exact<'_, X, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { x, weights, sums } = self;
        let products = Products { x: x.first(weights.len()), weights, begin: 0, end: weights.len() };
        *sums = add_up(products, Vector::ZERO);
    }
}

impl<X: Activations> Vectorized for Totals<'_, X> {
    #[inline(always)]
    fn run(self) {
        let mut totals = [0; LANES];
        for k in 0..self.count {
            let row = self.x.lanes(step_index(k));
            for l in 0..LANES {
                totals[l] += i64::from(row[l]);
            }
        }
        *self.totals = totals;
    }
}

impl<V: Lane> Vectorized for TakeSums<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { rails, scratch, keeps } = self;
        let mut bounds = Extremes::<V>::ZERO;
        for (index, walked) in scratch.bounds[..scratch.runs].iter().enumerate() {
            let mut sums = Vector::ZERO;
            for l in 0..LANES {
                sums[l] = V::low_bits(walked.sum[l].into());
                bounds.min[l] = bounds.min[l].min(V::low_bits(walked.min[l].into()));
                bounds.max[l] = bounds.max[l].max(V::low_bits(walked.max[l].into()));
            }
            (scratch.unbounded[index], scratch.narrow[index]) = (sums, sums);
        }
        *keeps = rails.is_none_or(|rails| rails.keep(&bounds.min, &bounds.max));
    }
}

impl<V: Lane> Vectorized for Leave<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { work, scratch } = self;
        let level = work.level(0, false);
        // The compiler keeps a copy in registers.
        let mut seen = scratch.levels[0];
        for index in 0..scratch.runs {
            let (unbounded, narrow) = (scratch.unbounded[index], scratch.narrow[index]);
            if work.plan.drops_bits {
                for l in 0..LANES {
                    scratch.products[l] = scratch.products[l].plus(unbounded[l]);
                }
            }
            let log = scratch.logs[0].run(0, 0);
            let ended = level.leave((unbounded, narrow), index, &mut seen, &mut scratch.stepped, log);
            (scratch.unbounded[index], scratch.narrow[index]) = ended;
        }
        scratch.levels[0] = seen;
        scratch.lost = (scratch.stepped || level.borrowing.is_some()) && scratch.differs();
    }
}

impl<V: Lane> Vectorized for Outer<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let Self { work, scratch } = self;
        for index in 1..work.plan.levels.len() {
            let level = work.level(index, scratch.lost);
            let seen = &mut scratch.levels[index];
            let values = scratch.runs;
            let length = level.stage.terms.run_length(values);
            let log = &mut scratch.logs[index];
            log.clear(work.full, values);
            let mut runs = 0;
            for begin in (0..values).step_by(length) {
                let run = begin..values.min(begin + length);
                let count = run.len();
                let (unbounded, narrow) = (&mut scratch.unbounded[run.clone()], &mut scratch.narrow[run]);
                let stepped = &mut scratch.stepped;
                let sums = level.run(unbounded, narrow, seen, stepped, log.run(begin, count));
                let ended = level.leave(sums, runs, seen, stepped, log.run(begin, count));
                (scratch.unbounded[runs], scratch.narrow[runs]) = ended;
                runs += 1;
            }
            scratch.resize(runs);
            scratch.lost = (scratch.lost || scratch.stepped) && scratch.differs();
        }
    }
}

/// Products of one run.
#[derive(Clone, Copy)]
pub(super) struct Products<'a, X> {
    pub x: X,
    pub weights: &'a [Row],
    pub begin: usize,
    pub end: usize,
}

impl<X: Activations, V: Lane> Values<V> for Products<'_, X> {
    #[inline(always)]
    fn count(self) -> usize {
        self.end - self.begin
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        let a = self.x.lanes(self.begin + i);
        let w = &self.weights[self.begin + i];
        let mut products = Vector::ZERO;
        for l in 0..LANES {
            products[l] = V::product(a[l], w[l]);
        }
        products
    }
}

impl<X: Activations> Products<'_, X> {
    /// Fits and shifts the products of the run into the scratch, and adds up the exact ones if bits are
    /// dropped from them.
    #[inline(always)]
    fn fill<V: Lane>(self, work: Work<'_, V>, rails: Option<&Rails<V>>, scratch: &mut Scratch<V>) {
        let product = &work.plan.product;
        let count = Values::<V>::count(self);
        scratch.run_unbounded.resize(count, Vector::ZERO);
        scratch.run_narrow.resize(count, Vector::ZERO);
        if rails.is_none() && product.shift == 0 {
            for (i, value) in scratch.run_unbounded.iter_mut().enumerate() {
                *value = self.at(step_index(i));
            }
            return;
        }
        let mut counts = Counts::NONE;
        for i in 0..count {
            let i = step_index(i);
            let exact: Vector<V> = self.at(i);
            if product.shift > 0 {
                for l in 0..LANES {
                    scratch.products[l] = scratch.products[l].plus(exact[l]);
                }
            }
            scratch.run_unbounded[i] = shift_right(&exact, product.shift, product.round);
            if let Some(rails) = rails {
                let (fitted, _) = fit(rails, &exact, &mut counts);
                scratch.run_narrow[i] = shift_right(&fitted, product.shift, product.round);
            }
        }
        for l in 0..LANES {
            scratch.product_events[l] = scratch.product_events[l].plus(counts.high[l]).plus(counts.low[l]);
        }
    }
}
