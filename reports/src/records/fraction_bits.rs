//! Dot products of floating-point layers by the fraction bits that they require.

use crate::tables::{AlignedBitsRow, AlignedRow};
use crate::{RunRecord, layer_label};

/// Dot products of one floating-point layer by the fraction bits that they require.
pub(crate) struct FractionBits<'a> {
    /// Figures of the layer.
    pub layer: &'a AlignedRow,
    counts: Vec<&'a AlignedBitsRow>,
}

/// Counts the dot products of a row, if it has them.
type Count = fn(&AlignedBitsRow) -> Option<u64>;

/// What fraction bits may have to be enough for, and the dot products of a row.
pub(crate) type Aim = (&'static str, Count);

impl<'a> FractionBits<'a> {
    /// What fraction bits may have to be enough for.
    pub const AIMS: [Aim; 3] = [
        ("the result of 40 bits", |row| Some(row.result)),
        ("the exact sum in float32", |row| Some(row.float32)),
        ("no cut term", |row| row.exact),
    ];

    /// Returns the layers of a run whose required bits were counted, in order of execution.
    pub fn all(run: &'a RunRecord) -> Vec<Self> {
        let of = |index: usize| run.aligned_bits.iter().filter(move |bits| bits.index == index);
        let layers = run.aligned.iter().map(|layer| Self { layer, counts: of(layer.index).collect() });
        layers.filter(|layer| !layer.counts.is_empty()).collect()
    }

    /// Returns the name of the layer in plots.
    pub fn label(&self) -> String {
        layer_label(self.layer.index, &self.layer.name)
    }

    /// Returns the least and the greatest number of fraction bits that a layer requires or has.
    pub fn range(layers: &[Self]) -> (u32, u32) {
        let required = layers.iter().flat_map(|layer| &layer.counts).filter_map(|row| row.fraction_bits);
        let all = || required.clone().chain(layers.iter().map(|layer| layer.layer.fraction_bits));
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }

    /// Returns the numbers of dot products that require each number of bits of a range; 0 where they were not counted.
    pub fn histogram(&self, (low, high): (u32, u32), count: Count) -> Vec<u64> {
        let of =
            |bits| self.counts.iter().find(|row| row.fraction_bits == Some(bits)).and_then(|row| count(row));
        (low..=high).map(|bits| of(bits).unwrap_or(0)).collect()
    }

    /// Returns the share of the dot products for which `bits` fraction bits are too few; `None` if that was not
    /// counted.
    pub fn beyond(&self, bits: u32, count: Count) -> Option<f64> {
        let all: Vec<(Option<u32>, u64)> =
            self.counts.iter().map(|row| Some((row.fraction_bits, count(row)?))).collect::<Option<_>>()?;
        let of = |is: &dyn Fn(Option<u32>) -> bool| -> u64 {
            all.iter().filter(|(needed, _)| is(*needed)).map(|(_, dots)| dots).sum()
        };
        let dots = of(&|_| true);
        (dots > 0).then(|| of(&|needed| needed.is_none_or(|needed| needed > bits)) as f64 / dots as f64)
    }

    /// Returns the shares of the dot products for which a number of bits is too small, for every number of a range.
    pub fn curve(&self, (low, high): (u32, u32), count: Count) -> Vec<(f64, f64)> {
        (low..=high).filter_map(|bits| Some((f64::from(bits), self.beyond(bits, count)?))).collect()
    }
}
