//! Tiles of a layer on the whole array: the inputs in every cycle, and the sums that leave it.
//!
//! The first tiles are a part of the layer with real activations and weights. Corner tiles, solved for the
//! array's rails, follow.

mod corner;
mod slice;

use guardbit_graph::{NodeId, Window};
use guardbit_hwmodels::timing::Gemm;
use guardbit_hwmodels::{
    Accelerator, BiasPlace, Dataflow, Datapath, Depthwise, MacLayer, Program, Reduce, Terms,
};
use guardbit_sim::Reads;
use guardbit_sim::trace::{TraceOperand, operands, trace, trace_observed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::manifest::{Arithmetic, ArrayInfo, TileInfo};
use slice::Slice;

/// Greatest number of processing elements, which a slow simulator runs in seconds.
pub(crate) const MAX_ELEMENTS: usize = 256;

/// Control bits of a beat.
pub(crate) const CTRL: [&str; 6] = ["valid", "first", "last", "load", "start", "done"];
const VALID: i64 = 1;
const FIRST: i64 = 1 << 1;
const LAST: i64 = 1 << 2;
const LOAD: i64 = 1 << 3;
const START: i64 = 1 << 4;
const DONE: i64 = 1 << 5;

/// Array part of a bundle.
#[derive(Debug, Clone)]
pub(crate) struct ArrayPart {
    pub info: ArrayInfo,
    /// Activations per beat and row.
    pub activations: Vec<i64>,
    /// Weights per beat and column.
    pub weights: Vec<i64>,
    /// Control bits per beat.
    pub ctrl: Vec<i64>,
    /// Sums per word and column: the n-th word holds the n-th sum that leaves every column.
    pub sums: Vec<i64>,
    /// Per word and column: 1 if the sum belongs to an output.
    pub mask: Vec<i64>,
}

/// Reason for a missing array part that depends on the operands alone: there are no activations.
pub(crate) const NO_ACTIVATIONS: &str = "there are no activations";
/// Reason for a missing array part that depends on the operands alone: operands are not shared.
pub(crate) const NOT_SHARED: &str = "the layer's outputs share no operands along rows and columns";

/// Returns tiles of `layer` for its array.
///
/// # Errors
/// The reason why no design of this array exists, or why a bundle cannot hold it.
pub(crate) fn array(
    program: &Program,
    node: NodeId,
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    inputs: &[Reads<'_, [i32]>],
    seed: u64,
) -> Result<ArrayPart, String> {
    let accelerator = program.accelerator_of(node);
    let window = shared(&layer.dots.window, layer.dots.streams_weights());
    covered(accelerator, &layer.datapath, &window)?;
    if inputs.is_empty() {
        return Err(NO_ACTIVATIONS.into());
    }
    let mut slice = Slice::fitting(accelerator, &window)?;
    slice.first_pixel = slice.busiest(layer, &window, inputs);
    let columns = Columns::read(layer, inputs, &slice)?;
    Ok(part(accelerator, &slice, columns, layer, arithmetic, seed))
}

/// Returns the part of a window whose outputs share weights: the first image if every image has its own
/// weights.
pub(crate) fn shared(window: &Window, two_activations: bool) -> Window {
    Window { batch: if two_activations { window.batch.min(1) } else { window.batch }, ..*window }
}

/// Returns the array part of a bundle again, from the start of its real tiles and the operands in their
/// beats: `activation(beat, row)` and `weight(beat, column)`. Only the datapath and the number of products of
/// `layer` are used.
///
/// # Errors
/// Under the conditions of [`array()`].
pub(crate) fn again(
    accelerator: &Accelerator,
    window: &Window,
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    first_pixel: usize,
    operands: [&dyn Fn(usize, usize) -> i64; 2],
    seed: u64,
) -> Result<ArrayPart, String> {
    covered(accelerator, &accelerator.datapath, window)?;
    let mut slice = Slice::fitting(accelerator, window)?;
    let mut candidates = slice.candidates(window);
    slice.first_pixel = candidates.find(|&first| first == first_pixel).unwrap_or(0);
    let columns = Columns::from_beats(&slice, &slice.info(accelerator), operands);
    Ok(part(accelerator, &slice, columns, layer, arithmetic, seed))
}

fn part(
    accelerator: &Accelerator,
    slice: &Slice,
    mut columns: Columns,
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    seed: u64,
) -> ArrayPart {
    let mut info = slice.info(accelerator);
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 1);
    corner::append(&mut info, &mut columns, layer, arithmetic, &mut random);
    let mut part = ArrayPart::empty(info, seed);
    for tile in part.info.tiles.clone() {
        match accelerator.dataflow {
            Dataflow::OutputStationary => part.output_stationary(&tile, &columns),
            _ => part.weight_stationary(&tile, &columns),
        }
    }
    part.expect(layer, &columns);
    part
}

/// Returns an error unless the reference RTL supports this array.
fn covered(accelerator: &Accelerator, datapath: &Datapath, window: &Window) -> Result<(), String> {
    let array = accelerator.array;
    let serial = datapath.levels.iter().all(|l| l.reduce == Reduce::Serial);
    let levels = match (accelerator.dataflow, datapath.levels.as_slice()) {
        (Dataflow::OutputStationary, [_]) => serial,
        (Dataflow::WeightStationary, [chain, _]) => serial && chain.terms == Terms::Count(array.rows),
        (Dataflow::OutputStationary | Dataflow::WeightStationary, _) => false,
        _ => return Err("the dataflow is neither output nor weight stationary".into()),
    };
    let elements = array.rows * array.cols;
    let one_group_at_a_time = matches!(array.depthwise, Depthwise::ByKind | Depthwise::Serial);
    match () {
        () if window.groups > 1 && !one_group_at_a_time => Err(format!(
            "`array.depthwise` is {}: the design runs groups one after the other",
            array.depthwise
        )),
        () if elements == 1 => Err("the array has one element: the MAC unit".into()),
        () if elements > MAX_ELEMENTS => {
            Err(format!("the array has {elements} elements; arrays of up to {MAX_ELEMENTS} are exported"))
        }
        () if datapath.order.walk.depends_on_data() => Err(
            "each output has an order of its own, so that outputs share no operands along rows and columns"
                .into(),
        ),
        () if array.dot_width > 1 || array.cores > 1 => {
            Err("the array's elements have one multiplier each, on one core".into())
        }
        () if !levels => {
            Err("the array has one serial level (output stationary), or a serial chain of `rows` \
                              below another serial level (weight stationary)"
                .into())
        }
        () if datapath.bias.at == BiasPlace::Preload => Err("the array does not preload biases".into()),
        () => Ok(()),
    }
}

/// Operands of a slice, by row and column of the matrix products.
struct Columns {
    /// Indexed `[group][pixel][k]`.
    activations: Vec<Vec<Vec<i64>>>,
    /// Indexed `[group][channel][k]`.
    weights: Vec<Vec<Vec<i64>>>,
}

impl Columns {
    fn read(layer: &MacLayer, inputs: &[Reads<'_, [i32]>], slice: &Slice) -> Result<Self, String> {
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
                        return Err(NOT_SHARED.into());
                    }
                }
            }
            activations.push(rows);
            weights.push(cols);
        }
        Ok(Self { activations, weights })
    }

    /// Returns the operands of the real tiles, reconstructed from their beats.
    fn from_beats(
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

    fn dot(&self, group: usize, pixel: usize, channel: usize) -> Vec<TraceOperand> {
        let (row, col) = (&self.activations[group][pixel], &self.weights[group][channel]);
        let pair = |(&a, &w): (&i64, &i64)| TraceOperand { activation: a.into(), weight: w.into() };
        row.iter().zip(col).map(pair).collect()
    }
}

impl ArrayPart {
    /// Returns beats filled with random values, which must not affect any sum.
    fn empty(info: ArrayInfo, seed: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut noise = |count: usize| (0..count).map(|_| i64::from(random.next_u64() as i8 >> 5)).collect();
        let [beats, words] = [info.beats, info.words];
        Self {
            activations: noise(beats * info.rows),
            weights: noise(beats * info.cols),
            ctrl: vec![0; beats],
            sums: vec![0; words * info.cols],
            mask: vec![0; words * info.cols],
            info,
        }
    }

    fn output_stationary(&mut self, tile: &TileInfo, columns: &Columns) {
        for k in 0..tile.terms {
            let beat = tile.first_beat + k;
            self.ctrl[beat] |= VALID;
            self.ctrl[beat] |= if k == 0 { FIRST } else { 0 } | if k + 1 == tile.terms { LAST } else { 0 };
            for row in 0..tile.pixels {
                self.activations[beat * self.info.rows + row] =
                    columns.activations[tile.group][tile.first_pixel + row][k];
            }
            for col in 0..tile.channels {
                self.weights[beat * self.info.cols + col] =
                    columns.weights[tile.group][tile.first_channel + col][k];
            }
        }
    }

    fn weight_stationary(&mut self, tile: &TileInfo, columns: &Columns) {
        let (rows, cols) = (self.info.rows, self.info.cols);
        for row in 0..rows {
            // The weights of the bottom row come first.
            let beat = tile.first_beat - 1 - row;
            self.ctrl[beat] |= LOAD;
            for col in 0..cols {
                let used = row < tile.terms && col < tile.channels;
                self.weights[beat * cols + col] = match used {
                    true => columns.weights[tile.group][tile.first_channel + col][tile.first_term + row],
                    false => 0,
                };
            }
        }
        let terms = columns.activations[tile.group][0].len();
        for pixel in 0..tile.pixels {
            let beat = tile.first_beat + pixel;
            self.ctrl[beat] |= VALID | if pixel == 0 { FIRST } else { 0 };
            self.ctrl[beat] |= if tile.first_term == 0 { START } else { 0 };
            self.ctrl[beat] |= if tile.first_term + tile.terms == terms { DONE } else { 0 };
            for row in 0..tile.terms {
                self.activations[beat * rows + row] =
                    columns.activations[tile.group][tile.first_pixel + pixel][tile.first_term + row];
            }
        }
    }

    /// Computes the sums that leave the array with the reference engine.
    fn expect(&mut self, layer: &MacLayer, columns: &Columns) {
        for word in 0..self.info.words {
            for col in 0..self.info.cols {
                let Some(output) = self.info.output(word, col) else { continue };
                let operands = columns.dot(output.group, output.pixel, output.channel);
                let at = word * self.info.cols + col;
                // Only the weights of a channel reach the array, so any channel will do.
                self.sums[at] = trace(layer, 0, &operands).delivered as i64;
                self.mask[at] = 1;
            }
        }
    }
}

/// Output of a slice, as positions within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub group: usize,
    pub pixel: usize,
    pub channel: usize,
    /// Last tile that adds to the output.
    pub tile: usize,
}

impl ArrayInfo {
    /// Returns the output whose sum is word `word` of column `col`, or `None` if that word belongs to no
    /// output.
    pub(crate) fn output(&self, word: usize, col: usize) -> Option<Output> {
        let (index, tile) = self
            .tiles
            .iter()
            .enumerate()
            .find(|(_, tile)| tile.first_word.is_some_and(|w| (w..w + tile.words).contains(&word)))?;
        let line = word - tile.first_word?;
        // Stationary sums leave a column from the bottom row on.
        let row = if self.dataflow == Dataflow::OutputStationary { self.rows - 1 - line } else { line };
        (row < tile.pixels && col < tile.channels).then_some(Output {
            group: tile.group,
            pixel: tile.first_pixel + row,
            channel: tile.first_channel + col,
            tile: index,
        })
    }

    /// Returns the operands of `output`, reconstructed from the beats: `word(beat, row or column)`.
    pub(crate) fn operands(
        &self,
        output: Output,
        activation: impl Fn(usize, usize) -> i64,
        weight: impl Fn(usize, usize) -> i64,
    ) -> Vec<TraceOperand> {
        let mut all = Vec::new();
        let same = |t: &&TileInfo| {
            t.group == output.group
                && (t.first_pixel..t.first_pixel + t.pixels).contains(&output.pixel)
                && (t.first_channel..t.first_channel + t.channels).contains(&output.channel)
        };
        for tile in self.tiles.iter().filter(same) {
            let (pixel, col) = (output.pixel - tile.first_pixel, output.channel - tile.first_channel);
            for k in 0..tile.terms {
                let (a, w) = match self.dataflow {
                    Dataflow::OutputStationary => {
                        (activation(tile.first_beat + k, pixel), weight(tile.first_beat + k, col))
                    }
                    _ => (activation(tile.first_beat + pixel, k), weight(tile.first_beat - 1 - k, col)),
                };
                all.push(TraceOperand { activation: a.into(), weight: w.into() });
            }
        }
        all
    }
}

/// Returns the number of beats between the last real tile and the first corner tile, after which every sum
/// has left the array.
pub(crate) fn corner_gap(info: &ArrayInfo) -> usize {
    2 * info.rows + info.cols + 8
}

/// Returns the number of fields of a control word.
pub(crate) fn ctrl_bits() -> u32 {
    CTRL.len() as u32
}

/// Returns whether the array is output-stationary.
pub(crate) fn is_output_stationary(info: &ArrayInfo) -> bool {
    info.dataflow == Dataflow::OutputStationary
}

/// Returns the width of a sum that leaves the array.
pub(crate) fn sum_bits(arithmetic: &Arithmetic) -> u32 {
    arithmetic.levels.last().map_or(32, |l| l.register.port_bits)
}

/// Returns whether some register of a level overflows in a dot product of output channel `channel`.
fn overflows(layer: &MacLayer, channel: usize, operands: &[TraceOperand]) -> bool {
    let mut any = false;
    trace_observed(layer, channel, operands, &mut |step| any |= step.overflow.is_some());
    any
}
