//! Computes output codes of dot products, exact and simulated, and the errors of the latter.

use std::ops::Range;

use super::super::image::Image;
use super::super::kernels::{Activations, LANES, Vector};
use super::super::simd::VectorActivations;
use super::blocks::Block;
use super::kernel::{Exact, Work};
use super::lane::Lane;
use super::plan::Plan;
use super::scratch::Scratch;
use super::tally::{self, Tally};
use super::{Buffers, Lanes, LevelsLayer, Operands, Spot, Task};
use crate::output;
use crate::stats::DotErrors;

impl LevelsLayer<'_> {
    /// Returns the exact output codes of some pixels of one sample.
    pub fn exact_codes(&self, image: &Image<'_>, pixels: Range<usize>) -> Vec<i32> {
        match &self.lanes {
            Lanes::Bits32(_) => self.exact_codes_on::<i32>(image, pixels),
            Lanes::Bits64(_) => self.exact_codes_on::<i64>(image, pixels),
        }
    }

    fn exact_codes_on<V: Lane>(&self, image: &Image<'_>, pixels: Range<usize>) -> Vec<i32> {
        let channels = self.layer.dots.window.channels();
        let mut codes = vec![0; pixels.len() * channels];
        let mut buffers = Buffers::default();
        for (index, pixel) in pixels.enumerate() {
            for block in &self.blocks {
                let codes = &mut codes[index * channels + block.first..][..block.count];
                let operands = self.operands(block, image, pixel, &mut buffers);
                on_operands!(operands, x => self.exact_codes_at::<_, V>(block, x, codes));
            }
        }
        codes
    }

    fn exact_codes_at<X: VectorActivations, V: Lane>(&self, block: &Block, x: X, codes: &mut [i32]) {
        let mut sums = Vector::<V>::ZERO;
        self.kernels.run(Exact { x, weights: &block.weights, sums: &mut sums });
        for (lane, code) in codes.iter_mut().enumerate() {
            let channel = block.first + lane;
            let exact = output::exact_sum(self.layer, channel, sums[lane].wide().into());
            *code = self.exact_code(channel, exact, x, lane);
        }
    }

    fn exact_code(&self, channel: usize, exact: i128, x: impl Activations, lane: usize) -> i32 {
        match i32::try_from(exact) {
            Ok(exact) => self.finisher.exact_code(channel, exact, x, lane),
            Err(_) => output::exact_code(self.layer, channel, &self.sum(channel, exact, exact, x, lane)),
        }
    }

    /// Returns the input of `output` for lane `lane`, whose output channel is `channel`.
    fn sum(
        &self,
        channel: usize,
        delivered: i128,
        exact: i128,
        x: impl Activations,
        lane: usize,
    ) -> output::Sum {
        let count = self.layer.order.len();
        let activations = (0..count).map(|k| i128::from(x.at(k, lane))).sum();
        output::Sum { delivered, exact, activations, weights: output::weight_sum(self.layer, channel), count }
    }

    /// Returns whether the output codes of block `index` are computed on vectors.
    pub(super) fn ends_on_vectors<V: Lane>(&self, plan: &Plan<V>, index: usize) -> bool {
        V::BITS == 32
            && self.plain_end
            && self.finisher.scales()
            && plan.starts[index].misfit == [false; LANES]
    }

    /// Computes the output codes of one block at one pixel, and their errors.
    pub(super) fn finish_block<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        Spot { pixel, block: index }: Spot,
        tally: &mut Tally<V>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let block = &self.blocks[index];
        let sums = [scratch.delivered(), scratch.unbounded()].map(tally::narrow);
        let mut codes = [[0; LANES]; 2];
        self.finisher.scale(self.kernels, index, &sums, &mut codes);
        let at = (pixel - task.origin) * self.layer.dots.window.channels() + block.first;
        task.simulated[at..][..block.count].copy_from_slice(&codes[0][..block.count]);
        task.exact[at..][..block.count].copy_from_slice(&codes[1][..block.count]);
        if task.options.stats.counts() && sums[0] != sums[1] {
            tally.count_errors(self.kernels, index, sums.each_ref(), codes.each_ref());
        }
    }

    /// Computes the output codes of one dot product, and their errors.
    pub(super) fn finish<V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        x: impl Activations,
        lane: usize,
        Spot { pixel, block }: Spot,
        task: &mut Task<'_, '_, '_>,
    ) {
        let (layer, channel) = (self.layer, self.blocks[block].first + lane);
        let delivered = scratch.delivered()[lane].wide();
        let exact = if work.plan.drops_bits {
            output::exact_sum(layer, channel, scratch.products[lane].wide().into())
        } else {
            scratch.unbounded()[lane].wide().into()
        };
        let plain = i32::try_from(delivered).ok().zip(i32::try_from(exact).ok()).filter(|_| self.plain_end);
        let (code, exact_code, error, misfit) = match plain {
            Some((delivered, exact)) => {
                let (code, misfit) = self.finisher.finish(channel, delivered, exact, x, lane);
                let same = delivered == exact && misfit.is_none();
                let exact_code = if same { code } else { self.finisher.exact_code(channel, exact, x, lane) };
                (code, exact_code, i128::from(delivered) - i128::from(exact), misfit.is_some())
            }
            None => {
                let done =
                    output::finished(layer, channel, &self.sum(channel, delivered.into(), exact, x, lane));
                (done.code, done.exact_code, done.error, done.misfit.is_some())
            }
        };
        let at = (pixel - task.origin) * layer.dots.window.channels() + channel;
        task.simulated[at] = code;
        task.exact[at] = exact_code;
        let bias_events = u64::from(misfit) + u64::from(work.start.misfit[lane]);
        task.biased[lane] = bias_events > 0;
        if (error != 0 || bias_events > 0) && task.options.stats.counts() {
            let harmless = code == exact_code;
            task.stats.record_errors(channel, DotErrors { error, harmless, bias_events });
        }
    }
}
