//! Tests of rounding right shifts and of gemmlowp's 32-bit primitives.

use fixed::types::extra::{U24, U26, U31};
use fixed::types::{I1F31, I32F0};
use fixed::{FixedI32, FixedI64};
use guardbit_num::Rounding;
use guardbit_num::fixed_point::{
    exp_on_negative_values, one_over_one_plus_x, rescale, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul, saturating_shift_left,
};

use Rounding::{Floor, HalfAway, HalfDown, HalfEven, HalfOdd, HalfToZero, HalfUp, TowardZero};

/// Quarters, from -2.5 to 2.5.
#[test]
fn each_rounding_of_quarters() {
    let quarters = [-10, -7, -6, -5, -4, -2, -1, 0, 1, 2, 4, 5, 6, 7, 10];
    let expected = [
        (Floor, [-3, -2, -2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 1, 2]),
        (TowardZero, [-2, -1, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2]),
        (HalfUp, [-2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3]),
        (HalfDown, [-3, -2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 2, 2]),
        (HalfAway, [-3, -2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 3]),
        (HalfToZero, [-2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2]),
        (HalfEven, [-2, -2, -2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2]),
        (HalfOdd, [-3, -2, -1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 1, 2, 3]),
    ];
    assert_eq!(expected.map(|(rounding, _)| rounding), Rounding::ALL);
    for (rounding, results) in expected {
        assert_eq!(quarters.map(|q| rounding.shift_right(q, 2)), results, "{rounding}");
    }
}

/// Compares with the roundings that the `fixed` crate has, too.
#[test]
fn agrees_with_fixed() {
    for bits in -70_000..70_000i64 {
        let number = FixedI64::<fixed::types::extra::U14>::from_bits(bits);
        let cases = [
            (Floor, number.floor()),
            (TowardZero, number.round_to_zero()),
            (HalfAway, number.round()),
            (HalfEven, number.round_ties_even()),
        ];
        for (rounding, expected) in cases {
            let found = rounding.shift_right(bits.into(), 14);
            assert_eq!(found, expected.to_num::<i128>(), "{rounding} of {bits}");
        }
    }
}

#[test]
fn a_shift_by_nothing_is_exact() {
    for rounding in Rounding::ALL {
        assert_eq!(rounding.shift_right(-5, 0), -5);
        assert_eq!(rounding.shift_right(i64::MIN.into(), 63), -1, "{rounding}");
    }
}

#[test]
fn roundings_are_read_by_name() {
    for rounding in Rounding::ALL {
        assert_eq!(rounding.name().parse(), Ok(rounding));
        assert_eq!(rounding.to_string(), rounding.name());
    }
    let error = "ceil".parse::<Rounding>().unwrap_err().to_string();
    assert!(error.starts_with("unknown rounding `ceil`; the roundings are floor,"), "{error}");
}

#[test]
fn doubling_high_multiplication() {
    let cases = [
        (i32::MIN, i32::MIN, i32::MAX),
        (1 << 30, 1 << 30, 1 << 29),
        // A tie goes up, not away from zero.
        (1, 1 << 30, 1),
        (-1, 1 << 30, 0),
        (-3, 1 << 30, -1),
        (i32::MAX, i32::MIN, -i32::MAX),
    ];
    for (a, b, expected) in cases {
        let product = saturating_rounding_doubling_high_mul(I32F0::from_bits(a), I1F31::from_bits(b));
        assert_eq!(product, expected, "{a} * {b}");
    }
}

#[test]
fn division_by_powers_of_two() {
    let cases = [
        (5, 1, 3),
        (-5, 1, -3),
        (3, 2, 1),
        (2, 2, 1),
        (-2, 2, -1),
        (-1, 2, 0),
        (7, 0, 7),
        (i32::MIN, 31, -1),
        (i32::MAX, 40, 0),
    ];
    for (x, exponent, expected) in cases {
        assert_eq!(
            rounding_divide_by_power_of_two(I32F0::from_bits(x), exponent),
            expected,
            "{x} / 2^{exponent}"
        );
    }
    for (x, exponent, expected) in [(3, 2, 12), (1 << 30, 1, i32::MAX), (-2, 31, i32::MIN), (0, 99, 0)] {
        assert_eq!(saturating_shift_left(I32F0::from_bits(x), exponent), expected, "{x} * 2^{exponent}");
    }
}

#[test]
fn other_formats() {
    // Ties away from zero where bits are dropped, the limits of 32 bits where there are more.
    let quarters = [-6, -5, -3, -2, 2, 3, 5, 6].map(FixedI32::<U26>::from_bits);
    assert_eq!(quarters.map(|x| rescale::<_, U24>(x).to_bits()), [-2, -1, -1, -1, 1, 1, 1, 2]);
    let wide = [1 << 28, 1 << 26, -(1 << 26), i32::MIN].map(FixedI32::<U26>::from_bits);
    let narrow = [i32::MAX, i32::MAX, i32::MIN, i32::MIN].map(I1F31::from_bits);
    assert_eq!(wide.map(rescale::<_, U31>), narrow);
}

#[test]
fn powers_of_e() {
    assert_eq!(exp_on_negative_values(FixedI32::<U26>::ZERO), I1F31::MAX);
    for step in 1..3200 {
        let x = FixedI32::<U26>::from_num(-f64::from(step) / 100.0);
        let expected = x.to_num::<f64>().exp();
        let found = exp_on_negative_values(x).to_num::<f64>();
        assert!((found - expected).abs() < 3e-7, "exp({x}) = {expected}, found {found}");
    }
}

#[test]
fn reciprocals() {
    for step in 0..1000 {
        let x = I1F31::from_num(f64::from(step) / 1000.0);
        let expected = 1.0 / (1.0 + x.to_num::<f64>());
        let found = one_over_one_plus_x(x).to_num::<f64>();
        assert!((found - expected).abs() < 1e-8, "1 / (1 + {x}) = {expected}, found {found}");
    }
}
