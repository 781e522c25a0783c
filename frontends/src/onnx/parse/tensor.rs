//! Constants from the tensors of a file.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use guardbit_graph::{Brief, MAX_AXES, MAX_ELEMENTS, RealCodes};

use super::constant::{Constant, Data, elements_of, short_float};
use super::integers::Integers;
use super::metadata;
use super::proto::{self, element};
use crate::onnx::error::{OnnxError, shown};

/// Returns a constant of a file. External data is in `dir`.
pub(in crate::onnx) fn read(tensor: &proto::Tensor, dir: Option<&Path>) -> Result<Constant, OnnxError> {
    let name = shown(&tensor.name);
    let fail = |problem: String| Err(OnnxError::Tensor { tensor: name.clone(), problem });
    if tensor.dims.len() > MAX_AXES {
        return fail(format!("has {} axes; expected at most {MAX_AXES}", tensor.dims.len()));
    }
    let sizes: Option<Vec<usize>> = tensor.dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let count = sizes.as_deref().and_then(elements_of);
    let (Some(shape), Some(count)) = (sizes, count) else {
        let shape = Brief(&tensor.dims);
        return fail(format!(
            "its shape {shape} has a negative size, or sizes beyond {MAX_ELEMENTS} elements"
        ));
    };
    let external;
    let raw = match tensor.data_location {
        0 => &tensor.raw_data,
        _ => {
            external = read_external(tensor, dir, &name)?;
            &external
        }
    };
    let data = match elements(tensor, raw, count) {
        Ok(data) => data,
        Err(problem) => return fail(problem),
    };
    if data.len() != count {
        return fail(format!("has {} elements, its shape needs {count}", data.len()));
    }
    Ok(Constant {
        element: tensor.data_type,
        shape,
        data,
        range: metadata::range_of(tensor),
        of_codes: false,
        floats: None,
    })
}

/// Returns the elements of a tensor, from its raw bytes or from the list of its type.
fn elements(tensor: &proto::Tensor, raw: &[u8], count: usize) -> Result<Data, String> {
    let integers = |bytes: usize, convert: &dyn Fn(&[u8]) -> i64| {
        if raw.is_empty() && count > 0 {
            return Ok(Data::Integers(match tensor.data_type {
                element::INT64 => tensor.int64_data.iter().copied().collect(),
                element::UINT32 | element::UINT64 => {
                    tensor.uint64_data.iter().map(|&v| i64::try_from(v).unwrap_or(i64::MAX)).collect()
                }
                _ => tensor.int32_data.iter().map(|&v| i64::from(v)).collect(),
            }));
        }
        check_bytes(raw, count, bytes)?;
        Ok(Data::Integers(raw.chunks_exact(bytes).map(convert).collect()))
    };
    let small = |bits: u32, signed: bool| {
        let per_byte = 8 / bits as usize;
        let listed: Vec<u8> = tensor.int32_data.iter().map(|&v| v as u8).collect();
        let bytes = if raw.is_empty() { &listed[..] } else { raw };
        if bytes.len() != count.div_ceil(per_byte) {
            return Err(format!("has {} bytes, its shape needs {}", bytes.len(), count.div_ceil(per_byte)));
        }
        let codes = bytes.iter().flat_map(|&byte| {
            (0..per_byte).map(move |i| {
                // The first element is in the low bits.
                let shifted = byte << (8 - bits * (i as u32 + 1));
                if signed { i64::from(shifted as i8 >> (8 - bits)) } else { i64::from(shifted >> (8 - bits)) }
            })
        });
        Ok(Data::Integers(codes.take(count).collect()))
    };
    let reals = |bytes: usize, listed: Vec<f32>, convert: &dyn Fn(&[u8]) -> f32| {
        if raw.is_empty() && count > 0 {
            return Ok(Data::Reals(listed));
        }
        check_bytes(raw, count, bytes)?;
        Ok(Data::Reals(raw.chunks_exact(bytes).map(convert).collect()))
    };
    if let Some((dtype, codes)) = short_float(tensor.data_type).and_then(|of| Some((of, RealCodes::of(of)?)))
    {
        let real = |code: i64| codes.real(code as i32 & dtype.max());
        if dtype.bits() == 4 {
            let Data::Integers(codes) = small(4, false)? else { return Err("has no codes".into()) };
            return Ok(Data::Reals(codes.iter().map(real).collect()));
        }
        let listed = tensor.int32_data.iter().map(|&code| real(code.into())).collect();
        let bytes = dtype.file_bytes();
        return reals(bytes, listed, &|b| {
            real(b.iter().rev().fold(0, |code, &byte| code << 8 | i64::from(byte)))
        });
    }
    match tensor.data_type {
        element::FLOAT => {
            reals(4, tensor.float_data.clone(), &|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        }
        element::DOUBLE => {
            let listed = tensor.double_data.iter().map(|&value| value as f32).collect();
            reals(8, listed, &|b| f64::from_le_bytes(eight(b)) as f32)
        }
        element::UINT8 => integers(1, &|b| b[0].into()),
        element::BOOL => integers(1, &|b| i64::from(b[0] != 0)),
        element::INT8 if !raw.is_empty() => {
            check_bytes(raw, count, 1)?;
            Ok(Data::Integers(Integers::I8(raw.iter().map(|&byte| byte as i8).collect())))
        }
        element::INT8 => integers(1, &|b| (b[0] as i8).into()),
        element::UINT16 => integers(2, &|b| u16::from_le_bytes([b[0], b[1]]).into()),
        element::INT16 => integers(2, &|b| i16::from_le_bytes([b[0], b[1]]).into()),
        element::INT32 => integers(4, &|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()),
        element::UINT32 => integers(4, &|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()),
        element::INT64 | element::UINT64 => integers(8, &|b| i64::from_le_bytes(eight(b))),
        element::UINT4 => small(4, false),
        element::INT4 => small(4, true),
        element::UINT2 => small(2, false),
        element::INT2 => small(2, true),
        other => Err(format!("is {}, which is not supported", element::name(other))),
    }
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|i| bytes[i])
}

fn check_bytes(raw: &[u8], count: usize, bytes: usize) -> Result<(), String> {
    match count.checked_mul(bytes) {
        Some(needed) if needed == raw.len() => Ok(()),
        needed => Err(format!("has {} bytes, its shape needs {}", raw.len(), needed.unwrap_or(usize::MAX))),
    }
}

/// Returns the bytes of a tensor that are stored in another file.
fn read_external(tensor: &proto::Tensor, dir: Option<&Path>, name: &str) -> Result<Vec<u8>, OnnxError> {
    const MAX_BYTES: u64 = 1 << 31;
    let fail = |problem: String| OnnxError::External { tensor: name.into(), problem };
    let entry = |key: &str| {
        tensor.external_data.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
    };
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| fail(format!("`{key}` is not a number"))),
    };
    let location = entry("location").ok_or_else(|| fail("has no location".into()))?;
    let path = Path::new(location);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || location.is_empty() || location.contains('\\') {
        return Err(fail(format!("`{}` is not a path in the model's folder", shown(location))));
    }
    let dir = dir.ok_or_else(|| fail("the model was not read from a file".into()))?;
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    // A link may point outside of the folder.
    let inside = || {
        let (root, file) = (dir.canonicalize().ok()?, dir.join(path).canonicalize().ok()?);
        file.starts_with(root).then_some(file)
    };
    let outside =
        || fail(format!("`{}` does not exist, or lies outside of the model's folder", shown(location)));
    let file = inside().ok_or_else(outside)?;
    let problem = |error: std::io::Error| fail(error.to_string());
    let mut file = guardbit_files::open(&file).map_err(problem)?;
    let size = file.metadata().map_err(problem)?.len();
    let offset = number("offset")?.unwrap_or(0);
    let length = number("length")?.unwrap_or(size.saturating_sub(offset));
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(fail(format!(
            "cannot read {length} bytes at offset {offset}: the file has {size} bytes"
        )));
    }
    if length > MAX_BYTES {
        return Err(fail(format!("has {length} bytes; expected at most {MAX_BYTES}")));
    }
    // All tensors of a model may share one file.
    file.seek(SeekFrom::Start(offset)).map_err(problem)?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes).map_err(problem)?;
    Ok(bytes)
}
