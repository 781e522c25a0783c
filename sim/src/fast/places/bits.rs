//! Events of serial runs as bits, and heat maps that are counted without visiting events one by one.

use std::ops::Range;

use super::super::kernels::{LANES, NOTED, Row, noted_parts, step_index};
use super::super::simd::{Kernels, Vectorized};
use super::way::WayStep;
use crate::stats::LayerStats;

/// One bit per product, for up to [`NOTED`] consecutive products of a run per row, the last one in the lowest
/// bit: whether its addition overflowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits<'l> {
    rows: &'l [Row],
    products: usize,
    /// Number of products of a run.
    length: usize,
}

impl<'l> Bits<'l> {
    pub fn new(rows: &'l [Row], products: usize, length: usize) -> Self {
        Self { rows, products, length }
    }

    /// Returns the products that each row covers, and the row.
    pub fn parts(self) -> impl Iterator<Item = (Range<usize>, &'l Row)> {
        noted_parts(self.products, self.length).zip(self.rows)
    }

    /// Returns the first product with an event in a lane.
    pub fn first(self, lane: usize) -> Option<usize> {
        let (products, row) = self.parts().find(|(_, row)| row[lane] != 0)?;
        let bit = NOTED - 1 - row[lane].leading_zeros() as usize;
        Some(products.end - 1 - bit)
    }

    /// Unpacks the bits to one row per product.
    pub fn unfold(self, rows: &mut Vec<Row>) {
        rows.clear();
        for (products, noted) in self.parts() {
            rows.extend((0..products.len()).rev().map(|bit| noted.map(|noted| noted >> bit & 1)));
        }
    }
}

/// Events of a level.
pub(crate) enum Events<'l> {
    /// A row per value.
    Rows(&'l [Row]),
    Bits(Bits<'l>),
}

/// Events of dot products in adjacent processing elements, not yet added to the heat map.
#[derive(Debug, Default)]
pub(crate) struct Heat {
    /// Events per block.
    blocks: Vec<BlockHeat>,
    /// Room for [`Bits::unfold`].
    pub rows: Vec<Row>,
}

/// Numbers of events of one block, product by product.
#[derive(Debug, Default)]
struct BlockHeat {
    /// First processing element of the first lane.
    element: usize,
    /// Number of dot products counted per lane.
    held: u32,
    /// Number of products of all runs, and of one run.
    products: usize,
    length: usize,
    /// Counters of four bits each: those of bits 0, 4, 8 and 12 of a row of [`Bits`], of bits 1, 5, 9 and 13,
    /// and so on.
    counts: Vec<[Row; 4]>,
}

/// Adds a row of counts; lanes without a channel have none.
#[inline(always)]
pub(super) fn add_row(counts: &mut [u64], row: &Row) {
    match counts.first_chunk_mut::<LANES>() {
        Some(counts) => {
            for l in 0..LANES {
                counts[l] += row[l] as u64;
            }
        }
        None => counts.iter_mut().zip(row).for_each(|(count, &events)| *count += events as u64),
    }
}

/// Number of dot products that four bits can count.
const HELD: u32 = 15;

impl Heat {
    /// Counts events of block `index`, whose first processing element is `element`.
    pub(super) fn add(
        &mut self,
        kernels: Kernels,
        (index, element): (usize, usize),
        bits: Bits<'_>,
        steps: &[WayStep],
        stats: &mut LayerStats,
    ) {
        if self.blocks.len() <= index {
            self.blocks.resize_with(index + 1, BlockHeat::default);
        }
        let block = &mut self.blocks[index];
        if block.held == HELD || block.element != element {
            block.flush(kernels, steps, stats);
        }
        (block.element, block.products, block.length) = (element, bits.products, bits.length);
        block.counts.resize(bits.rows.len(), [[0; LANES]; 4]);
        block.held += 1;
        kernels.run(Add { counts: &mut block.counts, rows: bits.rows });
    }

    /// Returns whether no event was ever counted.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds all events to the heat map.
    pub(super) fn flush(&mut self, kernels: Kernels, steps: &[WayStep], stats: &mut LayerStats) {
        self.blocks.iter_mut().for_each(|block| block.flush(kernels, steps, stats));
    }
}

impl BlockHeat {
    fn flush(&mut self, kernels: Kernels, steps: &[WayStep], stats: &mut LayerStats) {
        if self.held > 0 {
            kernels.run(Flush { block: self, steps, heat_map: &mut stats.heat_map });
            self.counts.fill([[0; LANES]; 4]);
            self.held = 0;
        }
    }
}

struct Add<'a> {
    counts: &'a mut [[Row; 4]],
    rows: &'a [Row],
}

impl Vectorized for Add<'_> {
    #[inline(always)]
    fn run(self) {
        for i in 0..self.counts.len().min(self.rows.len()) {
            let i = step_index(i);
            let (row, mut counts) = (self.rows[i], self.counts[i]);
            for bit in 0..4 {
                for l in 0..LANES {
                    counts[bit][l] = counts[bit][l].wrapping_add(row[l] >> bit & 0x1111);
                }
            }
            self.counts[i] = counts;
        }
    }
}

struct Flush<'a> {
    block: &'a BlockHeat,
    steps: &'a [WayStep],
    heat_map: &'a mut [u64],
}

impl Vectorized for Flush<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { block, steps, heat_map } = self;
        for (products, counts) in noted_parts(block.products, block.length).zip(&block.counts) {
            let steps = &steps[products];
            for (bit, step) in (0..steps.len()).rev().zip(steps) {
                let mut row = [0; LANES];
                for l in 0..LANES {
                    row[l] = counts[bit % 4][l] >> (bit / 4 * 4) & 15;
                }
                add_row(&mut heat_map[block.element.wrapping_add(step.elements)..], &row);
            }
        }
    }
}
