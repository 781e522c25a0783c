//! Result of one dot product, in the form that all engines share.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Place};
use guardbit_num::Direction;

use crate::error::Trap;
use crate::event::{Event, EventStage};

/// Computes the dot products of one layer over one input.
pub(crate) trait DotEngine {
    /// Runs the dot product at `out` and overwrites `outcome`.
    fn run(&mut self, out: OutputPosition, outcome: &mut DotOutcome);
}

/// Result of one dot product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DotOutcome {
    /// Sum that the last level delivered, in the unit at the end of the datapath.
    pub delivered: i128,
    /// Difference of `delivered`, shifted back to unit 1, and the exact sum.
    pub error: i128,
    /// Output code.
    pub code: i32,
    /// Output code of the exact sum of the same activations.
    pub exact_code: i32,
    /// Results per level, innermost first.
    pub levels: Vec<LevelOutcome>,
    /// Number of products that did not fit.
    pub product_events: u64,
    /// Number of times that the bias, or the sum with it, did not fit.
    pub bias_events: u64,
    /// The first overflow of a stage that traps.
    pub trap: Option<(EventStage, usize)>,
    /// Every event of every level, in the order in which it happened within its level.
    pub events: Vec<DotEvent>,
    /// Products, and biases or sums with them, that did not fit.
    pub narrowings: Vec<DotEvent>,
}

/// Result of one dot product at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelOutcome {
    /// Number of additions.
    pub adds: u64,
    /// Number of events above the greatest value.
    pub events_high: u64,
    /// Number of events below the least value.
    pub events_low: u64,
    /// Whether the final sum of some run does not fit.
    pub persistent: bool,
    /// Whether some prefix does not fit.
    pub prefix_misfit: bool,
    /// Least of 0 and all unbounded prefixes.
    pub min_prefix: i128,
    /// Greatest of 0 and all unbounded prefixes.
    pub max_prefix: i128,
    /// Least of 0 and all unbounded final sums.
    pub min_final: i128,
    /// Greatest of 0 and all unbounded final sums.
    pub max_final: i128,
}

/// One overflow of one register; the fields are those of [`Event`](crate::Event).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DotEvent {
    pub stage: EventStage,
    pub run: usize,
    pub k: usize,
    pub held: i128,
    pub addend: i128,
    pub stored: i128,
    pub direction: Direction,
}

impl DotOutcome {
    /// Clears the result and prepares it for a datapath of `levels` levels.
    pub fn clear(&mut self, levels: usize) {
        let events = std::mem::take(&mut self.events);
        let narrowings = std::mem::take(&mut self.narrowings);
        let old_levels = std::mem::take(&mut self.levels);
        *self = Self { events, narrowings, levels: old_levels, ..Self::default() };
        self.events.clear();
        self.narrowings.clear();
        self.levels.clear();
        self.levels.resize(levels, LevelOutcome::new());
    }

    /// Returns the first overflow of a stage that traps; `out` is the place of the dot product.
    pub fn trap(&self, layer: &MacLayer, sample: usize, out: OutputPosition) -> Option<Trap> {
        let (stage, k) = self.trap?;
        let cycle = layer.timing.place(out, k, stage.level(layer)).cycle;
        Some(Trap { sample, cycle, out, stage, k })
    }

    /// Notes that a stage which traps has overflowed at product `k`; the first one counts.
    pub fn trap_at(&mut self, stage: EventStage, k: usize) {
        let earlier = self.trap.is_some_and(|(first_stage, first_k)| (first_k, first_stage) <= (k, stage));
        if !earlier {
            self.trap = Some((stage, k));
        }
    }
}

impl DotEvent {
    /// Returns it as an event of the dot product at `out`.
    pub fn at(&self, sample: usize, place: Place, out: OutputPosition, sequence: usize) -> Event {
        let &Self { stage, run, k, held, addend, stored, direction } = self;
        Event { sample, place, out, stage, k, run, held, addend, stored, direction, sequence }
    }
}

impl LevelOutcome {
    pub fn new() -> Self {
        Self {
            adds: 0,
            events_high: 0,
            events_low: 0,
            persistent: false,
            prefix_misfit: false,
            min_prefix: 0,
            max_prefix: 0,
            min_final: 0,
            max_final: 0,
        }
    }

    /// Returns whether any addition overflowed.
    pub fn touched(&self) -> bool {
        self.events_high + self.events_low > 0
    }

    /// Returns whether a prefix, but no final sum, does not fit.
    pub fn transient(&self) -> bool {
        self.prefix_misfit && !self.persistent
    }

    pub fn count(&mut self, direction: Direction) {
        match direction {
            Direction::High => self.events_high += 1,
            Direction::Low => self.events_low += 1,
        }
    }
}
