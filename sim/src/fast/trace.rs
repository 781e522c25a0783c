//! The events of one dot product, found again one addition at a time.

use guardbit_num::{Accumulator, Direction};

use super::prepare::Narrow;
use crate::dot::DotEvent;

/// Steps a register from `start` through `products`; notes the first `limit` events.
pub(super) fn steps(
    narrow: Narrow,
    start: i64,
    products: impl Iterator<Item = i64>,
    limit: usize,
    events: &mut Vec<DotEvent>,
) {
    let (mut register, _) = Accumulator::preloaded(narrow.format, narrow.overflow, start.into());
    for (k, product) in products.enumerate() {
        let held = register.value();
        if let Some(direction) = register.add(product.into()) {
            events.push(event(k, held, product.into(), direction));
            if events.len() == limit {
                return;
            }
        }
    }
}

/// The event of a level that is fitted once, after `steps` additions.
pub(super) fn hand_over(narrow: Narrow, sum: i64, steps: usize, events: &mut Vec<DotEvent>) {
    if let Some(direction) = narrow.overflow.fit(sum.into(), narrow.format).overflow {
        events.push(event(steps.saturating_sub(1), sum.into(), 0, direction));
    }
}

fn event(k: usize, held: i128, addend: i128, direction: Direction) -> DotEvent {
    DotEvent { level: 0, run: 0, k, held, addend, direction }
}
