//! `saturate_zero`: the register holds zero after an overflow (`AP_SAT_ZERO` of AMD's UG1399).

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "saturate_zero",
    meaning: "0",
    symmetric: false,
    beyond: Beyond::Chosen { value: |_| 0, hdl: "zero" },
};
