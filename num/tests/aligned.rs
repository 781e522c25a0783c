//! Aligned sums: laws, parameters of matrix units, and a second implementation in Python.

use std::process::Command;

use guardbit_num::{
    AlignedDot, AlignedRule, BlockScales, Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding,
    Incoming, MatrixUnit, PairwiseDot, Rounding, Term,
};
use proptest::prelude::*;
use serde_json::Value;

fn format(name: &str) -> FloatFormat {
    name.parse().unwrap()
}

/// Returns the code of a number that the format holds.
fn code(format: FloatFormat, value: f64) -> u32 {
    let Decoded::Finite(number) = Decoded::from(value) else { panic!("{value}") };
    let code = format.encode(number, FloatRounding::By(Rounding::Floor), FloatOverflow::Special);
    assert_eq!(self::value(format, code), value, "{format}");
    code
}

fn value(format: FloatFormat, code: u32) -> f64 {
    match format.decode(code) {
        Decoded::Finite(number) => number.value(),
        Decoded::Infinite { negative } => f64::INFINITY.copysign(if negative { -1.0 } else { 1.0 }),
        Decoded::Nan => f64::NAN,
    }
}

/// Returns the format of a unit's operands that reaches the smallest numbers.
fn operand(unit: MatrixUnit) -> FloatFormat {
    *unit.operands.iter().min_by_key(|format| format.least_exponent()).unwrap()
}

/// Returns a product whose value is a power of two. It reaches further down than one operand.
fn power(unit: MatrixUnit, negative: bool, exponent: i32) -> Term {
    let sign = if negative { -1.0 } else { 1.0 };
    let half = exponent / 2;
    let [a, b] = [sign * 2f64.powi(half), 2f64.powi(exponent - half)];
    Term::of(operand(unit), code(operand(unit), a)).times(Term::of(operand(unit), code(operand(unit), b)))
}

/// Returns the result of a unit's instruction, which adds `unit.terms` products at a time, from an accumulator of 0.
fn run(unit: MatrixUnit, terms: &[Term]) -> f64 {
    let rule = unit.rule(unit.results[0]);
    let sum = terms.chunks(unit.terms).fold(0, |sum, terms| rule.add(terms, Term::of(rule.result, sum)).code);
    value(rule.result, sum)
}

/// Returns 1, -1, zeros, and `2^exponent` at a place.
fn hidden(unit: MatrixUnit, place: usize, exponent: i32) -> Vec<Term> {
    let zero = Term::of(operand(unit), 0).times(Term::of(operand(unit), 0));
    let mut terms = vec![zero; unit.products];
    (terms[0], terms[1]) = (power(unit, false, 0), power(unit, true, 0));
    terms[place] = power(unit, false, exponent);
    terms
}

/// What arXiv 2511.10909 reports of each unit: fraction bits, and products of one addition.
const REPORTED: [(&str, i32, usize); 21] = [
    ("volta mma f16", 23, 4),
    ("turing mma f16", 24, 8),
    ("ampere mma f16", 24, 8),
    ("ampere mma tf32", 24, 4),
    ("ada mma f16", 24, 8),
    ("ada mma tf32", 24, 4),
    ("ada mma fp8", 13, 16),
    ("hopper mma f16", 25, 16),
    ("hopper mma tf32", 25, 8),
    ("hopper wgmma f16", 25, 16),
    ("hopper wgmma tf32", 25, 8),
    ("hopper wgmma fp8", 13, 32),
    ("blackwell tcgen05 f16", 25, 16),
    ("blackwell tcgen05 tf32", 25, 8),
    ("blackwell tcgen05 f8f6f4", 25, 32),
    ("rtx-blackwell mma f16", 25, 16),
    ("rtx-blackwell mma f8f6f4", 25, 32),
    ("blackwell tcgen05 mxf8f6f4", 25, 32),
    ("cdna3 mfma f16", 24, 8),
    ("cdna3 mfma xf32", 24, 4),
    ("cdna3 mfma fp8", 24, 16),
];

#[test]
fn units_show_the_fraction_bits_and_terms_that_were_measured_on_devices() {
    for (name, bits, terms) in REPORTED {
        let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == name).unwrap();
        // 1 and -1 hide what lies below the fraction bits, in their own addition only.
        assert_eq!(run(unit, &hidden(unit, 2, -bits)), 2f64.powi(-bits), "{name}");
        assert_eq!(run(unit, &hidden(unit, 2, -bits - 1)), 0.0, "{name}");
        let seen = |place: &usize| run(unit, &hidden(unit, *place, -bits - 1)) != 0.0;
        assert_eq!((2..unit.products).find(seen).unwrap_or(unit.products), terms, "{name}");
    }
    let left = MatrixUnit::ALL.into_iter().filter(|unit| REPORTED.iter().all(|row| row.0 != unit.name));
    assert!(left.map(|unit| unit.name).eq(["blackwell tcgen05 mxf4nvf4"]));
}

/// One dot product of 16 float16 products that every kind of unit adds differently, as tests of FTTN (arXiv 2403.00232)
/// do: fraction bits decide on the third and fourth product, the size of an addition on the ninth, the rounding of the
/// result on the tenth, and the third has a subnormal operand. Expected are results of MMA-Sim.
#[test]
fn one_dot_product_distinguishes_units() {
    let float16 = format("float16");
    let power = |exponent: i32| 2f64.powi(exponent);
    let (mut a, mut b) = ([0.0; 16], [0.0; 16]);
    (a[0], b[0]) = (1.0, 1.0);
    (a[1], b[1]) = (-1.0, 1.0);
    (a[2], b[2]) = (power(-15), power(-9));
    (a[3], b[3]) = (power(-13), power(-12));
    (a[8], b[8]) = (power(-13), power(-13));
    (a[9], b[9]) = (-power(-24), power(-24));
    let [a, b] = [a, b].map(|values| values.map(|x| code(float16, x)));
    let terms = products((float16, &a), (float16, &b));
    let aligned = |name: &str| {
        let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == name).unwrap();
        let dot = AlignedDot { rule: unit.rule(format("float32")), terms: unit.terms, promotion: None };
        dot.run(&terms).code
    };
    let pairwise = |name: &str| {
        let (_, dot) = PairwiseDot::UNITS.into_iter().find(|unit| unit.0 == name).unwrap();
        dot.run(float16, &a, &b, 0)
    };
    for (name, expected) in [
        ("volta mma f16", power(-26) - power(-48)),
        ("turing mma f16", power(-24) + power(-26) - power(-47)),
        ("ampere mma f16", power(-24) + power(-26) - power(-47)),
        ("hopper wgmma f16", power(-24) + power(-25)),
        ("cdna1 mfma f16", power(-24) + power(-25) + power(-26)),
        ("cdna2 mfma f16", power(-25) + power(-26)),
        ("cdna3 mfma f16", power(-24) + power(-26)),
    ] {
        let pairwise_unit = name.starts_with("cdna1") || name.starts_with("cdna2");
        let found = if pairwise_unit { pairwise(name) } else { aligned(name) };
        assert_eq!(f64::from(f32::from_bits(found)), expected, "{name}");
    }
}

#[test]
fn groups_of_products_are_added_exactly_before_they_are_scaled() {
    let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.scales == BlockScales::Groups(16)).unwrap();
    let (element, scale) = (format("e2m1"), format("ue4m3"));
    let term = |value| Term::of(element, code(element, value));
    // 15 * 36 + 0.25 in one group: scales of 2^-9 and 448 follow.
    let products: Vec<Term> = (0..16)
        .map(|i| if i < 15 { term(6.0).times(term(6.0)) } else { term(0.5).times(term(0.5)) })
        .collect();
    let scaled = Term::exact(products)
        .times(Term::of(scale, code(scale, 2f64.powi(-9))))
        .times(Term::of(scale, code(scale, 448.0)));
    let rule = unit.rule(format("float32"));
    let sum = rule.add(&[scaled], Term::of(rule.result, 0));
    assert_eq!(value(rule.result, sum.code), 540.25 * 448.0 / 512.0);
    assert_eq!(sum.cut_terms, 0);
}

#[test]
fn infinities_and_nan_follow_ieee() {
    let (e5m2, float32) = (format("e5m2"), format("float32"));
    let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == "hopper wgmma fp8").unwrap();
    let rule = AlignedRule { result: float32, ..unit.rule(float32) };
    let [zero, one, infinity, nan] = [0, 0x3C, 0x7C, 0x7E].map(|code| Term::of(e5m2, code));
    let minus = Term::of(e5m2, 0xFC);
    let c = Term::of(float32, 0);
    for (products, expected) in [
        (vec![one.times(infinity)], 0x7F80_0000),
        (vec![one.times(minus), one.times(one)], 0xFF80_0000),
        (vec![one.times(minus), minus.times(minus)], 0x7FFF_FFFF),
        (vec![zero.times(infinity)], 0x7FFF_FFFF),
        (vec![nan.times(one)], 0x7FFF_FFFF),
    ] {
        assert_eq!(rule.add(&products, c).code, expected, "{products:?}");
    }
    assert_eq!(rule.add(&[one.times(one)], Term::of(float32, 0xFF80_0000)).code, 0xFF80_0000);
}

/// Generates the products of an addition and its accumulator, all finite.
fn additions() -> impl Strategy<Value = (Vec<Term>, Term)> {
    let operands = prop::sample::select(vec!["e4m3fn", "e5m2", "e2m3", "float16"]);
    let codes = prop::collection::vec(any::<(u16, u16)>(), 1..33);
    let c = prop_oneof![(-1.0..1.0f32).prop_map(f32::to_bits), any::<u32>()];
    (operands, codes, c, -20..40i32).prop_filter_map("finite", |(name, codes, c, scale)| {
        let operand = format(name);
        let terms =
            codes.into_iter().map(|(a, b)| Term::of(operand, a.into()).times(Term::of(operand, b.into())));
        let c = (f32::from_bits(c) * 2f32.powi(scale)).to_bits();
        let terms: Vec<Term> = terms.filter(|term| matches!(term.value, Decoded::Finite(_))).collect();
        let c = Term::of(format("float32"), c);
        matches!(c.value, Decoded::Finite(_)).then_some((terms, c))
    })
}

fn rules() -> impl Strategy<Value = AlignedRule> {
    let cut = prop::sample::select(vec![Rounding::TowardZero, Rounding::Floor, Rounding::HalfEven]);
    let result = prop::sample::select(vec!["float32", "e8m13", "float16"]);
    (1..=40u32, cut, result).prop_map(|(fraction_bits, cut, result)| AlignedRule {
        fraction_bits,
        cut,
        incoming: Incoming::Term,
        result: format(result),
        result_rounding: Rounding::HalfEven,
        negative_zero: false,
        nan: 0,
    })
}

/// Returns minus a term.
fn negated(term: Term) -> Term {
    match term.value {
        Decoded::Finite(number) => {
            Term { value: Decoded::Finite(Dyadic { negative: !number.negative, ..number }), ..term }
        }
        _ => term,
    }
}

proptest! {
    #[test]
    fn the_order_of_products_decides_nothing(
        (mut products, c) in additions(), rule in rules(), turn in any::<prop::sample::Index>(),
    ) {
        let sum = rule.add(&products, c);
        if !products.is_empty() {
            let turn = turn.index(products.len());
            products.rotate_left(turn);
        }
        prop_assert_eq!(rule.add(&products, c), sum);
    }

    #[test]
    fn enough_fraction_bits_lose_nothing_and_one_bit_less_does((products, c) in additions(), rule in rules()) {
        let needed = rule.add(&products, c).exact_fraction_bits;
        if !(1..=40).contains(&needed) {
            return Ok(());
        }
        let with = |fraction_bits| AlignedRule { fraction_bits, ..rule }.add(&products, c);
        let exact = with(needed);
        prop_assert_eq!((exact.cut_terms, exact.vanished_terms), (0, 0));
        prop_assert_eq!(with(40).code, exact.code);
        prop_assert!(with(needed - 1).cut_terms > 0);
        prop_assert!(with(needed - 1).vanished_terms <= with(needed - 1).cut_terms);
    }

    #[test]
    fn symmetric_cuts_are_symmetric((products, c) in additions(), rule in rules()) {
        let rule = AlignedRule { cut: if rule.cut == Rounding::Floor { Rounding::HalfAway } else { rule.cut }, ..rule };
        let minus: Vec<Term> = products.iter().copied().map(negated).collect();
        let (sum, opposite) = (rule.add(&products, c), rule.add(&minus, negated(c)));
        prop_assert_eq!(value(rule.result, opposite.code), -value(rule.result, sum.code));
    }
}

/// Returns the format of a name in scripts/second/aligned.py.
fn named(line: &Value, key: &str) -> FloatFormat {
    match line[key].as_str().unwrap() {
        "e4m3" => format("e4m3fn"),
        "f16" => format("float16"),
        "bf16" => format("bfloat16"),
        "f32" => format("float32"),
        name => format(name),
    }
}

fn codes(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|code| code.as_u64().unwrap() as u32).collect()
}

fn products(a: (FloatFormat, &[u32]), b: (FloatFormat, &[u32])) -> Vec<Term> {
    a.1.iter().zip(b.1).map(|(&x, &y)| Term::of(a.0, x).times(Term::of(b.0, y))).collect()
}

/// Compares additions by one rule, all terms of which are aligned together. Returns how many, and how many lost bits.
fn check_rule(line: &Value) -> (u32, u32) {
    let [a_format, b_format, c_format] = ["a_format", "b_format", "c_format"].map(|key| named(line, key));
    // The script writes a float32 with 13 fraction bits as a float32.
    let (result, low_bits) = match line["result"].as_str().unwrap() {
        "f32_e8m13" => ("e8m13", 10),
        "f32" => ("float32", 0),
        _ => ("float16", 0),
    };
    let result = format(result);
    let rule = AlignedRule {
        fraction_bits: line["fraction_bits"].as_u64().unwrap() as u32,
        cut: if line["cut"] == "zero" { Rounding::TowardZero } else { Rounding::Floor },
        incoming: Incoming::Term,
        result,
        result_rounding: if result == format("float16") { Rounding::HalfEven } else { Rounding::TowardZero },
        negative_zero: line["negative_zero"].as_bool().unwrap(),
        nan: (1 << (result.bits() - 1)) - 1,
    };
    let [a, b] = ["a", "b"].map(|key| line[key].as_array().unwrap().iter().map(codes).collect::<Vec<_>>());
    let (mut compared, mut cut) = (0, 0);
    for (((a, b), c), d) in a.iter().zip(&b).zip(codes(&line["c"])).zip(codes(&line["d"])) {
        let sum = rule.add(&products((a_format, a), (b_format, b)), Term::of(c_format, c));
        assert_eq!(sum.code, d >> low_bits, "{rule:?} {a_format} {b_format} {a:?} {b:?} {c:#x}");
        compared += 1;
        cut += u32::from(sum.cut_terms > 0);
    }
    (compared, cut)
}

/// Compares additions of a unit with block scales, or of one that adds the accumulator apart. Returns how many.
fn check_unit(line: &Value) -> u32 {
    let name = line["unit"].as_str().unwrap();
    let (unit_name, scale) = match name {
        "mxf8f6f4" => ("blackwell tcgen05 mxf8f6f4", "ue8m0"),
        "mxf4" => ("blackwell tcgen05 mxf4nvf4", "ue8m0"),
        "nvf4" => ("blackwell tcgen05 mxf4nvf4", "ue4m3"),
        name => (name, "ue8m0"),
    };
    let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == unit_name).unwrap();
    let (rule, scale) = (unit.rule(format("float32")), format(scale));
    let [a_format, b_format] = ["a_format", "b_format"].map(|key| named(line, key));
    let cases = line["cases"].as_array().unwrap();
    for case in cases {
        let (a, b) = (codes(&case[0]), codes(&case[1]));
        let scales: Vec<Vec<u32>> = case[2].as_array().unwrap().iter().map(codes).collect();
        let [c, expected] = [&case[3], &case[4]].map(|code| code.as_u64().unwrap() as u32);
        let products = products((a_format, &a), (b_format, &b));
        let scaled = |term: Term, at: usize| {
            let pair = &scales[at * scales.len() / a.len()];
            term.times(Term::of(scale, pair[0])).times(Term::of(scale, pair[1]))
        };
        let terms: Vec<Term> = match unit.scales {
            BlockScales::None => products,
            BlockScales::Whole => products.into_iter().map(|product| scaled(product, 0)).collect(),
            BlockScales::Groups(size) => {
                let groups = products.chunks(size).enumerate();
                groups
                    .map(|(group, products)| scaled(Term::exact(products.iter().copied()), group * size))
                    .collect()
            }
        };
        let found = rule.add(&terms, Term::of(rule.result, c)).code;
        assert_eq!(found, expected, "{name} {a_format} {b_format} {case}");
    }
    cases.len() as u32
}

/// Compares dot products of Hopper's wgmma, with or without promotion. Returns how many.
fn check_dots(line: &Value) -> u32 {
    let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == "hopper wgmma fp8").unwrap();
    let promotion =
        line["promotion"].as_u64().filter(|&additions| additions > 0).map(|additions| additions as usize);
    let dot = AlignedDot { rule: unit.rule(format("e8m13")), terms: unit.terms, promotion };
    let [a, b] = ["a", "b"].map(|key| line[key].as_array().unwrap().iter().map(codes).collect::<Vec<_>>());
    let e4m3 = format("e4m3fn");
    for ((a, b), d) in a.iter().zip(&b).zip(codes(&line["d"])) {
        let found = dot.run(&products((e4m3, a), (e4m3, b))).code;
        let equal = match promotion {
            None => found == d >> 10,
            Some(_) => found == d || [found, d].iter().all(|&code| f32::from_bits(code).is_nan()),
        };
        assert!(equal, "{promotion:?}: {a:?} {b:?}: {found:#x}, not {d:#x}");
    }
    a.len() as u32
}

/// Compares dot products of a unit that adds pairwise in float32. Returns how many.
fn check_pairwise(line: &Value) -> u32 {
    let (name, dot) = PairwiseDot::UNITS.into_iter().find(|unit| line["pairwise"] == unit.0).unwrap();
    let operand = named(line, "a_format");
    let [a, b] = ["a", "b"].map(|key| line[key].as_array().unwrap().iter().map(codes).collect::<Vec<_>>());
    for (((a, b), c), d) in a.iter().zip(&b).zip(codes(&line["c"])).zip(codes(&line["d"])) {
        let found = dot.run(operand, a, b, c);
        let both_nan = [found, d].iter().all(|&code| f32::from_bits(code).is_nan());
        assert!(found == d || both_nan, "{name}: {a:?} {b:?} {c:#x}: {found:#x}, not {d:#x}");
    }
    a.len() as u32
}

#[test]
fn promotion_keeps_what_the_accumulator_would_cut() {
    let unit = MatrixUnit::ALL.into_iter().find(|unit| unit.name == "hopper wgmma fp8").unwrap();
    let rule = unit.rule(format("e8m13"));
    let one = Term::of(format("e4m3fn"), 0x38).times(Term::of(format("e4m3fn"), 0x38));
    let ones = vec![one; 1 << 15];
    // Beside 2^14, each 1 is cut to zero before the terms are added, however many there are.
    let sum = |terms, promotion| AlignedDot { rule, terms, promotion }.run(&ones);
    for terms in [1, 32] {
        let stuck = sum(terms, None);
        assert_eq!((value(rule.result, stuck.code), stuck.vanished_terms), (16384.0, 1 << 14));
        assert_eq!((stuck.cut_terms, stuck.exact_fraction_bits), (1 << 14, 14));
    }
    let promoted = sum(1, Some(128));
    assert_eq!((f32::from_bits(promoted.code), promoted.cut_terms), (32768.0, 0));
    assert_eq!(AlignedDot { rule, terms: 32, promotion: Some(4) }.run(&[]).code, 0);
}

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn sums_equal_a_second_implementation() {
    let python = std::env::var("GUARDBIT_ORACLE_PYTHON").expect("GUARDBIT_ORACLE_PYTHON");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/second/check_aligned.py");
    let ran = Command::new(python).args([script, "--cases", "4000", "--print", "100000"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (mut compared, mut cut, mut of_units) = (0, 0, 0);
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line.get("pairwise").is_some() {
            of_units += check_pairwise(&line);
        } else if line.get("promotion").is_some() {
            of_units += check_dots(&line);
        } else if line.get("unit").is_some() {
            of_units += check_unit(&line);
        } else {
            let (additions, lossy) = check_rule(&line);
            (compared, cut) = (compared + additions, cut + lossy);
        }
    }
    println!("{compared} additions compared, {cut} with cut terms, and {of_units} of other units");
    assert!(compared >= 100_000 && cut > 10_000 && of_units >= 8000, "{compared}, {cut}, {of_units}");
}
