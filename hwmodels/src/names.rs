//! Names in files of the choices of an accelerator.

use std::fmt;
use std::str::FromStr;

use guardbit_num::{FloatFormat, Overflow, Rounding, Scheme};

use crate::accelerator::PackingKind;
use crate::file::RoundKind;
use crate::{
    ArrayKind, Axis, BiasPlace, BlockScaling, Check, Dataflow, Depthwise, Fixup, FloatIncoming, FloatReduce,
    FloatResult, OutputFit, Residency, ScaleFormat, Subnormals, TimingConvention, ZeroPoint,
};

/// Choice that files write as a name.
pub(crate) trait Named: Copy + PartialEq + 'static {
    /// Kind of choice, for messages.
    const WHAT: &'static str;

    /// Returns every name with its value.
    fn all() -> Vec<(&'static str, Self)>;

    /// Describes the allowed names; the text follows "it must be".
    fn allowed() -> String {
        format!("one of {}", list::<Self>())
    }
}

/// Returns every name of a choice, for messages.
pub(crate) fn list<T: Named>() -> String {
    T::all().into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// Declares the names of an enum's variants: `ALL`, `name`, `Display`, `FromStr` and [`Named`].
macro_rules! names {
    ($($ty:ident, $what:literal: { $($variant:ident = $name:literal),* $(,)? })*) => {$(
        impl $ty {
            /// All variants, in the order of the manual.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $ty {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                let found = Self::ALL.iter().find(|value| value.name() == name);
                found.copied().ok_or_else(|| format!("unknown {} `{name}`", Self::WHAT))
            }
        }

        impl Named for $ty {
            const WHAT: &'static str = $what;

            fn all() -> Vec<(&'static str, Self)> {
                vec![$(($name, Self::$variant)),*]
            }
        }
    )*};
}

names! {
    Dataflow, "dataflow": {
        OutputStationary = "output_stationary",
        WeightStationary = "weight_stationary",
        InputStationary = "input_stationary",
        Vector = "vector",
    }
    ZeroPoint, "place of zero points": { Subtract = "subtract", Fold = "fold" }
    Axis, "axis": { Kh = "kh", Kw = "kw", Ic = "ic" }
    Check, "place of the overflow check": { EachAdd = "each_add", HandOver = "hand_over" }
    BiasPlace, "place of the bias": { Post = "post", Preload = "preload", PostRequantize = "post_requantize" }
    PackingKind, "packing": { None = "none", Dsp48e2Int8x2 = "dsp48e2_int8x2" }
    FloatIncoming, "entry of the accumulator": { Term = "term", Apart = "apart" }
    FloatReduce, "addition of products": { Aligned = "aligned", Serial = "serial", Pairwise = "pairwise" }
    Subnormals, "treatment of subnormals": { Keep = "keep", Flush = "flush" }
    BlockScaling, "use of block scales": { None = "none", PerTerm = "per_term", PerGroup = "per_group" }
    ScaleFormat, "format of block scales": { Ue8m0 = "ue8m0", Ue4m3 = "ue4m3", Any = "any" }
    Fixup, "fix-up": { None = "none", Lut = "lut" }
    ArrayKind, "kind of array": {
        Outputs = "outputs",
        Channels = "channels",
        Folded = "folded",
        Block = "block",
    }
    Depthwise, "mapping of groups": {
        ByKind = "by_kind",
        Serial = "serial",
        BlockDiagonal = "block_diagonal",
        OwnInputs = "own_inputs",
    }
    OutputFit, "fit of the output": { Saturate = "saturate", SaturateSymmetric = "saturate_symmetric", Wrap = "wrap" }
    Residency, "residency of activations": { None = "none", Fit = "fit" }
    TimingConvention, "timing convention": {
        Overlapped = "overlapped",
        ScalesimV3 = "scalesim_v3",
        EthosU = "ethos_u",
    }
}

impl Named for Overflow {
    const WHAT: &'static str = "overflow mode";

    fn all() -> Vec<(&'static str, Self)> {
        Self::ALL.into_iter().map(|mode| (mode.name(), mode)).collect()
    }
}

impl Named for Rounding {
    const WHAT: &'static str = "rounding";

    fn all() -> Vec<(&'static str, Self)> {
        Self::ALL.into_iter().map(|mode| (mode.name(), mode)).collect()
    }
}

impl FloatResult {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float(format) => format.name(),
            Self::Fixed => "fixed",
        }
    }
}

impl fmt::Display for FloatResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Formats of accumulators.
impl Named for FloatResult {
    const WHAT: &'static str = "format of an accumulator";

    fn all() -> Vec<(&'static str, Self)> {
        let wide = FloatFormat::ALL.into_iter().filter(|format| format.bits() >= 16).map(Self::Float);
        wide.chain([Self::Fixed]).map(|result| (result.name(), result)).collect()
    }
}

impl Named for RoundKind {
    const WHAT: &'static str = "rounding";

    fn all() -> Vec<(&'static str, Self)> {
        let fixed = Rounding::ALL.into_iter().map(|mode| (mode.name(), Self::Fixed(mode)));
        fixed.chain([("stochastic", Self::Stochastic)]).collect()
    }
}

/// The model's own requantization scheme (`None`), or another one.
impl Named for Option<Scheme> {
    const WHAT: &'static str = "requantization scheme";

    fn all() -> Vec<(&'static str, Self)> {
        let names = Scheme::ALL.iter().map(|&scheme| (scheme.name(), Some(scheme)));
        let ids = Scheme::ALL.iter().map(|&scheme| (scheme.id(), Some(scheme)));
        [("from_model", None)].into_iter().chain(names).chain(ids).collect()
    }

    fn allowed() -> String {
        let schemes: Vec<_> = Scheme::ALL.iter().map(|s| format!("{} ({})", s.name(), s.id())).collect();
        format!("from_model or one of {}", schemes.join(", "))
    }
}
