//! Lists of widths: `8..=24` (both ends included), `8,10,12`, or both.

use std::str::FromStr;

use guardbit_num::{MAX_BITS, MIN_BITS};

/// Widths to sweep: ascending and distinct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitList(Vec<u32>);

/// Text that is not a list of widths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BitListError {
    /// Text of any other form.
    #[error(
        "invalid list of widths `{0}`: expected e.g. 10..=24 or 8,12,16, each from {MIN_BITS} to {MAX_BITS}"
    )]
    NoList(String),
    /// Width that is listed more than once.
    #[error("width {0} is listed twice: name every width once")]
    Twice(u32),
    /// Range that does not state whether its end is included.
    #[error("`{low}..{high}` is ambiguous: write {low}..={high} to include {high}")]
    OpenRange {
        /// Lower end as written.
        low: String,
        /// Upper end as written.
        high: String,
    },
}

impl BitList {
    /// Returns the widths.
    pub fn widths(&self) -> &[u32] {
        &self.0
    }

    /// Creates a list of these widths.
    ///
    /// # Errors
    /// [`BitListError`] if there are none, one is outside `2..=64`, or one occurs twice.
    pub fn new(mut widths: Vec<u32>) -> Result<Self, BitListError> {
        widths.sort_unstable();
        if let Some(twice) = widths.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(BitListError::Twice(twice[0]));
        }
        let legal = widths.iter().all(|bits| (MIN_BITS..=MAX_BITS).contains(bits));
        if legal && !widths.is_empty() { Ok(Self(widths)) } else { Err(BitListError::NoList(join(&widths))) }
    }
}

impl FromStr for BitList {
    type Err = BitListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || BitListError::NoList(text.into());
        let number =
            |text: &str| text.trim().parse::<u32>().ok().filter(|&n| n <= MAX_BITS + 1).ok_or_else(error);
        let mut widths = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => widths.push(number(part)?),
                Some((low, high)) => match high.strip_prefix('=') {
                    Some(high) => widths.extend(number(low)?..=number(high)?),
                    None => {
                        let (low, high) = (number(low)?.to_string(), number(high)?.to_string());
                        return Err(BitListError::OpenRange { low, high });
                    }
                },
            }
        }
        Self::new(widths).map_err(|wrong| match wrong {
            BitListError::NoList(_) => error(),
            wrong => wrong,
        })
    }
}

fn join(widths: &[u32]) -> String {
    widths.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[u32]>) {
        assert_eq!(text.parse::<BitList>().ok().as_ref().map(BitList::widths), expected, "{text}");
    }

    #[test]
    fn lists() {
        check("8..=11", Some(&[8, 9, 10, 11]));
        check("16, 8,12", Some(&[8, 12, 16]));
        check("8..=9,64,2", Some(&[2, 8, 9, 64]));
        let twice = |text: &str| text.parse::<BitList>().unwrap_err();
        assert_eq!(twice("14,14"), BitListError::Twice(14));
        assert_eq!(twice("8..=10,9"), BitListError::Twice(9));
        for bad in [
            "",
            "8-11",
            "8..11",
            "1..=4",
            "60..=65",
            "11..=8",
            "8..",
            "..=8",
            "8,,9",
            "-8",
            "99999999999",
            "0x8",
        ] {
            check(bad, None);
        }
        let open = "6,8..11".parse::<BitList>().unwrap_err().to_string();
        assert_eq!(open, "`8..11` is ambiguous: write 8..=11 to include 11");
    }
}
