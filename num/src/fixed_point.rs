//! The 32-bit fixed-point primitives of gemmlowp, on which TensorFlow Lite's integer kernels are built.
//!
//! Source of the formulas: gemmlowp `fixedpoint/fixedpoint.h`. gemmlowp's type with `I` integer bits is
//! `FixedI32<U(31-I)>` here.

use fixed::FixedI32;
use fixed::types::I1F31;
use fixed::types::extra::{LeEqU32, U26, U27, U28, U29, U30, Unsigned};

type Q2 = FixedI32<U29>;
type Q3 = FixedI32<U28>;

/// Returns `a * b` in the format of `a`, rounded to nearest with ties toward plus infinity.
///
/// In terms of bits, this is the high half of `2ab`, or `i32::MAX` for `MIN * MIN`. An integer is a number without
/// fraction bits.
pub fn saturating_rounding_doubling_high_mul<F>(a: FixedI32<F>, b: I1F31) -> FixedI32<F> {
    if (a.to_bits(), b) == (i32::MIN, I1F31::MIN) {
        return FixedI32::from_bits(i32::MAX);
    }
    // The product is an exact Q1.62 number. Adding half a unit and dropping 31 bits rounds half up.
    let exact = I1F31::from_bits(a.to_bits()).wide_mul(b).to_bits();
    FixedI32::from_bits(((exact + (1 << 30)) >> 31) as i32)
}

/// Returns `x / 2^exponent`, rounded to nearest with ties away from zero. The result is 0 if `exponent` is above 31.
pub fn rounding_divide_by_power_of_two<F>(x: FixedI32<F>, exponent: u32) -> FixedI32<F> {
    if exponent == 0 {
        return x;
    }
    // The sum fits 64 bits, and the result is 0 for every exponent above 32.
    let (bits, exponent) = (i64::from(x.to_bits()), exponent.min(62));
    let half = 1i64 << (exponent - 1);
    FixedI32::from_bits(((bits + half - i64::from(bits < 0)) >> exponent) as i32)
}

/// Returns `x * 2^exponent`, clamped to 32 bits.
pub fn saturating_shift_left<F>(x: FixedI32<F>, exponent: u32) -> FixedI32<F> {
    let shifted = i64::from(x.to_bits()) << exponent.min(32);
    FixedI32::from_bits(shifted.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

/// Returns `x` in a format of `G` fraction bits: rounded to nearest with ties away from zero if there are fewer than
/// before, and clamped to 32 bits if there are more (gemmlowp's `Rescale`).
pub fn rescale<F: LeEqU32, G: LeEqU32>(x: FixedI32<F>) -> FixedI32<G> {
    let (from, to) = (<F as Unsigned>::U32, <G as Unsigned>::U32);
    let same = FixedI32::from_bits(x.to_bits());
    match to.checked_sub(from) {
        Some(more) => saturating_shift_left(same, more),
        None => rounding_divide_by_power_of_two(same, from - to),
    }
}

/// Returns `exp(a)` as a Q0.31 number, for `a` in Q5.26 with `-32 <= a <= 0`.
///
/// This is gemmlowp's `exp_on_negative_values`: a Taylor polynomial of degree 4 around -1/8 on `[-1/4, 0)`, times one
/// constant per set bit of the rest.
pub fn exp_on_negative_values(a: FixedI32<U26>) -> I1F31 {
    exp(a)
}

/// Returns `exp(a)` for `a <= 0` with 26 or 27 fraction bits.
fn exp<F: LeEqU32>(a: FixedI32<F>) -> I1F31 {
    /// `exp(-2^k)` as Q0.31, for k = -2..=4.
    const FACTORS: [i32; 7] =
        [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

    let (a, fraction_bits) = (a.to_bits(), <F as Unsigned>::U32);
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
            result = saturating_rounding_doubling_high_mul(result, I1F31::from_bits(factor));
        }
    }
    result
}

/// Returns `1 / (1 + exp(-a))` as a Q0.31 number, for `a` in Q4.27 (gemmlowp's `logistic`).
pub fn logistic(a: FixedI32<U27>) -> I1F31 {
    let positive = one_over_one_plus_x(exp(a.saturating_abs().wrapping_neg()));
    match a.to_bits().signum() {
        0 => I1F31::from_bits(1 << 30),
        1 => positive,
        _ => I1F31::MAX - positive,
    }
}

/// Returns `tanh(a)` as a Q0.31 number, for `a` in Q4.27.
///
/// This is gemmlowp's `tanh`: `(1 - x)/(1 + x)` with `x = exp(-2|a|)`.
pub fn tanh(a: FixedI32<U27>) -> I1F31 {
    // The bits of `a`, read with 26 instead of 27 fraction bits, are `2a`.
    let twice = FixedI32::<U26>::from_bits(a.to_bits());
    let estimate = reciprocal_of_half(exp(twice.saturating_abs().wrapping_neg()));
    let positive: I1F31 = rescale(estimate.wrapping_sub(FixedI32::ONE));
    positive.wrapping_mul_int(a.to_bits().signum())
}

/// Returns `(m, e)` with `1 / sqrt(x) = m * 2^(e - 31)`, by five Newton steps.
///
/// This is TensorFlow Lite's `GetInvSqrtQuantizedMultiplierExp`. Values below 1 count as 1.
pub fn inverse_square_root(x: i32) -> (I1F31, i32) {
    const THREE_HALVES: Q3 = Q3::from_bits(3 << 27);
    const HALF_OF_ROOT_OF_2: I1F31 = I1F31::from_bits(1_518_500_250);
    if x <= 1 {
        return (I1F31::MAX, 0);
    }
    let (mut x, mut shift) = (x, 11);
    while x >= 1 << 29 {
        x /= 4;
        shift += 1;
    }
    let pairs = ((x.leading_zeros() - 1) / 2 - 1) as i32;
    shift -= pairs;
    x <<= 2 * pairs;
    // A product of Q3.28 numbers is read with 3 integer bits less than it has.
    let product = |a: Q3, b: Q3| saturating_rounding_doubling_high_mul(a, I1F31::from_bits(b.to_bits()));
    let half = rounding_divide_by_power_of_two(Q3::from_bits(x >> 1), 1);
    let mut root = Q3::ONE;
    for _ in 0..5 {
        let cube = saturating_shift_left(product(product(root, root), root), 6);
        let next = product(THREE_HALVES, root).wrapping_sub(product(half, cube));
        root = saturating_shift_left(next, 3);
    }
    let root = saturating_rounding_doubling_high_mul(root, HALF_OF_ROOT_OF_2);
    let root = I1F31::from_bits(root.to_bits());
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
    let mul = saturating_rounding_doubling_high_mul;
    let x2 = mul(x, x);
    let x3 = mul(x2, x);
    let x4_over_4 = rounding_divide_by_power_of_two(mul(x2, x2), 2);
    let inner = mul(x4_over_4.wrapping_add(x3), constant_third).wrapping_add(x2);
    let inner_over_2 = rounding_divide_by_power_of_two(inner, 1);
    constant_term.saturating_add(mul(constant_term, x.wrapping_add(inner_over_2)))
}

/// Returns `1 / (1 + x)` as a Q0.31 number, for `x` in `[0, 1)`, by three Newton steps on `(1 + x) / 2`.
///
/// This is gemmlowp's `one_over_one_plus_x_for_x_in_0_1`.
pub fn one_over_one_plus_x(x: I1F31) -> I1F31 {
    // Half of a Q2.29 number has the same bits in Q1.30.
    rescale(FixedI32::<U30>::from_bits(reciprocal_of_half(x).to_bits()))
}

/// Returns `2 / (1 + x)` as a Q2.29 number, for `x` in `[0, 1)`.
fn reciprocal_of_half(x: I1F31) -> Q2 {
    const FORTY_EIGHT_OVER_17: Q2 = Q2::from_bits(1_515_870_810);
    const MINUS_THIRTY_TWO_OVER_17: Q2 = Q2::from_bits(-1_010_580_540);

    let half_denominator = rounding_half_sum(x, I1F31::MAX);
    let mul = saturating_rounding_doubling_high_mul;
    let mut estimate = FORTY_EIGHT_OVER_17.wrapping_add(mul(MINUS_THIRTY_TWO_OVER_17, half_denominator));
    for _ in 0..3 {
        let error = Q2::ONE.wrapping_sub(mul(estimate, half_denominator));
        // A product of Q2.29 numbers is read with 2 integer bits less than it has.
        let product = mul(estimate, I1F31::from_bits(error.to_bits()));
        estimate = estimate.wrapping_add(saturating_shift_left(product, 2));
    }
    estimate
}

/// Returns `(a + b) / 2`, rounded half away from zero.
fn rounding_half_sum(a: I1F31, b: I1F31) -> I1F31 {
    let sum = i64::from(a.to_bits()) + i64::from(b.to_bits());
    I1F31::from_bits(((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i32)
}
