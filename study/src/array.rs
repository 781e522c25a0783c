//! Arrays from `.npy` and `.npz` files, of whatever dtype.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use guardbit_graph::DType;
use ndarray::{ArrayD, IxDyn, OwnedRepr};
use ndarray_npy::{NpzReader, ReadNpyError, ReadNpyExt, ReadNpzError};

use crate::StudyError;

/// An array as it stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub shape: Vec<usize>,
    pub values: Values,
}

/// The elements in C order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Integers, with the dtype of the file.
    Integers(&'static str, Vec<i64>),
    /// Real numbers.
    Float32(Vec<f32>),
    /// Anything else: only its dtype is of interest.
    Other(&'static str),
}

impl Values {
    /// The dtype as numpy names it.
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::Integers(name, _) | Self::Other(name) => name,
            Self::Float32(_) => "float32",
        }
    }
}

/// Name of the file dtype that holds codes of `dtype`: 4-bit codes travel in bytes.
pub(crate) fn file_dtype(dtype: DType) -> &'static str {
    match dtype {
        DType::Int4 => "int8",
        DType::UInt4 => "uint8",
        other => other.name(),
    }
}

/// Reads a `.npy` file, or each array of a `.npz` file under its name.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, Array)>, StudyError> {
    let bytes = fs::read(path).map_err(|source| StudyError::Read { path: path.into(), source })?;
    let broken = |problem: String| StudyError::Array { path: path.into(), problem };
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz")) {
        read_npz(&bytes).map_err(broken)
    } else {
        Ok(vec![(String::new(), read_npy(&bytes).map_err(broken)?)])
    }
}

/// Reads a file that holds one array.
pub(crate) fn read_one(path: &Path) -> Result<Array, StudyError> {
    let mut arrays = read(path)?;
    match (arrays.pop(), arrays.is_empty()) {
        (Some((_, array)), true) => Ok(array),
        _ => Err(StudyError::Array { path: path.into(), problem: "it must hold one array".into() }),
    }
}

/// Tries the dtypes one after the other; `$read` gives `Ok(None)` where the dtype is another one.
macro_rules! by_dtype {
    ($read:ident: $($integer:ty = $name:literal),*) => {{
        $(if let Some((shape, values)) = $read!($integer)? {
            let values = values.into_iter().map(i64::try_from).collect::<Result<_, _>>();
            let values = values.map_err(|_| "a value is beyond 64 bits".to_string())?;
            return Ok(Array { shape, values: Values::Integers($name, values) });
        })*
        if let Some((shape, values)) = $read!(f32)? {
            return Ok(Array { shape, values: Values::Float32(values) });
        }
        if let Some((shape, _)) = $read!(f64)? {
            return Ok(Array { shape, values: Values::Other("float64") });
        }
        if let Some((shape, _)) = $read!(bool)? {
            return Ok(Array { shape, values: Values::Other("bool") });
        }
        Err("its dtype is not supported".to_string())
    }};
}

fn read_npy(bytes: &[u8]) -> Result<Array, String> {
    macro_rules! read {
        ($t:ty) => {
            match ArrayD::<$t>::read_npy(Cursor::new(bytes)) {
                Ok(array) => Ok(Some(parts(array))),
                Err(ReadNpyError::WrongDescriptor(_)) => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        };
    }
    by_dtype!(read: i8 = "int8", u8 = "uint8", i16 = "int16", u16 = "uint16", i32 = "int32", u32 = "uint32",
        i64 = "int64", u64 = "uint64")
}

fn read_npz(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    let mut archive = NpzReader::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let names = archive.names().map_err(|e| e.to_string())?;
    names.into_iter().map(|name| Ok((name.clone(), read_entry(&mut archive, &name)?))).collect()
}

fn read_entry(archive: &mut NpzReader<Cursor<&[u8]>>, name: &str) -> Result<Array, String> {
    macro_rules! read {
        ($t:ty) => {
            match archive.by_name::<OwnedRepr<$t>, IxDyn>(name) {
                Ok(array) => Ok(Some(parts(array))),
                Err(ReadNpzError::Npy(ReadNpyError::WrongDescriptor(_))) => Ok(None),
                Err(error) => Err(format!("array `{name}`: {error}")),
            }
        };
    }
    by_dtype!(read: i8 = "int8", u8 = "uint8", i16 = "int16", u16 = "uint16", i32 = "int32", u32 = "uint32",
        i64 = "int64", u64 = "uint64")
}

fn parts<T>(array: ArrayD<T>) -> (Vec<usize>, Vec<T>) {
    let shape = array.shape().to_vec();
    // `into_iter` walks in logical order, whatever the order in memory.
    (shape, array.into_iter().collect())
}
