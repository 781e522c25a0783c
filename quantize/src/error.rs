//! Errors of quantization.

use guardbit_graph::{GraphError, PatchError, QuantizationError};
use guardbit_hwmodels::LowerError;
use guardbit_sim::SimError;

/// Reason why a network could not be quantized.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuantizeError {
    /// Calibration was cancelled: see [`Config::cancelled`](crate::Config::cancelled).
    #[error("cancelled")]
    Cancelled,
    /// There are no calibration samples.
    #[error("there are no calibration samples")]
    NoSamples,
    /// The network contains codes.
    #[error("the network is not a float network: `{tensor}` is {dtype}")]
    NotFloat {
        /// Name of the tensor.
        tensor: String,
        /// Its dtype.
        dtype: guardbit_graph::DType,
    },
    /// The network has no layer that could be quantized.
    #[error("the network has no operation that can be quantized")]
    NothingToQuantize,
    /// A sample does not match an input of the network.
    #[error("sample {sample}: input `{input}` has {found} values, but the network reads {expected}")]
    Sample {
        /// Index of the sample.
        sample: usize,
        /// Name of the input.
        input: String,
        /// Number of values of the sample.
        found: usize,
        /// Expected number of values.
        expected: usize,
    },
    /// A sample does not have an array for every input.
    #[error("sample {sample} has {found} inputs, but the network has {expected}")]
    SampleInputs {
        /// Index of the sample.
        sample: usize,
        /// Number of arrays of the sample.
        found: usize,
        /// Number of inputs of the network.
        expected: usize,
    },
    /// The activations exceed the memory limit.
    #[error(
        "calibration with {samples} samples needs {needed} bytes; expected at most {most} bytes, that is \
         {allowed} samples"
    )]
    Memory {
        /// Required number of bytes.
        needed: usize,
        /// Allowed number of bytes.
        most: usize,
        /// Number of samples.
        samples: usize,
        /// Greatest allowed number of samples.
        allowed: usize,
    },
    /// A value is not a finite number.
    #[error("`{tensor}` is {value} in sample {sample}: the result of the float network is not finite")]
    NotFinite {
        /// Name of the tensor.
        tensor: String,
        /// The value.
        value: f32,
        /// Index of the sample.
        sample: usize,
    },
    /// A rule names a layer that does not exist.
    #[error("a setting names `{name}`, which is not a layer of the network")]
    UnknownLayer {
        /// Name in the rule.
        name: String,
    },
    /// A method requires an accelerator.
    #[error("method `{method}` needs an accelerator")]
    NoAccelerator {
        /// Name of the method.
        method: String,
    },
    /// A method chose parameters that do not form a valid layer.
    #[error("layer `{layer}`: method `{method}` {problem}")]
    Chosen {
        /// Name of the layer.
        layer: String,
        /// Name of the method.
        method: String,
        /// Description of the problem.
        problem: String,
    },
    /// No parameters can satisfy a guarantee.
    #[error("layer `{layer}`: {problem}")]
    Impossible {
        /// Name of the layer.
        layer: String,
        /// The guarantee, and the reason.
        problem: String,
    },
    /// A scale or zero point is out of range.
    #[error("tensor `{tensor}`: {source}")]
    Scale {
        /// Name of the tensor.
        tensor: String,
        /// Underlying error.
        source: QuantizationError,
    },
    /// The accelerator cannot run a layer.
    #[error("layer `{layer}`: {source}")]
    Lower {
        /// Name of the layer.
        layer: String,
        /// Underlying error.
        source: Box<LowerError>,
    },
    /// The run of a layer was stopped.
    #[error("layer `{layer}`: {source}")]
    Run {
        /// Name of the layer.
        layer: String,
        /// Underlying error.
        source: Box<SimError>,
    },
    /// The accelerator leaves a layer to the host.
    #[error("layer `{layer}` runs on the host, which has no accumulator to choose parameters for")]
    Host {
        /// Name of the layer.
        layer: String,
    },
    /// The quantized network cannot be assembled.
    #[error("{0}")]
    Graph(Box<GraphError>),
    /// A rewrite was refused.
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
    /// Returns a stable identifier of this kind of error.
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

    /// Returns a hint on how to resolve the error.
    pub fn help(&self) -> String {
        match self {
            Self::Cancelled => "run the command again; with --cache DIR a search continues".into(),
            Self::NoSamples => "give some hundreds of real samples, e.g. of the training data".into(),
            Self::Sample { .. } | Self::SampleInputs { .. } => {
                "a sample has one real value per element of every input".into()
            }
            Self::Memory { .. } => "use fewer samples, e.g. with --samples N".into(),
            Self::NotFloat { .. } => {
                "give the original float network; a quantized network needs no quantization and runs with \
                 `guardbit run`".into()
            }
            Self::NothingToQuantize => {
                "`guardbit inspect MODEL` lists the operations of the network; docs/reference/quantize.md lists those \
                 that can be quantized".into()
            }
            Self::NotFinite { .. } => "check this sample and the weights for infinite values and NaN".into(),
            Self::UnknownLayer { .. } => {
                "name a layer as `guardbit inspect MODEL` prints it, or a class: conv, pointwise, depthwise, grouped, \
                 dense, matmul"
                    .into()
            }
            Self::NoAccelerator { .. } => "name the accelerator with --hw, and the width with e.g. --set \
                                           accumulation.acc.bits=14".into(),
            Self::Chosen { .. } => "this is a fault of the method".into(),
            Self::Impossible { .. } => "leave the layer in float with --layer NAME:float, choose another method or other \
                                        codes, or use a wider accumulator".into(),
            Self::Scale { .. } => "the values of this tensor need a scale that float32 cannot represent".into(),
            Self::Lower { source, .. } => source.help().into(),
            Self::Run { .. } => "choose an overflow mode other than trap".into(),
            Self::Host { .. } => "add the operation to `offload` of the accelerator".into(),
            Self::Graph(_) | Self::Patch(_) => "this is a fault of guardbit: please report it with the \
                                                network".into(),
        }
    }
}
