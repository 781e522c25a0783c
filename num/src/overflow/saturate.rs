//! `saturate`: the register holds the rail that was crossed.

use super::{Beyond, Mode};

pub(super) const MODE: Mode =
    Mode { name: "saturate", meaning: "the rail that was crossed", symmetric: false, beyond: Beyond::Rail };
