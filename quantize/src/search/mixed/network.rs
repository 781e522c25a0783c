//! Choices of widths for a float network's layers.

use std::sync::Arc;

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{Accelerator, Program, lower};

use super::{Choices, Point};
use crate::quantized::Repeated;
use crate::search::Judge;
use crate::{CodeSetting, Config, QuantizeError, Quantized, Rule, Sample, Which};

/// Widths of a layer in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    /// Width of its weights.
    pub weights: u32,
    /// Width of its output.
    pub activations: u32,
}

/// Float network whose layers with weights have a choice of widths each. All other activations, which are
/// those of its inputs and of operations without weights, have one common choice.
pub struct NetworkChoices<'a> {
    network: Repeated<'a>,
    config: &'a Config,
    accelerator: &'a Accelerator,
    judge: Judge<'a>,
    layers: Vec<String>,
    steps: Vec<Precision>,
    possible: Box<dyn Fn(&Graph) -> bool + Sync + 'a>,
}

impl<'a> NetworkChoices<'a> {
    /// Widths from 16 bits of activations and 8 bits of weights down to 4 bits of both.
    pub const USUAL: [Precision; 6] = [
        Precision { weights: 8, activations: 16 },
        Precision { weights: 8, activations: 8 },
        Precision { weights: 7, activations: 7 },
        Precision { weights: 6, activations: 6 },
        Precision { weights: 5, activations: 5 },
        Precision { weights: 4, activations: 4 },
    ];

    /// Creates the choices for the layers with weights of a float network. `steps` holds the widths of each
    /// layer, the widest first. `config` defines all other properties of codes; its rules for widths of
    /// layers are overridden. `judge` scores points on the accelerator.
    ///
    /// # Errors
    /// [`QuantizeError`] if the network cannot be quantized.
    pub fn new(
        graph: &Graph,
        samples: &'a [Sample],
        config: &'a Config,
        accelerator: &'a Accelerator,
        judge: Judge<'a>,
        steps: &[Precision],
    ) -> Result<Self, QuantizeError> {
        let network = Repeated::new(graph, samples, config)?;
        let plan = network.plan();
        let with_weights = |&index: &usize| {
            let forms = plan.units()[index].forms.as_ref();
            forms.is_some_and(|forms| forms.layer().is_some())
        };
        let layers =
            (0..plan.units().len()).filter(with_weights).map(|index| plan.names(index)[0].to_owned());
        let (layers, steps) = (layers.collect(), steps.to_vec());
        Ok(Self { network, config, accelerator, judge, layers, steps, possible: Box::new(|_| true) })
    }

    /// Keeps only networks that satisfy `possible` as points.
    #[must_use]
    pub fn where_graph(self, possible: impl Fn(&Graph) -> bool + Sync + 'a) -> Self {
        Self { possible: Box::new(possible), ..self }
    }

    /// Returns the names of the layers.
    pub fn layers(&self) -> &[String] {
        &self.layers
    }

    /// Returns the network of some steps: one per layer, and the last one for all other activations.
    ///
    /// # Errors
    /// Under the conditions of [`quantize()`](crate::quantize()).
    pub fn quantized(&self, steps: &[usize]) -> Result<Quantized, QuantizeError> {
        let mut config = self.config.clone();
        let general = config.setting;
        if let Some(&others) = steps.get(self.layers.len()) {
            config.setting.activations.bits = self.steps[others].activations;
        }
        let rules = self.layers.iter().zip(steps).map(|(name, &step)| {
            let Precision { weights, activations } = self.steps[step];
            let mut rule = Rule::new(Which::Name(name.clone()));
            rule.weights = Some(CodeSetting { bits: weights, ..general.weights });
            rule.activations = Some(CodeSetting { bits: activations, ..general.activations });
            rule
        });
        config.rules.extend(rules);
        self.network.quantize(&config, Some(self.accelerator), &())
    }
}

impl Choices for NetworkChoices<'_> {
    fn steps(&self) -> Vec<usize> {
        vec![self.steps.len(); self.layers.len() + 1]
    }

    fn point(&self, steps: &[usize]) -> Result<Point, QuantizeError> {
        let graph = self.quantized(steps)?.graph;
        if !(self.possible)(&graph) {
            let problem = "has widths that this kind of network does not support".into();
            return Err(QuantizeError::Impossible { layer: graph.name().into(), problem });
        }
        let score = self.judge.score(&graph)?;
        let name = graph.name().to_owned();
        let program = lower(Arc::new(graph), self.accelerator)
            .map_err(|source| QuantizeError::Lower { layer: name, source: Box::new(source) })?;
        Ok(Point {
            steps: steps.to_vec(),
            error: score.noise / score.signal.max(f64::MIN_POSITIVE),
            accuracy: score.accuracy(),
            bytes: bytes(&program),
            layer_bits: layer_bits(&program),
        })
    }
}

/// Returns the bytes of all weights, each of its own width, and of the biases.
fn bytes(program: &Program) -> u64 {
    let graph = &program.graph;
    let of_layer = |layer: &guardbit_hwmodels::MacLayer| {
        let constants = layer.dots.has_constant_weights();
        let weights = graph.node(layer.node).inputs.get(1).copied().flatten().filter(|_| constants);
        let weights = weights.map_or(0, |id| {
            let ty = &graph.tensor(id).ty;
            (ty.len() as u64 * u64::from(ty.code_range().bits())).div_ceil(8)
        });
        let bias =
            layer.dots.bias.as_ref().map_or(0, |bias| bias.values.len() as u64 * u64::from(bias.bits) / 8);
        weights + bias
    };
    program.mac_layers().map(of_layer).sum()
}

/// Returns the width of the last level from the bounds by weights, for each layer with weights.
fn layer_bits(program: &Program) -> Vec<u32> {
    let last = |layer: &guardbit_hwmodels::MacLayer| {
        let level = layer.datapath.levels.len().saturating_sub(1);
        LayerBounds::new(&program.graph, layer).proved_bits(level)
    };
    program.mac_layers().filter(|layer| layer.dots.has_constant_weights()).map(last).collect()
}
