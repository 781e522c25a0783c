//! Selects the products of two windows that must be stepped.

use std::arch::x86_64::*;

use super::super::super::pairs::{ListCells, StepList};

/// Lists the products of the windows that begin with `cells`. `runs` holds the distances and lengths of
/// adjacent cells in the order of addition. With `RANKS`, the list also contains the number of listed
/// products before each product.
///
/// # Panics
/// If a run does not lie within the cells.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg,avx512vpopcntdq,popcnt")]
pub(in super::super) fn list_steps<const RANKS: bool>(
    cells: ListCells<'_>,
    runs: &[(usize, usize)],
    list: &mut StepList,
) {
    let terms: usize = runs.iter().map(|run| run.1).sum();
    list.resize(terms);
    let mut filling = Filling { list, first: 0, count: 0 };
    for &(distance, length) in runs {
        let run = distance..distance + length;
        match cells {
            ListCells::Pairs(cells) => {
                let cells = &cells[run];
                // SAFETY: the requested cells exist.
                filling.run::<RANKS>(length, |at, count| unsafe { pairs(cells.as_ptr().add(at), count) });
            }
            ListCells::Bytes { windows, origin } => {
                let [first, second] = windows.map(|bytes| &bytes[run.clone()]);
                // SAFETY: as above.
                filling.run::<RANKS>(length, |at, count| unsafe {
                    bytes([first, second].map(|window| window.as_ptr().add(at)), count, origin)
                });
            }
        }
    }
    filling.finish();
}

/// Number of cells in one vector.
const CHUNK: usize = 16;

/// List that is being filled: the number of products so far, and of those that are listed.
struct Filling<'l> {
    list: &'l mut StepList,
    first: usize,
    count: usize,
}

impl Filling<'_> {
    /// Adds `length` cells. `load` returns a number of cells from an index on, followed by zeros.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg,avx512vpopcntdq,popcnt")]
    fn run<const RANKS: bool>(&mut self, length: usize, load: impl Fn(usize, usize) -> __m512i) {
        let mut at = 0;
        while length - at >= 2 * CHUNK {
            self.push::<RANKS, 2>([load(at, CHUNK), load(at + CHUNK, CHUNK)], 2 * CHUNK);
            at += 2 * CHUNK;
        }
        while at < length {
            let count = CHUNK.min(length - at);
            self.push::<RANKS, 1>([load(at, count)], count);
            at += count;
        }
    }

    /// Adds the next `products` cells; the others are 0. `V` is at most 2.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg,avx512vpopcntdq,popcnt")]
    fn push<const RANKS: bool, const V: usize>(&mut self, cells: [__m512i; V], products: usize) {
        let masks = cells.map(|cells| _mm512_test_epi32_mask(cells, cells));
        let StepList { operands, rows, before, .. } = &mut *self.list;
        let all = masks.iter().rev().fold(0, |all, &mask| all << CHUNK | u32::from(mask));
        let indices = _mm512_add_epi16(counting(), _mm512_set1_epi16(self.first as i16));
        let rows = &mut rows[self.count..self.count + 2 * CHUNK];
        // SAFETY: the slice has room for the numbers; the store takes any alignment.
        unsafe {
            _mm512_storeu_si512(rows.as_mut_ptr().cast(), _mm512_maskz_compress_epi16(all, indices));
        }
        let mut count = self.count;
        for (part, (cells, mask)) in cells.into_iter().zip(masks).enumerate() {
            put(operands, count, _mm512_maskz_compress_epi32(mask, cells));
            if RANKS {
                put(before, self.first + part * CHUNK, ranks(count, mask));
            }
            count += mask.count_ones() as usize;
        }
        self.first += products;
        self.count = count;
    }

    /// Completes the list.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn finish(self) {
        let Self { list, first, count } = self;
        for at in (count..first).step_by(CHUNK) {
            put(&mut list.operands, at, _mm512_setzero_si512());
        }
        list.count = count;
    }
}

/// Returns the vector 0, 1, 2, and so on.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn counting() -> __m512i {
    const NUMBERS: [i16; 2 * CHUNK] = {
        let (mut numbers, mut i) = ([0; 2 * CHUNK], 0);
        while i < numbers.len() {
            numbers[i] = i as i16;
            i += 1;
        }
        numbers
    };
    // SAFETY: 32 numbers of 16 bits; the load takes any alignment.
    unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) }
}

/// Returns `count` cells, at most sixteen, followed by zeros.
///
/// # Safety
/// The cells exist, and the CPU has AVX-512BW and VL.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
unsafe fn pairs(cells: *const u32, count: usize) -> __m512i {
    // SAFETY: the cells are read, and nothing beyond them.
    unsafe { _mm512_maskz_loadu_epi32(first(count), cells.cast()) }
}

/// Returns `count` cells of two windows of bytes, to which `origin` is added, followed by zeros.
///
/// # Safety
/// The cells exist in both windows, and the CPU has AVX-512BW and VL.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
unsafe fn bytes(windows: [*const u8; 2], count: usize, origin: i32) -> __m512i {
    let there = first(count);
    // SAFETY: as above.
    let load =
        |window: *const u8| unsafe { _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, window.cast())) };
    let [low, high] = windows.map(load);
    let bytes = _mm512_or_si512(low, _mm512_slli_epi32::<16>(high));
    _mm512_maskz_mov_epi32(there, _mm512_add_epi16(bytes, _mm512_set1_epi16(origin as i16)))
}

/// Returns the mask of the first `count` of sixteen lanes.
#[inline]
fn first(count: usize) -> __mmask16 {
    ((1u32 << count) - 1) as __mmask16
}

/// Returns `count` plus the number of earlier bits, lane by lane.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vpopcntdq")]
fn ranks(count: usize, bits: __mmask16) -> __m512i {
    let earlier = _mm512_setr_epi32(
        0, 0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff, 0x1fff, 0x3fff, 0x7fff,
    );
    let before = _mm512_popcnt_epi32(_mm512_and_si512(earlier, _mm512_set1_epi32(bits.into())));
    _mm512_add_epi32(before, _mm512_set1_epi32(count as i32))
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn put(to: &mut [u32], at: usize, lanes: __m512i) {
    // SAFETY: the slice has sixteen numbers from there on; the store takes any alignment.
    unsafe { _mm512_storeu_si512(to[at..at + CHUNK].as_mut_ptr().cast(), lanes) };
}
