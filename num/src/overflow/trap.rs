//! The simulation stops at the first overflow. Where it does not, as in a bundle of test vectors, the value stays exact.

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "trap",
    meaning: "the simulation stops, see below",
    symmetric: false,
    beyond: Beyond::Exact,
};
