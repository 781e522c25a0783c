//! Tests of overflowing registers on published cases, written as integers.

use guardbit_num::Direction::{High, Low};
use guardbit_num::{Accumulator, Direction, Fit, Format, MAX_BITS, Overflow, WidthError, required_bits};

use Overflow::{Observe, Saturate, SaturateSymmetric, SaturateZero, Sticky, Trap, Wrap};

/// Adds `terms` one by one and returns the final value and the positions of the events.
fn accumulate(bits: u32, overflow: Overflow, terms: &[i128]) -> (i128, Vec<usize>) {
    let mut register = Accumulator::new(Format::signed(bits).unwrap(), overflow);
    let events = terms.iter().enumerate().filter(|(_, term)| register.add(**term).is_some());
    let events = events.map(|(index, _)| index).collect();
    (register.value(), events)
}

fn check(bits: u32, terms: &[i128], expected: &[(Overflow, i128, &[usize])]) {
    for (overflow, value, events) in expected {
        let found = accumulate(bits, *overflow, terms);
        assert_eq!(found, (*value, events.to_vec()), "{overflow}, {bits} bits, {terms:?}");
    }
}

/// Products and widths from bug reports about real libraries.
#[test]
fn published_dot_products() {
    // onnxruntime #31573: a pair of int8 products in int16.
    check(16, &[128 * 128, 128 * 128], &[(Wrap, -32768, &[1]), (Saturate, 32767, &[1])]);
    check(16, &[128 * 128, 127 * 127], &[(Wrap, 32513, &[])]);
    // pytorch #44939: uint8 times int8 in int16.
    check(16, &[211 * 71, 171 * 107], &[(Saturate, 32767, &[1]), (Observe, 33278, &[1])]);
    // The x86 instruction vpmaddubsw.
    check(16, &[255 * 127, 255 * 127], &[(Saturate, 32767, &[1])]);
    check(16, &[255 * -127, 255 * -127], &[(Saturate, -32768, &[1])]);
    // apytypes #857: ten products of 1 in 3 bits.
    check(
        3,
        &[1; 10],
        &[(Saturate, 3, &[3, 4, 5, 6, 7, 8, 9]), (Wrap, 2, &[3]), (Observe, 10, &[3, 4, 5, 6, 7, 8, 9])],
    );
}

#[test]
fn the_order_of_products_decides() {
    let transient = [100, 100, -100, -100];
    check(
        8,
        &transient,
        &[(Wrap, 0, &[1, 2]), (Saturate, -73, &[1]), (Observe, 0, &[1]), (SaturateZero, 0, &[1, 3])],
    );
}

#[test]
fn interleaved_products_never_overflow() {
    for overflow in Overflow::ALL {
        check(8, &[100, -100, 100, -100], &[(overflow, 0, &[])]);
    }
}

#[test]
fn persistent_overflow() {
    check(
        8,
        &[100, 100, 100, -100],
        &[(Wrap, -56, &[1]), (Saturate, 27, &[1, 2]), (SaturateZero, 0, &[1]), (Sticky, 127, &[1])],
    );
}

#[test]
fn an_int14_accumulator() {
    let there_and_back = [[225; 40], [-225; 40]].concat();
    check(14, &there_and_back, &[(Wrap, 0, &[36, 43]), (Saturate, -809, &[36, 37, 38, 39])]);
    check(14, &[120; 69], &[(Wrap, -8104, &[68]), (Saturate, 8191, &[68])]);
    check(14, &[120; 68], &[(Wrap, 8160, &[]), (Saturate, 8160, &[])]);
}

#[test]
fn a_sticky_register_holds_the_first_rail() {
    check(8, &[100, 100, -100, -100, -100], &[(Sticky, 127, &[1])]);
    check(8, &[-100, -100, 100, 100, 100], &[(Sticky, -128, &[1])]);
}

#[test]
fn a_preload_can_cross_a_rail() {
    let format = Format::signed(8).unwrap();
    let load = |overflow, initial| {
        let (mut register, direction) = Accumulator::preloaded(format, overflow, initial);
        let event = register.add(-1);
        (direction, event, register.value())
    };
    assert_eq!(load(Saturate, 200), (Some(High), None, 126));
    assert_eq!(load(Wrap, 200), (Some(High), None, -57));
    assert_eq!(load(Sticky, 200), (Some(High), None, 127));
    assert_eq!(load(Sticky, -200), (Some(Low), None, -128));
    assert_eq!(load(Saturate, -128), (None, Some(Low), -128));
}

fn fit(overflow: Overflow, bits: u32, signed: bool, exact: i128) -> (i128, Option<Direction>) {
    let Fit { value, overflow } = overflow.fit(exact, Format::new(bits, signed).unwrap());
    (value, overflow)
}

/// The examples of AMD's UG1399 for `ap_fixed<4, 4>` and `ap_ufixed<4, 4>`.
#[test]
fn four_bits() {
    let cases = [
        (Saturate, true, 19, 7, High),
        (Saturate, true, -19, -8, Low),
        (SaturateSymmetric, true, 19, 7, High),
        (SaturateSymmetric, true, -19, -7, Low),
        (SaturateSymmetric, true, -8, -7, Low),
        (SaturateZero, true, 19, 0, High),
        (SaturateZero, true, -19, 0, Low),
        (Wrap, true, 31, -1, High),
        (Wrap, true, -19, -3, Low),
        (Saturate, false, -19, 0, Low),
        (Saturate, false, 19, 15, High),
        (SaturateSymmetric, false, -19, 0, Low),
        (SaturateZero, false, 19, 0, High),
        (Wrap, false, 19, 3, High),
        (Wrap, false, -19, 13, Low),
        (Observe, true, 19, 19, High),
        (Trap, true, -19, -19, Low),
        (Sticky, true, 19, 7, High),
    ];
    for (overflow, signed, exact, value, direction) in cases {
        let found = fit(overflow, 4, signed, exact);
        assert_eq!(found, (value, Some(direction)), "{overflow} of {exact}, signed: {signed}");
    }
    for overflow in Overflow::ALL {
        assert_eq!(fit(overflow, 4, true, -7), (-7, None));
        assert_eq!(fit(overflow, 4, false, 15), (15, None));
    }
}

/// hls4ml #68: 8.99 in `ap_fixed<10, 4>`, which has 6 fraction bits.
#[test]
fn fixed_point_numbers_are_scaled_integers() {
    let scaled = (8.99f64 * 64.0).floor() as i128;
    assert_eq!(fit(Wrap, 10, true, scaled).0 as f64 / 64.0, -7.015625);
    assert_eq!(fit(Saturate, 10, true, scaled).0 as f64 / 64.0, 7.984375);
}

#[test]
fn widths() {
    assert_eq!(Format::signed(1), Err(WidthError { bits: 1 }));
    assert_eq!(Format::signed(65).unwrap_err().to_string(), "a width of 65 bits is outside 2..=64");
    let widest = Format::new(64, false).unwrap();
    assert_eq!((widest.min(), widest.max()), (0, u64::MAX.into()));
    let cases = [
        (0, 1, 1),
        (1, 2, 1),
        (-1, 1, MAX_BITS + 1),
        (127, 8, 7),
        (128, 9, 8),
        (-128, 8, MAX_BITS + 1),
        (-129, 9, MAX_BITS + 1),
        (255, 9, 8),
        (8191, 14, 13),
        (8192, 15, 14),
    ];
    for (value, signed, unsigned) in cases {
        assert_eq!(required_bits(value, true), signed, "{value}");
        assert_eq!(required_bits(value, false), unsigned, "{value}");
    }
}

#[test]
fn modes_are_read_by_name() {
    for overflow in Overflow::ALL {
        assert_eq!(overflow.name().parse(), Ok(overflow));
        assert_eq!(overflow.to_string(), overflow.name());
    }
    let error = "clip".parse::<Overflow>().unwrap_err().to_string();
    assert!(error.starts_with("unknown overflow mode `clip`; the modes are wrap,"), "{error}");
    assert_eq!([High.name(), Low.name()], ["high", "low"]);
}

/// Names and codes of modes differ, and an unknown mode is an error.
#[test]
fn modes_are_told_apart() {
    for (index, overflow) in Overflow::ALL.into_iter().enumerate() {
        assert_eq!(overflow.code() as usize, index);
        let namesakes = Overflow::ALL.iter().filter(|other| other.name() == overflow.name());
        assert_eq!(namesakes.count(), 1, "{overflow}");
        let inputs = ["exact", "wrapped", "rail", "min", "max", "zero"];
        assert!(inputs.iter().any(|value| overflow.hdl().contains(value)));
        assert!(!overflow.meaning().is_empty());
    }
}

/// A register of a fixed format holds only values that fit, and its bounds contain every one of them.
#[test]
fn what_is_held_fits_and_is_bounded() {
    for (overflow, signed) in Overflow::ALL.into_iter().flat_map(|mode| [(mode, true), (mode, false)]) {
        let format = Format::new(4, signed).unwrap();
        for (min, max) in (-40..=40).flat_map(|min| (min..=40).map(move |max| (min, max))) {
            let (least, greatest) = overflow.fit_range(min, max, format);
            let held = [min, max, (min + max) / 2].map(|exact| overflow.fit(exact, format).value);
            assert!(held.iter().all(|held| (least..=greatest).contains(held)), "{overflow} {min} {max}");
            let fits = |held: &i128| (format.min()..=format.max()).contains(held);
            assert!(overflow.keeps_exact() || held.iter().all(fits), "{overflow} {min} {max}");
        }
    }
}
