//! Chooses the codes of one tensor, and of one unit.

use std::sync::Arc;

use guardbit_graph::TensorId;

use super::{Calibration, Open};
use crate::patterns::Output;
use crate::simulated::{Raw, Reading, reals_of};
use crate::{CodeSetting, Observed, Parameters, QuantizeError, Range, Scales, TensorCodes};

impl Calibration<'_, '_> {
    /// Chooses the codes of a tensor that is computed in float, and computes them.
    pub(super) fn choose_real(&mut self, id: TensorId) -> Result<(), QuantizeError> {
        let reading = self.reading();
        let reals: Vec<Vec<f32>> = self.states.iter().map(|state| state.reals(id, reading, None)).collect();
        let codes = self.chosen(&observed(&reals), self.config.setting.activations);
        self.simulated.set(id, codes);
        self.simulated.quantize_real(id, &mut self.states);
        if self.is_open(id) {
            let raw = |reals: &Vec<f32>| {
                Raw::Real(reals.iter().map(|&real| guardbit_graph::word_of(real)).collect::<Arc<[i32]>>())
            };
            let raw = reals.iter().map(raw).collect();
            self.open.insert(id, Open { unit: None, raw, reals });
        }
        self.tensor_figures(id);
        Ok(())
    }

    /// Chooses the codes of a quantized unit's output and of its weights, and computes the codes.
    pub(super) fn quantized(&mut self, index: usize) -> Result<(), QuantizeError> {
        let plan = self.simulated.plan;
        let unit = &plan.units()[index];
        let Some(forms) = &unit.forms else { return Ok(()) };
        let setting = self.config.setting(plan.names(index), unit.class());
        if let Some(layer) = forms.layer() {
            self.plain_weights(index, layer, setting);
            if self.config.correct_bias {
                self.correct_bias(index, layer)?;
            }
        }
        let mut raw = self.simulated.raw(index, &self.states)?;
        let mut reals = self.simulated.reals(index, &self.states, &raw);
        let output = match (forms.output(), unit.inputs.first()) {
            (Output::AsInput | Output::AsInputAtFirst, Some(&input)) => self.simulated.variable(input),
            (Output::Given(of), _) => {
                let range = setting.activations.range();
                Some(TensorCodes::new(range, of(range)))
            }
            (Output::Apart, Some(&input)) => {
                let own = self.chosen(&self.observed_output(index, &reals), setting.activations);
                Some(apart(own, self.simulated.variable(input), setting.activations.scales))
            }
            _ => Some(self.chosen(&self.observed_output(index, &reals), setting.activations)),
        };
        let Some(output) = output else { return Ok(()) };
        self.simulated.set(unit.output, output);
        if let Some(layer) = forms.layer()
            && self.chosen_by_layer(index, layer, setting)?
        {
            raw = self.simulated.raw(index, &self.states)?;
            reals = self.simulated.reals(index, &self.states, &raw);
        }
        let kept = self.is_open(unit.output) && forms.output().is_free();
        let kept = kept.then(|| Open { unit: Some(index), raw: raw.clone(), reals });
        self.rounded_sums.insert(index, raw.iter().map(Raw::rounded_sums).sum());
        self.simulated.settle(index, &mut self.states, raw)?;
        if let Some(reason) = self.too_lossy(index) {
            self.simulated.stay(index, reason);
            self.states.iter_mut().for_each(|state| state.codes[unit.output.index()] = None);
            return Ok(());
        }
        self.open.extend(kept.map(|open| (unit.output, open)));
        self.tensor_figures(unit.output);
        Ok(())
    }

    /// Returns the codes for the observed values.
    fn chosen(&self, observed: &Observed, setting: CodeSetting) -> TensorCodes {
        let target = setting.target();
        let range = self.config.method.range(observed, &target);
        TensorCodes::new(setting.range(), target.parameters(range))
    }

    /// Returns the observed values of a unit's output: with the error of the layers before it, or in the
    /// float network. Zeros alone do not determine a scale, so if only zeros remain because of that error,
    /// the float network is used instead.
    pub(super) fn observed_output(&self, index: usize, reals: &[Vec<f32>]) -> Observed {
        if self.reading() == Reading::Simulated {
            let simulated = observed(reals);
            if simulated.magnitude() > 0.0 {
                return simulated;
            }
        }
        observed(&self.float_output(index))
    }

    /// Returns the float network's values of a unit.
    pub(super) fn float_output(&self, index: usize) -> Vec<Vec<f32>> {
        let output = self.simulated.plan.units()[index].output;
        let words = self.states.iter().map(|state| state.float[output.index()].as_deref());
        words.map(|words| reals_of(words.unwrap_or_default())).collect()
    }

    /// Returns whether a single layer reads a tensor, so that a method may choose its codes together with
    /// that layer.
    fn is_open(&self, id: TensorId) -> bool {
        let plan = self.simulated.plan;
        let mut readers = (0..plan.units().len()).filter(|&unit| plan.units()[unit].inputs.contains(&id));
        let (Some(reader), None) = (readers.next(), readers.next()) else { return false };
        let layer = plan.units()[reader].forms.as_ref().is_some_and(|forms| forms.layer().is_some());
        layer
            && self.config.layer_method.is_some()
            && self.simulated.is_quantized(reader)
            && !self.links.is_output(id)
    }

    /// Returns why a layer should stay in float, if its own quantization loses too much. Operations without
    /// weights only lose by the codes of their output, which their readers would need in any case.
    fn too_lossy(&self, index: usize) -> Option<String> {
        let least = self.config.least_sqnr_db?;
        let unit = &self.simulated.plan.units()[index];
        unit.forms.as_ref().and_then(|forms| forms.layer())?;
        let own = self.simulated.in_float(unit, &self.states, Reading::Simulated);
        let codes = self.simulated.variable(unit.output);
        let (mut signal, mut noise) = (0.0, 0.0);
        for (state, words) in self.states.iter().zip(own) {
            let made = state.reals(unit.output, Reading::Simulated, codes);
            for (real, made) in reals_of(&words).into_iter().zip(made) {
                signal += f64::from(real).powi(2);
                noise += (f64::from(real) - f64::from(made)).powi(2);
            }
        }
        let sqnr = guardbit_sim::sqnr_db(signal, noise);
        (sqnr < least).then(|| format!("its quantization has an SQNR of {sqnr:.1} dB, below {least} dB"))
    }
}

/// Returns codes with the next greater scale if they would equal those of `input`.
fn apart(own: TensorCodes, input: Option<TensorCodes>, scales: Scales) -> TensorCodes {
    if input.is_none_or(|input| input.parameters != own.parameters) {
        return own;
    }
    let scale = match scales {
        Scales::Any => own.parameters.scale.next_up(),
        Scales::PowersOfTwo => 2.0 * own.parameters.scale,
    };
    TensorCodes { parameters: Parameters { scale, ..own.parameters }, ..own }
}

/// Returns the observed values of samples.
pub(super) fn observed(samples: &[Vec<f32>]) -> Observed {
    let mut observed = Observed::default();
    samples.iter().for_each(|sample| observed.add(sample));
    observed
}

/// Returns the observed values of one channel of weights.
pub(super) fn observed_weights(weights: &[f32]) -> Observed {
    let mut observed = Observed::default();
    observed.add(weights);
    observed
}

/// Returns the range that a method gives weights that it observed as `weights`. Every value counts equally.
pub(super) fn weight_range(
    calibration: &Calibration<'_, '_>,
    weights: &[f32],
    setting: CodeSetting,
) -> Range {
    calibration.config.weight_method.range(&observed_weights(weights), &setting.target())
}
