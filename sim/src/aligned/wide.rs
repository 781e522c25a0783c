//! Exact sums of numbers as far apart as products of float32 values.

use guardbit_num::Dyadic;

use crate::fast::LANES;

/// Words of 64 bits.
const WORDS: usize = 12;
/// Exponent of the last bit. Products of two float32 values are multiples of `2^-298`.
const UNIT: i32 = -320;
/// Significant bits of a rounded number; the last of them says whether more follow.
const KEPT: usize = 62;

/// A sum in two's complement, in units of `2^-320`. The order of additions does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WideSum([u64; WORDS]);

impl WideSum {
    /// Adds a number below `2^300`. Bits below the unit are dropped.
    pub fn add(&mut self, number: Dyadic) {
        let shift = number.exponent - UNIT;
        let below = if shift < 0 { shift.unsigned_abs() } else { 0 };
        let shift = shift.max(0) as usize;
        let bits = u128::from(number.significand.checked_shr(below).unwrap_or(0)) << (shift % 64);
        // A carry, or a borrow, seldom goes further than the two words.
        let (mut low, mut high) = (bits as u64, (bits >> 64) as u64);
        for own in &mut self.0[shift / 64..] {
            let (sum, over) =
                if number.negative { own.overflowing_sub(low) } else { own.overflowing_add(low) };
            *own = sum;
            // The second word is below 2^64 - 1, so that the carry fits.
            (low, high) = (high + u64::from(over), 0);
            if low == 0 {
                break;
            }
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        let mut carry = 0;
        for (own, other) in self.0.iter_mut().zip(other.0) {
            let sum = u128::from(*own) + u128::from(other) + carry;
            *own = sum as u64;
            carry = sum >> 64;
        }
    }

    /// Returns a number that rounds as the sum does, in every format of at most 60 significant bits.
    pub fn number(self) -> Dyadic {
        let negative = self.0[WORDS - 1] >> 63 == 1;
        let Self(words) = if negative { self.negated() } else { self };
        let Some(top) = words.iter().rposition(|&word| word != 0) else {
            return Dyadic { negative: false, significand: 0, exponent: UNIT };
        };
        let length = top * 64 + words[top].ilog2() as usize + 1;
        let drop = length.saturating_sub(KEPT);
        let (word, bit) = (drop / 64, drop % 64);
        let high = words.get(word + 1).map_or(0, |&next| u128::from(next)) << 64;
        let kept = ((high | u128::from(words[word])) >> bit) as u64;
        let rest = words[..word].iter().any(|&word| word != 0) || words[word] & ((1 << bit) - 1) != 0;
        Dyadic { negative, significand: kept | u64::from(rest), exponent: UNIT + drop as i32 }
    }

    fn negated(self) -> Self {
        let mut negated = Self(self.0.map(|word| !word));
        let mut one = [0; WORDS];
        one[0] = 1;
        negated.merge(Self(one));
        negated
    }
}

/// Number of exponents that squares of differences of float32 values can have, as float64: of 2^-298 to 2^258.
const EXPONENTS: usize = 557;
/// Exponent field of the least of them.
const LEAST: usize = 1023 - 298;
/// Significands that 64 bits hold.
const MANY: u32 = 1 << 11;

/// Sums of squares by their exponent, and of those before.
#[derive(Debug)]
pub(super) struct Squares {
    significands: Box<[u64; EXPONENTS]>,
    count: u32,
    pub sum: WideSum,
}

impl Default for Squares {
    fn default() -> Self {
        Self { significands: Box::new([0; EXPONENTS]), count: 0, sum: WideSum::default() }
    }
}

impl Squares {
    /// Adds squares, rounded to float64, of float32 values or of differences of two, given by their codes.
    #[inline(always)]
    pub fn add(&mut self, squares: &[u64; LANES]) {
        if self.count == MANY {
            self.empty();
        }
        self.count += LANES as u32;
        for bits in squares {
            // Zeros are added to the least exponent.
            let significand = bits & ((1 << 52) - 1) | u64::from(*bits != 0) << 52;
            self.significands[((bits >> 52) as usize).saturating_sub(LEAST)] += significand;
        }
    }

    /// Adds all squares to the sum.
    pub fn empty(&mut self) {
        for (at, significand) in self.significands.iter_mut().enumerate().filter(|(_, sum)| **sum != 0) {
            let exponent = (LEAST + at) as i32 - 1075;
            self.sum.add(Dyadic { negative: false, significand: *significand, exponent });
            *significand = 0;
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dyadic(negative: bool, significand: u64, exponent: i32) -> Dyadic {
        Dyadic { negative, significand, exponent }
    }

    /// The sum of squares is that of each of them.
    #[test]
    fn squares_are_added_exactly() {
        let reals = [f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), 1.5, 0.0, 0.3];
        let values = reals.iter().flat_map(|&a| reals.iter().map(move |&b| f64::from(a) + f64::from(b)));
        let (mut squares, mut sum) = (Squares::default(), WideSum::default());
        // Many of one exponent fill 64 bits.
        let values: Vec<f64> = values.cycle().take(5008).chain([1.4; 5008]).collect();
        for values in values.as_chunks::<LANES>().0 {
            squares.add(&values.map(|value| (value * value).to_bits()));
            for value in values {
                let guardbit_num::Decoded::Finite(square) = (value * value).into() else { unreachable!() };
                sum.add(square);
            }
        }
        squares.empty();
        assert_eq!(squares.sum, sum);
    }

    #[test]
    fn sums_are_exact_and_do_not_depend_on_order() {
        let numbers = [
            dyadic(false, (1 << 48) - 1, 208),
            dyadic(true, 3, -298),
            dyadic(false, 5, 0),
            dyadic(true, (1 << 48) - 1, 208),
        ];
        let of = |order: [usize; 4]| {
            let mut sum = WideSum::default();
            order.iter().for_each(|&index| sum.add(numbers[index]));
            sum
        };
        let sum = of([0, 1, 2, 3]);
        assert_eq!(sum, of([3, 1, 0, 2]));
        // 5 - 3 * 2^-298 lies just below 5: the last of 62 bits says so.
        assert_eq!(sum.number(), dyadic(false, (5 << 59) - 1, -59));
        let mut above = sum;
        above.add(dyadic(false, 9, -298));
        assert_eq!(above.number(), dyadic(false, 5 << 59 | 1, -59), "the last bit says that more follow");
        let mut rest = sum;
        rest.add(dyadic(true, 5, 0));
        assert_eq!(rest.number(), dyadic(true, 3 << 22, -320));
        rest.add(dyadic(false, 3, -298));
        assert_eq!(rest, WideSum::default());
        assert_eq!(rest.number().significand, 0);
    }
}
