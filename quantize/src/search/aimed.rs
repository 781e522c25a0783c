//! A whole network, quantized for an accelerator.

use std::collections::BTreeSet;
use std::sync::Arc;

use guardbit_graph::Graph;
use guardbit_hwmodels::{Accelerator, lower};

use super::some_layers::Known;
use super::{Judge, SampleScore, Score, SomeLayers, is_significant};
use crate::method::{Guaranteed, overflowing};
use crate::quantized::Repeated;
use crate::{Config, LayerMethod, QuantizeError, Quantized, Sample, Watch, quantize};

/// Most samples that networks are compared on.
const SAMPLES: usize = 256;
/// Layers of a network, at most, whose layers are tried with plain parameters one by one: each of them makes everything behind
/// it anew.
const MOST_LAYERS: usize = 8;

/// The part of the plain network's error that another one has at most to take its place.
const WORTH: f64 = 0.5;

/// A network, and what it was chosen by.
#[derive(Debug, Clone)]
pub struct Aimed {
    /// The network.
    pub quantized: Quantized,
    /// Layers that kept their plain parameters.
    pub plain_layers: Vec<String>,
    /// What it does on the accelerator, on the samples that networks were compared on.
    pub score: Score,
    /// The same of the network without the method for layers.
    pub plain: Score,
}

/// Quantizes a network with the method for layers of `config`, and keeps the network that has the least error on the
/// accelerator, overflow of every layer propagated.
///
/// A method that promises something keeps its promise in every layer: the network without the method takes its place only where
/// that is better and overflows on no input. Of others, in networks of up to 8 layers, layers go back to their plain
/// parameters one by one where that makes the network better; a network of weights that cannot overflow takes its place where
/// that is better. The network without the method stays unless that halves its error, and is safe on significantly more samples
/// ([`SampleScore::safe`], [`is_significant`]; of networks whose outputs have no classes the error alone counts): on the samples
/// the result is never worse, and smaller differences may be the samples' own. Errors of few samples on which sums rarely overflow
/// make up most of the error, and may change no class.
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
    quantize_watched(graph, samples, config, accelerator, &())
}

/// [`quantize_aimed`] with somebody who is told of the methods' search, and may know what they chose before.
///
/// # Errors
/// As [`quantize()`].
pub fn quantize_watched(
    graph: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
    watch: &dyn Watch,
) -> Result<Aimed, QuantizeError> {
    let plain_config = Config { layer_method: None, ..config.clone() };
    let judge = Judge::new(graph, samples, SAMPLES, accelerator)?;
    let plain = quantize(graph, samples, &plain_config, accelerator)?;
    let plain_score = judge.score(&plain.graph)?;
    let without =
        Aimed { quantized: plain, plain_layers: Vec::new(), score: plain_score, plain: plain_score };
    let (Some(method), Some(aim)) = (&config.layer_method, accelerator) else { return Ok(without) };
    let known = Known::default();
    let network = Repeated::new(graph, samples, config)?;
    let search = Search { network, config, accelerator, judge, known, plain: plain_score, watch };
    if method.promises() {
        let own = search.with(method, &BTreeSet::new())?.0;
        return Ok(match own.score.noise <= plain_score.noise || overflows(&without.quantized.graph, aim)? {
            true => own,
            false => without,
        });
    }
    let own = search.without_some(method)?;
    // Weights that cannot overflow are a choice like any other; where there are none, that is no error here.
    let cautious = search.with(&(Arc::new(Guaranteed) as Arc<dyn LayerMethod>), &BTreeSet::new());
    let found = [Some(own), cautious.ok().map(|(cautious, _)| cautious)].into_iter().flatten();
    let best = found.min_by(|a, b| a.score.noise.total_cmp(&b.score.noise));
    let Some(best) = best.filter(|best| best.score.noise <= WORTH * plain_score.noise) else {
        return Ok(without);
    };
    let graphs = [&without.quantized.graph, &best.quantized.graph];
    let [plain, other] = graphs.map(|graph| search.judge.samples(graph));
    Ok(if is_safer(&other?, &plain?) { best } else { without })
}

/// Whether a network is safe on significantly more samples than another one, or classes are none.
fn is_safer(own: &[SampleScore], other: &[SampleScore]) -> bool {
    let safe: Option<Vec<_>> = own.iter().zip(other).map(|(own, other)| own.safe.zip(other.safe)).collect();
    safe.is_none_or(|safe| {
        let count = |wanted| safe.iter().filter(|&&found| found == wanted).count() as u64;
        is_significant(count((true, false)), count((false, true)))
    })
}

/// Whether some layer's sums overflow on some input of it.
fn overflows(graph: &Graph, accelerator: &Accelerator) -> Result<bool, QuantizeError> {
    let program = lower(Arc::new(graph.clone()), accelerator)
        .map_err(|source| QuantizeError::Lower { layer: graph.name().into(), source: Box::new(source) })?;
    Ok(program.mac_layers().any(|layer| overflowing(&program.graph, layer).is_some()))
}

struct Search<'a> {
    network: Repeated<'a>,
    config: &'a Config,
    accelerator: Option<&'a Accelerator>,
    judge: Judge<'a>,
    known: Known,
    plain: Score,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// The network by the method, but for layers that keep their plain parameters, and the layers that the method was asked for.
    fn with(
        &self,
        method: &Arc<dyn LayerMethod>,
        plain: &BTreeSet<String>,
    ) -> Result<(Aimed, Vec<String>), QuantizeError> {
        let some = Arc::new(SomeLayers::new(method.clone(), plain.clone(), self.known.clone()));
        let config = Config { layer_method: Some(some.clone()), ..self.config.clone() };
        let quantized = self.network.quantize(&config, self.accelerator, self.watch)?;
        let score = self.judge.score(&quantized.graph)?;
        let plain_layers = plain.iter().cloned().collect();
        Ok((Aimed { quantized, plain_layers, score, plain: self.plain }, some.asked()))
    }

    /// The network by the method. Layers go back to their plain parameters, from the first to the last, where that makes it
    /// better.
    fn without_some(&self, method: &Arc<dyn LayerMethod>) -> Result<Aimed, QuantizeError> {
        let mut plain = BTreeSet::new();
        let (mut best, asked) = self.with(method, &plain)?;
        if asked.len() > MOST_LAYERS {
            return Ok(best);
        }
        for name in asked {
            plain.insert(name.clone());
            let (next, _) = self.with(method, &plain)?;
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
