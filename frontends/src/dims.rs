//! Lengths for axes that a file leaves open.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::Serialize;

/// Lengths of axes, each by its name in the file, or by its input and place: `tokens`, or `x:1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dims(BTreeMap<String, NonZeroUsize>);

impl Dims {
    /// Sets the length of an axis. A length that was set before is replaced.
    pub fn set(&mut self, dim: Dim) {
        self.0.insert(dim.axis, dim.length);
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

/// The length of one axis: `AXIS=LENGTH` as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    axis: String,
    length: NonZeroUsize,
}

impl Dim {
    /// The axis of that name, or of `INPUT:PLACE`, with a length.
    ///
    /// # Errors
    /// What is wrong with `length`.
    pub fn new(axis: &str, length: &str) -> Result<Self, String> {
        let wrong = || format!("`{length}` is not a length: expected a whole number of at least 1");
        Ok(Self { axis: axis.trim().into(), length: length.trim().parse().map_err(|_| wrong())? })
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
