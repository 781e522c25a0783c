//! What can stop a simulation.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use crate::event::EventStage;

/// Why a simulation stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// A stage with overflow mode `trap` has overflowed.
    #[error(
        "overflow trapped in layer `{layer}`, {stage}, sample {sample}, output [n {n}, h {h}, w {w}, c {c}], \
         k {k}, cycle {cycle}", n = out.n, h = out.h, w = out.w, c = out.c
    )]
    Trap {
        /// The layer.
        layer: String,
        /// Where in the datapath: `level acc`, `the product`, `the bias`.
        stage: String,
        /// Index of the sample.
        sample: usize,
        /// The output element.
        out: OutputPosition,
        /// Index of the product in the order of addition.
        k: usize,
        /// Cycle from the layer's start.
        cycle: u64,
    },
    /// A sample with the wrong number of inputs.
    #[error("the network takes {expected} inputs, the sample has {found}")]
    InputCount {
        /// What the graph takes.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// An input of the wrong size.
    #[error("input `{tensor}` takes {expected} codes, found {found}")]
    InputSize {
        /// The input.
        tensor: String,
        /// What the graph takes.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// An input code outside its type.
    #[error("input `{tensor}`: code {code} is outside {ty}")]
    InputCode {
        /// The input.
        tensor: String,
        /// The code.
        code: i32,
        /// What the input may hold.
        ty: guardbit_graph::CodeType,
    },
    /// Programs that cannot run together.
    #[error("programs that run together differ in registers alone, but {what} differs")]
    Unlike {
        /// What differs.
        what: String,
    },
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
