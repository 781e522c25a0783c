//! Prepares a layer for the fast engine, once: packed weights, bounds, the register.

use std::ops::{Deref, RangeInclusive};
use std::sync::Arc;

use guardbit_graph::DType;
use guardbit_hwmodels::bounds;
use guardbit_hwmodels::{Check, Level, MacLayer, Packing, Reduce};
use guardbit_num::{Format, Overflow};

use super::blocks::{Block, Reads, is_lane_wise};
use super::bytes::{ByteBlock, QuadLayout};
use super::cells::CellOffsets;
use super::finish::Channels;
use super::forms::{Forms, LayerForms};
use super::image::Geometry;
use super::kernels::{BOUND_PAIRS, ByteRows, LANES, Lane, Lanes, Pair, Rails, Row};
use super::norms::{self, Norms, SquaredWeights};
use super::pairs::{PairRow, has_nine_bits};
use super::simd::{Kernels, ShortMode};
use super::span::Span;
use super::words::PairLayout;
use crate::codes::PackedMut;
use crate::options::Options;
use crate::output;

/// Least distance that sums must keep from the limits of 32 bits.
const MARGIN: i64 = 1 << 20;

/// Data of a layer that depend neither on its registers nor on its timing.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(super) kernels: Kernels,
    pub(super) geometry: Geometry,
    /// Type of the output codes, and number of output channels.
    pub(super) output: DType,
    pub(super) channels: usize,
    pub(super) cells: CellOffsets,
    /// Least and greatest operand of a multiplier: activations and weights, including 0.
    pub(super) operands: Span,
    pub(super) weights: Span,
    pub(super) blocks: Blocks,
    pub(super) forms: LayerForms,
    /// Layout of windows as bytes, if sums are computed from bytes.
    pub(super) layout: Option<QuadLayout>,
    /// Layout of windows as operands in place, if sums are computed from these.
    pub(super) in_place: Option<PairLayout>,
    /// Norms of windows that prove that dot products fit, if bytes are read.
    pub(super) norms: Option<Norms>,
}

/// Blocks of a layer.
#[derive(Debug)]
pub(super) enum Blocks {
    /// 32 bits hold all exact sums, and operands have 16 bits.
    Summed(Vec<SumBlock>),
    /// Any others.
    Plain(Vec<Block>),
}

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

impl Basis {
    /// Returns the basis of `layer`, whose activation codes lie in `codes` and whose output codes have type `output`; `None` if operands exceed 32 bits, which
    /// only codes of 32 bits with a zero point have, or if there is nothing to add. Forms of the weights that are made on
    /// demand live as long as the basis if they are `kept`.
    pub fn new(
        layer: &MacLayer,
        codes: RangeInclusive<i32>,
        output: DType,
        kept: bool,
        options: &Options,
    ) -> Option<Self> {
        if layer.dots.window.dots() == 0 || layer.order.is_empty() {
            return None;
        }
        let kernels = Kernels::choose(options.isa);
        let geometry = Geometry::new(layer, &codes);
        let operands = operand_range(layer, &geometry, codes);
        if !operands.fits::<i32>() {
            return None;
        }
        let weights = weight_range(layer);
        let layout = layout(layer, &geometry, kernels);
        let in_place = in_place(layer, &geometry, kernels);
        let layouts = (layout.as_ref(), in_place.as_ref());
        let blocks = match sum_blocks(layer, &geometry, (operands, weights), kernels, layouts) {
            Some(blocks) => Blocks::Summed(blocks),
            None => Blocks::Plain(Block::all(layer)),
        };
        Some(Self {
            kernels,
            output,
            channels: layer.dots.window.channels(),
            cells: CellOffsets::new(geometry.offsets())?,
            operands,
            weights,
            forms: LayerForms::new(blocks.len(), kept),
            blocks,
            layout,
            in_place,
            norms: geometry.norms(layer),
            geometry,
        })
    }

    /// Returns the forms of the weights that are made on demand, by block. As long as they are held, no run
    /// makes them anew.
    pub(super) fn hold_forms(&self) -> Arc<[Forms]> {
        self.forms.hold(self.blocks.len())
    }

    /// Returns how the codes of a block are stored as output codes of a byte each.
    pub(super) fn byte_rows(&self, block: &Block) -> ByteRows {
        ByteRows { count: block.count, least: self.output.min(), stride: self.channels }
    }

    /// Writes the output codes of a block at some pixels from the `pixel`-th of `out` on.
    pub(super) fn put(&self, out: &mut PackedMut<'_>, pixel: usize, block: &Block, codes: &[Lanes]) {
        let channels = self.channels;
        let first = pixel * channels + block.first;
        match out {
            PackedMut::Bytes(out) => {
                self.kernels.put_bytes(codes, self.byte_rows(block), &mut out[first..]);
            }
            PackedMut::I16(out) => put_plain(&mut out[first..], channels, block, codes, |code| code as i16),
            PackedMut::I32(out) => put_plain(&mut out[first..], channels, block, codes, |code| code),
        }
    }

    /// Returns whether operands exceed 16 bits.
    pub fn is_wide(&self) -> bool {
        !self.operands.fits::<i16>() || !self.weights.fits::<i16>()
    }
}

impl Blocks {
    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        match self {
            Self::Summed(blocks) => blocks.len(),
            Self::Plain(blocks) => blocks.len(),
        }
    }

    /// Returns block `index`.
    pub fn of(&self, index: usize) -> &Block {
        match self {
            Self::Summed(blocks) => &blocks[index],
            Self::Plain(blocks) => &blocks[index],
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        (0..self.len()).map(|index| self.of(index))
    }

    /// Returns the blocks if 32 bits hold all exact sums; otherwise none.
    pub fn summed(&self) -> &[SumBlock] {
        match self {
            Self::Summed(blocks) => blocks,
            Self::Plain(_) => &[],
        }
    }
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

fn put_plain<T>(out: &mut [T], channels: usize, block: &Block, codes: &[Lanes], code: impl Fn(i32) -> T) {
    for (place, codes) in out.chunks_mut(channels).zip(codes) {
        place.iter_mut().zip(&codes[..block.count]).for_each(|(place, &lane)| *place = code(lane));
    }
}

/// Returns the layout of a layer's windows as bytes, if they are read as bytes.
fn layout(layer: &MacLayer, geometry: &Geometry, kernels: Kernels) -> Option<QuadLayout> {
    if !kernels.sums_bytes() || !geometry.has_bytes() {
        return None;
    }
    Some(match is_lane_wise(layer) {
        true => QuadLayout::gathered(geometry),
        false => QuadLayout::shared(geometry),
    })
}

/// Returns the layout of a layer's windows as operands in place, if they are read in place.
fn in_place(layer: &MacLayer, geometry: &Geometry, kernels: Kernels) -> Option<PairLayout> {
    (kernels.sums_in_place() && !is_lane_wise(layer)).then(|| PairLayout::new(geometry)).flatten()
}

/// Returns the blocks of a layer; `None` if operands or sums are too wide.
fn sum_blocks(
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
pub(super) fn path(layer: &MacLayer, basis: &Basis) -> Option<Path> {
    let datapath = &layer.datapath;
    let [level] = datapath.levels.as_slice() else { return None };
    // With lanes that share an adder, a dot product that does not overflow need not give the exact code. Orders
    // may differ between dot products.
    if layer.packing != Packing::None || datapath.order.walk.depends_on_data() {
        return None;
    }
    let product = basis.operands.magnitude() * basis.weights.magnitude();
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
        let starts = basis.blocks.summed().iter().flat_map(|block| &block.start);
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
fn operand_range(layer: &MacLayer, geometry: &Geometry, codes: RangeInclusive<i32>) -> Span {
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
fn weight_range(layer: &MacLayer) -> Span {
    let (least, greatest) = layer.weights.range().unwrap_or_default();
    Span::new(i64::from(least).min(0), i64::from(greatest).max(0))
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
