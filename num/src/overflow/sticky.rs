//! `sticky`: the register holds the rail that was crossed first, until it is cleared.

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "sticky",
    meaning: "the rail that was crossed first, until the run ends; later additions are not counted. In a tree: \
              `saturate` at each node",
    symmetric: false,
    beyond: Beyond::Latched,
};
