//! The value stays exact; overflow is only noted.

use super::Mode;

pub(super) const MODE: Mode =
    Mode { name: "observe", beyond: |beyond| beyond.exact, hdl: "exact", exact: true, ..Mode::COMMON };
