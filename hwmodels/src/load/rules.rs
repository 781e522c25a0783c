//! What each key may hold: one table for range errors and type errors alike.

use guardbit_num::{MAX_BITS, MIN_BITS, Overflow, Rounding, Scheme};

use super::key::{KeyPath, Segment};
use super::text::{MAX_DESCRIPTION, MAX_LEVEL_NAME, MAX_NAME};
use crate::file::{PackingKind, WalkKind};
use crate::lower::OPERATIONS;
use crate::names::{Named, list};
use crate::{
    ArrayKind, Axis, BiasPlace, Check, Dataflow, Fixup, OutputFit, Reduce, TimingConvention, ZeroPoint,
};

/// Greatest size of an array, and greatest stride.
pub(super) const MAX_SIZE: i64 = 1 << 16;
/// Most processing elements of all cores: each is a counter of the heat map.
pub(super) const MAX_ELEMENTS: usize = 1 << 20;
/// Most accumulation levels.
pub(super) const MAX_LEVELS: usize = 16;
/// Least and greatest size or rate, six decimals of which count.
pub(super) const DECIMALS: std::ops::RangeInclusive<f64> = 0.000_001..=1e9;
/// Greatest length of a run: as many products as the largest tensor has elements.
pub(super) const MAX_TERMS: i64 = 1 << 28;
/// Most low bits that one stage drops.
pub(super) const MAX_SHIFT: i64 = 31;
/// Most low bits that all stages drop together: what the widest register has beside its two highest bits.
pub(super) const MAX_TOTAL_SHIFT: u32 = MAX_BITS - 2;
/// Most cores.
pub(super) const MAX_CORES: i64 = 64;
/// Longest latency in cycles.
pub(super) const MAX_LATENCY: i64 = 1_000_000_000;

/// What a key may hold.
pub(super) struct Rule {
    /// Stable code of its errors.
    pub code: &'static str,
    /// What is allowed, after "it must be".
    pub allowed: String,
    /// What the key means, or what to do.
    pub hint: &'static str,
}

impl Rule {
    /// The rule of a key.
    pub fn of(key: &KeyPath) -> Self {
        let names: Vec<&str> = key.segments().iter().map(segment_name).collect();
        let found = RULES.iter().find(|rule| rule.keys.iter().any(|pattern| matches(pattern, &names)));
        let &Entry { code, allowed, hint, .. } = found.unwrap_or(&OTHER);
        Self { code, allowed: allowed(), hint }
    }
}

/// A line of the table.
struct Entry {
    /// Dotted keys; `*` stands for any element, a last `**` for anything.
    keys: &'static [&'static str],
    code: &'static str,
    allowed: fn() -> String,
    hint: &'static str,
}

/// The rules; the first that fits counts.
const RULES: &[Entry] = &[
    Entry {
        keys: &["schema"],
        code: "guardbit::hw::schema",
        allowed: || "1".into(),
        hint: "the version of the file format: write `schema: 1`",
    },
    Entry {
        keys: &["name"],
        code: "guardbit::hw::name",
        allowed: || {
            format!(
                "1 to {MAX_NAME} letters, digits, blanks and - _ . + , ( ) / : #, a letter, a digit or _ first"
            )
        },
        hint: "the name stands in reports, tables and the comments of generated RTL",
    },
    Entry {
        keys: &["description"],
        code: "guardbit::hw::text",
        allowed: || format!("text of up to {MAX_DESCRIPTION} characters, all of them printed"),
        hint: "a line for lists; put numbers in quotes",
    },
    Entry {
        keys: &["extends"],
        code: "guardbit::hw::text",
        allowed: || "text".into(),
        hint: "put numbers in quotes",
    },
    Entry { keys: &["clock_mhz"], code: "guardbit::hw::clock", allowed: decimal, hint: "the clock in MHz" },
    Entry {
        keys: &["array.kind"],
        code: "guardbit::hw::array",
        allowed: one_of::<ArrayKind>,
        hint: "what the lanes of a vector engine hold",
    },
    Entry {
        keys: &["array.cores"],
        code: "guardbit::hw::array",
        allowed: || range(1, MAX_CORES),
        hint: "arrays that share the output channels",
    },
    Entry {
        keys: &["array.rows", "array.cols", "array.dot_width", "array.stripe"],
        code: "guardbit::hw::array",
        allowed: || range(1, MAX_SIZE),
        hint: "the size of the array of processing elements",
    },
    Entry {
        keys: &["dataflow"],
        code: "guardbit::hw::dataflow",
        allowed: one_of::<Dataflow>,
        hint: "which operand stays in the array",
    },
    Entry {
        keys: &["offload.*"],
        code: "guardbit::hw::offload",
        allowed: || format!("one of {}", OPERATIONS.join(", ")),
        hint: "what is not listed runs on the host, exactly",
    },
    Entry {
        keys: &["offload"],
        code: "guardbit::hw::offload",
        allowed: || format!("a list of {}", OPERATIONS.join(", ")),
        hint: "what is not listed runs on the host, exactly",
    },
    Entry {
        keys: &["operands.zero_point"],
        code: "guardbit::hw::zero_point",
        allowed: one_of::<ZeroPoint>,
        hint: "`subtract` takes zero points off before the multiplier, `fold` after",
    },
    Entry {
        keys: &["reduction_order.walk"],
        code: "guardbit::hw::order",
        allowed: one_of::<WalkKind>,
        hint: "how the products are walked",
    },
    Entry {
        keys: &["reduction_order.stride"],
        code: "guardbit::hw::order",
        allowed: || range(1, MAX_SIZE),
        hint: "the distance of a walk of kind `stride`",
    },
    Entry {
        keys: &["reduction_order.ic_block"],
        code: "guardbit::hw::order",
        allowed: || range(0, MAX_SIZE),
        hint: "the length of the blocks into which the input channels are cut; 0 cuts none",
    },
    Entry {
        keys: &["reduction_order.axes.*", "reduction_order.*"],
        code: "guardbit::hw::order",
        allowed: one_of::<Axis>,
        hint: "the slowest axis comes first, as `[kh, kw, ic]`",
    },
    Entry {
        keys: &["reduction_order"],
        code: "guardbit::hw::order",
        allowed: || "kh, kw and ic, each once, or a map of axes, walk, stride and ic_block".into(),
        hint: "the slowest axis comes first, as `[kh, kw, ic]`",
    },
    Entry {
        keys: &["bias.bits"],
        code: "guardbit::hw::bits",
        allowed: || format!("`from_model`, `auto` or {}", range(MIN_BITS.into(), MAX_BITS.into())),
        hint: "a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits",
    },
    Entry {
        keys: &["product.bits", "accumulation.*.bits"],
        code: "guardbit::hw::bits",
        allowed: || format!("`auto` or {}", range(MIN_BITS.into(), MAX_BITS.into())),
        hint: "a width in bits, sign included; `auto` is wide enough for everything",
    },
    Entry {
        keys: &["product.overflow", "accumulation.*.overflow", "bias.overflow"],
        code: "guardbit::hw::overflow",
        allowed: one_of::<Overflow>,
        hint: "what happens to a value that does not fit",
    },
    Entry {
        keys: &["product.signed", "accumulation.*.signed", "memory.double_buffer"],
        code: "guardbit::hw::switch",
        allowed: || "true or false".into(),
        hint: "write it without quotes",
    },
    Entry {
        keys: &["product.shift", "accumulation.*.shift"],
        code: "guardbit::hw::shift",
        allowed: || range(0, MAX_SHIFT),
        hint: "the number of low bits to drop",
    },
    Entry {
        keys: &["product.round", "accumulation.*.round"],
        code: "guardbit::hw::round",
        allowed: one_of::<Rounding>,
        hint: "how low bits are dropped",
    },
    Entry {
        keys: &["accumulation.*.name"],
        code: "guardbit::hw::level_name",
        allowed: || {
            format!(
                "made of at most {MAX_LEVEL_NAME} letters, digits, `_` and `-`, different for every level"
            )
        },
        hint: "overrides and reports call a level by its name",
    },
    Entry {
        keys: &["accumulation.*.reduce"],
        code: "guardbit::hw::reduce",
        allowed: one_of::<Reduce>,
        hint: "`serial` has one accumulator, `tree` adds adjacent pairs",
    },
    Entry {
        keys: &["accumulation.*.terms"],
        code: "guardbit::hw::terms",
        allowed: || format!("rows, cols, dot_width, all or {}", range(1, MAX_TERMS)),
        hint: "how many values of the level before make one run; the last level takes `all`",
    },
    Entry {
        keys: &["accumulation.*.check"],
        code: "guardbit::hw::check",
        allowed: one_of::<Check>,
        hint: "`each_add` looks for overflow at every addition, `hand_over` when the result leaves the level",
    },
    Entry {
        keys: &["accumulation.**"],
        code: "guardbit::hw::accumulation",
        allowed: || format!("a list of 1 to {MAX_LEVELS} levels, innermost first"),
        hint: "as `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`",
    },
    Entry {
        keys: &["bias.at"],
        code: "guardbit::hw::bias",
        allowed: one_of::<BiasPlace>,
        hint: "where the bias is added: `post` is after the last level",
    },
    Entry {
        keys: &["requantize.scheme"],
        code: "guardbit::hw::scheme",
        allowed: schemes,
        hint: "`from_model` does what the model's runtime does",
    },
    Entry {
        keys: &["requantize.output"],
        code: "guardbit::hw::output",
        allowed: one_of::<OutputFit>,
        hint: "what happens to a result that does not fit the output's dtype",
    },
    Entry {
        keys: &["timing.convention"],
        code: "guardbit::hw::timing",
        allowed: one_of::<TimingConvention>,
        hint: "how cycles are counted",
    },
    Entry {
        keys: &["memory.dram_latency_cycles"],
        code: "guardbit::hw::memory",
        allowed: || range(0, MAX_LATENCY),
        hint: "the cycles before the first byte from outside",
    },
    Entry {
        keys: &["memory.dram_burst_bytes"],
        code: "guardbit::hw::memory",
        allowed: || range(1, MAX_SIZE),
        hint: "transfers from and to the outside are rounded up to whole bursts",
    },
    Entry {
        keys: &["memory.dram_outstanding_bursts"],
        code: "guardbit::hw::memory",
        allowed: || range(0, MAX_SIZE),
        hint: "the bursts that can be on their way at a time; 0 is no limit",
    },
    Entry {
        keys: &["memory.*"],
        code: "guardbit::hw::memory",
        allowed: decimal,
        hint: "sizes are in KiB, rates in bytes per cycle",
    },
    Entry {
        keys: &["packing.kind"],
        code: "guardbit::hw::packing",
        allowed: one_of::<PackingKind>,
        hint: "lanes that share one adder",
    },
    Entry {
        keys: &["packing.fixup"],
        code: "guardbit::hw::packing",
        allowed: one_of::<Fixup>,
        hint: "what is done about the borrow that a negative low lane takes from the high lane",
    },
    Entry {
        keys: &["layers.*", "layers.*.**"],
        code: "guardbit::hw::layers",
        allowed: || "a map of overrides".into(),
        hint: "as `layers: {conv1: {accumulation.acc.bits: 16}}`",
    },
];

/// The rule of all other keys: they hold maps.
const OTHER: Entry = Entry {
    keys: &[],
    code: "guardbit::hw::value",
    allowed: || "a map of keys".into(),
    hint: "`guardbit hw schema` prints every key with its type",
};

fn segment_name(segment: &Segment) -> &str {
    match segment {
        Segment::Key(key) => key,
        Segment::Item { .. } => "*",
    }
}

/// Whether a pattern means the key of these names.
fn matches(pattern: &str, names: &[&str]) -> bool {
    let (pattern, open) = match pattern.strip_suffix(".**") {
        Some(start) => (start, true),
        None => (pattern, false),
    };
    let parts: Vec<&str> = pattern.split('.').collect();
    let long_enough = if open { names.len() >= parts.len() } else { names.len() == parts.len() };
    long_enough && parts.iter().zip(names).all(|(part, name)| *part == "*" || part == name)
}

fn range(low: i64, high: i64) -> String {
    format!("a whole number from {low} to {high}")
}

fn decimal() -> String {
    format!("a number from {} to {}", DECIMALS.start(), DECIMALS.end())
}

fn one_of<T: Named>() -> String {
    format!("one of {}", list::<T>())
}

fn schemes() -> String {
    let schemes: Vec<_> = Scheme::ALL.iter().map(|s| format!("{} ({})", s.name(), s.id())).collect();
    format!("from_model or one of {}", schemes.join(", "))
}
