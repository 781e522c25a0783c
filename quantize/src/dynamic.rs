//! Dynamic quantization: scales and zero points of activations computed from every sample by itself, as it runs.

use rayon::prelude::*;

use crate::{Config, Plan, QuantizeError, Sample, calibrate};

/// The real values of every output of the network where each sample has scales and zero points of its own, from the
/// extremes of its activations as ONNX `DynamicQuantizeLinear` has them; weights are as always.
///
/// Layers make exact integral sums, and every operation computes on codes as in the static network: what differs is where
/// the scales come from. Methods of `config` are for static scales and are not asked.
///
/// # Errors
/// [`QuantizeError`] if a sample does not fit the network.
pub fn dynamic_outputs(
    plan: &Plan,
    config: &Config,
    samples: &[Sample],
) -> Result<Vec<Sample>, QuantizeError> {
    let plain = Config::default();
    let own = Config {
        method: plain.method,
        layer_method: None,
        propagate: true,
        least_sqnr_db: None,
        ..config.clone()
    };
    let one = |sample: &Sample| {
        let sample = std::slice::from_ref(sample);
        let calibrated = calibrate(plan, &own, None, sample)?;
        Ok(calibrated.simulated.outputs(sample)?.pop().unwrap_or_default())
    };
    samples.par_iter().map(one).collect()
}
