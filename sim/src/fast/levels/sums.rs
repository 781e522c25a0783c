//! Sums of a block: computed at once if a proof or bounds exclude overflows, otherwise level by level.

use super::super::image::Image;
use super::super::kernels::{Lane, Rails, Walked};
use super::super::policy::Trials;
use super::super::simd::VectorActivations;
use super::kernel::{Inner, Leave, Outer, Products, TakeSums};
use super::loops::Values;
use super::scratch::Scratch;
use super::special::{Multiply, Special};
use super::work::Work;
use super::{Course, LevelsLayer, Operands, Spot, Task, tally};

impl LevelsLayer<'_> {
    /// Computes the runs of a block at one pixel by their exact sums, like [`Self::sum_runs`].
    pub(super) fn sums_at<V: Lane>(
        &self,
        course: &mut Course<'_, V>,
        spot: Spot<'_>,
        image: &Image<'_>,
        scratch: &mut Scratch<V>,
        task: &Task<'_, '_>,
    ) -> bool {
        let index = spot.block;
        let random = self.random(spot, task);
        let work = self.work(course.plan, index, random.as_ref(), task);
        let trials = &mut course.trials[index];
        let Some(pairs) = tries_sums(work, trials) else { return false };
        let operands = self.operands(self.blocks.of(index), image, spot.pixel, &mut course.buffers);
        on_operands!(operands, x => self.sum_runs(work, spot, pairs, x, scratch, trials))
    }

    /// Computes the sums of one block through all levels.
    pub(super) fn sum_block<X: VectorActivations, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot<'_>,
        x: X,
        scratch: &mut Scratch<V>,
        trials: &mut Trials,
    ) {
        let plan = work.plan;
        if work.is_certain() && !work.full && !plan.drops_bits && V::BITS == 32 {
            let mut walked = [Walked::ZERO];
            let start = tally::narrow(&work.start.unbounded);
            let pairs = spot.forms.pairs(self.blocks.of(spot.block));
            self.kernels.sum::<X, false>(&[x], pairs, &start, &mut walked);
            scratch.settle(&walked[0].sum);
            return;
        }
        let sums = tries_sums(work, trials);
        if sums.is_some_and(|pairs| self.sum_runs(work, spot, pairs, x, scratch, trials)) {
            self.kernels.run(Leave { work, scratch });
            self.kernels.run(Outer { work, scratch });
            return;
        }
        self.step_block(work, spot, x, scratch);
    }

    /// Computes the sums of one block level by level.
    pub(super) fn step_block<X: VectorActivations, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot<'_>,
        x: X,
        scratch: &mut Scratch<V>,
    ) {
        let weights = spot.forms.rows(self.blocks.of(spot.block));
        if work.is_special() {
            let products = Products { x: x.first(weights.len()), weights, begin: 0, end: weights.len() };
            return self.step_products(work, products, scratch);
        }
        self.kernels.run(Inner { work, x, weights, scratch });
        if work.plan.levels.len() > 1 {
            self.kernels.run(Outer { work, scratch });
        }
    }

    /// Computes the sums of `products` level by level.
    pub(super) fn step_products<S: Values<V>, V: Lane>(
        &self,
        work: Work<'_, V>,
        products: S,
        scratch: &mut Scratch<V>,
    ) {
        self.kernels.run(Multiply { products, rows: &mut scratch.run_exact });
        self.kernels.run(Special { work, scratch });
        if work.plan.levels.len() > 1 {
            self.kernels.run(Outer { work, scratch });
        }
    }

    /// Computes the runs of the innermost level, of `pairs` pairs of products, by their exact sums, if bounds
    /// prove that none of them overflows. Returns whether they do.
    fn sum_runs<X: VectorActivations, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot<'_>,
        pairs: usize,
        x: X,
        scratch: &mut Scratch<V>,
        trials: &mut Trials,
    ) -> bool {
        let rails = uncertain_rails(work);
        let weights = spot.forms.pairs(self.blocks.of(spot.block));
        scratch.clear();
        scratch.resize(weights.len().div_ceil(pairs));
        scratch.bounds.resize(scratch.runs, Walked::ZERO);
        self.kernels.sum_runs(x, weights, pairs, &mut scratch.bounds);
        let mut keeps = true;
        self.kernels.run(TakeSums { rails, scratch, keeps: &mut keeps });
        if rails.is_some() {
            trials.note(usize::from(!keeps), 1);
        }
        keeps
    }
}

/// Returns the rails of the innermost level, unless weights prove that it cannot overflow.
fn uncertain_rails<'p, V: Lane>(work: Work<'p, V>) -> Option<&'p Rails<V>> {
    work.plan.levels[0].rails.as_ref().filter(|_| work.certain <= 1)
}

/// Returns the number of pairs of products of an innermost run, if exact sums and bounds are to be tried.
fn tries_sums<V: Lane>(work: Work<'_, V>, trials: &mut Trials) -> Option<usize> {
    let pairs = work.plan.run_pairs.filter(|_| !work.full)?;
    (uncertain_rails(work).is_none() || trials.try_now()).then_some(pairs)
}
