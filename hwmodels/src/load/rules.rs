//! What each key may hold, for range errors and type errors alike: that of the sections stands in their rows, that of all
//! other keys here.

use guardbit_num::MAX_BITS;

use super::key::{KeyPath, Segment};
use super::text::{MAX_DESCRIPTION, MAX_NAME};
use crate::file::{Name, Number, WalkKind};
use crate::keys::{FileValue, KEYS, KeyRow, range};
use crate::lower::OPERATIONS;
use crate::{Axis, Dataflow};

/// Greatest distance of a stride, and greatest length of a block of channels.
pub(super) const MAX_SIZE: i64 = 1 << 16;
/// Most processing elements of all cores: each is a counter of the heat map.
pub(super) const MAX_ELEMENTS: usize = 1 << 20;
/// Most accumulation levels.
pub(super) const MAX_LEVELS: usize = 16;
/// Most low bits that all stages drop together: what the widest register has beside its two highest bits.
pub(super) const MAX_TOTAL_SHIFT: u32 = MAX_BITS - 2;

/// What a key may hold.
pub(crate) struct Rule {
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
        let row = names.split_last().and_then(|(name, section)| {
            KEYS.iter().find(|row| row.name == *name && matches(row.section, section))
        });
        if let Some(KeyRow { code, allowed, hint, .. }) = row {
            return Self { code, allowed: allowed(), hint };
        }
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

/// The rules of keys of no section; the first that fits counts.
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
    Entry {
        keys: &["clock_mhz"],
        code: "guardbit::hw::clock",
        allowed: || Number::allowed(()),
        hint: "the clock in MHz",
    },
    Entry {
        keys: &["dataflow"],
        code: "guardbit::hw::dataflow",
        allowed: || Name::<Dataflow>::allowed(()),
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
        keys: &["reduction_order.walk"],
        code: "guardbit::hw::order",
        allowed: || Name::<WalkKind>::allowed(()),
        hint: "how the products are walked",
    },
    Entry {
        keys: &["reduction_order.stride"],
        code: "guardbit::hw::order",
        allowed: || range(1..=MAX_SIZE),
        hint: "the distance of a walk of kind `stride`",
    },
    Entry {
        keys: &["reduction_order.ic_block"],
        code: "guardbit::hw::order",
        allowed: || range(0..=MAX_SIZE),
        hint: "the length of the blocks into which the input channels are cut; 0 cuts none",
    },
    Entry {
        keys: &["reduction_order.axes.*", "reduction_order.*"],
        code: "guardbit::hw::order",
        allowed: || Name::<Axis>::allowed(()),
        hint: "the slowest axis comes first, as `[kh, kw, ic]`",
    },
    Entry {
        keys: &["reduction_order"],
        code: "guardbit::hw::order",
        allowed: || "kh, kw and ic, each once, or a map of axes, walk, stride and ic_block".into(),
        hint: "the slowest axis comes first, as `[kh, kw, ic]`",
    },
    Entry {
        keys: &["accumulation.**"],
        code: "guardbit::hw::accumulation",
        allowed: || format!("a list of 1 to {MAX_LEVELS} levels, innermost first"),
        hint: "as `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`",
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
