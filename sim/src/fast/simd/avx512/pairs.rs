//! Registers of at most 16 bits, two windows to a lane: the low half of every lane the first one, the high half the
//! second.

use std::arch::x86_64::*;

use super::super::super::kernels::{LANES, Lanes, NEVER, NOTED, Rails, Stepped, TILE, Turn};
use super::super::super::pairs::{
    ABOVE, BELOW, Moment, PairCells, PairOfWindows, PairRow, PairStepping, PairWeights, PairWindows, StepList,
};
use super::super::super::log::Log;
use super::{halves, load, store};

/// How a register steps: saturating where 15 bits hold its sums.
pub(in super::super) const SATURATE: u8 = 0;
/// Saturating at the ends of the lanes.
pub(in super::super) const SATURATE_16: u8 = 1;
/// Wrapping where 15 bits hold its sums and one more.
pub(in super::super) const WRAP: u8 = 2;
/// Wrapping as 15 bits do.
pub(in super::super) const WRAP_15: u8 = 3;
/// Wrapping as the lanes do.
pub(in super::super) const WRAP_16: u8 = 4;

/// Where the products of two windows are found.
pub(super) trait Source: Copy {
    /// How many there are.
    fn steps(self) -> usize;

    /// What the lanes read in step `i`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, and there are more than `i` steps, or there is room for a longer list than this.
    unsafe fn operands(self, i: usize) -> __m512i;

    /// Index of the weights of step `i`.
    ///
    /// # Safety
    /// As above.
    unsafe fn row(self, i: usize) -> usize;

    /// The steps that come with or after products `k`; [`NEVER`] where there are none, as for [`NEVER`] itself.
    ///
    /// # Safety
    /// The CPU has AVX-512BW.
    unsafe fn steps_from(self, k: __m512i) -> __m512i;
}

/// All products: from the cells of a window, which are as many as its last product reads.
#[derive(Clone, Copy)]
pub(super) struct Dense<'a, const OWN: bool> {
    cells: &'a [u32],
    offsets: &'a [u32],
}

impl<'a, const OWN: bool> Dense<'a, OWN> {
    /// Those of the window at `corner`.
    ///
    /// # Panics
    /// If it does not lie within the cells.
    pub fn new(cells: PairCells<'a>, corner: usize) -> Self {
        let last = cells.reach + if OWN { LANES } else { 1 };
        Self { cells: &cells.cells[corner..corner + last], offsets: cells.offsets }
    }
}

impl<const OWN: bool> Source for Dense<'_, OWN> {
    #[inline(always)]
    fn steps(self) -> usize {
        self.offsets.len()
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn operands(self, i: usize) -> __m512i {
        // SAFETY: `new` has checked the cells of the farthest product; the load takes any alignment.
        unsafe {
            let cell = self.cells.as_ptr().add(*self.offsets.get_unchecked(i) as usize);
            if OWN { _mm512_loadu_si512(cell.cast()) } else { _mm512_set1_epi32(*cell as i32) }
        }
    }

    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        i
    }

    #[inline(always)]
    unsafe fn steps_from(self, k: __m512i) -> __m512i {
        k
    }
}

impl Source for &StepList {
    #[inline(always)]
    fn steps(self) -> usize {
        self.count
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn operands(self, i: usize) -> __m512i {
        // SAFETY: the caller says that there are so many.
        _mm512_set1_epi32(unsafe { *self.operands.get_unchecked(i) } as i32)
    }

    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        // SAFETY: as above.
        unsafe { usize::from(*self.rows.get_unchecked(i)) }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn steps_from(self, k: __m512i) -> __m512i {
        let never = _mm512_set1_epi32(NEVER.into());
        let there = _mm512_cmplt_epu32_mask(k, _mm512_set1_epi32(self.before.len() as i32));
        // SAFETY: only what lies within is read.
        let steps = unsafe {
            _mm512_mask_i32gather_epi32::<4>(never, there, k, self.before.as_ptr().cast())
        };
        let some = _mm512_cmplt_epu32_mask(steps, _mm512_set1_epi32(self.count as i32));
        _mm512_mask_mov_epi32(never, some, steps)
    }
}

/// Pairs of windows, `$some` as many as go together at a time.
macro_rules! in_groups {
    ($windows:expr, |$some:ident| $work:expr) => {{
        let (fours, rest) = $windows.as_chunks::<4>();
        let (twos, ones) = rest.as_chunks::<2>();
        fours.iter().for_each(|$some| $work);
        twos.iter().for_each(|$some| $work);
        ones.iter().map(std::array::from_ref).for_each(|$some| $work);
    }};
}

/// Steps pairs of windows, the low half of every lane on the first window and the high half on the second.
///
/// # Panics
/// If a window does not lie within the cells, a list was made for other products, or a slot does not lie in `out`.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn step_pairs<const MODE: u8, const COUNT: bool>(
    stepping: &PairStepping<'_>,
    windows: PairWindows<'_>,
    out: &mut [Stepped],
) {
    match windows {
        PairWindows::Shared(windows) => {
            check(stepping, windows);
            match stepping.negative && COUNT {
                true => in_groups!(windows, |some| step::<MODE, COUNT, true, _, _>(stepping, some, out)),
                false => in_groups!(windows, |some| step::<MODE, COUNT, false, _, _>(stepping, some, out)),
            }
        }
        PairWindows::Own(cells, windows) => {
            let dense = dense(stepping, cells, windows);
            let windows = &dense[..windows.len()];
            match stepping.negative && COUNT {
                true => in_groups!(windows, |some| step::<MODE, COUNT, true, _, _>(stepping, some, out)),
                false => in_groups!(windows, |some| step::<MODE, COUNT, false, _, _>(stepping, some, out)),
            }
        }
    }
}

/// # Panics
/// If a list was made for other products.
fn check(stepping: &PairStepping<'_>, windows: &[PairOfWindows<&StepList>]) {
    let terms = stepping.weights.rows.len();
    assert_eq!(terms, stepping.weights.marks.len());
    for PairOfWindows { source: list, .. } in windows {
        let room = list.operands.len().min(list.rows.len());
        assert!(list.terms == terms && list.count <= terms && terms <= room);
    }
}

/// # Panics
/// If a window does not lie within the cells, or there are too many.
fn dense<'a>(
    stepping: &PairStepping<'_>,
    cells: PairCells<'a>,
    windows: &[PairOfWindows<usize>],
) -> [PairOfWindows<Dense<'a, true>>; TILE] {
    assert!(cells.offsets.len() == stepping.weights.rows.len() && windows.len() <= TILE);
    assert_eq!(stepping.weights.rows.len(), stepping.weights.marks.len());
    std::array::from_fn(|i| {
        let PairOfWindows { source, slots } = *windows.get(i).unwrap_or(&windows[0]);
        PairOfWindows { source: Dense::new(cells, source), slots }
    })
}

/// The same, with the overflows up to every turn of each window: `turns` has them by slot, `log` room for them.
///
/// # Panics
/// As above.
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
            in_groups!(windows, |some| logged::<MODE, _, _>(stepping, some, turns, log, out));
        }
        PairWindows::Own(cells, windows) => {
            let dense = dense(stepping, cells, windows);
            in_groups!(dense[..windows.len()], |some| logged::<MODE, _, _>(stepping, some, turns, log, out));
        }
    }
}

/// Steps of the longest one: shorter ones go on with products of 0.
#[inline(always)]
fn steps<S: Source, const P: usize>(windows: &[PairOfWindows<S>; P]) -> usize {
    windows.iter().map(|window| window.source.steps()).max().unwrap_or(0)
}

#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn step<const MODE: u8, const COUNT: bool, const NEGATIVE: bool, S: Source, const P: usize>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows<S>; P],
    out: &mut [Stepped],
) {
    let steps = steps(windows);
    let mut registers = Registers::<P>::new(stepping.start, base::<MODE>(stepping.rails));
    for from in (0..steps).step_by(COUNTED) {
        let to = steps.min(from + COUNTED);
        registers.tally::<MODE, COUNT, NEGATIVE, S>(stepping, windows, from..to);
    }
    registers.store(windows, out);
}

#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn logged<const MODE: u8, S: Source, const P: usize>(
    stepping: &PairStepping<'_>,
    windows: &[PairOfWindows<S>; P],
    turns: &[&[Turn]],
    log: &mut Log,
    out: &mut [Stepped],
) {
    for window in windows {
        for &slot in &window.slots {
            // SAFETY: the CPU has them, as for this function.
            log.of_mut(slot).0.iter_mut().zip(turns[slot]).for_each(|(moment, turn)| unsafe {
                set_moment(moment, turn, window.source);
            });
        }
    }
    let steps = steps(windows);
    let mut registers = Registers::<P>::new(stepping.start, base::<MODE>(stepping.rails));
    let sources = windows.map(|window| window.source);
    for from in (0..steps).step_by(NOTED) {
        let to = steps.min(from + NOTED);
        let rows = &stepping.weights.rows;
        let noted = registers.step::<MODE, true, S>((rows, stepping.rails), &sources, from..to, &mut ());
        for p in 0..P {
            let before = halves(_mm512_add_epi16(registers.above[p], registers.below[p]));
            let either = _mm512_or_si512(noted.overs[p], noted.unders[p]);
            let few = _mm512_set1_epi32(0xffff);
            let noted = [_mm512_and_si512(either, few), _mm512_srli_epi32::<16>(either)];
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
        let all = halves(_mm512_add_epi16(registers.above[p], registers.below[p]));
        for (half, &slot) in windows[p].slots.iter().enumerate() {
            let (moments, log) = log.of_mut(slot);
            for (moment, log) in moments.iter().zip(log) {
                let left = _mm512_cmpeq_epi32_mask(load(&moment.at), never);
                store(log, _mm512_mask_mov_epi32(load(log), left, all[half]));
            }
        }
    }
}

/// Finds the steps before which a turn of a window comes.
///
/// # Safety
/// The CPU has AVX-512BW and VL.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
unsafe fn set_moment<S: Source>(moment: &mut Moment, turn: &Turn, source: S) {
    // SAFETY: as for this function.
    let at = unsafe { source.steps_from(widen(&turn.at)) };
    store(&mut moment.at, at);
    let steps = _mm512_cmpneq_epi32_mask(at, _mm512_set1_epi32(NEVER.into()));
    moment.between = match steps {
        0 => (u32::MAX, 0),
        _ => (_mm512_mask_reduce_min_epu32(steps, at), _mm512_mask_reduce_max_epu32(steps, at)),
    };
}

/// Logs the overflows up to those moments that come within `steps`: there were as many as `before`, and one for every bit
/// in `noted`, the last step in the lowest one.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn note_moments(
    moments: &[Moment],
    steps: std::ops::Range<usize>,
    before: __m512i,
    noted: __m512i,
    log: &mut [Lanes],
) {
    let (from, count) = (_mm512_set1_epi32(steps.start as i32), _mm512_set1_epi32(steps.len() as i32));
    for (moment, log) in moments.iter().zip(log) {
        if (moment.between.1 as usize) < steps.start || moment.between.0 as usize >= steps.end {
            continue;
        }
        let after = _mm512_sub_epi32(load(&moment.at), from);
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

/// Steps whose overflows are counted in the bytes of a lane.
const COUNTED: usize = 255;

/// Weights `row`.
///
/// # Safety
/// There are such weights.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) unsafe fn load_row(rows: &[PairRow], row: usize) -> __m512i {
    // SAFETY: the caller says so; rows are aligned.
    unsafe { _mm512_load_si512(rows.as_ptr().add(row).cast()) }
}

/// The least and the greatest sum as they are held.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn ends<const MODE: u8>(rails: Rails) -> [__m512i; 2] {
    [rails.low, rails.high].map(|rail| _mm512_set1_epi16((rail - base::<MODE>(rails)) as i16))
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

    /// Adds up to [`COUNTED`] products; windows and weights have been checked.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn tally<const MODE: u8, const COUNT: bool, const NEGATIVE: bool, S: Source>(
        &mut self,
        stepping: &PairStepping<'_>,
        windows: &[PairOfWindows<S>; P],
        steps: std::ops::Range<usize>,
    ) {
        let PairWeights { rows, marks } = stepping.weights;
        let [least, most] = ends::<MODE>(stepping.rails);
        let swap = _mm512_set1_epi16(ABOVE | BELOW);
        let mut counts = [_mm512_setzero_si512(); P];
        for i in steps {
            for p in 0..P {
                // SAFETY: the callers have checked the windows, and that there are weights for all their products.
                let (x, row) = unsafe { (windows[p].source.operands(i), windows[p].source.row(i)) };
                // SAFETY: as above.
                let (w, mark) = unsafe { (load_row(rows, row), load_row(marks, row)) };
                let product = _mm512_mullo_epi16(x, w);
                let wrapped = _mm512_add_epi16(self.value[p], product);
                let saturated = _mm512_adds_epi16(self.value[p], product);
                // What is held, and what differs from the wrapped sum just where the exact one lies beyond the rails.
                let (next, shows) = match MODE {
                    SATURATE => {
                        let next = _mm512_max_epi16(saturated, least);
                        (next, next)
                    }
                    SATURATE_16 => (saturated, saturated),
                    WRAP_16 => (wrapped, saturated),
                    _ => {
                        let next = _mm512_and_si512(wrapped, most);
                        (next, next)
                    }
                };
                self.value[p] = next;
                if COUNT {
                    let mark = match NEGATIVE {
                        // The other direction where the activation is negative.
                        true => _mm512_ternarylogic_epi32::<0x78>(mark, _mm512_srai_epi16::<15>(x), swap),
                        false => mark,
                    };
                    let events = _mm512_cmpneq_epi16_mask(shows, wrapped);
                    counts[p] = _mm512_mask_add_epi16(counts[p], events, counts[p], mark);
                }
            }
        }
        if COUNT {
            let low_bytes = _mm512_set1_epi16(0xff);
            for p in 0..P {
                self.above[p] = _mm512_add_epi16(self.above[p], _mm512_and_si512(counts[p], low_bytes));
                self.below[p] = _mm512_add_epi16(self.below[p], _mm512_srli_epi16::<8>(counts[p]));
            }
        }
    }

    /// Adds up to [`NOTED`] products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn step<const MODE: u8, const COUNT: bool, S: Source>(
        &mut self,
        (rows, rails): (&[PairRow], Rails),
        sources: &[S; P],
        steps: std::ops::Range<usize>,
        beside: &mut impl Beside,
    ) -> Noted<P> {
        let [least, most] = ends::<MODE>(rails);
        let zero = _mm512_setzero_si512();
        let mut value = self.value;
        let (mut overs, mut unders) = ([zero; P], [zero; P]);
        for i in steps {
            for p in 0..P {
                // SAFETY: the callers have checked the windows, and that there are weights for all their products.
                let (x, w) = unsafe { (sources[p].operands(i), load_row(rows, sources[p].row(i))) };
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
    fn store<S>(&self, windows: &[PairOfWindows<S>; P], out: &mut [Stepped]) {
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
