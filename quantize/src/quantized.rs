//! Quantization of a whole network.

use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;

use crate::calibrate::{FloatOutputs, calibrate_with};
use crate::simulated::Sample;
use crate::{Config, Plan, QuantizeError, Quantized, Watch, floats, realize};

/// Quantizes a float network with calibration samples. `accelerator` is the target of a method for layers.
///
/// # Errors
/// [`QuantizeError`] if the network is not in float, nothing in it can be quantized, or a sample does not
/// match it.
pub fn quantize(
    graph: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
) -> Result<Quantized, QuantizeError> {
    let plan = Plan::new(graph, config)?;
    if let Some(formats) = config.short_floats {
        return floats::quantized(&plan, samples, config, formats);
    }
    let float = FloatOutputs::passing();
    quantized(&plan, samples, config, accelerator, &float, &())
}

fn quantized(
    plan: &Plan,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
    float: &FloatOutputs,
    watch: &dyn Watch,
) -> Result<Quantized, QuantizeError> {
    let calibrated = calibrate_with(plan, config, accelerator, samples, float, watch)?;
    let graph = realize(&calibrated.simulated)?;
    Ok(Quantized { graph, units: calibrated.units, tensors: calibrated.tensors })
}

/// Float network that is quantized several times with the same samples: it is planned once, and runs in float
/// once.
pub(crate) struct Repeated<'a> {
    plan: Plan,
    samples: &'a [Sample],
    float: FloatOutputs,
}

impl<'a> Repeated<'a> {
    /// Plans the network with `config`. At most half of the configured memory holds the float network's
    /// values.
    ///
    /// # Errors
    /// Under the conditions of [`Plan::new`].
    pub fn new(graph: &Graph, samples: &'a [Sample], config: &Config) -> Result<Self, QuantizeError> {
        let plan = Plan::new(graph, config)?;
        let float = FloatOutputs::held(&plan, samples.len(), config.memory / 2);
        Ok(Self { plan, samples, float })
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Quantizes the network with a configuration of the same plan: it may differ only in widths and methods,
    /// and has a method for layers if that of [`new`](Self::new) has one.
    ///
    /// # Errors
    /// Under the conditions of [`quantize()`].
    pub fn quantize(
        &self,
        config: &Config,
        accelerator: Option<&Accelerator>,
        watch: &dyn Watch,
    ) -> Result<Quantized, QuantizeError> {
        quantized(&self.plan, self.samples, config, accelerator, &self.float, watch)
    }
}
