//! A network quantized as a whole.

use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;

use crate::simulated::Sample;
use crate::{Config, Plan, QuantizeError, TensorFigures, UnitFigures, calibrate, realize};

/// A quantized network with what was seen on the way.
#[derive(Debug, Clone)]
pub struct Quantized {
    /// The network, in ONNX Runtime's arithmetic.
    pub graph: Graph,
    /// What became of every part of the float network, in order of execution.
    pub units: Vec<UnitFigures>,
    /// Every tensor whose codes were chosen, in order of execution.
    pub tensors: Vec<TensorFigures>,
}

/// Quantizes a float network with calibration samples. `accelerator` is what a method for layers aims at.
///
/// # Errors
/// [`QuantizeError`] if the network is not in float, nothing in it can be quantized, or a sample does not fit it.
pub fn quantize(
    graph: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
) -> Result<Quantized, QuantizeError> {
    let plan = Plan::new(graph, config)?;
    let calibrated = calibrate(&plan, config, accelerator, samples)?;
    let graph = realize(&calibrated.simulated)?;
    Ok(Quantized { graph, units: calibrated.units, tensors: calibrated.tensors })
}
