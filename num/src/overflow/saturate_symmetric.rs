//! `saturate_symmetric`: saturation to rails of equal magnitude (`AP_SAT_SYM` of AMD's UG1399).

use super::{Beyond, Mode};

pub(super) const MODE: Mode = Mode {
    name: "saturate_symmetric",
    meaning: "the rail that was crossed, with the rails `+-(2^(bits-1) - 1)`; the least code of the format \
              is an event, but neither persistent nor transient",
    symmetric: true,
    beyond: Beyond::Rail,
};
