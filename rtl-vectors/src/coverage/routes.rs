//! Where unbounded sums of a run can end, and where they can have been before, by bounds of the sums.

use std::collections::{BTreeMap, BTreeSet};

use guardbit_hwmodels::bounds::Range;

use super::side::Side;
use crate::reach::{Values, left};

/// Side of the latest sum, and whether any sum was beyond the upper and the lower rail.
pub(super) type Route = (Side, [bool; 2]);

/// Bounds of the latest sum, per route that led to it. Without a sum there is no side.
type Ends = BTreeMap<(Option<Side>, [bool; 2]), Range>;

/// Returns the routes that bounds of the sums allow, of a register that starts in `start` and adds one of the lists of
/// values, or the first ones of a list.
pub(super) fn serial(lists: &[Values], start: Range, rails: Range) -> BTreeSet<Route> {
    let mut all = BTreeSet::new();
    for values in lists {
        let mut ends = Ends::from([((None, [false; 2]), start)]);
        for value in values.ranges() {
            let mut next = Ends::new();
            for ((_, seen), sum) in ends {
                insert(&mut next, sum.plus(value), seen, rails);
            }
            ends = next;
            all.extend(ends.keys().filter_map(|&(side, seen)| Some((side?, seen))));
            if all.len() == ROUTES {
                return all;
            }
        }
    }
    all
}

/// Number of routes: a final sum is a prefix too.
const ROUTES: usize = 8;

/// Returns the routes that bounds of the nodes allow, of a tree over up to `values` values in `value`. The last node is the
/// root.
pub(super) fn tree(value: Range, values: usize, rails: Range) -> BTreeSet<Route> {
    let mut nodes = vec![Ends::from([((None, [false; 2]), value)])];
    let mut all = BTreeSet::new();
    for count in 2..=values {
        let mut ends = Ends::new();
        for ((_, a), left_sum) in &nodes[left(count) - 1] {
            for ((_, b), right_sum) in &nodes[count - left(count) - 1] {
                insert(&mut ends, left_sum.plus(*right_sum), [a[0] || b[0], a[1] || b[1]], rails);
            }
        }
        all.extend(ends.keys().filter_map(|&(side, seen)| Some((side?, seen))));
        if all.len() == ROUTES {
            break;
        }
        nodes.push(ends);
    }
    all
}

/// Adds a sum, divided by the sides at which it can be.
fn insert(ends: &mut Ends, sum: Range, seen: [bool; 2], rails: Range) {
    for side in Side::ALL {
        let part = match side {
            Side::In => Range { min: sum.min.max(rails.min), max: sum.max.min(rails.max) },
            Side::High => Range { min: sum.min.max(rails.max + 1), ..sum },
            Side::Low => Range { max: sum.max.min(rails.min - 1), ..sum },
        };
        if part.min <= part.max {
            let seen = [seen[0] || side == Side::High, seen[1] || side == Side::Low];
            ends.entry((Some(side), seen)).and_modify(|known| *known = known.hull(part)).or_insert(part);
        }
    }
}
