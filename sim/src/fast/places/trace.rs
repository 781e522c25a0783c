//! Recomputes the events of one dot product, one addition at a time.

use guardbit_num::Direction;

use super::super::prepare::Narrow;
use crate::dot::DotEvent;
use crate::event::EventStage;

/// Steps a register from `start`, which fits, through `products`, and records the first `limit` events.
pub(crate) fn steps(
    narrow: &Narrow,
    start: i64,
    products: impl Iterator<Item = i64>,
    limit: usize,
    events: &mut Vec<DotEvent>,
) {
    let (low, high) = (i64::from(narrow.rails.low), i64::from(narrow.rails.high));
    let mut held = start;
    for (k, product) in products.enumerate() {
        let sum = held + product;
        if (low..=high).contains(&sum) {
            held = sum;
            continue;
        }
        let direction = if sum > high { Direction::High } else { Direction::Low };
        let stored = narrow.overflow.fit(sum.into(), narrow.format).value;
        events.push(event(k, (held.into(), product.into()), stored, direction));
        if events.len() == limit || narrow.overflow.latches() {
            return;
        }
        held = stored as i64;
    }
}

/// Records the event of a level that is fitted once, after `steps` additions.
pub(crate) fn hand_over(narrow: &Narrow, sum: i64, steps: usize, events: &mut Vec<DotEvent>) {
    let fit = narrow.overflow.fit(sum.into(), narrow.format);
    if let Some(direction) = fit.overflow {
        events.push(event(steps.saturating_sub(1), (sum.into(), 0), fit.value, direction));
    }
}

fn event(k: usize, (held, addend): (i128, i128), stored: i128, direction: Direction) -> DotEvent {
    DotEvent { stage: EventStage::Level(0), run: 0, k, held, addend, stored, direction }
}
