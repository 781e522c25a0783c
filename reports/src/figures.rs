//! Numbers rounded once, as files store them, so that a table, its JSON and a resumed run agree to the byte.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Share of a whole, 0 to 1, rounded to six decimals.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fraction(f64);

/// Ratio in dB, rounded to six significant digits and at most six decimals. It is `inf` without noise and
/// `-inf` with noise but without signal. Tables hold these words; JSON, which has no infinite numbers, holds
/// `null`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Decibel(f64);

/// Width of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Width {
    /// Fixed number of bits.
    Bits(u32),
    /// Wide enough for every sum.
    #[default]
    Auto,
}

impl Fraction {
    /// Returns `part / whole`, or `None` if `whole` is 0. The result is 0 only if `part` is 0, and 1 only if
    /// `part` equals `whole`.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        let share = || match Self::new(part as f64 / whole as f64) {
            Self(0.0) if part > 0 => Self(0.000_001),
            Self(1.0) if part < whole => Self(0.999_999),
            share => share,
        };
        (whole > 0).then(share)
    }

    /// Returns `value` rounded to six decimals.
    pub fn new(value: f64) -> Self {
        Self((value * 1e6).round() / 1e6)
    }

    /// Returns the value.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Decibel {
    /// Returns `value` rounded.
    pub fn new(value: f64) -> Self {
        if value.is_finite() {
            let digits: f64 = format!("{value:.5e}").parse().expect("a formatted number is one");
            let decimals = (digits * 1e6).round() / 1e6;
            let rounded = if digits.abs() < 1.0 { decimals } else { digits };
            Self(if rounded == 0.0 { 0.0 } else { rounded })
        } else {
            Self(value)
        }
    }

    /// Returns the infinite ratio that JSON stores as `null`: `inf` if no code differs (`mismatch` is 0),
    /// `-inf` otherwise.
    pub(crate) fn infinite(mismatch: u64) -> Self {
        Self(if mismatch == 0 { f64::INFINITY } else { f64::NEG_INFINITY })
    }

    /// Returns the value.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Width {
    /// Returns the number of bits, or `None` for [`Auto`](Self::Auto).
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::Auto => None,
        }
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Decibel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => bits.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl Serialize for Decibel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // JSON writes an infinite value as `null`.
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Decibel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Db;
        impl Visitor<'_> for Db {
            type Value = Decibel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Decibel, E> {
                Ok(Decibel::new(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Decibel, E> {
                Ok(Decibel::new(value as f64))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Decibel, E> {
                Ok(Decibel::new(value as f64))
            }
        }
        deserializer.deserialize_any(Db)
    }
}

/// Serialized as a number, or as the string `auto`.
impl Serialize for Width {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bits(bits) => serializer.serialize_u32(*bits),
            Self::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Width {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bits;
        impl Visitor<'_> for Bits {
            type Value = Width;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bits or \"auto\"")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Width, E> {
                let bits = u32::try_from(value);
                bits.map(Width::Bits).map_err(|_| E::custom(format!("{value} bits")))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Width, E> {
                match value {
                    "auto" => Ok(Width::Auto),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(value), &self)),
                }
            }
        }
        deserializer.deserialize_any(Bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_json<T: Serialize + for<'a> Deserialize<'a>>(value: &T) -> (String, T) {
        let json = serde_json::to_string(value).unwrap();
        let back = serde_json::from_str(&json).unwrap();
        (json, back)
    }

    #[test]
    fn decibels_survive_json() {
        let cases = [
            (34.567_891_2, "34.5679"),
            (-0.004_604_881_2, "-0.004605"),
            (-0.000_000_123, "0.0"),
            (-0.0, "0.0"),
            (12.0, "12.0"),
        ];
        for (value, expected) in cases {
            let (json, back) = through_json(&Decibel::new(value));
            assert_eq!(json, expected);
            assert_eq!(back, Decibel::new(value));
        }
        for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(serde_json::to_string(&Decibel::new(infinite)).unwrap(), "null");
        }
        assert!(serde_json::from_str::<Decibel>("\"inf\"").is_err());
    }

    #[test]
    fn widths_survive_json() {
        for (width, expected) in [(Width::Bits(14), "14"), (Width::Auto, "\"auto\"")] {
            assert_eq!(through_json(&width), (expected.into(), width));
        }
        assert!(serde_json::from_str::<Width>("\"wide\"").is_err());
        assert!(serde_json::from_str::<Width>("99999999999").is_err());
    }

    #[test]
    fn fractions_have_six_decimals() {
        assert_eq!(Fraction::of(532, 540).unwrap().to_string(), "0.985185");
        assert_eq!(Fraction::of(1, 1_000_000).unwrap().to_string(), "0.000001");
        assert_eq!(Fraction::of(0, 0), None);
        assert_eq!(Fraction::of(9_999_999, 10_000_000).unwrap().value(), 0.999_999);
        assert_eq!(Fraction::of(1, 10_000_000).unwrap().value(), 0.000_001);
        assert_eq!(through_json(&Fraction::of(1, 3).unwrap()).0, "0.333333");
    }
}
