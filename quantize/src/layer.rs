//! Methods that choose the parameters of a whole layer, with its accelerator in the loop.

mod problem;

pub use problem::{LayerInput, LayerProblem, Targets};
pub(crate) use problem::{bias_codes, weight_codes};

use guardbit_graph::CodeRange;
use guardbit_sim::LayerStats;

use crate::method::{Guaranteed, OverflowAware};
use crate::{Parameters, QuantizeError};

/// Chooses the parameters of a layer that multiplies and accumulates: scales of activations and weights, and the codes
/// of the weights themselves.
pub trait LayerMethod: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &str;

    /// The parameters of `layer`. What [`LayerProblem::plain`] has is always an answer.
    ///
    /// # Errors
    /// [`QuantizeError`] if a candidate cannot be run, or there is no answer that keeps what the method promises.
    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError>;

    /// Whether what it chooses is promised to have a property that plain parameters need not have.
    fn promises(&self) -> bool {
        false
    }
}

/// Every method for layers.
pub const LAYER_METHODS: &[&dyn LayerMethod] = &[&OverflowAware::USUAL, &Guaranteed];

/// Everything that makes a real layer one on codes.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParameters {
    /// Of the activations that it reads. Where [`LayerProblem::input`] is [`LayerInput::Fixed`], these have to be
    /// those.
    pub input: Parameters,
    /// The codes that it reads: where the input is free, all codes of its target or a part of them that includes the zero
    /// point, else those of the target.
    pub input_codes: CodeRange,
    /// The weights.
    pub weights: WeightCodes,
    /// One integer per output channel, in steps of input scale times weight scale; `None` where the layer has no bias
    /// and needs none.
    pub bias: Option<Vec<i32>>,
    /// Of what it makes, after its activation.
    pub output: Parameters,
}

/// Weights as codes: `real = scale * (code - zero point)`.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightCodes {
    /// One scale, or one per output channel.
    pub scales: Vec<f32>,
    /// As many zero points.
    pub zero_points: Vec<i32>,
    /// `[output channel][cell]`, cells by kernel row, kernel column, channel of the group: as
    /// [`LayerProblem::weights`].
    pub codes: Vec<i32>,
}

impl WeightCodes {
    /// The scale of an output channel.
    pub fn scale(&self, channel: usize) -> f32 {
        self.scales[if self.scales.len() == 1 { 0 } else { channel }]
    }

    /// The zero point of an output channel.
    pub fn zero_point(&self, channel: usize) -> i32 {
        self.zero_points[if self.zero_points.len() == 1 { 0 } else { channel }]
    }
}

/// What a layer did under candidate parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOutcome {
    /// Sum of the squares of the real outputs that the float network has.
    pub signal: f64,
    /// Sum of the squares of what the outputs on the accelerator differ from them by: rounding, clipping, and what
    /// became of sums that overflowed.
    pub noise: f64,
    /// The same where every accumulator is wide enough.
    pub noise_exact: f64,
    /// The error of each output channel, the outputs' last axis.
    pub channels: Vec<ChannelOutcome>,
    /// What was counted on the accelerator: events, required bits.
    pub stats: LayerStats,
}

/// What an output channel did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChannelOutcome {
    /// Sum of the squares of what its outputs on the accelerator differ from the real ones by.
    pub noise: f64,
    /// Sum of what the real outputs are greater by.
    pub missing: f64,
    /// Outputs.
    pub count: u64,
}

impl LayerOutcome {
    /// Signal to noise in dB; infinite where nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        guardbit_sim::sqnr_db(self.signal, self.noise)
    }
}

/// What a layer is, as far as its setting may depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerClass {
    /// A convolution with a window of more than one cell and one group.
    Conv,
    /// A convolution with a window of one cell and one group.
    Pointwise,
    /// A convolution each of whose groups has one input channel.
    Depthwise,
    /// A convolution of several groups of several channels.
    Grouped,
    /// A product with a constant matrix.
    Dense,
    /// A product of two matrices of activations.
    MatMul,
}

impl LayerClass {
    /// Every class.
    pub const ALL: [Self; 6] =
        [Self::Conv, Self::Pointwise, Self::Depthwise, Self::Grouped, Self::Dense, Self::MatMul];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conv => "conv",
            Self::Pointwise => "pointwise",
            Self::Depthwise => "depthwise",
            Self::Grouped => "grouped",
            Self::Dense => "dense",
            Self::MatMul => "matmul",
        }
    }
}
