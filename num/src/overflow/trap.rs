//! The simulation stops at the first overflow. Where it does not, as in a bundle of test vectors, the value stays exact.

use super::Mode;

pub(super) const MODE: Mode =
    Mode { name: "trap", beyond: |beyond| beyond.exact, hdl: "exact", exact: true, ..Mode::COMMON };
