//! How a simulation is run.

/// What each layer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// What the narrow hardware really produced before it.
    #[default]
    Propagated,
    /// The exact activations, so that its own error shows alone.
    Isolated,
}

/// Which engine computes the dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Engine {
    /// The definition: one dot product after the other.
    Reference,
    /// Equal to the reference, in parallel over outputs.
    #[default]
    Parallel,
}

/// How much is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum StatsLevel {
    /// Output codes only.
    None,
    /// Events, persistent and wrong dot products.
    Events,
    /// Transients, prefix extremes, required bits, place and time of events too.
    #[default]
    Full,
}

/// Which tensors are handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keep {
    /// The graph's outputs.
    #[default]
    Outputs,
    /// Every tensor that is not a constant.
    All,
}

/// How a simulation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What each layer reads.
    pub mode: Mode,
    /// Which engine computes the dot products.
    pub engine: Engine,
    /// How much is counted.
    pub stats: StatsLevel,
    /// How many events are kept per layer: the first ones.
    pub events_per_layer: usize,
    /// Which tensors are handed back.
    pub keep: Keep,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            engine: Engine::default(),
            stats: StatsLevel::default(),
            events_per_layer: 1000,
            keep: Keep::default(),
        }
    }
}

impl Mode {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Propagated => "propagated",
            Self::Isolated => "isolated",
        }
    }
}

impl StatsLevel {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Events => "events",
            Self::Full => "full",
        }
    }
}
