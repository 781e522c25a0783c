//! Integer types of lanes, and operations of a register on a whole row of them.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use guardbit_num::{Beyond, Format, Overflow, Rounding};

use super::{InVector, LANES, Vector};

/// Signed integer of one lane.
pub(crate) trait Lane: InVector + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// Width in bits.
    const BITS: u32;
    /// Whether there are vector instructions for it.
    const IN_VECTORS: bool = Self::BITS <= 64;
    const ZERO: Self;
    const ONES: Self;

    /// Returns the low bits of a value.
    fn low_bits(value: i128) -> Self;
    /// Returns the nearest lane value.
    fn nearest(value: i128) -> Self;
    fn wide(self) -> i128;
    /// Returns a product of operands, which must fit.
    fn product(a: i16, b: i16) -> Self;
    /// Returns a product of operands of 32 bits, which must fit.
    fn wide_product(a: i32, b: i32) -> Self;
    /// Converts a product that fits 16 bits.
    fn of_product(product: i16) -> Self;
    /// Converts a value of 32 bits, of which the low ones are kept.
    fn of_word(word: i32) -> Self;
    /// Returns the sum modulo `2^BITS`.
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Returns a sum that lies on the same side of every rail as the exact one.
    fn reach(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn shift_right(self, shift: u32) -> Self;
    /// Returns a value with all bits set, or none.
    fn mask(set: bool) -> Self;
    /// Returns the low 16 bits.
    fn short(self) -> i16;
    /// Returns the low 32 bits, sign-extended if there are fewer.
    fn word(self) -> i32;
}

impl<V: Lane> Vector<V> {
    pub const ZERO: Self = Self::new([V::ZERO; LANES]);
    pub const ONES: Self = Self::new([V::ONES; LANES]);
}

macro_rules! lane {
    ($lane:ty, $wider:ty, $reach:ident) => {
        impl Lane for $lane {
            const BITS: u32 = <$lane>::BITS;
            const ZERO: Self = 0;
            const ONES: Self = -1;

            #[inline(always)]
            fn low_bits(value: i128) -> Self {
                value as Self
            }

            #[inline(always)]
            fn nearest(value: i128) -> Self {
                value.clamp(Self::MIN as i128, Self::MAX as i128) as Self
            }

            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }

            #[inline(always)]
            fn product(a: i16, b: i16) -> Self {
                (<$wider>::from(a).wrapping_mul(<$wider>::from(b))) as Self
            }

            #[inline(always)]
            fn wide_product(a: i32, b: i32) -> Self {
                (a as Self).wrapping_mul(b as Self)
            }

            #[inline(always)]
            fn of_product(product: i16) -> Self {
                product.into()
            }

            #[inline(always)]
            fn of_word(word: i32) -> Self {
                word as Self
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn reach(self, other: Self) -> Self {
                self.$reach(other)
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn not(self) -> Self {
                !self
            }

            #[inline(always)]
            fn shift_right(self, shift: u32) -> Self {
                self >> shift
            }

            #[inline(always)]
            fn mask(set: bool) -> Self {
                -Self::from(set)
            }

            #[inline(always)]
            fn short(self) -> i16 {
                self as i16
            }

            #[inline(always)]
            fn word(self) -> i32 {
                self as i32
            }
        }
    };
}

lane!(i16, i16, saturating_add);
lane!(i32, i32, wrapping_add);
lane!(i64, i32, wrapping_add);
lane!(i128, i32, wrapping_add);

/// Rails of a narrow register, and how it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rails<V: Lane = i32> {
    /// Least and greatest value that is not changed.
    pub low: V,
    pub high: V,
    /// Least value and bits of the format, if it wraps.
    base: V,
    mask: V,
    /// Result for a value beyond each rail, if it depends on the rail alone.
    below: V,
    above: V,
    pub mode: Mode,
}

/// Overflow mode, as far as kernels distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Saturate,
    Wrap,
    Chosen,
    Latched,
    Exact,
}

pub(crate) const SATURATE: u8 = Mode::Saturate as u8;
pub(crate) const WRAP: u8 = Mode::Wrap as u8;
pub(crate) const CHOSEN: u8 = Mode::Chosen as u8;
pub(crate) const LATCHED: u8 = Mode::Latched as u8;
pub(crate) const EXACT: u8 = Mode::Exact as u8;

/// Calls a function with the mode as its last generic constant.
macro_rules! with_mode {
    ($mode:expr, $name:ident::<$($generic:ty),*>$arguments:tt) => {
        match $mode {
            Mode::Saturate => $name::<$($generic,)* SATURATE> $arguments,
            Mode::Wrap => $name::<$($generic,)* WRAP> $arguments,
            Mode::Chosen => $name::<$($generic,)* CHOSEN> $arguments,
            Mode::Latched => $name::<$($generic,)* LATCHED> $arguments,
            Mode::Exact => $name::<$($generic,)* EXACT> $arguments,
        }
    };
}
pub(crate) use with_mode;

impl<V: Lane> Rails<V> {
    /// Returns the rails of a register.
    pub fn new(format: Format, overflow: Overflow) -> Self {
        let (low, high) = overflow.limits(format);
        let mode = match overflow.beyond() {
            Beyond::Rail => Mode::Saturate,
            Beyond::Wrapped => Mode::Wrap,
            Beyond::Chosen { .. } => Mode::Chosen,
            Beyond::Latched => Mode::Latched,
            Beyond::Exact => Mode::Exact,
        };
        let beyond = |exact: i128| V::low_bits(overflow.fit(exact, format).value);
        Self {
            low: V::nearest(low),
            high: V::nearest(high),
            base: V::low_bits(format.min()),
            mask: V::low_bits((1i128 << format.bits()) - 1),
            below: beyond(low - 1),
            above: beyond(high + 1),
            mode,
        }
    }

    /// Returns the value of the format that equals a sum, of which the low bits are given, modulo its range.
    #[inline(always)]
    pub fn wrap(&self, sum: V) -> V {
        sum.minus(self.base).and(self.mask).plus(self.base)
    }

    /// Returns whether no value of a lane between `min` and `max` is changed.
    #[inline(always)]
    pub fn keep(&self, min: &Vector<V>, max: &Vector<V>) -> bool {
        let mut outside = V::ZERO;
        for l in 0..LANES {
            outside = outside.or(V::mask(min[l] < self.low)).or(V::mask(max[l] > self.high));
        }
        outside == V::ZERO
    }
}

impl Rails<i16> {
    /// Returns the rails of a register if lanes of 16 bits hold more than it does.
    pub fn short(format: Format, overflow: Overflow) -> Option<Self> {
        let (low, high) = overflow.limits(format);
        let rails = Self::new(format, overflow);
        let fits = high < i128::from(i16::MAX) && low > i128::from(i16::MIN);
        (fits && rails.mode != Mode::Exact).then_some(rails)
    }
}

/// Numbers of overflows of one stage, lane by lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts<V: Lane> {
    pub high: Vector<V>,
    pub low: Vector<V>,
}

impl<V: Lane> Counts<V> {
    pub const NONE: Self = Self { high: Vector::ZERO, low: Vector::ZERO };

    /// Returns the number of overflows in both directions, lane by lane.
    pub fn totals(&self) -> [u64; LANES] {
        std::array::from_fn(|lane| (self.high[lane].wide() + self.low[lane].wide()) as u64)
    }
}

/// Returns `held + addend`, fitted, and a mask of the lanes that did not fit, which are counted. `free` is 0
/// where a sticky register is stuck.
#[inline(always)]
pub(crate) fn add<V: Lane, const MODE: u8>(
    rails: &Rails<V>,
    held: &Vector<V>,
    addend: &Vector<V>,
    free: &mut Vector<V>,
    counts: &mut Counts<V>,
) -> (Vector<V>, Vector<V>) {
    const { assert!(MODE <= EXACT, "the number is that of a `Mode`") };
    let mut value = Vector::ZERO;
    let mut misfit = Vector::ZERO;
    for l in 0..LANES {
        let sum = held[l].reach(addend[l]);
        let mut above = V::mask(sum > rails.high);
        let mut below = V::mask(sum < rails.low);
        if MODE == LATCHED {
            above = above.and(free[l]);
            below = below.and(free[l]);
        }
        misfit[l] = above.or(below);
        counts.high[l] = counts.high[l].minus(above);
        counts.low[l] = counts.low[l].minus(below);
        let clamped = sum.min(rails.high).max(rails.low);
        value[l] = match MODE {
            SATURATE => clamped,
            WRAP => rails.wrap(held[l].plus(addend[l])),
            CHOSEN if sum > rails.high => rails.above,
            CHOSEN if sum < rails.low => rails.below,
            LATCHED => clamped.and(free[l]).or(held[l].and(free[l].not())),
            _ => sum,
        };
        if MODE == LATCHED {
            free[l] = free[l].and(above.or(below).not());
        }
    }
    (value, misfit)
}

/// Fits a single value without state; otherwise like [`add`].
#[inline(always)]
pub(crate) fn fit<V: Lane>(
    rails: &Rails<V>,
    exact: &Vector<V>,
    counts: &mut Counts<V>,
) -> (Vector<V>, Vector<V>) {
    let (none, mut free) = (Vector::ZERO, Vector::ONES);
    with_mode!(rails.mode, fit_by::<V>(rails, exact, &none, &mut free, counts))
}

#[inline(always)]
fn fit_by<V: Lane, const MODE: u8>(
    rails: &Rails<V>,
    exact: &Vector<V>,
    none: &Vector<V>,
    free: &mut Vector<V>,
    counts: &mut Counts<V>,
) -> (Vector<V>, Vector<V>) {
    add::<V, MODE>(rails, exact, none, free, counts)
}

/// Returns `value / 2^shift`, rounded; `shift` is at most `V::BITS - 2`.
#[inline(always)]
pub(crate) fn shift_right<V: Lane>(value: &Vector<V>, shift: u32, round: Rounding) -> Vector<V> {
    if shift == 0 {
        return *value;
    }
    macro_rules! each {
        (|$value:ident, $floor:ident, $rest:ident, $half:ident| $up:expr) => {{
            let $half = V::low_bits(1i128 << (shift - 1));
            let low = V::low_bits((1i128 << shift) - 1);
            let mut shifted = Vector::ZERO;
            for l in 0..LANES {
                let $value = value[l];
                let $floor = $value.shift_right(shift);
                let $rest = $value.and(low);
                shifted[l] = $floor.minus(V::mask($up));
            }
            shifted
        }};
    }
    let one = V::low_bits(1);
    match round {
        Rounding::Floor => each!(|_value, _floor, _rest, _half| false),
        Rounding::TowardZero => each!(|v, _floor, rest, _half| (v < V::ZERO) & (rest != V::ZERO)),
        Rounding::HalfUp => each!(|_v, _floor, rest, half| rest >= half),
        Rounding::HalfDown => each!(|_v, _floor, rest, half| rest > half),
        Rounding::HalfAway => {
            each!(|v, _floor, rest, half| (rest > half) | ((rest == half) & (v >= V::ZERO)))
        }
        Rounding::HalfToZero => {
            each!(|v, _floor, rest, half| (rest > half) | ((rest == half) & (v < V::ZERO)))
        }
        Rounding::HalfEven => {
            each!(|_v, floor, rest, half| (rest > half) | ((rest == half) & (floor.and(one) == one)))
        }
        Rounding::HalfOdd => {
            each!(|_v, floor, rest, half| (rest > half) | ((rest == half) & (floor.and(one) != one)))
        }
    }
}
