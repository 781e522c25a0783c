//! One register with its adder.

use crate::{Direction, Fit, Format, Overflow};

/// An accumulator register: what it holds, and whether a sticky one is stuck at a rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accumulator {
    format: Format,
    overflow: Overflow,
    value: i128,
    stuck: bool,
}

impl Accumulator {
    /// A cleared register.
    pub fn new(format: Format, overflow: Overflow) -> Self {
        Self { format, overflow, value: 0, stuck: false }
    }

    /// A register loaded with `initial`, and the rail that `initial` crosses if it does not fit.
    pub fn preloaded(format: Format, overflow: Overflow, initial: i128) -> (Self, Option<Direction>) {
        let mut register = Self::new(format, overflow);
        let direction = register.write(initial);
        (register, direction)
    }

    /// One clock: adds `addend`. Says which rail the exact sum crossed, if any.
    ///
    /// A sticky register that is stuck ignores the addend and reports nothing.
    pub fn add(&mut self, addend: i128) -> Option<Direction> {
        if self.stuck {
            return None;
        }
        self.write(self.value + addend)
    }

    /// What the register holds.
    pub fn value(&self) -> i128 {
        self.value
    }

    fn write(&mut self, exact: i128) -> Option<Direction> {
        let Fit { value, overflow } = self.overflow.fit(exact, self.format);
        self.value = value;
        self.stuck = overflow.is_some() && self.overflow.latches();
        overflow
    }
}
