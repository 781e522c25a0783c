//! Bins of runs with idle cycles, resets and stalls. Benches count them; reports, covergroups and cover points have the
//! same ones.

/// Bins of one quantity.
pub(crate) struct Group {
    /// Name, and key in the report of a bench.
    pub name: &'static str,
    /// What is counted.
    pub what: &'static str,
    pub bins: &'static [Bin],
}

/// Bin with the values that fall into it; without a last one, all from the first one on.
pub(crate) struct Bin {
    pub name: &'static str,
    pub first: u32,
    pub last: Option<u32>,
}

const fn bin(name: &'static str, first: u32, last: Option<u32>) -> Bin {
    Bin { name, first, last }
}

const GAPS: &[Bin] = &[
    bin("0", 0, Some(0)),
    bin("1", 1, Some(1)),
    bin("2", 2, Some(2)),
    bin("3-7", 3, Some(7)),
    bin("8+", 8, None),
];
const STALLS: &[Bin] =
    &[bin("1", 1, Some(1)), bin("2", 2, Some(2)), bin("3-7", 3, Some(7)), bin("8+", 8, None)];
const RESETS: &[Bin] = &[bin("idle", 0, Some(0)), bin("mid", 1, Some(1)), bin("rail", 2, Some(2))];

/// All groups.
pub(crate) const GROUPS: [Group; 5] = [
    Group {
        name: "gap_inside",
        what: "cycles without a beat, before a beat within a dot product",
        bins: GAPS,
    },
    Group { name: "gap_between", what: "cycles without a beat, before a dot product", bins: GAPS },
    Group {
        name: "reset",
        what: "resets: between dot products, within one, after an overflow",
        bins: RESETS,
    },
    Group { name: "stall_in", what: "cycles in which an offered beat waits", bins: STALLS },
    Group { name: "stall_out", what: "cycles in which an offered result waits", bins: STALLS },
];
