//! Calibration loop: scales and zero points, tensor by tensor in order of execution.

mod choose;
mod figures;
mod float;
mod layers;
mod memory;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use guardbit_graph::{Links, TensorId};
use guardbit_hwmodels::Accelerator;

pub(crate) use figures::distribution;
pub use figures::{TensorFigures, UnitFigures};
pub(crate) use float::FloatOutputs;
pub(crate) use memory::check as check_memory;

use crate::simulated::{Raw, Reading, Sample, Simulated, State};
use crate::{Config, Plan, QuantizeError, Watch};

/// Network that is being calibrated.
struct Calibration<'p, 'c> {
    simulated: Simulated<'p>,
    config: &'c Config,
    accelerator: Option<&'c Accelerator>,
    float: &'c FloatOutputs,
    watch: &'c dyn Watch,
    links: Links,
    states: Vec<State>,
    /// Real values before rounding of tensors whose codes the layer that reads them may still choose.
    open: BTreeMap<TensorId, Open>,
    /// Number of sums of layers that a float32 cannot hold, by unit.
    rounded_sums: BTreeMap<usize, u64>,
    figures: Vec<UnitFigures>,
    tensors: Vec<TensorFigures>,
}

/// Tensor whose codes may still be chosen again.
struct Open {
    /// Unit that produces it; `None` for an input.
    unit: Option<usize>,
    raw: Vec<Raw>,
    reals: Vec<Vec<f32>>,
}

/// Calibrated network with its figures.
pub struct Calibrated<'p> {
    /// Network with every variable set.
    pub simulated: Simulated<'p>,
    /// Result of every part of the float network, in order of execution.
    pub units: Vec<UnitFigures>,
    /// Every tensor whose codes were chosen, in order of execution.
    pub tensors: Vec<TensorFigures>,
}

/// Chooses every variable of a planned network from samples. `accelerator` is the target of a method for
/// layers.
///
/// # Errors
/// [`QuantizeError`] if there is no sample, a sample does not match the network, or a method fails.
pub fn calibrate<'p>(
    plan: &'p Plan,
    config: &Config,
    accelerator: Option<&Accelerator>,
    samples: &[Sample],
) -> Result<Calibrated<'p>, QuantizeError> {
    calibrate_with(plan, config, accelerator, samples, &FloatOutputs::passing(), &())
}

/// Calibrates like [`calibrate`], with the float network's values of these samples if they are known, and a
/// [`Watch`].
pub(crate) fn calibrate_with<'p>(
    plan: &'p Plan,
    config: &Config,
    accelerator: Option<&Accelerator>,
    samples: &[Sample],
    float: &FloatOutputs,
    watch: &dyn Watch,
) -> Result<Calibrated<'p>, QuantizeError> {
    Calibration::run(plan, config, accelerator, samples, float, watch)
}

impl<'p, 'c> Calibration<'p, 'c> {
    fn run(
        plan: &'p Plan,
        config: &'c Config,
        accelerator: Option<&'c Accelerator>,
        samples: &[Sample],
        float: &'c FloatOutputs,
        watch: &'c dyn Watch,
    ) -> Result<Calibrated<'p>, QuantizeError> {
        if samples.is_empty() {
            return Err(QuantizeError::NoSamples);
        }
        if let (Some(method), None) = (&config.layer_method, accelerator) {
            return Err(QuantizeError::NoAccelerator { method: method.name().into() });
        }
        memory::check(plan, config, samples.len())?;
        let mut own = Self {
            simulated: Simulated::new(plan),
            config,
            accelerator,
            float,
            watch,
            links: Links::new(plan.graph()),
            states: State::of_samples(plan.graph(), samples, 0)?,
            open: BTreeMap::new(),
            rounded_sums: BTreeMap::new(),
            figures: Vec::new(),
            tensors: Vec::new(),
        };
        own.inputs()?;
        for unit in 0..plan.units().len() {
            watch.unit(unit, plan.units().len(), plan.names(unit)[0]);
            if config.cancelled.load(Ordering::Relaxed) {
                return Err(QuantizeError::Cancelled);
            }
            own.unit(unit)?;
            own.forget(unit);
        }
        // If a layer kept the existing codes, there is no operation in between.
        let kept = (0..plan.units().len())
            .map(|unit| plan.units()[unit].pattern() != "requantize" || !own.is_moved(unit));
        let kept: Vec<bool> = kept.collect();
        let units = own.figures.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(figures, _)| figures);
        Ok(Calibrated { units: units.collect(), simulated: own.simulated, tensors: own.tensors })
    }

    /// Returns the network in which activations are observed.
    fn reading(&self) -> Reading {
        if self.config.propagate { Reading::Simulated } else { Reading::Float }
    }

    /// Chooses codes for the inputs that a quantized unit reads.
    fn inputs(&mut self) -> Result<(), QuantizeError> {
        for &id in self.simulated.plan.graph().inputs() {
            if self.is_read_as_codes(id) {
                self.choose_real(id)?;
            }
        }
        Ok(())
    }

    /// Processes one unit: computes its values, and chooses their codes.
    fn unit(&mut self, index: usize) -> Result<(), QuantizeError> {
        let plan = self.simulated.plan;
        let unit = &plan.units()[index];
        let float = self.float.of(index, || self.simulated.in_float(unit, &self.states, Reading::Float));
        self.check_finite(unit.output, &float)?;
        for (state, words) in self.states.iter_mut().zip(float) {
            state.float[unit.output.index()] = Some(words);
        }
        if self.simulated.is_quantized(index) && !self.reads_codes(index) {
            self.simulated.stay(index, "its input is in float, and it does no arithmetic".into());
        }
        if self.simulated.is_quantized(index) {
            self.quantized(index)?;
        }
        if !self.simulated.is_quantized(index) {
            let raw = self.simulated.raw(index, &self.states)?;
            self.simulated.settle(index, &mut self.states, raw)?;
            if self.is_read_as_codes(unit.output) {
                self.choose_real(unit.output)?;
            }
        }
        let figures = self.unit_figures(index);
        self.figures.push(figures);
        Ok(())
    }

    /// Returns whether every input of a quantized unit has codes.
    fn reads_codes(&self, index: usize) -> bool {
        let inputs = &self.simulated.plan.units()[index].inputs;
        inputs.iter().all(|&id| self.simulated.variable(id).is_some())
    }

    /// Returns whether a unit that computes on codes reads a tensor that is computed in float.
    fn is_read_as_codes(&self, id: TensorId) -> bool {
        let units = self.simulated.plan.units();
        let mut readers = (0..units.len()).filter(|&unit| units[unit].inputs.contains(&id));
        readers.any(|unit| self.simulated.is_quantized(unit) && self.wants_codes(unit))
    }

    /// Returns whether a unit computes on codes, or passes them to one that does.
    fn wants_codes(&self, unit: usize) -> bool {
        let unit = &self.simulated.plan.units()[unit];
        match unit.forms.as_ref().map(|forms| forms.output()) {
            Some(crate::patterns::Output::AsInput | crate::patterns::Output::AsInputAtFirst) => {
                self.is_read_as_codes(unit.output)
            }
            Some(_) => true,
            None => false,
        }
    }

    fn check_finite(&self, tensor: TensorId, samples: &[std::sync::Arc<[i32]>]) -> Result<(), QuantizeError> {
        for (sample, words) in samples.iter().enumerate() {
            let real = |word: &i32| guardbit_graph::real_of(*word);
            if let Some(value) = words.iter().map(real).find(|value| !value.is_finite()) {
                let tensor = self.simulated.plan.graph().tensor(tensor).name.clone();
                return Err(QuantizeError::NotFinite { tensor, value, sample });
            }
        }
        Ok(())
    }

    /// Releases data that nothing reads any more: the unit's inputs, and their sources, which were kept in
    /// case their codes were chosen again.
    fn forget(&mut self, index: usize) {
        let units = self.simulated.plan.units();
        let read = &units[index].inputs;
        let is_read_later = |id: &TensorId| units[index + 1..].iter().any(|later| later.inputs.contains(id));
        self.open.retain(|id, _| !read.contains(id) || is_read_later(id));
        let makers = units[..index].iter().filter(|maker| read.contains(&maker.output));
        let mut old: Vec<TensorId> = makers.flat_map(|maker| &maker.inputs).chain(read).copied().collect();
        let makers_of_open: Vec<usize> = self.open.values().filter_map(|open| open.unit).collect();
        old.retain(|id| {
            let is_held = makers_of_open.iter().any(|&unit| units[unit].inputs.contains(id));
            !is_read_later(id) && !is_held && !self.links.is_output(*id)
        });
        for id in old {
            self.states.iter_mut().for_each(|state| state.forget(id));
        }
    }
}
