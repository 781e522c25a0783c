//! Data of a layer that depend neither on its registers nor on its timing. All points of a sweep share them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use guardbit_graph::DType;
use guardbit_hwmodels::MacLayer;

use super::blocks::{Block, is_lane_wise};
use super::bytes::QuadLayout;
use super::cells::CellOffsets;
use super::forms::{Forms, LayerForms};
use super::image::Geometry;
use super::kernels::{ByteRows, Lanes};
use super::norms::Norms;
use super::prepare::{SumBlock, sum_blocks};
use super::simd::Kernels;
use super::span::Span;
use super::words::PairLayout;
use crate::codes::PackedMut;
use crate::options::Options;

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

impl Basis {
    /// Returns the basis of `layer`, whose activation codes lie in `codes` and whose output codes have type
    /// `output`; `None` if operands exceed 32 bits, which only codes of 32 bits with a zero point have, or if
    /// there is nothing to add. Forms of the weights that are made on demand live as long as the basis if they
    /// are `kept`.
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
        match (out, codes) {
            // Faster for the single pixels of datapaths of several levels.
            (PackedMut::Bytes(out), [codes]) => {
                let least = self.output.min();
                let bytes = codes.map(|code| code.wrapping_sub(least) as u8);
                out[first..][..block.count].copy_from_slice(&bytes[..block.count]);
            }
            (PackedMut::Bytes(out), _) => {
                self.kernels.put_bytes(codes, self.byte_rows(block), &mut out[first..]);
            }
            (PackedMut::I16(out), _) => {
                put_plain(&mut out[first..], channels, block, codes, |code| code as i16);
            }
            (PackedMut::I32(out), _) => put_plain(&mut out[first..], channels, block, codes, |code| code),
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
