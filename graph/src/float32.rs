//! Real values as codes: 32-bit words that hold IEEE-754 singles.

/// Returns the real value of a word.
pub fn real_of(word: i32) -> f32 {
    f32::from_bits(word as u32)
}

/// Returns the word of a real value.
pub fn word_of(real: f32) -> i32 {
    real.to_bits() as i32
}

/// Returns an integer that orders words by their real values (IEEE-754's total order).
pub fn order_of(word: i32) -> i32 {
    if word < 0 { word ^ i32::MAX } else { word }
}

/// Number of steps of [`real_steps`] per unit.
pub const STEPS_PER_UNIT: f32 = (1 << 24) as f32;

/// Greatest real value that [`real_steps`] represents. Greater values are clamped to it.
const GREATEST: f32 = (1 << 22) as f32;

/// Returns a real value in steps of `1 / STEPS_PER_UNIT`, rounded half to even and clamped to `+-2^46`. NaN becomes
/// 0.
///
/// Sums of squares of such steps are exact in 128 bits, in any order.
pub fn real_steps(word: i32) -> i64 {
    // The factor is a power of two, so the product is exact. NaN becomes 0.
    (real_of(word).clamp(-GREATEST, GREATEST) * STEPS_PER_UNIT).round_ties_even() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_follows_real_values() {
        let reals = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 2.5, f32::INFINITY];
        let orders = reals.map(|real| order_of(word_of(real)));
        assert!(orders.is_sorted_by(|a, b| a < b), "{orders:?}");
    }

    #[test]
    fn steps_are_bounded() {
        for (real, steps) in [
            (1.0, 1 << 24),
            (-0.5, -(1 << 23)),
            (f32::NAN, 0),
            (f32::INFINITY, 1 << 46),
            (-1e30, -(1 << 46)),
            (1e-9, 0),
        ] {
            assert_eq!(real_steps(word_of(real)), steps, "{real}");
        }
    }
}
