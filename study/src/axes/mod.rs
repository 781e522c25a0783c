//! What a sweep varies beside the register of one level: any key of the accelerator, and arguments of a run.

mod argument;
mod condition;
mod target;
mod values;

pub use condition::Condition;

pub(crate) use argument::{
    Variant, argument, argument_keys, argument_names, may_be_path, pick_seed, picked, with_input, with_random,
};
pub(crate) use target::{check_targets, scheme_override};

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A setting with the values that a sweep gives it, in order.
///
/// As text it is `KEY=VALUES`: a key as for `--set`, or an argument of a run (`model`, `mode`, `seed`, ...); values are separated by commas, where
/// `8..=24` stands for every whole number from 8 to 24, and a comma within `[...]` or `{...}` separates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    key: String,
    values: Vec<String>,
}

/// Several axes: every combination of their values, of which conditions leave some out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axes {
    list: Vec<Axis>,
    /// Indices of axes that go together, value by value.
    zips: Vec<Vec<usize>>,
    conditions: Vec<Condition>,
}

/// Why axes make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AxisError {
    /// A text that is no axis.
    #[error(
        "`{0}` is no axis: write KEY=VALUES, e.g. accumulation.acc.bits=12..=16 or mode=propagated,isolated"
    )]
    NoAxis(String),
    /// Values that cannot be read.
    #[error("axis `{key}`: {problem}")]
    Values {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// Two axes of one key.
    #[error("axis `{0}` is given twice")]
    Twice(String),
    /// Two axes of one key that is written in two ways.
    #[error("`{first}` and `{second}` set the same: leave one of them out")]
    Same {
        /// What comes first.
        first: String,
        /// What comes after it.
        second: String,
    },
    /// A `zip` of what is no axis, or of lists that differ in length.
    #[error("`zip`: {0}")]
    Zip(String),
    /// A condition that cannot be read, or compares what cannot be compared.
    #[error("`where`: {problem}, at column {} of `{condition}`", condition.get(..at.start).map_or(0, |before| before.chars().count()) + 1)]
    Where {
        /// The condition.
        condition: String,
        /// The place in it, in bytes.
        at: Range<usize>,
        /// What is wrong.
        problem: String,
    },
    /// Conditions that leave nothing.
    #[error("no combination of the axes satisfies `where`: {0}")]
    NoPoint(String),
}

impl Axis {
    /// An axis of these values.
    ///
    /// # Errors
    /// [`AxisError::Values`] if there are none.
    pub fn new(key: impl Into<String>, values: Vec<String>) -> Result<Self, AxisError> {
        let key = key.into();
        if values.is_empty() {
            return Err(AxisError::Values { key, problem: "has no value".into() });
        }
        Ok(Self { key, values })
    }

    /// The same from a text of values.
    ///
    /// # Errors
    /// [`AxisError::Values`] if the text is no list of values.
    pub fn of_text(key: &str, values: &str) -> Result<Self, AxisError> {
        let values = values::split(values);
        Self::new(key, values.map_err(|problem| AxisError::Values { key: key.into(), problem })?)
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The values.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The level whose register this axis varies, if it does: points that differ in it alone are run together.
    pub(crate) fn level(&self) -> Option<&str> {
        let (level, what) = self.key.strip_prefix("accumulation.")?.rsplit_once('.')?;
        ["bits", "overflow"].contains(&what).then_some(level)
    }

    /// The same with every value changed.
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
    /// Axes in order, the last one varying fastest. `zips` are lists of keys that go together, value by value.
    ///
    /// # Errors
    /// [`AxisError`] if a key stands twice, a zip or a condition names no axis, zipped lists differ in length, or a value (of
    /// zipped axes all values together) stands twice.
    pub fn new(list: Vec<Axis>, zips: &[Vec<String>], conditions: Vec<Condition>) -> Result<Self, AxisError> {
        if let Some((_, axis)) =
            list.iter().enumerate().find(|&(i, axis)| list[..i].iter().any(|other| other.key == axis.key))
        {
            return Err(AxisError::Twice(axis.key.clone()));
        }
        let place = |key: &String| {
            let found = list.iter().position(|axis| axis.key == *key);
            found.ok_or_else(|| AxisError::Zip(format!("`{key}` is no axis")))
        };
        let zips = zips.iter().map(|keys| keys.iter().map(place).collect());
        let zips = zips.collect::<Result<Vec<Vec<usize>>, _>>()?;
        for (i, zip) in zips.iter().enumerate() {
            if zips[..i].iter().flatten().any(|index| zip.contains(index)) {
                return Err(AxisError::Zip("an axis stands in two of them".into()));
            }
            let lengths: Vec<usize> = zip.iter().map(|&index| list[index].values.len()).collect();
            if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
                let shown = zip.iter().map(|&i| format!("{} has {}", list[i].key, list[i].values.len()));
                let shown = shown.collect::<Vec<_>>().join(", ");
                return Err(AxisError::Zip(format!("the lists must be equally long: {shown} values")));
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

    /// Fails if two points of axes that go together are the same.
    fn check_values(&self, axes: &[usize]) -> Result<(), AxisError> {
        let values =
            |at: usize| axes.iter().map(|&axis| self.list[axis].values[at].as_str()).collect::<Vec<_>>();
        let mut seen = HashSet::new();
        let twice =
            (0..self.list[axes[0]].values.len()).map(values).find(|point| !seen.insert(point.clone()));
        match (twice, axes) {
            (None, _) => Ok(()),
            (Some(point), &[axis]) => {
                let problem = format!("the value {} stands twice", point[0]);
                Err(AxisError::Values { key: self.list[axis].key.clone(), problem })
            }
            (Some(point), _) => Err(AxisError::Zip(format!("the values {} stand twice", point.join(", ")))),
        }
    }

    /// The axes.
    pub fn list(&self) -> &[Axis] {
        &self.list
    }

    /// How many combinations there are, conditions aside.
    pub fn size(&self) -> usize {
        self.dimensions().iter().map(|axes| self.list[axes[0]].values.len()).fold(1, usize::saturating_mul)
    }

    /// Every combination that no condition leaves out: a value for each axis. The first axis varies slowest.
    ///
    /// # Errors
    /// [`AxisError::NoPoint`] if the conditions leave none.
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

    /// One combination with every value of some axes that go together.
    fn extended<'a>(&'a self, chosen: &[&'a str], axes: &[usize]) -> Vec<Vec<&'a str>> {
        let with = |at: usize| {
            let mut chosen = chosen.to_vec();
            axes.iter().for_each(|&axis| chosen[axis] = &self.list[axis].values[at]);
            chosen
        };
        (0..self.list[axes[0]].values.len()).map(with).collect()
    }

    /// The axes that vary together, in the order of their first ones.
    fn dimensions(&self) -> Vec<Vec<usize>> {
        let zip_of = |index: usize| self.zips.iter().find(|zip| zip.contains(&index));
        let dimension = |index: usize| match zip_of(index) {
            None => Some(vec![index]),
            Some(zip) => (zip.iter().min() == Some(&index)).then(|| zip.clone()),
        };
        (0..self.list.len()).filter_map(dimension).collect()
    }
}
