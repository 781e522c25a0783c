//! Exact sums of bytes where every lane reads a channel of its own. The columns of adjacent windows are
//! assembled once for all of them.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::super::bytes::{ByteBlock, ByteSums, Columns, QuadRow};
use super::super::super::kernels::{LANES, Lanes, Walked};
use super::sums::{Bounds, Interleaving, load_bytes};
use super::{load, store};

/// Computes exact sums of a block at windows given by their corners in the bytes, without extremes of
/// prefixes.
///
/// # Panics
/// If a window does not lie within the bytes or their magnitudes, the block has no columns, or extremes are
/// requested.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(in super::super) fn column_sums(
    how: ByteSums<'_>,
    (bytes, corners): (&[u8], &[usize]),
    columns: &Columns,
    block: &ByteBlock,
    out: &mut [Walked],
) {
    let bounded = match how {
        ByteSums::Only => None,
        ByteSums::Bounded(magnitudes) => Some(magnitudes),
        ByteSums::Walked(_) => unreachable!("columns are not in the order of addition"),
    };
    let magnitudes = bounded.flatten();
    let len = bytes.len().min(magnitudes.map_or(usize::MAX, <[u8]>::len));
    let reach = columns.reach() + LANES;
    let last = corners.iter().copied().max();
    assert!(last.is_none_or(|last| last + reach <= len), "windows lie within the image");
    let weights = block.columns.as_deref().expect("a layer with columns has their weights");
    assert!(weights.len() == columns.at.len());
    let (mut corners, mut out) = (corners, out);
    while let Some(count) = beside_each_other(corners, columns) {
        let (run, corners_after) = corners.split_at(count);
        let (sums, out_after) = out.split_at_mut(count);
        match (columns.slides(), bounded) {
            (Some(1), _) => slide::<1>(bounded, bytes, run[0], (columns, weights), block, sums),
            (Some(2), _) => slide::<2>(bounded, bytes, run[0], (columns, weights), block, sums),
            (_, None) => in_chunks!(run, sums, [8, 4, 2, 1], |run, sums| {
                sum(bytes, run, (columns, weights), &block.start, sums)
            }),
            (_, Some(_)) => in_chunks!(run, sums, [4, 2, 1], |run, sums| {
                bound((bytes, magnitudes), run, (columns, weights), block, sums)
            }),
        }
        (corners, out) = (corners_after, out_after);
    }
}

/// Returns the number of first windows that are adjacent, if there are any. A window that is not adjacent is
/// in another row, and so are all windows after it.
fn beside_each_other(corners: &[usize], columns: &Columns) -> Option<usize> {
    let (first, step) = (*corners.first()?, columns.stride * columns.channels);
    let (mut here, mut beyond) = (1, corners.len());
    while here < beyond {
        let middle = here.midpoint(beyond);
        match corners[middle] == first + middle * step {
            true => here = middle + 1,
            false => beyond = middle,
        }
    }
    Some(here)
}

/// Sums adjacent windows of three columns, `STRIDE` positions apart, from the one at `corner` on. Computes
/// bounds of their prefixes if `bounded` is given, with its magnitudes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn slide<const STRIDE: usize>(
    bounded: Option<Option<&[u8]>>,
    bytes: &[u8],
    corner: usize,
    (columns, weights): (&Columns, &[QuadRow]),
    block: &ByteBlock,
    out: &mut [Walked],
) {
    match bounded {
        Some(None) => {
            slide_bounds::<STRIDE, false>([bytes; 2], corner, (columns, weights), block, out);
        }
        Some(Some(magnitudes)) => {
            slide_bounds::<STRIDE, true>([bytes, magnitudes], corner, (columns, weights), block, out);
        }
        None => slide_sums::<STRIDE>(bytes, corner, (columns, weights), &block.start, out),
    }
}

/// Computes final sums alone.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn slide_sums<const STRIDE: usize>(
    bytes: &[u8],
    corner: usize,
    (columns, weights): (&Columns, &[QuadRow]),
    start: &Lanes,
    out: &mut [Walked],
) {
    let (weights, start) = (load_three(weights), load(start));
    // SAFETY: `column_sums` has checked the windows.
    let mut window = unsafe { Sliding::<STRIDE>::new(bytes, corner, columns) };
    for out in out {
        // SAFETY: as above; there are as many sums as windows.
        store(&mut out.sum, dot(start, unsafe { window.next() }, weights));
    }
}

/// Computes sums with bounds of their prefixes, with all products as one part. The magnitudes are the bytes
/// themselves unless `OTHERS`.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn slide_bounds<const STRIDE: usize, const OTHERS: bool>(
    [bytes, magnitudes]: [&[u8]; 2],
    corner: usize,
    (columns, weights): (&Columns, &[QuadRow]),
    block: &ByteBlock,
    out: &mut [Walked],
) {
    let weights = load_three(weights);
    let sizes = weights.map(|weights| _mm512_abs_epi8(weights));
    let (correction, zero) = (load(&block.corrections[0]), _mm512_setzero_si512());
    // SAFETY: `column_sums` has checked the windows in both.
    let (mut window, mut others) = unsafe {
        (Sliding::<STRIDE>::new(bytes, corner, columns), Sliding::<STRIDE>::new(magnitudes, corner, columns))
    };
    for out in out {
        // SAFETY: as above; there are as many sums as windows.
        let columns = unsafe { window.next() };
        // SAFETY: as above.
        let magnitudes = if OTHERS { unsafe { others.next() } } else { columns };
        let mut bounds = Bounds::<1>::new(&block.bias);
        bounds.take([dot(correction, columns, weights)], [dot(zero, magnitudes, sizes)]);
        bounds.store(std::array::from_mut(out));
    }
}

/// Loads the weights of three columns.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn load_three(rows: &[QuadRow]) -> [__m512i; 3] {
    [load_bytes(&rows[0]), load_bytes(&rows[1]), load_bytes(&rows[2])]
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn dot(start: __m512i, columns: [__m512i; 3], weights: [__m512i; 3]) -> __m512i {
    let first = _mm512_dpbusd_epi32(start, columns[0], weights[0]);
    _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(first, columns[1], weights[1]), columns[2], weights[2])
}

/// Window of three columns that moves along and keeps the columns that it still reads.
struct Sliding<const STRIDE: usize> {
    interleaving: Interleaving,
    /// Distances from the next column's first cell to each one that is read.
    rows: [usize; 4],
    channels: usize,
    next: *const u8,
    columns: [__m512i; 3],
}

impl<const STRIDE: usize> Sliding<STRIDE> {
    /// Returns the state before the window at `corner`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and the window at `corner` lies within `bytes`, with [`LANES`]
    /// bytes from each cell on.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn new(bytes: &[u8], corner: usize, columns: &Columns) -> Self {
        let mut window = Self {
            interleaving: Interleaving::new(),
            rows: columns.rows,
            channels: columns.channels,
            next: bytes.as_ptr().wrapping_add(corner),
            columns: [_mm512_setzero_si512(); 3],
        };
        for _ in STRIDE..3 {
            // SAFETY: columns of the window at `corner`.
            unsafe { window.take_column() };
        }
        window
    }

    /// Returns the columns of the next window.
    ///
    /// # Safety
    /// The conditions of [`Self::new`] hold for that window.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn next(&mut self) -> [__m512i; 3] {
        for _ in 0..STRIDE {
            // SAFETY: columns of that window.
            unsafe { self.take_column() };
        }
        self.columns
    }

    /// Assembles the next column.
    ///
    /// # Safety
    /// The next column lies within the bytes.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn take_column(&mut self) {
        let [a, b, c, d] = self.rows;
        let at = |row| self.next.wrapping_add(row);
        // SAFETY: guaranteed by the caller.
        let column = unsafe { self.interleaving.load([at(a), at(b), at(c), at(d)]) };
        self.columns = [self.columns[1], self.columns[2], column];
        self.next = self.next.wrapping_add(self.channels);
    }
}

/// Computes final sums alone.
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

/// Computes sums with bounds of their prefixes, with all products as one part.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn bound<const P: usize>(
    (bytes, magnitudes): (&[u8], Option<&[u8]>),
    corners: &[usize; P],
    (columns, weights): (&Columns, &[QuadRow]),
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
    for (&at, weights) in columns.at.iter().zip(weights) {
        let w = load_bytes(weights);
        let w_size = _mm512_abs_epi8(w);
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

/// Columns at every position of some adjacent windows.
#[derive(Clone, Copy)]
struct Positions<'r> {
    columns: &'r [MaybeUninit<__m512i>],
}

/// Uninitialized memory for columns.
type Room = [MaybeUninit<__m512i>; Columns::MOST];

impl<'r> Positions<'r> {
    #[inline(always)]
    fn room() -> Room {
        [const { MaybeUninit::uninit() }; Columns::MOST]
    }

    /// Assembles the columns of the `P` windows from the one at `corner` on.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and the windows lie within `bytes`, with [`LANES`] bytes from each
    /// cell on.
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
            let ([a, b, c, d], first) = (columns.rows, corner + position * columns.channels);
            let at = |row| bytes.as_ptr().wrapping_add(first + row);
            // SAFETY: the last position is the last column of the last window, which the caller guarantees to
            // exist.
            column.write(unsafe { interleaving.load([at(a), at(b), at(c), at(d)]) });
        }
        Self { columns: room }
    }

    /// Returns the column at a position.
    ///
    /// # Safety
    /// It is a column of one of the windows.
    #[inline(always)]
    unsafe fn get(self, position: usize) -> __m512i {
        // SAFETY: the caller guarantees that `new` has written the column.
        unsafe { self.columns.get_unchecked(position).assume_init() }
    }
}
