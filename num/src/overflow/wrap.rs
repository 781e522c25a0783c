//! Two's complement: what a plain adder does.

use super::{Beyond, Mode};

pub(super) const MODE: Mode =
    Mode { name: "wrap", meaning: "the result modulo `2^bits`", symmetric: false, beyond: Beyond::Wrapped };
