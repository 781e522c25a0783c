//! Laws that hold for every width, value and order.

use fixed::types::{I1F31, I32F0};
use guardbit_num::fixed_point::{rounding_divide_by_power_of_two, saturating_rounding_doubling_high_mul};
use guardbit_num::{
    Accumulator, Format, MAX_BITS, MIN_BITS, Multiplier, Overflow, Requantizer, Rounding, Scheme,
    required_bits,
};
use proptest::prelude::*;

fn formats() -> impl Strategy<Value = Format> {
    (MIN_BITS..=MAX_BITS, any::<bool>()).prop_map(|(bits, signed)| Format::new(bits, signed).unwrap())
}

fn modes() -> impl Strategy<Value = Overflow> {
    prop::sample::select(Overflow::ALL.to_vec())
}

/// Generates values within and beyond the rails of a format.
fn values() -> impl Strategy<Value = i128> {
    (any::<i64>(), 0u32..64).prop_map(|(value, shift)| i128::from(value >> shift) * 3)
}

fn run(format: Format, overflow: Overflow, terms: &[i128]) -> Vec<i128> {
    let mut register = Accumulator::new(format, overflow);
    terms.iter().map(|&term| (register.add(term), register.value()).1).collect()
}

/// Returns the multiple of `2^shift` that `rounding` chooses, found by comparing both neighbours.
fn nearest(rounding: Rounding, value: i128, shift: u32) -> i128 {
    let unit = 1i128 << shift;
    let below = value.div_euclid(unit);
    let above = below + i128::from(below * unit != value);
    let (to_below, to_above) = (value - below * unit, above * unit - value);
    let toward_zero = if value < 0 { above } else { below };
    let away = if value < 0 { below } else { above };
    let even = if below % 2 == 0 { below } else { above };
    match rounding {
        Rounding::Floor => below,
        Rounding::TowardZero => toward_zero,
        _ if to_below < to_above => below,
        _ if to_above < to_below => above,
        Rounding::HalfUp => above,
        Rounding::HalfDown => below,
        Rounding::HalfAway => away,
        Rounding::HalfToZero => toward_zero,
        Rounding::HalfEven => even,
        Rounding::HalfOdd => below + above - even,
    }
}

proptest! {
    #[test]
    fn wrapping_sums_do_not_depend_on_the_order(
        format in formats(),
        (terms, shuffled) in prop::collection::vec(values(), 1..40)
            .prop_flat_map(|terms| (Just(terms.clone()), Just(terms).prop_shuffle())),
    ) {
        let last = |terms: &[i128]| run(format, Overflow::Wrap, terms).pop();
        prop_assert_eq!(last(&terms), last(&shuffled));
        prop_assert_eq!(last(&terms), Some(format.wrap(terms.iter().sum())));
    }

    #[test]
    fn what_was_fitted_fits(format in formats(), overflow in modes(), value in values()) {
        let fit = overflow.fit(value, format);
        let (low, high) = overflow.limits(format);
        prop_assert_eq!(fit.overflow.is_some(), value < low || value > high);
        if !matches!(overflow, Overflow::Observe | Overflow::Trap) {
            prop_assert!(format.holds(fit.value));
            prop_assert_eq!(overflow.fit(fit.value, format).value, fit.value);
            prop_assert_eq!(overflow.fit(fit.value, format).overflow, None);
        } else {
            prop_assert_eq!(fit.value, value);
        }
    }

    #[test]
    fn wrapping_keeps_the_value_modulo_the_width(format in formats(), value in values()) {
        prop_assert_eq!((format.wrap(value) - value) % (1i128 << format.bits()), 0);
    }

    #[test]
    fn saturating_is_the_nearest_value_that_fits(format in formats(), value in values()) {
        let fitted = Overflow::Saturate.fit(value, format).value;
        prop_assert_eq!(fitted, value.clamp(format.min(), format.max()));
    }

    #[test]
    fn a_sticky_register_saturates_once_and_stays(
        format in formats(),
        terms in prop::collection::vec(values(), 1..40),
    ) {
        let sticky = run(format, Overflow::Sticky, &terms);
        let saturating = run(format, Overflow::Saturate, &terms);
        let mut exact = 0;
        let prefixes = terms.iter().map(|term| { exact += term; exact }).collect::<Vec<_>>();
        let first = prefixes.iter().position(|&prefix| !format.holds(prefix)).unwrap_or(terms.len());
        let end = (first + 1).min(terms.len());
        prop_assert_eq!(&sticky[..end], &saturating[..end]);
        prop_assert!(sticky[end..].iter().all(|&value| value == sticky[first]));
    }

    #[test]
    fn without_an_event_every_mode_is_exact(
        terms in prop::collection::vec(-1000i128..1000, 1..40),
        overflow in modes(),
    ) {
        let format = Format::signed(17).unwrap();
        prop_assert_eq!(run(format, overflow, &terms).pop(), Some(terms.iter().sum()));
    }

    #[test]
    fn rounding_chooses_the_right_neighbour(
        rounding in prop::sample::select(Rounding::ALL.to_vec()),
        value in -(1i128 << 90)..(1i128 << 90),
        small in -64i128..64,
        shift in 0u32..100,
    ) {
        prop_assert_eq!(rounding.shift_right(value, shift), nearest(rounding, value, shift));
        prop_assert_eq!(rounding.shift_right(small, shift % 5), nearest(rounding, small, shift % 5));
    }

    #[test]
    fn required_bits_are_the_fewest(value in any::<i64>(), signed: bool) {
        let bits = required_bits(value.into(), signed);
        let holds = |bits| Format::new(bits, signed).is_ok_and(|format| format.holds(value.into()));
        prop_assert!(holds(bits.max(MIN_BITS)) || (!signed && value < 0 && bits == MAX_BITS + 1));
        prop_assert!(!holds(bits - 1));
    }

    #[test]
    fn high_multiplication_is_gemmlowps(a: i32, b: i32) {
        let product = i64::from(a) * i64::from(b);
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        let expected = if (a, b) == (i32::MIN, i32::MIN) { i32::MAX } else { ((product + nudge) / (1 << 31)) as i32 };
        let product = saturating_rounding_doubling_high_mul(I32F0::from_bits(a), I1F31::from_bits(b));
        prop_assert_eq!(product, expected);
    }

    #[test]
    fn division_is_gemmlowps(x: i32, exponent in 0u32..32) {
        let mask = (1i64 << exponent) - 1;
        let x = i64::from(x);
        let threshold = (mask >> 1) + i64::from(x < 0);
        let expected = (x >> exponent) + i64::from((x & mask) > threshold);
        prop_assert_eq!(i64::from(rounding_divide_by_power_of_two(I32F0::from_bits(x as i32), exponent).to_bits()), expected);
    }

    #[test]
    fn two_roundings_are_at_most_one_off(x in any::<i32>(), real in 2f64.powi(-16)..1.0) {
        let multiplier = Multiplier::new(real).unwrap();
        let scale = |scheme| Requantizer::new(scheme, multiplier).scale(x.into());
        prop_assert!((scale(Scheme::Double) - scale(Scheme::Single)).abs() <= 1);
        prop_assert!((scale(Scheme::Single) - scale(Scheme::Away)).abs() <= 1);
    }

    /// Holds to the precision of the scheme's significand, at least 15 bits, if the result fits 32 bits.
    #[test]
    fn every_scheme_follows_every_multiplier(
        fraction in 0.5f64..1.0,
        exponent in -31i32..=29,
        product in -2f64.powi(29)..2f64.powi(29),
    ) {
        let real = fraction * 2f64.powi(exponent);
        let x = (product / real).clamp(-2f64.powi(31), 2f64.powi(31) - 1.0) as i128;
        let product = real * x as f64;
        for &scheme in Scheme::ALL {
            let scaled = Requantizer::new(scheme, Multiplier::new(real).unwrap()).scale(x) as f64;
            prop_assert!((scaled - product).abs() <= 1.0 + product.abs() * 2f64.powi(-14), "{}: {}", scheme, scaled);
        }
    }

    #[test]
    fn every_scheme_is_within_one_of_the_product(x in -4096i128..4096, real in 2f64.powi(-14)..2.0) {
        let multiplier = Multiplier::new(real).unwrap();
        for &scheme in Scheme::ALL {
            let error = Requantizer::new(scheme, multiplier).scale(x) as f64 - real * x as f64;
            prop_assert!(error.abs() <= 1.0, "{}: {} off", scheme, error);
        }
    }

    #[test]
    fn a_multiplier_is_its_significand_and_exponent(real in 2f64.powi(-30)..2f64.powi(29)) {
        let multiplier = Multiplier::new(real).unwrap();
        let rebuilt = f64::from(multiplier.significand()) * 2f64.powi(multiplier.exponent() - 31);
        prop_assert!((rebuilt / real - 1.0).abs() <= 2f64.powi(-31));
        prop_assert!(multiplier.significand() >= 1 << 30);
    }

    #[test]
    fn dividing_a_multiplier_cuts_less_than_one_unit(real in 0.01f64..2.0, count in 1u64..100_000) {
        let divided = Multiplier::new(real).unwrap().divided_by(count);
        let rebuilt = f64::from(divided.significand()) * 2f64.powi(divided.exponent() - 31);
        prop_assert!((rebuilt * count as f64 / real - 1.0).abs() <= 2f64.powi(-28));
    }
}

proptest! {
    /// Compares the range of values that a register can hold with every result of a short range.
    #[test]
    fn ranges_of_fits(bits in MIN_BITS..8, signed: bool, overflow in modes(), from in -600i128..600, length in 0i128..300) {
        let format = Format::new(bits, signed).unwrap();
        let fits: Vec<i128> = (from..=from + length).map(|exact| overflow.fit(exact, format).value).collect();
        let (least, greatest) = overflow.fit_range(from, from + length, format);
        prop_assert!(fits.iter().all(|fit| (least..=greatest).contains(fit)), "{overflow}: {least}..={greatest}");
        if [Overflow::Saturate, Overflow::SaturateSymmetric, Overflow::Observe].contains(&overflow) {
            prop_assert_eq!((Some(&least), Some(&greatest)), (fits.iter().min(), fits.iter().max()));
        }
    }
}
