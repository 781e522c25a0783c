//! Data that the statistics of a level depend on.

use guardbit_hwmodels::{Level, MacLayer, PACKED_HIGH_BITS, Packing};
use guardbit_num::{Format, Overflow};

/// Data that the statistics of a level depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelFacts {
    /// Number of additions per dot product.
    pub adds: u64,
    pub signed: bool,
    /// Least and greatest value of the format, which define persistent and transient overflows.
    pub held: (i64, i64),
    /// The same of the high lanes of a shared adder.
    pub above: Option<(i64, i64)>,
}

/// Returns the data of every level of `layer`.
pub(super) fn facts(layer: &MacLayer) -> Vec<LevelFacts> {
    let mut values = layer.order.len();
    let mut shared = (layer.packing != Packing::None).then_some(PACKED_HIGH_BITS);
    let of_level = |level: &Level| {
        let runs = values.div_ceil(level.terms.run_length(values));
        let adds = if level.reduce.takes_run_at_once() { values - runs } else { values };
        values = runs;
        // Sums stay within 62 bits.
        let near = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let held = |(format, _): (Format, Overflow)| (near(format.min()), near(format.max()));
        let above = shared.take().map(|bits| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1));
        LevelFacts {
            above,
            adds: adds as u64,
            signed: level.register.is_signed(),
            held: level.register.fixed().map_or((i64::MIN, i64::MAX), held),
        }
    };
    layer.datapath.levels.iter().map(of_level).collect()
}
