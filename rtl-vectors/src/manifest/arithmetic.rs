//! Arithmetic that the RTL must implement.

use guardbit_hwmodels::{BiasPlace, Check, Reduce, ZeroPoint};
use guardbit_num::{Overflow, Rounding, Scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{self, names, optional_names};

/// What the RTL has to compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arithmetic {
    /// The activation as the multiplier sees it.
    pub activation: Operand,
    /// The weight as the multiplier sees it.
    pub weight: Operand,
    /// Where zero points are taken off: `subtract` (before the multiplier: operands are `x - zx`, `w - zw`) or `fold`.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(ZeroPoint::ALL)))]
    pub zero_point: ZeroPoint,
    /// Order of the window's axes, slowest first, and the walk: beats carry operands in this order already.
    pub reduction_order: String,
    /// The multiplier's output: fitted, then shifted right.
    pub product: RegisterInfo,
    /// Accumulation levels, innermost first.
    #[schemars(length(min = 1))]
    pub levels: Vec<LevelInfo>,
    /// The bias.
    pub bias: BiasInfo,
    /// From sums to codes.
    pub requantize: RequantizeInfo,
}

/// A signed operand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// Width in two's complement.
    #[schemars(range(min = 1, max = 64))]
    pub bits: u32,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Distance between neighbouring values, where it is not 1: 2 for bipolar codes, which are -1 and 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub step: u32,
}

pub(super) fn one() -> u32 {
    1
}

pub(super) fn is_one(step: &u32) -> bool {
    *step == 1
}

impl Operand {
    /// Returns whether a stimulus may hold that value.
    pub(crate) fn holds(&self, value: i128) -> bool {
        let (min, max) = (i128::from(self.min), i128::from(self.max));
        (min..=max).contains(&value) && (value - min) % i128::from(self.step.max(1)) == 0
    }

    /// Returns the value of a stimulus that is nearest to `value` and within the range.
    pub(crate) fn nearest(&self, value: i128) -> i128 {
        let (min, step) = (i128::from(self.min), i128::from(self.step.max(1)));
        min + (value - min + step / 2).div_euclid(step) * step
    }
}

/// A register that values are fitted to, and the bits dropped behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Stage")]
pub struct RegisterInfo {
    /// Width; none: as wide as it takes.
    #[schemars(range(min = 1, max = 64))]
    pub bits: Option<u32>,
    /// Whether the top bit is a sign.
    pub signed: bool,
    /// Overflow mode; none where there is no width.
    #[serde(with = "choice::optional")]
    #[schemars(with = "Option<String>", extend("enum" = optional_names(Overflow::ALL)))]
    pub overflow: Option<Overflow>,
    /// Low bits dropped after the fit.
    pub shift: u32,
    /// How they are dropped.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(Rounding::ALL)))]
    pub round: Rounding,
    /// Width in two's complement of the port behind it: the widest value that can pass.
    pub port_bits: u32,
}

/// An accumulation level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct LevelInfo {
    /// Name.
    pub name: String,
    /// `serial` or `tree`.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(Reduce::ALL)))]
    pub reduce: Reduce,
    /// How a tree pairs its values: `adjacent` (an odd last value passes to the next round); none for a serial level.
    #[schemars(extend("enum" = optional_names(Reduce::ALL.into_iter().filter_map(Reduce::pairing))))]
    pub pairing: Option<String>,
    /// Values in a run; none: all.
    #[schemars(range(min = 1))]
    pub terms: Option<usize>,
    /// `each_add` or `hand_over`.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(Check::ALL)))]
    pub check: Check,
    /// Width, overflow mode, and the bits dropped at the hand-over.
    #[serde(flatten)]
    pub register: RegisterInfo,
    /// Width of a word of `exp_acc_NAME`.
    pub acc_bits: u32,
    /// Whether that word is two's complement.
    pub acc_signed: bool,
    /// Least value that the mode leaves alone; none for a level as wide as it takes.
    pub min: Option<i64>,
    /// Greatest value that the mode leaves alone.
    pub max: Option<i64>,
    /// Least value that any prefix of this layer's terms can have, from the operands' ranges.
    pub bound_min: i64,
    /// Greatest such value.
    pub bound_max: i64,
}

/// The bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct BiasInfo {
    /// `none`, `post` (an adder after the last level), `preload` (first value of the last level's register) or
    /// `post_requantize`.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(BiasAt::ALL)))]
    pub at: BiasAt,
    /// What the bias, or the sum with it, is fitted to: of `post` the adder behind the last level, of `preload` the last
    /// level's register when it is loaded, of `post_requantize` the register of the scaled bias.
    #[serde(flatten)]
    pub register: RegisterInfo,
    /// Bits dropped of a bias at unit 1 to have it in the unit of the place where it joins: the shifts before it.
    pub unit_shift: u32,
    /// How they are dropped: as in the last stage before it that shifts.
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub unit_round: Rounding,
    /// Width in two's complement of a word of `stim_bias`.
    pub input_bits: u32,
    /// Least word that the layer can show there.
    pub word_min: i64,
    /// Greatest such word.
    pub word_max: i64,
}

/// From sums to codes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequantizeInfo {
    /// Scheme by name.
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub scheme: Scheme,
    /// Its identifier.
    pub id: String,
    /// The code before the clamp, of a sum `x`: `z` is the zero point, `m` and `e` are `stim_mult` and `stim_exp`, `M` is
    /// the case's multiplier times `2^unit_shift`.
    pub formula: String,
    /// Bits that all stages drop together.
    pub unit_shift: u32,
    /// Added after scaling.
    pub zero_point: i64,
    /// Least output code.
    pub clamp_min: i64,
    /// Greatest output code.
    pub clamp_max: i64,
    /// Width of an output word in two's complement.
    pub out_bits: u32,
    /// Width in two's complement of a word of `stim_mult`.
    pub mult_bits: u32,
    /// The multiplier is `mult * 2^(exp - mult_point)`.
    pub mult_point: u32,
    /// Least word of `stim_exp` of the layer's own multipliers.
    pub exp_min: i64,
    /// Greatest such word.
    pub exp_max: i64,
    /// Whether the reference RTL has this scheme: if not, `exp_out` is not replayed by the built-in benches.
    pub in_rtl: bool,
}

/// Where a bias joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BiasAt {
    /// There is none.
    None,
    /// There is one.
    Some(BiasPlace),
}

impl BiasAt {
    /// Every place, `none` first.
    pub const ALL: [Self; 4] = [
        Self::None,
        Self::Some(BiasPlace::Post),
        Self::Some(BiasPlace::Preload),
        Self::Some(BiasPlace::PostRequantize),
    ];
    /// An adder after the last level.
    pub const POST: Self = Self::Some(BiasPlace::Post);
    /// The first value of the last level's register.
    pub const PRELOAD: Self = Self::Some(BiasPlace::Preload);
}

impl std::fmt::Display for BiasAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Some(place) => place.fmt(f),
        }
    }
}

impl std::str::FromStr for BiasAt {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "none" { Ok(Self::None) } else { name.parse().map(Self::Some) }
    }
}
