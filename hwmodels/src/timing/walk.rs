//! Folds of a layer in the order of time, for those who lay out data by the schedule.

use std::ops::Range;

use guardbit_graph::OutputPosition;

use super::sizes::times;
use super::{ArrayCycles, LayerTiming};
use crate::{ArrayKind, Dataflow, TimingConvention};

/// Filling of one core's array: a block of outputs, and the products of each that it adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Index of its tile, over all groups.
    pub tile: u64,
    /// Index of the core.
    pub core: usize,
    /// Output pixels: over all images, or within one image if both operands are activations.
    pub pixels: Range<usize>,
    /// Output channels over all groups; over all images too if both operands are activations.
    pub channels: Range<usize>,
    /// Products of a dot product, in the order of addition.
    pub terms: Range<usize>,
    /// Cycles from the first addition to the last one, counted from the start of the layer.
    pub cycles: Range<u64>,
}

impl LayerTiming {
    /// Returns the number of folds of one core.
    pub fn fold_count(&self) -> u64 {
        self.mapping.folds().all()
    }

    /// Returns the folds of a datapath of `levels` levels in the order of time, those of a dot product in the order of
    /// addition. Returns `None` for lanes that hold outputs in the order of the tensor, or channels of single pixels:
    /// such folds are no blocks.
    pub fn walk(&self, levels: usize) -> Option<Vec<Fold>> {
        let layer = self.mapping.layer();
        if self.mapping.dataflow() == Dataflow::Vector && layer.array.kind != ArrayKind::Block {
            return None;
        }
        let (grid, unit) = (self.tiling.grid, self.mapping.pass().unit);
        let together = layer.channels();
        let mut order: Vec<[usize; 3]> = (0..times(grid)).map(|index| in_grid(grid, index)).collect();
        order.sort_by_key(|&at| self.tiling.index(at));
        let mut folds = Vec::new();
        let (mut tile, mut last) = (0, None);
        for time in 0..self.mapping.serial_groups() {
            for &at in &order {
                let here = (time, [0, 1, 2].map(|axis| at[axis] / self.tiling.tile[axis]));
                tile += u64::from(last.replace(here).is_some_and(|before| before != here));
                let cut = |axis: usize, all: usize| {
                    (at[axis] * unit[axis]).min(all)..((at[axis] + 1) * unit[axis]).min(all)
                };
                let (pixels, of_group) = (cut(0, layer.gemm.pixels), cut(1, together));
                let terms = self.mapping.terms_of_pass(at[2]);
                for (core, owned) in self.mapping.channels_of_cores().enumerate() {
                    let [from, to] = [of_group.start, of_group.end]
                        .map(|c| (owned.start + time * together + c).min(owned.end));
                    if from == to {
                        continue;
                    }
                    let place = |pixel: usize, channel: usize, k: usize, level: usize| {
                        self.place(self.output(pixel, channel), k, level).cycle
                    };
                    let first = place(pixels.start, from, terms.start, 0);
                    let end = place(pixels.end - 1, to - 1, terms.end - 1, levels.saturating_sub(1)) + 1;
                    let (pixels, terms) = (pixels.clone(), terms.clone());
                    folds.push(Fold { tile, core, pixels, channels: from..to, terms, cycles: first..end });
                }
            }
        }
        Some(folds)
    }

    /// Returns the output at a pixel and a channel of [`Fold`].
    pub fn output(&self, pixel: usize, channel: usize) -> OutputPosition {
        let [rows, cols] = self.image;
        let (h, w) = (pixel / cols % rows, pixel % cols);
        match self.group_per_image {
            false => OutputPosition { n: pixel / (rows * cols), h, w, c: channel },
            true => OutputPosition { n: channel / self.channels, h, w, c: channel % self.channels },
        }
    }

    /// Returns the cycles of the layer's folds on the array of one core, with ideal memories.
    pub fn array_cycles(&self, convention: TimingConvention) -> ArrayCycles {
        ArrayCycles::of(&self.mapping, convention)
    }
}

fn in_grid([_, channels, terms]: [usize; 3], index: usize) -> [usize; 3] {
    [index / (channels * terms), index / terms % channels, index % terms]
}
