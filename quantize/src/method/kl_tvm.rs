//! Range with the least Kullback-Leibler divergence, as computed by TVM.

use super::smoothing::divergence;
use super::{Method, within};
use crate::{Observed, Range, Target, Uniform};

/// TVM's variant of [`Kl`](super::Kl). It differs as follows: one bin is centred at 0; the bin where the part
/// begins counts as outside of it; q spreads a merged bin over the bins of it that are nonempty inside, and
/// stays 0 where p is empty.
///
/// TVM's `relay.quantize` (`MinimizeKL` in `src/relay/quantize/calibrate.cc`), itself after MXNet: 8001 bins,
/// 255 quantized bins, and 511 for unsigned codes of values that are never negative.
#[derive(Debug, Clone, Copy)]
pub struct KlTvm {
    /// Maximum number of bins on either side of the one around 0.
    pub bins: usize,
}

impl KlTvm {
    /// Approximately the number of bins in TVM.
    pub const USUAL: Self = Self { bins: 4000 };

    /// Returns the threshold of a histogram with an odd number of bins, the middle one centred at 0, for
    /// `quantized` bins.
    pub fn threshold(&self, histogram: &Uniform, quantized: usize) -> f64 {
        let counts = &histogram.counts;
        let middle = counts.len() / 2;
        let mut best = (f64::INFINITY, histogram.edge(counts.len()));
        for half in quantized / 2..=middle {
            let part = middle - half..middle + half + 1;
            let end = histogram.edge(part.end);
            if let Some(found) = part_divergence(counts, part, quantized).filter(|&found| found < best.0) {
                best = (found, end);
            }
        }
        best.1
    }
}

fn part_divergence(counts: &[u64], part: std::ops::Range<usize>, quantized: usize) -> Option<f64> {
    let mut inside: Vec<u64> = counts[part.clone()].to_vec();
    inside[0] = 0;
    let joined = (inside.len() / quantized.max(1)).max(1);
    let mut p: Vec<f64> = inside.iter().map(|&count| count as f64).collect();
    p[0] = counts[..=part.start].iter().sum::<u64>() as f64;
    *p.last_mut()? += counts[part.end..].iter().sum::<u64>() as f64;

    let mut q = vec![0.0; p.len()];
    let bins = inside.len().div_ceil(joined).min(quantized.max(1));
    for bin in 0..bins {
        let end = if bin + 1 == bins { inside.len() } else { (bin + 1) * joined };
        let span = bin * joined..end;
        let filled = inside[span.clone()].iter().filter(|&&count| count > 0).count();
        if filled > 0 {
            let share = inside[span.clone()].iter().sum::<u64>() as f64 / filled as f64;
            for index in span.filter(|&index| p[index] > 0.0) {
                q[index] = share;
            }
        }
    }
    divergence(&mut p, &mut q)
}

impl Method for KlTvm {
    fn name(&self) -> &str {
        "kl-tvm"
    }

    fn range(&self, observed: &Observed, target: &Target) -> Range {
        let (min, max) = target.codes.ends();
        let above = (i64::from(max) - i64::from(min).max(0)).max(0) as usize;
        let one_sided = observed.extremes().0 >= 0.0;
        // Unsigned codes cover the one side of 0 that has values, or both sides.
        let quantized = if min >= 0 && !one_sided { above } else { 2 * above + 1 };
        within(observed, self.threshold(&observed.histogram().centred(self.bins), quantized))
    }
}
