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
    walk(datapath, products, initial).0
}

/// The range of the last level's final sums alone; arguments as for [`level_sums`], but products need not contain 0.
pub(super) fn final_sum(datapath: &Datapath, products: &[Range], initial: Range) -> Range {
    walk(datapath, products, initial).1
}

/// The ranges of every level's sums, and of the last one's final sums.
fn walk(datapath: &Datapath, products: &[Range], initial: Range) -> (Vec<Range>, Range) {
    let product = datapath.product;
    let mut values: Vec<Range> =
        products.iter().map(|p| p.shift_right(product.shift, product.round)).collect();
    let last = datapath.levels.len().saturating_sub(1);
    let mut sums = Vec::with_capacity(datapath.levels.len());
    let mut delivered = initial;
    for (index, level) in datapath.levels.iter().enumerate() {
        let start = if index == last { initial } else { Range::ZERO };
        let mut all = Range::ZERO.hull(start);
        let run = |run: &[Range]| {
            let sum = run.iter().copied().fold(start, Range::plus);
            all = all.hull(sum);
            delivered = sum;
            sum.shift_right(level.shift, level.round)
        };
        values = values.chunks(level.terms.run_length(values.len())).map(run).collect();
        sums.push(all);
    }
    (sums, delivered)
}
