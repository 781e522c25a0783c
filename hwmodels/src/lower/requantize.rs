//! Requantization: the scheme, and multipliers for sums whose low bits were dropped.

use guardbit_graph::{CodeRange, DotProducts, Finish};
use guardbit_num::Requantizer;

use super::LowerError;
use crate::Datapath;

/// Requantizers per output channel; empty if the operation divides by itself.
pub(super) struct Requantizers {
    /// For sums in the unit at the end of the datapath.
    pub scaled: Vec<Requantizer>,
    /// For sums in unit 1.
    pub exact: Vec<Requantizer>,
}

/// Restricts the output codes of requantized sums to a symmetric range, e.g. -127 to 127 for int8. Pools, means and sums keep
/// the clamp of the model's runtime.
pub(super) fn restricted(mut dots: DotProducts, output: CodeRange) -> DotProducts {
    // Unsigned codes have no values below 0.
    let least = output.min().max(-(i32::MAX >> (32 - output.bits())));
    if let Finish::Requantize(stage) = &mut dots.finish {
        stage.clamp = (stage.clamp.0.max(least), stage.clamp.1.max(least));
    }
    dots
}

pub(super) fn requantizers(
    layer: &str,
    dots: &DotProducts,
    datapath: &Datapath,
) -> Result<Requantizers, LowerError> {
    let Finish::Requantize(stage) = &dots.finish else {
        return Ok(Requantizers { scaled: Vec::new(), exact: Vec::new() });
    };
    let shift = datapath.unit_shift(datapath.levels.len());
    let error = |source| LowerError::Multiplier { layer: layer.into(), shift, source };
    let exact = stage.requantizers(datapath.requantize.scheme).map_err(error)?;
    let scaled = exact.iter().map(|r| r.scaled_up(shift)).collect::<Result<_, _>>().map_err(error)?;
    Ok(Requantizers { scaled, exact })
}
