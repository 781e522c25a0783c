//! Allowed values of each key, for range errors and type errors alike. They come from the rows of the keys,
//! and from this module for keys without a row.

use guardbit_documents::Step;

use super::KeyPath;
use crate::Axis;
use crate::file::Name;
use crate::formats::OperandFormats;
use crate::keys::{DECIMALS, FileValue, KEYS, KeyRow};
use crate::operations::OPERATIONS;

/// Greatest number of processing elements of all cores; each is a counter of the heat map.
pub(crate) const MAX_ELEMENTS: usize = 1 << 20;
/// Greatest number of rows or columns.
pub(crate) const MAX_SIDE: usize = 65536;
/// Greatest size or rate.
pub(crate) const MAX_RATE: f64 = *DECIMALS.end();
/// Greatest number of accumulation levels.
pub(super) const MAX_LEVELS: usize = 16;

/// Allowed values of a key.
pub(crate) struct Rule {
    /// Stable code of its errors.
    pub code: &'static str,
    /// Allowed values; the text follows "it must be".
    pub allowed: String,
    /// Meaning of the key, or a hint.
    pub hint: &'static str,
}

impl Rule {
    /// Returns the rule of a key.
    pub fn of(key: &KeyPath) -> Self {
        if let Some(KeyRow { code, allowed, hint, .. }) = row_of(key) {
            return Self { code, allowed: allowed(), hint };
        }
        let &Entry { code, allowed, hint, .. } = entry(key).unwrap_or(&OTHER);
        Self { code, allowed: allowed(), hint }
    }

    /// Returns whether a key has a rule of its own, beyond being a map.
    pub fn is_stated(key: &KeyPath) -> bool {
        row_of(key).is_some() || entry(key).is_some()
    }
}

/// Returns the row of a key.
pub(super) fn row_of(key: &KeyPath) -> Option<&'static KeyRow> {
    let names = names(key);
    let (name, section) = names.split_last()?;
    let is_named = |row: &&KeyRow| row.name == *name && matches(row.section, section);
    KEYS.iter().filter(is_named).find(|row| !row.code.is_empty())
}

fn entry(key: &KeyPath) -> Option<&'static Entry> {
    let names = names(key);
    RULES.iter().find(|rule| rule.keys.iter().any(|pattern| matches(pattern, &names)))
}

fn names(key: &KeyPath) -> Vec<&str> {
    key.steps().iter().map(step_name).collect()
}

/// Row of the table.
struct Entry {
    /// Dotted keys; `*` matches any element, a final `**` matches any path.
    keys: &'static [&'static str],
    code: &'static str,
    allowed: fn() -> String,
    hint: &'static str,
}

/// Rules of elements of lists, and of keys that hold more than maps; the first match applies.
const RULES: &[Entry] = &[
    Entry {
        keys: &["offload.*"],
        code: "guardbit::hw::offload",
        allowed: || format!("one of {}", OPERATIONS.join(", ")),
        hint: "operations that are not listed run exactly on the host",
    },
    Entry {
        keys: &["reduction_order.axes.*", "reduction_order.*"],
        code: "guardbit::hw::order",
        allowed: || Name::<Axis>::allowed(()),
        hint: "list the slowest axis first, e.g. `[kh, kw, ic]`",
    },
    Entry {
        keys: &["reduction_order"],
        code: "guardbit::hw::order",
        allowed: || "kh, kw and ic, each once, or a map with axes and walk".into(),
        hint: "list the slowest axis first, e.g. `[kh, kw, ic]`",
    },
    Entry {
        keys: &["reduction_order.permutations.**"],
        code: "guardbit::hw::order",
        allowed: || "a whole number, or a list of them".into(),
        hint: "each of 0, 1, 2, ... once: the k-th number is the index of the product that is added k-th",
    },
    Entry {
        keys: &["accumulation.**"],
        code: "guardbit::hw::accumulation",
        allowed: || format!("a list of 1 to {MAX_LEVELS} levels, innermost first"),
        hint: "e.g. `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`",
    },
    Entry {
        keys: &["float_accumulation.operands.*"],
        code: "guardbit::hw::float",
        allowed: || format!("one of {}", OperandFormats::all()),
        hint: "the formats of operands that the unit multiplies, e.g. `[e4m3, e5m2]`",
    },
    Entry {
        keys: &["layers.*", "layers.*.**"],
        code: "guardbit::hw::layers",
        allowed: || "a map of overrides".into(),
        hint: "e.g. `layers: {conv1: {accumulation.acc.bits: 16}}`",
    },
];

/// Rule of all other keys, which hold maps.
const OTHER: Entry = Entry {
    keys: &[],
    code: "guardbit::hw::value",
    allowed: || "a map of keys".into(),
    hint: "`guardbit hw schema` prints every key with its type",
};

fn step_name(segment: &Step) -> &str {
    match segment {
        Step::Key(key) => key,
        Step::Item { .. } => "*",
    }
}

/// Returns whether a pattern matches a key with these names.
fn matches(pattern: &str, names: &[&str]) -> bool {
    let (pattern, open) = match pattern.strip_suffix(".**") {
        Some(start) => (start, true),
        None => (pattern, false),
    };
    let parts: Vec<&str> = pattern.split('.').filter(|part| !part.is_empty()).collect();
    let long_enough = if open { names.len() >= parts.len() } else { names.len() == parts.len() };
    long_enough && parts.iter().zip(names).all(|(part, name)| *part == "*" || part == name)
}
