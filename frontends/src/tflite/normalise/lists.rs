//! Short lists of integers (shapes, axes and the like), and operators on them.

use guardbit_graph::{DType, MAX_AXES, TensorType};

use super::strided::{Masks, taken};
use super::{Operands, strided};
use crate::tflite::parse::{Field, Input, Tensor};

/// A constant of integers without quantization.
pub(super) struct Integers {
    shape: Vec<usize>,
    values: Vec<i64>,
}

/// Maximum number of values of a list, and of inputs of an operator that computes one: the paddings of all axes.
const MOST: usize = 2 * MAX_AXES;

impl Integers {
    fn scalar(value: i64) -> Self {
        Self { shape: Vec::new(), values: vec![value] }
    }

    fn list(values: Vec<i64>) -> Self {
        Self { shape: vec![values.len()], values }
    }

    fn with_shape(self, shape: Vec<usize>) -> Option<Self> {
        let count = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        (count == Some(self.values.len())).then_some(Self { shape, ..self })
    }

    /// Turns `tensor` into a constant of these values. Fails if there are too many or its type does not hold them.
    pub fn store(&self, tensor: &mut Tensor<'_>) -> bool {
        if self.values.len() > MOST {
            return false;
        }
        let bytes = match tensor.ty() {
            Ok(TensorType { shape, dtype: DType::Int32, quantization: None }) if *shape == self.shape => {
                let narrow = |&value| i32::try_from(value).ok().map(i32::to_le_bytes);
                self.values.iter().map(narrow).collect::<Option<Vec<_>>>().map(|bytes| bytes.concat())
            }
            Ok(TensorType { shape, dtype: DType::Int64, quantization: None }) if *shape == self.shape => {
                Some(self.values.iter().flat_map(|value| value.to_le_bytes()).collect())
            }
            _ => None,
        };
        bytes.map(|bytes| tensor.become_constant(bytes)).is_some()
    }
}

impl Operands<'_, '_> {
    /// Returns the type of an input.
    fn ty(&self, index: usize) -> Option<&TensorType> {
        match self.inputs.get(index)? {
            Input::Constant(tensor) | Input::Written(tensor) => self.network.tensors[tensor].ty().ok(),
            _ => None,
        }
    }

    /// Returns the values of an input that is a constant of integers.
    fn integers(&self, index: usize) -> Option<Integers> {
        let ty = self.ty(index).filter(|ty| ty.quantization.is_none())?;
        let tensor = match self.inputs[index] {
            Input::Constant(tensor) => tensor,
            Input::Written(tensor) if self.computed.contains(&tensor) => tensor,
            _ => return None,
        };
        Integers::list(self.network.tensors[&tensor].integers().ok()??).with_shape(ty.shape.clone())
    }

    /// Returns the values of all inputs, if they are few.
    fn all(&self) -> Option<Vec<Integers>> {
        let count = Some(self.inputs.len()).filter(|&count| count <= MOST)?;
        (0..count).map(|index| self.integers(index)).collect()
    }

    /// Returns `None` unless there are `count` inputs.
    fn expect(&self, count: usize) -> Option<()> {
        (self.inputs.len() == count).then_some(())
    }
}

pub(super) fn shape(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(1)?;
    Some(Integers::list(operands.ty(0)?.shape.iter().map(|&size| size as i64).collect()))
}

pub(super) fn rank(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(1)?;
    Some(Integers::scalar(operands.ty(0)?.shape.len() as i64))
}

pub(super) fn cast(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(1)?;
    operands.integers(0)
}

pub(super) fn strided_slice(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(4)?;
    let options = operands.operator.options(strided::OPTIONS).ok()?;
    let masks = Masks::read(&options).ok()?;
    if options.flag(Field(5, "StridedSliceOptions.offset"), false) != Ok(false) {
        return None;
    }
    let x = operands.integers(0)?;
    let [begin, end, strides] = [operands.integers(1)?, operands.integers(2)?, operands.integers(3)?];
    let slice = taken(&masks, [&begin.values, &end.values, &strides.values], &x.shape).ok()?;
    let mut places = vec![0i64];
    for (axis, &size) in x.shape.iter().enumerate() {
        let along = |k: usize| slice.begin[axis] as i64 + k as i64 * slice.strides[axis];
        let place = |at: &i64| (0..slice.size[axis]).map(|k| at * size as i64 + along(k)).collect::<Vec<_>>();
        places = places.iter().flat_map(place).collect();
    }
    let values = places.iter().map(|&at| x.values.get(usize::try_from(at).ok()?).copied());
    let values = values.collect::<Option<Vec<_>>>()?;
    Integers::list(values).with_shape(slice.shape.unwrap_or(slice.size))
}

pub(super) fn pack(operands: &Operands<'_, '_>) -> Option<Integers> {
    let axis = operands.operator.options(59).ok()?.scalar::<i32>(Field(1, "PackOptions.axis"), 0).ok()?;
    let mut parts = operands.all()?;
    let axis = from_start(axis.into(), parts.first()?.shape.len() + 1)?;
    parts.iter_mut().for_each(|part| part.shape.insert(axis.min(part.shape.len()), 1));
    joined(&parts, axis)
}

pub(super) fn concatenation(operands: &Operands<'_, '_>) -> Option<Integers> {
    let options = operands.operator.options(10).ok()?;
    let activation = options.scalar::<i8>(Field(1, "ConcatenationOptions.fused_activation_function"), 0);
    let axis = options.scalar::<i32>(Field(0, "ConcatenationOptions.axis"), 0).ok()?;
    let parts = operands.all().filter(|_| activation == Ok(0))?;
    joined(&parts, from_start(axis.into(), parts.first()?.shape.len())?)
}

pub(super) fn reshape(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(2)?;
    let (x, to) = (operands.integers(0)?, operands.integers(1)?);
    // One size may be -1 and is then computed from the number of elements.
    let given: Vec<_> = to.values.iter().filter(|&&size| size != -1).collect();
    let known = given.iter().try_fold(1usize, |n, &&size| n.checked_mul(usize::try_from(size).ok()?))?;
    let rest = x.values.len().checked_div(known).filter(|_| to.values.len() - given.len() <= 1)?;
    x.with_shape(to.values.iter().map(|&size| usize::try_from(size).unwrap_or(rest)).collect())
}

/// Computes GATHER: elements of a list by their indices.
pub(super) fn gather(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(2)?;
    let options = operands.operator.options(23).ok()?;
    let plain = |slot, name| options.scalar::<i32>(Field(slot, name), 0) == Ok(0);
    let (x, at) = (operands.integers(0)?, operands.integers(1)?);
    if x.shape.len() != 1 || !plain(0, "GatherOptions.axis") || !plain(1, "GatherOptions.batch_dims") {
        return None;
    }
    let values = at.values.iter().map(|&at| x.values.get(usize::try_from(at).ok()?).copied());
    Integers::list(values.collect::<Option<Vec<_>>>()?).with_shape(at.shape)
}

pub(super) fn add(operands: &Operands<'_, '_>) -> Option<Integers> {
    pair(operands, 11, i64::checked_add)
}

pub(super) fn sub(operands: &Operands<'_, '_>) -> Option<Integers> {
    pair(operands, 28, i64::checked_sub)
}

pub(super) fn mul(operands: &Operands<'_, '_>) -> Option<Integers> {
    pair(operands, 21, i64::checked_mul)
}

/// Computes REDUCE_PROD over a whole list.
pub(super) fn product(operands: &Operands<'_, '_>) -> Option<Integers> {
    operands.expect(2)?;
    let keep = operands.operator.options(27).ok()?.flag(Field(0, "ReducerOptions.keep_dims"), false).ok()?;
    let (x, axes) = (operands.integers(0)?, operands.integers(1)?);
    if x.shape.len() != 1 || !matches!(axes.values[..], [0 | -1]) {
        return None;
    }
    let product = x.values.iter().try_fold(1i64, |product, &value| product.checked_mul(value))?;
    Integers::scalar(product).with_shape(vec![1; usize::from(keep)])
}

/// Computes a function element by element. A single value is combined with each of several.
///
/// A fused activation, field 0 of the options, is not supported.
fn pair(operands: &Operands<'_, '_>, number: u8, of: fn(i64, i64) -> Option<i64>) -> Option<Integers> {
    operands.expect(2)?;
    let options = operands.operator.options(number).ok()?;
    let activation = options.scalar::<i8>(Field(0, "fused_activation_function"), 0);
    let (x, y) = (operands.integers(0)?, operands.integers(1)?);
    let spread = |one: &Integers, all: &Integers| one.values.len() == 1 && one.shape.len() <= all.shape.len();
    let shape = match (x.shape == y.shape || spread(&y, &x), spread(&x, &y)) {
        _ if activation != Ok(0) => return None,
        (true, _) => x.shape,
        (_, true) => y.shape,
        _ => return None,
    };
    let value = |of: &[i64], at: usize| of.get(at).or(of.first()).copied();
    let values = (0..x.values.len().max(y.values.len()))
        .map(|at| of(value(&x.values, at)?, value(&y.values, at)?))
        .collect::<Option<Vec<_>>>()?;
    Integers::list(values).with_shape(shape)
}

/// Returns lists concatenated along an axis. All other sizes must be equal.
fn joined(parts: &[Integers], axis: usize) -> Option<Integers> {
    let first = parts.first()?;
    let other = |shape: &[usize]| [&shape[..axis], &shape[axis + 1..]].concat();
    if parts.iter().any(|part| part.shape.len() != first.shape.len()) || axis >= first.shape.len() {
        return None;
    }
    if parts.iter().any(|part| other(&part.shape) != other(&first.shape)) {
        return None;
    }
    let mut shape = first.shape.clone();
    shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
    let outer: usize = shape[..axis].iter().product();
    let rows = |part: &Integers, row: usize| {
        let width = part.values.len() / outer;
        part.values[row * width..(row + 1) * width].to_vec()
    };
    let values = (0..outer).flat_map(|row| parts.iter().flat_map(move |part| rows(part, row)));
    Integers::list(values.collect()).with_shape(shape)
}

/// Returns an axis in `0..rank`. A negative one counts from the end.
fn from_start(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}
