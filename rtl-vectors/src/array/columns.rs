//! Operands of a slice of a layer.

use guardbit_hwmodels::MacLayer;
use guardbit_hwmodels::timing::Gemm;
use guardbit_sim::Reads;
use guardbit_sim::trace::{TraceOperand, operands};

use super::absent::NoArray;
use super::info::Output;
use super::slice::Slice;
use crate::manifest::ArrayInfo;

/// Operands of a slice, by row and column of the matrix products.
pub(super) struct Columns {
    /// Indexed `[group][pixel][k]`.
    pub activations: Vec<Vec<Vec<i64>>>,
    /// Indexed `[group][channel][k]`.
    pub weights: Vec<Vec<Vec<i64>>>,
}

impl Columns {
    pub fn read(layer: &MacLayer, inputs: &[Reads<'_, [i32]>], slice: &Slice) -> Result<Self, NoArray> {
        let read = |group: usize, pixel: usize, channel: usize| {
            operands(layer, inputs[slice.sample], slice.output(layer, group, pixel, channel))
        };
        let split =
            |all: &[TraceOperand], f: fn(&TraceOperand) -> i128| all.iter().map(|o| f(o) as i64).collect();
        let (mut activations, mut weights) = (Vec::new(), Vec::new());
        for group in 0..slice.gemm.groups {
            let rows: Vec<Vec<i64>> =
                (0..slice.gemm.pixels).map(|p| split(&read(group, p, 0), |o| o.activation)).collect();
            let cols: Vec<Vec<i64>> =
                (0..slice.gemm.channels).map(|c| split(&read(group, 0, c), |o| o.weight)).collect();
            for (pixel, row) in rows.iter().enumerate() {
                for (channel, col) in cols.iter().enumerate() {
                    let shared = read(group, pixel, channel)
                        .iter()
                        .zip(row.iter().zip(col))
                        .all(|(o, (a, w))| (o.activation, o.weight) == (i128::from(*a), i128::from(*w)));
                    if !shared {
                        return Err(NoArray::NotShared);
                    }
                }
            }
            activations.push(rows);
            weights.push(cols);
        }
        Ok(Self { activations, weights })
    }

    /// Returns the operands of the real tiles, reconstructed from their beats.
    pub fn from_beats(
        slice: &Slice,
        info: &ArrayInfo,
        [activation, weight]: [&dyn Fn(usize, usize) -> i64; 2],
    ) -> Self {
        let dot = |group, pixel, channel| {
            info.operands(Output { group, pixel, channel, tile: 0 }, activation, weight)
        };
        let split = |all: Vec<TraceOperand>, f: fn(&TraceOperand) -> i128| -> Vec<i64> {
            all.iter().map(|o| f(o) as i64).collect()
        };
        let Gemm { pixels, channels, groups, .. } = slice.gemm;
        let lines = |count: usize, one: &dyn Fn(usize, usize) -> Vec<i64>| -> Vec<Vec<Vec<i64>>> {
            (0..groups).map(|group| (0..count).map(|line| one(group, line)).collect()).collect()
        };
        Self {
            activations: lines(pixels, &|group, pixel| split(dot(group, pixel, 0), |o| o.activation)),
            weights: lines(channels, &|group, channel| split(dot(group, 0, channel), |o| o.weight)),
        }
    }

    /// Returns the operands of every dot product.
    pub fn dots(&self) -> impl Iterator<Item = Vec<TraceOperand>> {
        (0..self.activations.len()).flat_map(move |group| {
            let channels = self.weights[group].len();
            (0..self.activations[group].len())
                .flat_map(move |pixel| (0..channels).map(move |channel| self.dot(group, pixel, channel)))
        })
    }

    pub fn dot(&self, group: usize, pixel: usize, channel: usize) -> Vec<TraceOperand> {
        let (row, col) = (&self.activations[group][pixel], &self.weights[group][channel]);
        let pair = |(&a, &w): (&i64, &i64)| TraceOperand { activation: a.into(), weight: w.into() };
        row.iter().zip(col).map(pair).collect()
    }
}
