//! `observe`: the value stays exact; the overflow is only counted.

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "observe",
    meaning: "the exact result; each addition whose result does not fit is an event",
    symmetric: false,
    beyond: Beyond::Exact,
};
