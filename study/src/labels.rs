//! Labels of samples: classes, anomalies, or values.

use std::path::{Path, PathBuf};

use guardbit_files::Digest;
use guardbit_frontends::npy::Values;
use guardbit_graph::Brief;

use guardbit_reports::Task;

use crate::StudyError;
use crate::array;
use crate::error::Wanted;
use crate::samples::Samples;

/// Labels of the samples that are run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Labels {
    /// One class per sample.
    Classes(Vec<usize>),
    /// Whether each sample is an anomaly.
    Anomalies(Vec<bool>),
    /// Expected values of a regressor, sample after sample.
    Values(Vec<f32>),
}

impl Labels {
    /// Returns the task of a network with such labels.
    pub fn task(&self) -> Task {
        match self {
            Self::Classes(_) => Task::Classify,
            Self::Anomalies(_) => Task::Detect,
            Self::Values(_) => Task::Regress,
        }
    }
}

/// File of labels before their meaning is known.
#[derive(Debug)]
pub(crate) struct LabelFile {
    path: PathBuf,
    /// Number of samples in the file.
    samples: usize,
    /// Shape without the sample axis.
    shape: Vec<usize>,
    /// Values of the samples that are run.
    values: Values,
    dtype: &'static str,
}

impl LabelFile {
    /// Reads the labels of `samples` from a file with at most `longest` values per sample, along the first
    /// axis.
    pub fn read(path: &Path, samples: &Samples, longest: usize) -> Result<Self, StudyError> {
        let needed = samples.available();
        let is_long = |rest: &[usize]| rest.iter().copied().fold(1, usize::saturating_mul) > longest.max(1);
        let mut shape = Vec::new();
        let array = array::open_one(path, Wanted::Labels, |header| match header.shape.split_first() {
            Some((&count, rest)) if count == needed && !is_long(rest) => {
                shape = rest.to_vec();
                Ok(())
            }
            _ => Err(broken(path, misshapen(needed, &header.shape))),
        })?;
        let len: usize = shape.iter().product();
        let picked = (0..samples.count()).flat_map(|index| {
            let first = samples.in_file(index) * len;
            first..first + len
        });
        let values = match array.values()? {
            Values::Integers(all) => Values::Integers(picked.map(|i| all[i]).collect()),
            Values::Float32(all) => Values::Float32(picked.map(|i| all[i]).collect()),
            Values::Other => Values::Other,
        };
        Ok(Self { path: path.into(), samples: needed, shape, values, dtype: array.dtype() })
    }

    /// Creates labels equal to those read from a file with one integer per sample.
    #[cfg(test)]
    pub fn of_integers(labels: &[i64]) -> Self {
        let values = Values::Integers(labels.to_vec());
        Self { path: PathBuf::new(), samples: labels.len(), shape: Vec::new(), values, dtype: "int64" }
    }

    /// Returns whether each label is 0 or 1, and both occur.
    pub fn tells_anomalies(&self) -> bool {
        self.is_scalar()
            && matches!(&self.values, Values::Integers(values)
                if [0, 1].iter().all(|flag| values.contains(flag)) && values.iter().all(|value| [0, 1].contains(value)))
    }

    /// Returns whether each sample has real values of shape `output`.
    pub fn has_values_of(&self, output: &[usize]) -> bool {
        matches!(self.values, Values::Float32(_)) && self.fits(output)
    }

    /// Returns a class for each sample: integers of any width, shape `[n]` (or `[n, 1]`), below `classes`.
    pub fn classes(&self, classes: usize) -> Result<Labels, StudyError> {
        let class = |value: i64| {
            usize::try_from(value).ok().filter(|&class| class < classes).ok_or_else(|| {
                self.broken(format!("label {value} is outside the {classes} classes of the output"))
            })
        };
        Ok(Labels::Classes(self.integers()?.iter().map(|&value| class(value)).collect::<Result<_, _>>()?))
    }

    /// Returns for each sample whether it is an anomaly: 0 or 1, shape `[n]` (or `[n, 1]`).
    pub fn anomalies(&self) -> Result<Labels, StudyError> {
        let flag = |&value: &i64| match value {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.broken(format!("label {value} of a detector is invalid: expected 0 or 1"))),
        };
        Ok(Labels::Anomalies(self.integers()?.iter().map(flag).collect::<Result<_, _>>()?))
    }

    /// Returns real values for each sample: float32, shape `[n, ...]`, where the other axes are those of the
    /// output without axes of length 1.
    pub fn values(&self, output: &[usize]) -> Result<Labels, StudyError> {
        match &self.values {
            Values::Float32(_) if !self.fits(output) => {
                let (found, wanted) = (Brief(&self.shape), Brief(output));
                Err(self
                    .broken(format!("labels of one sample have shape {found}, but the output has {wanted}")))
            }
            Values::Float32(values) if values.iter().all(|value| value.is_finite()) => {
                Ok(Labels::Values(values.clone()))
            }
            Values::Float32(_) => Err(self.broken("a label is not a finite number".into())),
            _ => Err(self.broken(format!("labels of a regressor: expected float32, found {}", self.dtype))),
        }
    }

    fn fits(&self, output: &[usize]) -> bool {
        let long = |shape: &[usize]| shape.iter().copied().filter(|&size| size != 1).collect::<Vec<_>>();
        long(&self.shape) == long(output)
    }

    fn is_scalar(&self) -> bool {
        self.shape.iter().all(|&size| size == 1)
    }

    fn integers(&self) -> Result<&[i64], StudyError> {
        match &self.values {
            Values::Integers(_) if !self.is_scalar() => {
                let shape = [&[self.samples], self.shape.as_slice()].concat();
                Err(self.broken(misshapen(self.samples, &shape)))
            }
            Values::Integers(values) => Ok(values),
            _ => Err(self.broken(format!("labels: expected integers, found {}", self.dtype))),
        }
    }

    fn broken(&self, problem: String) -> StudyError {
        broken(&self.path, problem)
    }
}

fn misshapen(samples: usize, found: &[usize]) -> String {
    format!("labels of {samples} samples: expected shape [{samples}], found {}", Brief(found))
}

fn broken(path: &Path, problem: String) -> StudyError {
    StudyError::Labels { path: path.into(), problem }
}

impl Labels {
    /// Returns the classes, if the labels are classes.
    pub fn classes(&self) -> Option<&[usize]> {
        if let Self::Classes(classes) = self { Some(classes) } else { None }
    }

    /// Returns the digest of the content: classes and anomalies as little-endian 64-bit integers, one per
    /// sample; values as little-endian IEEE-754 singles.
    pub fn digest(&self) -> Digest {
        let whole =
            |values: &mut dyn Iterator<Item = u64>| values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let bytes = match self {
            Self::Classes(classes) => whole(&mut classes.iter().map(|&class| class as u64)),
            Self::Anomalies(flags) => whole(&mut flags.iter().map(|&flag| u64::from(flag))),
            Self::Values(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        Digest::of_bytes(&bytes)
    }
}
