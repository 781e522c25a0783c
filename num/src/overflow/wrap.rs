//! Two's complement: what a plain adder does.

use super::Mode;

pub(super) const MODE: Mode = Mode {
    name: "wrap",
    beyond: |beyond| beyond.wrapped,
    hdl: "wrapped",
    one_per_rail: false,
    ..Mode::COMMON
};
