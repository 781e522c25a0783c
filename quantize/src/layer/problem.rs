//! Layer whose parameters are to be chosen, and the evaluation of candidates.

use std::sync::Arc;

use guardbit_graph::{CodeRange, DType, Graph};
use guardbit_hwmodels::{Accelerator, Program, lower};
use guardbit_sim::{Codes, Options, Simulation, StatsLevel};

use super::{ChannelOutcome, LayerClass, LayerOutcome, LayerParameters, WeightCodes};
use crate::{Observed, Parameters, QuantizeError, Range, Target, Watch};

/// Layer that multiplies and accumulates, with everything known about it.
pub struct LayerProblem<'a> {
    /// Name of the layer.
    pub name: &'a str,
    /// Class of the layer.
    pub class: LayerClass,
    /// Number of output channels.
    pub channels: usize,
    /// Number of products per output.
    pub terms: usize,
    /// Real weights, `[output channel][cell]`, with cells ordered by kernel row, kernel column and channel of
    /// the group.
    pub weights: &'a [f32],
    /// Real bias, one number per output channel.
    pub bias: Option<&'a [f32]>,
    /// Requirements on the codes.
    pub targets: Targets,
    /// Input of the layer.
    pub input: LayerInput<'a>,
    /// Real inputs, sample by sample: those of the float network, or with error propagation those produced by
    /// the quantized layers before it.
    pub samples: &'a [Vec<f32>],
    /// Real outputs of the float network after the layer's activation, sample by sample.
    pub outputs: &'a [Vec<f32>],
    /// Observed values of [`outputs`](Self::outputs).
    pub observed_output: &'a Observed,
    /// Parameters chosen by the tensor method.
    pub plain: LayerParameters,
    /// Accelerator for which the network is quantized.
    pub accelerator: &'a Accelerator,
    pub(crate) build: &'a Build<'a>,
    pub(crate) watch: &'a dyn Watch,
}

/// Returns a network of the layer alone under candidate parameters.
pub(crate) type Build<'a> = dyn Fn(&LayerParameters) -> Result<Graph, QuantizeError> + Sync + 'a;

/// Input of a layer.
#[derive(Debug, Clone, Copy)]
pub enum LayerInput<'a> {
    /// Codes whose parameters are final, because other operations read them too, or because their producer
    /// has no choice.
    Fixed(Parameters),
    /// Codes that only this layer reads, so that their parameters may be chosen together with its own.
    /// Contains the observed real values.
    Free(&'a Observed),
}

/// Requirements on the codes of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets {
    /// Requirements on the activations that it reads.
    pub input: Target,
    /// Requirements on its weights.
    pub weights: Target,
    /// Whether every output channel has a weight scale of its own.
    pub per_channel: bool,
    /// Requirements on its output.
    pub output: Target,
}

impl<'a> LayerProblem<'a> {
    /// Returns the layer with other samples.
    pub(crate) fn on<'s>(&self, samples: &'s [Vec<f32>], outputs: &'s [Vec<f32>]) -> LayerProblem<'s>
    where
        'a: 's,
    {
        LayerProblem { samples, outputs, plain: self.plain.clone(), ..*self }
    }
}

impl LayerProblem<'_> {
    /// Returns the real weights of an output channel.
    pub fn channel(&self, channel: usize) -> &[f32] {
        &self.weights[channel * self.terms..][..self.terms]
    }

    /// Returns the weights as codes, each the nearest one for its scale (half to even). `parameters` holds
    /// one parameter set, or one per output channel.
    pub fn weight_codes(&self, parameters: &[Parameters]) -> WeightCodes {
        weight_codes(self.weights, self.channels, parameters, self.targets.weights.codes)
    }

    /// Returns the bias in steps of input scale times weight scale, half to even and clamped to 32 bits.
    pub fn bias_codes(&self, input: Parameters, weights: &WeightCodes) -> Option<Vec<i32>> {
        self.bias.map(|bias| bias_codes(bias, input, weights))
    }

    /// Returns parameters with `input`, plainly rounded weights with the given ranges, and `output`.
    pub fn parameters(&self, input: Parameters, weights: &[Range], output: Parameters) -> LayerParameters {
        let scales: Vec<_> = weights.iter().map(|&range| self.targets.weights.parameters(range)).collect();
        let weights = self.weight_codes(&scales);
        let bias = self.bias_codes(input, &weights);
        LayerParameters { input, input_codes: self.targets.input.codes, weights, bias, output }
    }

    /// Returns the layer alone under the plain parameters, as a network.
    ///
    /// # Errors
    /// [`QuantizeError`] if they do not form a valid layer.
    pub fn plain_graph(&self) -> Result<Graph, QuantizeError> {
        (self.build)(&self.plain)
    }

    /// Returns the layer lowered onto the accelerator under candidate parameters.
    ///
    /// # Errors
    /// [`QuantizeError`] if they do not form a valid layer, or the accelerator cannot run it.
    pub fn program(&self, parameters: &LayerParameters) -> Result<Program, QuantizeError> {
        let graph = Arc::new((self.build)(parameters)?);
        lower(graph, self.accelerator)
            .map_err(|source| QuantizeError::Lower { layer: self.name.into(), source: Box::new(source) })
    }

    /// Runs the layer on the accelerator with every sample, under candidate parameters. Returns the error of
    /// its outputs, including all effects of overflows. `stats` is the level of statistics;
    /// [`StatsLevel::None`] is the fastest.
    ///
    /// # Errors
    /// [`QuantizeError`] under the conditions of [`program`](Self::program), or if the accelerator traps an
    /// overflow.
    pub fn run(
        &self,
        parameters: &LayerParameters,
        stats: StatsLevel,
    ) -> Result<LayerOutcome, QuantizeError> {
        let program = self.program(parameters)?;
        let options = Options { stats, events_per_layer: 0, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let graph = &program.graph;
        let (input, output) = (graph.inputs()[0], graph.outputs()[0]);
        let ty = &graph.tensor(input).ty;
        let range = ty.code_range();
        let codes = |sample: &Vec<f32>| {
            let codes: Vec<i32> = sample.iter().map(|&value| parameters.input.code(value, range)).collect();
            vec![Codes::new(ty.dtype, &codes).expect("codes are clamped to the range of their type")]
        };
        let (mut signal, mut noise, mut noise_exact) = (0.0, 0.0, 0.0);
        let mut channels = vec![ChannelOutcome::default(); self.channels];
        for (samples, outputs) in self.samples.chunks(BATCH).zip(self.outputs.chunks(BATCH)) {
            let batch: Vec<_> = samples.iter().map(codes).collect();
            let made = simulation.run_batch(&batch);
            let made = made
                .map_err(|source| QuantizeError::Run { layer: self.name.into(), source: Box::new(source) })?;
            for (tensors, real) in made.iter().zip(outputs) {
                let held = |tensors: &[Option<Codes>]| tensors[output.index()].as_ref().map(Codes::to_vec);
                let (exact, narrow) = (held(&tensors.exact), held(&tensors.simulated));
                let (exact, narrow) = (exact.unwrap_or_default(), narrow.unwrap_or_default());
                signal += real.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>();
                noise += squared_error(real, &narrow, parameters.output);
                noise_exact += squared_error(real, &exact, parameters.output);
                by_channel(&mut channels, real, &narrow, parameters.output);
            }
        }
        let stats = simulation.finish().into_iter().flatten().next();
        let stats = stats.ok_or_else(|| QuantizeError::Host { layer: self.name.into() })?;
        Ok(LayerOutcome { signal, noise, noise_exact, channels, stats })
    }
}

/// Number of samples that run in parallel.
const BATCH: usize = 64;

fn squared_error(real: &[f32], codes: &[i32], parameters: Parameters) -> f64 {
    real.iter().zip(codes).map(|(&real, &code)| (f64::from(real) - parameters.real(code)).powi(2)).sum()
}

fn by_channel(channels: &mut [ChannelOutcome], real: &[f32], codes: &[i32], parameters: Parameters) {
    let count = channels.len();
    for (real, codes) in real.chunks_exact(count).zip(codes.chunks_exact(count)) {
        for ((channel, &real), &code) in channels.iter_mut().zip(real).zip(codes) {
            let missing = f64::from(real) - parameters.real(code);
            channel.noise += missing * missing;
            channel.missing += missing;
            channel.count += 1;
        }
    }
}

/// Returns real weights as codes, each the nearest one for its scale.
pub(crate) fn weight_codes(
    weights: &[f32],
    channels: usize,
    parameters: &[Parameters],
    codes: CodeRange,
) -> WeightCodes {
    let terms = weights.len() / channels.max(1);
    let of = |channel: usize| parameters[if parameters.len() == 1 { 0 } else { channel }];
    let code = |(index, &value): (usize, &f32)| of(index / terms.max(1)).code(value, codes);
    WeightCodes {
        scales: parameters.iter().map(|p| p.scale).collect(),
        zero_points: parameters.iter().map(|p| p.zero_point).collect(),
        codes: weights.iter().enumerate().map(code).collect(),
    }
}

/// Returns a real bias in steps of input scale times weight scale, computed in float32 and rounded half to
/// even like in ONNX Runtime's quantizer, and clamped to 32 bits.
pub(crate) fn bias_codes(bias: &[f32], input: Parameters, weights: &WeightCodes) -> Vec<i32> {
    let step = |channel: usize| input.scale * weights.scale(channel);
    let code = |(channel, &value): (usize, &f32)| {
        DType::Int32.saturate((value / step(channel)).round_ties_even() as i128)
    };
    bias.iter().enumerate().map(code).collect()
}
