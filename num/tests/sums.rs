//! Sums in fixed-point registers and by ordinary additions: laws, and a second implementation in Python.

use std::process::Command;

use guardbit_num::{
    Decoded, Dyadic, FixedDot, FloatFormat, FloatOverflow, FloatRounding, Format, OrdinaryDot, Overflow,
    PairwiseDot, Rounding, Term,
};
use proptest::prelude::*;
use serde_json::Value;

const FLOAT32: FloatFormat = FloatFormat::FLOAT32;

fn format(name: &str) -> FloatFormat {
    name.parse().unwrap()
}

/// Returns finite products whose last bits are multiples of `2^-40`.
fn products() -> impl Strategy<Value = Vec<Term>> {
    let operands = prop::sample::select(vec!["e4m3fn", "e5m2", "e2m3", "e2m1", "e4m3fnuz"]);
    (operands, prop::collection::vec(any::<(u8, u8)>(), 1..60)).prop_map(|(name, codes)| {
        let term = |code: u8| Term::of(format(name), code.into());
        let terms = codes.into_iter().map(|(a, b)| term(a).times(term(b)));
        terms.filter(|term| matches!(term.value, Decoded::Finite(_))).collect()
    })
}

fn dots() -> impl Strategy<Value = FixedDot> {
    let cut = prop::sample::select(&Rounding::ALL[..]);
    (0..=40u32, cut, 1..20usize).prop_map(|(fraction_bits, cut, terms)| FixedDot {
        fraction_bits,
        cut,
        register: None,
        terms,
        promotion: None,
    })
}

/// Returns a product in units of `2^-40`.
fn units(term: Term) -> i128 {
    let Decoded::Finite(Dyadic { negative, significand, exponent }) = term.value else { panic!("{term:?}") };
    let magnitude = i128::from(significand) << (exponent + 40);
    if negative { -magnitude } else { magnitude }
}

/// Returns the float32 nearest to a number of units of `2^-fraction_bits`. The conversion rounds once.
fn single(units: i128, fraction_bits: u32) -> u32 {
    (units as f32 * 2f32.powi(-(fraction_bits as i32))).to_bits()
}

fn register(dot: FixedDot, bits: u32, overflow: Overflow) -> FixedDot {
    FixedDot { register: Some((Format::signed(bits).unwrap(), overflow)), ..dot }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// With enough bits the register holds the exact sum; without, it holds that of the cut products.
    #[test]
    fn registers_without_overflow_are_exact(products in products(), dot in dots()) {
        let exact = FixedDot { fraction_bits: 40, ..dot };
        let sum: i128 = products.iter().map(|&term| units(term)).sum();
        let (made, _) = exact.run(&products);
        prop_assert_eq!((made.code, made.cut_terms), (single(sum, 40), 0));
        let drop = 40 - dot.fraction_bits;
        let cut: i128 = products.iter().map(|&term| dot.cut.shift_right(units(term), drop)).sum();
        prop_assert_eq!(dot.run(&products).0.code, single(cut, dot.fraction_bits));
    }

    /// Required fraction bits cut nothing, and one bit less does. Required integer bits hold every sum, and one bit less
    /// does not.
    #[test]
    fn required_bits_suffice_and_one_less_does_not(products in products(), dot in dots()) {
        let needed = dot.run(&products).0.exact_fraction_bits;
        let with = |fraction_bits| FixedDot { fraction_bits, ..dot }.run(&products);
        prop_assert_eq!(with(needed).0.cut_terms, 0);
        prop_assert!(needed == 0 || with(needed - 1).0.cut_terms > 0);
        let (unlimited, used) = dot.run(&products);
        let bits = dot.fraction_bits + used.integer_bits;
        for overflow in [Overflow::Wrap, Overflow::Saturate, Overflow::Sticky, Overflow::Observe] {
            if (2..=64).contains(&bits) {
                let (sum, own) = register(dot, bits, overflow).run(&products);
                prop_assert_eq!((sum, own.overflows, own.first), (unlimited, 0, None));
            }
            if used.integer_bits > 1 && (3..=65).contains(&bits) {
                let (_, own) = register(dot, bits - 1, overflow).run(&products);
                prop_assert!(own.overflows > 0 && own.first.is_some());
                prop_assert_eq!(own.integer_bits, used.integer_bits);
            }
        }
    }

    /// A register that wraps holds the sum modulo its range, in any order. Products of one sign never leave a rail, so
    /// that a register that saturates holds the sum or the rail. A register that observes holds the sum.
    #[test]
    fn overflow_modes_hold_what_they_say(products in products(), dot in dots(), bits in 2..=64u32) {
        let terms: Vec<i128> = products
            .iter()
            .map(|&term| dot.cut.shift_right(units(term), 40 - dot.fraction_bits))
            .collect();
        let sum: i128 = terms.iter().sum();
        let range = Format::signed(bits).unwrap();
        let of = |overflow, products: &[Term]| register(dot, bits, overflow).run(products).0.code;
        prop_assert_eq!(of(Overflow::Wrap, &products), single(range.wrap(sum), dot.fraction_bits));
        prop_assert_eq!(of(Overflow::Observe, &products), single(sum, dot.fraction_bits));
        let mut turned = products.clone();
        turned.reverse();
        prop_assert_eq!(of(Overflow::Wrap, &turned), of(Overflow::Wrap, &products));
        let positive: Vec<Term> = products.into_iter().filter(|&term| units(term) > 0).collect();
        let sum: i128 =
            positive.iter().map(|&term| dot.cut.shift_right(units(term), 40 - dot.fraction_bits)).sum();
        for overflow in [Overflow::Saturate, Overflow::SaturateSymmetric, Overflow::Sticky] {
            prop_assert_eq!(of(overflow, &positive), single(sum.min(range.max()), dot.fraction_bits));
        }
    }

    /// Additions of one product at a time in float32, to nearest even, are those of the machine.
    #[test]
    fn serial_float32_is_that_of_the_machine(codes in prop::collection::vec(any::<[u16; 2]>(), 1..40), fused in any::<bool>()) {
        let bfloat16 = format("bfloat16");
        let number = |code: u16| f32::from_bits(u32::from(code) << 16);
        let unit = PairwiseDot { group: 1, result: FLOAT32, rounding: Rounding::HalfEven, fused, flush: false };
        let products: Vec<Term> = codes
            .iter()
            .map(|codes| codes.map(|code| Term::of(bfloat16, code.into())))
            .map(|[a, b]| a.times(b))
            .collect();
        let found = f32::from_bits(OrdinaryDot { unit, promotion: None }.run(&products).code);
        let expected = codes.iter().map(|codes| codes.map(number)).fold(0f32, |sum, [a, b]| {
            if fused { a.mul_add(b, sum) } else { sum + a * b }
        });
        prop_assert!(found == expected || found.is_nan() && expected.is_nan(), "{found} {expected}");
    }

    /// An addition is counted as rounded if and only if the sum is not exact.
    #[test]
    fn sums_without_rounded_additions_are_exact(products in products(), group in prop::sample::select(vec![1, 2, 4])) {
        let unit = PairwiseDot { group, result: FLOAT32, rounding: Rounding::HalfEven, fused: true, flush: false };
        let sum = OrdinaryDot { unit, promotion: None }.run(&products);
        if sum.cut_terms == 0 {
            let exact: i128 = products.iter().map(|&term| units(term)).sum();
            prop_assert_eq!(sum.code, single(exact, 40));
            prop_assert!(sum.exact_fraction_bits <= 23);
            prop_assert_eq!(sum.vanished_terms, 0);
        } else {
            prop_assert!(sum.exact_fraction_bits > 23);
        }
    }
}

/// A product beyond the register's reach counts as `2^96` of its units: beyond every rail, and zero modulo all ranges.
#[test]
fn huge_products_are_beyond_every_rail() {
    let bfloat16 = format("bfloat16");
    let huge = Term::of(bfloat16, 0x7F7F).times(Term::of(bfloat16, 0xFF7F));
    let dot = FixedDot { fraction_bits: 4, cut: Rounding::Floor, register: None, terms: 1, promotion: None };
    let of = |overflow| register(dot, 64, overflow).run(&[huge]);
    assert_eq!(f32::from_bits(of(Overflow::Saturate).0.code), -(2f32.powi(59)));
    assert_eq!(of(Overflow::Wrap).0.code, 0);
    assert_eq!((of(Overflow::Wrap).1.overflows, of(Overflow::Wrap).1.integer_bits), (1, 93));
    assert_eq!(f32::from_bits(dot.run(&[huge]).0.code), -(2f32.powi(92)));
}

fn named(name: &str) -> FloatFormat {
    match name {
        "e4m3" => format("e4m3fn"),
        "f16" => format("float16"),
        "bf16" => format("bfloat16"),
        name => format(name),
    }
}

fn codes(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|code| code.as_u64().unwrap() as u32).collect()
}

/// Returns what guardbit computes of a line of `scripts/second/sums.py`.
fn computed(line: &Value) -> Vec<u32> {
    let text = |key: &str| line[key].as_str().unwrap();
    let number = |key: &str| line[key].as_u64().unwrap() as usize;
    let [a_format, b_format] = [0, 1].map(|at| named(line["formats"][at].as_str().unwrap()));
    let promotion = Some(number("promotion")).filter(|&additions| additions > 0);
    let pairs = || codes(&line["a"]).into_iter().zip(codes(&line["b"]));
    if line["kind"] == "fixed" {
        let width = Some(number("bits") as u32).filter(|&bits| bits > 0);
        let register = width.map(|bits| (Format::signed(bits).unwrap(), text("overflow").parse().unwrap()));
        let (fraction_bits, cut) = (number("fraction_bits") as u32, text("cut").parse().unwrap());
        let dot = FixedDot { fraction_bits, cut, register, terms: number("terms"), promotion };
        let products: Vec<Term> =
            pairs().map(|(a, b)| Term::of(a_format, a).times(Term::of(b_format, b))).collect();
        let (sum, used) = dot.run(&products);
        return vec![sum.code, used.overflows, used.integer_bits];
    }
    let is = |key: &str| line[key].as_bool().unwrap();
    let unit = PairwiseDot {
        group: number("group"),
        result: format(text("result")),
        rounding: text("round").parse().unwrap(),
        fused: is("fused"),
        flush: is("flush"),
    };
    let operand = |format, code| Term::of(format, unit.operand(format, code));
    let products: Vec<Term> =
        pairs().map(|(a, b)| operand(a_format, a).times(operand(b_format, b))).collect();
    vec![OrdinaryDot { unit, promotion }.run(&products).code]
}

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn sums_equal_a_second_implementation() {
    let python = std::env::var("GUARDBIT_ORACLE_PYTHON").expect("GUARDBIT_ORACLE_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/second/sums.py");
    let ran = Command::new(python).args([script, "--cases", "6000"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (mut compared, mut overflows, mut different) = (0, 0, 0);
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (found, expected) = (computed(&line), codes(&line["expected"]));
        if found != expected {
            different += 1;
            println!("{line}: found {found:?}");
        }
        compared += 1;
        overflows += u32::from(expected.get(1).is_some_and(|&overflows| overflows > 0));
    }
    assert_eq!(different, 0);
    assert!(compared == 12_000 && overflows > 1000, "{compared}, {overflows}");
}

#[test]
fn nothing_is_zero() {
    let unit =
        PairwiseDot { group: 4, result: FLOAT32, rounding: Rounding::Floor, fused: true, flush: false };
    assert_eq!(OrdinaryDot { unit, promotion: Some(2) }.run(&[]).code, 0);
    let dot =
        FixedDot { fraction_bits: 4, cut: Rounding::Floor, register: None, terms: 1, promotion: Some(1) };
    assert_eq!(dot.run(&[]).0.code, 0);
    let rounding = FloatRounding::By(Rounding::HalfEven);
    let nan = FLOAT32.code(Decoded::Nan, rounding, FloatOverflow::Special).unwrap();
    let infinite = Term::of(format("e5m2"), 0x7C);
    let minus = Term::of(format("e5m2"), 0xFC);
    assert_eq!(dot.run(&[infinite, minus]).0.code, nan);
    assert_eq!(dot.run(&[minus]).0.code, 0xFF80_0000);
}
