//! Simulated network: a float network in its simulated form, whose scales and zero points are variables.
//!
//! Every unit of a [`Plan`] has one operation in both forms. In the simulated form a layer computes integer
//! sums of 32 bits on the fast engine, exactly. Their codes depend only on the variable of its output, which
//! can be set repeatedly without rebuilding anything ([`Simulated::set`]). An operation without weights
//! computes real values from its input codes. The codes equal those of the integer form, bit for bit.

mod run;
mod state;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use guardbit_graph::TensorId;
use guardbit_hwmodels::{Accelerator, HwError};
use guardbit_sim::Codes;

pub(crate) use run::{Raw, emit_unit, reals_of};
pub(crate) use state::{Reading, State};

use crate::patterns::LayerCodes;
use crate::{Plan, QuantizeError, TensorCodes};

/// One sample: real values of every input of the network, in order.
pub type Sample = Vec<Vec<f32>>;

/// Number of samples that are processed together.
const BATCH: usize = 128;

/// Float network in its simulated form.
pub struct Simulated<'p> {
    pub(crate) plan: &'p Plan,
    /// Codes of activations, which are the variables.
    variables: BTreeMap<TensorId, TensorCodes>,
    /// Codes of weights, by unit.
    weights: BTreeMap<usize, LayerCodes>,
    /// Units that compute real values although they have a quantized form, with the reason.
    float: BTreeMap<usize, String>,
}

impl<'p> Simulated<'p> {
    /// Returns the network without any variable set: all of it computes in float.
    pub fn new(plan: &'p Plan) -> Self {
        Self { plan, variables: BTreeMap::new(), weights: BTreeMap::new(), float: BTreeMap::new() }
    }

    /// Sets the variable of a tensor.
    pub fn set(&mut self, tensor: TensorId, codes: TensorCodes) {
        self.variables.insert(tensor, codes);
    }

    /// Returns the variable of a tensor, if it is set.
    pub fn variable(&self, tensor: TensorId) -> Option<TensorCodes> {
        self.variables.get(&tensor).copied()
    }

    pub(crate) fn set_weights(&mut self, unit: usize, codes: LayerCodes) {
        self.weights.insert(unit, codes);
    }

    pub(crate) fn weights(&self, unit: usize) -> Option<&LayerCodes> {
        self.weights.get(&unit)
    }

    /// Makes a unit compute in float.
    pub(crate) fn stay(&mut self, unit: usize, reason: String) {
        self.variables.remove(&self.plan.units()[unit].output);
        self.weights.remove(&unit);
        self.float.insert(unit, reason);
    }

    /// Returns whether a unit computes on codes.
    pub fn is_quantized(&self, unit: usize) -> bool {
        self.plan.units()[unit].forms.is_some() && !self.float.contains_key(&unit)
    }

    /// Returns why a unit computes in float, if it does.
    pub fn reason(&self, unit: usize) -> Option<&str> {
        self.float.get(&unit).map(String::as_str).or(self.plan.units()[unit].reason())
    }

    /// Returns the real values of every output of the network, per sample; for tensors of codes, the values
    /// of the codes.
    ///
    /// # Errors
    /// [`QuantizeError`] if a sample does not match the network.
    pub fn outputs(&self, samples: &[Sample]) -> Result<Vec<Sample>, QuantizeError> {
        let outputs = self.plan.graph().outputs();
        let of = |state: &State, &id: &TensorId| state.reals(id, Reading::Simulated, self.variable(id));
        let reals = |state: State| outputs.iter().map(|id| of(&state, id)).collect();
        self.each(samples, reals)
    }

    /// Returns the results of `take` for every sample at the end of the network. A limited number of samples
    /// is held at a time.
    fn each<T>(&self, samples: &[Sample], take: impl Fn(State) -> T) -> Result<Vec<T>, QuantizeError> {
        let mut taken = Vec::with_capacity(samples.len());
        for (batch, first) in samples.chunks(BATCH).zip((0..).step_by(BATCH)) {
            let mut states = State::of_samples(self.plan.graph(), batch, first)?;
            self.enter(&mut states);
            for unit in 0..self.plan.units().len() {
                let raw = self.raw(unit, &states)?;
                self.settle(unit, &mut states, raw)?;
            }
            taken.extend(states.into_iter().map(&take));
        }
        Ok(taken)
    }

    /// Runs samples through the network. Returns, per sample, the codes of every tensor whose variable is
    /// set.
    ///
    /// # Errors
    /// [`QuantizeError`] if a sample does not match the network.
    pub fn run(&self, samples: &[Sample]) -> Result<Vec<BTreeMap<TensorId, Codes>>, QuantizeError> {
        let codes = |state: State| {
            let tensors = self.variables.keys().map(|&id| (id, state.codes[id.index()].clone()));
            tensors.filter_map(|(id, codes)| Some((id, codes?))).collect()
        };
        self.each(samples, codes)
    }
}

/// Returns an accelerator on which nothing overflows.
pub(crate) fn wide() -> Result<&'static Accelerator, QuantizeError> {
    static WIDE: LazyLock<Result<Accelerator, HwError>> =
        LazyLock::new(|| guardbit_hwmodels::load("exact-int32-os", &["accumulation.acc.bits=auto".into()]));
    WIDE.as_ref().map_err(|error| QuantizeError::Impossible {
        layer: "exact-int32-os".into(),
        problem: error.to_string(),
    })
}
