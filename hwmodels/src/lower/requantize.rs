//! Requantization: the scheme, and multipliers for sums whose low bits were dropped.

use guardbit_graph::{CodeRange, Division, DotProducts, Finish};
use guardbit_num::Requantizer;

use super::LowerError;
use crate::Datapath;

/// Bits of a bias that zero points alone make.
const BIAS_BITS: u32 = 32;

/// Requantizers per output channel. Both are empty where the operation divides by itself.
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

/// Returns the bits of all biases, multipliers and shifts of a layer.
///
/// A bias has the bits that the model stores it in, or [`BIAS_BITS`]. There is one multiplier per channel, or
/// one for the layer if all channels have equal multipliers, and none if nothing is scaled.
pub(super) fn constant_bits(dots: &DotProducts, has_bias: bool, exact: &[Requantizer]) -> u64 {
    let channels = dots.window.channels() as u64;
    let bias = if has_bias { dots.bias.as_ref().map_or(BIAS_BITS, |bias| bias.bits) } else { 0 };
    let multipliers = match &dots.finish {
        Finish::Divide(Division::Average { .. }) => 0,
        Finish::Divide(Division::Scaled { requantizer, .. }) => requantizer.scheme().constant_bits().into(),
        Finish::Requantize(_) => match exact {
            [] => 0,
            [first, others @ ..] => {
                let bits = u64::from(first.scheme().constant_bits());
                let is_shared = others.iter().all(|other| other.multiplier() == first.multiplier());
                let scales = !is_shared || first.multiplier().real() != 1.0;
                if is_shared { bits * u64::from(scales) } else { bits.saturating_mul(channels) }
            }
        },
    };
    channels.saturating_mul(bias.into()).saturating_add(multipliers)
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
