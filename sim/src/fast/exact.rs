//! Computes the exact sums of every block at every tile of a range, and their output codes.

use super::blocks::Reads;
use super::bytes::{ByteBlock, ByteSums};
use super::cells::PlacedWindows;
use super::finish::total;
use super::forms::{FormedBlock, Forms};
use super::kernels::{Lanes, TILE, Walked};
use super::policy::Sums;
use super::prepare::{SumBlock, SumRoute};
use super::tiles::{Job, Scratch};
use super::windows::{Windows, on_windows};
use super::{FastLayer, Image};
use crate::codes::PackedMut;

/// Writes the exact output codes of a range.
pub(super) fn exact_codes(layer: &FastLayer<'_>, job: Job<'_>, scratch: &mut Scratch, out: PackedMut<'_>) {
    let Scratch { walked, exact_codes, windows, .. } = scratch;
    let mut out = Output { layer, out, origin: job.pixels.0 };
    for_each_tile(layer, job, windows, |windows, tile| {
        let (mut next, count) = (0, tile.corners.len());
        while next < layer.blocks().len() {
            let first = next;
            next += tile.sums(first, |_| Sums::Only, windows, walked);
            for (index, sums) in (first..next).zip(&*walked) {
                let (tile, sums) = (tile.at(index), &sums[..count]);
                if out.puts_sums() {
                    out.put_sums(&tile, sums);
                    continue;
                }
                let codes = &mut exact_codes[..sums.len()];
                tile.exact_codes(windows, sums, codes);
                out.put(tile.pixel, &tile.block, codes);
            }
        }
    });
}

/// Visits every tile.
pub(super) fn for_each_tile<'t, 'a>(
    layer: &'t FastLayer<'a>,
    job: Job<'t>,
    windows: &mut Windows,
    mut visit: impl FnMut(&mut Windows, &PixelsAt<'_, 't, 'a>),
) {
    windows.clear();
    let mut corners = layer.geometry.corners(job.pixels.0);
    let forms = &layer.hold_forms()[..];
    for pixel in job.pixels().step_by(TILE) {
        let mut tile = [0; TILE];
        let tile = &mut tile[..TILE.min(job.pixels.1 - pixel)];
        corners.fill(tile);
        visit(windows, &PixelsAt { layer, forms, image: job.image, pixel, corners: tile });
    }
}

/// Pixels of a tile.
pub(super) struct PixelsAt<'c, 't, 'a> {
    pub layer: &'t FastLayer<'a>,
    /// Forms of the weights by block.
    pub forms: &'c [Forms],
    pub image: &'t Image<'t>,
    /// First pixel.
    pub pixel: usize,
    pub corners: &'c [usize],
}

impl<'a> PixelsAt<'_, '_, 'a> {
    /// Returns block `index` at these pixels.
    pub fn at(&self, index: usize) -> TileAt<'_, 'a> {
        let Self { layer, forms, image, pixel, corners } = *self;
        let block = FormedBlock::new(&layer.blocks()[index], &forms[index]);
        TileAt { layer, image, block, index, pixel, corners }
    }

    /// Computes the exact sums of block `index`, with information about their prefixes as `how` requests. If
    /// only sums are requested, the next block is computed too where both can share their reads. Returns the
    /// number of blocks computed.
    pub fn sums(
        &self,
        index: usize,
        how: impl Fn(usize) -> Sums,
        windows: &mut Windows,
        walked: &mut [[Walked; TILE]; 2],
    ) -> usize {
        let tile = self.at(index);
        let count = tile.corners.len();
        let [first, second] = walked;
        let alone = |index: usize| how(index) == Sums::Only;
        match tile.beside().filter(|_| alone(index) && alone(index + 1)) {
            Some(next) => {
                tile.sums_with(next, [&mut first[..count], &mut second[..count]]);
                2
            }
            None => {
                tile.sums(how(index), windows, &mut first[..count]);
                1
            }
        }
    }
}

/// One block at one tile.
#[derive(Clone, Copy)]
pub(super) struct TileAt<'t, 'a> {
    pub layer: &'t FastLayer<'a>,
    pub image: &'t Image<'t>,
    pub block: FormedBlock<'t>,
    pub index: usize,
    pub pixel: usize,
    pub corners: &'t [usize],
}

impl TileAt<'_, '_> {
    /// Returns the next block, if the sums of both can be computed together.
    fn beside(&self) -> Option<&SumBlock> {
        let block = self.layer.blocks().get(self.index + 1)?;
        let reads_same = block.reads_window() && block.reads == self.block.reads;
        let bytes = block.bytes().is_some() && self.block.bytes().is_some();
        (reads_same && bytes).then_some(block)
    }

    /// Computes the exact sums of this block and of the block `next`, as returned by [`Self::beside`].
    fn sums_with(&self, next: &SumBlock, both: [&mut [Walked]; 2]) {
        let Self { layer, image, block, corners, .. } = self;
        let (Some(layout), Some(bytes), Some(next)) = (layer.layout.as_ref(), block.bytes(), next.bytes())
        else {
            unreachable!("adjacent blocks are read as bytes")
        };
        let windows = (&image.bytes()[block.reads.first()..], *corners);
        layer.kernels.sum_bytes_of_two(windows, layout, [bytes, next], both);
    }

    /// Computes exact sums, with information about their prefixes as requested.
    pub fn sums(&self, how: Sums, windows: &mut Windows, walked: &mut [Walked]) {
        let Self { layer, image, block, corners, .. } = self;
        let kernels = layer.kernels;
        let done = match (&block.route, how) {
            (SumRoute::Bytes(bytes), _) => self.sums_of_bytes(bytes, how, walked),
            (_, Sums::Walked) => self.walk_in_place(walked),
            (SumRoute::InPlace(pairs), _) => {
                let Some(layout) = &layer.in_place else { unreachable!("operands are laid out for pairs") };
                let windows = (&image.operands()[block.reads.first()..], *corners);
                let (weights, start) = ((&pairs[..], block.count), &block.start);
                match how {
                    Sums::Bounded => kernels.sum_in_place::<true>(windows, layout, weights, start, walked),
                    _ => kernels.sum_in_place::<false>(windows, layout, weights, start, walked),
                }
                true
            }
            (SumRoute::Own, _) => {
                let (windows, rows, start) = (self.placed(true), block.rows(), &block.start);
                match how {
                    Sums::Bounded => kernels.sum_own::<true>(windows, rows, start, walked),
                    _ => kernels.sum_own::<false>(windows, rows, start, walked),
                }
                true
            }
            (SumRoute::LaidOut, _) => false,
        };
        if done {
            return;
        }
        let read = windows.read((&layer.geometry, image), block, self.pixel, corners);
        on_windows!(read, x => {
            let (x, start) = (&x[..corners.len()], &block.start);
            let pairs = match how {
                Sums::Only | Sums::Bounded => block.pairs(),
                _ => None,
            };
            match (how, pairs) {
                (Sums::Only, Some(pairs)) => kernels.sum::<_, false>(x, pairs, start, walked),
                (Sums::Bounded, Some(pairs)) => kernels.sum::<_, true>(x, pairs, start, walked),
                _ if block.short => kernels.walk::<_, true>(x, block.rows(), start, walked),
                _ => kernels.walk::<_, false>(x, block.rows(), start, walked),
            }
        });
    }

    /// Computes sums from bytes. Returns whether that was possible.
    fn sums_of_bytes(&self, bytes: &ByteBlock, how: Sums, walked: &mut [Walked]) -> bool {
        let Self { layer, image, block, corners, .. } = self;
        let Some(layout) = &layer.layout else { unreachable!("bytes are laid out") };
        let first = block.reads.first();
        let how = match how {
            Sums::Only => ByteSums::Only,
            Sums::Bounded => {
                ByteSums::Bounded(image.magnitudes(layer.kernels).map(|magnitudes| &magnitudes[first..]))
            }
            Sums::Walked => match block.turns() {
                Some(turns) => ByteSums::Walked(turns),
                None => return false,
            },
        };
        layer.kernels.sum_bytes(how, (&image.bytes()[first..], corners), layout, bytes, walked);
        true
    }

    /// Computes exact sums with the extremes of their prefixes, from operands in place. Returns whether that
    /// was possible.
    fn walk_in_place(&self, walked: &mut [Walked]) -> bool {
        let own = match self.block.reads {
            Reads::Window(_) => false,
            Reads::Neighbours(_) => true,
            Reads::Lanes(_) => return false,
        };
        let does = self.block.short && self.layer.kernels.sums_in_place();
        if does {
            let start = &self.block.start;
            self.layer.kernels.walk_in_place(self.placed(own), self.block.rows(), start, walked);
        }
        does
    }

    fn placed(&self, own: bool) -> PlacedWindows<'_> {
        let Self { layer, image, block, corners, .. } = self;
        let cells = &image.operands()[block.reads.first()..];
        PlacedWindows { cells, corners, offsets: &layer.cells, own }
    }

    /// Computes the output codes of exact sums into `codes`.
    pub fn exact_codes(&self, windows: &mut Windows, walked: &[Walked], codes: &mut [Lanes]) {
        let Self { layer, image, block, index, pixel, corners } = self;
        let finisher = &layer.finisher;
        if finisher.scales() {
            return finisher.scale(layer.kernels, *index, walked, codes);
        }
        let terms = layer.layer.order.len();
        let read = windows.read((&layer.geometry, image), block, *pixel, corners);
        on_windows!(read, x => {
            for ((codes, walked), &x) in codes.iter_mut().zip(walked).zip(&x[..corners.len()]) {
                for (lane, code) in codes.iter_mut().enumerate().take(block.count) {
                    let activations = || total(x, terms, lane);
                    *code = finisher.exact_code(block.first + lane, walked.sum[lane], activations);
                }
            }
        });
    }
}

/// Output codes of a range and their destination.
pub(super) struct Output<'o, 'a> {
    pub layer: &'o FastLayer<'a>,
    pub out: PackedMut<'o>,
    /// First pixel of the range.
    pub origin: usize,
}

impl Output<'_, '_> {
    /// Returns whether sums are converted to output codes directly, without codes in lanes.
    pub fn puts_sums(&self) -> bool {
        matches!(self.out, PackedMut::Bytes(_)) && self.layer.finisher.scales()
    }

    /// Writes the output codes of sums; requires [`Self::puts_sums`].
    pub fn put_sums(&mut self, tile: &TileAt<'_, '_>, sums: &[Walked]) {
        put_sums(&mut self.out, self.origin, tile, sums);
    }

    /// Writes the codes of a block at some pixels.
    pub fn put(&mut self, pixel: usize, block: &SumBlock, codes: &[Lanes]) {
        self.layer.put(&mut self.out, pixel - self.origin, block, codes);
    }
}

/// Writes the output codes of sums; requires [`Output::puts_sums`].
pub(super) fn put_sums(out: &mut PackedMut<'_>, origin: usize, tile: &TileAt<'_, '_>, sums: &[Walked]) {
    let TileAt { layer, block, index, pixel, .. } = *tile;
    let PackedMut::Bytes(out) = out else { unreachable!("sums are written at once if codes are bytes") };
    let rows = layer.byte_rows(&block);
    let out = &mut out[(pixel - origin) * rows.stride + block.first..];
    layer.finisher.put(layer.kernels, index, sums, rows, out);
}
