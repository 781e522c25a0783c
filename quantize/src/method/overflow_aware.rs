//! Parameters with the least error including overflow.

use guardbit_hwmodels::{MacLayer, Register};
use guardbit_num::{Format, MAX_BITS};
use guardbit_sim::StatsLevel;
use rayon::prelude::*;

use super::fitting::{Fitting, Reading, Scales, is_large};
use super::inputs::Input;
use crate::weights::correct::Effort;
use crate::{
    LayerInput, LayerMethod, LayerOutcome, LayerParameters, LayerProblem, Parameters, QuantizeError, Range,
    WeightCodes,
};

/// Parameters with the least squared error of the layer's outputs on its accelerator, including the effects
/// of wrapping or saturation. Each candidate runs on the fast engine.
///
/// Candidates are weights
/// - rounded at the plain scale, and at scales up to 64 times larger: fewer codes, smaller sums;
/// - within the budgets of registers that are as wide as those of the accelerator, or up to 4 bits wider:
///   such sums overflow on no input, or on no likely one;
///
/// each for several ranges of the activations if those are free, so that both operands share the range of the
/// sums. Output channels are independent: each takes its own best candidate. Then the bias absorbs mean
/// errors, and the output may get a smaller range. All candidates are compared on few samples, the best ones
/// on more. The search starts from the plain parameters, and keeps them unless others have less error on all
/// samples.
#[derive(Debug, Clone, Copy)]
pub struct OverflowAware {
    /// Maximum number of samples on which the best candidates are compared. Layers with more than 2^22
    /// products in these samples use fewer: at least 4, or as many as have 2^24 products. The final
    /// comparison, with the plain parameters, uses all samples.
    pub samples: usize,
}

impl OverflowAware {
    const NAME: &str = "overflow-aware";

    /// Compares on 32 samples.
    pub const USUAL: Self = Self { samples: 32 };

    fn some(&self, layer: &LayerProblem<'_>, products: usize) -> Samples {
        let each = layer.outputs.first().map_or(0, Vec::len) * layer.terms;
        let least = LEAST_SAMPLES.min(LARGEST / each.max(1)).max(1);
        let few = (products / each.max(1)).max(least);
        let step = layer.samples.len().div_ceil(self.samples.min(few).max(1)).max(1);
        let pairs = layer.samples.iter().zip(layer.outputs).step_by(step);
        let (inputs, outputs) = pairs.map(|(a, b)| (a.clone(), b.clone())).unzip();
        Samples { inputs, outputs }
    }
}

/// Maximum number of products per candidate in the first and in the second comparison, and the minimum number
/// of samples of each, unless these samples have more than [`LARGEST`] products.
const FEW_PRODUCTS: usize = 1 << 19;
const MOST_PRODUCTS: usize = 1 << 22;
const LEAST_SAMPLES: usize = 4;
const LARGEST: usize = 1 << 24;
/// Half octaves by which the scale of weights grows; the first is the plain scale.
const COARSER: [i32; 11] = [0, -1, 1, 2, 3, 4, 5, 6, 8, 10, 12];
/// Additional bits of the registers for which budgets are computed.
const WIDER: [u32; 4] = [0, 1, 2, 4];
/// Ranges of activations, relative to the plain range.
const INPUTS: [f64; 6] = [0.7, 1.4, 2.0, 4.0, 8.0, 16.0];
/// Ranges of outputs, relative to the plain range.
const OUTPUTS: [f64; 4] = [0.9, 0.8, 0.65, 0.5];

impl LayerMethod for OverflowAware {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        let [few, many] = [FEW_PRODUCTS, MOST_PRODUCTS].map(|products| self.some(layer, products));
        let [few, many] = [&few, &many].map(|some| layer.on(&some.inputs, &some.outputs));
        let program = layer.program(&layer.plain)?;
        let host = || QuantizeError::Host { layer: layer.name.into() };
        let mac = program.mac_layers().next().ok_or_else(host)?;
        let reading = Reading::new(layer, &mac.dots.window);
        let found = Search { layer: &few, more: &many, reading }.run()?;
        let noise = |parameters| Ok::<_, QuantizeError>(layer.run(parameters, StatsLevel::None)?.noise);
        Ok(match noise(&found)? < noise(&layer.plain)? {
            true => found,
            false => layer.plain.clone(),
        })
    }
}

/// Subset of a layer's samples.
struct Samples {
    inputs: Vec<Vec<f32>>,
    outputs: Vec<Vec<f32>>,
}

/// Layer on few of its samples, and on more.
struct Search<'l, 'a> {
    layer: &'l LayerProblem<'a>,
    more: &'l LayerProblem<'a>,
    reading: Reading,
}

/// Parameters with their results.
#[derive(Clone)]
struct Tried {
    parameters: LayerParameters,
    outcome: LayerOutcome,
}

impl Search<'_, '_> {
    fn run(&self) -> Result<LayerParameters, QuantizeError> {
        let plain = self.layer.plain.clone();
        let start = self.all_rounded(Input::plain(self.layer), |_| true)?;
        let best = COARSER.iter().zip(&start).min_by(|a, b| a.1.outcome.noise.total_cmp(&b.1.outcome.noise));
        let best = best.map_or(0, |(&half_octaves, _)| half_octaves);
        let mut rounded = vec![(Input::plain(self.layer), start)];
        if let LayerInput::Free(_) = self.layer.input {
            for part in INPUTS {
                let input = Input::of(self.layer, plain.input_codes.bits(), part);
                // For large layers, only scales whose sums are about as large as with the best one are tried.
                let likely = f64::from(best) - 2.0 * part.log2();
                let is_near = |half_octaves: i32| {
                    let most = f64::from(COARSER[COARSER.len() - 1]);
                    (f64::from(half_octaves) - likely.clamp(-1.0, most)).abs() <= 1.0
                };
                rounded.push((input, self.all_rounded(input, |one| !is_large(self.layer) || is_near(one))?));
            }
        }
        // Budgets take longer, so they are tried only for the plain activations and for the best ones so far.
        let noise =
            |tried: &[Tried]| tried.iter().map(|tried| tried.outcome.noise).fold(f64::INFINITY, f64::min);
        let (first, others) = rounded.split_at_mut(1);
        let best = others.iter_mut().min_by(|a, b| noise(&a.1).total_cmp(&noise(&b.1)));
        let best = best.filter(|best| noise(&best.1) < noise(&first[0].1));
        let mut found: Option<Tried> = None;
        for (input, all) in first.iter_mut().chain(best) {
            let budgeted = self.budgeted(*input)?.into_par_iter().map(|parameters| self.tried(parameters));
            all.extend(budgeted.collect::<Result<Vec<_>, _>>()?);
            for parameters in self.best_and_mixed(all) {
                let next = self.tried_on_more(parameters)?;
                if found.as_ref().is_none_or(|found| next.outcome.noise < found.outcome.noise) {
                    found = Some(next);
                }
            }
        }
        let Some(found) = found else { return Ok(plain) };
        let mut best = self.better_bias(found)?;
        let with_output = |part: f64| {
            let output = scaled(plain.output, self.layer.targets.output, part);
            self.tried_on_more(LayerParameters { output, ..best.parameters.clone() })
        };
        let outputs: Vec<Tried> = OUTPUTS.into_par_iter().map(with_output).collect::<Result<_, _>>()?;
        for next in outputs {
            if next.outcome.noise < best.outcome.noise {
                best = next;
            }
        }
        Ok(best.parameters)
    }

    fn tried(&self, parameters: LayerParameters) -> Result<Tried, QuantizeError> {
        self.layer.watch.candidate(OverflowAware::NAME);
        let outcome = self.layer.run(&parameters, StatsLevel::None)?;
        Ok(Tried { parameters, outcome })
    }

    fn tried_on_more(&self, parameters: LayerParameters) -> Result<Tried, QuantizeError> {
        self.layer.watch.candidate(OverflowAware::NAME);
        let outcome = self.more.run(&parameters, StatsLevel::None)?;
        Ok(Tried { parameters, outcome })
    }

    /// Returns rounded weights for activations of these parameters, at the scales that `wanted` accepts.
    fn all_rounded(&self, input: Input, wanted: impl Fn(i32) -> bool) -> Result<Vec<Tried>, QuantizeError> {
        let wanted: Vec<i32> = COARSER.iter().copied().filter(|&half_octaves| wanted(half_octaves)).collect();
        wanted.into_par_iter().map(|half_octaves| self.tried(self.rounded(input, half_octaves))).collect()
    }

    /// Returns the best of candidates with equal activations, and the mix of each channel's best if channels
    /// have their own scales.
    fn best_and_mixed(&self, all: &[Tried]) -> Vec<LayerParameters> {
        let best = all.iter().min_by(|a, b| a.outcome.noise.total_cmp(&b.outcome.noise));
        let best = best.unwrap_or(&all[0]).parameters.clone();
        let mixed = self.layer.targets.per_channel.then(|| self.by_channel(all));
        std::iter::once(best).chain(mixed).collect()
    }

    /// Returns weights rounded at a multiple of the plain scales.
    fn rounded(&self, input: Input, half_octaves: i32) -> LayerParameters {
        let (layer, plain) = (self.layer, &self.layer.plain);
        if half_octaves == 0 {
            let bias = layer.bias_codes(input.parameters, &plain.weights);
            return LayerParameters { bias, ..input.with(plain) };
        }
        let factor = (f64::from(half_octaves) / 2.0).exp2();
        let target = &layer.targets.weights;
        let steps = (f64::from(target.codes.max()) - f64::from(target.codes.min())) / 2.0;
        let range = |&scale: &f32| Range {
            low: -f64::from(scale) * factor * steps,
            high: f64::from(scale) * factor * steps,
        };
        let ranges: Vec<Range> = plain.weights.scales.iter().map(range).collect();
        input.with(&layer.parameters(input.parameters, &ranges, plain.output))
    }

    /// Returns weights within the budgets of registers of several widths.
    fn budgeted(&self, input: Input) -> Result<Vec<LayerParameters>, QuantizeError> {
        let Some(fitting) = Fitting::new(self.layer, &self.reading, input)? else { return Ok(Vec::new()) };
        let mac = fitting.mac()?;
        let mut from = Scales::All;
        let mut fitted = |&more: &u32| {
            let mac = wider(mac, more);
            if !is_large(self.layer) {
                return fitting.fitted(&mac, Effort::Greedy, Scales::All);
            }
            let octave = fitting.compared(&mac, from)?.1;
            from = Scales::From(octave);
            fitting.fitted(&mac, Effort::Greedy, Scales::Only(octave))
        };
        // A width without a valid budget is skipped: there are enough other candidates.
        Ok(WIDER.iter().filter_map(|more| fitted(more).ok()).collect())
    }

    /// Returns parameters in which each channel takes its best candidate.
    fn by_channel(&self, all: &[Tried]) -> LayerParameters {
        let (layer, plain) = (self.layer, &all[0].parameters);
        let best = |channel: usize| {
            let noise = |tried: &&Tried| tried.outcome.channels[channel].noise;
            let found = all.iter().min_by(|a, b| noise(a).total_cmp(&noise(b)));
            &found.unwrap_or(&all[0]).parameters
        };
        let chosen: Vec<&LayerParameters> = (0..layer.channels).map(best).collect();
        let each = || chosen.iter().enumerate();
        let biased = chosen.iter().any(|parameters| parameters.bias.is_some());
        LayerParameters {
            weights: WeightCodes {
                scales: each().map(|(channel, own)| own.weights.scale(channel)).collect(),
                zero_points: each().map(|(channel, own)| own.weights.zero_point(channel)).collect(),
                codes: each()
                    .flat_map(|(channel, own)| &own.weights.codes[channel * layer.terms..][..layer.terms])
                    .copied()
                    .collect(),
            },
            bias: biased.then(|| {
                each().map(|(channel, own)| own.bias.as_ref().map_or(0, |bias| bias[channel])).collect()
            }),
            ..plain.clone()
        }
    }

    /// Subtracts each channel's mean error from its bias, if that lowers the error.
    fn better_bias(&self, best: Tried) -> Result<Tried, QuantizeError> {
        let Tried { parameters, outcome } = &best;
        let step =
            |channel: usize| f64::from(parameters.input.scale) * f64::from(parameters.weights.scale(channel));
        let old = |channel: usize| parameters.bias.as_ref().map_or(0, |bias| bias[channel]);
        let raised = |(channel, seen): (usize, &crate::ChannelOutcome)| {
            let mean = seen.missing / seen.count.max(1) as f64;
            // A cast from float saturates at the limits of the integer type.
            old(channel).saturating_add((mean / step(channel)).round_ties_even() as i32)
        };
        let bias: Vec<i32> = outcome.channels.iter().enumerate().map(raised).collect();
        let next = self.tried_on_more(LayerParameters { bias: Some(bias.clone()), ..parameters.clone() })?;
        let better = |channel: usize| next.outcome.channels[channel].noise < outcome.channels[channel].noise;
        let kept = (0..bias.len()).map(|channel| if better(channel) { bias[channel] } else { old(channel) });
        let bias: Vec<i32> = kept.collect();
        if bias.iter().all(|&bias| bias == 0) {
            return Ok(best);
        }
        let mixed = self.tried_on_more(LayerParameters { bias: Some(bias), ..parameters.clone() })?;
        Ok(if mixed.outcome.noise < best.outcome.noise { mixed } else { best })
    }
}

/// Returns parameters whose codes cover `part` times the range.
fn scaled(parameters: Parameters, target: crate::Target, part: f64) -> Parameters {
    let end = |code: i32| parameters.real(code) * part;
    target.parameters(Range { low: end(target.codes.min()), high: end(target.codes.max()) })
}

/// Returns the layer with registers that are `more` bits wider.
fn wider(mac: &MacLayer, more: u32) -> MacLayer {
    let mut mac = mac.clone();
    for level in &mut mac.datapath.levels {
        if let Register::Fixed { format, .. } = &mut level.register {
            let bits = (format.bits() + more).min(MAX_BITS);
            *format = Format::new(bits, format.is_signed()).unwrap_or(*format);
        }
    }
    mac
}
