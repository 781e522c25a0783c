//! Floating-point formats: laws, and every code, tie and overflow against ml_dtypes.

use std::process::Command;

use guardbit_num::{Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding, Rounding, Specials};
use proptest::prelude::*;
use serde_json::Value;

const EVEN: FloatRounding = FloatRounding::By(Rounding::HalfEven);
const OVERFLOWS: [FloatOverflow; 2] = [FloatOverflow::Saturate, FloatOverflow::Special];

fn format(name: &str) -> FloatFormat {
    name.parse().unwrap()
}

fn finite(format: FloatFormat, code: u32) -> Option<Dyadic> {
    match format.decode(code) {
        Decoded::Finite(number) => Some(number),
        _ => None,
    }
}

fn encode(format: FloatFormat, value: f64, rounding: FloatRounding, overflow: FloatOverflow) -> Option<u32> {
    format.code(value.into(), rounding, overflow)
}

fn roundings() -> Vec<FloatRounding> {
    let given = Rounding::ALL.map(FloatRounding::By);
    given.into_iter().chain([FloatRounding::Ceil, FloatRounding::Stochastic(0x9E37_79B9_7F4A_7C15)]).collect()
}

/// Returns every code of a format, or of a wide one every 10007th.
fn codes(format: FloatFormat) -> impl Iterator<Item = u32> {
    let step = if format.bits() > 16 { 10_007 } else { 1 };
    (0..1u64 << format.bits()).step_by(step).map(|code| code as u32)
}

#[test]
fn a_value_of_a_code_becomes_the_code_again() {
    for format in FloatFormat::ALL {
        for code in codes(format) {
            let Some(number) = finite(format, code) else { continue };
            for (rounding, overflow) in roundings().into_iter().flat_map(|r| OVERFLOWS.map(|o| (r, o))) {
                assert_eq!(format.encode(number, rounding, overflow), code, "{format} {rounding:?}");
            }
            // More bits than needed change nothing.
            let padded =
                Dyadic { significand: number.significand << 30, exponent: number.exponent - 30, ..number };
            assert_eq!(format.encode(padded, EVEN, FloatOverflow::Special), code, "{format}");
        }
    }
}

#[test]
fn positive_codes_are_in_the_order_of_their_values() {
    for format in FloatFormat::ALL {
        let values = codes(format).filter(|&code| code <= format.largest());
        let values: Vec<f64> = values.map(|code| finite(format, code).unwrap().value()).collect();
        assert!(values.is_sorted_by(|a, b| a < b), "{format}");
    }
}

#[test]
fn specials_have_their_codes() {
    for format in FloatFormat::ALL {
        let nan = format.nan();
        assert_eq!(nan.is_none(), format.specials() == Specials::None, "{format}");
        assert!(nan.is_none_or(|code| format.decode(code) == Decoded::Nan), "{format}");
        for negative in [false, true] {
            let infinity = format.infinity(negative);
            assert_eq!(infinity.is_some(), format.specials() == Specials::Ieee, "{format}");
            assert!(
                infinity.is_none_or(|code| format.decode(code) == Decoded::Infinite { negative }),
                "{format}"
            );
        }
        let specials = codes(format).filter(|&code| finite(format, code).is_none()).count();
        let expected = match format.specials() {
            Specials::None => 0,
            Specials::NegativeZeroIsNan => 1,
            Specials::LastIsNan => 1 + usize::from(format.is_signed()),
            Specials::Ieee => continue,
        };
        assert_eq!(specials, expected, "{format}");
    }
}

#[test]
fn a_format_without_zero_or_sign_has_no_code_for_them() {
    let (scale, nan) = (format("ue8m0"), Some(0xFF));
    assert_eq!(encode(scale, 0.0, EVEN, FloatOverflow::Saturate), nan);
    assert_eq!(encode(scale, -1.0, EVEN, FloatOverflow::Saturate), nan);
    assert_eq!(encode(scale, 1e-60, EVEN, FloatOverflow::Saturate), Some(0));
    assert_eq!(encode(format("ue4m3"), -1.0, EVEN, FloatOverflow::Saturate), Some(0x7F));
    assert_eq!(encode(format("ue4m3"), f64::NEG_INFINITY, EVEN, FloatOverflow::Saturate), Some(0x7F));
    assert_eq!(encode(format("ue4m3"), -0.0, EVEN, FloatOverflow::Saturate), Some(0));
}

#[test]
fn stochastic_rounding_goes_away_from_zero_as_often_as_the_fraction_says() {
    // Three eighths of the way from 1.25 to 1.375.
    let number = Dyadic { negative: true, significand: 0b101_0011, exponent: -6 };
    let e2m3 = format("e2m3");
    let by = |word| e2m3.encode(number, FloatRounding::Stochastic(word), FloatOverflow::Saturate);
    let [near, far] = [-1.25, -1.375].map(|x| encode(e2m3, x, EVEN, FloatOverflow::Saturate).unwrap());
    assert_eq!((0..8).map(by).filter(|&code| code == far).count(), 3);
    assert_eq!((0..8).map(by).filter(|&code| code == near).count(), 5);
    for exponent in [-90, -200] {
        let tiny = Dyadic { negative: false, significand: u64::MAX, exponent };
        let zero = e2m3.encode(tiny, FloatRounding::Stochastic(0), FloatOverflow::Saturate);
        assert_eq!(zero, 0);
    }
}

#[test]
fn an_unknown_name_lists_the_formats() {
    let error = "e4m3".parse::<FloatFormat>().unwrap_err().to_string();
    assert!(
        error.starts_with("unknown floating-point format `e4m3`; the formats are e4m3fn, e5m2, "),
        "{error}"
    );
}

/// Generates numbers of all magnitudes, many near the formats.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        (any::<f32>().prop_filter("finite", |x| x.is_finite())).prop_map(f64::from),
        (-1.0..1.0f64, -30..30i32).prop_map(|(x, exponent)| x * 2f64.powi(exponent)),
    ]
}

fn formats() -> impl Strategy<Value = FloatFormat> {
    prop::sample::select(FloatFormat::ALL.iter().copied().filter(|f| f.is_signed()).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn float32_is_the_float32_of_the_machine(x in numbers()) {
        let code = encode(format("float32"), x, EVEN, FloatOverflow::Special).unwrap();
        prop_assert_eq!(code, (x as f32).to_bits());
    }

    #[test]
    fn upper_parts_of_a_float32_are_its_truncations(x in any::<u32>().prop_map(f32::from_bits)) {
        prop_assume!(x.is_finite());
        let zero = FloatRounding::By(Rounding::TowardZero);
        for (name, bits) in [("bfloat16", 16), ("tf32", 13), ("e8m13", 10)] {
            let code = encode(format(name), x.into(), zero, FloatOverflow::Saturate).unwrap();
            prop_assert_eq!(code, x.to_bits() >> bits, "{}", name);
        }
    }

    #[test]
    fn a_result_is_the_neighbor_that_its_rounding_chooses(format in formats(), x in numbers()) {
        let largest = finite(format, format.largest()).unwrap().value();
        let saturated = |rounding| encode(format, x, rounding, FloatOverflow::Saturate).unwrap();
        let value = |code| finite(format, code).unwrap().value();
        let by = |rounding| saturated(FloatRounding::By(rounding));
        if x.abs() > largest {
            // Beyond the range, saturation clamps.
            for rounding in roundings() {
                prop_assert_eq!(value(saturated(rounding)), largest.copysign(x), "{:?}", rounding);
            }
            return Ok(());
        }
        let (below, above) = (by(Rounding::Floor), saturated(FloatRounding::Ceil));
        let (low, high) = (value(below), value(above));
        prop_assert!(low <= x && x <= high, "{} <= {} <= {}", low, x, high);
        // Codes of the same sign that differ by one are neighbors; between them is one step.
        prop_assert!((low == x) == (high == x) && below.abs_diff(above) <= 1 || low == 0.0 || high == 0.0);
        prop_assert_eq!(value(by(Rounding::TowardZero)), if x < 0.0 { high } else { low });
        for rounding in Rounding::ALL.into_iter().filter(|r| !matches!(r, Rounding::Floor | Rounding::TowardZero)) {
            let chosen = value(by(rounding));
            // The two distances are exact where they matter: neighbors differ by few bits.
            prop_assert!(chosen == low || chosen == high);
            let other = low + high - chosen;
            prop_assert!((chosen - x).abs() <= (other - x).abs(), "{:?}: {} for {}", rounding, chosen, x);
        }
    }

    #[test]
    fn rounding_keeps_the_order(format in formats(), x in numbers(), y in numbers()) {
        let (x, y) = (x.min(y), x.max(y));
        for rounding in roundings().into_iter().filter(|r| !matches!(r, FloatRounding::Stochastic(_))) {
            let value = |x| {
                let code = encode(format, x, rounding, FloatOverflow::Saturate).unwrap();
                finite(format, code).unwrap().value()
            };
            prop_assert!(value(x) <= value(y), "{:?}", rounding);
        }
    }
}

/// Generates codes of float32, many of them close to each other, and specials.
fn float32s() -> impl Strategy<Value = [f32; 3]> {
    let near = (any::<u32>(), -40..40i32, any::<u32>(), 0..23u32);
    let one = near.prop_map(|(bits, exponent, sign, zeros)| {
        let fraction = bits & 0x7F_FFFF & !((1 << zeros) - 1);
        f32::from_bits(sign & 1 << 31 | ((127 + exponent) as u32) << 23 | fraction)
    });
    let special =
        prop::sample::select(vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45]);
    let any = prop_oneof![8 => one, 2 => any::<u32>().prop_map(f32::from_bits), 1 => special];
    prop::array::uniform3(any)
}

proptest! {
    #[test]
    fn sums_and_products_are_those_of_the_machine([a, b, c] in float32s(), opposite in any::<bool>()) {
        let float32 = format("float32");
        // Cancellation, exact or up to the rounding of the product.
        let c = if opposite { -(a * b) } else { c };
        let same = |found: Option<u32>, expected: f32| {
            let found = f32::from_bits(found.unwrap());
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
        };
        let [x, y, z] = [a, b, c].map(f32::to_bits);
        prop_assert!(same(float32.add(x, y), a + b), "{} + {}", a, b);
        prop_assert!(same(float32.add(x, (-a).to_bits()), a - a), "{} - itself", a);
        prop_assert!(same(float32.multiply_add(x, y, z), a.mul_add(b, c)), "{} * {} + {}", a, b, c);
    }

    #[test]
    fn sums_in_half_precision_are_rounded_sums(a in any::<u16>(), b in any::<u16>()) {
        // The sum of two float16 in float64 is exact.
        let float16 = format("float16");
        let value = |code| finite(float16, code).map(Dyadic::value);
        let (Some(x), Some(y)) = (value(a.into()), value(b.into())) else { return Ok(()) };
        let expected = encode(float16, x + y, EVEN, FloatOverflow::Special);
        prop_assert_eq!(float16.add(a.into(), b.into()), expected);
    }
}

fn numbers_of(line: &Value, key: &str) -> Vec<u32> {
    line[key].as_array().unwrap().iter().map(|bits| bits.as_u64().unwrap() as u32).collect()
}

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn formats_equal_ml_dtypes() {
    let python = std::env::var("GUARDBIT_ORACLE_PYTHON").expect("GUARDBIT_ORACLE_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/oracles/float_formats.py");
    let ran = Command::new(python).arg(script).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut compared = 0;
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let format = format(line["format"].as_str().unwrap());
        let values = numbers_of(&line, "values");
        assert_eq!(values.len(), 1 << format.bits(), "{format}");
        for (code, &bits) in values.iter().enumerate() {
            let expected = f32::from_bits(bits);
            match format.decode(code as u32) {
                Decoded::Finite(number) => {
                    assert_eq!(number.value().to_bits(), f64::from(expected).to_bits(), "{format} {code}");
                }
                Decoded::Infinite { negative } => {
                    assert_eq!((expected.is_infinite(), expected < 0.0), (true, negative), "{format} {code}");
                }
                Decoded::Nan => assert!(expected.is_nan(), "{format} {code}"),
            }
        }
        let inputs = numbers_of(&line, "inputs");
        for (&input, expected) in inputs.iter().zip(numbers_of(&line, "codes")) {
            let x = f32::from_bits(input);
            let found = encode(format, x.into(), EVEN, FloatOverflow::Special);
            // ml_dtypes has several codes for NaN, and a zero for NaN in formats without NaN.
            let equal = match found.map(|code| format.decode(code)) {
                Some(Decoded::Nan) => format.decode(expected) == Decoded::Nan,
                None => x.is_nan(),
                _ => found == Some(expected),
            };
            assert!(equal, "{format}: {x:e} is {found:?}, not {expected}");
        }
        compared += inputs.len();
    }
    println!("{compared} numbers compared");
    assert!(compared > 500_000, "{compared} numbers");
}
