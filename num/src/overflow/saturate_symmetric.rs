//! Saturation to rails of the same size: `AP_SAT_SYM` of AMD's UG1399.

use super::Mode;

pub(super) const MODE: Mode = Mode { name: "saturate_symmetric", symmetric: true, ..Mode::COMMON };
