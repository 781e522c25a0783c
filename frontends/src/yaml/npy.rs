//! Values of constants in `.npy` files.

use std::path::Path;

use guardbit_graph::{Brief, DType, TensorType, word_of};

use super::constants::Values;
use crate::npy::{self, Element, Header};

/// Number of elements decoded at once.
const CHUNK: usize = 1 << 16;

/// Returns the values in an `.npy` file of the tensor's shape and dtype, row-major. The error is the problem.
pub(super) fn values(path: &Path, ty: &TensorType) -> Result<Values, String> {
    let wrong =
        |error: &dyn std::fmt::Display| format!("is not an array of codes: {}: {error}", path.display());
    // The limit covers the tensor's elements, of at most 8 bytes each, and the longest header.
    let limit = (ty.len() as u64).saturating_mul(8).saturating_add(2 * npy::MAX_HEADER as u64);
    let bytes = guardbit_files::read(path, limit);
    let bytes = bytes.map_err(|error| format!("cannot be read: {}: {error}", path.display()))?;
    let header = Header::read(&mut &bytes[..]).map_err(|error| wrong(&error))?;
    if header.shape != ty.shape {
        return Err(format!("holds shape {}; the tensor has {:?}", Brief(&header.shape), ty.shape));
    }
    let (found, expected) = (header.element.name(), ty.dtype.file_name());
    if found != expected {
        return Err(format!("holds elements of type {found}; {} needs {expected}", ty.dtype));
    }
    let elements = &bytes[header.length as usize..];
    if header.bytes() != Some(elements.len() as u64) {
        let needed = header.bytes().unwrap_or(u64::MAX);
        return Err(wrong(&format!("its shape needs {needed} bytes of elements, found {}", elements.len())));
    }
    let values = match ty.dtype {
        DType::Float32 => reals(header.element, elements).map(Values::Codes),
        DType::Int64 => integers(header.element, elements, |value| value).map(Values::Wide),
        // The elements fit the codes' type. The graph checks their range.
        _ => integers(header.element, elements, |value| value as i32).map(Values::Codes),
    };
    let values = values.map_err(|error| wrong(&error))?;
    Ok(match (header.fortran, values) {
        (false, values) => values,
        (true, Values::Codes(codes)) => Values::Codes(in_c_order(&ty.shape, &codes)),
        (true, Values::Wide(values)) => Values::Wide(in_c_order(&ty.shape, &values)),
    })
}

fn integers<T>(element: Element, bytes: &[u8], convert: impl Fn(i64) -> T) -> Result<Vec<T>, npy::NpyError> {
    let mut all = Vec::with_capacity(bytes.len() / element.bytes());
    for chunk in bytes.chunks(CHUNK * element.bytes()) {
        if let npy::Values::Integers(values) = element.values(chunk)? {
            all.extend(values.into_iter().map(&convert));
        }
    }
    Ok(all)
}

fn reals(element: Element, bytes: &[u8]) -> Result<Vec<i32>, npy::NpyError> {
    let mut all = Vec::with_capacity(bytes.len() / element.bytes());
    for chunk in bytes.chunks(CHUNK * element.bytes()) {
        if let npy::Values::Float32(values) = element.values(chunk)? {
            all.extend(values.into_iter().map(word_of));
        }
    }
    Ok(all)
}

fn in_c_order<T: Copy>(shape: &[usize], values: &[T]) -> Vec<T> {
    npy::fortran_places(shape).map(|place| values[place]).collect()
}
