//! The innermost of several levels with two windows to a lane, where the CPU has instructions for that.

use guardbit_hwmodels::{MacLayer, Register};

use super::super::image::{Geometry, Image};
use super::super::kernels::{Lanes, PAIR_TREE, Rails, RunsOut, noted_parts};
use super::super::pairs::{PairCells, PairRow, PairRuns};
use super::super::prepare::Reads;
use super::super::simd::{Kernels, ShortMode};
use super::Block;
use super::plan::{Known, Plan};
use super::scratch::Scratch;

/// What stepping two windows at a time needs to know of a layer.
#[derive(Debug)]
pub(super) struct Paired {
    known: Known,
    mode: ShortMode,
    rails: Rails,
    /// Products of a run.
    length: usize,
    /// Parts of all runs in which overflows are noted.
    parts: usize,
    /// Distance of each product's activation from the window's first cell, and the greatest of them.
    offsets: Vec<u32>,
    reach: usize,
    /// Per block, every lane twice; `None` where its dot products cannot overflow the level, or its lanes read cells
    /// that are no neighbours.
    weights: Vec<Option<Vec<PairRow>>>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub prefixes: bool,
    pub places: bool,
}

impl Paired {
    /// `None` if the level is stepped in another way.
    pub fn new(
        layer: &MacLayer,
        geometry: &Geometry,
        kernels: Kernels,
        blocks: &[Block],
        plan: &Plan<i32>,
    ) -> Option<Self> {
        let Register::Fixed { format, overflow } = layer.datapath.levels[0].register else { return None };
        if !kernels.steps_pairs() || !geometry.has_bytes() || !plan.short {
            return None;
        }
        let rails = Rails::new(format, overflow);
        let mode = ShortMode::of(overflow, &rails)?;
        let stage = &plan.levels[0];
        let length = stage.terms.run_length(layer.order.len());
        let narrow_tree = plan.sixteen.is_some() && length <= PAIR_TREE;
        if stage.known == Known::Tree && !narrow_tree {
            return None;
        }
        let offsets = geometry.offsets().iter().map(|&offset| u32::try_from(offset).ok());
        let weights = |(block, &certain): (&Block, &usize)| {
            let apart = matches!(block.reads, Reads::Lanes(_));
            (!apart && certain <= 1).then(|| block.weights.iter().map(PairRow::doubled).collect())
        };
        Some(Self {
            known: stage.known,
            mode,
            rails,
            length,
            parts: noted_parts(layer.order.len(), length).count(),
            offsets: offsets.collect::<Option<_>>()?,
            reach: geometry.reach(),
            weights: blocks.iter().zip(&plan.certain).map(weights).collect(),
        })
    }

    /// Whether block `index` is stepped so.
    pub fn steps(&self, index: usize) -> bool {
        self.weights[index].is_some()
    }

    /// Steps the runs of block `index`, which reads as `reads`, at the window at `corner` and at that one output pixel
    /// further: what they deliver, unshifted, and what became of them.
    pub fn run(
        &self,
        kernels: Kernels,
        image: &Image<'_>,
        (index, reads): (usize, &Reads),
        corner: usize,
        asked: Asked,
        scratches: &mut [Scratch<i32>; 2],
    ) {
        let Some(weights) = &self.weights[index] else { return };
        let runs = PairRuns {
            cells: PairCells { cells: image.pairs(kernels), offsets: &self.offsets, reach: self.reach },
            own: matches!(reads, Reads::Neighbours(_)),
            weights,
            rails: self.rails,
            length: self.length,
        };
        let corner = corner + reads.first();
        let products = self.offsets.len();
        let mut out = scratches.each_mut().map(|scratch| {
            scratch.clear();
            scratch.resize(products.div_ceil(self.length));
            scratch.stepped = true;
            self.out(scratch, products, asked)
        });
        match self.known {
            Known::Serial => kernels.step_chains(self.mode, &runs, corner, &mut out),
            Known::Tree => kernels.step_trees(self.mode != ShortMode::Saturate, &runs, corner, &mut out),
        }
    }

    /// Where the runs of a dot product with so many products go.
    fn out<'s>(&self, scratch: &'s mut Scratch<i32>, products: usize, asked: Asked) -> RunsOut<'s> {
        let Scratch { unbounded, narrow, levels, logs, .. } = scratch;
        let seen = &mut levels[0];
        let prefixes: Option<[&mut Lanes; 2]> =
            asked.prefixes.then_some([&mut seen.prefixes.min, &mut seen.prefixes.max]);
        let log = &mut logs[0];
        log.clear(asked.places, products);
        let log = match self.known {
            Known::Serial => log.rows_to_write(self.parts, Some(self.length)),
            Known::Tree => log.rows_to_write(products, None),
        };
        let counts: [&mut Lanes; 2] = [&mut seen.counts.high, &mut seen.counts.low];
        RunsOut { exact: unbounded, held: narrow, counts, prefixes, log }
    }
}
