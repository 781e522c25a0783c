//! The common schemes in 64-bit integers.

use super::{Requantizer, Scheme};

/// A requantizer for 32-bit sums, equal to [`Requantizer::scale`] and several times faster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale32 {
    /// Two roundings: see [`Scheme::Double`].
    Double {
        /// The significand, 31 bits.
        significand: i64,
        /// Left shift before the doubling high multiplication, in bits.
        left: u32,
        /// Rounding right shift after it, in bits.
        right: u32,
    },
    /// One rounding, half up: see [`Scheme::Single`].
    Single {
        /// The significand, 31 bits.
        significand: i64,
        /// Rounding right shift of the whole product, at least 1 bit.
        right: u32,
    },
    /// Float64 product rounded half away from zero: see [`Scheme::Float64Away`].
    Float64 {
        /// The multiplier.
        real: f64,
    },
    /// Float32 product rounded half to even: see [`Scheme::Even`].
    Even {
        /// The multiplier.
        real: f32,
    },
}

impl Scale32 {
    /// Creates the fast form, or returns `None` if 64 bits are not enough or the scheme has no fast form.
    pub fn new(requantizer: Requantizer) -> Option<Self> {
        let multiplier = requantizer.multiplier();
        let (significand, exponent) = (i64::from(multiplier.significand()), multiplier.exponent());
        match requantizer.scheme() {
            Scheme::Double => {
                let (left, right) = (exponent.max(0) as u32, (-exponent).max(0) as u32);
                Some(Self::Double { significand, left, right: right.min(62) })
            }
            Scheme::Single if exponent >= -31 => {
                Some(Self::Single { significand, right: (31 - exponent) as u32 })
            }
            Scheme::Float64Away => Some(Self::Float64 { real: multiplier.real() }),
            Scheme::Even => Some(Self::Even { real: multiplier.real() as f32 }),
            _ => None,
        }
    }

    /// Returns `round(M * x)`.
    #[inline(always)]
    pub fn scale(self, x: i32) -> i64 {
        match self {
            Self::Double { significand, left, right } => {
                let shifted = i64::from((i64::from(x) << left) as i32);
                let high = (shifted * significand + (1 << 30)) >> 31;
                if right == 0 {
                    return high;
                }
                // Rounds ties away from zero.
                (high + (1i64 << (right - 1)) - i64::from(high < 0)) >> right
            }
            Self::Single { significand, right } => {
                (i64::from(x) * significand + (1i64 << (right - 1))) >> right
            }
            Self::Float64 { real } => (f64::from(x) * real).round() as i64,
            Self::Even { real } => (x as f32 * real).round_ties_even() as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Multiplier;

    proptest! {
        #[test]
        fn scaling_equals_the_definition(
            x in prop_oneof![any::<i32>(), -100_000i32..100_000, Just(i32::MIN), Just(i32::MAX)],
            fraction in 0.0f64..1.0,
            exponent in -40i32..30,
            scheme in prop::sample::select(Scheme::ALL),
        ) {
            let multiplier = Multiplier::new(fraction * 2f64.powi(exponent)).unwrap();
            let requantizer = Requantizer::new(scheme, multiplier);
            if let Some(scale) = Scale32::new(requantizer) {
                prop_assert_eq!(i128::from(scale.scale(x)), requantizer.scale(x.into()));
            }
        }
    }
}
