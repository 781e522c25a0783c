//! Exact sums of bytes where every lane reads a channel of its own: the columns of windows beside each other are put together
//! once for all of them.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::super::bytes::{ByteBlock, ByteSums, Columns, QuadRow, QuadWeights};
use super::super::super::kernels::{LANES, Lanes, Walked};
use super::sums::{Bounds, Interleaving, load_bytes};
use super::{load, store};

/// Exact sums of a block at some windows, given by their corners in the bytes; no extremes of prefixes.
///
/// # Panics
/// If a window does not lie within the bytes or their magnitudes, the block has no columns, or extremes are asked for.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(in super::super) fn column_sums(
    how: ByteSums<'_>,
    (bytes, corners): (&[u8], &[usize]),
    columns: &Columns,
    block: &ByteBlock,
    out: &mut [Walked],
) {
    let magnitudes = match how {
        ByteSums::Bounded(magnitudes) => magnitudes,
        _ => None,
    };
    let len = bytes.len().min(magnitudes.map_or(usize::MAX, <[u8]>::len));
    let reach = columns.reach() + LANES;
    assert!(corners.iter().all(|&corner| corner + reach <= len), "windows lie within the image");
    let weights = block.columns.as_ref().expect("a layer with columns has their weights");
    assert!(weights.weights.len() == columns.at.len() && weights.sizes.len() == columns.at.len());
    let (mut corners, mut out) = (corners, out);
    while let Some(count) = beside_each_other(corners, columns) {
        let (run, corners_after) = corners.split_at(count);
        let (sums, out_after) = out.split_at_mut(count);
        match how {
            ByteSums::Only => in_chunks!(run, sums, [8, 4, 2, 1], |run, sums| {
                sum(bytes, run, (columns, &weights.weights), &block.start, sums)
            }),
            ByteSums::Bounded(_) => in_chunks!(run, sums, [4, 2, 1], |run, sums| {
                bound((bytes, magnitudes), run, (columns, weights), block, sums)
            }),
            ByteSums::Walked(_) => unreachable!("columns are not in the order of addition"),
        }
        (corners, out) = (corners_after, out_after);
    }
}

/// How many of the first windows lie beside each other, if there are any.
fn beside_each_other(corners: &[usize], columns: &Columns) -> Option<usize> {
    let (first, step) = (*corners.first()?, columns.stride * columns.channels);
    let mut each = corners.iter().enumerate();
    Some(each.position(|(i, &corner)| corner != first + i * step).unwrap_or(corners.len()))
}

/// Final sums alone.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum<const P: usize>(
    bytes: &[u8],
    corners: &[usize; P],
    (columns, weights): (&Columns, &[QuadRow]),
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let mut room = Positions::room();
    // SAFETY: `column_sums` has checked the windows.
    let positions = unsafe { Positions::new::<P>(bytes, corners[0], columns, &mut room) };
    let mut sum = [load(start); P];
    for (&at, weights) in columns.at.iter().zip(weights) {
        let w = load_bytes(weights);
        for p in 0..P {
            // SAFETY: a column of one of the windows.
            let a = unsafe { positions.get(p * columns.stride + at) };
            sum[p] = _mm512_dpbusd_epi32(sum[p], a, w);
        }
    }
    for p in 0..P {
        store(&mut out[p].sum, sum[p]);
    }
}

/// The same with bounds of their prefixes: the products are one part.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn bound<const P: usize>(
    (bytes, magnitudes): (&[u8], Option<&[u8]>),
    corners: &[usize; P],
    (columns, weights): (&Columns, &QuadWeights),
    block: &ByteBlock,
    out: &mut [Walked; P],
) {
    let mut room = [Positions::room(), Positions::room()];
    let [room, more] = &mut room;
    // SAFETY: `column_sums` has checked the windows in both.
    let (bytes, magnitudes) = unsafe {
        let bytes = Positions::new::<P>(bytes, corners[0], columns, room);
        let magnitudes = magnitudes.map(|of| Positions::new::<P>(of, corners[0], columns, more));
        (bytes, magnitudes.unwrap_or(bytes))
    };
    let mut change = [load(&block.corrections[0]); P];
    let mut size = [_mm512_setzero_si512(); P];
    let QuadWeights { weights, sizes } = weights;
    for ((&at, weights), sizes) in columns.at.iter().zip(weights).zip(sizes) {
        let (w, w_size) = (load_bytes(weights), load_bytes(sizes));
        for p in 0..P {
            // SAFETY: a column of one of the windows.
            let (a, a_size) = unsafe {
                let position = p * columns.stride + at;
                (bytes.get(position), magnitudes.get(position))
            };
            change[p] = _mm512_dpbusd_epi32(change[p], a, w);
            size[p] = _mm512_dpbusd_epi32(size[p], a_size, w_size);
        }
    }
    let mut bounds = Bounds::<P>::new(&block.bias);
    bounds.take(change, size);
    bounds.store(out);
}

/// The columns at every position of some windows beside each other.
#[derive(Clone, Copy)]
struct Positions<'r> {
    columns: &'r [MaybeUninit<__m512i>],
}

/// Memory for them, not yet written.
type Room = [MaybeUninit<__m512i>; Columns::MOST];

impl<'r> Positions<'r> {
    #[inline(always)]
    fn room() -> Room {
        [const { MaybeUninit::uninit() }; Columns::MOST]
    }

    /// Those of the `P` windows from the one at `corner` on.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and the windows lie within `bytes`, with [`LANES`] bytes from each cell on.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn new<const P: usize>(
        bytes: &[u8],
        corner: usize,
        columns: &Columns,
        room: &'r mut Room,
    ) -> Self {
        let interleaving = Interleaving::new();
        let room = &mut room[..columns.positions(P)];
        for (position, column) in room.iter_mut().enumerate() {
            let first = corner + position * columns.channels;
            // SAFETY: the last position is the last column of the last window, and the caller says that it lies there.
            column
                .write(unsafe { interleaving.load(columns.rows.map(|row| bytes.as_ptr().add(first + row))) });
        }
        Self { columns: room }
    }

    /// The column at a position.
    ///
    /// # Safety
    /// It is a column of one of the windows.
    #[inline(always)]
    unsafe fn get(self, position: usize) -> __m512i {
        // SAFETY: the caller says that it is one of those that `new` has written.
        unsafe { self.columns.get_unchecked(position).assume_init() }
    }
}
