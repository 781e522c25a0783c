//! Settings of a device that are not known.

use std::ops::RangeInclusive;

use guardbit_hwmodels::{Accelerator, Level};
use guardbit_num::Overflow;

/// Widths that `--any bits` tries.
const WIDTHS: RangeInclusive<u32> = 8..=32;
/// Modes that `--any overflow` tries: the others show overflows, but keep the exact sum.
const MODES: [Overflow; 5] = [
    Overflow::Wrap,
    Overflow::Saturate,
    Overflow::SaturateSymmetric,
    Overflow::SaturateZero,
    Overflow::Sticky,
];

/// Setting of a device that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Widths of levels.
    Bits,
    /// Overflow modes of levels.
    Overflow,
    /// Order of the products.
    Order,
    /// When levels compare sums with their rails.
    Check,
    /// Where the bias is added.
    Bias,
    /// Where zero points are removed.
    ZeroPoint,
}

impl Unknown {
    /// All settings.
    pub const ALL: [Self; 6] =
        [Self::Bits, Self::Overflow, Self::Order, Self::Check, Self::Bias, Self::ZeroPoint];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Overflow => "overflow",
            Self::Order => "order",
            Self::Check => "check",
            Self::Bias => "bias",
            Self::ZeroPoint => "zero_point",
        }
    }

    /// Returns what it varies.
    pub fn about(self) -> &'static str {
        match self {
            Self::Bits => "widths of every level, 8 to 32",
            Self::Overflow => {
                "overflow modes of every level: wrap, saturate, saturate_symmetric, saturate_zero, sticky"
            }
            Self::Order => "order of the products: forward, reverse, sorted, sign_paired, greedy",
            Self::Check => "where every level checks for overflow: each_add, hand_over",
            Self::Bias => "place of the bias: post, preload",
            Self::ZeroPoint => "treatment of zero points: subtract, fold",
        }
    }

    /// Returns its axes on an accelerator: a short name for each, the key, and its values.
    pub(crate) fn axes(self, accelerator: &Accelerator) -> Vec<(String, String, String)> {
        let levels = |key: &str, values: String| {
            let levels = &accelerator.datapath.levels;
            let one = |level: &Level| {
                let name = if levels.len() == 1 { key.into() } else { format!("{}.{key}", level.name) };
                (name, format!("accumulation.{}.{key}", level.name), values.clone())
            };
            levels.iter().map(one).collect()
        };
        let other = |key: &str, values: &str| vec![(self.name().into(), key.into(), values.into())];
        match self {
            Self::Bits => levels("bits", format!("{}..={}", WIDTHS.start(), WIDTHS.end())),
            Self::Overflow => levels("overflow", MODES.map(Overflow::name).join(",")),
            Self::Order => other("reduction_order.walk", "forward,reverse,sorted,sign_paired,greedy"),
            Self::Check => levels("check", "each_add,hand_over".into()),
            Self::Bias => other("bias.at", "post,preload"),
            Self::ZeroPoint => other("operands.zero_point", "subtract,fold"),
        }
    }
}
