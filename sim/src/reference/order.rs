//! Orders of addition that depend on the products themselves.

use std::cmp::Reverse;
use std::collections::VecDeque;

use guardbit_hwmodels::Walk;

/// Returns `items` in the order of the walk. They are given in the order of the flattened axes; `product`
/// returns their exact products, and `start` is the initial sum.
pub(super) fn arrange<T: Copy>(
    walk: &Walk,
    items: Vec<T>,
    product: impl Fn(&T) -> i128,
    start: i128,
) -> Vec<T> {
    match walk {
        // Lowering has already ordered these.
        Walk::Forward | Walk::Reverse | Walk::Stride(_) | Walk::Random { .. } | Walk::File(_) => items,
        Walk::Sorted => by_key(items, &product),
        Walk::SignPaired => sign_paired(items, &product),
        Walk::Greedy => greedy(items, &product, start),
    }
}

/// Sorts by a key; equal items keep their order.
fn by_key<T, K: Ord>(mut items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    items.sort_by_key(key);
    items
}

/// Alternates positive and negative items by descending magnitude, followed by the rest of the longer list,
/// then zeros.
fn sign_paired<T: Copy>(items: Vec<T>, product: impl Fn(&T) -> i128) -> Vec<T> {
    let sign = |wanted: i128| items.iter().copied().filter(|item| product(item).signum() == wanted).collect();
    let mut positive = by_key(sign(1), |item| Reverse(product(item))).into_iter();
    let mut negative = by_key(sign(-1), &product).into_iter();
    let zeros: Vec<T> = sign(0);
    let mut all = Vec::with_capacity(items.len());
    while all.len() + zeros.len() < items.len() {
        all.extend(positive.next());
        all.extend(negative.next());
    }
    all.extend(zeros);
    all
}

/// Takes the next negative item while the sum is at least 0, otherwise the next other item. If one kind runs
/// out, the rest of the other kind follows.
fn greedy<T: Copy>(items: Vec<T>, product: impl Fn(&T) -> i128, start: i128) -> Vec<T> {
    let (mut negative, mut others): (VecDeque<T>, VecDeque<T>) =
        items.iter().copied().partition(|item| product(item) < 0);
    let mut sum = start;
    let mut all = Vec::with_capacity(items.len());
    for _ in 0..items.len() {
        let (wanted, left) =
            if sum >= 0 { (&mut negative, &mut others) } else { (&mut others, &mut negative) };
        let next = wanted.pop_front().or_else(|| left.pop_front());
        sum += next.as_ref().map_or(0, &product);
        all.extend(next);
    }
    all
}
