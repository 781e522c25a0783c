//! What can go wrong.

use guardbit_graph::{GraphError, PatchError, QuantizationError};
use guardbit_hwmodels::LowerError;
use guardbit_sim::SimError;

/// A network that could not be quantized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuantizeError {
    /// It was to end: see [`Config::cancelled`](crate::Config::cancelled).
    #[error("cancelled")]
    Cancelled,
    /// There is nothing to calibrate with.
    #[error("there is no calibration sample")]
    NoSamples,
    /// A network with codes in it.
    #[error("the network is not in float: `{tensor}` is {dtype}")]
    NotFloat {
        /// The tensor.
        tensor: String,
        /// Its dtype.
        dtype: guardbit_graph::DType,
    },
    /// A network without a layer that could be quantized.
    #[error("the network has no operation that can be quantized")]
    NothingToQuantize,
    /// A sample that is no input of the network.
    #[error("sample {sample}: input `{input}` has {found} values, the network reads {expected}")]
    Sample {
        /// Which sample.
        sample: usize,
        /// The input.
        input: String,
        /// How many values there are.
        found: usize,
        /// How many are wanted.
        expected: usize,
    },
    /// A sample without an array for every input.
    #[error("sample {sample} has {found} inputs, the network has {expected}")]
    SampleInputs {
        /// Which sample.
        sample: usize,
        /// How many inputs there are.
        found: usize,
        /// How many are wanted.
        expected: usize,
    },
    /// More activations than there is room for.
    #[error(
        "calibrating with {samples} samples takes {needed} bytes, {most} are allowed: at most {allowed} samples"
    )]
    Memory {
        /// Bytes that it takes.
        needed: usize,
        /// Bytes that are allowed.
        most: usize,
        /// Samples that there are.
        samples: usize,
        /// Samples that there is room for.
        allowed: usize,
    },
    /// A value that is no number.
    #[error("`{tensor}` is {value} in sample {sample}: the float network itself has no finite result")]
    NotFinite {
        /// The tensor.
        tensor: String,
        /// The value.
        value: f32,
        /// Which sample.
        sample: usize,
    },
    /// A rule that names no layer.
    #[error("a setting names `{name}`, but the network has no such layer")]
    UnknownLayer {
        /// The name.
        name: String,
    },
    /// A method that needs to know the accelerator.
    #[error("the method `{method}` chooses parameters for an accelerator, and none is given")]
    NoAccelerator {
        /// The method.
        method: String,
    },
    /// Parameters that a method chose, and that make no layer.
    #[error("layer `{layer}`: method `{method}` {problem}")]
    Chosen {
        /// The layer.
        layer: String,
        /// The method.
        method: String,
        /// What is wrong with them.
        problem: String,
    },
    /// No parameters keep a promise.
    #[error("layer `{layer}`: {problem}")]
    Impossible {
        /// The layer.
        layer: String,
        /// Which promise, and why.
        problem: String,
    },
    /// A scale or zero point out of range.
    #[error("tensor `{tensor}`: {source}")]
    Scale {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        source: QuantizationError,
    },
    /// A layer that the accelerator cannot run.
    #[error("layer `{layer}`: {source}")]
    Lower {
        /// The layer.
        layer: String,
        /// What is wrong.
        source: Box<LowerError>,
    },
    /// A layer whose run was stopped.
    #[error("layer `{layer}`: {source}")]
    Run {
        /// The layer.
        layer: String,
        /// What stopped it.
        source: Box<SimError>,
    },
    /// A layer that the accelerator leaves to the host.
    #[error(
        "layer `{layer}` runs on the host of this accelerator, which has no accumulator to choose parameters for"
    )]
    Host {
        /// The layer.
        layer: String,
    },
    /// A network that cannot be put together.
    #[error("{0}")]
    Graph(Box<GraphError>),
    /// A rewrite that was refused.
    #[error("{0}")]
    Patch(Box<PatchError>),
}

impl From<GraphError> for QuantizeError {
    fn from(error: GraphError) -> Self {
        Self::Graph(Box::new(error))
    }
}

impl From<PatchError> for QuantizeError {
    fn from(error: PatchError) -> Self {
        Self::Patch(Box::new(error))
    }
}

impl QuantizeError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "guardbit::interrupted",
            Self::NoSamples | Self::Sample { .. } | Self::SampleInputs { .. } => {
                "guardbit::quantize::samples"
            }
            Self::Memory { .. } => "guardbit::quantize::memory",
            Self::NotFloat { .. } => "guardbit::quantize::not_float",
            Self::NothingToQuantize => "guardbit::quantize::nothing",
            Self::NotFinite { .. } => "guardbit::quantize::not_finite",
            Self::UnknownLayer { .. } => "guardbit::quantize::layer",
            Self::NoAccelerator { .. } => "guardbit::quantize::accelerator",
            Self::Chosen { .. } => "guardbit::quantize::method",
            Self::Impossible { .. } => "guardbit::quantize::impossible",
            Self::Scale { .. } => "guardbit::quantize::scale",
            Self::Lower { source, .. } => source.code(),
            Self::Run { .. } => "guardbit::quantize::run",
            Self::Host { .. } => "guardbit::quantize::host",
            Self::Graph(_) | Self::Patch(_) => "guardbit::quantize::network",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Cancelled => return None,
            Self::NoSamples => "give real samples of what the network will see, some hundreds of them".into(),
            Self::Sample { .. } | Self::SampleInputs { .. } => {
                "a sample has one real value per element of every input".into()
            }
            Self::Memory { .. } => "give fewer samples, as with --samples N".into(),
            Self::NotFloat { .. } => {
                "give the float network that it was made from; a quantized one runs as it is with `guardbit run`".into()
            }
            Self::NothingToQuantize => {
                "`guardbit inspect MODEL` lists its operations; docs/quantize.md those that can be quantized".into()
            }
            Self::NotFinite { .. } => "look for the sample, or the weights, that make it so".into(),
            Self::UnknownLayer { .. } => {
                "name a layer as `guardbit inspect MODEL` prints it, or a class: conv, pointwise, depthwise, grouped, \
                 dense, matmul"
                    .into()
            }
            Self::NoAccelerator { .. } => "name it with --hw, its width with --set accumulation.acc.bits=14".into(),
            Self::Chosen { .. } => "this is a mistake of the method".into(),
            Self::Impossible { .. } => return None,
            Self::Scale { .. } => "the values of that tensor are beyond what float32 scales can represent".into(),
            Self::Lower { source, .. } => source.help().into(),
            Self::Run { .. } => "choose an overflow mode other than trap".into(),
            Self::Host { .. } => "add the operation to `offload` of the accelerator".into(),
            Self::Graph(_) | Self::Patch(_) => "this is a mistake of guardbit: please report the network".into(),
        })
    }
}
