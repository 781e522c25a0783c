//! Types and codes of tensors.

use guardbit_graph::{DType, MAX_AXES, Quantization, TensorType};

use super::error::TfliteError;
use super::flatbuffer::{Scalar, Vector};
use super::schema::{Model, QuantizationParameters, Tensor};

/// What a file may unfold to, so that a small file whose parts are used many times cannot exhaust memory.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    left: usize,
}

impl Budget {
    /// For a file of `size` bytes. Two 4-bit codes per byte are the most that an honest file holds.
    pub fn for_file(size: usize) -> Self {
        let limit = size.saturating_mul(8);
        Self { limit, left: limit }
    }

    /// Takes `count` values off.
    pub fn spend(&mut self, count: usize) -> Result<(), TfliteError> {
        self.left = self.left.checked_sub(count).ok_or(TfliteError::Unfolds { limit: self.limit })?;
        Ok(())
    }
}

/// Types of elements, by number.
mod element {
    pub const FLOAT32: i8 = 0;
    pub const INT32: i8 = 2;
    pub const UINT8: i8 = 3;
    pub const INT64: i8 = 4;
    pub const INT16: i8 = 7;
    pub const INT8: i8 = 9;
    pub const INT4: i8 = 17;
}

const ELEMENT_NAMES: [&str; 23] = [
    "float32",
    "float16",
    "int32",
    "uint8",
    "int64",
    "string",
    "bool",
    "int16",
    "complex64",
    "int8",
    "float64",
    "complex128",
    "uint64",
    "resource",
    "variant",
    "uint32",
    "uint16",
    "int4",
    "bfloat16",
    "int2",
    "uint4",
    "float8_e4m3fn",
    "float8_e5m2",
];

/// The number of int64.
pub(super) const INT64: i8 = element::INT64;

/// The number of float32.
pub(super) const FLOAT32: i8 = element::FLOAT32;

/// Shape, dtype, scales and zero points of a tensor called `name`.
pub(super) fn tensor_type(
    tensor: Tensor<'_>,
    name: &str,
    budget: &mut Budget,
) -> Result<TensorType, TfliteError> {
    let dtype = dtype(tensor.element_type()?, name)?;
    if tensor.is_sparse()? {
        return Err(problem(name, "sparse storage is not supported".into()));
    }
    let shape = shape(tensor, name)?;
    let quantization = match tensor.quantization()? {
        // Scales of real values mean nothing, and no runtime looks at them.
        Some(parameters) if dtype != DType::Float32 => quantization(parameters, name, budget)?,
        _ => None,
    };
    Ok(TensorType { shape, dtype, quantization })
}

/// The type of a tensor that an operator makes. Places and the like of 64 bits have 32 in the graph, which holds them.
pub(super) fn output_type(
    tensor: Tensor<'_>,
    name: &str,
    budget: &mut Budget,
) -> Result<TensorType, TfliteError> {
    let ty = tensor_type(tensor, name, budget)?;
    Ok(if ty.dtype == DType::Int64 { TensorType { dtype: DType::Int32, ..ty } } else { ty })
}

/// The 64-bit values of a constant, which must fit 32.
pub(super) fn narrow(bytes: &[u8], name: &str, budget: &mut Budget) -> Result<Vec<i32>, TfliteError> {
    budget.spend(bytes.len() / 8)?;
    let value = |b: &[u8]| {
        let value = i64::read(b);
        i32::try_from(value).map_err(|_| problem(name, format!("the value {value} does not fit 32 bits")))
    };
    bytes.chunks_exact(8).map(value).collect()
}

/// The sizes of a tensor called `name`. An unknown batch is stored as 1 here, and as -1 in a field of its own.
pub(super) fn shape(tensor: Tensor<'_>, name: &str) -> Result<Vec<usize>, TfliteError> {
    let Some(sizes) = tensor.shape()? else { return Ok(Vec::new()) };
    if sizes.len() > MAX_AXES {
        return Err(problem(name, format!("{} axes, at most {MAX_AXES} are possible", sizes.len())));
    }
    let size = |size: i32| usize::try_from(size).map_err(|_| problem(name, format!("negative size {size}")));
    sizes.iter().map(size).collect()
}

/// The quantization of a constant of one axis whose scales are said to lie along another one: they lie along the only
/// one. `None` for any other constant.
///
/// Runtimes never look at the axis of a bias, and some converters copied that of the weights.
pub(super) fn along_the_only_axis(ty: &TensorType) -> Option<Quantization> {
    let quantization = ty.quantization.as_ref()?;
    let misplaced = ty.shape.len() == 1 && quantization.axis().is_some_and(|axis| axis != 0);
    let (scales, zero_points) = (quantization.scales().to_vec(), quantization.zero_points().to_vec());
    misplaced.then(|| Quantization::per_axis(scales, zero_points, 0).ok()).flatten()
}

/// The bytes of a constant; `None` for a tensor that is computed.
pub(super) fn constant_bytes<'a>(
    file: &'a [u8],
    model: Model<'a>,
    tensor: Tensor<'a>,
    name: &str,
) -> Result<Option<&'a [u8]>, TfliteError> {
    if tensor.external_buffer()? != 0 {
        return Err(problem(name, "data in another file are not supported".into()));
    }
    let index = tensor.buffer()?;
    let buffer = model.buffer(index as usize)?;
    let buffer = buffer.ok_or(TfliteError::Index { what: "buffer", index: index.into() })?;
    let outside = buffer.offset()?;
    if outside > 1 {
        let range = usize::try_from(outside).ok().zip(usize::try_from(buffer.size()?).ok());
        let bytes = range.and_then(|(start, size)| file.get(start..start.checked_add(size)?));
        return bytes
            .map(Some)
            .ok_or_else(|| problem(name, "its data lie beyond the end of the file".into()));
    }
    Ok(buffer.data()?.map(|data| data.bytes()).filter(|bytes| !bytes.is_empty()))
}

/// The values of a constant.
pub(super) enum Values {
    /// Codes.
    Codes(Vec<i32>),
    /// Biases of 64 bits.
    Wide(Vec<i64>),
}

/// The values of a constant of type `ty`.
pub(super) fn values(
    bytes: &[u8],
    ty: &TensorType,
    name: &str,
    budget: &mut Budget,
) -> Result<Values, TfliteError> {
    let count = ty.shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
    let expected = count.and_then(|n| n.checked_mul(ty.dtype.bits() as usize)).map(|bits| bits.div_ceil(8));
    let (Some(count), true) = (count, expected == Some(bytes.len())) else {
        return Err(problem(
            name,
            format!("{} bytes of data do not make {} of shape {:?}", bytes.len(), ty.dtype, ty.shape),
        ));
    };
    budget.spend(count)?;
    Ok(Values::Codes(match ty.dtype {
        DType::Int8 => bytes.iter().map(|&b| i32::from(b as i8)).collect(),
        DType::UInt8 => bytes.iter().map(|&b| b.into()).collect(),
        DType::Int16 => bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]]).into()).collect(),
        DType::UInt16 => bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]).into()).collect(),
        DType::Int32 | DType::Float32 => bytes.chunks_exact(4).map(i32::read).collect(),
        DType::Int4 => nibbles(bytes).take(count).map(|n| i32::from((n << 4) as i8 >> 4)).collect(),
        DType::UInt4 => nibbles(bytes).take(count).map(i32::from).collect(),
        DType::Int64 => return Ok(Values::Wide(bytes.chunks_exact(8).map(i64::read).collect())),
    }))
}

/// The values of a constant that holds a shape, axes or the like.
pub(super) fn integers(tensor: Tensor<'_>, bytes: &[u8], name: &str) -> Result<Vec<i64>, TfliteError> {
    // Pairs of paddings for every axis are the longest of them.
    const MOST: usize = 2 * MAX_AXES;
    let values: Vec<i64> = match tensor.element_type()? {
        element::INT32 => bytes.chunks_exact(4).take(MOST + 1).map(|b| i32::read(b).into()).collect(),
        element::INT64 => bytes.chunks_exact(8).take(MOST + 1).map(i64::read).collect(),
        other => {
            return Err(problem(name, format!("type {}, expected int32 or int64", element_name(other))));
        }
    };
    if values.len() > MOST {
        return Err(problem(name, format!("more than {MOST} values for the axes of a tensor")));
    }
    Ok(values)
}

fn dtype(number: i8, name: &str) -> Result<DType, TfliteError> {
    match number {
        element::INT8 => Ok(DType::Int8),
        element::UINT8 => Ok(DType::UInt8),
        element::INT16 => Ok(DType::Int16),
        element::INT32 => Ok(DType::Int32),
        element::INT64 => Ok(DType::Int64),
        element::INT4 => Ok(DType::Int4),
        element::FLOAT32 => Ok(DType::Float32),
        _ => {
            let found = element_name(number);
            if found.contains("float") {
                return Err(TfliteError::Float { tensor: name.into(), found });
            }
            Err(problem(name, format!("type {found}, expected int4, int8, uint8, int16, int32 or int64")))
        }
    }
}

fn element_name(number: i8) -> String {
    let name = usize::try_from(number).ok().and_then(|n| ELEMENT_NAMES.get(n));
    name.map_or_else(|| format!("number {number}"), |name| (*name).into())
}

fn quantization(
    parameters: QuantizationParameters<'_>,
    name: &str,
    budget: &mut Budget,
) -> Result<Option<Quantization>, TfliteError> {
    if parameters.details_type()? != 0 {
        return Err(problem(name, "only scales and zero points are supported as quantization".into()));
    }
    let scales = list(parameters.scale()?, budget)?;
    if scales.is_empty() {
        return Ok(None);
    }
    let zero_point = |z: i64| {
        let outside = || problem(name, format!("zero point {z} does not fit 32 bits"));
        i32::try_from(z).map_err(|_| outside())
    };
    let zero_points = list(parameters.zero_point()?, budget)?.into_iter().map(zero_point);
    let zero_points = zero_points.collect::<Result<Vec<_>, _>>()?;
    let quantization = match (&scales[..], &zero_points[..]) {
        ([scale], [zero_point]) => Quantization::per_tensor(*scale, *zero_point),
        _ => {
            let axis = parameters.quantized_dimension()?;
            let axis = usize::try_from(axis)
                .map_err(|_| problem(name, format!("negative quantized dimension {axis}")))?;
            Quantization::per_axis(scales, zero_points, axis)
        }
    };
    quantization.map(Some).map_err(|error| TfliteError::Quantization { tensor: name.into(), error })
}

fn list<T: Scalar>(vector: Option<Vector<'_, T>>, budget: &mut Budget) -> Result<Vec<T>, TfliteError> {
    let Some(vector) = vector else { return Ok(Vec::new()) };
    budget.spend(vector.len())?;
    Ok(vector.iter().collect())
}

/// Two values per byte, the low half first.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().flat_map(|b| [b & 15, b >> 4])
}

fn problem(name: &str, problem: String) -> TfliteError {
    TfliteError::Tensor { tensor: name.into(), problem }
}
