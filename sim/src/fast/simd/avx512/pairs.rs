//! One level of dot products, two windows per vector.

use std::arch::x86_64::*;

use super::super::super::kernels::{Aligned, LANES, Lanes, NOTED, Stepped};
use super::super::super::pairs::{Moment, PairOfWindows, PairStepping, PairWindows, StepList};
use super::super::super::places::log::Log;
use super::super::super::places::schedule::Turn;
use super::super::super::places::traces::NEVER;
use super::super::short::base;
use super::registers::{BY_MARK, BY_MARK_AND_SIGN, BY_SIGNS, BY_WEIGHT, COUNTED, Registers};
use super::sources::{Bytes, Source};
use super::{load, store};

/// Processes pairs of windows in groups; `$some` is a group.
macro_rules! in_groups {
    ($windows:expr, |$some:ident| $work:expr) => {{
        let (fours, rest) = $windows.as_chunks::<4>();
        let (twos, ones) = rest.as_chunks::<2>();
        fours.iter().for_each(|$some| $work);
        twos.iter().for_each(|$some| $work);
        ones.iter().map(std::array::from_ref).for_each(|$some| $work);
    }};
}

/// Runs a kernel with the method that determines the direction of overflows as a constant.
macro_rules! by_side {
    ($stepping:ident, |$side:ident| $work:expr) => {{
        macro_rules! under {
            ($of_side:expr) => {{
                const $side: u8 = $of_side;
                $work
            }};
        }
        match (&$stepping.weights.marks, $stepping.negative) {
            (Some(_), false) => under!(BY_MARK),
            (None, false) => under!(BY_WEIGHT),
            (Some(_), true) => under!(BY_MARK_AND_SIGN),
            (None, true) => under!(BY_SIGNS),
        }
    }};
}

/// Steps pairs of windows, which share a vector as their [`Source`] defines.
///
/// # Panics
/// If a window does not lie within the cells, a list was made for other products, or a slot does not lie in
/// `out`.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn step_pairs<const MODE: u8, const COUNT: bool>(
    stepping: &PairStepping<'_>,
    windows: PairWindows<'_>,
    out: &mut [Stepped],
) {
    match windows {
        PairWindows::Shared(windows) => {
            check(stepping, windows);
            step_all::<MODE, COUNT, _, &StepList>(stepping, (windows, ()), |list| list, out);
        }
        PairWindows::Own(bytes, windows) => {
            assert_eq!(bytes.offsets.len(), terms(stepping));
            let source = |corners| Bytes::new(bytes, corners);
            step_all::<MODE, COUNT, _, _>(stepping, (windows, bytes), source, out);
        }
    }
}

/// Steps windows whose products `source` provides.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn step_all<const MODE: u8, const COUNT: bool, W: Copy, S: Source>(
    stepping: &PairStepping<'_>,
    (windows, context): (&[PairOfWindows<W>], S::Context),
    source: impl Fn(W) -> S + Copy,
    out: &mut [Stepped],
) {
    by_side!(stepping, |SIDE| in_groups!(windows, |some| {
        step::<MODE, COUNT, SIDE, S, _>(stepping, (&some.map(|pair| pair.map_source(source)), context), out);
    }));
}

/// Returns the number of products.
///
/// # Panics
/// If the number of marks differs from it.
fn terms(stepping: &PairStepping<'_>) -> usize {
    let terms = stepping.weights.rows.len();
    assert!(stepping.weights.marks.as_ref().is_none_or(|marks| marks.len() == terms));
    terms
}

/// Checks the lists of the windows.
///
/// # Panics
/// If a list was made for other products.
fn check(stepping: &PairStepping<'_>, windows: &[PairOfWindows<&StepList>]) {
    let terms = terms(stepping);
    for PairOfWindows { source: list, .. } in windows {
        let room = list.operands.len().min(list.rows.len());
        assert!(list.terms == terms && list.count <= terms && terms <= room);
    }
}

/// Steps pairs of windows and logs the overflows up to every turn of each window. `turns` holds the turns by
/// slot; `log` must have room for them.
///
/// # Panics
/// Under the conditions of [`step_pairs`].
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn step_logged<const MODE: u8>(
    stepping: &PairStepping<'_>,
    windows: PairWindows<'_>,
    turns: &[&[Turn]],
    log: &mut Log,
    out: &mut [Stepped],
) {
    match windows {
        PairWindows::Shared(windows) => {
            check(stepping, windows);
            log_all::<MODE, _, &StepList>(stepping, (windows, ()), |list| list, (turns, log), out);
        }
        PairWindows::Own(bytes, windows) => {
            assert_eq!(bytes.offsets.len(), terms(stepping));
            let source = |corners| Bytes::new(bytes, corners);
            log_all::<MODE, _, _>(stepping, (windows, bytes), source, (turns, log), out);
        }
    }
}

/// Steps all windows with a log.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn log_all<const MODE: u8, W: Copy, S: Source>(
    stepping: &PairStepping<'_>,
    (windows, context): (&[PairOfWindows<W>], S::Context),
    source: impl Fn(W) -> S + Copy,
    (turns, log): (&[&[Turn]], &mut Log),
    out: &mut [Stepped],
) {
    by_side!(stepping, |SIDE| in_groups!(windows, |some| {
        let windows = some.map(|pair| pair.map_source(source));
        logged::<MODE, SIDE, S, _>(stepping, (&windows, context), turns, log, out);
    }));
}

/// Returns the number of steps of the longest window; shorter ones continue with products of 0.
#[inline(always)]
fn steps<S: Source, const P: usize>(windows: &[PairOfWindows<S>; P], context: S::Context) -> usize {
    windows.iter().map(|window| window.source.steps(context)).max().unwrap_or(0)
}

#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn step<const MODE: u8, const COUNT: bool, const SIDE: u8, S: Source, const P: usize>(
    stepping: &PairStepping<'_>,
    (windows, context): (&[PairOfWindows<S>; P], S::Context),
    out: &mut [Stepped],
) {
    let steps = steps(windows, context);
    let mut registers = Registers::<P>::new::<S>(stepping.start, base::<MODE>(stepping.rails));
    for from in (0..steps).step_by(COUNTED) {
        let to = steps.min(from + COUNTED);
        registers.tally::<MODE, COUNT, SIDE, S>(stepping, (windows, context), from..to);
    }
    registers.store(windows, out);
}

#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn logged<const MODE: u8, const SIDE: u8, S: Source, const P: usize>(
    stepping: &PairStepping<'_>,
    (windows, context): (&[PairOfWindows<S>; P], S::Context),
    turns: &[&[Turn]],
    log: &mut Log,
    out: &mut [Stepped],
) {
    let mut chunks = Chunks::default();
    for window in windows {
        for &slot in &window.slots {
            for (moment, turn) in log.of_mut(slot).0.iter_mut().zip(turns[slot]) {
                // SAFETY: the CPU has them, as for this function.
                unsafe { set_moment(moment, turn, window.source) };
                chunks.take(moment.between);
            }
        }
    }
    let steps = steps(windows, context);
    let mut registers = Registers::<P>::new::<S>(stepping.start, base::<MODE>(stepping.rails));
    let sources = windows.map(|window| window.source);
    let mut to = 0;
    while to < steps {
        let from = to;
        // Chunks without a moment can be stepped without logging.
        let free = chunks.free_from(from / NOTED);
        if free > 0 {
            to = steps.min(from + NOTED * free.min(COUNTED / NOTED));
            registers.tally::<MODE, true, SIDE, S>(stepping, (windows, context), from..to);
            continue;
        }
        to = steps.min(from + NOTED);
        let rows = &stepping.weights.rows;
        let noted = registers.step::<MODE, S>((rows, stepping.rails), (&sources, context), from..to, &mut ());
        for p in 0..P {
            let either = _mm512_or_si512(noted.overs[p], noted.unders[p]);
            // SAFETY: the CPU has them, as for this function.
            let [before, noted] = unsafe { [S::apart(registers.events[p]), S::apart(either)] };
            let noted = noted.map(|noted| _mm512_and_si512(noted, _mm512_set1_epi32(0xffff)));
            for (half, &slot) in windows[p].slots.iter().enumerate() {
                let (moments, log) = log.of_mut(slot);
                note_moments(moments, from..to, before[half], noted[half], log);
            }
        }
        registers.count(noted);
    }
    registers.store(windows, out);
    let never = _mm512_set1_epi32(NEVER.into());
    for p in 0..P {
        // SAFETY: the CPU has them, as for this function.
        let all = unsafe { S::apart(registers.events[p]) };
        for (half, &slot) in windows[p].slots.iter().enumerate() {
            let (moments, log) = log.of_mut(slot);
            for (moment, log) in moments.iter().zip(log) {
                let left = _mm512_cmpeq_epi32_mask(load(&moment.at), never);
                let before = load(log);
                store(log, _mm512_mask_mov_epi32(before, left, all[half]));
            }
        }
    }
}

/// Bit set of the chunks of [`NOTED`] steps that have moments; the last bit stands for all later chunks.
#[derive(Default)]
struct Chunks(u64);

impl Chunks {
    const LAST: usize = 63;

    /// Adds moments between two steps.
    fn take(&mut self, (least, greatest): (u32, u32)) {
        let [first, last] = [least, greatest].map(|step| (step as usize / NOTED).min(Self::LAST));
        self.0 |= (u64::MAX << first) & (u64::MAX >> (Self::LAST - last));
    }

    /// Returns the number of chunks without moments from `chunk` on, before the next one with moments.
    fn free_from(&self, chunk: usize) -> usize {
        match self.0 >> chunk.min(Self::LAST) {
            0 => usize::MAX,
            chunks => chunks.trailing_zeros() as usize,
        }
    }
}

/// Computes the steps before which a window's turn comes.
///
/// # Safety
/// The CPU has AVX-512BW and VL.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
unsafe fn set_moment<S: Source>(moment: &mut Moment, turn: &Turn, source: S) {
    // SAFETY: as for this function.
    let at = unsafe { source.steps_from(widen(&turn.at)) };
    store(&mut moment.at, at);
    moment.between = (source.step_from(turn.between.0), source.step_from(turn.between.1));
}

/// Logs the overflows up to the moments within `steps`. There were `before` overflows already, and one for
/// every bit in `noted`, the last step in the lowest bit.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn note_moments(
    moments: &[Moment],
    steps: std::ops::Range<usize>,
    before: __m512i,
    noted: __m512i,
    log: &mut [Aligned<Lanes>],
) {
    let (from, count) = (_mm512_set1_epi32(steps.start as i32), _mm512_set1_epi32(steps.len() as i32));
    for (moment, log) in moments.iter().zip(log) {
        if (moment.between.1 as usize) < steps.start || moment.between.0 as usize >= steps.end {
            continue;
        }
        let after = _mm512_sub_epi32(load(&moment.at), from);
        let here = _mm512_cmplt_epu32_mask(after, count);
        // Each lane has at most 16 bits.
        let earlier = _mm512_popcnt_epi16(_mm512_srlv_epi32(noted, _mm512_sub_epi32(count, after)));
        let logged = load(log);
        store(log, _mm512_mask_mov_epi32(logged, here, _mm512_add_epi32(before, earlier)));
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn widen(steps: &[i16; LANES]) -> __m512i {
    // SAFETY: sixteen steps of 16 bits; the load takes any alignment.
    _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(steps.as_ptr().cast()) })
}
