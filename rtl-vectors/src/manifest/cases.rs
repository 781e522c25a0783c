//! Test cases, and what they reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One dot product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Identifier, unique in the bundle.
    pub id: String,
    /// `real` or `corner`.
    #[schemars(with = "String", extend("enum" = ["real", "corner"]))]
    pub group: CaseGroup,
    /// Corner class, or how a real one was chosen.
    pub class: String,
    /// For a real one: sample and output element `[n, h, w, c]`.
    pub place: Option<[usize; 5]>,
    /// Bias in unit 1; none where nothing is added.
    pub bias: Option<i64>,
    /// Factor of the sum of the activations that joins the bias.
    pub input_sum_factor: i64,
    /// The real multiplier of the requantization.
    pub multiplier: f64,
    /// First beat.
    pub first_beat: usize,
    /// Beats, bubbles included.
    pub beats: usize,
    /// Products that are sent.
    pub terms: usize,
    /// What a design must be able to do for it, apart from dot products of the layer's length that fit.
    pub needs: Vec<Need>,
    /// Word of `exp_sum` and `exp_out`; none for a dot product that is cut off by the next one's clear.
    pub out_word: Option<usize>,
    /// What is expected.
    pub expected: Expected,
}

/// Where the operands of a case are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseGroup {
    /// The network and its input.
    Real,
    /// They were solved for.
    Corner,
}

impl std::fmt::Display for CaseGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Real => "real",
            Self::Corner => "corner",
        })
    }
}

/// What a case needs of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A dot product that the next one's `clear` cuts off.
    ClearMid,
    /// Cycles without a beat within the dot product.
    Bubble,
    /// Fewer products than the layer's dot products have.
    Short,
    /// A beat with lanes that are not in use.
    Keep,
    /// An overflow of an accumulator.
    Overflow,
    /// An overflow of the multiplier's register.
    ProductOverflow,
    /// An overflow where the bias is loaded or added.
    BiasOverflow,
    /// An exponent of the multiplier above 0: a shift to the left.
    #[serde(rename = "exp>0")]
    PositiveExp,
}

impl Need {
    /// All needs.
    pub const ALL: [Self; 8] = [
        Self::ClearMid,
        Self::Bubble,
        Self::Short,
        Self::Keep,
        Self::Overflow,
        Self::ProductOverflow,
        Self::BiasOverflow,
        Self::PositiveExp,
    ];

    /// Returns the name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClearMid => "clear_mid",
            Self::Bubble => "bubble",
            Self::Short => "short",
            Self::Keep => "keep",
            Self::Overflow => "overflow",
            Self::ProductOverflow => "product_overflow",
            Self::BiasOverflow => "bias_overflow",
            Self::PositiveExp => "exp>0",
        }
    }
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Need {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|need| need.name() == name);
        found.ok_or_else(|| format!("invalid need `{name}`: expected one of {names}"))
    }
}

/// What a dot product does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Per level: beats with an overflow above.
    pub high: Vec<u64>,
    /// Per level: beats with an overflow below.
    pub low: Vec<u64>,
    /// Exact sum at unit 1 of the products that were sent, a preloaded bias included.
    pub exact: i64,
    /// What the last level delivers.
    pub sum: Option<i64>,
    /// The output code.
    pub code: Option<i32>,
}

/// How many values a bench compares: a bench that compares fewer fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Per level: registers with their flags, one for each 1 in `mask`.
    pub acc: Vec<u64>,
    /// Delivered sums.
    pub sum: u64,
    /// Output codes; 0 where the reference RTL does not have the requantization.
    pub out: u64,
    /// Sums of the array; 0 where there is no array.
    pub array_sum: u64,
}

/// What the cases reach.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Bins that are hit.
    pub hit: usize,
    /// Bins that could be hit and are not.
    pub missed: usize,
    /// Bins proved unreachable.
    pub unreachable: usize,
    /// Every bin.
    pub bins: Vec<Bin>,
}

/// A coverage bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// The level; empty for the whole unit.
    pub level: String,
    /// Name.
    pub name: String,
    /// Cases that hit it.
    pub cases: usize,
    /// Why it cannot be hit.
    pub unreachable: Option<String>,
}
