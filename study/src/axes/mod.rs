//! Axes of a sweep in addition to the width of one level: any key of the accelerator, and arguments of a run.

mod argument;
mod condition;
mod target;
mod values;

pub use condition::Condition;

pub(crate) use argument::{
    Variant, argument, argument_keys, argument_names, may_be_path, pick_seed, picked, with_input, with_random,
};
pub(crate) use target::{check_targets, scheme_override};

use crate::arguments::Row;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Setting with the values that a sweep gives it, in order.
///
/// The text form is `KEY=VALUES`. The key is one accepted by `--set`, or an argument of a run (`model`, `mode`,
/// `seed`, ...). Values are separated by commas. `8..=24` means every whole number from 8 to 24, and a comma
/// within `[...]` or `{...}` is part of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    key: String,
    values: Vec<String>,
}

/// Several axes: all combinations of their values, filtered by conditions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axes {
    list: Vec<Axis>,
    /// Indices of axes that are zipped (vary together, value by value).
    zips: Vec<Vec<usize>>,
    conditions: Vec<Condition>,
}

/// Error in the definition of axes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AxisError {
    /// Text that is not an axis.
    #[error(
        "invalid axis `{0}`: expected KEY=VALUES, e.g. accumulation.acc.bits=12..=16 or \
         mode=propagated,isolated"
    )]
    NoAxis(String),
    /// Values that cannot be read.
    #[error("axis `{key}`: {problem}")]
    Values {
        /// The key.
        key: String,
        /// Description of the problem.
        problem: String,
    },
    /// Value that an argument cannot have.
    #[error("axis `{key}`: {problem}")]
    Argument {
        /// The key.
        key: String,
        /// Description of the problem.
        problem: String,
    },
    /// Value that an axis has twice.
    #[error("axis `{key}`: the value {value} appears twice")]
    Repeated {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Two axes with equal keys.
    #[error("axis `{0}` appears twice")]
    Twice(String),
    /// Two axes of one key with different spellings.
    #[error("`{first}` and `{second}` set the same value")]
    Same {
        /// Spelling of the first.
        first: String,
        /// Spelling of the second.
        second: String,
    },
    /// `zip` of a name that is not an axis, or of lists of different lengths.
    #[error("`zip`: {0}")]
    Zip(String),
    /// Condition that cannot be read, or that compares incomparable values.
    #[error("`where`: {problem}, at column {} of `{condition}`", condition.get(..at.start).map_or(0, |before| before.chars().count()) + 1)]
    Where {
        /// The condition.
        condition: String,
        /// Position of the problem, in bytes.
        at: Range<usize>,
        /// Description of the problem.
        problem: String,
    },
    /// Conditions that exclude every point.
    #[error("no combination of the axes satisfies `where`: {0}")]
    NoPoint(String),
}

impl AxisError {
    /// Returns what the user can do.
    pub fn help(&self) -> String {
        match self {
            Self::NoAxis(_) => {
                format!("KEY is a key of the accelerator, as for --set, or one of {}", argument_keys())
            }
            Self::Values { .. } => {
                "values are separated by commas, e.g. 8,12,16; 12..=16 is a range; a comma within \
                                    brackets is part of a value"
                    .into()
            }
            Self::Argument { key, .. } => {
                argument(key).map_or("`guardbit help quantize` lists the settings".into(), Row::about)
            }
            Self::Repeated { .. } => "name every value once".into(),
            Self::Twice(key) => format!("list all values in one axis: `{key}=VALUE,VALUE`"),
            Self::Same { .. } => "leave out one of them".into(),
            Self::Zip(_) => {
                "`zip` names two or more axes that have equally many values, and each axis once".into()
            }
            Self::Where { .. } => "a condition compares axes with values, e.g. `A <= B and not (A == 14 or \
                                   A == 15)`: ==, !=, <, <=, >, >=, joined by and, or, not and parentheses"
                .into(),
            Self::NoPoint(_) => {
                "a point must satisfy every --where (every item of `where`): loosen one, or add \
                                 values to the axes"
                    .into()
            }
        }
    }
}

/// Returns the dotted path of a key of the accelerator that is given by its last part. Other keys stay as they are.
fn full_key(key: String) -> String {
    if argument(&key).is_some() { key } else { guardbit_hwmodels::full_key(&key).unwrap_or(key) }
}

impl Axis {
    /// Creates an axis from its values.
    ///
    /// # Errors
    /// [`AxisError::Values`] if there are none.
    pub fn new(key: impl Into<String>, values: Vec<String>) -> Result<Self, AxisError> {
        let key = full_key(key.into());
        if values.is_empty() {
            return Err(AxisError::Values { key, problem: "has no value".into() });
        }
        Ok(Self { key, values })
    }

    /// Creates an axis from values given as text.
    ///
    /// # Errors
    /// [`AxisError::Values`] if the text is not a list of values.
    pub fn of_text(key: &str, values: &str) -> Result<Self, AxisError> {
        let values = values::split(values);
        Self::new(key, values.map_err(|problem| AxisError::Values { key: key.into(), problem })?)
    }

    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the values.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns the level whose width this axis varies, if any: points that differ only in it run together.
    pub(crate) fn level(&self) -> Option<&str> {
        let (level, what) = self.key.strip_prefix("accumulation.")?.rsplit_once('.')?;
        ["bits", "overflow"].contains(&what).then_some(level)
    }

    /// Returns the axis with every value changed.
    pub(crate) fn map(mut self, change: impl Fn(&str) -> String) -> Self {
        self.values.iter_mut().for_each(|value| *value = change(value));
        self
    }
}

impl FromStr for Axis {
    type Err = AxisError;

    fn from_str(text: &str) -> Result<Self, AxisError> {
        let (key, values) = text.split_once('=').ok_or_else(|| AxisError::NoAxis(text.into()))?;
        let key = key.trim();
        if key.is_empty() {
            return Err(AxisError::NoAxis(text.into()));
        }
        Self::of_text(key, values)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.values.join(","))
    }
}

impl Axes {
    /// Combines axes; the last one varies fastest. `zips` are lists of keys that vary together, value by
    /// value.
    ///
    /// # Errors
    /// [`AxisError`] if a key occurs twice, a zip or a condition names an unknown axis, zipped lists differ
    /// in length, or a value (for zipped axes, a combination of values) occurs twice.
    pub fn new(list: Vec<Axis>, zips: &[Vec<String>], conditions: Vec<Condition>) -> Result<Self, AxisError> {
        if let Some((_, axis)) =
            list.iter().enumerate().find(|&(i, axis)| list[..i].iter().any(|other| other.key == axis.key))
        {
            return Err(AxisError::Twice(axis.key.clone()));
        }
        let place = |key: &String| {
            let full = full_key(key.clone());
            let found = list.iter().position(|axis| axis.key == full);
            found.ok_or_else(|| AxisError::Zip(format!("unknown axis `{key}`")))
        };
        let zips = zips.iter().map(|keys| keys.iter().map(place).collect());
        let zips = zips.collect::<Result<Vec<Vec<usize>>, _>>()?;
        for (i, zip) in zips.iter().enumerate() {
            if zip.iter().collect::<HashSet<_>>().len() < zip.len().max(2) {
                return Err(AxisError::Zip("expected two or more different axes".into()));
            }
            if zips[..i].iter().flatten().any(|index| zip.contains(index)) {
                return Err(AxisError::Zip("an axis appears in two of the lists".into()));
            }
            let lengths: Vec<usize> = zip.iter().map(|&index| list[index].values.len()).collect();
            if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
                let shown =
                    zip.iter().map(|&i| format!("{} has {} values", list[i].key, list[i].values.len()));
                let shown = shown.collect::<Vec<_>>().join(", ");
                return Err(AxisError::Zip(format!("the lists must have equal lengths: {shown}")));
            }
        }
        let all = Self { list, zips, conditions };
        for axes in all.dimensions() {
            all.check_values(&axes)?;
        }
        let Self { list, zips, conditions } = all;
        conditions.iter().try_for_each(|condition| condition.check(&list))?;
        Ok(Self { list, zips, conditions })
    }

    /// Fails if two points of zipped axes are equal.
    fn check_values(&self, axes: &[usize]) -> Result<(), AxisError> {
        let values =
            |at: usize| axes.iter().map(|&axis| self.list[axis].values[at].as_str()).collect::<Vec<_>>();
        let mut seen = HashSet::new();
        let twice =
            (0..self.list[axes[0]].values.len()).map(values).find(|point| !seen.insert(point.clone()));
        match (twice, axes) {
            (None, _) => Ok(()),
            (Some(point), &[axis]) => {
                let key = self.list[axis].key.clone();
                Err(AxisError::Repeated { key, value: point[0].into() })
            }
            (Some(point), _) => Err(AxisError::Zip(format!("the values {} appear twice", point.join(", ")))),
        }
    }

    /// Returns the axes.
    pub fn list(&self) -> &[Axis] {
        &self.list
    }

    /// Returns the number of combinations, before conditions are applied.
    pub fn size(&self) -> usize {
        self.dimensions().iter().map(|axes| self.list[axes[0]].values.len()).fold(1, usize::saturating_mul)
    }

    /// Returns every combination that satisfies all conditions: a value for each axis. The first axis varies
    /// slowest.
    ///
    /// # Errors
    /// [`AxisError::NoPoint`] if no combination satisfies the conditions.
    pub fn combinations(&self) -> Result<Vec<Vec<&str>>, AxisError> {
        let dimensions = self.dimensions();
        let mut all: Vec<Vec<&str>> = vec![vec![""; self.list.len()]];
        for axes in &dimensions {
            all = all.iter().flat_map(|chosen| self.extended(chosen, axes)).collect();
        }
        all.retain(|values| self.conditions.iter().all(|one| one.holds(&self.list, values)));
        if all.is_empty() {
            let conditions: Vec<String> = self.conditions.iter().map(ToString::to_string).collect();
            return Err(AxisError::NoPoint(conditions.join(" and ")));
        }
        Ok(all)
    }

    /// Extends one combination by every value of a group of zipped axes.
    fn extended<'a>(&'a self, chosen: &[&'a str], axes: &[usize]) -> Vec<Vec<&'a str>> {
        let with = |at: usize| {
            let mut chosen = chosen.to_vec();
            axes.iter().for_each(|&axis| chosen[axis] = &self.list[axis].values[at]);
            chosen
        };
        (0..self.list[axes[0]].values.len()).map(with).collect()
    }

    /// Returns the groups of axes that vary together, in the order of their first axes.
    fn dimensions(&self) -> Vec<Vec<usize>> {
        let zip_of = |index: usize| self.zips.iter().find(|zip| zip.contains(&index));
        let dimension = |index: usize| match zip_of(index) {
            None => Some(vec![index]),
            Some(zip) => (zip.iter().min() == Some(&index)).then(|| zip.clone()),
        };
        (0..self.list.len()).filter_map(dimension).collect()
    }
}
