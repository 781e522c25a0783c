//! Range with the least Kullback-Leibler divergence, as computed by TensorRT and ONNX Runtime.

use super::Method;
use super::smoothing::divergence;
use crate::{Observed, Range, Target, Uniform};

/// Chooses among all symmetric parts of a histogram. The best part loses least when its bins are merged into
/// as many bins as there are codes.
///
/// For every half width i, p is the part, with the counts outside added to its ends. The bins of the part,
/// without the counts outside, are merged into `quantized` bins of equal width; the last one also takes the
/// remainder. q spreads each merged bin over the nonempty bins of p that it came from (evenly over all of
/// them, in whole counts). The range is the part with the least `KL(p || q)` after smoothing, the first in a
/// tie, limited to the values seen. A part has one bin more above 0 than below.
///
/// Migacz, "8-bit Inference with TensorRT" (GTC 2017, S7310), on both sides of 0 as in ONNX Runtime's
/// `EntropyCalibrater` (1.31).
#[derive(Debug, Clone, Copy)]
pub struct Kl {
    /// Name on the command line.
    pub name: &'static str,
    /// Maximum number of bins on either side of 0.
    pub bins: usize,
}

impl Kl {
    /// ONNX Runtime's 128 bins. With 8 bits, its 128 quantized bins leave only one candidate, the whole
    /// range. With fewer bits there are more.
    pub const USUAL: Self = Self { name: "kl", bins: 64 };
    /// TensorRT's 2048 bins.
    pub const TENSOR_RT: Self = Self { name: "kl-tensorrt", bins: 1024 };

    /// Returns the best part of a histogram for `quantized` bins. The histogram has as many bins below 0 as
    /// above.
    pub fn part(&self, histogram: &Uniform, quantized: usize) -> Range {
        let counts = &histogram.counts;
        let middle = counts.len() / 2;
        let range = |part: &std::ops::Range<usize>| Range {
            low: histogram.edge(part.start),
            high: histogram.edge(part.end),
        };
        let mut best = (f64::INFINITY, range(&(0..counts.len())));
        for half in quantized / 2..=middle {
            let part = middle - half..(middle + half + 1).min(counts.len());
            let edges = range(&part);
            if let Some(found) = part_divergence(counts, part, quantized).filter(|&found| found < best.0) {
                best = (found, edges);
            }
        }
        best.1
    }
}

fn part_divergence(counts: &[u64], part: std::ops::Range<usize>, quantized: usize) -> Option<f64> {
    let inside = &counts[part.clone()];
    let joined = (inside.len() / quantized.max(1)).max(1);
    let mut p: Vec<f64> = inside.iter().map(|&count| count as f64).collect();
    p[0] += counts[..part.start].iter().sum::<u64>() as f64;
    *p.last_mut()? += counts[part.end..].iter().sum::<u64>() as f64;

    let mut q = vec![0.0; p.len()];
    let bins = inside.len().div_ceil(joined).min(quantized.max(1));
    for bin in 0..bins {
        let span = bin * joined..((bin + 1) * joined).min(inside.len());
        let rest = if bin + 1 == bins { &inside[span.end..] } else { &[] };
        let sum: u64 = inside[span.clone()].iter().chain(rest).sum();
        let filled = p[span.clone()].iter().filter(|&&count| count > 0.0).count() as u64;
        if let Some(share) = sum.checked_div(filled) {
            q[span].fill(share as f64);
        }
    }
    divergence(&mut p, &mut q)
}

impl Method for Kl {
    fn name(&self) -> &str {
        self.name
    }

    /// Uses half as many bins as there are codes: 128 for 8 bits, as in both references.
    fn range(&self, observed: &Observed, target: &Target) -> Range {
        let codes = (i64::from(target.codes.max()) - i64::from(target.codes.min()) + 1) as usize;
        let part = self.part(&observed.histogram().two_sided(self.bins), codes.div_ceil(2));
        let (low, high) = observed.extremes();
        Range { low: low.max(part.low), high: high.min(part.high) }
    }
}
