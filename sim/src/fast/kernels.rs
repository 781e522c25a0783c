//! The loops of the fast engine, as plain safe code over arrays of lanes.
//!
//! A lane is an output channel; the products of one dot product are added one after the other, those of
//! [`LANES`] channels and of up to `P` pixels side by side. The functions are inlined into the bodies of
//! [`simd`](super::simd), each of which compiles them for other vector instructions.

// One loop over all lanes, whatever it indexes, is what the compiler turns into vectors.
#![allow(clippy::needless_range_loop)]

use guardbit_num::{Format, Overflow};

/// Output channels that are computed side by side.
pub(crate) const LANES: usize = 16;

/// Pixels that are handed to a kernel at once, at most.
pub(crate) const TILE: usize = 16;

/// One 16-bit operand per lane.
pub(crate) type Row = [i16; LANES];

/// One 32-bit integer per lane.
pub(crate) type Lanes = [i32; LANES];

/// The number of 32 bits that is nearest.
pub(crate) fn near(value: i128) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Two operands per lane: those of two steps that follow each other.
pub(crate) type Pair = [i16; 2 * LANES];

/// The activations of one pixel, one step after the other; one more, a 0, follows an odd number of them.
pub(crate) trait Activations: Copy {
    /// The first `steps` steps.
    fn first(self, steps: usize) -> Self;
    /// What every lane multiplies in step `k`.
    fn lanes(self, k: usize) -> Row;
    /// What one lane multiplies in step `k`.
    fn at(self, k: usize, lane: usize) -> i16;
}

/// All lanes read the same activation.
impl Activations for &[i16] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        [self[k]; LANES]
    }

    #[inline(always)]
    fn at(self, k: usize, _: usize) -> i16 {
        self[k]
    }
}

/// Every lane reads an activation of its own.
impl Activations for &[Row] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        self[k]
    }

    #[inline(always)]
    fn at(self, k: usize, lane: usize) -> i16 {
        self[k][lane]
    }
}

/// Lanes that read neighbours: in step `k` those from `cells[offsets[k]]` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbours<'x> {
    cells: &'x [i16],
    offsets: &'x [usize],
}

impl<'x> Neighbours<'x> {
    /// `reach` is the greatest of `offsets`.
    ///
    /// # Panics
    /// If some lane reads beyond `cells`.
    pub fn new(cells: &'x [i16], offsets: &'x [usize], reach: usize) -> Self {
        Self { cells: &cells[..reach + LANES], offsets }
    }

    /// What the lanes read in step `k`.
    #[inline(always)]
    pub fn row(&self, k: usize) -> &Row {
        // The window ends before the image does: there is always a row.
        self.cells[self.offsets[k]..].first_chunk().unwrap_or(&[0; LANES])
    }
}

impl Activations for Neighbours<'_> {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        Self { offsets: &self.offsets[..steps], ..self }
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        *self.row(k)
    }

    #[inline(always)]
    fn at(self, k: usize, lane: usize) -> i16 {
        self.cells[self.offsets[k] + lane]
    }
}

/// The exact sums of one pixel: their final values and the extremes over their prefixes and the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walked {
    pub sum: Lanes,
    pub min: Lanes,
    pub max: Lanes,
}

impl Walked {
    pub const ZERO: Self = Self { sum: [0; LANES], min: [0; LANES], max: [0; LANES] };
}

/// The narrow sums of one pixel and its overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stepped {
    pub value: Lanes,
    pub high: Lanes,
    pub low: Lanes,
}

impl Stepped {
    pub const ZERO: Self = Self { value: [0; LANES], high: [0; LANES], low: [0; LANES] };
}

/// Sums that become output codes.
pub(crate) trait Delivered {
    fn delivered(&self) -> &Lanes;
}

impl Delivered for Lanes {
    fn delivered(&self) -> &Lanes {
        self
    }
}

impl Delivered for Walked {
    fn delivered(&self) -> &Lanes {
        &self.sum
    }
}

impl Delivered for Stepped {
    fn delivered(&self) -> &Lanes {
        &self.value
    }
}

/// What a narrow register does, as far as a kernel must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rails {
    /// Least and greatest value that is left alone.
    pub low: i32,
    pub high: i32,
    /// Width; used where the register wraps.
    pub bits: u32,
    /// What is held of a value beyond each rail; used where the rails alone decide it.
    pub below: i32,
    pub above: i32,
}

impl Rails {
    /// Those of a register for sums of 32 bits, which never meet wider ones.
    pub fn new(format: Format, overflow: Overflow) -> Self {
        let (low, high) = overflow.limits(format);
        let beyond = |exact: i128| near(overflow.fit(exact, format).value);
        Self {
            low: near(low),
            high: near(high),
            bits: format.bits(),
            below: beyond(low - 1),
            above: beyond(high + 1),
        }
    }
}

/// Operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn operands(bytes: &[u8], origin: i32, out: &mut Vec<i16>) {
    let origin = origin as i16;
    out.extend(bytes.iter().map(|&byte| i16::from(byte) + origin));
}

/// Magnitudes of operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn magnitudes(bytes: &[u8], origin: i32, out: &mut Vec<u8>) {
    let origin = origin as i16;
    out.extend(bytes.iter().map(|&byte| (i16::from(byte) + origin).unsigned_abs() as u8));
}

/// Sums of the squares of every `channels` operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn squares(bytes: &[u8], origin: i32, channels: usize, out: &mut Vec<u32>) {
    let origin = origin as i16;
    let square = |&byte: &u8| {
        let operand = i32::from(i16::from(byte) + origin);
        (operand * operand) as u32
    };
    out.extend(bytes.chunks_exact(channels).map(|position| position.iter().map(square).sum::<u32>()));
}

/// Every operand beside that `distance` cells further, which is any where there is none; an operand is `origin` more
/// than its byte.
#[inline(always)]
pub(crate) fn pairs(bytes: &[u8], distance: usize, origin: i32, out: &mut Vec<u32>) {
    let operand = |byte: u8| (i32::from(byte) + origin) as u32;
    let second = bytes.get(distance..).unwrap_or_default();
    out.extend(bytes.iter().zip(second).map(|(&a, &b)| operand(a) & 0xffff | operand(b) << 16));
    out.extend(bytes[second.len()..].iter().map(|&a| operand(a) & 0xffff));
}

/// Not before the end of a dot product.
pub(crate) const NEVER: i16 = i16::MAX;

/// Where the dot products of one block at one pixel enter another part of the layer's time, for the first time, for the
/// second time, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// The product before which each does, or [`NEVER`].
    pub at: [i16; LANES],
    /// The part that it enters.
    pub parts: [u8; LANES],
    /// Which of the checkpoints of the block that is.
    pub entries: [u16; LANES],
    /// Whether all lanes enter the same part.
    pub together: bool,
}

/// What the runs of one block's dot products came to.
pub(crate) struct RunsOut<'s> {
    /// Run by run: exact sums, and what the hardware holds.
    pub exact: &'s mut [Lanes],
    pub held: &'s mut [Lanes],
    /// Overflows above and below.
    pub counts: [&'s mut Lanes; 2],
    /// Least and greatest of all exact prefixes, or nodes; where they are asked for.
    pub prefixes: Option<[&'s mut Lanes; 2]>,
    /// Overflows of trees, product by product: those of the additions that end with it. Of chains one row for each of
    /// [`noted_parts`], with a bit per product, the last one the lowest. Empty if nobody asks.
    pub log: &'s mut [Row],
}

/// Steps whose overflows are noted in the bits of a lane.
pub(crate) const NOTED: usize = 16;

/// The products of runs of `length` each, in parts of which bits of a lane note the overflows.
pub(crate) fn noted_parts(products: usize, length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..products).step_by(length).flat_map(move |begin| {
        let end = products.min(begin + length);
        (begin..end).step_by(NOTED).map(move |from| from..end.min(from + NOTED))
    })
}

/// Longest runs of trees that are stepped two windows to a lane.
pub(crate) const PAIR_TREE: usize = 64;

/// `i`, of which the compiler knows nothing: it shall make vectors of the lanes of one step, not of several steps.
#[inline(always)]
pub(crate) fn step_index(i: usize) -> usize {
    std::hint::black_box(i)
}

/// A tree of `values`, which it overwrites: adjacent pairs, round after round; an odd last value passes up unchanged.
/// `node` also gets the index of the last value that it contains. `PLAIN` says that it is plain code on lanes, for which
/// [`step_index`] is meant.
#[inline(always)]
pub(crate) fn rounds<T: Copy, const PLAIN: bool>(
    values: &mut [T],
    mut node: impl FnMut(&T, &T, usize) -> T,
) -> T {
    let mut left = values.len();
    // Values in one value of this round.
    let mut width = 1;
    while left > 1 {
        let pairs = left / 2;
        for pair in 0..pairs {
            let pair = if PLAIN { step_index(pair) } else { pair };
            let last = ((2 * pair + 2) * width).min(values.len()) - 1;
            values[pair] = node(&values[2 * pair], &values[2 * pair + 1], last);
        }
        if left % 2 == 1 {
            values[pairs] = values[2 * pairs];
        }
        left = left.div_ceil(2);
        width *= 2;
    }
    values[0]
}

pub(crate) const SATURATE: u8 = 0;
pub(crate) const WRAP_SIGNED: u8 = 1;
pub(crate) const WRAP_UNSIGNED: u8 = 2;
pub(crate) const CHOSEN: u8 = 3;
pub(crate) const LATCHED: u8 = 4;
pub(crate) const EXACT: u8 = 5;

/// Exact sums from `start`, with the extremes of their prefixes. No sum may leave 32 bits, and no product 16
/// bits where `SHORT`.
#[inline(always)]
pub(crate) fn walk<X: Activations, const P: usize, const SHORT: bool>(
    x: &[X; P],
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let x = first(x, weights.len());
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (k, w) in weights.iter().enumerate() {
        for p in 0..P {
            let a = x[p].lanes(k);
            for l in 0..LANES {
                let product = match SHORT {
                    true => i32::from(a[l].wrapping_mul(w[l])),
                    false => i32::from(a[l]).wrapping_mul(i32::from(w[l])),
                };
                sum[p][l] = sum[p][l].wrapping_add(product);
                min[p][l] = min[p][l].min(sum[p][l]);
                max[p][l] = max[p][l].max(sum[p][l]);
            }
        }
    }
    for p in 0..P {
        out[p] = Walked { sum: sum[p], min: min[p], max: max[p] };
    }
}

/// The first `steps` steps of every pixel.
#[inline(always)]
pub(crate) fn first<X: Activations, const P: usize>(x: &[X; P], steps: usize) -> [X; P] {
    let mut x = *x;
    for x in &mut x {
        *x = x.first(steps);
    }
    x
}

/// How many lanes have a prefix outside of the rails.
#[inline(always)]
pub(crate) fn misfits(walked: &Walked, rails: Rails) -> usize {
    let mut misfits = 0;
    for l in 0..LANES {
        misfits += i32::from((walked.min[l] < rails.low) | (walked.max[l] > rails.high));
    }
    misfits as usize
}

/// Pairs of steps after which a bound is taken anew.
pub(crate) const BOUND_PAIRS: usize = 32;

/// Exact sums from `start`, and bounds of their prefixes: with P and N the sums of the positive and of the
/// negative products of some steps, every prefix within them lies between N and P beyond their start.
///
/// Without `BOUNDED` only the sums count. The products of [`BOUND_PAIRS`] pairs may not leave 31 bits in sum.
#[inline(always)]
pub(crate) fn sum<X: Activations, const P: usize, const BOUNDED: bool>(
    x: &[X; P],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let x = first(x, 2 * weights.len());
    let mut sum = [*start; P];
    let mut min = sum;
    let mut max = sum;
    for (part, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
        let before = sum;
        let mut size = [[0i32; LANES]; P];
        for (i, w) in weights.iter().enumerate() {
            let k = 2 * (part * BOUND_PAIRS + i);
            for p in 0..P {
                let (a, b) = (x[p].lanes(k), x[p].lanes(k + 1));
                for l in 0..LANES {
                    let first = i32::from(a[l]) * i32::from(w[2 * l]);
                    let second = i32::from(b[l]) * i32::from(w[2 * l + 1]);
                    sum[p][l] += first + second;
                    if BOUNDED {
                        size[p][l] += first.abs() + second.abs();
                    }
                }
            }
        }
        for p in 0..P {
            for l in 0..LANES {
                let change = sum[p][l] - before[p][l];
                // Both are even.
                max[p][l] = max[p][l].max(before[p][l] + (size[p][l] + change) / 2);
                min[p][l] = min[p][l].min(before[p][l] - (size[p][l] - change) / 2);
            }
        }
    }
    for p in 0..P {
        out[p] = Walked { sum: sum[p], min: min[p], max: max[p] };
    }
}

/// What is noted on the way: `log[i]` gets the overflows before step `checkpoints[i]`; checkpoints ascend.
pub(crate) struct Trail<'t> {
    pub checkpoints: &'t [u32],
    pub log: &'t mut [Lanes],
}

impl Trail<'_> {
    #[inline(always)]
    pub fn none() -> Self {
        Self { checkpoints: &[], log: &mut [] }
    }
}

/// Defines a stepping kernel on lanes of one integer type.
///
/// `trail` is written for the first pixel; overflows are counted where `COUNT`. `$add` is the addition whose result
/// still shows on which side of the rails the exact sum lies.
macro_rules! stepper {
    ($(#[$doc:meta])* $name:ident, $lane:ty, $add:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<X: Activations, const P: usize, const MODE: u8, const COUNT: bool>(
            x: &[X; P],
            weights: &[Row],
            start: &Lanes,
            rails: Rails,
            trail: Trail<'_>,
            out: &mut [Stepped; P],
        ) {
            const { assert!(MODE <= EXACT, "a mode of these kernels") };
            type Lane = $lane;
            let (below_value, above_value) = (rails.below as Lane, rails.above as Lane);
            let (low_rail, high_rail) = (rails.low as Lane, rails.high as Lane);
            let shift = Lane::BITS - rails.bits.min(Lane::BITS);
            let mask = ((1u64 << rails.bits.min(Lane::BITS)) - 1) as Lane;
            let x = first(x, weights.len());
            let mut value = [[0 as Lane; LANES]; P];
            for p in 0..P {
                for l in 0..LANES {
                    value[p][l] = start[l] as Lane;
                }
            }
            let mut high = [[0 as Lane; LANES]; P];
            let mut low = high;
            let mut free = [[-1 as Lane; LANES]; P];
            let mut from = 0;
            let mut entries = trail.checkpoints.iter().zip(trail.log);
            loop {
                let entry = entries.next();
                let to = entry.as_ref().map_or(weights.len(), |(step, _)| **step as usize);
                for k in from..to {
                    let w = &weights[k];
                    for p in 0..P {
                        let a = x[p].lanes(k);
                        for l in 0..LANES {
                            let product = Lane::from(a[l]).wrapping_mul(Lane::from(w[l]));
                            let held = value[p][l];
                            let sum = held.$add(product);
                            let mut above = -((sum > high_rail) as Lane);
                            let mut below = -((sum < low_rail) as Lane);
                            if MODE == LATCHED {
                                above &= free[p][l];
                                below &= free[p][l];
                            }
                            if COUNT {
                                high[p][l] -= above;
                                low[p][l] -= below;
                            }
                            let clamped = sum.min(high_rail).max(low_rail);
                            value[p][l] = match MODE {
                                SATURATE => clamped,
                                WRAP_SIGNED => (held.wrapping_add(product) << shift) >> shift,
                                WRAP_UNSIGNED => held.wrapping_add(product) & mask,
                                CHOSEN if sum > high_rail => above_value,
                                CHOSEN if sum < low_rail => below_value,
                                LATCHED => (clamped & free[p][l]) | (held & !free[p][l]),
                                _ => sum,
                            };
                            if MODE == LATCHED {
                                free[p][l] &= !(above | below);
                            }
                        }
                    }
                }
                let Some((_, entry)) = entry else { break };
                for l in 0..LANES {
                    entry[l] = i32::from(high[0][l] + low[0][l]);
                }
                from = to;
            }
            for p in 0..P {
                for l in 0..LANES {
                    out[p].value[l] = i32::from(value[p][l]);
                    out[p].high[l] = i32::from(high[p][l]);
                    out[p].low[l] = i32::from(low[p][l]);
                }
            }
        }
    };
}

stepper! {
    /// On 16-bit lanes: products fit 16 bits, both rails lie inside of 16 bits by at least one, there are at
    /// most 32767 steps, and the mode is not [`EXACT`].
    step_i16, i16, saturating_add
}
stepper! {
    /// On 32-bit lanes: no held value plus a product leaves 32 bits.
    step_i32, i32, wrapping_add
}

/// From sums to output codes, lane by lane: bias, multiplier, clamp, zero point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scaling {
    /// Added first; the sum with it stays within 32 bits.
    pub bias: Lanes,
    /// 31 bits.
    pub significand: Lanes,
    /// Shift to the left before the multiplication, 0..=30.
    pub left: Lanes,
    /// Shift to the right: after the doubling high multiplication, 0..=31, or of the whole product, 31..=62.
    pub right: Lanes,
    /// Least and greatest code, less the zero point.
    pub low: Lanes,
    pub high: Lanes,
    pub zero_point: i32,
}

/// Two roundings: a doubling high multiplication, then a shift to the right with ties away from zero
/// (`guardbit_num`'s scheme D).
pub(crate) const DOUBLE: u8 = 0;
/// One rounding of the whole product, half up (scheme S).
pub(crate) const SINGLE: u8 = 1;

/// Output codes of sums.
#[inline(always)]
pub(crate) fn codes<const SCHEME: u8>(sum: &Lanes, scaling: &Scaling) -> Lanes {
    let mut codes = [0; LANES];
    for l in 0..LANES {
        let x = sum[l].wrapping_add(scaling.bias[l]);
        let right = scaling.right[l] as u32;
        let scaled = match SCHEME {
            DOUBLE => double(x << scaling.left[l], scaling.significand[l], right),
            _ => single(x, scaling.significand[l], right),
        };
        codes[l] = scaled.max(scaling.low[l]).min(scaling.high[l]) + scaling.zero_point;
    }
    codes
}

#[inline(always)]
fn double(x: i32, significand: i32, right: u32) -> i32 {
    let product = i64::from(x) * i64::from(significand) + (1 << 30);
    // The result has 32 bits: a logical shift gives the same ones.
    let high = ((product as u64) >> 31) as u32 as i32;
    let mask = (1u32 << right).wrapping_sub(1) as i32;
    let threshold = ((mask as u32) >> 1) as i32 + i32::from(high < 0);
    (high >> right) + i32::from((high & mask) > threshold)
}

#[inline(always)]
fn single(x: i32, significand: i32, right: u32) -> i32 {
    // Made positive by a multiple of 2^right, so that a logical shift does.
    const LIFT: u64 = 1 << 62;
    let product = i64::from(x) * i64::from(significand) + (1i64 << (right - 1));
    (((product as u64).wrapping_add(LIFT) >> right) as u32).wrapping_sub((LIFT >> right) as u32) as i32
}

/// Counts of one block of channels, lane by lane, over at most 2^31 additions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaneCounters {
    pub events_high: Lanes,
    pub events_low: Lanes,
    pub touched: Lanes,
    pub persistent: Lanes,
    pub transient: Lanes,
    pub wrong: Lanes,
    pub harmless: Lanes,
    pub max_abs_err: [u32; LANES],
    pub sum_abs_err: [u64; LANES],
    /// Extremes over 0 and all prefixes, and over 0 and all final sums.
    pub prefixes: [Lanes; 2],
    pub finals: [Lanes; 2],
}

impl LaneCounters {
    pub const ZERO: Self = Self {
        events_high: [0; LANES],
        events_low: [0; LANES],
        touched: [0; LANES],
        persistent: [0; LANES],
        transient: [0; LANES],
        wrong: [0; LANES],
        harmless: [0; LANES],
        max_abs_err: [0; LANES],
        sum_abs_err: [0; LANES],
        prefixes: [[0; LANES]; 2],
        finals: [[0; LANES]; 2],
    };
}

/// Counts what delivered sums are wrong about; `code` is what became of them, `right` the exact code.
#[inline(always)]
pub(crate) fn count_errors(
    counters: &mut LaneCounters,
    delivered: &Lanes,
    exact: &Lanes,
    code: &Lanes,
    right: &Lanes,
) {
    for l in 0..LANES {
        let error = delivered[l].abs_diff(exact[l]);
        counters.wrong[l] += i32::from(error != 0);
        counters.harmless[l] += i32::from((error != 0) & (code[l] == right[l]));
        counters.max_abs_err[l] = counters.max_abs_err[l].max(error);
        counters.sum_abs_err[l] += u64::from(error);
    }
}

/// Counts what happened in the register; its format holds `least..=greatest`.
#[inline(always)]
pub(crate) fn count_events(
    counters: &mut LaneCounters,
    stepped: &Stepped,
    sum: &Lanes,
    least: i32,
    greatest: i32,
) {
    for l in 0..LANES {
        counters.events_high[l] += stepped.high[l];
        counters.events_low[l] += stepped.low[l];
        counters.touched[l] += i32::from((stepped.high[l] | stepped.low[l]) != 0);
        counters.persistent[l] += i32::from((sum[l] < least) | (sum[l] > greatest));
    }
}

/// Counts what unbounded sums do; the register's format holds `least..=greatest`.
#[inline(always)]
pub(crate) fn count_prefixes(counters: &mut LaneCounters, walked: &Walked, least: i32, greatest: i32) {
    for l in 0..LANES {
        let (sum, min, max) = (walked.sum[l], walked.min[l].min(0), walked.max[l].max(0));
        let fits = (sum >= least) & (sum <= greatest);
        counters.transient[l] += i32::from(fits & ((min < least) | (max > greatest)));
        counters.prefixes[0][l] = counters.prefixes[0][l].min(min);
        counters.prefixes[1][l] = counters.prefixes[1][l].max(max);
        counters.finals[0][l] = counters.finals[0][l].min(sum);
        counters.finals[1][l] = counters.finals[1][l].max(sum);
    }
}

/// Bits that hold the final sums, and bits that hold the prefixes, in two's complement.
#[inline(always)]
pub(crate) fn required(walked: &Walked) -> [Lanes; 2] {
    let mut bits = [[0; LANES]; 2];
    for l in 0..LANES {
        let (sum, min, max) = (walked.sum[l], walked.min[l].min(0), walked.max[l].max(0));
        // A negative number is as long as its complement.
        bits[0][l] = 33 - (sum ^ (sum >> 31)).leading_zeros() as i32;
        bits[1][l] = 33 - (max | (min ^ (min >> 31))).leading_zeros() as i32;
    }
    bits
}

/// Adds the squares of codes less their zero point: of at most 16 bits, fewer than 2^28.
#[inline(always)]
pub(crate) fn signal<C: Code>(codes: &[C], zero_point: i32, signal: &mut u64) {
    // Parts of which 32 bits hold the squares, where codes have 8 bits.
    for part in codes.chunks(1 << 12) {
        let mut squares = C::Squares::default();
        for &code in part {
            let value = code.value() - zero_point;
            squares = C::add_square(squares, value);
        }
        *signal += squares.into();
    }
}

/// Compares codes of at most 16 bits, fewer than 2^28, `[pixel][channel]`; adds to the mismatches per channel and
/// to the squares of the differences.
#[inline(always)]
pub(crate) fn compare<C: Code>(exact: &[C], simulated: &[C], mismatches: &mut [u32], noise: &mut u64) {
    let channels = mismatches.len().max(1);
    // As many pixels as a byte counts.
    let mut counts = vec![0u8; channels];
    for (exact, simulated) in exact.chunks(255 * channels).zip(simulated.chunks(255 * channels)) {
        for (exact, simulated) in exact.chunks_exact(channels).zip(simulated.chunks_exact(channels)) {
            for ((&exact, &simulated), count) in exact.iter().zip(simulated).zip(&mut counts) {
                *count += u8::from(exact != simulated);
            }
        }
        for (mismatches, count) in mismatches.iter_mut().zip(&mut counts) {
            *mismatches += u32::from(std::mem::take(count));
        }
        for (exact, simulated) in exact.chunks(1 << 12).zip(simulated.chunks(1 << 12)) {
            let mut squares = C::Squares::default();
            for (&exact, &simulated) in exact.iter().zip(simulated) {
                squares = C::add_square(squares, exact.value() - simulated.value());
            }
            *noise += squares.into();
        }
    }
}

/// A code as it is stored.
pub(crate) trait Code: Copy + PartialEq {
    /// Holds 2^12 squares of differences.
    type Squares: Copy + Default + Into<u64>;
    fn value(self) -> i32;
    fn add_square(squares: Self::Squares, value: i32) -> Self::Squares;
}

macro_rules! code {
    ($code:ty, $squares:ty) => {
        impl Code for $code {
            type Squares = $squares;

            #[inline(always)]
            fn value(self) -> i32 {
                self.into()
            }

            #[inline(always)]
            fn add_square(squares: $squares, value: i32) -> $squares {
                let value = <$squares>::from(value.unsigned_abs());
                squares + value * value
            }
        }
    };
}

code!(u8, u32);
code!(i16, u64);
code!(i32, u64);
