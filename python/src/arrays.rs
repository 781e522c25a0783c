//! Codes as NumPy arrays, in the dtypes used in files.

use guardbit_graph::{DType, real_of};
use ndarray::{ArrayD, IxDyn};
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns codes as an array of `shape` with the dtype's own width: bytes for 4-bit codes, real values for
/// float32, and unsigned integers for codes of shorter floating-point formats.
pub fn of_codes<'py>(
    py: Python<'py>,
    dtype: DType,
    shape: &[usize],
    codes: &[i32],
) -> PyResult<Bound<'py, PyAny>> {
    match dtype.storage() {
        DType::Int8 => array(py, shape, codes.iter().map(|&code| code as i8)),
        DType::Int16 => array(py, shape, codes.iter().map(|&code| code as i16)),
        DType::UInt16 => array(py, shape, codes.iter().map(|&code| code as u16)),
        DType::Int32 | DType::Int64 => array(py, shape, codes.iter().copied()),
        DType::Float32 => array(py, shape, codes.iter().map(|&code| real_of(code))),
        _ => array(py, shape, codes.iter().map(|&code| code as u8)),
    }
}

/// Returns values as an array of `shape`.
pub fn array<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
    values: impl Iterator<Item = T>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), values.collect());
    let array = array.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(array.into_pyarray(py).into_any())
}
