//! Exact sums of bytes by dot-product instructions.

use std::arch::x86_64::*;

use super::super::super::bytes::{ByteBlock, ByteSums, Gather, QuadTurns, Shared, Source};
use super::super::super::kernels::{Lanes, Walked};
use super::{load, store};

/// Four activations per lane.
pub(crate) trait Quads: Source {
    /// Those of quad `quad` in the window that begins at `corner`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL and VNNI, and the window lies within `bytes` as [`Source::fits`] says.
    unsafe fn load(self, bytes: *const u8, corner: usize, quad: usize) -> __m512i;
}

impl Quads for Shared<'_> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn load(self, bytes: *const u8, corner: usize, quad: usize) -> __m512i {
        // SAFETY: four bytes from there on lie within the image; the load takes any alignment.
        let quad = unsafe {
            let offset = *self.offsets.get_unchecked(quad) as usize;
            bytes.add(corner + offset).cast::<i32>().read_unaligned()
        };
        _mm512_set1_epi32(quad)
    }
}

impl Quads for Gather<'_> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    unsafe fn load(self, bytes: *const u8, corner: usize, quad: usize) -> __m512i {
        // SAFETY: sixteen bytes from each of the four cells on lie within the image.
        let [a, b, c, d] = unsafe {
            let offsets = self.offsets.get_unchecked(quad);
            offsets.map(|offset| _mm_loadu_si128(bytes.add(corner + offset as usize).cast()))
        };
        let rows = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
        let rows = _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(rows, c), d);
        // Channels 4 i .. 4 i + 4 of all four cells into part i, then cell by cell into channel by channel.
        let columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let order =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
        _mm512_shuffle_epi8(_mm512_permutexvar_epi32(columns, rows), order)
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn load_bytes(bytes: &[i8; 64]) -> __m512i {
    // SAFETY: 64 bytes; the load takes any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Exact sums of a block at some windows, given by their corners in the bytes.
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
    assert!(corners.iter().all(|&corner| source.fits(corner, len)), "windows lie within the image");
    assert!(block.weights.len() == source.quads() && block.sizes.len() == source.quads());
    match how {
        ByteSums::Only => sum_tile(bytes, corners, source, block, out),
        ByteSums::Bounded(magnitudes) => bound_tile(bytes, magnitudes, corners, source, block, out),
        ByteSums::Walked(turns) => extremes_tile(bytes, corners, source, block, turns, out),
    }
}

/// Final sums alone.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum_tile<S: Quads>(bytes: &[u8], corners: &[usize], source: S, block: &ByteBlock, out: &mut [Walked]) {
    let weights = &block.weights[..];
    if let ([corner], [out]) = (corners, &mut *out) {
        store(&mut out.sum, sum_one(bytes, *corner, source, weights, &block.start));
        return;
    }
    in_chunks!(corners, out, [8, 4, 2, 1], |corners, out| {
        sum(bytes, corners, source, weights, &block.start, out)
    });
}

/// See [`ByteSums::Bounded`].
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

/// See [`ByteSums::Walked`].
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
    weights: &[[i8; 64]],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let mut sum = [load(start); P];
    for (quad, weights) in weights.iter().enumerate() {
        let w = load_bytes(weights);
        for p in 0..P {
            // SAFETY: `sums` has checked the windows, and there are as many weights as quads.
            let a = unsafe { source.load(bytes.as_ptr(), corners[p], quad) };
            sum[p] = _mm512_dpbusd_epi32(sum[p], a, w);
        }
    }
    for p in 0..P {
        store(&mut out[p].sum, sum[p]);
    }
}

/// One window alone: four sums side by side.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn sum_one<S: Quads>(bytes: &[u8], corner: usize, source: S, weights: &[[i8; 64]], start: &Lanes) -> __m512i {
    let mut sums = [load(start), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()];
    let (fours, rest) = weights.as_chunks::<4>();
    for (i, four) in fours.iter().enumerate() {
        for (j, weights) in four.iter().enumerate() {
            // SAFETY: `sums` has checked the window, and there are as many weights as quads.
            let a = unsafe { source.load(bytes.as_ptr(), corner, 4 * i + j) };
            sums[j] = _mm512_dpbusd_epi32(sums[j], a, load_bytes(weights));
        }
    }
    for (j, weights) in rest.iter().enumerate() {
        // SAFETY: as above.
        let a = unsafe { source.load(bytes.as_ptr(), corner, 4 * fours.len() + j) };
        sums[j] = _mm512_dpbusd_epi32(sums[j], a, load_bytes(weights));
    }
    _mm512_add_epi32(_mm512_add_epi32(sums[0], sums[1]), _mm512_add_epi32(sums[2], sums[3]))
}

/// The same with bounds of their prefixes: see [`kernels::sum`](super::super::kernels::sum).
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
    let mut sum = [load(&block.bias); P];
    let mut min = sum;
    let mut max = sum;
    let parts = block.weights.chunks(block.part).zip(block.sizes.chunks(block.part)).zip(&block.corrections);
    for (part, ((weights, sizes), correction)) in parts.enumerate() {
        let mut change = [load(correction); P];
        let mut size = [_mm512_setzero_si512(); P];
        for (i, (weights, sizes)) in weights.iter().zip(sizes).enumerate() {
            let quad = part * block.part + i;
            let (w, w_size) = (load_bytes(weights), load_bytes(sizes));
            for p in 0..P {
                // SAFETY: `sums` has checked the windows in both, and the number of quads.
                let a = unsafe { source.load(bytes.as_ptr(), corners[p], quad) };
                let a_size = match magnitudes {
                    // SAFETY: as above.
                    Some(magnitudes) => unsafe { source.load(magnitudes.as_ptr(), corners[p], quad) },
                    None => a,
                };
                change[p] = _mm512_dpbusd_epi32(change[p], a, w);
                size[p] = _mm512_dpbusd_epi32(size[p], a_size, w_size);
            }
        }
        for p in 0..P {
            let up = _mm512_srai_epi32::<1>(_mm512_add_epi32(size[p], change[p]));
            let down = _mm512_srai_epi32::<1>(_mm512_sub_epi32(size[p], change[p]));
            max[p] = _mm512_max_epi32(max[p], _mm512_add_epi32(sum[p], up));
            min[p] = _mm512_min_epi32(min[p], _mm512_sub_epi32(sum[p], down));
            sum[p] = _mm512_add_epi32(sum[p], change[p]);
        }
    }
    for p in 0..P {
        store(&mut out[p].sum, sum[p]);
        store(&mut out[p].min, min[p]);
        store(&mut out[p].max, max[p]);
    }
}

/// The same with the extremes of their prefixes, by `turns` of every quad.
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
    for (quad, (weights, turns)) in block.weights.iter().zip(turns).enumerate() {
        let w = load_bytes(weights);
        let highs = [load_bytes(&turns.highs[0]), load_bytes(&turns.highs[1])];
        let lows = [load_bytes(&turns.lows[0]), load_bytes(&turns.lows[1])];
        for p in 0..P {
            // SAFETY: `sums` has checked the windows and the number of quads.
            let a = unsafe { source.load(bytes.as_ptr(), corners[p], quad) };
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
