//! Common parts of layers with constant weights.

use guardbit_graph::{DType, Op, OutputSpec, Quantization, TensorId, TensorType};

use super::Parts;
use crate::emit::Emit;
use crate::{CodeSetting, LayerClass, QuantizeError, TensorCodes, WeightCodes};

/// Layer with real weights.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// Operation on codes, with ONNX Runtime's rounding and without an activation.
    pub op: Op,
    /// Class of the layer.
    pub class: LayerClass,
    /// Number of output channels.
    pub channels: usize,
    /// Weights, indexed `[output channel][cell]`.
    pub weights: Vec<f32>,
    /// Bias, one number per output channel.
    pub bias: Option<Vec<f32>>,
    /// Layout of the weights in the operation.
    pub layout: Layout,
}

/// Layout of weights.
#[derive(Debug, Clone)]
pub(crate) enum Layout {
    /// Shape with the output channels first.
    ChannelsFirst(Vec<usize>),
    /// Shape `[1, rows, columns, output channels]`.
    ChannelsLast([usize; 2]),
}

/// Weights and bias of a layer as codes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayerCodes {
    pub weights: WeightCodes,
    pub setting: CodeSetting,
    pub bias: Option<Vec<i32>>,
}

impl Layer {
    /// Returns the number of products per output.
    pub fn terms(&self) -> usize {
        self.weights.len() / self.channels.max(1)
    }

    /// Adds the layer with its sums as output: integers of 32 bits without a scale.
    pub fn sums(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError> {
        let output = OutputSpec { name: parts.name.into(), dtype: DType::Int32, quantization: None };
        self.emit(to, parts, output)
    }

    /// Adds the layer with codes as output.
    pub fn codes(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError> {
        self.emit(to, parts, codes.spec(parts.name)?)
    }

    fn emit(&self, to: &mut Emit, parts: &Parts<'_>, output: OutputSpec) -> Result<TensorId, QuantizeError> {
        let Some(LayerCodes { weights, setting, bias }) = parts.weights else {
            return Err(QuantizeError::Impossible {
                layer: parts.name.into(),
                problem: "has no chosen weights".into(),
            });
        };
        let name = to.fresh(parts.name, "weights");
        let ty = self.weight_type(&name, weights, *setting)?;
        let mut inputs = vec![parts.inputs[0], to.constant(name, ty, self.laid_out(&weights.codes))?];
        if let Some(bias) = bias {
            let name = to.fresh(parts.name, "bias");
            let ty = TensorType { shape: vec![bias.len()], dtype: DType::Int32, quantization: None };
            inputs.push(to.constant(name, ty, bias.clone())?);
        }
        to.node(self.op.clone(), &inputs, output)
    }

    fn weight_type(
        &self,
        name: &str,
        weights: &WeightCodes,
        setting: CodeSetting,
    ) -> Result<TensorType, QuantizeError> {
        let (shape, axis) = match &self.layout {
            Layout::ChannelsFirst(shape) => (shape.clone(), 0),
            Layout::ChannelsLast([rows, cols]) => (vec![1, *rows, *cols, self.channels], 3),
        };
        let (scales, zero_points) = (weights.scales.clone(), weights.zero_points.clone());
        let quantization = match scales[..] {
            [scale] => Quantization::per_tensor(scale, zero_points[0]),
            _ => Quantization::per_axis(scales, zero_points, axis),
        };
        let quantization =
            quantization.map_err(|source| QuantizeError::Scale { tensor: name.into(), source })?;
        let quantization = Some(quantization.with_range(setting.range()));
        Ok(TensorType { shape, dtype: setting.dtype(), quantization })
    }

    /// Returns codes in the order of the operation.
    fn laid_out(&self, codes: &[i32]) -> Vec<i32> {
        match self.layout {
            Layout::ChannelsFirst(_) => codes.to_vec(),
            Layout::ChannelsLast(_) => {
                let terms = self.terms();
                (0..codes.len()).map(|at| codes[at % self.channels * terms + at / self.channels]).collect()
            }
        }
    }
}

/// Implements the forms of a pattern that is only a [`Layer`].
macro_rules! layer_forms {
    ($ty:ident) => {
        impl $crate::patterns::Forms for $ty {
            fn layer(&self) -> Option<&$crate::patterns::Layer> {
                Some(&self.0)
            }

            fn simulated(
                &self,
                to: &mut $crate::emit::Emit,
                parts: &$crate::patterns::Parts<'_>,
            ) -> Result<guardbit_graph::TensorId, $crate::QuantizeError> {
                self.0.sums(to, parts)
            }

            fn integer(
                &self,
                to: &mut $crate::emit::Emit,
                parts: &$crate::patterns::Parts<'_>,
                codes: &$crate::TensorCodes,
            ) -> Result<guardbit_graph::TensorId, $crate::QuantizeError> {
                self.0.codes(to, parts, codes)
            }
        }
    };
}

pub(super) use layer_forms;
