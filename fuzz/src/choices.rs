//! Maps bytes to a series of choices. Equal bytes give equal choices.

/// Bytes that are not used yet. When they run out, every choice is the first one.
#[derive(Debug, Clone)]
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Creates a series of choices from `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Returns any 64-bit number.
    pub(crate) fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Returns a number in `0..end`, or 0 if `end` is 0. Ranges up to 256 take one byte.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        match end {
            0 => 0,
            1..=256 => u64::from(self.byte()) % end,
            _ => self.number() % end,
        }
    }

    /// Returns a number from `low` to `high`, both included. The ends are more likely than other values.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.abs_diff(low);
        let near = |offset: u64| low.wrapping_add_unsigned(offset.min(width));
        match self.below(8) {
            0 => low,
            1 => high,
            2..=4 => near(self.below(9)),
            5 => high.wrapping_sub_unsigned(self.below(9).min(width)),
            _ => near(self.number() % width.saturating_add(1).max(1)),
        }
    }

    /// Returns one element of `of`.
    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    /// Returns true once in `of` times.
    pub(crate) fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == of - 1
    }
}
