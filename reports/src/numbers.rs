//! Numbers formatted for people.

use crate::Fraction;

/// Returns a probability as text, with three significant digits, or two if it is below 1e-4.
pub fn probability(p: f64) -> String {
    if p != 0.0 && p < 1e-4 { format!("{p:.1e}") } else { significant(p).to_string() }
}

/// Returns a whole number with all its digits, in groups of three, and others with at most four significant digits. From
/// 10,000 on, others end with the letter of their unit (k, M, G, T), so that no rounded digit looks exact.
pub fn figure(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    if size < 1e15 && size.fract() == 0.0 {
        return sign.to_owned() + &grouped(size as u64);
    }
    if !(1e-4..1e15).contains(&size) {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        return if rounded.is_finite() { format!("{rounded:e}") } else { size.to_string() };
    }
    let units = [(1e12, 1e12, " T"), (1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k")];
    let (_, unit, letter) = units.into_iter().find(|(least, ..)| size >= *least).unwrap_or((0.0, 1.0, ""));
    let digits: f64 = format!("{:.3e}", size / unit).parse().unwrap_or(size);
    let text = digits.to_string();
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    format!("{sign}{}{rest}{letter}", whole.parse().map_or_else(|_| whole.to_owned(), grouped))
}

/// Returns the digits of `value` in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a count for a table: in groups of three digits, or with three significant digits from a million on:
/// `4.7 M`.
pub fn human(value: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e18, "E"), (1e12, "T"), (1e9, "G"), (1e6, "M")];
    let rounded = significant(value as f64);
    match UNITS.into_iter().find(|(unit, _)| rounded >= *unit && value >= 1_000_000) {
        Some((unit, name)) => format!("{} {name}", rounded / unit),
        None => grouped(value),
    }
}

/// Returns a time in the unit that suits it, with three significant digits: `18.0 ms`.
pub fn duration(micros: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e6, "s"), (1e3, "ms"), (1.0, "\u{b5}s")];
    let rounded = significant(micros);
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| rounded >= *unit).unwrap_or((1e-3, "ns"));
    let value = rounded / unit;
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {name}")
}

/// Returns an energy in the unit that suits it, with three significant digits: `141 nJ`.
pub fn energy(picojoules: f64) -> String {
    const UNITS: [(f64, &str); 5] = [(1e12, "J"), (1e9, "mJ"), (1e6, "\u{b5}J"), (1e3, "nJ"), (1.0, "pJ")];
    let rounded = significant(picojoules);
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| rounded >= *unit).unwrap_or((1.0, "pJ"));
    format!("{} {name}", significant(rounded / unit))
}

/// Returns the number with three significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Returns a ratio in decibels with one decimal.
pub(crate) fn decibels(value: f64) -> String {
    if value.is_finite() { format!("{value:.1} dB") } else { value.to_string() }
}

/// Returns a count with its noun: `1 sample`, `540 samples`, `2 classes`, `3 design points`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if what.ends_with(['s', 'x', 'z']) || what.ends_with("ch") || what.ends_with("sh") {
        "es"
    } else {
        "s"
    };
    format!("{} {what}{}", grouped(count), number(count, "", plural))
}

/// Returns `one` if `count` is 1, and `others` otherwise.
pub fn number<'a>(count: u64, one: &'a str, others: &'a str) -> &'a str {
    if count == 1 { one } else { others }
}

/// Returns `value` rounded to `decimals` decimals.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let unit = 10f64.powi(decimals);
    (value * unit).round() / unit
}

/// Returns a share as a percentage with at most two decimals. Only a share of 0 is `0 %`, and only a share of
/// 1 is `100 %`.
pub fn percentage(share: Fraction) -> String {
    match (share.value(), (share.value() * 1e4).round()) {
        (value, 0.0) if value > 0.0 => "less than 0.01 %".into(),
        (value, 1e4) if value < 1.0 => "more than 99.99 %".into(),
        (_, hundredths) => format!("{} %", hundredths / 1e2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (value, text) in [
            (0.0, "0"),
            (0.123456, "0.1235"),
            (1.0, "1"),
            (9.9996, "10"),
            (25271.866667, "25.27 k"),
            (1603285.147097, "1.603 M"),
            (123456789.0, "123,456,789"),
            (-1234.56, "-1,235"),
            (0.00001234567, "1.235e-5"),
        ] {
            assert_eq!(figure(value), text);
        }
        for (value, text) in [
            (0, "0"),
            (999_499, "999,499"),
            (999_999, "999,999"),
            (1_000_000, "1 M"),
            (4_700_123, "4.7 M"),
            (999_999_999, "1 G"),
            (u64::MAX, "18.4 E"),
        ] {
            assert_eq!(human(value), text);
        }
        for (micros, text) in [
            (0.0, "0.00 ns"),
            (0.25, "250 ns"),
            (11.946667, "11.9 \u{b5}s"),
            (999.99, "1.00 ms"),
            (18_000.0, "18.0 ms"),
            (1_234_567.0, "1.23 s"),
        ] {
            assert_eq!(duration(micros), text);
        }
        for (picojoules, text) in [
            (0.0, "0 pJ"),
            (0.06, "0.06 pJ"),
            (999.9, "1 nJ"),
            (140_524.171, "141 nJ"),
            (4.2123e12, "4.21 J"),
        ] {
            assert_eq!(energy(picojoules), text);
        }
        for (p, text) in [(0.0, "0"), (0.179_688, "0.18"), (0.000_012_345, "1.2e-5"), (1.0, "1")] {
            assert_eq!(probability(p), text);
        }
        assert_eq!([decibels(-0.272), decibels(f64::INFINITY)], ["-0.3 dB", "inf"]);
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "sample"), "1 sample");
        assert_eq!(counted(540, "sample"), "540 samples");
        assert_eq!(counted(1, "correct class"), "1 correct class");
        assert_eq!(counted(395, "correct class"), "395 correct classes");
        assert_eq!(counted(0, "layer"), "0 layers");
        assert_eq!(percentage(Fraction::of(532, 540).unwrap()), "98.52 %");
        assert_eq!(percentage(Fraction::of(1, 1).unwrap()), "100 %");
        assert_eq!(percentage(Fraction::of(99_999, 100_000).unwrap()), "more than 99.99 %");
        assert_eq!(percentage(Fraction::of(1, 100_000).unwrap()), "less than 0.01 %");
    }
}
