//! Weight operands of a layer.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Weak};

use guardbit_graph::{IntegerList, IntegerSlice, Integers};

/// Weight operands of the multiplier, `[out channel][k]` in the order of addition, on the fewest bytes that hold all of
/// them. Clones share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights(Arc<Rows>);

/// Weights that another program may still hold.
#[derive(Debug, Clone)]
pub(crate) struct WeakWeights(Weak<Rows>);

/// Rows of one length, one after another.
#[derive(Debug, PartialEq, Eq)]
struct Rows {
    channels: usize,
    terms: usize,
    values: Integers,
}

impl Weights {
    /// Returns weights of activations, which are not known: none.
    pub fn none() -> Self {
        Self::new(0, 0, |_, _| 0)
    }

    /// Returns `terms` operands for each of `channels` output channels: `operand(channel, k)`.
    pub fn new(channels: usize, terms: usize, operand: impl Fn(usize, usize) -> i32) -> Self {
        let mut values = IntegerList::with_capacity(channels * terms);
        let mut row = Vec::with_capacity(terms);
        for channel in 0..channels {
            row.clear();
            row.extend((0..terms).map(|k| operand(channel, k)));
            values.extend(&row);
        }
        Self::of_rows(channels, terms, values.into())
    }

    /// Returns weights whose operands are `values`, row by row. They share its memory.
    pub(crate) fn of_rows(channels: usize, terms: usize, values: Integers) -> Self {
        Self(Arc::new(Rows { channels, terms, values }))
    }

    /// Returns whether the weights are activations.
    pub fn is_empty(&self) -> bool {
        self.channels() == 0
    }

    /// Returns the number of output channels, 0 if the weights are activations.
    pub fn channels(&self) -> usize {
        self.0.channels
    }

    /// Returns operand `k` of output channel `channel`.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, channel: usize, k: usize) -> i32 {
        self.slice(channel..channel + 1).at(k)
    }

    /// Returns the operands of output channel `channel`.
    ///
    /// # Panics
    /// If there is no such channel.
    pub fn channel(&self, channel: usize) -> Cow<'_, [i32]> {
        self.slice(channel..channel + 1).to_words()
    }

    /// Returns the operands of consecutive output channels as they are stored.
    ///
    /// # Panics
    /// If there are no such channels.
    pub fn slice(&self, channels: Range<usize>) -> IntegerSlice<'_> {
        let terms = self.0.terms;
        self.0.values.slice(channels.start * terms..channels.end * terms)
    }

    /// Returns all operands, row by row.
    pub fn values(&self) -> &Integers {
        &self.0.values
    }

    /// Returns the operands of output channel `channel`, `None` if the weights are activations.
    pub fn get(&self, channel: usize) -> Option<Cow<'_, [i32]>> {
        (!self.is_empty()).then(|| self.channel(channel))
    }

    /// Returns whether both are clones of the same weights.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the least and the greatest operand, `None` if there is none.
    pub fn range(&self) -> Option<(i32, i32)> {
        self.0.values.range()
    }

    pub(crate) fn downgrade(&self) -> WeakWeights {
        WeakWeights(Arc::downgrade(&self.0))
    }
}

impl WeakWeights {
    pub(crate) fn upgrade(&self) -> Option<Weights> {
        self.0.upgrade().map(Weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands come back as they were, row by row.
    #[test]
    fn operands_come_back() {
        let all: [&[i32]; 5] = [
            &[-128, 127, 0, 1],
            &[-129, 127, 0, 1],
            &[128, 3, 0, 1],
            &[i16::MAX as i32, i16::MIN as i32, 0, 0],
            &[32768, i32::MIN, i32::MAX, 0],
        ];
        for operands in all {
            let weights = Weights::new(2, 2, |c, k| operands[2 * c + k]);
            let rows: Vec<i32> = (0..2).flat_map(|c| weights.channel(c).into_owned()).collect();
            assert_eq!(rows, operands);
            assert!((0..4).all(|at| weights.at(at / 2, at % 2) == operands[at]));
            let range = (*operands.iter().min().unwrap(), *operands.iter().max().unwrap());
            assert_eq!(weights.range(), Some(range));
        }
        assert!(Weights::none().is_empty() && Weights::none().range().is_none());
        // Pools of a window without cells have channels, but no operands.
        assert_eq!(Weights::new(3, 0, |_, _| 1).channel(2).len(), 0);
    }
}
