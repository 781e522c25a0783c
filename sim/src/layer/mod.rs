//! Runs one accelerated layer on the activations of one sample.

mod images;

use std::ops::Range;

use guardbit_graph::DType;
use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::codes::{Codes, Packed, PackedMut};
use crate::dot::{DotEngine, DotOutcome};
use crate::error::Trap;
use crate::fast::{self, Image, Job, LayerCounts, Prepared, Ran, Scratch};
use crate::options::{Engine, Options};
use crate::output::{self, Sum};
use crate::reads::{LayerCodes, Reads};
use crate::reference::{ReferenceEngine, read_operands};
use crate::stats::LayerStats;

/// Number of multiplications per parallel task of the reference engine.
const REFERENCE_TASK: usize = 1 << 16;
/// Number of multiplications per parallel task of the fast engine.
const FAST_TASK: usize = 1 << 23;
/// Number of multiplications for which counters have room.
const MOST_MACS: usize = 1 << 29;

/// Layer of one program. Layers that run together differ only in their registers.
pub(crate) struct LayerRun<'a, 'p> {
    pub layer: &'p MacLayer,
    /// Prepared layer of the fast engine; empty if that engine is not selected.
    pub prepared: &'a Prepared<'p>,
    /// Counts to which the results are added.
    pub counts: &'a mut LayerCounts,
    /// First overflow that stops the program.
    pub trap: Option<Trap>,
}

/// Inputs of a layer, and the requested results.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub codes: Reads<'a, Codes>,
    /// Type of the activations.
    pub input: DType,
    /// Type of the output codes.
    pub dtype: DType,
    pub sample: usize,
    pub options: &'a Options,
    /// Whether the exact codes are requested.
    pub wants_exact: bool,
}

impl<'a> Reading<'a> {
    /// Returns the run of some pixels of the activations laid out in `image`.
    fn job<'j>(&self, image: &'j Image<'j>, pixels: (usize, usize)) -> Job<'j>
    where
        'a: 'j,
    {
        Job { image, pixels, sample: self.sample, options: self.options, wants_exact: self.wants_exact }
    }
}

/// Output codes computed from one set of activations.
pub(crate) struct Made {
    /// Codes of the exact sums. Complete if requested, or if some program produced exactly these.
    pub exact: Codes,
    /// Codes of each program's narrow hardware; `None` if they equal the exact codes.
    pub simulated: Vec<Option<Codes>>,
}

/// Runs every program's layer on the same activations.
pub(crate) fn run(runs: &mut [LayerRun<'_, '_>], reading: &Reading<'_>, scratch: &mut Scratch) -> Made {
    match runs.first().map(|run| run.layer) {
        Some(layer) if layer.dots.streams_weights() && reading.options.engine == Engine::Fast => {
            images::run(layer, runs, reading, scratch)
        }
        layer => run_pixels(runs, reading, 0..layer.map_or(0, pixels), &mut None, scratch),
    }
}

/// Returns the number of output pixels of a layer.
fn pixels(layer: &MacLayer) -> usize {
    layer.dots.window.dots() / layer.dots.window.channels().max(1)
}

/// Runs some output pixels of every program's layer. `image` holds the activations once they are laid out.
fn run_pixels<'c>(
    runs: &mut [LayerRun<'_, '_>],
    reading: &Reading<'c>,
    pixels: Range<usize>,
    image: &mut Option<Image<'c>>,
    scratch: &mut Scratch,
) -> Made {
    let mut made = Made { exact: Packed::zeros(reading.dtype, 0).into(), simulated: vec![None; runs.len()] };
    if image.is_none() {
        *image = runs.iter().find_map(|run| run.prepared.image(reading.codes.activations));
    }
    let mut together = Vec::with_capacity(runs.len());
    let mut slots = Vec::with_capacity(runs.len());
    let layer = runs.first().map(|run| run.layer);
    for (slot, run) in runs.iter_mut().enumerate() {
        if run.prepared.runs() {
            together.push((run.prepared, &mut *run.counts));
            slots.push(slot);
        } else {
            let (exact, simulated) = run_reference(run, reading, pixels.clone());
            made.exact = Codes::within(reading.dtype, &exact);
            made.simulated[slot] = Some(Codes::within(reading.dtype, &simulated));
        }
    }
    if let (Some(layer), Some(image), false) = (layer, &*image, together.is_empty()) {
        let before: Vec<u64> = together.iter().map(|(_, counts)| counts.events()).collect();
        let (exact, ran) = run_fast(layer, together, image, pixels.clone(), reading, scratch);
        made.exact = exact;
        for ((slot, ran), before) in slots.into_iter().zip(ran).zip(before) {
            let run = &mut runs[slot];
            made.simulated[slot] = ran.codes.map(Codes::from);
            run.trap = ran.trap;
            if run.trap.is_none() && run.counts.events() > before {
                let job = reading.job(image, (pixels.start, pixels.end));
                run.trap = run.prepared.find_trap(job, run.counts.stats.empty_part(reading.sample));
            }
        }
    }
    made
}

/// Returns the exact output codes of a layer.
pub(crate) fn exact_codes(
    layer: &MacLayer,
    prepared: Option<&Prepared<'_>>,
    reading: &Reading<'_>,
    scratch: &mut Scratch,
) -> Codes {
    match layer.dots.streams_weights() && reading.options.engine == Engine::Fast {
        true => images::exact_codes(layer, reading, scratch),
        false => exact_pixels(layer, prepared, reading, 0..pixels(layer), &mut None, scratch),
    }
}

/// Returns the exact output codes of some pixels. `image` holds the activations once they are laid out.
fn exact_pixels<'c>(
    layer: &MacLayer,
    prepared: Option<&Prepared<'_>>,
    reading: &Reading<'c>,
    pixels: Range<usize>,
    image: &mut Option<Image<'c>>,
    scratch: &mut Scratch,
) -> Codes {
    let &Reading { codes, dtype, options, .. } = reading;
    if image.is_none() {
        *image = prepared.and_then(|prepared| prepared.image(codes.activations));
    }
    let covered = prepared.zip(image.as_ref());
    let made =
        covered.and_then(|(prepared, image)| prepared.exact_codes(image, pixels.clone(), options, scratch));
    if let Some(codes) = made {
        return codes;
    }
    let codes = LayerCodes::from(codes);
    let one = |index| {
        let out = layer.dots.window.output_position(index);
        let operands = read_operands(layer, codes.reads(), out);
        let products = operands.iter().map(|o| o.activation * o.weight).sum();
        let sum = Sum {
            delivered: 0,
            exact: output::exact_sum(layer, out.c, products),
            activations: operands.iter().map(|o| o.activation).sum(),
            weights: operands.iter().map(|o| o.weight).sum(),
            count: operands.len(),
        };
        output::exact_code(layer, out.c, &sum)
    };
    let channels = layer.dots.window.channels();
    let dots = pixels.start * channels..pixels.end * channels;
    let made: Vec<i32> = match options.engine {
        Engine::Reference => dots.map(one).collect(),
        Engine::Fast => dots.into_par_iter().with_min_len(task(layer, REFERENCE_TASK)).map(one).collect(),
    };
    Codes::within(dtype, &made)
}

/// Returns the number of outputs that take about `macs` multiplications.
fn task(layer: &MacLayer, macs: usize) -> usize {
    (macs / layer.order.len().max(1)).max(1)
}

type Together<'t, 'a, 'p> = Vec<(&'a Prepared<'p>, &'t mut LayerCounts)>;

/// Runs layers on vectors. Returns the exact codes, and the results of each.
fn run_fast(
    layer: &MacLayer,
    together: Together<'_, '_, '_>,
    image: &Image<'_>,
    Range { start, end }: Range<usize>,
    reading: &Reading<'_>,
    scratch: &mut Scratch,
) -> (Codes, Vec<Ran>) {
    let channels = layer.dots.window.channels().max(1);
    let pixels = end - start;
    let mut exact = scratch.spare().take(reading.dtype, pixels * channels);
    let mut all: Vec<Ran> = together.iter().map(|_| Ran::default()).collect();
    let step = (task(layer, FAST_TASK) / channels).max(1);
    let macs = pixels * channels * layer.order.len();
    let is_whole = pixels <= step || (rayon::current_num_threads() == 1 && macs <= MOST_MACS);
    if is_whole {
        let ran = fast::run(together, reading.job(image, (start, end)), scratch, exact.as_mut());
        return (exact.into(), ran);
    }
    let mut pieces = Vec::new();
    let mut rest = exact.as_mut();
    for first in (start..end).step_by(step) {
        let end = end.min(first + step);
        let (piece, after) = rest.split_at((end - first) * channels);
        pieces.push(((first, end), piece));
        rest = after;
    }
    let own = |(prepared, counts): &(&Prepared<'_>, &mut LayerCounts)| counts.empty(prepared, reading.sample);
    let shared = &together;
    // Parts that run one after another share what they make.
    let _held: Vec<_> = together.iter().map(|(prepared, _)| prepared.hold()).collect();
    let run_piece = |(pixels, piece): ((usize, usize), PackedMut<'_>)| {
        let mut counts: Vec<LayerCounts> = shared.iter().map(own).collect();
        let layers = shared.iter().map(|(prepared, _)| *prepared).zip(&mut counts).collect();
        let made = fast::run(layers, reading.job(image, pixels), &mut Scratch::default(), piece);
        for (counts, (prepared, _)) in counts.iter_mut().zip(shared) {
            counts.flush(prepared, reading.options);
        }
        (pixels, made, counts)
    };
    let done: Vec<_> = pieces.into_par_iter().map(run_piece).collect();
    let mut together = together;
    for (pixels, ran, counts) in done {
        for ((_, all), counts) in together.iter_mut().zip(counts) {
            all.merge(counts);
        }
        for (whole, piece) in all.iter_mut().zip(ran) {
            whole.trap = whole.trap.into_iter().chain(piece.trap).min();
            if let Some(piece) = piece.codes {
                let codes = whole.codes.get_or_insert_with(|| exact.clone());
                codes.overwrite((pixels.0 - start) * channels, &piece);
            }
        }
    }
    (exact.into(), all)
}

/// Runs some dot products on the reference engine. Returns the exact and the simulated codes.
fn run_reference(
    run: &mut LayerRun<'_, '_>,
    reading: &Reading<'_>,
    pixels: Range<usize>,
) -> (Vec<i32>, Vec<i32>) {
    let codes = LayerCodes::from(reading.codes);
    let channels = run.layer.dots.window.channels();
    let dots = pixels.start * channels..pixels.end * channels;
    let step = task(run.layer, REFERENCE_TASK);
    let shared = &*run;
    let new = || Dots::new(shared.counts.stats.empty_part(reading.sample));
    let with = |mut part: Dots, begin: usize| {
        part.run(shared.layer, codes.reads(), begin..dots.end.min(begin + step), reading);
        part
    };
    let starts: Vec<usize> = dots.clone().step_by(step).collect();
    let part = match reading.options.engine {
        Engine::Reference => starts.into_iter().fold(new(), with),
        Engine::Fast => starts.into_par_iter().fold(new, with).reduce(new, Dots::merge),
    };
    let Dots { stats, trap, mut codes } = part;
    run.counts.stats.merge(stats);
    run.trap = trap;
    codes.sort_unstable_by_key(|(index, ..)| *index);
    codes.into_iter().map(|(_, exact, simulated)| (exact, simulated)).unzip()
}

/// Results of some dot products of the reference engine.
struct Dots {
    stats: LayerStats,
    trap: Option<Trap>,
    /// Index of the output, exact code and simulated code.
    codes: Vec<(usize, i32, i32)>,
}

impl Dots {
    fn new(stats: LayerStats) -> Self {
        Self { stats, trap: None, codes: Vec::new() }
    }

    fn run(
        &mut self,
        layer: &MacLayer,
        reads: Reads<'_, [i32]>,
        outputs: Range<usize>,
        reading: &Reading<'_>,
    ) {
        let mut engine = ReferenceEngine::new(layer, reads, reading.sample);
        let mut outcome = DotOutcome::default();
        let sample = reading.sample;
        for index in outputs {
            let out = layer.dots.window.output_position(index);
            engine.run(out, &mut outcome);
            self.codes.push((index, outcome.exact_code, outcome.code));
            self.stats.record(layer, sample, out, &outcome, reading.options);
            self.trap = self.trap.into_iter().chain(outcome.trap(layer, sample, out)).min();
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.stats.merge(other.stats);
        self.codes.extend(other.codes);
        self.trap = self.trap.into_iter().chain(other.trap).min();
        self
    }
}
