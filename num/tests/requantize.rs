//! Tests of requantization schemes on sums on which real runtimes disagree.

use guardbit_num::{Multiplier, Requantizer, Scheme};

use Scheme::{
    Away, Double, Even, Float32Nearest, Float32Upward, Float64Away, Float64Nearest, Float64Upward, Q48,
    Single, TosaDouble, TosaScale16,
};

fn scale(scheme: Scheme, multiplier: f64, x: i128) -> i128 {
    Requantizer::new(scheme, Multiplier::new(multiplier).unwrap()).scale(x)
}

/// Checks `x` and `-x` under one multiplier, for each scheme.
fn check(multiplier: f64, x: i128, expected: &[(&[Scheme], (i128, i128))]) {
    for (schemes, (positive, negative)) in expected {
        for &scheme in *schemes {
            assert_eq!(scale(scheme, multiplier, x), *positive, "{scheme} of {x} * {multiplier}");
            assert_eq!(scale(scheme, multiplier, -x), *negative, "{scheme} of -{x} * {multiplier}");
        }
    }
}

/// Schemes with one rounding, half up.
const UP: &[Scheme] = &[Single, Float32Upward, Float64Upward, TosaScale16, Q48];
/// Schemes with one rounding, half away from zero.
const AWAY: &[Scheme] = &[Away, Float64Away, Float32Nearest, Float64Nearest];

#[test]
fn ties() {
    check(0.5, 1, &[(&[Double, TosaDouble], (1, 0)), (UP, (1, 0)), (AWAY, (1, -1)), (&[Even], (0, 0))]);
    check(0.5, 3, &[(&[Double, TosaDouble], (2, -1)), (UP, (2, -1)), (AWAY, (2, -2)), (&[Even], (2, -2))]);
    check(0.5, 5, &[(&[Double, TosaDouble], (3, -2)), (UP, (3, -2)), (AWAY, (3, -3)), (&[Even], (2, -2))]);
    check(0.25, 2, &[(&[Double, TosaDouble], (1, -1)), (UP, (1, 0)), (AWAY, (1, -1)), (&[Even], (0, 0))]);
    check(0.25, 6, &[(&[Double, TosaDouble], (2, -2)), (UP, (2, -1)), (AWAY, (2, -2)), (&[Even], (2, -2))]);
    check(0.25, 10, &[(&[Double, TosaDouble], (3, -3)), (UP, (3, -2)), (AWAY, (3, -3)), (&[Even], (2, -2))]);
    check(0.75, 2, &[(&[Double, TosaDouble], (2, -1)), (UP, (2, -1)), (AWAY, (2, -2)), (&[Even], (2, -2))]);
}

#[test]
fn two_roundings_can_be_wrong_by_one_off_ties() {
    let cases = [
        (1.0f32 / 255.0, 127, 1, 0),
        (0.3, 1, 1, 0),
        (0.2, 2, 1, 0),
        (0.35, 1, 1, 0),
        (0.011, 45, 1, 0),
        (0.0072, 69, 1, 0),
        (0.003, 833, 3, 2),
    ];
    for (multiplier, x, two, one) in cases {
        let once = [UP, AWAY, &[Even]].concat();
        check(multiplier.into(), x, &[(&[Double, TosaDouble], (two, -two)), (&once, (one, -one))]);
    }
}

#[test]
fn a_float32_scheme_loses_low_bits_of_large_sums() {
    assert_eq!(scale(Single, 0.5, 16_777_217), 8_388_609);
    assert_eq!(scale(Even, 0.5, 16_777_217), 8_388_608);
    assert_eq!(scale(Single, 0.5, (1 << 30) + 33), 536_870_929);
    assert_eq!(scale(Even, 0.5, (1 << 30) + 33), 536_870_912);
}

/// ONNX Runtime's QLinearConv rounds first and then adds the zero point.
#[test]
fn the_zero_point_is_added_after_rounding() {
    let requantizer = Requantizer::new(Even, Multiplier::new(0.5).unwrap());
    let codes = [1, -1, 3, -3, 5, -5, 7, -7].map(|x| requantizer.requantize(x, 1));
    assert_eq!(codes, [1, 1, 3, -1, 3, -1, 5, -3]);
}

/// TVM adds the zero point before it rounds, so a tie below 0 becomes a tie above 0.
#[test]
fn tvm_adds_the_zero_point_before_rounding() {
    let codes = |scheme, zero_point| {
        let requantizer = Requantizer::new(scheme, Multiplier::new(0.5).unwrap());
        [1, -1, 3, -3].map(|x| requantizer.requantize(x, zero_point))
    };
    for scheme in [Float32Nearest, Float64Nearest] {
        assert_eq!((codes(scheme, 0), codes(scheme, 1)), ([1, -1, 2, -2], [2, 1, 3, -1]), "{scheme}");
    }
    for scheme in [Float32Upward, Float64Upward] {
        assert_eq!((codes(scheme, 0), codes(scheme, 1)), ([1, 0, 2, -1], [2, 1, 3, 0]), "{scheme}");
    }
    assert_eq!(codes(Away, 1), [2, 0, 3, -1]);
}

/// LiteRT's reference FULLY_CONNECTED keeps 53 bits of the multiplier. A 31-bit significand gives another result
/// here.
#[test]
fn float64_away_keeps_more_than_31_bits_of_the_multiplier() {
    let [input, weight, output] = [0.047_832_847_f32, 1.881_435e-5, 15.059_447].map(f64::from);
    let multiplier = input * weight / output;
    assert_eq!(scale(Float64Away, multiplier, -1_798_879_460), -107);
    assert_eq!(scale(Single, multiplier, -1_798_879_460), -108);
}

/// The 32-bit register before the multiplier wraps.
#[test]
fn double_wraps_what_it_shifts_left() {
    assert_eq!(scale(Double, 2.0, 1 << 29), -(1 << 30));
    assert_eq!(scale(Single, 2.0, 1 << 29), 1 << 30);
}

/// TensorFlow Lite's 64-bit overload returns 32 bits. `cli/tests/int16` holds the results of LiteRT.
#[test]
fn q48_keeps_the_low_32_bits() {
    assert_eq!(scale(Q48, 0.25, 1 << 33), i128::from(i32::MIN));
    assert_eq!(scale(Q48, 0.25, 1 << 34), 0);
    assert_eq!(scale(Q48, 0.25, (1 << 33) - 4), i128::from(i32::MAX));
    assert_eq!(scale(Single, 0.25, 1 << 33), 1 << 31);
}

/// A multiplier that is a whole number of 15 bits shifts left.
#[test]
fn reduced_significands_scale_up() {
    for scheme in [TosaScale16, Q48] {
        for exponent in 12..29 {
            assert_eq!(scale(scheme, 1.5 * 2f64.powi(exponent), -3), -9 << (exponent - 1), "{scheme}");
        }
    }
}

#[test]
fn a_multiplier_that_is_flushed_gives_zero() {
    for &scheme in Scheme::ALL {
        let multiplier = 2f64.powi(-40);
        assert_eq!(scale(scheme, multiplier, 1 << 20), 0, "{scheme}");
        assert_eq!(scale(scheme, 0.0, 12345), 0, "{scheme}");
    }
}

#[test]
fn a_unit_of_the_sum_is_given_back() {
    for &scheme in Scheme::ALL {
        let requantizer = Requantizer::new(scheme, Multiplier::new(0.01).unwrap());
        let scaled = requantizer.scaled_up(3).unwrap();
        assert_eq!(scaled.scheme(), scheme);
        assert_eq!(scaled.scale(1000), 80, "{scheme}");
    }
}

#[test]
fn schemes_are_read_by_name_and_by_identifier() {
    for &scheme in Scheme::ALL {
        assert_eq!(scheme.name().parse(), Ok(scheme));
        assert_eq!(scheme.id().parse(), Ok(scheme));
        assert_eq!(scheme.to_string(), scheme.name());
    }
    let error = "banker".parse::<Scheme>().unwrap_err().to_string();
    assert!(
        error.starts_with("unknown requantization scheme `banker`; the schemes are double (D), single (S)")
    );
}

/// The multiplier of a pruned channel: every sum gives the zero point, under every scheme and on every path.
#[test]
fn a_multiplier_of_zero_gives_the_zero_point() {
    let multiplier = Multiplier::new(0.0).unwrap();
    for &scheme in Scheme::ALL {
        let requantizer = Requantizer::new(scheme, multiplier);
        for x in [i32::MIN, -1 << 30, -1, 0, 1, 12_345, i32::MAX] {
            for made in [requantizer, requantizer.scaled_up(7).unwrap(), requantizer.divided_by(49)] {
                assert_eq!(made.scale(x.into()), 0, "{scheme} of {x}");
                for zero_point in [-128, 0, 77] {
                    assert_eq!(made.requantize(x.into(), zero_point), zero_point, "{scheme} of {x}");
                }
            }
            let short = guardbit_num::Scale32::new(requantizer).map_or(0, |short| short.scale(x));
            assert_eq!(short, 0, "{scheme} of {x} in 64 bits");
        }
    }
}
