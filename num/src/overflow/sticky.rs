//! The rail that was crossed first, until the register is cleared.

use super::Mode;

pub(super) const MODE: Mode = Mode { name: "sticky", latches: true, ..Mode::COMMON };
