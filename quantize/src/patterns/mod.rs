//! Patterns: parts of a float network that become one quantized operation, with one file each.
//!
//! A pattern has two forms, which use one operation on the same input codes. The *simulated* form computes
//! integer sums of 32 bits, or real values, before the codes of the output are chosen. The *integer* form
//! computes those codes. To add a pattern, write its file and add its line to `PATTERNS`.

mod activation;
mod average_pool;
mod batch_matmul;
mod clipped;
mod concat;
mod conv2d;
mod dense;
mod depthwise;
mod layer;
mod mean;
mod on_reals;
mod pair;
mod pass_through;
mod requantize;
mod resize;
mod softmax;

use std::fmt::Debug;
use std::sync::Arc;

use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{CodeRange, TensorId};

pub(crate) use clipped::Clip;
pub(crate) use layer::{Layer, LayerCodes};

use crate::emit::Emit;
use crate::{Parameters, QuantizeError, TensorCodes};

/// All patterns; the first one that matches is used.
pub(crate) const PATTERNS: &[&dyn UnitPattern] = &[
    &depthwise::Depthwise,
    &conv2d::Conv2d,
    &dense::Dense,
    &batch_matmul::BatchMatmul,
    &pair::Add,
    &pair::Subtract,
    &pair::Multiply,
    &pair::Divide,
    &pair::Maximum,
    &pair::Minimum,
    &average_pool::AveragePool,
    &mean::Mean,
    &resize::Resize,
    &concat::Concat,
    &softmax::Softmax,
    &activation::Activation,
    &requantize::OwnInput,
    &pass_through::PassThrough,
];

/// Pattern of a part of a float network that becomes one quantized operation.
pub(crate) trait UnitPattern: Sync {
    /// Returns its name in audits.
    fn name(&self) -> &'static str;

    /// Returns the pattern of nodes.
    fn pattern(&self) -> Pattern;

    /// Returns the operation of a match; `None` if it cannot be quantized.
    fn operation(&self, found: &Match<'_>) -> Option<Operation>;
}

/// Quantized operation with its inputs.
pub(crate) struct Operation {
    pub forms: Arc<dyn Forms>,
    /// Activations of the float network, in order.
    pub inputs: Vec<TensorId>,
    /// Limits that are applied to its values before they become codes.
    pub clip: Option<Clip>,
}

/// Both forms of a quantized operation.
pub(crate) trait Forms: Debug + Send + Sync {
    /// Returns the source of its output's scale and zero point.
    fn output(&self) -> Output {
        Output::Chosen
    }

    /// Returns the layer, if it has constant weights.
    fn layer(&self) -> Option<&Layer> {
        None
    }

    /// Adds the simulated form; `inputs` are tensors of codes. Its output is sums of 32 bits or real values.
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError>;

    /// Adds the integer form.
    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError>;
}

/// Inputs of a form.
pub(crate) struct Parts<'a> {
    /// Tensors of codes in the network that is built.
    pub inputs: &'a [TensorId],
    /// Weights of a layer.
    pub weights: Option<&'a LayerCodes>,
    /// Name of the output.
    pub name: &'a str,
}

/// Source of an output's scale and zero point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// Chosen from the observed values.
    Chosen,
    /// Chosen, but never equal to those of the first input.
    Apart,
    /// Equal to those of the first input, whose codes are moved or compared.
    AsInput,
    /// Equal to those of the first input, unless the layer that reads the output chooses others.
    AsInputAtFirst,
    /// Fixed, because the range of values does not depend on the input.
    Given(fn(CodeRange) -> Parameters),
}

impl Output {
    /// Returns whether other codes may be chosen once the values are known.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Chosen | Self::AsInputAtFirst)
    }
}

/// Returns an operation with one input.
fn one_input(found: &Match<'_>, forms: impl Forms + 'static) -> Option<Operation> {
    Some(Operation { forms: Arc::new(forms), inputs: vec![found.id("x")?], clip: Clip::of(found) })
}

/// Returns the pattern of any activation.
fn activation(name: &'static str) -> Pattern {
    Pattern::any().where_tensor(|tensor| tensor.constant.is_none()).named(name)
}
