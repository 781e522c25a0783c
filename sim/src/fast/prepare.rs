//! Prepares blocks whose exact sums fit 32 bits, and the register of one serial level.

use std::ops::Deref;

use guardbit_hwmodels::bounds;
use guardbit_hwmodels::{Check, Level, MacLayer, Packing, Reduce};
use guardbit_num::{Format, Overflow};

use super::blocks::{Block, Reads};
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

/// Block whose exact sums fit 32 bits.
#[derive(Debug)]
pub(super) struct SumBlock {
    block: Block,
    /// Whether sums can be computed from weights of two steps at a time.
    pub fits_pairs: bool,
    /// How exact sums are computed.
    pub route: SumRoute,
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

/// How the exact sums of a block are computed.
#[derive(Debug)]
pub(super) enum SumRoute {
    /// From bytes, with weights as bytes, four steps at a time.
    Bytes(ByteBlock),
    /// From operands in place, with weights of two steps at a time as pairs of adjacent cells.
    InPlace(Vec<Pair>),
    /// From operands in place, a cell of its own for every lane.
    Own,
    /// From windows that are laid out.
    LaidOut,
}

impl Deref for SumBlock {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.block
    }
}

impl SumBlock {
    /// Returns the weights as bytes, if sums are computed from bytes.
    pub fn bytes(&self) -> Option<&ByteBlock> {
        match &self.route {
            SumRoute::Bytes(bytes) => Some(bytes),
            _ => None,
        }
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

/// Returns the blocks of a layer; `None` if operands or sums are too wide.
pub(super) fn sum_blocks(
    layer: &MacLayer,
    geometry: &Geometry,
    (operands, weights): (Span, Span),
    kernels: Kernels,
    (layout, in_place): (Option<&QuadLayout>, Option<&PairLayout>),
) -> Option<Vec<SumBlock>> {
    if layer.dots.weights.is_none() && geometry.reads_padding() {
        // Such a window has fewer products at the edges.
        return None;
    }
    // Kernels negate weights.
    if !operands.fits::<i16>() || weights.magnitude() > i64::from(i16::MAX) {
        return None;
    }
    let of_block = |block: Block| {
        let rows = block.rows();
        let weights = range(&rows);
        let mut block = sum_block(layer, block, (&rows, weights), operands)?;
        block.route = match (&block.reads, layout, in_place) {
            (Reads::Lanes(_), ..) => SumRoute::LaidOut,
            (_, Some(layout), _) => layout
                .block((&rows, weights), &block.start, geometry.origin())
                .map_or(SumRoute::LaidOut, SumRoute::Bytes),
            (Reads::Window(_), None, Some(layout)) if block.fits_pairs => {
                SumRoute::InPlace(layout.weights(&rows))
            }
            (Reads::Neighbours(_), ..) if block.short && kernels.sums_own(rows.len()) => SumRoute::Own,
            _ => SumRoute::LaidOut,
        };
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
        Some(block)
    };
    Block::all(layer).into_iter().map(of_block).collect()
}

/// Returns the datapath of a layer if one kernel supports it.
pub(super) fn path(layer: &MacLayer, (operands, weights): (Span, Span), blocks: &[SumBlock]) -> Option<Path> {
    let datapath = &layer.datapath;
    let [level] = datapath.levels.as_slice() else { return None };
    // With lanes that share an adder, a dot product that does not overflow need not give the exact code. Orders
    // may differ between dot products.
    if layer.packing != Packing::None || datapath.order.walk.depends_on_data() {
        return None;
    }
    let product = operands.magnitude() * weights.magnitude();
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

fn sum_block(
    layer: &MacLayer,
    block: Block,
    (rows, weights): (&[Row], Span),
    operands: Span,
) -> Option<SumBlock> {
    let [negative, positive] = sums_by_sign(rows);
    let mut start = [0; LANES];
    let mut bounds = [Span::ZERO; LANES];
    for lane in 0..block.count {
        // Far larger biases would overflow the bounds below, and no lane could hold them.
        let initial = i32::try_from(output::exact_sum(layer, block.first + lane, 0)).ok()?;
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
    Some(SumBlock {
        block,
        fits_pairs,
        route: SumRoute::LaidOut,
        two_windows: None,
        one_window: false,
        short,
        start,
        squares,
        bounds,
    })
}
