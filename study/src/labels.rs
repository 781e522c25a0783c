//! Class labels of samples.

use std::path::Path;

use guardbit_frontends::npy::Values;
use guardbit_graph::Brief;

use crate::StudyError;
use crate::array;
use crate::error::Wanted;
use crate::samples::Samples;

/// Reads the classes of `samples` from a file with one class for each sample of theirs: integers of any width, shape
/// `[n]` (or `[n, 1]`).
///
/// `classes` is the number of elements of the output that is scored.
pub(crate) fn load(path: &Path, samples: &Samples, classes: usize) -> Result<Vec<usize>, StudyError> {
    let broken = |problem: String| StudyError::Labels { path: path.into(), problem };
    let needed = samples.available();
    let array = array::open_one(path, Wanted::Labels, |header| {
        if !header.element.is_integer() {
            return Err(broken(format!("labels are integers, found {}", header.element.name())));
        }
        match header.shape.split_first() {
            Some((&count, rest)) if count == needed && rest.iter().all(|&size| size == 1) => Ok(()),
            _ => {
                let found = Brief(&header.shape);
                Err(broken(format!("{needed} samples need labels of shape [{needed}], found {found}")))
            }
        }
    })?;
    let Values::Integers(values) = array.values()? else { return Err(broken("labels are integers".into())) };
    let class = |index: usize| {
        let value = values[samples.in_file(index)];
        usize::try_from(value)
            .ok()
            .filter(|&class| class < classes)
            .ok_or_else(|| broken(format!("label {value} is outside the {classes} classes of the output")))
    };
    (0..samples.count()).map(class).collect()
}
