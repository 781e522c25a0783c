//! Values of constants in `.npy` files.

use std::fs;
use std::path::Path;

use guardbit_graph::{DType, TensorType};
use ndarray::ArrayD;
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadNpyExt, ReadableElement};

use super::constants::Values;

/// The values in an `.npy` file of the tensor's shape and dtype, row-major; what is wrong with it otherwise.
pub(super) fn values(path: &Path, ty: &TensorType) -> Result<Values, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {}: {error}", path.display()))?;
    let wrong = |error: &dyn std::fmt::Display| format!("is no array of codes: {}: {error}", path.display());
    // The shape is compared before room is made for what the file only claims to hold.
    let header = Header::from_reader(&mut &bytes[..]).map_err(|error| wrong(&error))?;
    if header.shape != ty.shape {
        return Err(format!("holds shape {:?}; the tensor has {:?}", header.shape, ty.shape));
    }
    let allowed = descriptors(ty.dtype);
    let found = header.type_descriptor.as_string().map_or("a structure", String::as_str);
    if !allowed.contains(&found) {
        return Err(format!("holds elements of type `{found}`; {} needs `{}`", ty.dtype, allowed[0]));
    }
    let codes = match ty.dtype {
        DType::Int4 | DType::Int8 => read::<i8, _>(&bytes),
        DType::UInt4 | DType::UInt8 => read::<u8, _>(&bytes),
        DType::Int16 => read::<i16, _>(&bytes),
        DType::UInt16 => read::<u16, _>(&bytes),
        DType::Int32 => read::<i32, _>(&bytes),
        DType::Int64 => {
            return read::<i64, _>(&bytes).map(Values::Wide).map_err(|error| wrong(&error));
        }
    };
    codes.map(Values::Codes).map_err(|error| wrong(&error))
}

fn read<E: ReadableElement + Copy + Into<T>, T>(bytes: &[u8]) -> Result<Vec<T>, ndarray_npy::ReadNpyError> {
    // Iteration is row-major whatever the order in the file.
    Ok(ArrayD::<E>::read_npy(bytes)?.iter().map(|&value| value.into()).collect())
}

/// The names of the types that hold the codes of a dtype; the first is the usual one.
fn descriptors(dtype: DType) -> &'static [&'static str] {
    match dtype {
        DType::Int4 | DType::Int8 => &["|i1", "i1", "b"],
        DType::UInt4 | DType::UInt8 => &["|u1", "u1", "B"],
        DType::Int16 => &["<i2", ">i2"],
        DType::UInt16 => &["<u2", ">u2"],
        DType::Int32 => &["<i4", ">i4"],
        DType::Int64 => &["<i8", ">i8"],
    }
}
