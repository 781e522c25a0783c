//! Codes of a layer's weights that do least harm within budgets, at the best of several scales.

use guardbit_hwmodels::{MacLayer, Program, ZeroPoint};
use rayon::prelude::*;

use crate::weights::budget::{Budget, Budgets};
use crate::weights::correct::{Correction, Effort};
use crate::weights::moments::{Moments, Windows};
use crate::{LayerParameters, LayerProblem, Parameters, QuantizeError, Range, WeightCodes};

/// Scales are tried from half the plain one to 256 times that: of 8 bits a single one is left.
const COARSE: std::ops::RangeInclusive<i32> = -1..=8;
/// Then around the best of these, in quarters of an octave.
const FINE: [i32; 6] = [-3, -2, -1, 1, 2, 3];
/// The same where there is less time.
const QUICK: [i32; 2] = [-2, 2];

/// A layer, as far as the squared error of its sums depends on its weights.
pub(super) struct Fitting<'l, 'a> {
    layer: &'l LayerProblem<'a>,
    input: Parameters,
    plain: &'l WeightCodes,
    /// By group of output channels.
    groups: Vec<Group>,
    channels_of_group: usize,
    fine: &'static [i32],
}

struct Group {
    moments: Moments,
    correction: Correction,
}

/// A channel's codes at a scale.
#[derive(Debug, Clone)]
struct Choice {
    scale: f32,
    codes: Vec<i32>,
    bias: i64,
    cost: f64,
}

impl<'l, 'a> Fitting<'l, 'a> {
    /// The layer with activations of these parameters; `program` is the layer alone under any weights. `None` if its samples
    /// say nothing.
    pub(super) fn new(layer: &'l LayerProblem<'a>, program: &Program, input: Parameters) -> Option<Self> {
        let mac = program.mac_layers().next()?;
        let window = &mac.dots.window;
        let graph = &program.graph;
        let codes = graph.tensor(graph.inputs()[0]).ty.code_range();
        let seen = |value: f32| input.real(input.code(value, codes)) as f32;
        let group = |group: usize| {
            let real = Windows::of_group(window, group, layer.samples);
            let moments = Moments::new(&real, &real.map(seen), true);
            Some(Group { correction: Correction::new(&moments)?, moments })
        };
        let groups: Option<Vec<Group>> = (0..window.groups).into_par_iter().map(group).collect();
        let channels_of_group = (layer.channels / window.groups.max(1)).max(1);
        Some(Self {
            layer,
            input,
            plain: &layer.plain.weights,
            groups: groups?,
            channels_of_group,
            fine: &FINE,
        })
    }

    /// The same with fewer scales to choose from.
    pub(super) fn quick(self) -> Self {
        Self { fine: &QUICK, ..self }
    }

    /// The layer's parameters with weights that fit the registers of `mac`, their scales chosen.
    ///
    /// # Errors
    /// [`QuantizeError::Impossible`] where weights have a zero point and products are of raw codes.
    pub(super) fn parameters(
        &self,
        program: &Program,
        mac: &MacLayer,
    ) -> Result<LayerParameters, QuantizeError> {
        let layer = self.layer;
        // Mean errors may need a bias where the layer has none.
        let biased = MacLayer { bias: Some(vec![0; layer.channels]), ..mac.clone() };
        let budgets = Budgets::new(&program.graph, &biased);
        let zero = layer.targets.weights.parameters(Range { low: -1.0, high: 1.0 }).zero_point;
        if zero != 0 && mac.datapath.operands.zero_point == ZeroPoint::Fold {
            return Err(QuantizeError::Impossible {
                layer: layer.name.into(),
                problem: format!(
                    "its weights have the zero point {zero}, and the accelerator multiplies raw codes; symmetric signed \
                     weights have none"
                ),
            });
        }
        let scales = match layer.targets.per_channel {
            true => (0..layer.channels).collect::<Vec<_>>().chunks(1).map(<[usize]>::to_vec).collect(),
            false => vec![(0..layer.channels).collect::<Vec<_>>()],
        };
        let chosen: Vec<Vec<Choice>> =
            scales.into_par_iter().map(|channels| self.together(&budgets, &channels, zero)).collect();
        let per_scale = chosen.iter().map(|choices| choices.first().map_or(1.0, |choice| choice.scale));
        let scales: Vec<f32> = per_scale.collect();
        let all: Vec<Choice> = chosen.into_iter().flatten().collect();
        let biased = layer.bias.is_some() || all.iter().any(|choice| choice.bias != 0);
        Ok(LayerParameters {
            input: self.input,
            weights: WeightCodes {
                zero_points: vec![zero; scales.len()],
                scales,
                codes: all.iter().flat_map(|choice| choice.codes.iter().map(|&code| code + zero)).collect(),
            },
            bias: biased.then(|| all.iter().map(|choice| choice.bias as i32).collect()),
            output: layer.plain.output,
        })
    }

    /// The best codes of channels that share a scale.
    fn together(&self, budgets: &Budgets, channels: &[usize], zero: i32) -> Vec<Choice> {
        let plain = self.plain.scale(channels.first().copied().unwrap_or(0));
        let at = |quarters: i32, effort: Effort| -> (f64, Vec<Choice>) {
            let scale = self.allowed(f64::from(plain) * f64::from(quarters).exp2().powf(0.25));
            let choice = |&channel: &usize| self.choice(budgets, channel, scale, zero, effort);
            let choices: Vec<Choice> = channels.par_iter().map(choice).collect();
            (choices.iter().map(|choice| choice.cost).sum(), choices)
        };
        let mut best = (0, f64::INFINITY);
        for octave in COARSE {
            let (cost, _) = at(4 * octave, Effort::Greedy);
            if cost < best.1 {
                best = (4 * octave, cost);
            }
        }
        let mut found = at(best.0, Effort::Full);
        for quarters in self.fine {
            let next = at(best.0 + quarters, Effort::Full);
            if next.0 < found.0 {
                found = next;
            }
        }
        found.1
    }

    /// The nearest scale that weights may have.
    fn allowed(&self, scale: f64) -> f32 {
        let target = &self.layer.targets.weights;
        let steps = (f64::from(target.codes.max()) - f64::from(target.codes.min())) / 2.0;
        target.parameters(Range { low: -scale * steps, high: scale * steps }).scale
    }

    fn choice(&self, budgets: &Budgets, channel: usize, scale: f32, zero: i32, effort: Effort) -> Choice {
        let group = &self.groups[channel / self.channels_of_group];
        let real: Vec<f64> = self.layer.channel(channel).iter().map(|&weight| weight.into()).collect();
        let bias = self.layer.bias.map_or(0.0, |bias| bias[channel].into());
        let step = f64::from(self.input.scale * scale);
        let target = group.correction.target(&group.moments, &real);
        let (min, max) = self.layer.targets.weights.codes.ends();
        // Weights are chosen for the bias that they are likely to have.
        let likely = within(bias / step, &budgets.channel(0));
        let found = group.correction.codes(
            &target,
            f64::from(scale),
            (min - zero, max - zero),
            &budgets.channel(likely),
            effort,
        );
        let mut budget = budgets.channel(likely);
        found.codes.iter().enumerate().for_each(|(cell, &code)| {
            budget.set(cell, code);
        });
        let seen: Vec<f64> = found.codes.iter().map(|&code| f64::from(code) * f64::from(scale)).collect();
        let wanted = bias + group.moments.mean_error(&real, &seen);
        let code = within(wanted / step, &budget);
        let missing = wanted - code as f64 * step;
        Choice { scale, codes: found.codes, bias: code, cost: found.cost + missing * missing }
    }
}

/// The bias nearest to `steps` that fits.
fn within(steps: f64, budget: &Budget<'_>) -> i64 {
    let nearest = (steps.round_ties_even() as i128).clamp(i32::MIN.into(), i32::MAX.into());
    let room = budget.biases();
    room.map_or(0, |room| nearest.clamp(room.min, room.max)) as i64
}
