//! Ranges of the sums of every accumulation level, computed from ranges of products.

use super::Range;
use crate::Datapath;

/// Returns the ranges of the sums of every level, innermost first, over all of its runs and including 0.
///
/// `products` holds the ranges of the products in the order of addition, before the product's shift; each
/// must contain 0. `initial` is the range of the last level's initial value, in its unit: 0 without a
/// preload. Sums have unlimited widths, with the datapath's shifts and roundings. All extremes are attained
/// together, because rounding is monotonic. If every dot product has an order of its own, the ranges are
/// bounds for any order.
pub fn level_sums(datapath: &Datapath, products: &[Range], initial: Range) -> Vec<Range> {
    if datapath.order.walk.depends_on_data() {
        return any_order(datapath, products, initial);
    }
    let mut sums = vec![Range::ZERO; datapath.levels.len()];
    if let Some(last) = sums.last_mut() {
        *last = last.hull(initial);
    }
    walk(datapath, products, initial, |level, sum| sums[level] = sums[level].hull(sum));
    sums
}

/// Returns bounds like [`level_sums`] for any order: a run may contain any of the products.
fn any_order(datapath: &Datapath, products: &[Range], initial: Range) -> Vec<Range> {
    let product = datapath.product;
    let shifted = |p: &Range| p.shift_right(product.shift, product.round).hull(Range::ZERO);
    let shifted: Vec<Range> = products.iter().map(shifted).collect();
    let mut least: Vec<i128> = shifted.iter().map(|p| p.min).collect();
    let mut greatest: Vec<i128> = shifted.iter().map(|p| p.max).collect();
    least.sort_unstable();
    greatest.sort_unstable_by(|a, b| b.cmp(a));

    let last = datapath.levels.len().saturating_sub(1);
    let (mut values, mut span, mut shift) = (products.len(), 1usize, 0);
    // One value of the level below, and the distance by which roundings below can move a sum.
    let mut value = shifted.iter().copied().fold(Range::ZERO, Range::hull);
    let (mut rounded, mut sums) = (0usize, Vec::with_capacity(datapath.levels.len()));
    for (index, level) in datapath.levels.iter().enumerate() {
        let run = level.terms.run_length(values).min(values).max(1);
        span = span.saturating_mul(run).min(products.len());
        rounded = rounded.saturating_mul(run);
        // The most extreme products, as many as the run covers; each rounding is off by less than 1.
        let total = |ends: &[i128]| ends[..span.min(ends.len())].iter().sum::<i128>() >> shift;
        let all = Range::new(total(&least) - rounded as i128, total(&greatest) + rounded as i128);
        let each = value.repeated(run);
        let start = if index == last { initial } else { Range::ZERO };
        let sum = Range::new(all.min.max(each.min), all.max.min(each.max)).plus(start);
        sums.push(sum.hull(start).hull(Range::ZERO));
        value = sum.hull(Range::ZERO).shift_right(level.shift, level.round);
        rounded += usize::from(level.shift > 0);
        shift += level.shift;
        values = values.div_ceil(run);
    }
    sums
}

/// Returns the final sums of every run of one level, in order. Arguments are those of [`level_sums`], but
/// products need not contain 0.
pub(super) fn run_sums(datapath: &Datapath, products: &[Range], initial: Range, wanted: usize) -> Vec<Range> {
    let mut sums = Vec::new();
    walk(datapath, products, initial, |level, sum| {
        if level == wanted {
            sums.push(sum);
        }
    });
    sums
}

/// Returns the number of products that the runs of one level cover: run `r` covers `span` products from
/// `r * span` on, or the remaining ones.
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
