//! Constants: initializers, and values computed from them.

use std::rc::Rc;

use guardbit_graph::{CodeRange, DType, MAX_ELEMENTS, RealCodes};

use super::integers::Integers;
use super::proto::element;

/// A constant, as a row-major array.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) struct Constant {
    /// Number of the element type in the file.
    pub element: i32,
    pub shape: Vec<usize>,
    pub data: Data,
    /// The codes that it may hold, if the file declares them.
    pub range: Option<CodeRange>,
    /// Whether the elements are real values of codes in the file, or computed from such values.
    pub of_codes: bool,
    /// The floating-point codes whose scaled values the elements are.
    pub floats: Option<Rc<FloatCodes>>,
}

/// Floating-point codes of a constant in the order of its elements, and their scales.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) struct FloatCodes {
    pub dtype: DType,
    pub codes: Vec<i32>,
    /// Scales in a shape that broadcasts to that of the constant: a scalar, or one of equal rank.
    pub scales: Constant,
}

/// The elements of a constant. All integer types share one kind, and all real types are float32, which
/// holds every value of shorter ones.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) enum Data {
    Integers(Integers),
    Reals(Vec<f32>),
}

/// Returns the number of elements of a shape, or `None` beyond [`MAX_ELEMENTS`].
///
/// The limit applies to the product of all sizes other than 0, so the product of any subset fits.
pub(in crate::onnx) fn elements_of(shape: &[usize]) -> Option<usize> {
    let product = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size.max(1)))?;
    (product <= MAX_ELEMENTS).then(|| if shape.contains(&0) { 0 } else { product })
}

/// Returns the dtype of an element type that holds floating-point numbers of at most 16 bits.
pub(in crate::onnx) fn short_float(number: i32) -> Option<DType> {
    Some(match number {
        element::FLOAT16 => DType::Float16,
        element::BFLOAT16 => DType::BFloat16,
        element::FLOAT8E4M3FN => DType::Float8E4M3Fn,
        element::FLOAT8E4M3FNUZ => DType::Float8E4M3FnUz,
        element::FLOAT8E5M2 => DType::Float8E5M2,
        element::FLOAT8E5M2FNUZ => DType::Float8E5M2FnUz,
        element::FLOAT4E2M1 => DType::Float4E2M1,
        element::FLOAT8E8M0 => DType::Float8E8M0,
        _ => return None,
    })
}

/// Returns real values rounded to an element type of at most 16 bits, and unchanged for any other type.
pub(in crate::onnx) fn rounded(values: Vec<f32>, number: i32, saturate: bool) -> Vec<f32> {
    let Some(codes) = short_float(number).and_then(RealCodes::of) else { return values };
    values.into_iter().map(|real| codes.real(codes.code(real, saturate))).collect()
}

impl FloatCodes {
    /// Returns the codes of an array of floating-point codes with these scales, or `None` for other elements.
    pub fn of(array: &Constant, scales: Constant) -> Option<Rc<Self>> {
        let dtype = short_float(array.element)?;
        let of = RealCodes::of(dtype)?;
        let codes = array.as_reals()?.iter().map(|&value| of.code(value, false)).collect();
        Some(Rc::new(Self { dtype, codes, scales }))
    }

    /// Returns whether the values have no scale.
    pub fn is_plain(&self) -> bool {
        self.scales.shape.is_empty() && self.scales.as_reals() == Some(&[1.0])
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }
}

impl Constant {
    /// Returns the elements as real numbers. Integers are converted.
    pub fn numbers(&self) -> Vec<f32> {
        match &self.data {
            Data::Reals(values) => values.clone(),
            Data::Integers(values) => values.iter().map(|value| value as f32).collect(),
        }
    }

    pub fn reals(shape: Vec<usize>, values: Vec<f32>) -> Self {
        Self {
            element: element::FLOAT,
            shape,
            data: Data::Reals(values),
            range: None,
            of_codes: false,
            floats: None,
        }
    }

    pub fn integers(element: i32, shape: Vec<usize>, values: impl IntoIterator<Item = i64>) -> Self {
        Self {
            element,
            shape,
            data: Data::Integers(values.into_iter().collect()),
            range: None,
            of_codes: false,
            floats: None,
        }
    }

    /// Returns the elements if they are integers.
    pub fn as_integers(&self) -> Option<&Integers> {
        if let Data::Integers(values) = &self.data { Some(values) } else { None }
    }

    /// Returns the elements if they are real numbers.
    pub fn as_reals(&self) -> Option<&[f32]> {
        if let Data::Reals(values) = &self.data { Some(values) } else { None }
    }

    /// Returns the elements with another shape, or `None` if their number differs.
    pub fn with_shape(&self, shape: Vec<usize>) -> Option<Self> {
        let count = elements_of(&shape)?;
        (count == self.data.len()).then(|| Self { shape, floats: None, ..self.clone() })
    }

    /// Returns the array with permuted axes.
    pub fn permuted(&self, axes: &[usize]) -> Self {
        let shape = axes.iter().map(|&axis| self.shape[axis]).collect();
        let floats = self.floats.as_ref().map(|floats| {
            let codes = permuted_places(&self.shape, axes).map(|at| floats.codes[at]).collect();
            let is_scalar = floats.scales.shape.is_empty();
            let scales = if is_scalar { floats.scales.clone() } else { floats.scales.permuted(axes) };
            Rc::new(FloatCodes { dtype: floats.dtype, codes, scales })
        });
        let data = match &self.data {
            Data::Integers(Integers::I8(codes)) => {
                Data::Integers(Integers::I8(permuted(codes, &self.shape, axes)))
            }
            Data::Integers(codes) => Data::Integers(codes.at_all(permuted_places(&self.shape, axes))),
            Data::Reals(reals) => Data::Reals(permuted(reals, &self.shape, axes)),
        };
        Self { element: self.element, shape, data, range: self.range, of_codes: self.of_codes, floats }
    }

    /// Returns the elements at the given indices as an array of the given shape.
    pub fn at(&self, places: impl Iterator<Item = usize>, shape: Vec<usize>) -> Self {
        let data = match &self.data {
            Data::Integers(values) => Data::Integers(values.at_all(places)),
            Data::Reals(values) => Data::Reals(places.map(|at| values[at]).collect()),
        };
        Self { element: self.element, shape, data, range: self.range, of_codes: self.of_codes, floats: None }
    }
}

/// Returns the elements of an array with permuted axes.
fn permuted<T: Copy + Default>(from: &[T], shape: &[usize], axes: &[usize]) -> Vec<T> {
    // Elements of a row of the result may lie far apart. Rows are written in parts, so that what is read for one of
    // them is still in the cache for the next one.
    const PART: usize = 64;
    let strides = strides(shape);
    let along = |axis: &usize| (shape[*axis], strides[*axis]);
    let Some((last, front)) = axes.split_last() else { return from.to_vec() };
    let Some((before, outer)) = front.split_last() else { return from.to_vec() };
    let ((columns, column), (rows, row)) = (along(last), along(before));
    let mut to = vec![T::default(); from.len()];
    let starts =
        places(outer.iter().map(|axis| (0..shape[*axis]).map(|at| at * strides[*axis]).collect()).collect());
    for (start, to) in starts.zip(to.chunks_exact_mut((rows * columns).max(1))) {
        for first in (0..columns).step_by(PART) {
            for (at, to) in to.chunks_exact_mut(columns).enumerate() {
                let begin = start + at * row + first * column;
                let to = &mut to[first..columns.min(first + PART)];
                to.iter_mut().enumerate().for_each(|(at, to)| *to = from[begin + at * column]);
            }
        }
    }
    to
}

/// Returns the index in the original array for every element of the permuted one.
pub(in crate::onnx) fn permuted_places(
    shape: &[usize],
    axes: &[usize],
) -> impl Iterator<Item = usize> + use<> {
    let strides = strides(shape);
    places(axes.iter().map(|&axis| (0..shape[axis]).map(|at| at * strides[axis]).collect()).collect())
}

/// Returns the indices of the elements that lie at the listed positions of each axis.
pub(in crate::onnx) fn chosen_places(
    shape: &[usize],
    lists: &[Vec<usize>],
) -> impl Iterator<Item = usize> + use<> {
    let along = lists.iter().zip(strides(shape));
    places(along.map(|(list, stride)| list.iter().map(|at| at * stride).collect()).collect())
}

/// Returns the index in the original array for every element after broadcasting.
pub(in crate::onnx) fn broadcast_places(from: &[usize], to: &[usize]) -> impl Iterator<Item = usize> + use<> {
    let strides = strides(from);
    let along = |axis: usize| match (axis + from.len()).checked_sub(to.len()) {
        Some(own) if from[own] != 1 => (0..to[axis]).map(|at| at * strides[own]).collect(),
        _ => vec![0; to[axis]],
    };
    places((0..to.len()).map(along).collect())
}

/// Returns the distances between neighbours along each axis.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Returns all sums of one offset per axis, the last axis fastest.
fn places(mut offsets: Vec<Vec<usize>>) -> impl Iterator<Item = usize> + use<> {
    // The last axis with several offsets is walked without divisions.
    let inner = offsets
        .iter()
        .rposition(|along| along.len() != 1)
        .map_or(vec![0], |axis| std::mem::replace(&mut offsets[axis], vec![0]));
    let outer: usize = offsets.iter().map(Vec::len).product();
    let (mut at, mut base) = (0, 0);
    (0..outer * inner.len()).map(move |index| {
        if at == 0 {
            let mut index = index / inner.len();
            base = 0;
            for along in offsets.iter().rev() {
                base += along[index % along.len()];
                index /= along.len();
            }
        }
        let place = base + inner[at];
        at = if at + 1 == inner.len() { 0 } else { at + 1 };
        place
    })
}

#[cfg(test)]
mod tests {
    use super::{permuted, permuted_places};

    /// Elements with permuted axes lie where their places say, also if a row is written in several parts.
    #[test]
    fn elements_are_permuted() {
        let all: [(&[usize], &[&[usize]]); 5] = [
            (&[], &[&[]]),
            (&[3], &[&[0]]),
            (&[70, 130], &[&[0, 1], &[1, 0]]),
            (&[5, 0, 2], &[&[2, 1, 0], &[1, 2, 0]]),
            (&[3, 65, 2, 4], &[&[0, 2, 3, 1], &[1, 2, 3, 0], &[3, 0, 2, 1], &[0, 1, 2, 3]]),
        ];
        for (shape, orders) in all {
            let from: Vec<u32> = (0..shape.iter().product::<usize>() as u32).collect();
            for axes in orders {
                let expected: Vec<u32> = permuted_places(shape, axes).map(|at| from[at]).collect();
                assert_eq!(permuted(&from, shape, axes), expected, "{shape:?} {axes:?}");
            }
        }
    }
}
