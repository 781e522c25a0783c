//! Values of names in the file during reading.

use std::rc::Rc;

use guardbit_graph::ops::RealFunction;
use guardbit_graph::{DType, Quantization, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::{Quant, reals_of};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// A value of the file.
#[derive(Debug, Clone)]
pub(in crate::onnx) enum Value {
    /// A constant.
    Constant(Rc<Constant>),
    /// Real values in the graph.
    Real(Located),
    /// Codes in the graph, which carry their quantization.
    Codes(Located),
    /// Real values of codes. They become a tensor of the graph only if necessary.
    Dequantized(Dequantized),
}

/// A tensor of the graph, whose axes may be in another order than in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::onnx) struct Located {
    pub id: TensorId,
    /// Whether axis 1 of the file, the channels, is the last one in the graph.
    pub channels_last: bool,
}

/// Type of the elements of an output: codes, or real values.
#[derive(Debug, Clone)]
pub(in crate::onnx) struct Coding {
    pub dtype: DType,
    pub quantization: Option<Quantization>,
}

impl Coding {
    pub const REAL: Self = Self { dtype: DType::Float32, quantization: None };
}

impl Value {
    /// Returns the tensor that holds the elements of a value, or `None` for a constant.
    pub fn located(&self) -> Option<Located> {
        match self {
            Self::Real(at) | Self::Codes(at) => Some(*at),
            Self::Dequantized(Dequantized { source: Source::Tensor(at), .. }) => Some(*at),
            _ => None,
        }
    }

    /// Returns the value with its elements in another tensor.
    pub fn at(self, at: Located) -> Self {
        match self {
            Self::Real(_) => Self::Real(at),
            Self::Codes(_) => Self::Codes(at),
            Self::Dequantized(d) => Self::Dequantized(Dequantized { source: Source::Tensor(at), ..d }),
            constant => constant,
        }
    }
}

/// Codes with functions of their real values.
#[derive(Debug, Clone)]
pub(in crate::onnx) struct Dequantized {
    pub source: Source,
    pub quant: Quant,
    /// Functions applied to every element, one after the other.
    pub functions: Vec<(RealFunction, Vec<f32>)>,
}

/// The location of codes.
#[derive(Debug, Clone)]
pub(in crate::onnx) enum Source {
    Constant(Rc<Constant>),
    Tensor(Located),
}

/// Returns the axis of the graph that corresponds to axis `axis` of the file, for a tensor of `rank` axes.
pub(in crate::onnx) fn graph_axis(axis: usize, rank: usize, channels_last: bool) -> usize {
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

    /// Returns the real values of constant codes.
    pub fn constant(&self, node: Node<'_>, codes: &Constant) -> Result<Constant, OnnxError> {
        let reals = reals_of(node, codes, &self.quant)?;
        let of = |real: &f32| {
            self.functions.iter().fold(*real, |x, (function, parameters)| function.apply(x, parameters))
        };
        let values = reals.as_reals().unwrap_or_default().iter().map(of).collect();
        Ok(Constant { of_codes: true, ..Constant::reals(reals.shape, values) })
    }

    /// Returns the real value of a code after all functions.
    pub fn value(&self, code: i32) -> f32 {
        let real = self.quant.real(code, 0);
        self.functions.iter().fold(real, |x, (function, parameters)| function.apply(x, parameters))
    }
}
