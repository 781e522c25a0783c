//! Computes output codes of dot products, exact and simulated, and the errors of the latter.

use std::ops::Range;

use super::super::blocks::Block;
use super::super::counters::Counters;
use super::super::finish::total;
use super::super::image::Image;
use super::super::kernels::{LANES, Lane, Row, Vector};
use super::super::simd::VectorActivations;
use super::kernel::Exact;
use super::loops::add_up;
use super::plan::Plan;
use super::scratch::Scratch;
use super::special::{Picked, Source};
use super::tally;
use super::work::Work;
use super::{AnyPlan, Buffers, LevelsLayer, Operands, Spot, Task};
use crate::output::{self, Finished};
use crate::stats::DotErrors;

impl LevelsLayer<'_> {
    /// Returns the exact output codes of some pixels of one sample.
    pub fn exact_codes(&self, image: &Image<'_>, pixels: Range<usize>) -> Vec<i32> {
        match &self.plan {
            AnyPlan::Bits32(_) => self.exact_codes_on::<i32>(image, pixels),
            AnyPlan::Bits64(_) => self.exact_codes_on::<i64>(image, pixels),
            AnyPlan::Bits128(_) => self.exact_codes_on::<i128>(image, pixels),
        }
    }

    fn exact_codes_on<V: Lane>(&self, image: &Image<'_>, pixels: Range<usize>) -> Vec<i32> {
        let channels = self.layer.dots.window.channels();
        let mut codes = vec![0; pixels.len() * channels];
        let (mut buffers, mut picked) = (Buffers::default(), Vec::new());
        let forms = self.hold_forms();
        for (index, pixel) in pixels.enumerate() {
            let short = self.pick(pixel, &mut picked);
            for (number, forms) in forms.iter().enumerate() {
                let block = self.blocks.of(number);
                let codes = &mut codes[index * channels + block.first..][..block.count];
                if let Some(source) = self.wide(Spot { pixel, block: number, forms }, image) {
                    self.exact_codes_of::<_, V>(block, Picked { source, indices: &picked }, codes);
                    continue;
                }
                let operands = self.operands(block, image, pixel, &mut buffers);
                let weights = forms.rows(block);
                on_operands!(operands, x => match short {
                    true => self.exact_codes_of::<_, V>(block, Picked::of(x, weights, &picked), codes),
                    false => self.exact_codes_at::<_, V>(block, (x, weights), codes),
                });
            }
        }
        codes
    }

    fn exact_codes_of<S: Source<V>, V: Lane>(&self, block: &Block, products: S, codes: &mut [i32]) {
        let sums: Vector<V> = add_up(products, Vector::ZERO);
        for (lane, code) in codes.iter_mut().enumerate() {
            let channel = block.first + lane;
            let exact = output::exact_sum(self.layer, channel, sums[lane].wide());
            *code =
                output::exact_code(self.layer, channel, &self.sum_of(channel, exact, exact, products, lane));
        }
    }

    fn exact_codes_at<X: VectorActivations, V: Lane>(
        &self,
        block: &Block,
        (x, weights): (X, &[Row]),
        codes: &mut [i32],
    ) {
        let mut sums = Vector::<V>::ZERO;
        self.kernels.run(Exact { x, weights, sums: &mut sums });
        for (lane, code) in codes.iter_mut().enumerate() {
            let channel = block.first + lane;
            let exact = output::exact_sum(self.layer, channel, sums[lane].wide());
            let activations = || total(x, self.layer.order.len(), lane);
            *code = match i32::try_from(exact) {
                Ok(exact) => self.finisher.exact_code(channel, exact, activations),
                Err(_) => {
                    output::exact_code(self.layer, channel, &self.sum(channel, exact, exact, activations()))
                }
            };
        }
    }

    /// Returns the input of `output` for output channel `channel`.
    fn sum(&self, channel: usize, delivered: i128, exact: i128, activations: i64) -> output::Sum {
        let (count, activations) = (self.layer.order.len(), activations.into());
        output::Sum { delivered, exact, activations, weights: output::weight_sum(self.layer, channel), count }
    }

    /// Returns the input of `output` for lane `lane` of `products`, whose output channel is `channel`.
    fn sum_of<S: Source<V>, V: Lane>(
        &self,
        channel: usize,
        delivered: i128,
        exact: i128,
        products: S,
        lane: usize,
    ) -> output::Sum {
        let count = products.count();
        let activations = (0..count).map(|i| i128::from(products.activation(i, lane))).sum();
        output::Sum { delivered, exact, activations, weights: output::weight_sum(self.layer, channel), count }
    }

    /// Returns whether the output codes of block `index` are computed on vectors.
    pub(super) fn ends_on_vectors<V: Lane>(&self, plan: &Plan<V>, index: usize) -> bool {
        V::BITS == 32
            && self.plain_end
            && self.finisher.scales()
            && plan.starts[index].misfit == [false; LANES]
    }

    /// Computes the output codes of one block at one pixel, of dot products of `terms` products, and their errors.
    pub(super) fn finish_block<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        Spot { block: index, .. }: Spot<'_>,
        terms: usize,
        counters: &mut Counters<V>,
        task: &mut Task<'_, '_>,
    ) {
        let sums = [scratch.delivered(), scratch.unbounded()].map(tally::narrow);
        let differ = sums[0] != sums[1];
        let (sums, codes) = match differ {
            true => (&sums[..], &mut task.codes[..]),
            false => (&sums[..1], &mut task.codes[..1]),
        };
        self.finisher.scale_terms(self.kernels, index, terms, sums, codes);
        if !differ {
            task.codes[1] = task.codes[0];
        } else if task.job.options.stats.counts() {
            counters.count_errors(self.kernels, index, [&sums[0], &sums[1]], task.codes.each_ref());
        }
    }

    /// Computes the output codes of one dot product, and their errors.
    pub(super) fn finish<V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        activations: i64,
        lane: usize,
        spot: Spot<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let channel = self.blocks.of(spot.block).first + lane;
        let [delivered, exact] = self.results(work, scratch, channel, lane);
        let plain = i32::try_from(delivered).ok().zip(i32::try_from(exact).ok()).filter(|_| self.plain_end);
        let done = match plain {
            Some((delivered, exact)) => {
                let (code, misfit) = self.finisher.finish(channel, delivered, exact, || activations);
                let same = delivered == exact && misfit.is_none();
                let exact_code =
                    if same { code } else { self.finisher.exact_code(channel, exact, || activations) };
                Finished { code, exact_code, error: i128::from(delivered) - i128::from(exact), misfit }
            }
            None => output::finished(self.layer, channel, &self.sum(channel, delivered, exact, activations)),
        };
        self.note_code(work, &done, lane, spot, task);
    }

    /// Computes the output codes of one dot product of `products` like [`Self::finish`].
    pub(super) fn finish_of<S: Source<V>, V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        products: S,
        lane: usize,
        spot: Spot<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let channel = self.blocks.of(spot.block).first + lane;
        let [delivered, exact] = self.results(work, scratch, channel, lane);
        let sum = self.sum_of(channel, delivered, exact, products, lane);
        self.note_code(work, &output::finished(self.layer, channel, &sum), lane, spot, task);
    }

    /// Returns the delivered sum, and the exact sum at unit 1.
    fn results<V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        channel: usize,
        lane: usize,
    ) -> [i128; 2] {
        let exact = match work.plan.drops_bits {
            true => output::exact_sum(self.layer, channel, scratch.products[lane].wide()),
            false => scratch.unbounded()[lane].wide(),
        };
        [scratch.delivered()[lane].wide(), exact]
    }

    /// Writes the codes of one block at one pixel.
    pub(super) fn put(&self, Spot { pixel, block, .. }: Spot<'_>, task: &mut Task<'_, '_>) {
        let Task { job, codes: [codes, exact_codes], exact, simulated, spare, .. } = task;
        let (block, at) = (self.blocks.of(block), pixel - job.pixels.0);
        self.basis.put(exact, at, block, std::slice::from_ref(exact_codes));
        if simulated.is_none() && codes[..block.count] == exact_codes[..block.count] {
            return;
        }
        let all = simulated.get_or_insert_with(|| {
            let mut all = spare.take(self.output, job.len() * self.channels);
            // Pixels that run together are written block by block.
            all.as_mut().copy_from(exact, 0, job.len() * self.channels);
            all
        });
        self.basis.put(&mut all.as_mut(), at, block, std::slice::from_ref(codes));
    }

    fn note_code<V: Lane>(
        &self,
        work: Work<'_, V>,
        done: &Finished,
        lane: usize,
        Spot { block, .. }: Spot<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let channel = self.blocks.of(block).first + lane;
        (task.codes[0][lane], task.codes[1][lane]) = (done.code, done.exact_code);
        let bias_events = u64::from(done.misfit.is_some()) + u64::from(work.start.misfit[lane]);
        task.biased[lane] = bias_events > 0;
        if (done.error != 0 || bias_events > 0) && task.job.options.stats.counts() {
            let harmless = done.code == done.exact_code;
            task.stats.record_errors(channel, DotErrors { error: done.error, harmless, bias_events });
        }
    }
}
