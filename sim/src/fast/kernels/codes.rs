//! Computes output codes from sums, and compares them with the exact codes.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{LANES, Lanes, Stepped, Walked};
use crate::fast::span::Span;

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

/// Conversion of sums to output codes, lane by lane: bias, multiplier, clamp, zero point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scaling {
    /// Bias, added first; the result stays within 32 bits.
    pub bias: Lanes,
    /// Significand of 31 bits; for scheme E, the multiplier itself as the bits of a float32; the divisor of a pool.
    pub significand: Lanes,
    /// Left shift before the multiplication, 0..=30.
    pub left: Lanes,
    /// Right shift: after the doubling high multiplication, 0..=31, or of the whole product, 31..=62.
    pub right: Lanes,
    /// Least and greatest code, minus the zero point.
    pub low: Lanes,
    pub high: Lanes,
    pub zero_point: i32,
    /// Whether every lane is shifted to the right, and no intermediate value approaches the limits of 32
    /// bits.
    pub has_room: bool,
}

impl Scaling {
    /// Returns whether no code lies below the zero point, in which case the rounding of negative sums does
    /// not matter.
    pub fn is_rectified(&self) -> bool {
        // Without an early exit the compiler can vectorize these loops.
        self.low.iter().fold(true, |all, &low| all & (low >= 0))
    }

    /// Returns whether the bounds of the codes written as `rows` are those of signed bytes.
    pub fn fills_bytes(&self, rows: ByteRows) -> bool {
        let [low, high] = [i8::MIN, i8::MAX].map(|bound| i32::from(bound) - self.zero_point);
        let fills = |l: usize| (self.low[l] == low) & (self.high[l] == high);
        let all = (0..LANES).fold(true, |all, l| all & (fills(l) | (l >= rows.count)));
        all && rows.least == i32::from(i8::MIN)
    }

    /// Returns whether lane `lane` satisfies [`Self::has_room`], if its sums with their bias lie within
    /// `range`. 32 bits must hold twice the sum that is multiplied, and the product with half a code and the
    /// zero point, which are added to it before the right shift.
    pub fn lane_has_room(&self, lane: usize, range: Span) -> bool {
        let (left, right) = (self.left[lane], self.right[lane]);
        let greatest = range.least.unsigned_abs().max(range.greatest.unsigned_abs());
        let zero_point = u64::from(self.zero_point.unsigned_abs());
        (1..=27).contains(&right) && greatest < 1 << (30 - left) && zero_point < 1 << (28 - right)
    }
}

/// Destination of codes of consecutive pixels as bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteRows {
    /// Number of lanes, from the first one on, that are written per pixel.
    pub count: usize,
    /// Least code; the bytes are codes minus this one.
    pub least: i32,
    /// Number of bytes from one pixel to the next.
    pub stride: usize,
}

/// Scheme D of `guardbit_num` with two roundings: a doubling high multiplication, then a right shift with
/// ties away from zero.
pub(crate) const DOUBLE: u8 = 0;
/// Scheme S: one rounding of the whole product, half up.
pub(crate) const SINGLE: u8 = 1;
/// Scheme E: a product in float32, rounded half to even. The bounds of codes are at most 2^24, which a
/// float32 holds exactly.
pub(crate) const EVEN: u8 = 2;
/// The division of an average pool by the significand, which is at most 2^20, rounded half away from zero. Sums with
/// their bias and half of the divisor stay within 31 bits and a sign.
pub(crate) const QUOTIENT: u8 = 3;

/// Returns the output codes of sums.
#[inline(always)]
pub(crate) fn codes<const SCHEME: u8>(sum: &Lanes, scaling: &Scaling) -> Lanes {
    let mut codes = [0; LANES];
    for l in 0..LANES {
        let x = sum[l].wrapping_add(scaling.bias[l]);
        let right = scaling.right[l] as u32;
        let (low, high) = (scaling.low[l], scaling.high[l]);
        let clamped = match SCHEME {
            DOUBLE => double(x << scaling.left[l], scaling.significand[l], right).max(low).min(high),
            SINGLE => single(x, scaling.significand[l], right).max(low).min(high),
            QUOTIENT => quotient(x, scaling.significand[l]).max(low).min(high),
            _ => even(x, scaling.significand[l], low, high),
        };
        codes[l] = clamped + scaling.zero_point;
    }
    codes
}

#[inline(always)]
fn double(x: i32, significand: i32, right: u32) -> i32 {
    let product = i64::from(x) * i64::from(significand) + (1 << 30);
    // The result has 32 bits, so a logical shift gives equal bits.
    let high = ((product as u64) >> 31) as u32 as i32;
    let mask = (1u32 << right).wrapping_sub(1) as i32;
    let threshold = ((mask as u32) >> 1) as i32 + i32::from(high < 0);
    (high >> right) + i32::from((high & mask) > threshold)
}

#[inline(always)]
fn single(x: i32, significand: i32, right: u32) -> i32 {
    // A multiple of 2^right makes the product positive, so that a logical shift suffices.
    const LIFT: u64 = 1 << 62;
    let product = i64::from(x) * i64::from(significand) + (1i64 << (right - 1));
    (((product as u64).wrapping_add(LIFT) >> right) as u32).wrapping_sub((LIFT >> right) as u32) as i32
}

#[inline(always)]
fn quotient(x: i32, divisor: i32) -> i32 {
    // A float64 of at least 2^52 ends with the bits of a whole number.
    const WHOLE: f64 = (1u64 << 52) as f64;
    // A quotient that is not whole is at least 2^-20 below the next whole number; rounding to a float64 adds less.
    let magnitude = x.wrapping_abs().wrapping_add(divisor >> 1);
    let quotient = (f64::from(magnitude) / f64::from(divisor)).floor();
    let quotient = (quotient + WHOLE).to_bits() as i32;
    if x < 0 { quotient.wrapping_neg() } else { quotient }
}

#[inline(always)]
fn even(x: i32, multiplier: i32, low: i32, high: i32) -> i32 {
    let rounded = (x as f32 * f32::from_bits(multiplier as u32)).round_ties_even();
    rounded.max(low as f32).min(high as f32) as i32
}

/// Adds the squares of codes of at most 16 bits minus their zero point. There must be fewer than 2^28 codes.
#[inline(always)]
pub(crate) fn signal<C: Code>(codes: &[C], zero_point: C, signal: &mut u64) {
    for part in codes.chunks(PART) {
        let squares = part.iter().map(|&code| code.square(zero_point));
        *signal += squares.fold(C::Square::default(), |sum, square| sum + square).into();
    }
}

/// Compares codes of at most 16 bits, `[pixel][channel]`, of which there must be fewer than 2^28. Adds to the
/// mismatches per channel and to the sum of squared differences.
#[inline(always)]
pub(crate) fn compare<C: Code>(exact: &[C], simulated: &[C], mismatches: &mut [u32], noise: &mut u64) {
    let channels = mismatches.len().max(1);
    // Pixels that fill a vector are counted separately, up to the capacity of a byte.
    let mut counts = vec![0u8; (64 / channels).max(1) * channels];
    let vector = counts.len();
    // Squares are added while the codes are still in the cache.
    let part = (PART / vector).clamp(1, 255) * vector;
    for (exact, simulated) in exact.chunks(part).zip(simulated.chunks(part)) {
        *noise += squares(exact, simulated);
        for (exact, simulated) in exact.chunks(vector).zip(simulated.chunks(vector)) {
            for ((&exact, &simulated), count) in exact.iter().zip(simulated).zip(&mut counts) {
                *count += u8::from(exact != simulated);
            }
        }
        for counts in counts.chunks_mut(channels) {
            for (mismatches, count) in mismatches.iter_mut().zip(counts) {
                *mismatches += u32::from(std::mem::take(count));
            }
        }
    }
}

/// Returns the sum of squared differences.
#[inline(always)]
fn squares<C: Code>(exact: &[C], simulated: &[C]) -> u64 {
    let mut all = 0;
    for (exact, simulated) in exact.chunks(PART).zip(simulated.chunks(PART)) {
        let squares = exact.iter().zip(simulated).map(|(&exact, &simulated)| exact.square(simulated));
        all += squares.fold(C::Square::default(), |sum, square| sum + square).into();
    }
    all
}

/// Number of codes whose squares are added before the sum is widened to 64 bits.
const PART: usize = 1 << 12;

/// Stored code.
pub(crate) trait Code: Copy + PartialEq {
    /// Type that holds the sum of [`PART`] squared differences.
    type Square: Copy + Default + std::ops::Add<Output = Self::Square> + Into<u64>;
    /// Returns the squared difference.
    fn square(self, other: Self) -> Self::Square;
}

impl Code for u8 {
    type Square = u32;

    #[inline(always)]
    fn square(self, other: Self) -> u32 {
        // In 16 bits, for which there are multiplication instructions.
        let difference = i16::from(self) - i16::from(other);
        (i32::from(difference) * i32::from(difference)) as u32
    }
}

impl Code for i16 {
    type Square = u64;

    #[inline(always)]
    fn square(self, other: Self) -> u64 {
        let difference = u64::from(self.abs_diff(other));
        difference * difference
    }
}

#[cfg(test)]
mod tests {
    use guardbit_graph::Division;
    use guardbit_num::{Multiplier, Requantizer, Scheme};
    use proptest::prelude::*;

    use super::super::super::simd::Kernels;
    use super::*;
    use crate::options::Isa;

    /// Parameters of one lane: bias, significand, shifts, zero point, and the greatest sum including its
    /// bias.
    type Lane = (i32, i32, i32, i32, i64);

    fn lane() -> impl Strategy<Value = Lane> {
        (-1000..=1000, 1 << 30..=i32::MAX, 0..=30i32, 0..=31i32).prop_flat_map(
            |(bias, significand, left, right)| {
                let most = (1i64 << (31 - left)) - 1;
                (Just(bias), Just(significand), Just(left), Just(right), 0..=most)
            },
        )
    }

    /// Tests sums at and near the ends of the range, and anywhere, on every body.
    fn check(lanes: &[Lane], zero_point: i32, sums: &[i64]) -> Result<(), TestCaseError> {
        check_above(i32::MIN / 2, lanes, zero_point, sums)?;
        check_above(0, lanes, zero_point, sums)
    }

    /// Tests sums as above, where no code is less than the zero point plus `low`.
    fn check_above(low: i32, lanes: &[Lane], zero_point: i32, sums: &[i64]) -> Result<(), TestCaseError> {
        let of = |f: fn(&Lane) -> i32| std::array::from_fn(|l| f(&lanes[l]));
        let mut scaling = Scaling {
            bias: of(|lane| lane.0),
            significand: of(|lane| lane.1),
            left: of(|lane| lane.2),
            right: of(|lane| lane.3),
            low: [low; LANES],
            high: [i32::MAX / 2; LANES],
            zero_point,
            has_room: true,
        };
        scaling.has_room = (0..LANES).all(|l| scaling.lane_has_room(l, Span::within(lanes[l].4)));
        for sum in sums {
            let within = |l: usize| (sum % (lanes[l].4 + 1)) as i32;
            let sums: [Lanes; 1] = [std::array::from_fn(|l| within(l).wrapping_sub(scaling.bias[l]))];
            let expected = codes::<DOUBLE>(&sums[0], &scaling);
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let mut found = [[0; LANES]];
                Kernels::choose(Some(isa)).codes::<_, DOUBLE>(&sums, &scaling, &mut found);
                prop_assert_eq!(found[0], expected, "{:?} {:?} {}", isa, sums, scaling.has_room);
            }
        }
        Ok(())
    }

    /// Compares scheme E on every body with its definition; powers of two produce ties.
    fn check_even(multiplier: f64, zero_point: i32, sums: &[i32]) -> Result<(), TestCaseError> {
        let requantizer = Requantizer::new(Scheme::Even, Multiplier::new(multiplier).unwrap());
        let scaling = Scaling {
            bias: [1; LANES],
            significand: [(multiplier as f32).to_bits() as i32; LANES],
            left: [0; LANES],
            right: [31; LANES],
            low: [-1000; LANES],
            high: [1000; LANES],
            zero_point,
            has_room: false,
        };
        let expected = |&sum: &i32| {
            let scaled = requantizer.scale(i128::from(sum) + 1).clamp(-1000, 1000);
            [scaled as i32 + zero_point; LANES]
        };
        let lanes: Vec<Lanes> = sums.iter().map(|&sum| [sum; LANES]).collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut found = vec![[0; LANES]; sums.len()];
            Kernels::choose(Some(isa)).codes::<_, EVEN>(&lanes, &scaling, &mut found);
            prop_assert_eq!(&found, &sums.iter().map(expected).collect::<Vec<_>>(), "{:?}", isa);
        }
        Ok(())
    }

    /// Compares the division of a pool on every body with the model's.
    fn check_quotient(divisor: i32, clamp: (i32, i32), sums: &[i32]) -> Result<(), TestCaseError> {
        let scaling = Scaling {
            bias: [1; LANES],
            significand: [divisor; LANES],
            left: [0; LANES],
            right: [31; LANES],
            low: [clamp.0; LANES],
            high: [clamp.1; LANES],
            zero_point: 0,
            has_room: false,
        };
        let division = Division::Average { clamp };
        let most = i32::MAX - divisor / 2;
        let sums: Vec<i32> = sums.iter().map(|sum| (sum % most).max(1 - most)).collect();
        let expected = |&sum: &i32| [division.finish(i128::from(sum), divisor as usize); LANES];
        let lanes: Vec<Lanes> = sums.iter().map(|&sum| [sum - 1; LANES]).collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut found = vec![[0; LANES]; sums.len()];
            Kernels::choose(Some(isa)).codes::<_, QUOTIENT>(&lanes, &scaling, &mut found);
            prop_assert_eq!(&found, &sums.iter().map(expected).collect::<Vec<_>>(), "{:?}", isa);
        }
        Ok(())
    }

    /// Tests codes as bytes, for the first lanes of some pixels, on every body; bytes between them stay
    /// unchanged. The zero point lies `zero` above the least code of a byte, and the upper bound is `missing`
    /// below the greatest code in one lane.
    fn check_bytes(
        lane: Lane,
        (zero, rectified, missing): (i32, bool, i32),
        rows: ByteRows,
        pixels: usize,
    ) -> Result<(), TestCaseError> {
        let zero_point = rows.least + zero;
        let scaling = Scaling {
            bias: [lane.0; LANES],
            significand: [lane.1; LANES],
            left: [lane.2; LANES],
            right: [lane.3; LANES],
            low: [if rectified { 0 } else { rows.least - zero_point }; LANES],
            high: [rows.least + 255 - zero_point; LANES],
            zero_point,
            has_room: true,
        };
        let has_room = scaling.lane_has_room(0, Span::within(lane.4));
        let mut scaling = Scaling { has_room, ..scaling };
        scaling.high[pixels % LANES] -= missing;
        let sum = |i: i64| (i.wrapping_mul(0x1e37_79b9_7f4a_7c15) % (lane.4 + 1)) as i32 - lane.0;
        let sums: Vec<Lanes> =
            (0..pixels as i64).map(|pixel| std::array::from_fn(|l| sum(16 * pixel + l as i64))).collect();
        let mut expected = vec![0xaa; pixels * rows.stride];
        for (sums, out) in sums.iter().zip(expected.chunks_mut(rows.stride)) {
            let codes = codes::<DOUBLE>(sums, &scaling);
            out.iter_mut()
                .zip(codes)
                .take(rows.count)
                .for_each(|(out, code)| *out = (code - rows.least) as u8);
        }
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut found = vec![0xaa; expected.len()];
            Kernels::choose(Some(isa)).put_codes::<_, DOUBLE>(&sums, &scaling, rows, &mut found);
            prop_assert_eq!(&found, &expected, "{:?} {:?}", isa, has_room);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn bytes_are_codes_less_the_least(
            lane in (-1000..=1000, 1 << 30..=i32::MAX, 0..=2i32, 1..=12i32, 0..=1i64 << 24),
            bounds in (prop_oneof![Just(0), Just(100)], any::<bool>(), 0..=1i32),
            (count, more, least) in (1..=LANES, 0..3usize, prop_oneof![Just(-128), Just(0)]),
            pixels in 1..10usize,
        ) {
            let rows = ByteRows { count, least, stride: count + more };
            check_bytes(lane, bounds, rows, pixels)?;
            for count in [LANES / 2, LANES] {
                check_bytes(lane, bounds, ByteRows { count, least, stride: count + more }, pixels)?;
            }
        }

        #[test]
        fn scheme_e_is_its_definition(
            multiplier in prop_oneof![(-20..2i32).prop_map(|power| 2f64.powi(power)), 1e-7..2.0f64],
            zero_point in -128..=255i32,
            sums in prop::collection::vec(prop_oneof![-2000..2000i32, i32::MIN..i32::MAX], 32),
        ) {
            check_even(multiplier, zero_point, &sums)?;
        }

        #[test]
        fn quotients_are_the_model_s(
            divisor in prop_oneof![1..50i32, 1..=1 << 20],
            sums in prop::collection::vec(prop_oneof![-2000..2000i32, i32::MIN..i32::MAX], 32),
            wholes in prop::collection::vec((-600..600i32, -1..=1i32), 32),
        ) {
            let unbounded = (i32::MIN, i32::MAX);
            check_quotient(divisor, (-128, 127), &sums)?;
            check_quotient(divisor, unbounded, &sums)?;
            // At and beside ties and whole quotients.
            let near = wholes.iter().map(|(halves, more)| halves * divisor / 2 + more).collect::<Vec<_>>();
            check_quotient(divisor, unbounded, &near)?;
        }

        #[test]
        fn bodies_make_the_same_codes(
            lanes in prop::collection::vec(lane(), LANES),
            zero_point in prop_oneof![-128..=255i32, -32768..=32767i32],
            sums in prop::collection::vec(any::<i64>(), 8),
        ) {
            check(&lanes, zero_point, &sums)?;
            // With equal lanes, many of them have room.
            for lane in &lanes {
                check(&[*lane; LANES], zero_point, &[sums[0], lane.4, -lane.4, lane.4 / 2, -lane.4 / 2])?;
            }
        }
    }
}
