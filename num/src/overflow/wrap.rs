//! `wrap`: two's complement, the behaviour of a plain adder.

use super::{Beyond, Mode};

pub(super) const MODE: Mode =
    Mode { name: "wrap", meaning: "the result modulo `2^bits`", symmetric: false, beyond: Beyond::Wrapped };
