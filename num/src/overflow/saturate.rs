//! The rail that was crossed.

use super::Mode;

pub(super) const MODE: Mode = Mode { name: "saturate", ..Mode::COMMON };
