//! Methods that choose the parameters of a whole layer, with its accelerator in the loop.

mod problem;

pub use problem::{LayerInput, LayerProblem, Targets};
pub(crate) use problem::{bias_codes, weight_codes};

use guardbit_graph::CodeRange;
use guardbit_sim::LayerStats;

use crate::method::{Guaranteed, OverflowAware};
use crate::{Parameters, QuantizeError};

/// Chooses the parameters of a layer that multiplies and accumulates: scales of activations and weights, and
/// the codes of the weights.
pub trait LayerMethod: Send + Sync {
    /// Returns the name on the command line.
    fn name(&self) -> &str;

    /// Returns the parameters of `layer`. [`LayerProblem::plain`] is always a valid choice.
    ///
    /// # Errors
    /// [`QuantizeError`] if a candidate cannot be run, or no parameters satisfy the method's guarantee.
    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError>;

    /// Returns whether its parameters are guaranteed to have a property that plain parameters may lack.
    fn promises(&self) -> bool {
        false
    }
}

/// All methods for layers.
pub const LAYER_METHODS: &[&dyn LayerMethod] = &[&OverflowAware::USUAL, &Guaranteed];

/// Parameters that turn a real layer into one on codes.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParameters {
    /// Parameters of the activations that it reads. If [`LayerProblem::input`] is [`LayerInput::Fixed`], they
    /// must equal those.
    pub input: Parameters,
    /// Range of the codes that it reads. If the input is free, it is the whole range of its target, or a part
    /// of it that includes the zero point; otherwise the range of the target.
    pub input_codes: CodeRange,
    /// Weights of the layer.
    pub weights: WeightCodes,
    /// One integer per output channel, in steps of input scale times weight scale; `None` if the layer
    /// neither has nor needs a bias.
    pub bias: Option<Vec<i32>>,
    /// Parameters of its output, after its activation.
    pub output: Parameters,
}

/// Weights as codes: `real = scale * (code - zero point)`.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightCodes {
    /// One scale, or one per output channel.
    pub scales: Vec<f32>,
    /// One zero point per scale.
    pub zero_points: Vec<i32>,
    /// `[output channel][cell]`, with cells ordered by kernel row, kernel column and channel of the group,
    /// like [`LayerProblem::weights`].
    pub codes: Vec<i32>,
}

impl WeightCodes {
    /// Returns the scale of an output channel.
    pub fn scale(&self, channel: usize) -> f32 {
        self.scales[if self.scales.len() == 1 { 0 } else { channel }]
    }

    /// Returns the zero point of an output channel.
    pub fn zero_point(&self, channel: usize) -> i32 {
        self.zero_points[if self.zero_points.len() == 1 { 0 } else { channel }]
    }
}

/// Results of a layer under candidate parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOutcome {
    /// Sum of the squared real outputs of the float network.
    pub signal: f64,
    /// Sum of the squared differences of the accelerator's outputs from them, including rounding, clipping
    /// and overflows.
    pub noise: f64,
    /// Sum of the squared differences if every accumulator is wide enough.
    pub noise_exact: f64,
    /// Error of each output channel, which is the outputs' last axis.
    pub channels: Vec<ChannelOutcome>,
    /// Statistics of the accelerator: events, required bits.
    pub stats: LayerStats,
}

/// Results of an output channel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChannelOutcome {
    /// Sum of the squared differences of the accelerator's outputs from the real ones.
    pub noise: f64,
    /// Sum of the real outputs minus the accelerator's outputs.
    pub missing: f64,
    /// Number of outputs.
    pub count: u64,
}

impl LayerOutcome {
    /// Returns the signal-to-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        guardbit_sim::sqnr_db(self.signal, self.noise)
    }
}

/// Class of a layer, on which settings may depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
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
    /// All classes.
    pub const ALL: [Self; 6] =
        [Self::Conv, Self::Pointwise, Self::Depthwise, Self::Grouped, Self::Dense, Self::MatMul];

    /// Returns the name on the command line.
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
