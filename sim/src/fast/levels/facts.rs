//! Data that the statistics of a level depend on.

use guardbit_hwmodels::{Level, MacLayer, PACKED_HIGH_BITS, Packing};

/// Data that the statistics of a level depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelFacts {
    /// Number of additions per dot product.
    pub adds: u64,
    pub signed: bool,
    /// Least and greatest value of the format, which define persistent and transient overflows.
    pub held: (i128, i128),
    /// Least and greatest value of the high lanes' format, if lanes share an adder.
    pub above: Option<(i128, i128)>,
}

/// Returns the data of every level of `layer`.
pub(super) fn facts(layer: &MacLayer) -> Vec<LevelFacts> {
    let mut shared = (layer.packing != Packing::None).then_some(PACKED_HIGH_BITS);
    let of_level = |(level, adds): (&Level, u64)| LevelFacts {
        adds,
        signed: level.register.is_signed(),
        held: level
            .register
            .fixed()
            .map_or((i128::MIN, i128::MAX), |(format, _)| (format.min(), format.max())),
        above: shared.take().map(|bits| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
    };
    layer.datapath.levels.iter().zip(additions(layer, layer.order.len())).map(of_level).collect()
}

/// Returns the number of additions at every level of a dot product of `terms` products.
pub(super) fn additions(layer: &MacLayer, terms: usize) -> impl Iterator<Item = u64> {
    let mut values = terms;
    layer.datapath.levels.iter().map(move |level| {
        let runs = values.div_ceil(level.terms.run_length(values)).max(1);
        let adds = if level.reduce.takes_run_at_once() { values.saturating_sub(runs) } else { values };
        values = runs;
        adds as u64
    })
}
