//! Weight operands of a layer.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Weak};

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
    values: Values,
}

#[derive(Debug, PartialEq, Eq)]
enum Values {
    I8(Box<[i8]>),
    I16(Box<[i16]>),
    I32(Box<[i32]>),
}

/// Operands of consecutive output channels, one channel after another.
#[derive(Debug, Clone, Copy)]
pub enum WeightSlice<'a> {
    /// On one byte each.
    I8(&'a [i8]),
    /// On two bytes each.
    I16(&'a [i16]),
    /// On four bytes each.
    I32(&'a [i32]),
}

impl Weights {
    /// Returns weights of activations, which are not known: none.
    pub fn none() -> Self {
        Self::new(0, 0, |_, _| 0)
    }

    /// Returns `terms` operands for each of `channels` output channels: `operand(channel, k)`.
    pub fn new(channels: usize, terms: usize, operand: impl Fn(usize, usize) -> i32) -> Self {
        // One byte holds the weights of most layers; those of others are computed again.
        let values = None
            .or_else(|| narrowed(channels, terms, &operand, |w| w as i8).map(Values::I8))
            .or_else(|| narrowed(channels, terms, &operand, |w| w as i16).map(Values::I16))
            .or_else(|| narrowed(channels, terms, &operand, |w| w).map(Values::I32))
            .expect("32 bits hold every operand");
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
        match self.slice(channel..channel + 1) {
            WeightSlice::I8(values) => values[k].into(),
            WeightSlice::I16(values) => values[k].into(),
            WeightSlice::I32(values) => values[k],
        }
    }

    /// Returns the operands of output channel `channel`.
    ///
    /// # Panics
    /// If there is no such channel.
    pub fn channel(&self, channel: usize) -> Cow<'_, [i32]> {
        match self.slice(channel..channel + 1) {
            WeightSlice::I8(values) => values.iter().map(|&w| w.into()).collect(),
            WeightSlice::I16(values) => values.iter().map(|&w| w.into()).collect(),
            WeightSlice::I32(values) => Cow::Borrowed(values),
        }
    }

    /// Returns the operands of consecutive output channels as they are stored.
    ///
    /// # Panics
    /// If there are no such channels.
    pub fn slice(&self, channels: Range<usize>) -> WeightSlice<'_> {
        let terms = self.0.terms;
        let range = channels.start * terms..channels.end * terms;
        match &self.0.values {
            Values::I8(values) => WeightSlice::I8(&values[range]),
            Values::I16(values) => WeightSlice::I16(&values[range]),
            Values::I32(values) => WeightSlice::I32(&values[range]),
        }
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
        fn of<T: Copy + Ord + Into<i32>>(values: &[T]) -> Option<(i32, i32)> {
            let least = values.iter().copied().min()?;
            let greatest = values.iter().copied().max()?;
            Some((least.into(), greatest.into()))
        }
        match self.slice(0..self.channels()) {
            WeightSlice::I8(values) => of(values),
            WeightSlice::I16(values) => of(values),
            WeightSlice::I32(values) => of(values),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakWeights {
        WeakWeights(Arc::downgrade(&self.0))
    }
}

/// Returns the operands as `T`, `None` if it does not hold all.
fn narrowed<T: Copy + Into<i32>>(
    channels: usize,
    terms: usize,
    operand: impl Fn(usize, usize) -> i32,
    narrow: impl Fn(i32) -> T,
) -> Option<Box<[T]>> {
    let mut values = Vec::with_capacity(channels * terms);
    let mut row = Vec::with_capacity(terms);
    for channel in 0..channels {
        row.clear();
        row.extend((0..terms).map(|k| operand(channel, k)));
        // Without a branch per operand.
        if row.iter().fold(false, |is_lost, &w| is_lost | (narrow(w).into() != w)) {
            return None;
        }
        values.extend(row.iter().map(|&w| narrow(w)));
    }
    Some(values.into())
}

impl WeakWeights {
    pub(crate) fn upgrade(&self) -> Option<Weights> {
        self.0.upgrade().map(Weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operands come back as they were, on as few bytes as hold them.
    #[test]
    fn operands_come_back() {
        let all: [(&[i32], usize); 5] = [
            (&[-128, 127, 0, 1], 1),
            (&[-129, 127, 0, 1], 2),
            (&[128, 3, 0, 1], 2),
            (&[i16::MAX.into(), i16::MIN.into(), 0, 0], 2),
            (&[32768, i32::MIN, i32::MAX, 0], 4),
        ];
        for (operands, bytes) in all {
            let weights = Weights::new(2, 2, |c, k| operands[2 * c + k]);
            let size = match &weights.0.values {
                Values::I8(_) => 1,
                Values::I16(_) => 2,
                Values::I32(_) => 4,
            };
            assert_eq!(size, bytes, "{operands:?}");
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
