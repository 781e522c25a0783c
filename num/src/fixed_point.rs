//! The 32-bit fixed-point primitives of gemmlowp, on which TensorFlow Lite's integer kernels are built.
//!
//! Source of the formulas: gemmlowp `fixedpoint/fixedpoint.h`. gemmlowp's type with `I` integer bits is
//! `FixedI32<U(31-I)>` here.

use fixed::FixedI32;
use fixed::types::I1F31;
use fixed::types::extra::{U26, U27};

/// Returns the high half of `2ab`, rounded to nearest with ties toward plus infinity, or `i32::MAX` for `MIN * MIN`.
///
/// In fixed-point terms, this is the Q0.31 product of two Q0.31 numbers.
pub fn saturating_rounding_doubling_high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    // The product is an exact Q1.62 number. Adding half a unit and dropping 31 bits rounds half up.
    let exact = I1F31::from_bits(a).wide_mul(I1F31::from_bits(b)).to_bits();
    ((exact + (1 << 30)) >> 31) as i32
}

/// Returns `x / 2^exponent`, rounded to nearest with ties away from zero. The result is 0 if `exponent` is above 31.
pub fn rounding_divide_by_power_of_two(x: i32, exponent: u32) -> i32 {
    if exponent == 0 {
        return x;
    }
    // The sum fits 64 bits, and the result is 0 for every exponent above 32.
    let exponent = exponent.min(62);
    let half = 1i64 << (exponent - 1);
    ((i64::from(x) + half - i64::from(x < 0)) >> exponent) as i32
}

/// Returns `x * 2^exponent`, clamped to 32 bits.
pub fn saturating_shift_left(x: i32, exponent: u32) -> i32 {
    (i64::from(x) << exponent.min(32)).clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Returns `a * b` in the format of `a`, where `b` is a Q0.31 number.
fn mul<F>(a: FixedI32<F>, b: I1F31) -> FixedI32<F> {
    FixedI32::from_bits(saturating_rounding_doubling_high_mul(a.to_bits(), b.to_bits()))
}

/// Returns `exp(a)` as a Q0.31 number, for `a` in Q5.26 with `-32 <= a <= 0`.
///
/// This is gemmlowp's `exp_on_negative_values`: a Taylor polynomial of degree 4 around -1/8 on `[-1/4, 0)`, times one
/// constant per set bit of the rest.
pub fn exp_on_negative_values(a: FixedI32<U26>) -> I1F31 {
    exp(a.to_bits(), 26)
}

/// Returns `exp(a)` for `a <= 0` with `fraction_bits` fraction bits, 26 or 27.
fn exp(a: i32, fraction_bits: u32) -> I1F31 {
    /// `exp(-2^k)` as Q0.31, for k = -2..=4.
    const FACTORS: [i32; 7] =
        [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

    if a == 0 {
        return I1F31::MAX;
    }
    let quarter = 1 << (fraction_bits - 2);
    let low = (a & (quarter - 1)) - quarter;
    let mut result = exp_on_quarter_interval(I1F31::from_bits(low << (31 - fraction_bits)));
    let rest = low.wrapping_sub(a);
    // Use only factors that the integer bits can select.
    for (k, factor) in FACTORS.into_iter().enumerate().take(33 - fraction_bits as usize) {
        if rest & (quarter << k) != 0 {
            result = mul(result, I1F31::from_bits(factor));
        }
    }
    result
}

/// Returns `1 / (1 + exp(-a))` as a Q0.31 number, for `a` in Q4.27 (gemmlowp's `logistic`).
pub fn logistic(a: FixedI32<U27>) -> I1F31 {
    let a = a.to_bits();
    let positive = one_over_one_plus_x(exp(a.saturating_abs().wrapping_neg(), 27));
    match a.signum() {
        0 => I1F31::from_bits(1 << 30),
        1 => positive,
        _ => I1F31::from_bits(i32::MAX - positive.to_bits()),
    }
}

/// Returns `tanh(a)` as a Q0.31 number, for `a` in Q4.27.
///
/// This is gemmlowp's `tanh`: `(1 - x)/(1 + x)` with `x = exp(-2|a|)`.
pub fn tanh(a: FixedI32<U27>) -> I1F31 {
    let a = a.to_bits();
    // The bits of `a`, read with 26 instead of 27 fraction bits, are `2a`.
    let estimate = reciprocal_of_half(exp(a.saturating_abs().wrapping_neg(), 26));
    let positive = saturating_shift_left(estimate.wrapping_sub(ONE_Q2), 2);
    I1F31::from_bits(positive.wrapping_mul(a.signum()))
}

/// Returns `(m, e)` with `1 / sqrt(x) = m * 2^(e - 31)`, by five Newton steps.
///
/// This is TensorFlow Lite's `GetInvSqrtQuantizedMultiplierExp`. Values below 1 count as 1.
pub fn inverse_square_root(x: i32) -> (i32, i32) {
    const ONE_Q3: i32 = 1 << 28;
    const HALF_OF_ROOT_OF_2: i32 = 1_518_500_250;
    if x <= 1 {
        return (i32::MAX, 0);
    }
    let (mut x, mut shift) = (x, 11);
    while x >= 1 << 29 {
        x /= 4;
        shift += 1;
    }
    let pairs = ((x.leading_zeros() - 1) / 2 - 1) as i32;
    shift -= pairs;
    x <<= 2 * pairs;
    let srdhm = saturating_rounding_doubling_high_mul;
    let half = rounding_divide_by_power_of_two(x >> 1, 1);
    let mut root = ONE_Q3;
    for _ in 0..5 {
        // A product of Q3.28 numbers has 3 more integer bits.
        let cube = saturating_shift_left(srdhm(srdhm(root, root), root), 6);
        let next = srdhm(ONE_Q3 + ONE_Q3 / 2, root).wrapping_sub(srdhm(half, cube));
        root = saturating_shift_left(next, 3);
    }
    root = srdhm(root, HALF_OF_ROOT_OF_2);
    if shift < 0 {
        return (root << -shift, 0);
    }
    (root, -shift)
}

/// Returns `exp(a)` for `a` in `[-1/4, 0)`.
///
/// The formula is `c + c*(x + ((x^4/4 + x^3)/3 + x^2)/2)` with `x = a + 1/8` and `c = exp(-1/8)`.
fn exp_on_quarter_interval(a: I1F31) -> I1F31 {
    let constant_term = I1F31::from_bits(1_895_147_668);
    let constant_third = I1F31::from_bits(715_827_883);
    let x = a.wrapping_add(I1F31::from_bits(1 << 28));
    let x2 = mul(x, x);
    let x3 = mul(x2, x);
    let x4 = mul(x2, x2);
    let x4_over_4 = I1F31::from_bits(rounding_divide_by_power_of_two(x4.to_bits(), 2));
    let inner = mul(x4_over_4.wrapping_add(x3), constant_third).wrapping_add(x2);
    let inner_over_2 = I1F31::from_bits(rounding_divide_by_power_of_two(inner.to_bits(), 1));
    constant_term.saturating_add(mul(constant_term, x.wrapping_add(inner_over_2)))
}

/// Returns `1 / (1 + x)` as a Q0.31 number, for `x` in `[0, 1)`, by three Newton steps on `(1 + x) / 2`.
///
/// This is gemmlowp's `one_over_one_plus_x_for_x_in_0_1`.
pub fn one_over_one_plus_x(x: I1F31) -> I1F31 {
    // Half of a Q2.29 number has the same bits in Q1.30. The shift converts it to Q0.31.
    I1F31::from_bits(saturating_shift_left(reciprocal_of_half(x), 1))
}

const ONE_Q2: i32 = 1 << 29;

/// Returns `2 / (1 + x)` as a Q2.29 number, for `x` in `[0, 1)`.
fn reciprocal_of_half(x: I1F31) -> i32 {
    const FORTY_EIGHT_OVER_17: i32 = 1_515_870_810;
    const MINUS_THIRTY_TWO_OVER_17: i32 = -1_010_580_540;

    let half_denominator = rounding_half_sum(x.to_bits(), i32::MAX);
    // A product of Q0.31 and Q2.29 is Q2.29. A product of two Q2.29 numbers is Q4.27, so it is shifted left by 2.
    let srdhm = saturating_rounding_doubling_high_mul;
    let mut estimate = FORTY_EIGHT_OVER_17.wrapping_add(srdhm(half_denominator, MINUS_THIRTY_TWO_OVER_17));
    for _ in 0..3 {
        let product = srdhm(half_denominator, estimate);
        let error = ONE_Q2.wrapping_sub(product);
        estimate = estimate.wrapping_add(saturating_shift_left(srdhm(estimate, error), 2));
    }
    estimate
}

/// Returns `(a + b) / 2`, rounded half away from zero.
fn rounding_half_sum(a: i32, b: i32) -> i32 {
    let sum = i64::from(a) + i64::from(b);
    ((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i32
}
