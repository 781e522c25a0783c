//! The quantization of codes in a file.

use guardbit_graph::{Brief, CodeRange, DType, Quantization};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// The relation of codes to real values. The axis is that of the file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::onnx) struct Quant {
    pub dtype: DType,
    pub scales: Vec<f32>,
    pub zero_points: Vec<i32>,
    pub axis: Option<usize>,
    /// The codes, if they are not all codes of the dtype.
    pub range: Option<CodeRange>,
}

impl Quant {
    pub fn per_tensor(dtype: DType, scale: f32, zero_point: i32) -> Self {
        Self { dtype, scales: vec![scale], zero_points: vec![zero_point], axis: None, range: None }
    }

    /// Returns the possible codes.
    pub fn codes(&self) -> CodeRange {
        self.range.unwrap_or(self.dtype.into())
    }

    /// Returns the least and the greatest code.
    pub fn limits(&self) -> [i32; 2] {
        self.codes().ends().into()
    }

    /// Returns the only scale and zero point, if there is only one.
    pub fn single(&self) -> Option<(f32, i32)> {
        let first = || Some((*self.scales.first()?, *self.zero_points.first()?));
        if self.axis.is_none() || self.scales.len() == 1 { first() } else { None }
    }

    /// Returns the code of a real value by ONNX's QuantizeLinear.
    pub fn code(&self, real: f32, channel: usize) -> i32 {
        let steps = (real / self.scales[channel]).round_ties_even();
        self.codes().clamp((steps as i128).saturating_add(self.zero_points[channel].into()))
    }

    /// Returns the real value of a code.
    pub fn real(&self, code: i32, channel: usize) -> f32 {
        (i64::from(code) - i64::from(self.zero_points[channel])) as f32 * self.scales[channel]
    }

    /// Returns the quantization of the graph, with `axis` as its axis.
    pub fn quantization(
        &self,
        axis: Option<usize>,
    ) -> Result<Quantization, guardbit_graph::QuantizationError> {
        let quantization = match axis {
            Some(axis) => Quantization::per_axis(self.scales.clone(), self.zero_points.clone(), axis),
            None => Quantization::per_tensor(self.scales[0], self.zero_points[0]),
        }?;
        Ok(match self.range {
            Some(range) => quantization.with_range(range),
            None => quantization,
        })
    }
}

/// Returns the real values of constant codes.
pub(in crate::onnx) fn reals_of(
    node: Node<'_>,
    codes: &Constant,
    quant: &Quant,
) -> Result<Constant, OnnxError> {
    let values = codes.as_integers().ok_or_else(|| node.error("codes must be integers"))?;
    let (inner, size) = match quant.axis {
        Some(axis) if codes.shape.get(axis) == Some(&quant.scales.len()) => {
            (codes.shape[axis + 1..].iter().product(), codes.shape[axis])
        }
        Some(axis) => {
            let (count, shape) = (quant.scales.len(), Brief(&codes.shape));
            let problem = format!("reads codes of shape {shape} with {count} scales along axis {axis}");
            return Err(node.error(problem));
        }
        None => (usize::MAX, 1),
    };
    let real = |(index, code): (usize, i64)| quant.real(code as i32, index / inner % size);
    let values = values.iter().enumerate().map(real).collect();
    Ok(Constant { of_codes: true, ..Constant::reals(codes.shape.clone(), values) })
}

/// Returns the dtype of an element type that holds codes.
pub(in crate::onnx) fn dtype(number: i32) -> Option<DType> {
    Some(match number {
        element::UINT8 => DType::UInt8,
        element::INT8 => DType::Int8,
        element::UINT16 => DType::UInt16,
        element::INT16 => DType::Int16,
        element::INT32 => DType::Int32,
        element::UINT4 | element::UINT2 => DType::UInt4,
        element::INT4 | element::INT2 => DType::Int4,
        _ => return None,
    })
}

/// Returns the element type of codes.
pub(in crate::onnx) fn element_of(dtype: DType) -> i32 {
    match dtype {
        DType::UInt4 => element::UINT4,
        DType::Int4 => element::INT4,
        DType::UInt8 => element::UINT8,
        DType::Int8 => element::INT8,
        DType::UInt16 => element::UINT16,
        DType::Int16 => element::INT16,
        _ => element::INT32,
    }
}

/// Returns the codes of an element type if they are fewer than those of its dtype.
pub(in crate::onnx) fn range(number: i32) -> Option<CodeRange> {
    match number {
        element::UINT2 => CodeRange::new(0, 3),
        element::INT2 => CodeRange::new(-2, 1),
        _ => None,
    }
}
