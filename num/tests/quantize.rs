//! Tests of quantizing rules on values on which real runtimes disagree.

use guardbit_num::Quantizing::{self, HalfAway, HalfEven, HalfEvenLast, Reciprocal, ReciprocalLast};

fn check(way: Quantizing, scale: f32, zero_point: i32, values: &[f32], expected: &[i128]) {
    let codes: Vec<_> = values.iter().map(|&x| way.code(x, scale, zero_point)).collect();
    assert_eq!(codes, expected, "{way}");
}

/// Results measured with ONNX Runtime 1.31.1 and LiteRT 2.3.0.
#[test]
fn ties() {
    let values = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5];
    check(HalfEven, 1.0, 0, &values, &[0, 2, 2, 0, -2, -2]);
    check(HalfAway, 1.0, 0, &values, &[1, 2, 3, -1, -2, -3]);
    // With an odd zero point inside the rounding, ties fall to the other side.
    check(HalfEvenLast, 1.0, 1, &values, &[2, 2, 4, 0, 0, -2]);
    check(HalfEven, 1.0, 1, &values, &[1, 3, 3, 1, -1, -1]);
}

/// Measured: division gives 127 (ONNX Runtime); the product with the reciprocal gives 127.5, rounded to 128.
#[test]
fn division_and_reciprocal() {
    let (scale, value) = (0.002_148_548_6_f32, 0.273_939_94_f32);
    check(HalfEven, scale, 0, &[value], &[127]);
    check(Reciprocal, scale, 0, &[value], &[128]);
    check(ReciprocalLast, scale, 0, &[value], &[128]);
    check(Reciprocal, scale, 1, &[value], &[129]);
    check(ReciprocalLast, scale, 1, &[value], &[128]);
}

#[test]
fn whatever_the_value() {
    for &way in Quantizing::ALL {
        assert_eq!(way.code(f32::NAN, 0.5, 7), 7, "{way}");
        assert!(way.code(f32::INFINITY, 0.5, 7) > i128::from(i32::MAX), "{way}");
        assert!(way.code(f32::NEG_INFINITY, 0.5, 7) < i128::from(i32::MIN), "{way}");
        assert_eq!(way.name().parse::<Quantizing>(), Ok(way));
    }
    assert!("odd".parse::<Quantizing>().unwrap_err().to_string().contains("half_away, half_even"));
}
