//! Checks of bundles of integer and of floating-point layers.

use std::path::Path;

use crate::check::{CheckReport, CheckRequest, MutantResult, Simulator};
use crate::{VectorError, aligned, check as integer};

/// Checks the bundle in `dir`. First the manifest is checked against its schema, and every file against its
/// SHA-256. Then the exporter's code generates the bundle again from the data that only the bundle defines:
/// the accelerator, the geometry and types of the layer, and the operands in the stimuli. Every field, file
/// and word is compared. Only then the simulators replay the generated files. Writes nothing under `dir`.
///
/// # Errors
/// [`VectorError`] if there is no usable bundle or no folder to work in.
pub fn check(dir: &Path, request: &CheckRequest<'_>) -> Result<CheckReport, VectorError> {
    match aligned::check(dir, request)? {
        Some(report) => Ok(report),
        None => integer::check(dir, request),
    }
}

/// Runs every mutant of the bundle in `dir` in `simulator`, then one with a flipped digit of the expected
/// values and without the hash check. Mutants of the array, if the bundle has one, follow those of the unit.
///
/// # Errors
/// [`VectorError`] if the bundle or the simulator cannot be used.
pub fn mutate(
    dir: &Path,
    simulator: Simulator,
    request: &CheckRequest<'_>,
) -> Result<Vec<MutantResult>, VectorError> {
    match aligned::mutate(dir, simulator, request)? {
        Some(results) => Ok(results),
        None => integer::mutate(dir, simulator, request),
    }
}
