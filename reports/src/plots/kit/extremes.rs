//! Selects the worst and the best items of a list that is too long for a plot.

use super::figure::Content;
use crate::numbers::grouped;

/// Shown items of a list, in the order of the list, with the length of the list.
#[derive(Debug, Clone)]
pub struct Extremes<T> {
    /// Shown items.
    pub shown: Vec<T>,
    /// Length of the whole list.
    pub all: usize,
}

impl<T> Extremes<T> {
    /// Selects all of `items`, or, if there are more than `most`, the worst and the best by `badness`. Of
    /// equally bad items the first ones are selected.
    pub fn of(items: Vec<T>, most: usize, badness: impl Fn(&T) -> f64) -> Self {
        let all = items.len();
        if all <= most {
            return Self { shown: items, all };
        }
        let bad: Vec<f64> = items.iter().map(badness).collect();
        let mut order: Vec<usize> = (0..all).collect();
        order.sort_by(|&a, &b| bad[b].total_cmp(&bad[a]));
        let worst = most.div_ceil(2);
        let mut kept = vec![false; all];
        order[..worst].iter().chain(&order[all - (most - worst)..]).for_each(|&at| kept[at] = true);
        let shown = items.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(item, _)| item);
        Self { shown: shown.collect(), all }
    }

    /// Returns a sentence on the items that are left out, if any. `what` names the items, `by` names the
    /// quantity that ranks them.
    pub fn left_out(&self, what: &str, by: &str) -> Option<String> {
        let shown = self.shown.len();
        (shown < self.all).then(|| {
            let (worst, all) = (shown.div_ceil(2), grouped(self.all as u64));
            format!(
                "{shown} of {all} {what} are shown: the {worst} worst and the {} best by {by}.",
                shown - worst
            )
        })
    }

    /// Returns the sentence of [`left_out`](Self::left_out) as a block of a figure.
    pub fn note(&self, what: &str, by: &str) -> Option<Content<'static>> {
        self.left_out(what, by).map(Content::note)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(400)))]

        /// No omitted item is worse than any of the worse half of the shown items, or better than any of the
        /// better half.
        #[test]
        fn what_is_left_out_lies_between(items in prop::collection::vec(0u8..50, 0..60), most in 1usize..20) {
            let extremes = Extremes::of(items.iter().copied().enumerate().collect(), most, |(_, bad)| f64::from(*bad));
            prop_assert_eq!(extremes.shown.len(), items.len().min(most));
            prop_assert!(extremes.shown.windows(2).all(|pair| pair[0].0 < pair[1].0), "in their own order");
            prop_assert_eq!(extremes.left_out("", "").is_some(), items.len() > most);
            let mut bad: Vec<u8> = extremes.shown.iter().map(|(_, bad)| *bad).collect();
            bad.sort_unstable();
            let places: Vec<usize> = extremes.shown.iter().map(|(at, _)| *at).collect();
            for (at, left) in items.iter().enumerate().filter(|(at, _)| !places.contains(at)) {
                let best = most - most.div_ceil(2);
                prop_assert!(best == 0 || bad[best - 1] <= *left, "{}", at);
                prop_assert!(bad[best] >= *left, "{}", at);
            }
        }
    }
}
