//! Errors of a simulation.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use crate::event::EventStage;

/// Why a simulation stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A stage with overflow mode `trap` overflowed.
    #[error(
        "overflow trapped in layer `{layer}`, {stage}, sample {sample}, output [n {n}, h {h}, w {w}, c {c}], \
         k {k}, cycle {cycle}", n = out.n, h = out.h, w = out.w, c = out.c
    )]
    Trap {
        /// Name of the layer.
        layer: String,
        /// Stage of the datapath: `level acc`, `the product` or `the bias`.
        stage: String,
        /// Index of the sample.
        sample: usize,
        /// Position of the output element.
        out: OutputPosition,
        /// Index of the product in the order of addition.
        k: usize,
        /// Cycle, counted from the layer's start.
        cycle: u64,
    },
    /// A sample has the wrong number of inputs.
    #[error("the network has {expected} inputs, but the sample has {found}")]
    InputCount {
        /// Number of inputs of the graph.
        expected: usize,
        /// Number of inputs of the sample.
        found: usize,
    },
    /// An input has the wrong size.
    #[error("input `{tensor}` takes {expected} codes, found {found}")]
    InputSize {
        /// Name of the input.
        tensor: String,
        /// Number of elements of the graph's input.
        expected: usize,
        /// Number of elements of the sample's input.
        found: usize,
    },
    /// An input code is outside its type.
    #[error("input `{tensor}`: code {code} is outside {ty}")]
    InputCode {
        /// Name of the input.
        tensor: String,
        /// The code.
        code: i32,
        /// Type of the input's codes.
        ty: guardbit_graph::CodeType,
    },
    /// Programs cannot run together.
    #[error("programs that run together may differ only in registers, but {what} differs")]
    Unlike {
        /// Part in which they differ.
        what: String,
    },
}

impl SimError {
    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Trap { .. } => {
                "`overflow: trap` ends a run at the first overflow: use a wider register, or another overflow mode, \
                 e.g. --set accumulation.LEVEL.overflow=saturate"
            }
            Self::InputCount { .. } | Self::InputSize { .. } | Self::InputCode { .. } => {
                "a sample has one code per element of every input of the network"
            }
            Self::Unlike { .. } => "run these programs one after the other",
        }
    }
}

/// An overflow that stops the simulation; the order is that of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trap {
    pub sample: usize,
    pub cycle: u64,
    pub out: OutputPosition,
    pub stage: EventStage,
    pub k: usize,
}

impl EventStage {
    fn describe(self, layer: &MacLayer) -> String {
        match self {
            Self::Product => "the product".into(),
            Self::Level(level) => format!("level `{}`", layer.datapath.levels[level].name),
            Self::Bias => "the bias".into(),
        }
    }
}

impl Trap {
    pub fn error(self, layer: &MacLayer) -> SimError {
        SimError::Trap {
            layer: layer.short_name.clone(),
            stage: self.stage.describe(layer),
            sample: self.sample,
            out: self.out,
            k: self.k,
            cycle: self.cycle,
        }
    }
}
