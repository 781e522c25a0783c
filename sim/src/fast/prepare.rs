//! Prepares a layer for the fast engine, once: packed weights, bounds, the register.

use std::ops::{Range, RangeInclusive};

use guardbit_graph::IntegerSlice;
use guardbit_hwmodels::bounds;
use guardbit_hwmodels::{Check, Level, MacLayer, Packing, Reduce, Weights};
use guardbit_num::{Format, Overflow};

use super::bytes::{ByteBlock, QuadLayout};
use super::finish::Channels;
use super::image::Geometry;
use super::kernels::{BOUND_PAIRS, LANES, Lane, Lanes, Pair, Rails, Row};
use super::norms::{self, SquaredWeights};
use super::pairs::{PairRow, has_nine_bits};
use super::simd::{Kernels, ShortMode};
use super::span::Span;
use super::words::PairLayout;
use crate::output;

/// Least distance that sums must keep from the limits of 32 bits.
const MARGIN: i64 = 1 << 20;

/// Block of up to [`LANES`] output channels.
#[derive(Debug)]
pub(super) struct Block {
    /// First channel and number of channels.
    pub first: usize,
    pub count: usize,
    pub reads: Reads,
    weights: Weights,
    /// Whether sums can be computed from weights of two steps at a time.
    pub fits_pairs: bool,
    /// Weights of two steps at a time for operands in place, as pairs of adjacent cells.
    pub in_place: Option<Vec<Pair>>,
    /// Weights as bytes, four steps at a time, if sums are computed from bytes.
    pub bytes: Option<ByteBlock>,
    /// How weights for two windows are laid out, if these are stepped together.
    pub two_windows: Option<fn(&Row) -> PairRow>,
    /// Whether windows are stepped one by one on lanes of 16 bits.
    pub one_window: bool,
    /// Whether every product fits 16 bits.
    pub short: bool,
    /// Initial value of exact sums: a preloaded bias at unit 1. Datapaths that shift have no [`Path`], so
    /// that stepping starts from this value too.
    pub start: Lanes,
    /// Sums of the squared weights.
    pub squares: SquaredWeights,
    /// Bounds of every prefix of every dot product, from weights and input range alone.
    pub bounds: [Span; LANES],
}

/// Source of a block's activations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reads {
    /// All channels read one window, whose first input channel is this.
    Window(usize),
    /// Every channel reads an input channel of its own; they are adjacent, and this is the first one.
    Neighbours(usize),
    /// Every channel reads an input channel of its own, given by this list.
    Lanes(Vec<usize>),
}

/// Single serial level that the kernels support.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// Register; `None` for an exact level.
    pub register: Option<Narrow>,
    pub check: Check,
    pub signed: bool,
}

/// Narrow register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Narrow {
    pub format: Format,
    pub overflow: Overflow,
    /// Widest rails that 32-bit sums can reach.
    pub rails: Rails,
    /// Rails on 16-bit lanes, if these hold more than the register.
    pub sixteen: Option<Rails<i16>>,
    /// Mode in which specialized kernels step it on lanes of 16 bits, if they support it.
    pub short: Option<ShortMode>,
    /// Least and greatest value of the format, as far as 32-bit sums can reach them. They define persistent
    /// and transient overflows.
    pub held: (i32, i32),
}

impl Reads {
    /// Returns the first input channel that the lanes read; 0 if each lane has an index of its own.
    pub fn first(&self) -> usize {
        match *self {
            Self::Window(first) | Self::Neighbours(first) => first,
            Self::Lanes(_) => 0,
        }
    }

    /// Returns reads of one input channel per lane.
    pub fn lanes(channels: Vec<usize>) -> Self {
        match channels.first() {
            Some(&first) if channels.iter().enumerate().all(|(i, &c)| c == first + i) => {
                Self::Neighbours(first)
            }
            _ => Self::Lanes(channels),
        }
    }
}

impl Block {
    /// Returns the weights, indexed `[k][lane]`; 0 where there is no channel.
    pub fn rows(&self) -> Vec<Row> {
        rows(&self.weights, self.first, self.count)
    }

    /// Returns whether all channels read one window.
    pub fn reads_window(&self) -> bool {
        matches!(self.reads, Reads::Window(_))
    }

    /// Returns the input of the output stage; `register` is the narrow one, if there is one.
    pub fn delivered(&self, register: Option<Narrow>) -> Channels {
        let delivered = |sums: Span| match register {
            Some(narrow) if !narrow.keeps(sums) => {
                Span::new(sums.least.min(narrow.held.0.into()), sums.greatest.max(narrow.held.1.into()))
            }
            _ => sums,
        };
        Channels { first: self.first, count: self.count, bounds: self.bounds.map(delivered) }
    }

    /// Returns whether no dot product of the block can overflow, for any input.
    pub fn is_certain(&self, narrow: &Narrow) -> bool {
        self.bounds[..self.count].iter().all(|&sums| narrow.keeps(sums))
    }
}

impl Narrow {
    /// Returns whether additions whose exact results lie in `sums` cannot overflow.
    pub fn keeps(&self, sums: Span) -> bool {
        sums.least >= i64::from(self.rails.low) && sums.greatest <= i64::from(self.rails.high)
    }
}

/// Returns the layout of a layer's windows as bytes, if they are read as bytes.
pub(super) fn layout(layer: &MacLayer, geometry: &Geometry, kernels: Kernels) -> Option<QuadLayout> {
    if !kernels.sums_bytes() || !geometry.has_bytes() || layer.order.is_empty() {
        return None;
    }
    Some(match is_lane_wise(layer) {
        true => QuadLayout::gathered(geometry),
        false => QuadLayout::shared(geometry),
    })
}

/// Returns the layout of a layer's windows as operands in place, if they are read in place.
pub(super) fn in_place(layer: &MacLayer, geometry: &Geometry, kernels: Kernels) -> Option<PairLayout> {
    (kernels.sums_in_place() && !is_lane_wise(layer)).then(|| PairLayout::new(geometry)).flatten()
}

/// Returns whether groups share lanes. Groups of one input channel do; larger groups have blocks of their
/// own.
fn is_lane_wise(layer: &MacLayer) -> bool {
    let window = &layer.dots.window;
    window.kernel[2] == 1 && window.groups > 1
}

/// Returns the blocks of a layer whose activation codes lie in `codes`; `None` if operands or sums are too
/// wide.
pub(super) fn blocks(
    layer: &MacLayer,
    geometry: &Geometry,
    codes: RangeInclusive<i32>,
    kernels: Kernels,
    (layout, in_place): (Option<&QuadLayout>, Option<&PairLayout>),
) -> Option<Vec<Block>> {
    let window = &layer.dots.window;
    if window.dots() == 0 || layer.order.is_empty() {
        return None;
    }
    if layer.dots.weights.is_none() && geometry.reads_padding() {
        // Such a window has fewer products at the edges.
        return None;
    }
    let operands = operand_range(layer, geometry, codes);
    // Kernels negate weights.
    if !operands.fits::<i16>() || weight_range(layer).magnitude() > i64::from(i16::MAX) {
        return None;
    }
    let mut blocks = Vec::new();
    for (first, count) in channels_of_blocks(layer) {
        let reads = if is_lane_wise(layer) {
            let read: Vec<usize> = (first..first + count).map(|c| window.group(c)).collect();
            Reads::lanes(read)
        } else {
            Reads::Window(window.group(first) * window.kernel[2])
        };
        let rows = rows(&layer.weights, first, count);
        let weights = range(&rows);
        let mut block = block(layer, first..first + count, (&rows, weights), reads, operands)?;
        if let (Some(layout), Reads::Window(_) | Reads::Neighbours(_)) = (layout, &block.reads) {
            block.bytes = layout.block((&rows, weights), &block.start, geometry.origin());
        }
        if let Some(layout) = in_place.filter(|_| block.fits_pairs) {
            block.in_place = Some(layout.weights(&rows));
        }
        let apart = matches!(block.reads, Reads::Lanes(_));
        if geometry.has_bytes() && block.short && !apart {
            // A single window cannot be paired.
            let pairs = kernels.steps_pairs() && geometry.pixels() > 1 && has_nine_bits(operands);
            let lay_out: fn(&Row) -> PairRow = match block.reads {
                Reads::Neighbours(_) => PairRow::repeated,
                _ => PairRow::doubled,
            };
            block.two_windows = (pairs && has_nine_bits(weights)).then_some(lay_out);
            block.one_window = kernels.steps_singles();
        }
        blocks.push(block);
    }
    Some(blocks)
}

/// Returns the first channel and the number of channels of each block.
pub(super) fn channels_of_blocks(layer: &MacLayer) -> Vec<(usize, usize)> {
    let window = &layer.dots.window;
    let channels = window.channels();
    let together = if is_lane_wise(layer) { channels } else { channels / window.groups };
    let starts = (0..channels).step_by(together.max(1));
    let of_group =
        |start| (start..start + together).step_by(LANES).map(move |first| (first, start + together));
    starts.flat_map(of_group).map(|(first, end)| (first, LANES.min(end - first))).collect()
}

/// Returns the datapath of a layer if one kernel supports it.
pub(super) fn path(
    layer: &MacLayer,
    geometry: &Geometry,
    codes: RangeInclusive<i32>,
    blocks: &[Block],
) -> Option<Path> {
    let datapath = &layer.datapath;
    let [level] = datapath.levels.as_slice() else { return None };
    // With lanes that share an adder, a dot product that does not overflow need not give the exact code. Orders
    // may differ between dot products.
    if layer.packing != Packing::None || datapath.order.walk.depends_on_data() {
        return None;
    }
    let operand = operand_range(layer, geometry, codes).magnitude();
    let product = operand * weight_range(layer).magnitude();
    let products = bounds::Range::new(-product, product);
    if datapath.product.shift > 0
        || !datapath.product.register.keeps(products)
        || level.shift > 0
        || level.reduce != Reduce::Serial
    {
        return None;
    }
    let register = match level.register.fixed() {
        None => None,
        Some((format, overflow)) => Some(narrow(level, format, overflow, product, layer.order.len())?),
    };
    let starts_inside = |narrow: &Narrow| {
        let starts = blocks.iter().flat_map(|block| &block.start);
        starts.into_iter().all(|&start| narrow.keeps(Span::new(start.into(), start.into())))
    };
    if register.as_ref().is_some_and(|narrow| !starts_inside(narrow)) {
        return None;
    }
    Some(Path { register, check: level.check, signed: level.register.is_signed() })
}

fn narrow(level: &Level, format: Format, overflow: Overflow, product: i64, steps: usize) -> Option<Narrow> {
    if !format.is_signed() && format.bits() > 30 {
        return None;
    }
    let rails = Rails::<i32>::new(format, overflow);
    let short = level.check == Check::EachAdd && product <= i64::from(i16::MAX) && steps <= i16::MAX as usize;
    let sixteen = Rails::short(format, overflow).filter(|_| short);
    let short = if short { ShortMode::of(overflow, &rails) } else { None };
    let held = (i32::nearest(format.min()), i32::nearest(format.max()));
    Some(Narrow { format, overflow, rails, sixteen, short, held })
}

/// Returns the least and the greatest operand of a multiplier, including 0.
pub(super) fn operand_range(layer: &MacLayer, geometry: &Geometry, codes: RangeInclusive<i32>) -> Span {
    let offset = layer.activation_offset();
    let (mut low, mut high) = (
        i64::from(*codes.start()) - i64::from(offset.subtract),
        i64::from(*codes.end()) - i64::from(offset.subtract),
    );
    if geometry.reads_padding() {
        low = low.min(offset.padding.into());
        high = high.max(offset.padding.into());
    }
    Span::new(low.min(0), high.max(0))
}

/// Returns the least and the greatest weight operand, including 0.
pub(super) fn weight_range(layer: &MacLayer) -> Span {
    let (least, greatest) = layer.weights.range().unwrap_or_default();
    Span::new(i64::from(least).min(0), i64::from(greatest).max(0))
}

/// Returns the weights of a block, `[k][lane]`; 0 where there is no channel. They fit 16 bits.
fn rows(weights: &Weights, first: usize, count: usize) -> Vec<Row> {
    fn transposed<T: Copy + Into<i32>>(values: &[T], count: usize) -> Vec<Row> {
        let terms = values.len() / count;
        let mut rows = vec![[0; LANES]; terms];
        // Rows at a time that stay in the fastest cache.
        for (part, rows) in rows.chunks_mut(64).enumerate() {
            for lane in 0..count {
                let values = &values[lane * terms + 64 * part..][..rows.len()];
                rows.iter_mut().zip(values).for_each(|(row, &weight)| row[lane] = weight.into() as i16);
            }
        }
        rows
    }
    match weights.slice(first..first + count) {
        IntegerSlice::I8(values) => transposed(values, count),
        IntegerSlice::U8(values) => transposed(values, count),
        IntegerSlice::I16(values) => transposed(values, count),
        IntegerSlice::I32(values) => transposed(values, count),
    }
}

/// Returns the least and the greatest weight, including 0.
fn range(rows: &[Row]) -> Span {
    let mut ends = [[0; LANES]; 2];
    for row in rows {
        for (lane, &weight) in row.iter().enumerate() {
            ends[0][lane] = weight.min(ends[0][lane]);
            ends[1][lane] = weight.max(ends[1][lane]);
        }
    }
    let [least, greatest] = ends;
    Span::new(least.into_iter().min().unwrap_or(0).into(), greatest.into_iter().max().unwrap_or(0).into())
}

/// Sums of the weights of each lane: of the negative ones, and of the positive ones.
fn sums_by_sign(rows: &[Row]) -> [[i64; LANES]; 2] {
    let mut sums = [[0; LANES]; 2];
    // Sums of these many rows fit 32 bits.
    for rows in rows.chunks(1 << 15) {
        let mut part = [[0i32; LANES]; 2];
        for row in rows {
            for (lane, &weight) in row.iter().enumerate() {
                part[0][lane] += i32::from(weight.min(0));
                part[1][lane] += i32::from(weight.max(0));
            }
        }
        for (sum, part) in sums.iter_mut().flatten().zip(part.iter().flatten()) {
            *sum += i64::from(*part);
        }
    }
    sums
}

fn block(
    layer: &MacLayer,
    channels: Range<usize>,
    (rows, weights): (&[Row], Span),
    reads: Reads,
    operands: Span,
) -> Option<Block> {
    let (first, count) = (channels.start, channels.len());
    let [negative, positive] = sums_by_sign(rows);
    let mut start = [0; LANES];
    let mut bounds = [Span::ZERO; LANES];
    for lane in 0..count {
        // Far larger biases would overflow the bounds below, and no lane could hold them.
        let initial = i32::try_from(output::exact_sum(layer, first + lane, 0)).ok()?;
        let [down, up] = [negative[lane], positive[lane]].map(|sum| operands.times(sum));
        let sums = Span::new(down.least + up.least, down.greatest + up.greatest);
        let sums = Span::new(sums.least + i64::from(initial), sums.greatest + i64::from(initial));
        let limit = i64::from(i32::MAX) - MARGIN;
        if sums.magnitude() > limit {
            return None;
        }
        start[lane] = initial;
        bounds[lane] = sums;
    }
    let operand = operands.magnitude();
    let weight = weights.magnitude();
    let fits_pairs = operand * weight * (2 * BOUND_PAIRS as i64) < 1 << 30;
    let short = operand * weight <= i64::from(i16::MAX);
    let squares = norms::squared_weights(rows, weight);
    Some(Block {
        first,
        count,
        reads,
        weights: layer.weights.clone(),
        fits_pairs,
        in_place: None,
        bytes: None,
        two_windows: None,
        one_window: false,
        short,
        start,
        squares,
        bounds,
    })
}

/// Combines two rows each, lane by lane; a row of zeros completes an odd number of rows.
pub(super) fn pairs(rows: &[Row]) -> Vec<Pair> {
    let pair = |rows: &[Row]| {
        let row = |i: usize| rows.get(i).copied().unwrap_or([0; LANES]);
        let (first, second) = (row(0), row(1));
        let mut pair = [0; 2 * LANES];
        for (pair, (first, second)) in pair.as_chunks_mut::<2>().0.iter_mut().zip(first.iter().zip(&second)) {
            *pair = [*first, *second];
        }
        pair
    };
    rows.chunks(2).map(pair).collect()
}
