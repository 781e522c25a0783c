//! Output codes: from sums, and beside the exact ones.

// One loop over all lanes, whatever it indexes, is what the compiler turns into vectors.
#![allow(clippy::needless_range_loop)]

use super::{LANES, Lanes, Stepped, Walked};

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
