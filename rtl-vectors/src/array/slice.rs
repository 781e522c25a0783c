//! Selects the part of a layer that streams through the array.

use guardbit_graph::{OutputPosition, Window};
use guardbit_hwmodels::timing::{ArrayCycles, Gemm};
use guardbit_hwmodels::{Accelerator, Dataflow, MacLayer, TimingConvention};
use guardbit_sim::Reads;
use guardbit_sim::trace::operands;

use super::info::{CTRL, overflows};
use crate::manifest::{ArrayCycleInfo, ArrayInfo, Field, TileInfo, WordOrder};

/// Greatest number of beats.
const MAX_BEATS: usize = 1536;
/// Class of tiles with operands of the network.
pub(super) const REAL: &str = "real";
/// Number of candidate first pixels that are searched for overflowing sums.
const SEARCHED: usize = 8;

/// Block of a layer's outputs, with all their products.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub sample: usize,
    pub first_pixel: usize,
    pub gemm: Gemm,
    pub cycles: ArrayCycles,
}

impl Slice {
    /// Returns a slice of more than one tile along each axis, with its last tile partly used, if the limit of
    /// beats allows.
    pub fn fitting(accelerator: &Accelerator, window: &Window) -> Result<Self, String> {
        let whole = Gemm::of(window);
        let array = accelerator.array;
        let more = |size: usize| [2 * size + size / 2, size + size.div_ceil(2), size, size.div_ceil(2), 1];
        let pixels = match accelerator.dataflow {
            Dataflow::OutputStationary => &more(array.rows)[1..],
            _ => &more(array.rows)[..],
        };
        for groups in [2, 1] {
            for &channels in &more(array.cols)[1..] {
                for &pixels in pixels {
                    let gemm = Gemm {
                        pixels: pixels.min(whole.pixels),
                        channels: channels.min(whole.channels),
                        groups: groups.min(whole.groups),
                        ..whole
                    };
                    let cycles = ArrayCycles::new(accelerator, gemm);
                    if beats(&cycles) <= MAX_BEATS {
                        return Ok(Self { sample: 0, first_pixel: 0, gemm, cycles });
                    }
                }
            }
        }
        Err(format!("one tile takes more than {MAX_BEATS} beats"))
    }

    /// Returns evenly spaced pixels at which a slice of a layer may begin.
    pub fn candidates(&self, window: &Window) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let room = Gemm::of(window).pixels - self.gemm.pixels;
        (0..SEARCHED).map(move |i| room * i / (SEARCHED - 1))
    }

    /// Returns the candidate within `window` for which most dot products overflow.
    pub fn busiest(&self, layer: &MacLayer, window: &Window, inputs: &[Reads<'_, [i32]>]) -> usize {
        let events = |first: usize| {
            let slice = Self { first_pixel: first, ..*self };
            let mut outputs = 0;
            for pixel in (0..self.gemm.pixels).step_by(4) {
                for channel in 0..self.gemm.channels {
                    let out = slice.output(layer, 0, pixel, channel);
                    outputs +=
                        usize::from(overflows(layer, out.c, &operands(layer, inputs[self.sample], out)));
                }
            }
            outputs
        };
        self.candidates(window).rev().max_by_key(|&first| events(first)).unwrap_or(0)
    }

    /// Returns the layer's output at a place of the slice.
    pub fn output(&self, layer: &MacLayer, group: usize, pixel: usize, channel: usize) -> OutputPosition {
        let window = &layer.dots.window;
        let of_group = window.channels() / window.groups.max(1);
        window.output_position((self.first_pixel + pixel) * window.channels() + group * of_group + channel)
    }

    pub fn info(&self, accelerator: &Accelerator) -> ArrayInfo {
        let array = accelerator.array;
        let (tiles, words) = self.tiles(accelerator);
        let field = |(lsb, name): (u32, &&str)| Field { name: (*name).into(), lsb, bits: 1 };
        ArrayInfo {
            dataflow: accelerator.dataflow,
            rows: array.rows,
            cols: array.cols,
            sample: self.sample,
            first_pixel: self.first_pixel,
            pixels: self.gemm.pixels,
            channels: self.gemm.channels,
            groups: self.gemm.groups,
            tiles,
            beats: beats(&self.cycles),
            words,
            word_order: match accelerator.dataflow {
                Dataflow::OutputStationary => WordOrder::BottomRowFirst,
                _ => WordOrder::Pixels,
            },
            real_beats: beats(&self.cycles),
            real_words: words,
            ctrl: (0..).zip(&CTRL).map(field).collect(),
            cycles: self.cycle_info(accelerator),
        }
    }

    fn cycle_info(&self, accelerator: &Accelerator) -> ArrayCycleInfo {
        let c = self.cycles;
        let scalesim = accelerator.timing.convention == TimingConvention::ScalesimV3;
        let difference = if scalesim {
            Some(
                "SCALE-Sim ends with the last addition, leaving the drain out, and reports the number of the last cycle, \
                 counted from 0, for every matrix product",
            )
        } else {
            (c.cycles != c.counted).then_some(
                "the stimuli give every tile the time of a full one; in the model a tile of fewer rows ends sooner",
            )
        };
        ArrayCycleInfo {
            convention: accelerator.timing.convention,
            preload: c.preload,
            fill: c.skew,
            steps: c.steps,
            period: c.period,
            drain: c.drain,
            cycles: c.cycles,
            model: c.counted,
            difference: difference.map(str::to_owned),
        }
    }

    /// Returns the tiles in order of time, and the number of words of sums.
    fn tiles(&self, accelerator: &Accelerator) -> (Vec<TileInfo>, usize) {
        let (rows, cols) = (accelerator.array.rows, accelerator.array.cols);
        let Gemm { pixels, terms, channels, groups, .. } = self.gemm;
        let output_stationary = accelerator.dataflow == Dataflow::OutputStationary;
        let mut tiles: Vec<TileInfo> = Vec::new();
        let mut words = 0;
        for group in 0..groups {
            for first_channel in (0..channels).step_by(cols) {
                let inner = if output_stationary { pixels } else { terms };
                for first in (0..inner).step_by(rows) {
                    let here = rows.min(inner - first);
                    let start = tiles.len() * self.cycles.period + self.cycles.preload;
                    let tile = TileInfo {
                        group,
                        first_pixel: if output_stationary { first } else { 0 },
                        pixels: if output_stationary { here } else { pixels },
                        first_channel,
                        channels: cols.min(channels - first_channel),
                        first_term: if output_stationary { 0 } else { first },
                        terms: if output_stationary { terms } else { here },
                        first_beat: start,
                        first_word: None,
                        words: 0,
                        class: REAL.into(),
                    };
                    let leaves = if output_stationary { rows } else { pixels };
                    let done = output_stationary || first + here == terms;
                    let (first_word, count) = if done { (Some(words), leaves) } else { (None, 0) };
                    words += count;
                    tiles.push(TileInfo { first_word, words: count, ..tile });
                }
            }
        }
        (tiles, words)
    }
}

/// Returns the number of beats of the array's inputs.
fn beats(cycles: &ArrayCycles) -> usize {
    cycles.folds.saturating_sub(1) * cycles.period + cycles.preload + cycles.steps
}
