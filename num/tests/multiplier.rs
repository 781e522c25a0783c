//! Tests of real multipliers as significand and exponent.

use guardbit_num::{Multiplier, MultiplierError};

fn parts(multiplier: Multiplier) -> (i32, i32) {
    (multiplier.significand(), multiplier.exponent())
}

#[test]
fn significand_and_exponent() {
    let cases = [
        (0.0, (0, 0)),
        (0.5, (1 << 30, 0)),
        (0.25, (1 << 30, -1)),
        (1.0, (1 << 30, 1)),
        (f64::from(1.0f32 / 255.0), (1_077_952_640, -7)),
        (f64::from(0.003_921_568_4_f32), (1_077_952_512, -7)),
        // The fraction rounds up to 1.
        (1.0 - 2f64.powi(-40), (1 << 30, 1)),
        (2f64.powi(29), (1 << 30, 30)),
        (2f64.powi(-32), (1 << 30, -31)),
        (2f64.powi(-33), (0, 0)),
        (f64::MIN_POSITIVE / 4.0, (0, 0)),
    ];
    for (real, expected) in cases {
        let multiplier = Multiplier::new(real).unwrap();
        assert_eq!(parts(multiplier), expected, "{real}");
        assert_eq!(multiplier.real(), real);
    }
}

#[test]
fn the_fraction_is_the_significand() {
    assert_eq!(Multiplier::new(0.375).unwrap().fraction().to_num::<f64>(), 0.75);
}

#[test]
fn what_is_no_multiplier() {
    let limit = 2f64.powi(30);
    for real in [-1.0, -f64::MIN_POSITIVE, limit, limit.next_down(), f64::INFINITY, f64::NAN] {
        assert!(Multiplier::new(real).is_err(), "{real}");
    }
    assert_eq!(
        MultiplierError { real: -1.0 }.to_string(),
        "-1 cannot be a requantization multiplier: it must be finite, not negative and below 2^30"
    );
}

#[test]
fn scaled_up_by_powers_of_two() {
    let third = Multiplier::new(1.0 / 3.0).unwrap();
    assert_eq!(parts(third.scaled_up(4).unwrap()), (third.significand(), third.exponent() + 4));
    assert_eq!(third.scaled_up(4).unwrap().real(), 16.0 / 3.0);
    assert_eq!(third.scaled_up(0), Ok(third));
    assert!(third.scaled_up(32).is_err());
    // A significand that became 0 is restored.
    let tiny = Multiplier::new(2f64.powi(-40)).unwrap();
    assert_eq!(parts(tiny.scaled_up(10).unwrap()), (1 << 30, -29));
}

#[test]
fn divided_by_a_count() {
    let cases = [
        (1.0, 1, (1 << 30, 1)),
        (1.0, 4, (1 << 30, -1)),
        // (2^30 << 1) / 3, truncated: below 2^30.
        (1.0, 3, (715_827_882, 0)),
        (1.0, 49, (701_219_150, -4)),
        (0.75, 3, (1_073_741_824, -1)),
        // The shift is limited by the exponent.
        (2f64.powi(-31), 8, (1 << 28, -31)),
        (0.0, 5, (0, -2)),
        (1.0, 0, (1 << 30, 1)),
        // Above 2^32 the significand becomes smaller.
        (1.0, 1 << 34, (1 << 28, -31)),
    ];
    for (real, count, expected) in cases {
        let divided = Multiplier::new(real).unwrap().divided_by(count);
        assert_eq!(parts(divided), expected, "{real} / {count}");
    }
}

#[test]
fn all_bits_of_the_number() {
    for real in [0.0, 0.5, 1.0 / 3.0, 0.017_863_955, 2f64.powi(29), 2f64.powi(-40), f64::MIN_POSITIVE / 4.0] {
        let (significand, exponent) = Multiplier::new(real).unwrap().exact();
        assert!(significand == 0 && real == 0.0 || significand.ilog2() == 52, "{real}");
        // In two steps, because 2^-1077 alone is 0.
        assert_eq!(
            significand as f64
                * 2f64.powi(-53)
                * 2f64.powi(exponent / 2)
                * 2f64.powi(exponent - exponent / 2),
            real
        );
    }
}
