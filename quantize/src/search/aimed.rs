//! A whole network, quantized for an accelerator.

use std::collections::BTreeSet;
use std::sync::Arc;

use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;

use super::some_layers::Known;
use super::{Judge, Score, SomeLayers};
use crate::method::Guaranteed;
use crate::{CodeSetting, Config, LayerMethod, QuantizeError, Quantized, Sample, quantize};

/// Most samples that networks are compared on.
const SAMPLES: usize = 256;
/// Narrowest activations that are tried.
const LEAST_BITS: u32 = 3;
/// Widths in a row, at most, that make nothing better.
const PATIENCE: u32 = 2;
/// Layers of a network, at most, whose layers are tried with plain parameters one by one: each of them makes everything behind
/// it anew.
const MOST_LAYERS: usize = 8;

/// A network, and what it was chosen by.
#[derive(Debug, Clone)]
pub struct Aimed {
    /// The network.
    pub quantized: Quantized,
    /// The width of activations.
    pub activation_bits: u32,
    /// Layers that kept their plain parameters.
    pub plain_layers: Vec<String>,
    /// What it does on the accelerator, on the samples that networks were compared on.
    pub score: Score,
    /// The same of the network without the method for layers.
    pub plain: Score,
}

/// Quantizes a network with the method for layers of `config`: of widths of activations from that of `config` down to 3 bits,
/// the one whose network has the least error on the accelerator, overflow of every layer propagated.
///
/// A method that promises something keeps its promise in every layer. Of others, in networks of up to 8 layers, layers go back to their plain parameters one
/// by one where that makes the network better; a network of weights that cannot overflow takes its place where that is better,
/// and so does the network without the method: on the samples the result is never worse than either.
///
/// Without such a method or an accelerator this is [`quantize()`].
///
/// # Errors
/// As [`quantize()`].
pub fn quantize_aimed(
    graph: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
) -> Result<Aimed, QuantizeError> {
    let bits = config.setting.activations.bits;
    let plain_config = Config { layer_method: None, ..config.clone() };
    let judge = Judge::new(graph, samples, SAMPLES, accelerator)?;
    let plain = quantize(graph, samples, &plain_config, accelerator)?;
    let plain_score = judge.score(&plain.graph)?;
    let without = Aimed {
        quantized: plain,
        activation_bits: bits,
        plain_layers: Vec::new(),
        score: plain_score,
        plain: plain_score,
    };
    let (Some(method), Some(_)) = (&config.layer_method, accelerator) else { return Ok(without) };
    let search =
        Search { graph, samples, config, accelerator, judge, known: Known::default(), plain: plain_score };
    if method.promises() {
        return search.narrowest(method, bits);
    }
    let own = search.narrowest(method, bits)?;
    let own = search.without_some(method, own)?;
    // Weights that cannot overflow are a choice like any other; where there are none, that is no error here.
    let cautious = search.narrowest(&(Arc::new(Guaranteed) as Arc<dyn LayerMethod>), bits);
    let found = [Some(own), cautious.ok()].into_iter().flatten();
    Ok(found.fold(without, |best, next| if next.score.noise < best.score.noise { next } else { best }))
}

struct Search<'a> {
    graph: &'a Graph,
    samples: &'a [Sample],
    config: &'a Config,
    accelerator: Option<&'a Accelerator>,
    judge: Judge<'a>,
    known: Known,
    plain: Score,
}

impl Search<'_> {
    /// The best network of those with activations of `bits` bits and fewer.
    fn narrowest(&self, method: &Arc<dyn LayerMethod>, bits: u32) -> Result<Aimed, QuantizeError> {
        let (mut best, mut failed, mut worse) = (None::<Aimed>, None, 0);
        for bits in (LEAST_BITS.min(bits)..=bits).rev() {
            match self.with(method, bits, &BTreeSet::new()) {
                Ok((next, _)) if best.as_ref().is_none_or(|best| next.score.noise < best.score.noise) => {
                    best = Some(next);
                    worse = 0;
                }
                Ok(_) => worse += 1,
                Err(error) => failed = failed.or(Some(error)),
            }
            if worse == PATIENCE {
                break;
            }
        }
        best.ok_or_else(|| failed.unwrap_or(QuantizeError::NothingToQuantize))
    }

    /// The network with activations of that width, and the layers that were asked for.
    fn with(
        &self,
        method: &Arc<dyn LayerMethod>,
        bits: u32,
        plain: &BTreeSet<String>,
    ) -> Result<(Aimed, Vec<String>), QuantizeError> {
        let some = Arc::new(SomeLayers::new(method.clone(), plain.clone(), self.known.clone()));
        let mut config = Config { layer_method: Some(some.clone()), ..self.config.clone() };
        config.setting.activations = narrower(config.setting.activations, bits);
        for rule in &mut config.rules {
            rule.activations = rule.activations.map(|own| narrower(own, bits.min(own.bits)));
        }
        let quantized = quantize(self.graph, self.samples, &config, self.accelerator)?;
        let score = self.judge.score(&quantized.graph)?;
        let plain_layers = plain.iter().cloned().collect();
        let aimed = Aimed { quantized, activation_bits: bits, plain_layers, score, plain: self.plain };
        Ok((aimed, some.asked()))
    }

    /// Layers go back to their plain parameters, from the first to the last, where that makes the network better.
    fn without_some(&self, method: &Arc<dyn LayerMethod>, mut best: Aimed) -> Result<Aimed, QuantizeError> {
        let bits = best.activation_bits;
        let mut plain = BTreeSet::new();
        let (_, asked) = self.with(method, bits, &plain)?;
        if asked.len() > MOST_LAYERS {
            return Ok(best);
        }
        for name in asked {
            plain.insert(name.clone());
            let (next, _) = self.with(method, bits, &plain)?;
            match next.score.noise < best.score.noise {
                true => best = next,
                false => {
                    plain.remove(&name);
                }
            }
        }
        Ok(best)
    }
}

fn narrower(setting: CodeSetting, bits: u32) -> CodeSetting {
    CodeSetting { bits, ..setting }
}
