//! Codes of a layer's weights with the least error within budgets, at the best of several scales.

use guardbit_graph::Window;
use guardbit_hwmodels::{MacLayer, Program, ZeroPoint};
use rayon::prelude::*;

use super::inputs::Input;
use crate::weights::budget::{Budget, Budgets};
use crate::weights::correct::{Correction, Effort};
use crate::weights::moments::{Moments, Windows};
use crate::{LayerParameters, LayerProblem, QuantizeError, Range, WeightCodes};

/// Octaves of scales that are tried, relative to the plain scale: half of it to 256 times. At the coarsest
/// scale a single bit of 8 is left.
const COARSE: std::ops::RangeInclusive<i32> = -1..=8;
/// Quarters of an octave that are then tried around the best scale.
const FINE: [i32; 6] = [-3, -2, -1, 1, 2, 3];

/// Number of weights above which a layer counts as large: see [`is_large`].
const LARGE: usize = 1 << 14;
/// Number of weights of a large layer used to compare activation ranges, rounded to whole output channels, at
/// least [`LEAST_CHANNELS`] of them.
const COMPARED_WEIGHTS: usize = 1 << 14;
const LEAST_CHANNELS: usize = 8;
/// Maximum number of windows used to compare activation ranges of a large layer.
const COMPARED_WINDOWS: usize = 128;

/// Returns whether a layer has more than 2^14 weights. To save time, activation ranges of such a layer are
/// compared on some of its output channels and windows, the scale search starts at a likely scale, and codes
/// are changed one at a time.
pub(super) fn is_large(layer: &LayerProblem<'_>) -> bool {
    layer.channels * layer.terms > LARGE
}

/// Real values that a layer reads.
pub(super) struct Reading {
    /// Windows and moments per group of output channels.
    groups: Vec<(Windows, Moments)>,
    /// Subset used to compare inputs, if that is not all windows.
    some: Option<Box<Self>>,
}

/// Layer with activations of given codes, reduced to what determines the squared error of its sums as a
/// function of its weights.
pub(super) struct Fitting<'l, 'a> {
    layer: &'l LayerProblem<'a>,
    input: Input,
    program: Program,
    /// Groups of output channels.
    groups: Vec<Group>,
    channels_of_group: usize,
}

struct Group {
    moments: Moments,
    correction: Correction,
}

/// Parameters of a layer with the mean squared error of its sums against the real sums, over all channels.
/// The error omits a constant that depends only on the layer.
#[derive(Debug, Clone)]
pub(super) struct Fitted {
    pub parameters: LayerParameters,
    pub error: f64,
}

/// Scales of weights to try, in octaves relative to the plain scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scales {
    /// All octaves; with more effort also quarters of an octave around the best one.
    All,
    /// From this octave up and down, as long as the cost decreases.
    From(i32),
    /// This octave alone.
    Only(i32),
}

/// Codes of a channel at a scale.
#[derive(Debug, Clone)]
struct Choice {
    scale: f32,
    /// Scale relative to the plain scale, in quarters of an octave.
    quarters: i32,
    codes: Vec<i32>,
    bias: i64,
    /// Damped cost that the search minimizes.
    cost: f64,
}

impl Reading {
    /// Returns the values that the layer reads through `window`.
    pub(super) fn new(layer: &LayerProblem<'_>, window: &Window) -> Self {
        let real = |group: usize| Windows::of_group(window, group, layer.samples);
        let real: Vec<Windows> = (0..window.groups).into_par_iter().map(real).collect();
        let with_moments = |windows: Vec<Windows>| {
            let moments = |windows: Windows| match is_large(layer) {
                true => (Moments::of_few(&windows, true), windows),
                false => (Moments::new(&windows, &windows, true), windows),
            };
            windows.into_par_iter().map(moments).map(|(moments, windows)| (windows, moments)).collect()
        };
        let many = is_large(layer) && real.iter().any(|windows| windows.count() > COMPARED_WINDOWS);
        let some = many.then(|| real.iter().map(|windows| windows.some(COMPARED_WINDOWS)).collect());
        let some = some.map(|some| Box::new(Self { groups: with_moments(some), some: None }));
        Self { groups: with_moments(real), some }
    }

    /// Returns the values used to compare inputs.
    pub(super) fn to_compare(&self) -> &Self {
        self.some.as_deref().unwrap_or(self)
    }
}

impl<'l, 'a> Fitting<'l, 'a> {
    /// Returns the layer with activations of these codes; `None` if its samples contain no usable values.
    ///
    /// # Errors
    /// [`QuantizeError`] if the accelerator cannot run it.
    pub(super) fn new(
        layer: &'l LayerProblem<'a>,
        reading: &Reading,
        input: Input,
    ) -> Result<Option<Self>, QuantizeError> {
        let Input { parameters, codes } = input;
        let program = layer.program(&input.with(&layer.plain))?;
        let seen = |value: f32| parameters.real(parameters.code(value, codes)) as f32;
        let group = |(real, moments): &(Windows, Moments)| {
            let moments = moments.seen_as(real, &real.map(seen));
            Some(Group { correction: Correction::new(&moments)?, moments })
        };
        let groups: Option<Vec<Group>> = reading.groups.par_iter().map(group).collect();
        let channels_of_group = (layer.channels / reading.groups.len().max(1)).max(1);
        Ok(groups.map(|groups| Self { layer, input, program, groups, channels_of_group }))
    }

    /// Returns the datapath of the layer.
    pub(super) fn mac(&self) -> Result<&MacLayer, QuantizeError> {
        let host = || QuantizeError::Host { layer: self.layer.name.into() };
        self.program.mac_layers().next().ok_or_else(host)
    }

    /// Returns the layer's parameters with weights that fit the registers of `mac`.
    ///
    /// # Errors
    /// [`QuantizeError::Impossible`] where weights have a zero point and products are of raw codes.
    pub(super) fn fitted(
        &self,
        mac: &MacLayer,
        effort: Effort,
        scales: Scales,
    ) -> Result<LayerParameters, QuantizeError> {
        let layer = self.layer;
        let all: Vec<usize> = (0..layer.channels).collect();
        let (zero, chosen) = self.chosen(mac, &all, effort, scales)?;
        let per_scale = chosen.iter().map(|choices| choices.first().map_or(1.0, |choice| choice.scale));
        let scales: Vec<f32> = per_scale.collect();
        let all: Vec<Choice> = chosen.into_iter().flatten().collect();
        let biased = layer.bias.is_some() || all.iter().any(|choice| choice.bias != 0);
        Ok(LayerParameters {
            input: self.input.parameters,
            input_codes: self.input.codes,
            weights: WeightCodes {
                zero_points: vec![zero; scales.len()],
                scales,
                codes: all.iter().flat_map(|choice| choice.codes.iter().map(|&code| code + zero)).collect(),
            },
            bias: biased.then(|| all.iter().map(|choice| choice.bias as i32).collect()),
            output: layer.plain.output,
        })
    }

    /// Returns the error of greedily chosen weights, and the octave of the scale that most of them have.
    /// Inputs are compared by this error. For large layers it covers some of the output channels.
    ///
    /// # Errors
    /// [`QuantizeError`] under the conditions of [`fitted`](Self::fitted).
    pub(super) fn compared(&self, mac: &MacLayer, scales: Scales) -> Result<(f64, i32), QuantizeError> {
        let layer = self.layer;
        let count = if is_large(layer) {
            (COMPARED_WEIGHTS / layer.terms).max(LEAST_CHANNELS)
        } else {
            layer.channels
        };
        let step = layer.channels.div_ceil(count).max(1);
        let some: Vec<usize> = (0..layer.channels).step_by(step).collect();
        let (_, chosen) = self.chosen(mac, &some, Effort::Greedy, scales)?;
        let chosen: Vec<Choice> = chosen.into_iter().flatten().collect();
        let error = |(&channel, choice): (&usize, &Choice)| {
            self.error_of(channel, choice.scale, choice.codes.iter().copied(), choice.bias as i32)
        };
        // Greedy choices have scales of whole octaves.
        let mut octaves: Vec<i32> = chosen.iter().map(|choice| choice.quarters.div_euclid(4)).collect();
        octaves.sort_unstable();
        let middle = octaves.get(octaves.len() / 2).copied().unwrap_or(0);
        Ok((some.iter().zip(&chosen).map(error).sum(), middle))
    }

    /// Returns the best codes of some channels, grouped by shared scale, and their zero point.
    fn chosen(
        &self,
        mac: &MacLayer,
        channels: &[usize],
        effort: Effort,
        scales: Scales,
    ) -> Result<(i32, Vec<Vec<Choice>>), QuantizeError> {
        let layer = self.layer;
        // Mean errors may require a bias even if the layer has none.
        let biased = MacLayer { bias: Some(vec![0; layer.channels]), ..mac.clone() };
        let budgets = Budgets::new(&self.program.graph, &biased);
        let zero = layer.targets.weights.parameters(Range { low: -1.0, high: 1.0 }).zero_point;
        if zero != 0 && mac.datapath.operands.zero_point == ZeroPoint::Fold {
            return Err(QuantizeError::Impossible {
                layer: layer.name.into(),
                problem: format!(
                    "its weights have the zero point {zero}, but the accelerator multiplies raw codes; use \
                     symmetric signed weights"
                ),
            });
        }
        let of_scale = if layer.targets.per_channel { 1 } else { channels.len().max(1) };
        let together = |channels: &[usize]| self.together(&budgets, channels, zero, effort, scales);
        Ok((zero, channels.par_chunks(of_scale).map(together).collect()))
    }

    /// Returns the error of any parameters that read these activations: see [`Fitted`].
    pub(super) fn error(&self, parameters: &LayerParameters) -> f64 {
        let of = |channel: usize| {
            let (weights, cells) = (&parameters.weights, channel * self.layer.terms..);
            let zero = weights.zero_point(channel);
            let codes = weights.codes[cells][..self.layer.terms].iter().map(|&code| code - zero);
            let bias = parameters.bias.as_ref().map_or(0, |bias| bias[channel]);
            self.error_of(channel, weights.scale(channel), codes, bias)
        };
        let errors: Vec<f64> = (0..self.layer.channels).into_par_iter().map(of).collect();
        errors.iter().sum()
    }

    /// Returns the error of a channel whose weights are `codes` steps of `scale`.
    fn error_of(&self, channel: usize, scale: f32, codes: impl Iterator<Item = i32>, bias: i32) -> f64 {
        let seen: Vec<f64> = codes.map(|code| f64::from(code) * f64::from(scale)).collect();
        let real = self.real(channel);
        let moments = &self.groups[channel / self.channels_of_group].moments;
        let step = f64::from(self.input.parameters.scale * scale);
        let missing = self.bias(channel) + moments.mean_error(&real, &seen) - f64::from(bias) * step;
        moments.excess(&real, &seen) + missing * missing
    }

    fn real(&self, channel: usize) -> Vec<f64> {
        self.layer.channel(channel).iter().map(|&weight| weight.into()).collect()
    }

    fn bias(&self, channel: usize) -> f64 {
        self.layer.bias.map_or(0.0, |bias| bias[channel].into())
    }

    /// Returns the best codes of channels that share a scale.
    fn together(
        &self,
        budgets: &Budgets,
        channels: &[usize],
        zero: i32,
        effort: Effort,
        scales: Scales,
    ) -> Vec<Choice> {
        let plain = self.layer.plain.weights.scale(channels.first().copied().unwrap_or(0));
        let target = |&channel: &usize| {
            let Group { moments, correction } = &self.groups[channel / self.channels_of_group];
            correction.target(moments, &self.real(channel))
        };
        let targets: Vec<Vec<f64>> = channels.par_iter().map(target).collect();
        let at = |quarters: i32, effort: Effort| -> (f64, Vec<Choice>) {
            let scale = self.allowed(f64::from(plain) * f64::from(quarters).exp2().powf(0.25));
            let choice = |(&channel, target): (&usize, &Vec<f64>)| {
                let choice = self.choice(budgets, channel, target, scale, zero, effort);
                Choice { quarters, ..choice }
            };
            let choices: Vec<Choice> = channels.par_iter().zip(&targets).map(choice).collect();
            (choices.iter().map(|choice| choice.cost).sum(), choices)
        };
        match scales {
            Scales::All => {}
            Scales::From(octave) => return climbed(octave, effort, at),
            Scales::Only(octave) => return at(4 * octave, effort).1,
        }
        let less = |best: (f64, Vec<Choice>, i32), next: (f64, Vec<Choice>, i32)| {
            if next.0 < best.0 { next } else { best }
        };
        let coarse = COARSE.map(|octave| {
            let (cost, choices) = at(4 * octave, Effort::Greedy);
            (cost, choices, 4 * octave)
        });
        let Some((_, choices, best)) = coarse.reduce(less) else { return Vec::new() };
        if effort == Effort::Greedy {
            return choices;
        }
        let mut found = at(best, effort);
        for quarters in FINE {
            let next = at(best + quarters, effort);
            if next.0 < found.0 {
                found = next;
            }
        }
        found.1
    }

    /// Returns the nearest scale that weights may have.
    fn allowed(&self, scale: f64) -> f32 {
        let target = &self.layer.targets.weights;
        let steps = (f64::from(target.codes.max()) - f64::from(target.codes.min())) / 2.0;
        target.parameters(Range { low: -scale * steps, high: scale * steps }).scale
    }

    fn choice(
        &self,
        budgets: &Budgets,
        channel: usize,
        target: &[f64],
        scale: f32,
        zero: i32,
        effort: Effort,
    ) -> Choice {
        let group = &self.groups[channel / self.channels_of_group];
        let (real, bias) = (self.real(channel), self.bias(channel));
        let step = f64::from(self.input.parameters.scale * scale);
        let (min, max) = self.layer.targets.weights.codes.ends();
        // Weights are chosen for the bias that they will probably have.
        let likely = within(bias / step, &budgets.channel(0));
        let found = group.correction.codes(
            target,
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
        Choice { scale, quarters: 0, codes: found.codes, bias: code, cost: found.cost + missing * missing }
    }
}

/// Returns the best choices at the scales around `octave`. The search moves up and down in octaves as long as
/// the low-effort cost decreases. With more effort it also tries halves and quarters of an octave.
fn climbed(octave: i32, effort: Effort, at: impl Fn(i32, Effort) -> (f64, Vec<Choice>)) -> Vec<Choice> {
    let steps: &[i32] = if effort == Effort::Greedy { &[4] } else { &[4, 2, 1] };
    let mut here = 4 * octave;
    let mut best = at(here, Effort::Greedy);
    for &step in steps {
        for direction in [step, -step] {
            let start = here;
            while (4 * COARSE.start()..=4 * COARSE.end()).contains(&(here + direction)) {
                let next = at(here + direction, Effort::Greedy);
                if next.0 >= best.0 {
                    break;
                }
                (best, here) = (next, here + direction);
            }
            if here != start {
                break;
            }
        }
    }
    if effort == Effort::Greedy { best.1 } else { at(here, effort).1 }
}

/// Returns the bias nearest to `steps` that fits.
fn within(steps: f64, budget: &Budget<'_>) -> i64 {
    let nearest = (steps.round_ties_even() as i128).clamp(i32::MIN.into(), i32::MAX.into());
    let room = budget.biases();
    room.map_or(0, |room| nearest.clamp(room.min, room.max)) as i64
}
