//! How a simulation is run.

use std::str::FromStr;

use crate::statistics::Needs;

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
    /// Equal to the reference, vectorized; the reference does what it does not cover, in parallel over outputs.
    #[default]
    Fast,
}

/// Vector instructions that the fast engine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// What every CPU of the target has.
    Portable,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 BW, VL and CD, and POPCNT; with VBMI2, BITALG and VPOPCNTDQ too, registers of 16 bits are stepped
    /// two windows to a vector.
    Avx512,
    /// The same with VNNI, by which exact sums are made from bytes.
    Avx512Vnni,
}

impl Isa {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Avx512Vnni];

    /// Whether this CPU has them.
    pub fn is_available(self) -> bool {
        crate::fast::available(self)
    }
}

/// How much is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StatsLevel {
    /// Output codes only.
    None,
    /// Events, persistent and wrong dot products.
    Events,
    /// Everything that values alone tell: as [`Self::Full`] without events.
    Values,
    /// Transients, prefix extremes, required bits, place and time of events too.
    #[default]
    Full,
}

/// Which events are placed in time and in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Placing {
    /// With [`StatsLevel::Full`], every one: in the timeline and the heat map, which are empty otherwise.
    #[default]
    All,
    /// The first one of a layer, and those that are listed.
    First,
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
    /// The instructions of the fast engine; `None`, or some that the CPU does not have, means the best ones.
    pub isa: Option<Isa>,
    /// How much is counted.
    pub stats: StatsLevel,
    /// Which events are placed in time and in the array.
    pub placing: Placing,
    /// How many events are kept per layer: the first ones.
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
    /// Whether every event is placed.
    pub(crate) fn places_all(&self) -> bool {
        self.stats == StatsLevel::Full && self.placing == Placing::All
    }
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::Propagated, Self::Isolated];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Propagated => "propagated",
            Self::Isolated => "isolated",
        }
    }
}

impl StatsLevel {
    /// Every level.
    pub const ALL: [Self; 4] = [Self::None, Self::Events, Self::Values, Self::Full];

    /// Whether anything is counted: wrong and persistent dot products and errors.
    pub fn counts(self) -> bool {
        self != Self::None
    }

    /// Whether events are counted.
    pub fn counts_events(self) -> bool {
        matches!(self, Self::Events | Self::Full)
    }

    /// Whether transients, prefix extremes and required bits are found.
    pub fn counts_prefixes(self) -> bool {
        matches!(self, Self::Values | Self::Full)
    }

    /// Whether what a statistic needs is counted.
    pub fn meets(self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Counting => self.counts(),
            Needs::Events => self.counts_events(),
            Needs::Prefixes => self.counts_prefixes(),
        }
    }

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Events => "events",
            Self::Values => "values",
            Self::Full => "full",
        }
    }
}

/// A word that names no option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`; there are {allowed}")]
pub struct UnknownOption {
    what: &'static str,
    found: String,
    /// Every name.
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
