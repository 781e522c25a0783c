//! One accumulator register with its adder.

use crate::{Direction, Fit, Format, Overflow};

/// An accumulator register: its value, and whether a sticky register is stuck at a rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accumulator {
    format: Format,
    overflow: Overflow,
    value: i128,
    stuck: bool,
}

impl Accumulator {
    /// Creates a register that holds 0.
    pub fn new(format: Format, overflow: Overflow) -> Self {
        Self { format, overflow, value: 0, stuck: false }
    }

    /// Returns a register loaded with `initial`, and the rail that `initial` crosses if it does not fit.
    pub fn preloaded(format: Format, overflow: Overflow, initial: i128) -> (Self, Option<Direction>) {
        let mut register = Self::new(format, overflow);
        let direction = register.write(initial);
        (register, direction)
    }

    /// Adds `addend` in one clock cycle. Returns the rail that the exact sum crossed, if any.
    ///
    /// A sticky register that is stuck ignores the addend and returns `None`.
    pub fn add(&mut self, addend: i128) -> Option<Direction> {
        if self.stuck {
            return None;
        }
        self.write(self.value + addend)
    }

    /// Returns the value of the register.
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
