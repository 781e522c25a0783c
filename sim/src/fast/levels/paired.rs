//! Steps the innermost of several levels two windows at a time, if the CPU has instructions for it.

use guardbit_hwmodels::{MacLayer, Register};

use super::super::basis::Basis;
use super::super::blocks::{Block, Reads};
use super::super::forms::Forms;
use super::super::image::Image;
use super::super::kernels::{LANES, Lanes, PAIR_TREE, Rails, RunsOut, noted_parts};
use super::super::pairs::{PairCells, PairRow, PairRuns};
use super::super::simd::ShortMode;
use super::super::singles::{SingleRuns, SingleStepping};
use super::plan::{Known, Plan};
use super::scratch::Scratch;

/// Data for stepping two windows of a layer at a time.
#[derive(Debug)]
pub(super) struct Paired {
    known: Known,
    mode: ShortMode,
    rails: Rails,
    /// Number of products of a run.
    length: usize,
    /// Number of parts of all runs in which overflows are recorded.
    parts: usize,
    /// Whether each block is stepped in this way: its dot products may overflow the level, and its lanes read one
    /// window or adjacent cells.
    steps: Vec<bool>,
}

/// Requested results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub prefixes: bool,
    pub places: bool,
}

impl Paired {
    /// Returns the data; `None` if the level is stepped in another way.
    pub fn new(layer: &MacLayer, basis: &Basis, plan: &Plan<i32>) -> Option<Self> {
        let kernels = basis.kernels;
        let Register::Fixed { format, overflow } = layer.datapath.levels[0].register else { return None };
        let stepped = kernels.steps_singles() || kernels.steps_pairs() && basis.geometry.has_bytes();
        if !stepped || !plan.short {
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
        let steps =
            |(block, &certain): (&Block, &usize)| !matches!(block.reads, Reads::Lanes(_)) && certain <= 1;
        Some(Self {
            known: stage.known,
            mode,
            rails,
            length,
            parts: noted_parts(layer.order.len(), length).count(),
            steps: basis.blocks.iter().zip(&plan.certain).map(steps).collect(),
        })
    }

    /// Returns whether block `index` is stepped in this way.
    pub fn steps(&self, index: usize) -> bool {
        self.steps[index]
    }

    /// Steps the runs of a block at the windows at `corners`, the second of which is one output pixel further.
    /// Stores their unshifted results and overflows. Without a second window, an arbitrary one is stepped
    /// instead.
    pub fn run(
        &self,
        basis: &Basis,
        image: &Image<'_>,
        (block, forms): (&Block, &Forms),
        corners: (usize, Option<usize>),
        asked: Asked,
        scratches: &mut [Scratch<i32>; 2],
    ) {
        let Basis { kernels, cells, .. } = basis;
        let (offsets, reach) = (cells.all(), cells.reach());
        let products = offsets.len();
        let mut out = scratches.each_mut().map(|scratch| {
            scratch.clear();
            scratch.resize(products.div_ceil(self.length));
            scratch.stepped = true;
            self.out(scratch, products, asked)
        });
        let own = !block.reads_window();
        let first = corners.0 + block.reads.first();
        if kernels.steps_pairs() {
            let weights = &forms.doubled(block, PairRow::doubled).rows[..];
            let cells = PairCells { cells: image.pairs(*kernels), offsets, reach };
            let runs = PairRuns { cells, own, weights, rails: self.rails, length: self.length };
            return match self.known {
                Known::Serial => kernels.step_pair_chains(self.mode, &runs, first, &mut out),
                Known::Tree => kernels.step_pair_trees(self.wraps(), &runs, first, &mut out),
            };
        }
        let stepping = SingleStepping {
            weights: forms.singles(block),
            start: &[0; LANES],
            rails: self.rails,
            negative: basis.geometry.has_negative_operands(),
            cells: image.operands(),
            offsets: cells,
            own,
        };
        let second = corners.1.map_or(first, |corner| corner + block.reads.first());
        let runs = SingleRuns { stepping, corners: [first, second], length: self.length };
        match self.known {
            Known::Serial => kernels.step_chains(self.mode, &runs, &mut out),
            Known::Tree => kernels.step_trees(self.wraps(), &runs, &mut out),
        }
    }

    fn wraps(&self) -> bool {
        self.mode != ShortMode::Saturate
    }

    /// Returns where the results of the runs of a dot product with `products` products are stored.
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
