//! Layers and their weights, prepared once.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use guardbit_graph::{Graph, KernelPosition, OutputPosition};
use guardbit_hwmodels::{FloatAccumulation, FloatMacLayer};
use rayon::prelude::*;

use super::codes::Codes;
use super::gather::Gather;
use super::lanes::{Lanes, Rows};
use super::outcomes::Epilogue;
use super::short::{ShortLanes, ShortRows};
use crate::fast::{Kernels, LANES};
use crate::options::{Engine, Isa, Options};

/// Layer that is ready to run.
#[derive(Debug)]
pub(crate) struct Prepared<'p> {
    pub(super) layer: &'p FloatMacLayer,
    pub(super) kernels: Kernels,
    /// Cells of the window in the order of addition.
    pub(super) cells: Vec<KernelPosition>,
    pub(super) gather: Gather,
    pub(super) lanes: Option<Lanes>,
    /// The layer in lanes of 32 bits, if these suffice.
    pub(super) short: Option<ShortLanes>,
    /// By block of channels.
    pub(super) epilogues: Vec<Epilogue>,
    /// Whether all pixels have the same weights.
    pub(super) shares: bool,
    /// Weights of all samples, if they are constants.
    weights: Option<Codes>,
    /// These by block of channels, if all pixels share them.
    rows: Arc<[Weights]>,
}

/// Weights of a block of channels.
#[derive(Debug, Default)]
pub(super) struct Weights {
    pub short: Option<ShortRows>,
    rows: OnceLock<Rows>,
    /// Places of the weights of the first channel, and the distance of those of the next one.
    places: Vec<usize>,
    apart: usize,
    /// Number of channels.
    count: usize,
}

impl<'p> Prepared<'p> {
    /// Prepares a layer. Weights that it has in common with a similar layer `like` are shared; `kept` tells whether constant
    /// ones are prepared at all.
    pub fn new(
        layer: &'p FloatMacLayer,
        graph: &Graph,
        like: Option<&Self>,
        kept: bool,
        options: &Options,
    ) -> Self {
        let window = &layer.dots.window;
        let fast = options.engine == Engine::Fast;
        let kernels = Kernels::choose(options.isa.filter(|_| fast).or((!fast).then_some(Isa::Portable)));
        let lanes = fast.then(|| Lanes::new(layer, kernels)).flatten();
        let short = lanes.as_ref().and_then(|_| ShortLanes::new(layer, kernels));
        let cells: Vec<_> = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
        let gather = Gather::new(&cells, short.as_ref().map_or(usize::MAX, ShortLanes::terms));
        let blocks = 0..window.channels().div_ceil(LANES);
        let epilogues = blocks.map(|block| Epilogue::new(&layer.dots, block)).collect();
        let place =
            |index: usize| cells.first().map(|&cell| layer.dots.weight(window.output_position(index), cell));
        let shares =
            (0..window.dots()).step_by(window.channels().max(1)).all(|index| place(index) == place(0));
        let (weights, rows) = (None, Arc::default());
        let mut own = Self { layer, kernels, cells, gather, lanes, short, epilogues, shares, weights, rows };
        let operand = &layer.dots.weights;
        let of_blocks = operand.blocks.as_ref().map(|blocks| &blocks.codes);
        let computed =
            [Some(&operand.codes), of_blocks].into_iter().flatten().any(|codes| codes.computed().is_some());
        if kept && !computed {
            let constant = |_| unreachable!("the codes are constants");
            match like.filter(|like| like.has_rows_of(&own)) {
                Some(like) => (own.weights, own.rows) = (like.weights.clone(), like.rows.clone()),
                None => {
                    let weights = Codes {
                        elements: operand.codes(graph, constant),
                        scales: operand.blocks.as_ref().map(|blocks| blocks.codes(graph, constant)),
                    };
                    own.rows = own.all_rows(&weights).into();
                    own.weights = Some(weights);
                }
            }
        }
        own
    }

    /// Returns whether the weights of both are prepared equally.
    fn has_rows_of(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.lanes.is_some(), one.short.is_some());
        let (own, layer) = (self.layer, other.layer);
        (&own.dots, &own.order, &own.groups) == (&layer.dots, &layer.order, &layer.groups)
            && of(self) == of(other)
    }

    /// Returns the accumulation of its products.
    pub fn accumulation(&self) -> FloatAccumulation {
        self.layer.accumulation
    }

    /// Returns the weights of all samples, if they are constants.
    pub fn weights(&self) -> Option<&Codes> {
        self.weights.as_ref()
    }

    /// Returns the weights of every block of channels that all pixels share; none if pixels differ.
    pub(super) fn rows(&self, codes: &Codes) -> Arc<[Weights]> {
        if self.weights.is_some() { self.rows.clone() } else { self.all_rows(codes).into() }
    }

    fn all_rows(&self, codes: &Codes) -> Vec<Weights> {
        let blocks = if self.shares && self.lanes.is_some() { self.epilogues.len() } else { 0 };
        (0..blocks).into_par_iter().map(|block| self.block(codes, 0, block)).collect()
    }

    /// Returns the number of channels of a block.
    pub(super) fn count(&self, block: usize) -> usize {
        LANES.min(self.layer.dots.window.channels() - block * LANES)
    }

    /// Returns the number of channels of some blocks.
    pub(super) fn channels(&self, blocks: &Range<usize>) -> usize {
        self.layer.dots.window.channels().min(blocks.end * LANES) - blocks.start * LANES
    }

    /// Returns the weights of a block of channels at a pixel.
    pub(super) fn block(&self, codes: &Codes, pixel: usize, block: usize) -> Weights {
        let dots = &self.layer.dots;
        let (first, count) = (pixel * dots.window.channels() + block * LANES, self.count(block));
        let out = dots.window.output_position(first);
        let places: Vec<_> = self.cells.iter().map(|&cell| dots.weight(out, cell)).collect();
        // Weights of successive channels are equally far apart.
        let next = OutputPosition { c: out.c + 1, ..out };
        let apart = self.cells.first().filter(|_| count > 1);
        let apart = apart.map_or(0, |&cell| dots.weight(next, cell) - places[0]);
        let code = |k: usize, lane: usize| codes.elements[places[k] + lane * apart];
        let short = self.short.as_ref().and_then(|short| short.rows((count, places.len()), code));
        Weights { short, rows: OnceLock::new(), places, apart, count }
    }
}

impl Weights {
    /// Returns them as factors, which lanes of 32 bits do not need.
    pub fn factors(&self, lanes: &Lanes, codes: &Codes) -> &Rows {
        let Self { rows, places, apart, count, .. } = self;
        rows.get_or_init(|| {
            let mut rows = Rows::default();
            rows.fill((*count, places.len()), |k| {
                move |lane| {
                    let at = places[k] + lane * apart;
                    lanes.factor(1, (codes.elements[at], codes.scale(at)))
                }
            });
            rows
        })
    }
}
