//! Tiles of a layer on the whole array: the inputs in every cycle, and the sums that leave it.
//!
//! The first tiles are a part of the layer with real activations and weights. Corner tiles, solved for the
//! array's rails, follow.

mod absent;
mod columns;
mod corner;
mod info;
mod slice;
mod unshown;

use guardbit_graph::{NodeId, Window};
use guardbit_hwmodels::{
    Accelerator, BiasPlace, Dataflow, Datapath, Depthwise, MacLayer, Program, Reduce, Terms,
};
use guardbit_sim::Reads;
use guardbit_sim::trace::trace;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::manifest::{Arithmetic, ArrayInfo, TileInfo};
use columns::Columns;
pub(crate) use info::{DONE, FIRST, LAST, LOAD, START, VALID};
use slice::Slice;

pub(crate) use absent::NoArray;
pub(crate) use info::{corner_gap, ctrl_bits, is_output_stationary, sum_bits};

/// Greatest number of processing elements, which a slow simulator runs in seconds.
pub(crate) const MAX_ELEMENTS: usize = 256;

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

/// Array part of a bundle, or the reason why the bundle has none.
#[derive(Debug, Clone)]
pub(crate) enum ArrayOfBundle {
    Present(Box<ArrayPart>),
    Absent(NoArray),
}

impl From<Result<ArrayPart, NoArray>> for ArrayOfBundle {
    fn from(made: Result<ArrayPart, NoArray>) -> Self {
        made.map_or_else(Self::Absent, |part| Self::Present(Box::new(part)))
    }
}

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
) -> Result<ArrayPart, NoArray> {
    let accelerator = program.accelerator_of(node);
    let window = shared(&layer.dots.window, layer.dots.streams_weights());
    covered(accelerator, &layer.datapath, &window)?;
    if inputs.is_empty() {
        return Err(NoArray::NoActivations);
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
) -> Result<ArrayPart, NoArray> {
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
pub(crate) fn covered(accelerator: &Accelerator, datapath: &Datapath, window: &Window) -> Result<(), String> {
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
