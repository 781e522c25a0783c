//! Exact sums of bytes with dot-product instructions.

use std::arch::x86_64::*;
use std::hint::black_box;

use super::super::super::bytes::{ByteBlock, ByteSums, Gather, QuadRow, QuadTurns, Shared, Source};
use super::super::super::kernels::{Lanes, Walked};
use super::{load, store};

/// Source of four activations per lane.
pub(crate) trait Quads: Source {
    /// Constants that all loads share.
    type Order: Copy;

    /// Returns the constants of loads.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI.
    unsafe fn order() -> Self::Order;

    /// Returns the activations of quad `quad` in the window that begins at `corner`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and the window lies within `bytes` as [`Source::fits`] requires.
    unsafe fn load(self, order: Self::Order, bytes: *const u8, corner: usize, quad: usize) -> __m512i;
}

impl Quads for Shared<'_> {
    type Order = ();

    #[inline(always)]
    unsafe fn order() {}

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn load(self, (): (), bytes: *const u8, corner: usize, quad: usize) -> __m512i {
        // SAFETY: four bytes from there on lie within the image; the load takes any alignment.
        let quad = unsafe {
            let offset = *self.offsets.get_unchecked(quad) as usize;
            bytes.add(corner + offset).cast::<i32>().read_unaligned()
        };
        _mm512_set1_epi32(quad)
    }
}

impl Quads for Gather<'_> {
    type Order = Interleaving;

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn order() -> Interleaving {
        Interleaving::new()
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn load(self, order: Interleaving, bytes: *const u8, corner: usize, quad: usize) -> __m512i {
        // SAFETY: sixteen bytes from each of the four cells on lie within the image.
        unsafe {
            let [a, b, c, d] = *self.offsets.get_unchecked(quad);
            let window = bytes.add(corner);
            let at = |offset: u32| window.add(offset as usize);
            order.load([at(a), at(b), at(c), at(d)])
        }
    }
}

/// Constants that convert four rows of sixteen bytes to sixteen lanes of four bytes.
#[derive(Clone, Copy)]
pub(crate) struct Interleaving {
    columns: __m512i,
    bytes: __m512i,
}

impl Interleaving {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    pub fn new() -> Self {
        // Moves bytes 4 i .. 4 i + 4 of all four rows to part i, then transposes each part.
        let columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let bytes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        // LLVM would expand the two into many shuffles if it knew them.
        Self { columns: black_box(columns), bytes: black_box(_mm512_broadcast_i32x4(bytes)) }
    }

    /// Returns byte `i` of each row in lane `i`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and there are sixteen bytes from each pointer on.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    pub unsafe fn load(self, [a, b, c, d]: [*const u8; 4]) -> __m512i {
        // SAFETY: guaranteed by the caller; the loads take any alignment.
        let rows = unsafe {
            let rows = _mm512_castsi128_si512(_mm_loadu_si128(a.cast()));
            let rows = _mm512_inserti32x4::<1>(rows, _mm_loadu_si128(b.cast()));
            let rows = _mm512_inserti32x4::<2>(rows, _mm_loadu_si128(c.cast()));
            _mm512_inserti32x4::<3>(rows, _mm_loadu_si128(d.cast()))
        };
        _mm512_shuffle_epi8(_mm512_permutexvar_epi32(self.columns, rows), self.bytes)
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn load_bytes(bytes: &QuadRow) -> __m512i {
    // SAFETY: 64 bytes, aligned.
    unsafe { _mm512_load_si512(bytes.as_ptr().cast()) }
}

/// Computes exact sums of a block at windows given by their corners in the bytes.
///
/// # Panics
/// If a window does not lie within the bytes or their magnitudes.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(in super::super) fn sums<S: Quads>(
    how: ByteSums<'_>,
    (bytes, corners): (&[u8], &[usize]),
    source: S,
    block: &ByteBlock,
    out: &mut [Walked],
) {
    let len = match how {
        ByteSums::Bounded(Some(magnitudes)) => bytes.len().min(magnitudes.len()),
        _ => bytes.len(),
    };
    check(source, (len, corners), block);
    match how {
        ByteSums::Only => sum_tile(bytes, corners, source, block, out),
        ByteSums::Bounded(magnitudes) => bound_tile(bytes, magnitudes, corners, source, block, out),
        ByteSums::Walked(turns) => extremes_tile(bytes, corners, source, block, turns, out),
    }
}

/// Checks that windows and weights match the source.
///
/// # Panics
/// If a window does not lie within `len` bytes, or the block has another number of quads.
fn check<S: Source>(source: S, (len, corners): (usize, &[usize]), block: &ByteBlock) {
    let last = corners.iter().copied().max();
    assert!(last.is_none_or(|last| source.fits(last, len)), "windows lie within the image");
    assert!(block.quads.len() == source.quads());
}

/// Computes exact sums of two blocks at the same windows, reading the activations once for both.
///
/// # Panics
/// Under the conditions of [`sums`], or if the number of sums differs from that of the windows.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(in super::super) fn sums_of_two(
    (bytes, corners): (&[u8], &[usize]),
    source: Shared<'_>,
    blocks: [&ByteBlock; 2],
    mut out: [&mut [Walked]; 2],
) {
    blocks.iter().for_each(|block| check(source, (bytes.len(), corners), block));
    let mut corners = corners;
    while let [corner, ..] = *corners {
        let done = match corners.len() {
            8.. => sum_two::<8>(bytes, corners, source, blocks, &mut out),
            4.. => sum_two::<4>(bytes, corners, source, blocks, &mut out),
            2.. => sum_two::<2>(bytes, corners, source, blocks, &mut out),
            _ => {
                for (out, block) in out.iter_mut().zip(blocks) {
                    let sum = sum_one(bytes, corner, source, &block.quads, &block.start);
                    store(&mut out[0].sum, sum);
                }
                1
            }
        };
        let [first, second] = out;
        (corners, out) = (&corners[done..], [&mut first[done..], &mut second[done..]]);
    }
}

/// Sums the first `P` windows and returns their number.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum_two<const P: usize>(
    bytes: &[u8],
    corners: &[usize],
    source: Shared<'_>,
    blocks: [&ByteBlock; 2],
    out: &mut [&mut [Walked]; 2],
) -> usize {
    let corners: &[usize; P] = corners.first_chunk().expect("the windows exist");
    let mut sums = [[load(&blocks[0].start); P], [load(&blocks[1].start); P]];
    let rows = blocks[0].quads.iter().zip(&blocks[1].quads);
    for (quad, (first, second)) in rows.enumerate() {
        let weights = [load_bytes(first), load_bytes(second)];
        for p in 0..P {
            // SAFETY: `sums_of_two` has checked the windows, and there are as many weights as quads.
            let a = unsafe { source.load((), bytes.as_ptr(), corners[p], quad) };
            sums[0][p] = _mm512_dpbusd_epi32(sums[0][p], a, weights[0]);
            sums[1][p] = _mm512_dpbusd_epi32(sums[1][p], a, weights[1]);
        }
    }
    for (out, sums) in out.iter_mut().zip(&sums) {
        for (out, &sum) in out[..P].iter_mut().zip(sums) {
            store(&mut out.sum, sum);
        }
    }
    P
}

/// Computes final sums alone.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum_tile<S: Quads>(bytes: &[u8], corners: &[usize], source: S, block: &ByteBlock, out: &mut [Walked]) {
    let weights = &block.quads[..];
    let pairs = corners.len() / 2 * 2;
    if let (Some(&corner), Some(out)) = (corners[pairs..].first(), out.get_mut(pairs)) {
        store(&mut out.sum, sum_one(bytes, corner, source, weights, &block.start));
    }
    let (corners, out) = (&corners[..pairs], &mut out[..pairs]);
    in_chunks!(corners, out, [8, 4, 2], |corners, out| {
        sum(bytes, corners, source, weights, &block.start, out)
    });
}

/// Computes sums with bounds: see [`ByteSums::Bounded`].
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn bound_tile<S: Quads>(
    bytes: &[u8],
    magnitudes: Option<&[u8]>,
    corners: &[usize],
    source: S,
    block: &ByteBlock,
    out: &mut [Walked],
) {
    in_chunks!(corners, out, [4, 2, 1], |corners, out| {
        bound(bytes, magnitudes, corners, source, block, out)
    });
}

/// Computes sums with extremes: see [`ByteSums::Walked`].
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn extremes_tile<S: Quads>(
    bytes: &[u8],
    corners: &[usize],
    source: S,
    block: &ByteBlock,
    turns: &[QuadTurns],
    out: &mut [Walked],
) {
    in_chunks!(corners, out, [4, 2, 1], |corners, out| {
        extremes(bytes, corners, source, block, turns, out)
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum<S: Quads, const P: usize>(
    bytes: &[u8],
    corners: &[usize; P],
    source: S,
    weights: &[QuadRow],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let mut sum = [load(start); P];
    // SAFETY: the CPU has them, as for this function.
    let order = unsafe { S::order() };
    for (quad, weights) in weights.iter().enumerate() {
        let w = load_bytes(weights);
        for p in 0..P {
            // SAFETY: `sums` has checked the windows, and there are as many weights as quads.
            let a = unsafe { source.load(order, bytes.as_ptr(), corners[p], quad) };
            sum[p] = _mm512_dpbusd_epi32(sum[p], a, w);
        }
    }
    for p in 0..P {
        store(&mut out[p].sum, sum[p]);
    }
}

/// Sums a single window with four partial sums in parallel.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum_one<S: Quads>(bytes: &[u8], corner: usize, source: S, weights: &[QuadRow], start: &Lanes) -> __m512i {
    let mut sums = [load(start), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()];
    let (fours, rest) = weights.as_chunks::<4>();
    // SAFETY: the CPU has them, as for this function.
    let order = unsafe { S::order() };
    for (i, four) in fours.iter().enumerate() {
        for (j, weights) in four.iter().enumerate() {
            // SAFETY: `sums` has checked the window, and there are as many weights as quads.
            let a = unsafe { source.load(order, bytes.as_ptr(), corner, 4 * i + j) };
            sums[j] = _mm512_dpbusd_epi32(sums[j], a, load_bytes(weights));
        }
    }
    for (j, weights) in rest.iter().enumerate() {
        // SAFETY: as above.
        let a = unsafe { source.load(order, bytes.as_ptr(), corner, 4 * fours.len() + j) };
        sums[j] = _mm512_dpbusd_epi32(sums[j], a, load_bytes(weights));
    }
    _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]))
}

/// Computes sums with bounds of their prefixes: see [`kernels::sum`](super::super::kernels::sum).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn bound<S: Quads, const P: usize>(
    bytes: &[u8],
    magnitudes: Option<&[u8]>,
    corners: &[usize; P],
    source: S,
    block: &ByteBlock,
    out: &mut [Walked; P],
) {
    let mut bounds = Bounds::<P>::new(&block.bias);
    let parts = block.quads.chunks(block.part).zip(&block.corrections);
    // SAFETY: the CPU has them, as for this function.
    let order = unsafe { S::order() };
    for (part, (weights, correction)) in parts.enumerate() {
        let mut change = [load(correction); P];
        let mut size = [_mm512_setzero_si512(); P];
        for (i, weights) in weights.iter().enumerate() {
            let quad = part * block.part + i;
            let w = load_bytes(weights);
            let w_size = _mm512_abs_epi8(w);
            for p in 0..P {
                // SAFETY: `sums` has checked the windows in both, and the number of quads.
                let a = unsafe { source.load(order, bytes.as_ptr(), corners[p], quad) };
                let a_size = match magnitudes {
                    // SAFETY: as above.
                    Some(magnitudes) => unsafe { source.load(order, magnitudes.as_ptr(), corners[p], quad) },
                    None => a,
                };
                change[p] = _mm512_dpbusd_epi32(change[p], a, w);
                size[p] = _mm512_dpbusd_epi32(size[p], a_size, w_size);
            }
        }
        bounds.take(change, size);
    }
    bounds.store(out);
}

/// Sums and bounds of their prefixes.
pub(super) struct Bounds<const P: usize> {
    sum: [__m512i; P],
    min: [__m512i; P],
    max: [__m512i; P],
}

impl<const P: usize> Bounds<P> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub fn new(bias: &Lanes) -> Self {
        let start = [load(bias); P];
        Self { sum: start, min: start, max: start }
    }

    /// Adds some products, given by their sum and the sum of their magnitudes.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub fn take(&mut self, change: [__m512i; P], size: [__m512i; P]) {
        for p in 0..P {
            let up = _mm512_srai_epi32::<1>(_mm512_add_epi32(size[p], change[p]));
            let down = _mm512_srai_epi32::<1>(_mm512_sub_epi32(size[p], change[p]));
            self.max[p] = _mm512_max_epi32(self.max[p], _mm512_add_epi32(self.sum[p], up));
            self.min[p] = _mm512_min_epi32(self.min[p], _mm512_sub_epi32(self.sum[p], down));
            self.sum[p] = _mm512_add_epi32(self.sum[p], change[p]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub fn store(&self, out: &mut [Walked; P]) {
        for p in 0..P {
            store(&mut out[p].sum, self.sum[p]);
            store(&mut out[p].min, self.min[p]);
            store(&mut out[p].max, self.max[p]);
        }
    }
}

/// Computes sums with the extremes of their prefixes, by `turns` of every quad.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn extremes<S: Quads, const P: usize>(
    bytes: &[u8],
    corners: &[usize; P],
    source: S,
    block: &ByteBlock,
    turns: &[QuadTurns],
    out: &mut [Walked; P],
) {
    let mut sum = [load(&block.bias); P];
    let mut min = sum;
    let mut max = sum;
    // SAFETY: the CPU has them, as for this function.
    let order = unsafe { S::order() };
    for (quad, (weights, turns)) in block.quads.iter().zip(turns).enumerate() {
        let w = load_bytes(weights);
        let highs = [load_bytes(&turns.highs[0]), load_bytes(&turns.highs[1])];
        let lows = [load_bytes(&turns.lows[0]), load_bytes(&turns.lows[1])];
        for p in 0..P {
            // SAFETY: `sums` has checked the windows and the number of quads.
            let a = unsafe { source.load(order, bytes.as_ptr(), corners[p], quad) };
            for i in 0..2 {
                max[p] = _mm512_max_epi32(max[p], _mm512_dpbusd_epi32(sum[p], a, highs[i]));
                min[p] = _mm512_min_epi32(min[p], _mm512_dpbusd_epi32(sum[p], a, lows[i]));
            }
            sum[p] = _mm512_dpbusd_epi32(sum[p], a, w);
        }
    }
    for p in 0..P {
        store(&mut out[p].sum, sum[p]);
        store(&mut out[p].min, min[p]);
        store(&mut out[p].max, max[p]);
    }
}
