//! A network quantized as a whole.

use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;

use crate::calibrate::{FloatOutputs, calibrate_with};
use crate::simulated::Sample;
use crate::{Config, Plan, QuantizeError, TensorFigures, UnitFigures, Watch, realize};

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

/// A float network that is quantized several times with the same samples: it is planned once, and runs in float once.
pub(crate) struct Repeated<'a> {
    plan: Plan,
    samples: &'a [Sample],
    float: FloatOutputs,
}

impl<'a> Repeated<'a> {
    /// The plan of `config`. Half of its memory, at most, holds the float network's values.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(graph: &Graph, samples: &'a [Sample], config: &Config) -> Result<Self, QuantizeError> {
        let plan = Plan::new(graph, config)?;
        let float = FloatOutputs::held(&plan, samples.len(), config.memory / 2);
        Ok(Self { plan, samples, float })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The network by a configuration with the same plan: one that differs in widths and methods alone, and has a method for
    /// layers if that of [`new`](Self::new) has one.
    ///
    /// # Errors
    /// As [`quantize()`].
    pub fn quantize(
        &self,
        config: &Config,
        accelerator: Option<&Accelerator>,
        watch: &dyn Watch,
    ) -> Result<Quantized, QuantizeError> {
        quantized(&self.plan, self.samples, config, accelerator, &self.float, watch)
    }
}
