//! Layers of floating-point codes: dot products as matrix units add them, beside exact sums.
//!
//! Lanes add in aligned, truncated accumulators only. Sums in fixed-point registers and ordinary additions run on the
//! reference, in parallel.
//!
//! The exact network has the exact rational sum of each dot product, rounded once to float32. Both runs then apply the
//! scale, and after it the bias, in float32, each with one rounding, as the epilogue of a matrix kernel does.

mod codes;
mod dot;
mod factor;
mod gather;
mod held;
mod lanes;
mod outcomes;
mod prepared;
mod required;
mod short;
mod statistics;
mod wide;

use std::ops::Range;
use std::sync::Arc;

use guardbit_graph::{KernelPosition, OutputPosition};
use guardbit_num::{FloatDot, FloatFormat, Term};
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::fast::LANES;
use crate::options::{Options, StatsLevel};
pub(crate) use codes::{Codes, Operands};
use dot::Outcome;
use factor::Factor;
use lanes::{Each, Lanes, Ones, Rows, Shared};
use outcomes::{Finish, Outcomes, Tally, Words};
pub(crate) use prepared::Prepared;
use prepared::Weights;
use short::{Nonzero, ShortWindow, TILE};
use statistics::RealPairs;
pub use statistics::{FLOAT_BINS, FirstOverflow, FloatStats, INTEGER_BINS, Most, Overflowed, SquaredReals};

/// Number of pixels that run together.
const PIXELS: usize = 64;
/// Number of parts of a layer that run in parallel, if it has as many.
const PARTS: usize = 16;

/// Output words of a layer for one sample.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub exact: Vec<i32>,
    pub delivered: Vec<i32>,
}

/// Runs a layer on one sample, whose index is given, and adds its dot products to `stats`. Without them, only exact sums
/// are made.
pub(crate) fn run(
    prepared: &Prepared<'_>,
    sample: usize,
    operands: &Operands,
    mut stats: Option<&mut FloatStats>,
    options: &Options,
) -> Made {
    let window = &prepared.layer.dots.window;
    let (channels, dots, blocks) = (window.channels(), window.dots(), prepared.epilogues.len());
    let pixels = dots / channels.max(1);
    let delivers = stats.is_some();
    let level = if delivers { options.stats } else { StatsLevel::None };
    let rows = prepared.rows(&operands[1]);
    let short = prepared.short.as_ref().filter(|_| window.groups == 1);
    let nonzero = short.map(|short| short.nonzero(&operands[0].elements));
    let grouped = prepared.lanes.as_ref().filter(|_| window.groups > 1);
    let factors = grouped.map(|lanes| {
        let codes = &operands[0];
        (0..codes.elements.len()).map(|at| lanes.factor(0, (codes.elements[at], codes.scale(at)))).collect()
    });
    let factors = factors.unwrap_or_default();
    let piece = Piece { prepared, sample, operands, nonzero, factors, rows, level, delivers };
    // Channels share activations.
    let together = if piece.rows.is_empty() {
        1
    } else {
        blocks.div_ceil(PARTS.div_ceil(pixels.div_ceil(PIXELS).max(1)))
    };
    let ranges = |end: usize, size: usize| {
        (0..end).step_by(size.max(1)).map(move |start| start..end.min(start + size))
    };
    let parts: Vec<_> = ranges(pixels, PIXELS)
        .flat_map(|pixels| ranges(blocks, together).map(move |blocks| (pixels.clone(), blocks)))
        .collect();
    let run = |(pixels, blocks): &(Range<usize>, Range<usize>)| {
        let mut stats = stats.as_deref().map(FloatStats::empty);
        let words = piece.run(pixels.clone(), blocks.clone(), stats.as_mut());
        (stats, words)
    };
    let ran: Vec<_> = parts.par_iter().map(run).collect();
    let mut made = Made { exact: vec![0; dots], delivered: vec![0; dots] };
    for ((pixels, blocks), (own, words)) in parts.into_iter().zip(ran) {
        if let Some((stats, own)) = stats.as_deref_mut().zip(own) {
            stats.merge(own);
        }
        let (first, count) = (blocks.start * LANES, prepared.channels(&blocks));
        for (words, made) in words.iter().zip([&mut made.exact, &mut made.delivered]) {
            for (words, pixel) in words.chunks(count.max(1)).zip(pixels.clone()) {
                made[pixel * channels + first..][..count].copy_from_slice(words);
            }
        }
    }
    made
}

/// Activations of a few pixels.
#[derive(Default)]
struct Activations {
    windows: Vec<ShortWindow>,
    /// Those of one pixel that all channels share.
    shared: Vec<Factor>,
    /// Those of the channels of a block at one pixel, as in groups of a convolution.
    each: Rows,
    places: Vec<Option<usize>>,
}

/// What the parts of a layer have in common.
struct Piece<'p> {
    prepared: &'p Prepared<'p>,
    sample: usize,
    operands: &'p Operands,
    /// Activations for lanes of 32 bits.
    nonzero: Option<Nonzero>,
    /// All activations, if channels are in groups.
    factors: Vec<Factor>,
    /// Weights of every block of channels, if all pixels share them.
    rows: Arc<[Weights]>,
    level: StatsLevel,
    /// Whether delivered sums are wanted beside exact ones.
    delivers: bool,
}

impl Piece<'_> {
    /// Runs blocks of channels at some pixels, and returns the output words of each pixel, exact and delivered.
    fn run(
        &self,
        pixels: Range<usize>,
        blocks: Range<usize>,
        mut stats: Option<&mut FloatStats>,
    ) -> [Vec<i32>; 2] {
        let Self { prepared, operands, .. } = self;
        let (window, channels) = (&prepared.layer.dots.window, prepared.channels(&blocks));
        let accumulation = prepared.layer.accumulation.dot();
        let mut made = [(); 2].map(|()| vec![0; pixels.len() * channels]);
        let mut tally = stats.as_ref().map(|_| Tally::new(accumulation.fraction_bits()));
        let mut activations = Activations::default();
        // Weights that not all pixels share: those of one image.
        let (mut own, mut held) = (Weights::default(), None);
        let size = if prepared.shares { TILE } else { 1 };
        for first in pixels.clone().step_by(size) {
            let tile = first..pixels.end.min(first + size);
            self.take(tile.clone(), &mut activations);
            for block in blocks.clone() {
                let (index, count) = (first * window.channels() + block * LANES, prepared.count(block));
                let mut outcomes = [(); TILE].map(|()| Outcomes::default());
                if let Some(lanes) = &prepared.lanes {
                    let rows = self.rows.get(block).unwrap_or_else(|| {
                        let out = window.output_position(index);
                        let cell = prepared.cells.first();
                        let place = cell.map(|&cell| (block, prepared.layer.dots.weight(out, cell)));
                        if held != place {
                            (own, held) = (prepared.block(&operands[1], first, block), place);
                        }
                        &own
                    });
                    self.outcomes(lanes, (tile.clone(), block), rows, &mut activations, &mut outcomes);
                }
                for (pixel, outcomes) in tile.clone().zip(&mut outcomes) {
                    let index = pixel * window.channels() + block * LANES;
                    for lane in (0..count).filter(|&lane| !outcomes.ran[lane]).collect::<Vec<_>>() {
                        let outcome = self.outcome(&accumulation, window.output_position(index + lane));
                        outcomes.set(lane, &outcome);
                        if let (Some(stats), Some(register)) = (stats.as_deref_mut(), &outcome.register) {
                            stats.overflowed(register, [self.sample, index + lane]);
                        }
                    }
                    let (epilogue, mut words) = (&prepared.epilogues[block], Words::default());
                    let tally = tally.as_mut();
                    prepared.kernels.run(Finish { outcomes, epilogue, words: &mut words, tally });
                    let at = (pixel - pixels.start) * channels + (block - blocks.start) * LANES;
                    for (made, words) in made.iter_mut().zip(&words) {
                        made[at..at + count].copy_from_slice(&words[..count]);
                    }
                    if let Some(stats) = stats.as_deref_mut() {
                        let required = outcomes.required[..count].iter().flatten();
                        required.for_each(|required| stats.requires(required));
                    }
                }
            }
        }
        if let Some((stats, tally)) = stats.zip(tally) {
            let terms = prepared.layer.groups.as_ref().map_or(prepared.cells.len(), Vec::len);
            let dots = pixels.len() * channels;
            tally.end(stats, dots as u64, accumulation.terms(terms) as u64);
        }
        made
    }

    /// Takes the activations of a few pixels for lanes of 32 bits.
    fn take(&self, pixels: Range<usize>, activations: &mut Activations) {
        let (dots, gather) = (&self.prepared.layer.dots, &self.prepared.gather);
        let Some(nonzero) = &self.nonzero else { return };
        let Activations { windows, places, .. } = activations;
        windows.resize_with(pixels.len(), ShortWindow::default);
        for (pixel, window) in pixels.zip(windows) {
            gather.places(dots, dots.window.output_position(pixel * dots.window.channels()), places);
            window.take(nonzero, gather, places);
        }
    }

    /// Makes the dot products of a block at a few pixels, as far as they run in lanes.
    fn outcomes(
        &self,
        lanes: &Lanes,
        (pixels, block): (Range<usize>, usize),
        weights: &Weights,
        activations: &mut Activations,
        outcomes: &mut [Outcomes; TILE],
    ) {
        let Prepared { short, .. } = self.prepared;
        let count = self.prepared.count(block);
        let channels = self.prepared.layer.dots.window.channels();
        let short = short.as_ref().zip(weights.short.as_ref()).filter(|_| self.nonzero.is_some());
        let sums = short.and_then(|(short, weights)| match self.delivers {
            true => short.run(&activations.windows, weights, None),
            false => short.exact(&activations.windows, weights),
        });
        for ((at, pixel), outcomes) in pixels.enumerate().zip(outcomes) {
            let index = pixel * channels + block * LANES;
            let Some((sums, (short, rows))) = sums.as_ref().zip(short) else {
                *outcomes = self.wide(lanes, (index, count), weights, activations);
                continue;
            };
            let sums = &sums[at];
            *outcomes = short.outcomes(sums, rows, count);
            if !self.level.counts_prefixes() {
                continue;
            }
            let required =
                short.required(&activations.windows[at], rows, sums, &outcomes.exact, outcomes.ran);
            if let Some(required) = required {
                outcomes.required = required.map(Some);
                continue;
            }
            let Activations { windows, shared, .. } = &mut *activations;
            self.share(lanes, index, shared);
            let (shared, factors) = (Shared::new(shared), weights.factors(lanes, &self.operands[1]));
            outcomes.require(&lanes.dot(), |bits| match short.run(&windows[at..=at], rows, Some(bits)) {
                Some([sums, ..]) => sums.lost().map(Some),
                None => lanes.sums(bits, shared, factors, count),
            });
        }
    }

    /// Takes the activations that all channels of a pixel share, that of output `index`.
    fn share(&self, lanes: &Lanes, index: usize, shared: &mut Vec<Factor>) {
        let Prepared { layer, cells, .. } = self.prepared;
        let out = layer.dots.window.output_position(index);
        shared.clear();
        shared.extend(cells.iter().map(|&cell| lanes.factor(0, self.element(0, out, cell))));
    }

    /// Returns the dot products of `count` channels from output `index` on, as far as they run in lanes of more bits.
    fn wide(
        &self,
        lanes: &Lanes,
        (index, count): (usize, usize),
        weights: &Weights,
        activations: &mut Activations,
    ) -> Outcomes {
        let Prepared { layer, gather, cells, .. } = self.prepared;
        let window = &layer.dots.window;
        let scale = |operand: usize, k: usize, lane: usize| {
            let scaled = self.operands[operand].scales.is_some();
            scaled.then(|| self.element(operand, window.output_position(index + lane), cells[k]).1)?
        };
        let wanted = self.delivers.then_some(self.level);
        let rows = weights.factors(lanes, &self.operands[1]);
        let Activations { shared, each, places, .. } = activations;
        if window.groups == 1 {
            self.share(lanes, index, shared);
            let shared = Shared::new(shared);
            return match lanes.grouped(shared, rows, count, scale) {
                Some(terms) => lanes.run(Ones, &terms, count, wanted),
                None => lanes.run(shared, rows, count, wanted),
            };
        }
        gather.places(&layer.dots, window.output_position(index), places);
        // Groups of channels lie side by side.
        let group = |lane: usize| window.group(index % window.channels() + lane);
        let mut offsets = [0; LANES];
        for (lane, offset) in offsets.iter_mut().enumerate().take(count) {
            *offset = (group(lane) - group(0)) * window.kernel[2];
        }
        let padding = lanes.factor(0, (0, None));
        each.fill((count, cells.len()), |k| {
            let first = gather.cell(places, k);
            move |lane: usize| first.map_or(padding, |first| self.factors[first + offsets[lane]])
        });
        match lanes.grouped(Each::new(each), rows, count, scale) {
            Some(terms) => lanes.run(Ones, &terms, count, wanted),
            None => lanes.run(Each::new(each), rows, count, wanted),
        }
    }

    /// Returns the codes of an element and of the scale of its block: of the activations (0), or of the weights (1).
    /// Padding is a zero.
    fn element(&self, operand: usize, out: OutputPosition, cell: KernelPosition) -> (i32, Option<i32>) {
        let dots = &self.prepared.layer.dots;
        let at = if operand == 0 { dots.activation(out, cell) } else { Some(dots.weight(out, cell)) };
        let codes = &self.operands[operand];
        at.map_or((0, None), |at| (codes.elements[at], codes.scale(at)))
    }

    /// Runs a dot product on the reference.
    fn outcome(&self, accumulation: &FloatDot, out: OutputPosition) -> Outcome {
        let exact = self.terms(out, &|_, code| code);
        match accumulation {
            FloatDot::Ordinary(dot) if dot.unit.flush => {
                let products = self.terms(out, &|format, code| dot.unit.operand(format, code));
                Outcome::new(accumulation, &exact, &products, self.level)
            }
            _ => Outcome::new(accumulation, &exact, &exact, self.level),
        }
    }

    /// Returns the terms of a dot product in the order of addition: products, or groups of products, times the scales of
    /// their blocks. `taken` returns the code as which the unit takes that of an operand.
    fn terms(&self, out: OutputPosition, taken: &dyn Fn(FloatFormat, u32) -> u32) -> Vec<Term> {
        let Prepared { layer, cells, .. } = self.prepared;
        let operands = [&layer.dots.activations, &layer.dots.weights];
        let mut products = cells.iter().map(|&cell| {
            let of = |operand: usize| {
                let (code, scale) = self.element(operand, out, cell);
                let format = operands[operand].format;
                let blocks = operands[operand].blocks.as_ref();
                let scale = blocks.zip(scale).map(|(blocks, code)| Term::of(blocks.format, code as u32));
                (Term::of(format, taken(format, code as u32)), scale)
            };
            let ((a, of_a), (w, of_w)) = (of(0), of(1));
            (a.times(w), [of_a, of_w])
        });
        let scaled =
            |term: Term, scales: [Option<Term>; 2]| scales.into_iter().flatten().fold(term, Term::times);
        let Some(groups) = &layer.groups else {
            return products.map(|(product, scales)| scaled(product, scales)).collect();
        };
        let group = |&count: &usize| {
            let group: Vec<_> = products.by_ref().take(count).collect();
            let scales = group.first().map_or([None; 2], |(_, scales)| *scales);
            scaled(Term::exact(group.into_iter().map(|(product, _)| product)), scales)
        };
        groups.iter().map(group).collect()
    }
}

/// Adds the difference of a layer's output words from those of the exact network.
pub(crate) fn compare(stats: &mut FloatStats, exact: &[i32], delivered: &[i32]) {
    let mut outputs = RealPairs::default();
    stats.output_mismatch +=
        exact.iter().zip(delivered).filter(|(exact, delivered)| exact != delivered).count() as u64;
    for (exact, delivered) in exact.chunks(LANES).zip(delivered.chunks(LANES)) {
        let codes = [exact, delivered].map(|words| {
            let mut codes = [0; LANES];
            codes.iter_mut().zip(words).for_each(|(code, &word)| *code = word as u32);
            codes
        });
        outputs.add(&codes[0], &codes[1]);
    }
    outputs.end(&mut stats.outputs);
}
