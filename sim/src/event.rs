//! Overflow events.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Place};
use guardbit_num::Direction;

/// A register of the datapath that can overflow, in the order of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventStage {
    /// The product register.
    Product,
    /// An accumulation level, by index.
    Level(usize),
    /// The bias: its adder, or the register that is preloaded with it.
    Bias,
}

impl EventStage {
    /// Returns the name used in files: that of the level, `product` or `bias`, which no level can have.
    pub fn name(self, layer: &MacLayer) -> &str {
        match self {
            Self::Product => "product",
            Self::Level(level) => &layer.datapath.levels[level].name,
            Self::Bias => "bias",
        }
    }

    /// Returns the level whose place in the array tells when it happened.
    pub(crate) fn level(self, layer: &MacLayer) -> usize {
        match self {
            Self::Product => 0,
            Self::Level(level) => level,
            Self::Bias => layer.datapath.levels.len() - 1,
        }
    }
}

/// One addition, or one narrowing, whose exact result did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Index of the sample.
    pub sample: usize,
    /// Time and place in the array.
    pub place: Place,
    /// Position of the output element.
    pub out: OutputPosition,
    /// The register.
    pub stage: EventStage,
    /// Index of the last product, in the order of addition, that the sum contains; 0 for a preloaded bias.
    pub k: usize,
    /// Index of the run within the dot product; for a product, the run of the innermost level.
    pub run: usize,
    /// Value of the accumulator before the event (the exact sum if overflow is checked at the hand-over). For the
    /// bias adder, the sum that the last level delivered; 0 for a product, and for a bias that is fitted alone.
    pub held: i128,
    /// Added value (0 at a hand-over): a product, or the bias with its side sums.
    pub addend: i128,
    /// Value that the register holds after the event by its overflow mode, before any shift.
    pub stored: i128,
    /// Rail that was crossed.
    pub direction: Direction,
    /// Position among the events of the levels in its dot product: nodes of one tree can share all of the above. 0 for
    /// products and biases.
    pub sequence: usize,
}

impl Event {
    /// Returns the exact result: `held + addend`.
    pub fn exact(&self) -> i128 {
        self.held + self.addend
    }

    /// Returns the order in which events are listed: sample, cycle, output, register, k.
    pub fn order(&self) -> Order {
        (self.sample, self.place.cycle, self.out, self.stage, self.k, self.sequence)
    }
}

/// First events of a layer, in the order of [`Event::order`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FirstEvents {
    limit: usize,
    events: Vec<Event>,
    /// Greatest sample index among `events`.
    last_sample: usize,
    /// Last of the first events, once there are `limit` of them: later events are not listed.
    last: Option<Order>,
}

/// See [`Event::order`].
type Order = (usize, u64, OutputPosition, EventStage, usize, usize);

impl FirstEvents {
    pub fn new(limit: usize) -> Self {
        Self { limit, events: Vec::new(), last_sample: 0, last: None }
    }

    /// Returns an empty list for events of samples from `first` on. Its limit is 0 if none of them could be
    /// listed.
    pub fn empty_part(&self, first: usize) -> Self {
        Self::new(if self.wants(first) { self.limit } else { 0 })
    }

    /// Returns whether an event of `sample` could still be among the first ones.
    pub fn wants(&self, sample: usize) -> bool {
        self.limit > 0 && (self.events.len() < self.limit || sample <= self.last_sample)
    }

    /// Returns the cycle from which on no event of `sample` can be listed; `None` if there is none yet.
    pub fn before(&self, sample: usize) -> Option<u64> {
        self.last.filter(|last| last.0 == sample).map(|last| last.1 + 1)
    }

    pub fn push(&mut self, event: Event) {
        if self.last.is_some_and(|last| event.order() > last) {
            return;
        }
        self.last_sample = self.last_sample.max(event.sample);
        self.events.push(event);
        if self.events.len() >= self.limit.saturating_mul(4).saturating_add(64) {
            self.shrink();
        }
    }

    pub fn merge(&mut self, other: Self) {
        if other.events.is_empty() {
            return;
        }
        self.events.extend(other.events);
        self.shrink();
    }

    /// Frees the memory of events that are not among the first ones.
    pub fn compact(&mut self) {
        if self.events.len() > self.limit {
            self.shrink();
        }
        self.events.shrink_to(self.limit);
    }

    pub fn into_sorted(mut self) -> Vec<Event> {
        self.shrink();
        self.events
    }

    fn shrink(&mut self) {
        self.events.sort_unstable_by_key(Event::order);
        self.events.truncate(self.limit);
        self.last = self.events.last().filter(|_| self.events.len() == self.limit).map(Event::order);
        self.last_sample = self.events.iter().map(|e| e.sample).max().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory for later events is freed, and the first ones stay, whenever that happens.
    #[test]
    fn compact_lists_hold_the_same_events() {
        let event = |cycle: u64| {
            let out = OutputPosition { n: 0, h: 0, w: 0, c: 0 };
            let (stage, direction) = (EventStage::Product, Direction::High);
            let place = Place { cycle, row: 0, col: 0 };
            let (sample, k, run, sequence, held, addend, stored) = (0, 0, 0, 0, 0, 0, 0);
            Event { sample, place, out, stage, k, run, held, addend, stored, direction, sequence }
        };
        let cycles = |list: FirstEvents| -> Vec<u64> {
            list.into_sorted().iter().map(|event| event.place.cycle).collect()
        };
        for count in [0, 3, 10, 11, 60, 200] {
            let (mut whole, mut compact) = (FirstEvents::new(10), FirstEvents::new(10));
            for at in 0..count {
                let cycle = at * 83 % 211;
                whole.push(event(cycle));
                compact.push(event(cycle));
                if at % 7 == 0 {
                    compact.compact();
                    assert!(compact.events.len() <= 10 && compact.events.capacity() <= 10);
                }
            }
            assert_eq!(cycles(compact), cycles(whole), "{count}");
        }
    }
}
