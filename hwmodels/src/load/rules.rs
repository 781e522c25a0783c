//! What each key may hold: one table for range errors and type errors alike.

use guardbit_num::{MAX_BITS, MIN_BITS, Overflow, Rounding, Scheme};

use super::key::{KeyPath, Segment};
use crate::file::WalkKind;
use crate::lower::OPERATIONS;
use crate::names::{Named, list};
use crate::{BiasPlace, Check, Dataflow, Packing, Reduce, TimingConvention, ZeroPoint};

/// Greatest size of an array, run length apart.
pub(super) const MAX_SIZE: i64 = 1 << 16;
/// Greatest length of a run: as many products as the largest tensor has elements.
pub(super) const MAX_TERMS: i64 = 1 << 28;
/// Most low bits that one stage drops.
pub(super) const MAX_SHIFT: i64 = 31;
/// Most low bits that all stages drop together: no more than the widest register has beside its sign.
pub(super) const MAX_TOTAL_SHIFT: u32 = MAX_BITS - 2;
/// Longest latency in cycles.
pub(super) const MAX_LATENCY: i64 = 1_000_000_000;

/// What a key may hold.
pub(super) struct Rule {
    /// Stable code of errors.
    pub code: &'static str,
    /// What is allowed.
    pub allowed: String,
    /// What the key means, or what to do.
    pub hint: &'static str,
}

impl Rule {
    /// The rule of a key.
    pub fn of(key: &KeyPath) -> Self {
        let names: Vec<&str> = key
            .segments()
            .iter()
            .map(|segment| match segment {
                Segment::Key(key) => key.as_str(),
                Segment::Item { .. } => "*",
            })
            .collect();
        Self::find(&names).unwrap_or(Self {
            code: "guardbit::hw::value",
            allowed: "what the schema says".into(),
            hint: "`guardbit hw schema` prints every key with its type",
        })
    }

    fn find(names: &[&str]) -> Option<Self> {
        let (code, allowed, hint) = match names {
            ["schema"] => ("guardbit::hw::schema", "1".into(), "the version of the file format: write `schema: 1`"),
            ["name" | "description" | "extends"] => ("guardbit::hw::text", "text".into(), "put numbers in quotes"),
            ["clock_mhz"] => ("guardbit::hw::clock", positive(), "the clock in MHz"),
            ["array", "rows" | "cols" | "dot_width"] => {
                ("guardbit::hw::array", range(1, MAX_SIZE), "the size of the array of processing elements")
            }
            ["array"] => ("guardbit::hw::array", "a map of rows, cols and dot_width".into(), "as `{rows: 16, cols: 16}`"),
            ["dataflow"] => ("guardbit::hw::dataflow", one_of::<Dataflow>(), "which operand stays in the array"),
            ["offload", ..] => (
                "guardbit::hw::offload",
                format!("a list of {}", OPERATIONS.join(", ")),
                "what is not listed runs on the host, exactly",
            ),
            ["operands", "zero_point"] => (
                "guardbit::hw::zero_point",
                one_of::<ZeroPoint>(),
                "`subtract` takes zero points off before the multiplier, `fold` after",
            ),
            ["reduction_order", "walk"] => ("guardbit::hw::order", one_of::<WalkKind>(), "how the products are walked"),
            ["reduction_order", "stride"] => {
                ("guardbit::hw::order", range(1, MAX_SIZE), "the distance of a walk of kind `stride`")
            }
            ["reduction_order", ..] => (
                "guardbit::hw::order",
                "kh, kw and ic, each once, or a map of axes, walk and stride".into(),
                "the slowest axis comes first, as `[kh, kw, ic]`",
            ),
            ["product" | "bias", "bits"] | ["accumulation", _, "bits"] => (
                "guardbit::hw::bits",
                format!("`auto` or {}", range(MIN_BITS.into(), MAX_BITS.into())),
                "a width in bits, sign included; `auto` is wide enough for everything",
            ),
            ["product" | "bias", "overflow"] | ["accumulation", _, "overflow"] => {
                ("guardbit::hw::overflow", one_of::<Overflow>(), "what happens to a value that does not fit")
            }
            ["product", "signed"] | ["accumulation", _, "signed"] | ["memory", "double_buffer"] => {
                ("guardbit::hw::switch", "true or false".into(), "write it without quotes")
            }
            ["product", "shift"] | ["accumulation", _, "shift"] => {
                ("guardbit::hw::shift", range(0, MAX_SHIFT), "the number of low bits to drop")
            }
            ["product", "round"] | ["accumulation", _, "round"] => {
                ("guardbit::hw::round", one_of::<Rounding>(), "how low bits are dropped")
            }
            ["accumulation", _, "name"] => (
                "guardbit::hw::level_name",
                "letters, digits, `_` and `-`, different for every level".into(),
                "overrides and reports call a level by its name",
            ),
            ["accumulation", _, "reduce"] => {
                ("guardbit::hw::reduce", one_of::<Reduce>(), "`serial` has one accumulator, `tree` adds adjacent pairs")
            }
            ["accumulation", _, "terms"] => (
                "guardbit::hw::terms",
                format!("rows, cols, dot_width, all or {}", range(1, MAX_TERMS)),
                "how many values of the level before make one run; the last level takes `all`",
            ),
            ["accumulation", _, "check"] => (
                "guardbit::hw::check",
                one_of::<Check>(),
                "`each_add` looks for overflow at every addition, `hand_over` when the result leaves the level",
            ),
            ["accumulation", ..] => (
                "guardbit::hw::accumulation",
                "a list of one level at least, innermost first".into(),
                "as `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`",
            ),
            ["bias", "at"] => {
                ("guardbit::hw::bias", one_of::<BiasPlace>(), "where the bias is added: `post` is after the last level")
            }
            ["requantize", "scheme"] => (
                "guardbit::hw::scheme",
                one_of::<Option<Scheme>>(),
                "`from_model` does what the model's runtime does",
            ),
            ["timing", "convention"] => ("guardbit::hw::timing", one_of::<TimingConvention>(), "how cycles are counted"),
            ["memory", "dram_latency_cycles"] => {
                ("guardbit::hw::memory", range(0, MAX_LATENCY), "the cycles before the first byte from outside")
            }
            ["memory", _] => ("guardbit::hw::memory", positive(), "sizes are in KiB, rates in bytes per cycle"),
            ["packing", "kind"] => ("guardbit::hw::packing", one_of::<Packing>(), "lanes that share one adder"),
            ["layers", ..] => (
                "guardbit::hw::layers",
                "a map from layers to overrides".into(),
                "as `layers: {conv1: {accumulation.acc.bits: 16}}`",
            ),
            _ => return None,
        };
        Some(Self { code, allowed, hint })
    }
}

fn range(low: i64, high: i64) -> String {
    format!("a whole number from {low} to {high}")
}

fn positive() -> String {
    "a number above 0".into()
}

fn one_of<T: Named>() -> String {
    format!("one of {}", list::<T>())
}
