//! Class labels of samples.

use std::path::Path;

use crate::StudyError;
use crate::array::{self, Values};

/// Reads one class per sample: integers of any width, shape `[n]` (or `[n, 1]`).
///
/// `classes` is the number of elements of the output that is scored.
pub(crate) fn load(path: &Path, samples: usize, classes: usize) -> Result<Vec<usize>, StudyError> {
    let array = array::open_one(path)?;
    let broken = |problem: String| StudyError::Labels { path: path.into(), problem };
    let shape = array.shape();
    let Values::Integers(values) = array.values()? else {
        return Err(broken(format!("labels are integers, found {}", array.dtype())));
    };
    if shape.first() != Some(&samples) || values.len() != samples {
        return Err(broken(format!("{samples} samples need labels of shape [{samples}], found {shape:?}")));
    }
    let class = |&value: &i64| {
        usize::try_from(value)
            .ok()
            .filter(|&class| class < classes)
            .ok_or_else(|| broken(format!("label {value} is outside the {classes} classes of the output")))
    };
    values.iter().map(class).collect()
}
