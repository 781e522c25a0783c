//! Integers of a constant in the narrowest width that fits. Weights take one byte each.

/// Integers of at most 64 bits, stored in the narrowest of 8, 16, 32 and 64 bits that holds them all.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) enum Integers {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl Integers {
    pub fn len(&self) -> usize {
        match self {
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Returns the integer at an index, which must exist.
    pub fn at(&self, index: usize) -> i64 {
        match self {
            Self::I8(values) => values[index].into(),
            Self::I16(values) => values[index].into(),
            Self::I32(values) => values[index].into(),
            Self::I64(values) => values[index],
        }
    }

    /// Returns the integers at the given indices, which must exist.
    pub fn at_all(&self, places: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::I8(values) => Self::I8(places.map(|at| values[at]).collect()),
            wider => places.map(|at| wider.at(at)).collect(),
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> + Clone + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    /// Returns the integers as codes of the graph, which have at most 32 bits.
    pub fn packed(&self) -> guardbit_graph::Integers {
        match self {
            Self::I8(values) => values.iter().copied().collect(),
            wider => wider.iter().map(|value| value as i32).collect(),
        }
    }

    /// Calls `add` with the number of every run of `length` integers, and the sum of the distances of these integers
    /// from `zero` of the run.
    pub fn distances(&self, length: usize, zero: impl Fn(usize) -> i64, add: impl FnMut(usize, u128)) {
        match self {
            Self::I8(values) => distances(values, length, zero, add),
            Self::I16(values) => distances(values, length, zero, add),
            Self::I32(values) => distances(values, length, zero, add),
            Self::I64(values) => distances(values, length, zero, add),
        }
    }

    /// Returns the only integer, if there is exactly one.
    pub fn only(&self) -> Option<i64> {
        (self.len() == 1).then(|| self.at(0))
    }

    fn push(&mut self, value: i64) {
        match self {
            Self::I8(values) => match value.try_into() {
                Ok(value) => return values.push(value),
                Err(_) => *self = Self::I16(widened(values)),
            },
            Self::I16(values) => match value.try_into() {
                Ok(value) => return values.push(value),
                Err(_) => *self = Self::I32(widened(values)),
            },
            Self::I32(values) => match value.try_into() {
                Ok(value) => return values.push(value),
                Err(_) => *self = Self::I64(widened(values)),
            },
            Self::I64(values) => return values.push(value),
        }
        self.push(value);
    }
}

fn distances<T: Copy + Into<i64>>(
    values: &[T],
    length: usize,
    zero: impl Fn(usize) -> i64,
    mut add: impl FnMut(usize, u128),
) {
    for (index, run) in values.chunks(length.max(1)).enumerate() {
        let zero = zero(index);
        add(index, run.iter().map(|&value| u128::from(value.into().abs_diff(zero))).sum());
    }
}

/// Converts integers to a wider type and keeps the capacity.
fn widened<Narrow: Copy + Into<Wide>, Wide>(values: &Vec<Narrow>) -> Vec<Wide> {
    let mut wide = Vec::with_capacity(values.capacity());
    wide.extend(values.iter().map(|&value| value.into()));
    wide
}

impl FromIterator<i64> for Integers {
    fn from_iter<Values: IntoIterator<Item = i64>>(values: Values) -> Self {
        let mut values = values.into_iter();
        // Most constants are weights of one byte, which need no look at the width of each.
        let mut bytes: Vec<i8> = Vec::with_capacity(values.size_hint().0);
        let wider = values.by_ref().find(|&value| {
            let byte = i8::try_from(value);
            bytes.extend(byte);
            byte.is_err()
        });
        let mut made = Self::I8(bytes);
        wider.into_iter().chain(values).for_each(|value| made.push(value));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::Integers;

    #[test]
    fn integers_take_the_least_width_and_keep_their_values() {
        let ends = [
            i8::MIN.into(),
            i8::MAX.into(),
            128,
            i16::MIN.into(),
            1 << 15,
            i32::MAX.into(),
            1 << 31,
            i64::MIN,
        ];
        for count in 0..=ends.len() {
            let made: Integers = ends[..count].iter().copied().collect();
            assert!(made.iter().eq(ends[..count].iter().copied()));
            let width = match made {
                Integers::I8(_) => 1,
                Integers::I16(_) => 2,
                Integers::I32(_) => 4,
                Integers::I64(_) => 8,
            };
            assert_eq!(width, [1, 1, 1, 2, 2, 4, 4, 8, 8][count], "{count}");
        }
    }
}
