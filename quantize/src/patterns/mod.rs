//! Patterns: the parts of a float network that become one quantized operation, one file each.
//!
//! Each has two forms that one operation serves, on the same codes of its inputs: the *simulated* form makes integral
//! sums of 32 bits, or real values, before anything is decided about the codes of the output; the *integer* form makes
//! those codes. To add one, write its file and add its line to `PATTERNS`.

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

/// All of them; the first one that matches is taken.
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

/// A part of a float network that becomes one quantized operation.
pub(crate) trait UnitPattern: Sync {
    /// Its name in audits.
    fn name(&self) -> &'static str;

    /// What it looks for.
    fn pattern(&self) -> Pattern;

    /// The operation that a match is; `None` where it is none that can be quantized.
    fn operation(&self, found: &Match<'_>) -> Option<Operation>;
}

/// A quantized operation with what it reads.
pub(crate) struct Operation {
    pub forms: Arc<dyn Forms>,
    /// Activations of the float network, in order.
    pub inputs: Vec<TensorId>,
    /// What is done to its values before they become codes.
    pub clip: Option<Clip>,
}

/// The two forms of a quantized operation.
pub(crate) trait Forms: Debug + Send + Sync {
    /// Where the scale and zero point of its output come from.
    fn output(&self) -> Output {
        Output::Chosen
    }

    /// The layer, if it has constant weights.
    fn layer(&self) -> Option<&Layer> {
        None
    }

    /// Adds the simulated form; `inputs` are tensors of codes. What it makes are sums of 32 bits or real values.
    fn simulated(&self, to: &mut Emit, parts: &Parts<'_>) -> Result<TensorId, QuantizeError>;

    /// Adds the integer form.
    fn integer(
        &self,
        to: &mut Emit,
        parts: &Parts<'_>,
        codes: &TensorCodes,
    ) -> Result<TensorId, QuantizeError>;
}

/// What a form is made with.
pub(crate) struct Parts<'a> {
    /// Tensors of codes in the network that is built.
    pub inputs: &'a [TensorId],
    /// The weights of a layer.
    pub weights: Option<&'a LayerCodes>,
    /// Name of the output.
    pub name: &'a str,
}

/// Where the scale and zero point of an output come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// They are chosen by what is observed.
    Chosen,
    /// They are chosen, and are never those of the first input.
    Apart,
    /// They are those of the first input: its codes are moved, or compared.
    AsInput,
    /// They are those of the first input unless the layer that reads it chooses others.
    AsInputAtFirst,
    /// The range of values is known whatever the input.
    Given(fn(CodeRange) -> Parameters),
}

impl Output {
    /// Whether other codes may be chosen for it, once it is known what it holds.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Chosen | Self::AsInputAtFirst)
    }
}

/// The operation of the first of these that matches.
fn one_input(found: &Match<'_>, forms: impl Forms + 'static) -> Option<Operation> {
    Some(Operation { forms: Arc::new(forms), inputs: vec![found.id("x")?], clip: Clip::of(found) })
}

/// Any activation.
fn activation(name: &'static str) -> Pattern {
    Pattern::any().where_tensor(|tensor| tensor.constant.is_none()).named(name)
}
