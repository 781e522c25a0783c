//! Errors of the front door.

use guardbit_frontends::FrontendError;
use guardbit_hwmodels::{HwError, LowerError, PRESETS};
use guardbit_sim::SimError;

/// Error of [`Network`](crate::Network), [`Accelerator`](crate::Accelerator) and [`Run`](crate::Run).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A network's file cannot be read.
    #[error(transparent)]
    Network(#[from] FrontendError),
    /// An accelerator's file, key or value is invalid.
    #[error(transparent)]
    Accelerator(#[from] HwError),
    /// The network does not fit the accelerator.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A sample does not match the network, or an overflow was trapped.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// Samples cannot be read.
    #[cfg(feature = "study")]
    #[error(transparent)]
    Study(#[from] guardbit_study::StudyError),
    /// No preset has this name.
    #[error("unknown preset `{name}`")]
    UnknownPreset {
        /// Name that was asked for.
        name: String,
    },
    /// No accelerated layer has this name.
    #[error("unknown accelerated layer `{name}`")]
    UnknownLayer {
        /// Name that was asked for.
        name: String,
        /// Names of the most similar accelerated layers, the nearest first.
        near: Vec<String>,
    },
    /// A number is the name of one layer and the index of another.
    #[error("`{name}` is the name of layer `{by_name}` and the index of layer `{by_index}`")]
    AmbiguousLayer {
        /// Number that was asked for.
        name: String,
        /// Short name of the layer with this name.
        by_name: String,
        /// Short name of the layer with this index.
        by_index: String,
    },
    /// A layer has no accumulation level of this name.
    #[error("layer `{layer}` has no level `{name}`")]
    UnknownLevel {
        /// Short name of the layer.
        layer: String,
        /// Name that was asked for.
        name: String,
        /// Names of the layer's levels, innermost first.
        levels: Vec<String>,
    },
    /// The run kept no tensor of this name.
    #[error("the run kept no tensor `{name}`")]
    UnknownTensor {
        /// Name that was asked for.
        name: String,
        /// Names of the tensors that the run kept.
        kept: Vec<String>,
    },
}

impl Error {
    /// Returns a name for this kind of error that never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Network(error) => error.code(),
            Self::Accelerator(error) => error.code(),
            Self::Lower(error) => error.code(),
            Self::Simulation(SimError::Trap { .. }) => "guardbit::trap",
            Self::Simulation(_) => "guardbit::sim",
            #[cfg(feature = "study")]
            Self::Study(error) => error.code(),
            Self::UnknownPreset { .. } => "guardbit::hw::unknown_preset",
            Self::UnknownLayer { .. } => "guardbit::layer",
            Self::AmbiguousLayer { .. } => "guardbit::layer_ambiguous",
            Self::UnknownLevel { .. } => "guardbit::level",
            Self::UnknownTensor { .. } => "guardbit::tensor",
        }
    }

    /// Returns what can help.
    pub fn help(&self) -> String {
        match self {
            Self::Network(error) => error.help(),
            Self::Accelerator(error) => error.help().into(),
            Self::Lower(error) => error.help().into(),
            Self::Simulation(error) => error.help().into(),
            #[cfg(feature = "study")]
            Self::Study(error) => error.help(),
            Self::UnknownPreset { .. } => one_of(PRESETS.iter().map(|preset| preset.name)),
            Self::UnknownLayer { near, .. } if near.is_empty() => "`Run::layers` lists the layers".into(),
            Self::UnknownLayer { near, .. } => one_of(near),
            Self::AmbiguousLayer { .. } => "use the layer's full name".into(),
            Self::UnknownLevel { levels, .. } => one_of(levels),
            Self::UnknownTensor { kept, .. } => {
                format!("{}; `keep(Keep::All)` keeps every tensor", one_of(kept))
            }
        }
    }
}

fn one_of(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect();
    format!("use one of {}", names.join(", "))
}
