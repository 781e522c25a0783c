//! `trap`: the simulation stops at the first overflow. Bundles of test vectors do not stop; there the value stays
//! exact.

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "trap",
    meaning: "the simulation stops, see below",
    symmetric: false,
    beyond: Beyond::Exact,
};
