//! Zero beyond either rail: `AP_SAT_ZERO` of AMD's UG1399.

use super::Mode;

pub(super) const MODE: Mode =
    Mode { name: "saturate_zero", beyond: |_| 0, hdl: "zero", ..Mode::COMMON };
