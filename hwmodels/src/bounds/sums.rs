//! From ranges of products to ranges of the sums of every accumulation level.

use super::Range;
use crate::Datapath;

/// The ranges of the sums of every level, innermost first, over all of its runs and joined with 0.
///
/// `products` are the ranges of the products in the order of addition, before the product's shift; each has to
/// contain 0. `initial` is what the last level can start from, in its unit: 0 without a
/// preload. Sums are those of unlimited widths with
/// the datapath's shifts and roundings; their extremes are all attained together, since rounding keeps order.
pub fn level_sums(datapath: &Datapath, products: &[Range], initial: Range) -> Vec<Range> {
    let mut sums = vec![Range::ZERO; datapath.levels.len()];
    if let Some(last) = sums.last_mut() {
        *last = last.hull(initial);
    }
    walk(datapath, products, initial, |level, sum| sums[level] = sums[level].hull(sum));
    sums
}

/// The final sums of every run of one level, in order; arguments as for [`level_sums`], but products need not contain 0.
pub(super) fn run_sums(datapath: &Datapath, products: &[Range], initial: Range, wanted: usize) -> Vec<Range> {
    let mut sums = Vec::new();
    walk(datapath, products, initial, |level, sum| {
        if level == wanted {
            sums.push(sum);
        }
    });
    sums
}

/// Which of `terms` products the runs of one level cover: run `r` those from `r * span` on, `span` of them or what is left.
pub(super) fn run_span(datapath: &Datapath, terms: usize, wanted: usize) -> usize {
    let (mut values, mut span) = (terms, 1usize);
    for level in datapath.levels.iter().take(wanted + 1) {
        let run = level.terms.run_length(values).max(1);
        span = span.saturating_mul(run);
        values = values.div_ceil(run);
    }
    span
}

/// Calls `each` with every level and the final sum of each of its runs.
fn walk(datapath: &Datapath, products: &[Range], initial: Range, mut each: impl FnMut(usize, Range)) {
    let product = datapath.product;
    let mut values: Vec<Range> =
        products.iter().map(|p| p.shift_right(product.shift, product.round)).collect();
    let last = datapath.levels.len().saturating_sub(1);
    for (index, level) in datapath.levels.iter().enumerate() {
        let start = if index == last { initial } else { Range::ZERO };
        let run = |run: &[Range]| {
            let sum = run.iter().copied().fold(start, Range::plus);
            each(index, sum);
            sum.shift_right(level.shift, level.round)
        };
        values = values.chunks(level.terms.run_length(values.len())).map(run).collect();
    }
}
