//! What a name of the file stands for while it is read.

use std::rc::Rc;

use guardbit_graph::ops::RealFunction;
use guardbit_graph::{Brief, CodeRange, DType, Quantization, TensorId};

use super::constant::Constant;
use super::error::OnnxError;
use super::node::Node;

/// A value of the file.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A constant.
    Constant(Rc<Constant>),
    /// Real values in the graph.
    Real(Located),
    /// Codes in the graph, which carry their quantization.
    Codes(Located),
    /// Real values that codes stand for: nothing of the graph as long as it does not have to be.
    Dequantized(Dequantized),
}

/// A tensor of the graph, whose axes may lie in another order than in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub id: TensorId,
    /// Whether axis 1 of the file, the channels, is the last one in the graph.
    pub channels_last: bool,
}

/// Functions of the real values that codes stand for.
#[derive(Debug, Clone)]
pub(super) struct Dequantized {
    pub source: Source,
    pub quant: Quant,
    /// Applied one after the other to every element.
    pub functions: Vec<(RealFunction, Vec<f32>)>,
}

/// Where codes are.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Constant(Rc<Constant>),
    Tensor(Located),
}

/// How codes stand for real values. The axis is that of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quant {
    pub dtype: DType,
    pub scales: Vec<f32>,
    pub zero_points: Vec<i32>,
    pub axis: Option<usize>,
    /// Least and greatest code, where it is not those of the dtype.
    pub range: Option<[i32; 2]>,
}

impl Quant {
    pub fn per_tensor(dtype: DType, scale: f32, zero_point: i32) -> Self {
        Self { dtype, scales: vec![scale], zero_points: vec![zero_point], axis: None, range: None }
    }

    /// Least and greatest code.
    pub fn limits(&self) -> [i32; 2] {
        self.range.unwrap_or([self.dtype.min(), self.dtype.max()])
    }

    /// The only scale and zero point, if there is one.
    pub fn single(&self) -> Option<(f32, i32)> {
        let first = || Some((*self.scales.first()?, *self.zero_points.first()?));
        if self.axis.is_none() || self.scales.len() == 1 { first() } else { None }
    }

    /// The code of a real value, as ONNX's QuantizeLinear has it.
    pub fn code(&self, real: f32, channel: usize) -> i32 {
        let steps = (real / self.scales[channel]).round_ties_even();
        let code = (steps as i128).saturating_add(self.zero_points[channel].into());
        let [low, high] = self.limits();
        code.clamp(low.into(), high.into()) as i32
    }

    /// The real value of a code.
    pub fn real(&self, code: i32, channel: usize) -> f32 {
        (i64::from(code) - i64::from(self.zero_points[channel])) as f32 * self.scales[channel]
    }

    /// The same along an axis of the graph.
    pub fn quantization(
        &self,
        axis: Option<usize>,
    ) -> Result<Quantization, guardbit_graph::QuantizationError> {
        let quantization = match axis {
            Some(axis) => Quantization::per_axis(self.scales.clone(), self.zero_points.clone(), axis),
            None => Quantization::per_tensor(self.scales[0], self.zero_points[0]),
        }?;
        let range = self.range.and_then(|[low, high]| CodeRange::new(low, high));
        Ok(range.map_or(quantization.clone(), |range| quantization.with_range(range)))
    }
}

/// The axis of the graph that is axis `axis` of the file, of so many.
pub(super) fn graph_axis(axis: usize, rank: usize, channels_last: bool) -> usize {
    match axis {
        _ if !channels_last => axis,
        0 => 0,
        1 => rank - 1,
        _ => axis - 1,
    }
}

impl Dequantized {
    pub fn new(source: Source, quant: Quant) -> Self {
        Self { source, quant, functions: Vec::new() }
    }

    /// The real values of constant codes.
    pub fn constant(&self, node: Node<'_>, codes: &Constant) -> Result<Constant, OnnxError> {
        let values = codes.as_integers().ok_or_else(|| node.error("codes must be integers"))?;
        let (inner, size) = match self.quant.axis {
            Some(axis) if codes.shape.get(axis) == Some(&self.quant.scales.len()) => {
                (codes.shape[axis + 1..].iter().product(), codes.shape[axis])
            }
            Some(axis) => {
                let (count, shape) = (self.quant.scales.len(), Brief(&codes.shape));
                let problem = format!("reads codes of shape {shape} by {count} scales along axis {axis}");
                return Err(node.error(problem));
            }
            None => (usize::MAX, 1),
        };
        let real = |(index, &code): (usize, &i64)| {
            let real = self.quant.real(code as i32, index / inner % size);
            self.functions.iter().fold(real, |x, (function, parameters)| function.apply(x, parameters))
        };
        let values = values.iter().enumerate().map(real).collect();
        Ok(Constant::reals(codes.shape.clone(), values))
    }

    /// The real value that is made of a code.
    pub fn value(&self, code: i32) -> f32 {
        let real = self.quant.real(code, 0);
        self.functions.iter().fold(real, |x, (function, parameters)| function.apply(x, parameters))
    }
}
