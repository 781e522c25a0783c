//! Conditions that leave points of a sweep out.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::AxisError;

/// `A OP B`, where OP is one of `==`, `!=`, `<`, `<=`, `>`, `>=`, and A and B are keys of axes or values. Two numbers are
/// compared as such; other values are equal or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    left: String,
    comparison: Comparison,
    right: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer ones first.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Condition {
    /// Both sides.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [self.left.as_str(), &self.right].into_iter()
    }

    /// Whether it holds where `value` gives what an axis has.
    pub(super) fn holds<'a>(&'a self, value: impl Fn(&str) -> Option<&'a str>) -> bool {
        let side = |name: &'a str| value(name).unwrap_or(name);
        let (left, right) = (side(&self.left), side(&self.right));
        let number = |text: &str| text.parse::<f64>().ok();
        let order = match (number(left), number(right)) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => (left == right).then_some(Ordering::Equal),
        };
        match self.comparison {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::Unequal => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => order.is_some_and(Ordering::is_le),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

impl FromStr for Condition {
    type Err = AxisError;

    fn from_str(text: &str) -> Result<Self, AxisError> {
        let found = COMPARISONS.iter().find_map(|&(sign, comparison)| {
            let (left, right) = text.split_once(sign)?;
            Some((left.trim(), comparison, right.trim()))
        });
        match found {
            Some((left, comparison, right)) if !left.is_empty() && !right.is_empty() => {
                Ok(Self { left: left.into(), comparison, right: right.into() })
            }
            _ => Err(AxisError::Where(format!(
                "`{text}` is no condition: write A OP B with ==, !=, <, <=, > or >=, and keys of axes or values"
            ))),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = COMPARISONS.iter().find(|(_, one)| *one == self.comparison).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {}", self.left, self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::Condition;

    fn check(text: &str, a: &str, b: &str, expected: bool) {
        let condition: Condition = text.parse().unwrap();
        let value = |key: &str| match key {
            "a" => Some(a),
            "b" => Some(b),
            _ => None,
        };
        assert_eq!(condition.holds(value), expected, "{text} of {a}, {b}");
    }

    #[test]
    fn comparisons() {
        check("a < b", "9", "10", true);
        check("a<=b", "10", "10", true);
        check("a > b", "9", "10", false);
        check("a >= 9", "9", "", true);
        check("a == wrap", "wrap", "", true);
        check("a != b", "wrap", "saturate", true);
        check("a < b", "wrap", "saturate", false);
        for bad in ["a", "a <", "= b", ""] {
            assert!(bad.parse::<Condition>().is_err(), "{bad}");
        }
    }
}
