//! Weights of layers, and methods that choose parameters of whole layers.

use std::sync::Arc;

use guardbit_graph::{Graph, TensorId};
use guardbit_hwmodels::{Accelerator, lower};

use super::choose::{observed, weight_range};
use super::{Calibration, Open};
use crate::layer::{LayerInput, LayerParameters, LayerProblem, Targets, bias_codes, weight_codes};
use crate::patterns::{Layer, LayerCodes};
use crate::simulated::Reading;
use crate::weights::bias::mean_error;
use crate::weights::moments::Windows;
use crate::{LayerSetting, Observed, Parameters, QuantizeError, Scales, TensorCodes};

/// Greatest magnitude of a bias in steps: half of what 32 bits hold.
const MOST_BIAS_STEPS: f64 = (1u64 << 30) as f64;

impl Calibration<'_, '_> {
    /// Sets the weights by the tensor method, each rounded to the nearest code.
    pub(super) fn plain_weights(&mut self, index: usize, layer: &Layer, setting: LayerSetting) {
        let input = self.simulated.variable(self.simulated.plan.units()[index].inputs[0]);
        let Some(TensorCodes { parameters: input, .. }) = input else { return };
        let target = setting.weights.target();
        let parameters = self.weight_parameters(layer, setting, input.scale);
        let weights = weight_codes(&layer.weights, layer.channels, &parameters, target.codes);
        let bias = layer.bias.as_ref().map(|bias| bias_codes(bias, input, &weights));
        self.simulated.set_weights(index, LayerCodes { weights, setting: setting.weights, bias });
    }

    /// Raises the bias by the mean error of the sums over the calibration samples: see [`mean_error`].
    pub(super) fn correct_bias(&mut self, index: usize, layer: &Layer) -> Result<(), QuantizeError> {
        let input = self.simulated.plan.units()[index].inputs[0];
        let (Some(codes), Some(mut chosen)) =
            (self.simulated.variable(input), self.simulated.weights(index).cloned())
        else {
            return Ok(());
        };
        let alone = self.simulated.alone(index, None)?;
        let windows = alone.nodes_with_ids().filter_map(|(id, _)| alone.window(id)).collect::<Vec<_>>();
        let [window] = &windows[..] else { return Ok(()) };
        let reals = |reading: Reading| -> Vec<Vec<f32>> {
            self.states.iter().map(|state| state.reals(input, reading, Some(codes))).collect()
        };
        let (real, seen) = (reals(Reading::Float), reals(self.reading()));
        let weights = &chosen.weights;
        let terms = layer.terms().max(1);
        let per_group = (layer.channels / window.groups.max(1)).max(1);
        let mut bias = chosen.bias.clone().unwrap_or_else(|| vec![0; layer.channels]);
        for group in 0..window.groups {
            let means = [&real, &seen].map(|samples| Windows::of_group(window, group, samples).mean());
            for (channel, bias) in bias.iter_mut().enumerate().skip(group * per_group).take(per_group) {
                let cells = channel * terms..(channel + 1) * terms;
                let scale = f64::from(weights.scale(channel));
                let zero_point = weights.zero_point(channel);
                let own: Vec<f64> = layer.weights[cells.clone()].iter().copied().map(f64::from).collect();
                let coded: Vec<f64> =
                    weights.codes[cells].iter().map(|code| scale * f64::from(code - zero_point)).collect();
                let steps = mean_error([&own, &coded], [&means[0], &means[1]])
                    / (f64::from(codes.parameters.scale) * scale);
                *bias = bias.saturating_add(steps.round() as i32);
            }
        }
        chosen.bias = Some(bias);
        self.simulated.set_weights(index, chosen);
        Ok(())
    }

    /// Returns scales and zero points of weights: one, or one per output channel.
    ///
    /// A channel whose weights are all 0 has the scale of the layer as a whole, because its bias is in steps
    /// of that scale. A scale so small that the bias would not fit 32 bits is raised until it does.
    fn weight_parameters(&self, layer: &Layer, setting: LayerSetting, input_scale: f32) -> Vec<Parameters> {
        let target = setting.weights.target();
        let of = |weights: &[f32]| target.parameters(weight_range(self, weights, setting.weights));
        let whole = of(&layer.weights);
        let biases = layer.bias.as_deref().unwrap_or_default();
        let raised = |parameters: Parameters, biases: &[f32]| {
            let greatest = biases.iter().fold(0.0f32, |greatest, bias| greatest.max(bias.abs()));
            let least = f64::from(greatest) / f64::from(input_scale) / MOST_BIAS_STEPS;
            if f64::from(parameters.scale) >= least {
                return parameters;
            }
            let scale = match setting.weights.scales {
                Scales::Any => least as f32,
                Scales::PowersOfTwo => least.log2().ceil().exp2() as f32,
            };
            Parameters { scale, ..parameters }
        };
        if !setting.per_channel {
            return vec![raised(whole, biases)];
        }
        let channel = |(index, weights): (usize, &[f32])| {
            let own = if weights.iter().all(|&weight| weight == 0.0) { whole } else { of(weights) };
            raised(own, biases.get(index..=index).unwrap_or_default())
        };
        layer.weights.chunks(layer.terms().max(1)).enumerate().map(channel).collect()
    }

    /// Lets the method for layers choose. Returns whether it did.
    pub(super) fn chosen_by_layer(
        &mut self,
        index: usize,
        layer: &Layer,
        setting: LayerSetting,
    ) -> Result<bool, QuantizeError> {
        let (Some(method), Some(accelerator)) = (&self.config.layer_method, self.accelerator) else {
            return Ok(false);
        };
        let accelerator = self.accelerator_of(index, accelerator);
        let graph = self.simulated.alone(index, self.output_codes(index))?;
        let name = self.simulated.plan.names(index)[0].to_owned();
        let program = lower(Arc::new(graph), &accelerator)
            .map_err(|source| QuantizeError::Lower { layer: name.clone(), source: Box::new(source) })?;
        if program.mac_layers().next().is_none() {
            return Ok(false);
        }
        let chosen = self.solve(index, layer, setting, &accelerator, |problem| method.choose(problem))?;
        self.take(index, setting, chosen, method.name(), &name)?;
        Ok(true)
    }

    /// Solves a layer with a method.
    fn solve(
        &self,
        index: usize,
        layer: &Layer,
        setting: LayerSetting,
        accelerator: &Accelerator,
        method: impl FnOnce(&LayerProblem<'_>) -> Result<LayerParameters, QuantizeError>,
    ) -> Result<LayerParameters, QuantizeError> {
        let unit = &self.simulated.plan.units()[index];
        let input = unit.inputs[0];
        let codes = |of: Option<TensorCodes>| of.ok_or(QuantizeError::NothingToQuantize);
        let (from, to) =
            (codes(self.simulated.variable(input))?, codes(self.simulated.variable(unit.output))?);
        let plain = self.simulated.weights(index).ok_or(QuantizeError::NothingToQuantize)?;
        let open = self.open.get(&input);
        let reading = self.reading();
        let samples: Vec<Vec<f32>> = match open {
            Some(open) if reading == Reading::Simulated => open.reals.clone(),
            _ => {
                let variable = self.simulated.variable(input);
                self.states.iter().map(|state| state.reals(input, reading, variable)).collect()
            }
        };
        let outputs = self.float_output(index);
        let (seen_input, seen_output): (Observed, Observed) = (observed(&samples), observed(&outputs));
        let target = |codes: TensorCodes| {
            let general = self.config.setting.activations;
            crate::Target { codes: codes.range, symmetry: general.symmetry, scales: general.scales }
        };
        let build = |parameters: &LayerParameters| self.candidate(index, setting, parameters);
        let problem = LayerProblem {
            name: self.simulated.plan.names(index)[0],
            class: layer.class,
            channels: layer.channels,
            terms: layer.terms(),
            weights: &layer.weights,
            bias: layer.bias.as_deref(),
            targets: Targets {
                input: target(from),
                weights: setting.weights.target(),
                per_channel: setting.per_channel,
                output: setting.activations.target(),
            },
            input: match open {
                Some(_) => LayerInput::Free(&seen_input),
                None => LayerInput::Fixed(from.parameters),
            },
            samples: &samples,
            outputs: &outputs,
            observed_output: &seen_output,
            plain: LayerParameters {
                input: from.parameters,
                input_codes: from.range,
                weights: plain.weights.clone(),
                bias: plain.bias.clone(),
                output: to.parameters,
            },
            accelerator,
            build: &build,
            watch: self.watch,
        };
        method(&problem)
    }

    /// Returns the layer alone, under candidate parameters.
    fn candidate(
        &self,
        index: usize,
        setting: LayerSetting,
        parameters: &LayerParameters,
    ) -> Result<Graph, QuantizeError> {
        let unit = &self.simulated.plan.units()[index];
        let mut candidate = crate::simulated::Simulated::new(self.simulated.plan);
        let of = |id| self.simulated.variable(id).ok_or(QuantizeError::NothingToQuantize);
        let input = TensorCodes {
            parameters: parameters.input,
            range: parameters.input_codes,
            ..of(unit.inputs[0])?
        };
        candidate.set(unit.inputs[0], input);
        let output = TensorCodes { parameters: parameters.output, ..of(unit.output)? };
        candidate.set_weights(index, layer_codes(setting, parameters));
        candidate.alone(index, Some(output))
    }

    /// Applies the parameters that a method chose, after checking that they form a valid layer.
    fn take(
        &mut self,
        index: usize,
        setting: LayerSetting,
        chosen: LayerParameters,
        method: &str,
        layer: &str,
    ) -> Result<(), QuantizeError> {
        let wrong =
            |problem: String| QuantizeError::Chosen { layer: layer.into(), method: method.into(), problem };
        let unit = &self.simulated.plan.units()[index];
        let (input, output) = (unit.inputs[0], unit.output);
        let variable = |id| self.simulated.variable(id).ok_or(QuantizeError::NothingToQuantize);
        let (from, to) = (variable(input)?, variable(output)?);
        let open = self.open.remove(&input);
        let own = TensorCodes { parameters: chosen.input, range: chosen.input_codes, ..from };
        if own != from && open.is_none() {
            return Err(wrong("changes the input, whose codes are already fixed".into()));
        }
        if !from.range.includes(own.range)
            || own.range.clamp(own.parameters.zero_point.into()) != own.parameters.zero_point
        {
            return Err(wrong(
                "has input codes outside the range of the target, or a zero point outside the input codes"
                    .into(),
            ));
        }
        self.candidate(index, setting, &chosen)
            .map_err(|error| wrong(format!("does not form a valid layer: {error}")))?;
        self.simulated.set_weights(index, layer_codes(setting, &chosen));
        self.simulated.set(output, TensorCodes { parameters: chosen.output, ..to });
        if own != from {
            self.simulated.set(input, own);
            self.again(input, open)?;
        }
        Ok(())
    }

    /// Computes the codes of an open tensor again.
    fn again(&mut self, tensor: TensorId, open: Option<Open>) -> Result<(), QuantizeError> {
        let Some(Open { unit, raw, .. }) = open else { return Ok(()) };
        match unit {
            Some(unit) => self.simulated.settle(unit, &mut self.states, raw)?,
            None => self.simulated.quantize_real(tensor, &mut self.states),
        }
        self.tensor_figures(tensor);
        Ok(())
    }

    fn output_codes(&self, index: usize) -> Option<TensorCodes> {
        self.simulated.variable(self.simulated.plan.units()[index].output)
    }

    /// Returns the accelerator with its overrides for a layer applied.
    fn accelerator_of(&self, index: usize, accelerator: &Accelerator) -> Accelerator {
        let names = self.simulated.plan.names(index);
        let own = names.iter().find_map(|&name| accelerator.layers.get(name));
        let mut own = own.unwrap_or(accelerator).clone();
        own.layers = Default::default();
        own
    }
}

fn layer_codes(setting: LayerSetting, parameters: &LayerParameters) -> LayerCodes {
    LayerCodes {
        weights: parameters.weights.clone(),
        setting: setting.weights,
        bias: parameters.bias.clone(),
    }
}
