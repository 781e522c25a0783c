//! Settings of a simulation.

use std::str::FromStr;

use crate::statistics::Needs;

/// Input of each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Activations that the narrow hardware produced before the layer.
    #[default]
    Propagated,
    /// Exact activations, so that the layer's own error is isolated.
    Isolated,
}

/// Engine that computes the dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Engine {
    /// Reference engine, which is the definition: one dot product after the other.
    Reference,
    /// Vectorized engine with equal results.
    #[default]
    Fast,
}

/// Vector instructions of the fast engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Instructions of every CPU of the target.
    Portable,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 BW, VL and CD, and POPCNT. With VBMI2, BITALG and VPOPCNTDQ too, registers of 16
    /// bits are stepped two windows per vector.
    Avx512,
    /// AVX-512 with VNNI in addition, with which exact sums are computed from bytes.
    Avx512Vnni,
}

impl Isa {
    /// All instruction sets.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Avx512Vnni];

    /// Returns whether this CPU supports the instructions.
    pub fn is_available(self) -> bool {
        crate::fast::available(self)
    }
}

/// Level of detail of the statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StatsLevel {
    /// Output codes only.
    None,
    /// Events, and dot products that are persistent or wrong.
    Events,
    /// All statistics of [`Self::Full`] that follow from values alone, without events.
    Values,
    /// All statistics: transients, prefix extremes, required bits, and time and place of events too.
    #[default]
    Full,
}

/// Events whose time and place in the array are determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Placing {
    /// With [`StatsLevel::Full`], every event, in the timeline and the heat map. With other levels both are
    /// empty.
    #[default]
    All,
    /// First event of a layer, and the events that are listed.
    First,
}

/// Tensors that are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keep {
    /// Outputs of the graph.
    #[default]
    Outputs,
    /// All tensors that are not constants.
    All,
}

/// Settings of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Input of each layer.
    pub mode: Mode,
    /// Engine that computes the dot products.
    pub engine: Engine,
    /// Instructions of the fast engine. With `None`, or instructions that the CPU does not support, the best
    /// available ones are used.
    pub isa: Option<Isa>,
    /// Level of detail of the statistics.
    pub stats: StatsLevel,
    /// Events whose time and place in the array are determined.
    pub placing: Placing,
    /// Number of first events that are kept per layer.
    pub events_per_layer: usize,
    /// Whether the events of every sample are handed back, layer by layer.
    pub events_per_sample: bool,
    /// Which tensors are handed back.
    pub keep: Keep,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            engine: Engine::default(),
            isa: None,
            stats: StatsLevel::default(),
            placing: Placing::default(),
            events_per_layer: 1000,
            events_per_sample: false,
            keep: Keep::default(),
        }
    }
}

impl Options {
    /// Returns whether every event is placed.
    pub(crate) fn places_all(&self) -> bool {
        self.stats == StatsLevel::Full && self.placing == Placing::All
    }
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Propagated, Self::Isolated];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Propagated => "propagated",
            Self::Isolated => "isolated",
        }
    }
}

impl StatsLevel {
    /// All levels.
    pub const ALL: [Self; 4] = [Self::None, Self::Events, Self::Values, Self::Full];

    /// Returns whether wrong and persistent dot products and errors are counted.
    pub fn counts(self) -> bool {
        self != Self::None
    }

    /// Returns whether events are counted.
    pub fn counts_events(self) -> bool {
        matches!(self, Self::Events | Self::Full)
    }

    /// Returns whether transients, prefix extremes and required bits are counted.
    pub fn counts_prefixes(self) -> bool {
        matches!(self, Self::Values | Self::Full)
    }

    /// Returns whether the data that a statistic needs is counted.
    pub fn meets(self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Counting => self.counts(),
            Needs::Events => self.counts_events(),
            Needs::Prefixes => self.counts_prefixes(),
        }
    }

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Events => "events",
            Self::Values => "values",
            Self::Full => "full",
        }
    }
}

/// Error: a word is not the name of an option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`; expected {allowed}")]
pub struct UnknownOption {
    what: &'static str,
    found: String,
    /// All valid names.
    allowed: String,
}

impl UnknownOption {
    fn new(what: &'static str, found: &str, names: &[&'static str]) -> Self {
        let allowed = match names {
            [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => names.concat(),
        };
        Self { what, found: found.into(), allowed }
    }
}

impl FromStr for Mode {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownOption::new("mode", name, &Self::ALL.map(Self::name));
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(unknown)
    }
}

impl FromStr for StatsLevel {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownOption::new("stats", name, &Self::ALL.map(Self::name));
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or_else(unknown)
    }
}
