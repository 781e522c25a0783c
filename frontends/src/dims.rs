//! Lengths for axes whose size a file leaves open.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::Serialize;

/// Lengths of axes, by the axis's name in the file or by its input and position: `tokens`, or `x:1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dims(BTreeMap<String, NonZeroUsize>);

impl Dims {
    /// Sets the length of an axis, replacing an earlier one.
    pub fn set(&mut self, dim: Dim) {
        self.0.insert(dim.axis, dim.length);
    }

    /// Collects the lengths of axes.
    ///
    /// # Errors
    /// A message about an axis with two different lengths.
    pub fn of_all(dims: &[Dim]) -> Result<Self, String> {
        let mut all = Self::default();
        for Dim { axis, length } in dims {
            if let Some(other) = all.0.insert(axis.clone(), *length).filter(|other| other != length) {
                return Err(format!("axis `{axis}` gets two lengths, {other} and {length}"));
            }
        }
        Ok(all)
    }

    /// Returns whether no axis has a length.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns axes with their lengths, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, NonZeroUsize)> {
        self.0.iter().map(|(axis, &length)| (axis.as_str(), length))
    }
}

impl FromIterator<Dim> for Dims {
    fn from_iter<I: IntoIterator<Item = Dim>>(dims: I) -> Self {
        dims.into_iter().map(|dim| (dim.axis, dim.length)).collect()
    }
}

impl FromIterator<(String, NonZeroUsize)> for Dims {
    fn from_iter<I: IntoIterator<Item = (String, NonZeroUsize)>>(dims: I) -> Self {
        Self(dims.into_iter().collect())
    }
}

/// The length of one axis, as the text `AXIS=LENGTH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    axis: String,
    length: NonZeroUsize,
}

impl Dim {
    /// Creates the length of an axis, given by its name or by `INPUT:PLACE`.
    ///
    /// # Errors
    /// A message if `length` is not a whole number of at least 1.
    pub fn new(axis: &str, length: &str) -> Result<Self, String> {
        let wrong = || format!("`{length}` is not a length: expected a whole number of at least 1");
        Ok(Self { axis: axis.trim().into(), length: length.trim().parse().map_err(|_| wrong())? })
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.axis, self.length)
    }
}

impl FromStr for Dim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.rsplit_once('=') {
            Some((axis, length)) if !axis.trim().is_empty() => Self::new(axis, length),
            _ => Err(format!(
                "`{text}`: expected AXIS=LENGTH, e.g. tokens=128, or x:1=128 for axis 1 of the input `x`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_one_length() {
        let of = |texts: &[&str]| {
            let dims: Vec<Dim> = texts.iter().map(|text| text.parse().unwrap()).collect();
            Dims::of_all(&dims).map(|dims| dims.iter().map(|(_, length)| length.get()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["a=3", "b=4", "a=3"]), Ok(vec![3, 4]));
        assert_eq!(of(&["a=3", "a=4"]), Err("axis `a` gets two lengths, 3 and 4".into()));
    }
}
