//! Types and codes of tensors.

use std::borrow::Cow;

use guardbit_graph::{DType, Integers, MAX_AXES, Quantization, TensorType};

use super::budget::Budget;
use super::error::TfliteError;
use super::flatbuffer::{Scalar, Vector};
use super::schema::{self, Model, QuantizationParameters};

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

/// A tensor of the file. Its error is reported by whatever needs the tensor.
#[derive(Debug)]
pub(crate) struct Tensor<'a> {
    /// Its unique, displayable name.
    pub name: String,
    /// A note for the user about the name, removed once it is recorded.
    pub renamed: Option<String>,
    element: Result<i8, TfliteError>,
    ty: Result<TensorType, TfliteError>,
    /// The bytes of a constant, or `None` for a tensor that is computed.
    data: Result<Option<Cow<'a, [u8]>>, TfliteError>,
}

/// The values of a constant.
pub(crate) enum Values {
    /// Codes.
    Codes(Integers),
    /// Biases of 64 bits.
    Wide(Vec<i64>),
}

impl<'a> Tensor<'a> {
    /// Reads the description of a tensor with the given name.
    pub(super) fn read(
        file: &'a [u8],
        model: Model<'a>,
        stored: schema::Tensor<'a>,
        name: String,
        renamed: Option<String>,
        budget: &mut Budget,
    ) -> Self {
        let element = stored.element_type().map_err(TfliteError::from);
        let ty = element.clone().and_then(|element| tensor_type(stored, element, &name, budget));
        let data = constant_bytes(file, model, stored, &name).map(|bytes| bytes.map(Cow::Borrowed));
        Self { name, renamed, element, ty, data }
    }

    /// Returns whether its elements are real values.
    pub fn is_real(&self) -> Result<bool, TfliteError> {
        Ok(self.element.clone()? == element::FLOAT32)
    }

    /// Returns whether its elements are integers of 64 bits.
    pub fn is_wide(&self) -> Result<bool, TfliteError> {
        Ok(self.element.clone()? == element::INT64)
    }

    /// Returns its shape, dtype, scales and zero points.
    pub fn ty(&self) -> Result<&TensorType, TfliteError> {
        self.ty.as_ref().map_err(TfliteError::clone)
    }

    /// Returns its type as the output of an operator. Indices and the like of 64 bits have 32 bits in the graph,
    /// which suffice.
    pub fn output_type(&self) -> Result<TensorType, TfliteError> {
        let ty = self.ty()?.clone();
        Ok(if ty.dtype == DType::Int64 { TensorType { dtype: DType::Int32, ..ty } } else { ty })
    }

    /// Returns the bytes of a constant, or `None` for a tensor that is computed.
    pub fn data(&self) -> Result<Option<&[u8]>, TfliteError> {
        self.data.as_ref().map(Option::as_deref).map_err(TfliteError::clone)
    }

    /// Turns the tensor into a constant of these bytes.
    pub fn become_constant(&mut self, data: Vec<u8>) {
        self.data = Ok(Some(data.into()));
    }

    /// Returns the number of its scales.
    pub(super) fn scales(&self) -> usize {
        let quantization = self.ty.as_ref().ok().and_then(|ty| ty.quantization.as_ref());
        quantization.map_or(0, |quantization| quantization.scales().len())
    }

    /// Returns the maximum number of values in its bytes.
    pub(super) fn stored_values(&self) -> usize {
        let (Ok(ty), Ok(Some(data))) = (&self.ty, self.data()) else { return 0 };
        data.len().saturating_mul(8) / ty.dtype.bits() as usize
    }

    /// Returns the values of a constant with the bytes `data`.
    pub fn values(&self, data: &[u8]) -> Result<Values, TfliteError> {
        let ty = self.ty()?;
        let count = ty.shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let expected =
            count.and_then(|n| n.checked_mul(ty.dtype.bits() as usize)).map(|bits| bits.div_ceil(8));
        let (Some(count), true) = (count, expected == Some(data.len())) else {
            let problem =
                format!("{} bytes of data do not match {} of shape {:?}", data.len(), ty.dtype, ty.shape);
            return Err(self.error(problem));
        };
        Ok(Values::Codes(match ty.dtype {
            DType::Int8 => data.iter().map(|&b| b as i8).collect(),
            DType::UInt8 => data.iter().map(|&b| i32::from(b)).collect(),
            DType::Int16 => data.chunks_exact(2).map(|b| i32::from(i16::read(b))).collect(),
            DType::UInt16 => data.chunks_exact(2).map(|b| i32::from(u16::read(b))).collect(),
            DType::Int32 | DType::Float32 => data.chunks_exact(4).map(i32::read).collect(),
            DType::Int4 => nibbles(data).take(count).map(|n| i32::from((n << 4) as i8 >> 4)).collect(),
            DType::UInt4 => nibbles(data).take(count).map(i32::from).collect(),
            DType::Int64 => return Ok(Values::Wide(data.chunks_exact(8).map(i64::read).collect())),
            other => return Err(self.error(format!("is {other}, which is not supported"))),
        }))
    }

    /// Returns the values of a constant of 64 bits, which must fit 32 bits. Returns `None` for a tensor that is
    /// computed.
    pub fn narrow(&self) -> Result<Option<Vec<i32>>, TfliteError> {
        let Some(data) = self.data()? else { return Ok(None) };
        let value = |b: &[u8]| {
            let value = i64::read(b);
            i32::try_from(value).map_err(|_| self.error(format!("the value {value} does not fit 32 bits")))
        };
        data.chunks_exact(8).map(value).collect::<Result<_, _>>().map(Some)
    }

    /// Returns the values of a constant with a shape, axes or the like, or `None` for a tensor that is computed.
    pub fn integers(&self) -> Result<Option<Vec<i64>>, TfliteError> {
        let Some(data) = self.data()? else { return Ok(None) };
        let values: Vec<i64> = match self.element.clone()? {
            element::INT32 => data.chunks_exact(4).take(MOST + 1).map(|b| i32::read(b).into()).collect(),
            element::INT64 => data.chunks_exact(8).take(MOST + 1).map(i64::read).collect(),
            other => {
                return Err(self.error(format!("type {}, expected int32 or int64", element_name(other))));
            }
        };
        if values.len() > MOST {
            return Err(self.error(format!("more than {MOST} values for the axes of a tensor")));
        }
        Ok(Some(values))
    }

    fn error(&self, text: String) -> TfliteError {
        problem(&self.name, text)
    }
}

/// Maximum number of values of a constant with a shape, axes or the like: a pair of paddings per axis.
const MOST: usize = 2 * MAX_AXES;

/// Returns shape, dtype, scales and zero points of a tensor called `name`.
fn tensor_type(
    tensor: schema::Tensor<'_>,
    element: i8,
    name: &str,
    budget: &mut Budget,
) -> Result<TensorType, TfliteError> {
    let dtype = dtype(element, name)?;
    if tensor.is_sparse()? {
        return Err(problem(name, "sparse storage is not supported".into()));
    }
    let shape = shape(tensor, name)?;
    let quantization = match tensor.quantization()? {
        // Scales of real values have no meaning, and runtimes ignore them.
        Some(parameters) if dtype != DType::Float32 => quantization(parameters, name, budget)?,
        _ => None,
    };
    Ok(TensorType { shape, dtype, quantization })
}

/// Returns the sizes of a tensor called `name`. An unknown batch is stored as 1 here, and as -1 in a separate field.
fn shape(tensor: schema::Tensor<'_>, name: &str) -> Result<Vec<usize>, TfliteError> {
    let Some(sizes) = tensor.shape()? else { return Ok(Vec::new()) };
    if sizes.len() > MAX_AXES {
        return Err(problem(name, format!("{} axes; expected at most {MAX_AXES}", sizes.len())));
    }
    let size = |size: i32| usize::try_from(size).map_err(|_| problem(name, format!("negative size {size}")));
    sizes.iter().map(size).collect()
}

/// Returns the bytes of a constant, or `None` for a tensor that is computed.
fn constant_bytes<'a>(
    file: &'a [u8],
    model: Model<'a>,
    tensor: schema::Tensor<'a>,
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

/// Returns two values per byte, the low half first.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().flat_map(|b| [b & 15, b >> 4])
}

fn problem(name: &str, problem: String) -> TfliteError {
    TfliteError::Tensor { tensor: name.into(), problem }
}
