//! Kernels for AVX-512 with VNNI, 16 output channels to a vector of 32 bits.

use std::arch::x86_64::*;

use super::super::bytes::{ByteBlock, ByteSums, Gather, QuadTurns, Shared, Source};
use super::super::kernels::{
    LANES, LaneCounters, Lanes, NEVER, NOTED, PairOfWindows, PairStepping, Rails, Scaling, Stepped, Turn,
    Turns, Walked,
};
use super::super::schedule::Log;

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
pub(super) fn load(lanes: &Lanes) -> __m512i {
    // SAFETY: sixteen lanes of 32 bits; the load takes any alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn store(lanes: &mut Lanes, value: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), value) };
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
pub(super) fn sums<S: Quads>(
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

/// How a register steps: saturating where 15 bits hold its sums.
pub(super) const SATURATE: u8 = 0;
/// Saturating at the ends of the lanes.
pub(super) const SATURATE_16: u8 = 1;
/// Wrapping where 15 bits hold its sums and one more.
pub(super) const WRAP: u8 = 2;
/// Wrapping as 15 bits do.
pub(super) const WRAP_15: u8 = 3;
/// Wrapping as the lanes do.
pub(super) const WRAP_16: u8 = 4;

/// Steps pairs of windows, the low half of every lane on the first window and the high half on the second. Lane `l` reads
/// cell `l` of each product where `OWN`, else all read the first one.
///
/// # Panics
/// If a window does not lie within the pairs, or a slot not in `out`.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn step_pairs<const MODE: u8, const COUNT: bool, const OWN: bool>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows],
    out: &mut [Stepped],
) {
    check::<OWN>(stepping, windows);
    let (fours, rest) = windows.as_chunks::<4>();
    fours.iter().for_each(|windows| step::<MODE, COUNT, OWN, 4>(stepping, windows, out));
    let (twos, rest) = rest.as_chunks::<2>();
    twos.iter().for_each(|windows| step::<MODE, COUNT, OWN, 2>(stepping, windows, out));
    rest.iter().for_each(|&window| step::<MODE, COUNT, OWN, 1>(stepping, &[window], out));
}

/// # Panics
/// If a window does not lie within the pairs.
pub(super) fn check<const OWN: bool>(stepping: &PairStepping<'_>, windows: &[PairOfWindows]) {
    let PairStepping { cells, offsets, weights, reach, .. } = *stepping;
    let last = reach + if OWN { LANES } else { 1 };
    let lies_within = |window: &PairOfWindows| window.corner + last <= cells.len();
    assert!(windows.iter().all(lies_within), "windows lie within the image");
    assert_eq!(offsets.len(), weights.len());
}

/// What the lanes read at cell `at`.
///
/// # Safety
/// So many cells exist from there on: [`LANES`] where `OWN`, else one.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) unsafe fn load_cells<const OWN: bool>(cells: &[u32], at: usize) -> __m512i {
    // SAFETY: the caller says so; the load takes any alignment.
    unsafe {
        let cell = cells.as_ptr().add(at);
        if OWN { _mm512_loadu_si512(cell.cast()) } else { _mm512_set1_epi32(*cell as i32) }
    }
}

/// The same, with the overflows up to every turn of each window: `turns` has them by slot, `log` room for them.
///
/// # Panics
/// If a window does not lie within the pairs, or a slot not in `out`.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn step_logged<const MODE: u8, const OWN: bool>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows],
    turns: &[Turns<'_>],
    log: &mut Log,
    out: &mut [Stepped],
) {
    check::<OWN>(stepping, windows);
    let (fours, rest) = windows.as_chunks::<4>();
    fours.iter().for_each(|windows| logged::<MODE, OWN, 4>(stepping, windows, turns, log, out));
    let (twos, rest) = rest.as_chunks::<2>();
    twos.iter().for_each(|windows| logged::<MODE, OWN, 2>(stepping, windows, turns, log, out));
    rest.iter().for_each(|&window| logged::<MODE, OWN, 1>(stepping, &[window], turns, log, out));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn step<const MODE: u8, const COUNT: bool, const OWN: bool, const P: usize>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows; P],
    out: &mut [Stepped],
) {
    let mut registers = Registers::<P>::new(stepping.start, base::<MODE>(stepping.rails));
    registers.advance::<MODE, COUNT, OWN>(stepping, windows);
    registers.store(windows, out);
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn logged<const MODE: u8, const OWN: bool, const P: usize>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows; P],
    turns: &[Turns<'_>],
    log: &mut Log,
    out: &mut [Stepped],
) {
    let steps = stepping.offsets.len();
    let mut registers = Registers::<P>::new(stepping.start, base::<MODE>(stepping.rails));
    for from in (0..steps).step_by(NOTED) {
        let to = steps.min(from + NOTED);
        let noted = registers.step::<MODE, true, OWN>(stepping, windows, from..to, &mut ());
        for p in 0..P {
            let before = halves(_mm512_add_epi16(registers.above[p], registers.below[p]));
            let either = _mm512_or_si512(noted.overs[p], noted.unders[p]);
            let few = _mm512_set1_epi32(0xffff);
            let noted = [_mm512_and_si512(either, few), _mm512_srli_epi32::<16>(either)];
            for (half, &slot) in
                windows[p].slots.iter().enumerate().filter(|(_, slot)| !turns[**slot].0.is_empty())
            {
                note_turns(turns[slot].0, from..to, before[half], noted[half], log.of_mut(slot));
            }
        }
        registers.count(noted);
    }
    registers.store(windows, out);
    let never = _mm512_set1_epi32(NEVER.into());
    for p in 0..P {
        let all = halves(_mm512_add_epi16(registers.above[p], registers.below[p]));
        for (half, &slot) in
            windows[p].slots.iter().enumerate().filter(|(_, slot)| !turns[**slot].0.is_empty())
        {
            for (turn, log) in turns[slot].0.iter().zip(log.of_mut(slot)) {
                let left = _mm512_cmpeq_epi32_mask(widen(&turn.at), never);
                store(log, _mm512_mask_mov_epi32(load(log), left, all[half]));
            }
        }
    }
}

/// Logs the overflows up to those turns that come within `steps`: there were as many as `before`, and one for every bit
/// in `noted`, the last step in the lowest one.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn note_turns(
    turns: &[Turn],
    steps: std::ops::Range<usize>,
    before: __m512i,
    noted: __m512i,
    log: &mut [Lanes],
) {
    let (from, count) = (_mm512_set1_epi32(steps.start as i32), _mm512_set1_epi32(steps.len() as i32));
    for (turn, log) in turns.iter().zip(log) {
        if usize::from(turn.between.1) < steps.start || usize::from(turn.between.0) >= steps.end {
            continue;
        }
        let after = _mm512_sub_epi32(widen(&turn.at), from);
        let here = _mm512_cmplt_epu32_mask(after, count);
        // 16 bits of each lane at most.
        let earlier = _mm512_popcnt_epi16(_mm512_srlv_epi32(noted, _mm512_sub_epi32(count, after)));
        store(log, _mm512_mask_mov_epi32(load(log), here, _mm512_add_epi32(before, earlier)));
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn widen(steps: &[i16; LANES]) -> __m512i {
    // SAFETY: sixteen steps of 16 bits; the load takes any alignment.
    _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(steps.as_ptr().cast()) })
}

/// What sums are held less. Those that saturate end where the lanes do, so that the lanes clamp them from above; of
/// those that wrap the least one is held as 0, so that the sign says which are less.
pub(super) fn base<const MODE: u8>(rails: Rails) -> i32 {
    match MODE {
        SATURATE => rails.high - i32::from(i16::MAX),
        SATURATE_16 | WRAP_16 => 0,
        _ => rails.low,
    }
}

/// Two windows in every register: sums and overflows so far.
pub(super) struct Registers<const P: usize> {
    /// What the sums are held less.
    pub base: i32,
    pub value: [__m512i; P],
    pub above: [__m512i; P],
    pub below: [__m512i; P],
}

/// One bit per step, the last one the lowest: whether the exact sum lay above the rails, and below.
pub(super) struct Noted<const P: usize> {
    pub overs: [__m512i; P],
    pub unders: [__m512i; P],
}

/// What is found out beside stepping, product by product.
pub(super) trait Beside {
    /// Takes the product of `x` and `w` for the two windows in register `p`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn take(&mut self, p: usize, x: __m512i, w: __m512i, product: __m512i);
}

/// Nothing.
impl Beside for () {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, _: __m512i, _: __m512i, _: __m512i) {}
}

impl<const P: usize> Registers<P> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn new(start: &Lanes, base: i32) -> Self {
        let zero = _mm512_setzero_si512();
        // That fits 16 bits: the start lies between the rails.
        let start = _mm512_sub_epi32(load(start), _mm512_set1_epi32(base));
        let low = _mm512_and_si512(start, _mm512_set1_epi32(0xffff));
        let start = _mm512_or_si512(low, _mm512_slli_epi32::<16>(start));
        Self { value: [start; P], above: [zero; P], below: [zero; P], base }
    }

    /// Adds all products; windows and weights have been checked.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn advance<const MODE: u8, const COUNT: bool, const OWN: bool>(
        &mut self,
        stepping: &PairStepping<'_>,
        windows: &[PairOfWindows; P],
    ) {
        let steps = stepping.offsets.len();
        for from in (0..steps).step_by(NOTED) {
            let to = steps.min(from + NOTED);
            let noted = self.step::<MODE, COUNT, OWN>(stepping, windows, from..to, &mut ());
            if COUNT {
                self.count(noted);
            }
        }
    }

    /// Adds up to [`NOTED`] products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn step<const MODE: u8, const COUNT: bool, const OWN: bool>(
        &mut self,
        stepping: &PairStepping<'_>,
        windows: &[PairOfWindows; P],
        steps: std::ops::Range<usize>,
        beside: &mut impl Beside,
    ) -> Noted<P> {
        let &PairStepping { cells, offsets, weights, rails, .. } = stepping;
        // The least and the greatest sum as they are held.
        let [least, most] =
            [rails.low, rails.high].map(|rail| _mm512_set1_epi16((rail - base::<MODE>(rails)) as i16));
        let zero = _mm512_setzero_si512();
        let (offsets, weights) = (&offsets[steps.clone()], &weights[steps]);
        let mut value = self.value;
        let (mut overs, mut unders) = ([zero; P], [zero; P]);
        for (&offset, weights) in offsets.iter().zip(weights) {
            // SAFETY: 32 lanes of 16 bits; the load takes any alignment.
            let w = unsafe { _mm512_loadu_si512(weights.as_ptr().cast()) };
            for p in 0..P {
                // SAFETY: as many cells exist from there on, which the callers have checked.
                let x = unsafe { load_cells::<OWN>(cells, windows[p].corner + offset as usize) };
                let product = _mm512_mullo_epi16(x, w);
                // SAFETY: the CPU has them, as for this function.
                unsafe { beside.take(p, x, w, product) };
                let sum = _mm512_adds_epi16(value[p], product);
                let wrapped = _mm512_add_epi16(value[p], product);
                // Both addends have the sign that the result does not have.
                let above_lanes = _mm512_ternarylogic_epi32::<0x02>(value[p], product, wrapped);
                // Negative where the sum is too great, and where it is too small. Saturating additions and comparisons
                // run on one port of some CPUs, the others on two.
                let (over, under, next) = match MODE {
                    // The difference fits: a held sum is at least the least one, and a product has 16 bits.
                    SATURATE => (above_lanes, _mm512_sub_epi16(sum, least), _mm512_max_epi16(sum, least)),
                    WRAP => (_mm512_subs_epi16(most, sum), sum, _mm512_and_si512(wrapped, most)),
                    WRAP_15 => (above_lanes, sum, _mm512_and_si512(wrapped, most)),
                    _ => {
                        let under = _mm512_ternarylogic_epi32::<0x40>(value[p], product, wrapped);
                        (above_lanes, under, if MODE == SATURATE_16 { sum } else { wrapped })
                    }
                };
                if COUNT {
                    overs[p] = _mm512_shldi_epi16::<1>(overs[p], over);
                    unders[p] = _mm512_shldi_epi16::<1>(unders[p], under);
                }
                value[p] = next;
            }
        }
        self.value = value;
        Noted { overs, unders }
    }

    /// Counts what was noted.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn count(&mut self, noted: Noted<P>) {
        for p in 0..P {
            self.above[p] = _mm512_add_epi16(self.above[p], _mm512_popcnt_epi16(noted.overs[p]));
            self.below[p] = _mm512_add_epi16(self.below[p], _mm512_popcnt_epi16(noted.unders[p]));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn store(&self, windows: &[PairOfWindows; P], out: &mut [Stepped]) {
        let base = _mm512_set1_epi32(self.base);
        for p in 0..P {
            let lanes = [self.value[p], self.above[p], self.below[p]].map(|lanes| halves(lanes));
            for (half, &slot) in windows[p].slots.iter().enumerate() {
                let stepped = &mut out[slot];
                store(&mut stepped.value, _mm512_add_epi32(lanes[0][half], base));
                store(&mut stepped.high, lanes[1][half]);
                store(&mut stepped.low, lanes[2][half]);
            }
        }
    }
}

/// What belongs to the first windows, and to the second ones.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn halves(pairs: __m512i) -> [__m512i; 2] {
    [_mm512_srai_epi32::<16>(_mm512_slli_epi32::<16>(pairs)), _mm512_srai_epi32::<16>(pairs)]
}

/// Counts what delivered sums are wrong about: see [`kernels::count_errors`](super::super::kernels::count_errors).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn count_errors(
    counters: &mut LaneCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    [codes, exact_codes]: [&[Lanes]; 2],
) {
    let one = _mm512_set1_epi32(1);
    let [mut wrong, mut harmless] = [load(&counters.wrong), load(&counters.harmless)];
    // SAFETY: all arrays have sixteen lanes; loads take any alignment.
    let mut greatest = unsafe { _mm512_loadu_si512(counters.max_abs_err.as_ptr().cast()) };
    let sums = counters.sum_abs_err.as_mut_ptr().cast::<__m512i>();
    // SAFETY: as above.
    let [mut first, mut second] = unsafe { [_mm512_loadu_si512(sums), _mm512_loadu_si512(sums.add(1))] };
    for ((&at, stepped), codes) in pixels.iter().zip(stepped).zip(codes) {
        let (delivered, exact) = (load(&stepped.value), load(&walked[at].sum));
        let differ = _mm512_cmpneq_epi32_mask(delivered, exact);
        let same = _mm512_mask_cmpeq_epi32_mask(differ, load(codes), load(&exact_codes[at]));
        // As unsigned numbers, so that differences of 32 bits are right.
        let error = _mm512_sub_epi32(_mm512_max_epi32(delivered, exact), _mm512_min_epi32(delivered, exact));
        wrong = _mm512_mask_add_epi32(wrong, differ, wrong, one);
        harmless = _mm512_mask_add_epi32(harmless, same, harmless, one);
        greatest = _mm512_max_epu32(greatest, error);
        let [low, high] = [_mm512_castsi512_si256(error), _mm512_extracti64x4_epi64::<1>(error)];
        first = _mm512_add_epi64(first, _mm512_cvtepu32_epi64(low));
        second = _mm512_add_epi64(second, _mm512_cvtepu32_epi64(high));
    }
    store(&mut counters.wrong, wrong);
    store(&mut counters.harmless, harmless);
    // SAFETY: as above, and stores take any alignment too.
    unsafe {
        _mm512_storeu_si512(counters.max_abs_err.as_mut_ptr().cast(), greatest);
        _mm512_storeu_si512(sums, first);
        _mm512_storeu_si512(sums.add(1), second);
    }
}

/// Counts what happened in the register: see [`kernels::count_events`](super::super::kernels::count_events).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn count_events(
    counters: &mut LaneCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    held: (i32, i32),
) {
    let one = _mm512_set1_epi32(1);
    let (least, greatest) = (_mm512_set1_epi32(held.0), _mm512_set1_epi32(held.1));
    let [mut high, mut low] = [load(&counters.events_high), load(&counters.events_low)];
    let [mut touched, mut persistent] = [load(&counters.touched), load(&counters.persistent)];
    for (&at, stepped) in pixels.iter().zip(stepped) {
        let (above, below, sum) = (load(&stepped.high), load(&stepped.low), load(&walked[at].sum));
        high = _mm512_add_epi32(high, above);
        low = _mm512_add_epi32(low, below);
        let some = _mm512_or_si512(above, below);
        touched = _mm512_mask_add_epi32(touched, _mm512_test_epi32_mask(some, some), touched, one);
        let outside = _mm512_cmplt_epi32_mask(sum, least) | _mm512_cmpgt_epi32_mask(sum, greatest);
        persistent = _mm512_mask_add_epi32(persistent, outside, persistent, one);
    }
    store(&mut counters.events_high, high);
    store(&mut counters.events_low, low);
    store(&mut counters.touched, touched);
    store(&mut counters.persistent, persistent);
}

/// How many lanes of every pixel have a prefix outside of the rails.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn misfits(walked: &[Walked], rails: Rails, out: &mut [usize]) {
    let (low, high) = (_mm512_set1_epi32(rails.low), _mm512_set1_epi32(rails.high));
    for (walked, out) in walked.iter().zip(out) {
        let below = _mm512_cmplt_epi32_mask(load(&walked.min), low);
        let above = _mm512_cmpgt_epi32_mask(load(&walked.max), high);
        *out = (below | above).count_ones() as usize;
    }
}

/// Output codes under scheme D: see [`kernels::codes`](super::super::kernels::codes).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn codes_double<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    let [bias, left, right, low, high] =
        [&scaling.bias, &scaling.left, &scaling.right, &scaling.low, &scaling.high].map(|lanes| load(lanes));
    let significand = load(&scaling.significand);
    let odd_significand = _mm512_srli_epi64::<32>(significand);
    let half = _mm512_set1_epi64(1 << 30);
    let one = _mm512_set1_epi32(1);
    let mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, right), one);
    let threshold = _mm512_srli_epi32::<1>(mask);
    let zero_point = _mm512_set1_epi32(scaling.zero_point);
    for (sum, out) in sums.zip(out) {
        let x = _mm512_sllv_epi32(_mm512_add_epi32(load(sum), bias), left);
        let even = _mm512_add_epi64(_mm512_mul_epi32(x, significand), half);
        let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(x), odd_significand);
        let odd = _mm512_slli_epi64::<1>(_mm512_add_epi64(odd, half));
        let product = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64::<31>(even), odd);
        // Ties away from zero.
        let threshold = _mm512_sub_epi32(threshold, _mm512_srai_epi32::<31>(product));
        let up = _mm512_cmpgt_epi32_mask(_mm512_and_si512(product, mask), threshold);
        let shifted = _mm512_srav_epi32(product, right);
        let scaled = _mm512_mask_add_epi32(shifted, up, shifted, one);
        let clamped = _mm512_min_epi32(_mm512_max_epi32(scaled, low), high);
        store(out, _mm512_add_epi32(clamped, zero_point));
    }
}

/// Writes the lanes of every pixel less `least` as bytes, `stride` bytes apart.
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn put_bytes(codes: &[Lanes], count: usize, least: i32, out: &mut [u8], stride: usize) {
    assert!(count <= LANES && codes.len().saturating_sub(1) * stride + count <= out.len());
    let mask = ((1u32 << count) - 1) as __mmask16;
    let least = _mm512_set1_epi32(least);
    for (i, codes) in codes.iter().enumerate() {
        let bytes = _mm512_sub_epi32(load(codes), least);
        // SAFETY: `count` bytes from there on lie within `out`; the others are not written.
        unsafe { _mm512_mask_cvtepi32_storeu_epi8(out.as_mut_ptr().add(i * stride).cast(), mask, bytes) };
    }
}
