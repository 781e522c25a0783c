//! Quantization of a whole network for an accelerator.

use std::collections::BTreeSet;
use std::sync::Arc;

use guardbit_graph::Graph;
use guardbit_hwmodels::{Accelerator, lower};

use super::some_layers::Known;
use super::{Judge, SampleScore, Score, SomeLayers, is_significant};
use crate::method::{Guaranteed, overflowing};
use crate::quantized::Repeated;
use crate::{Config, LayerMethod, QuantizeError, Quantized, Sample, Watch, quantize};

/// Greatest number of samples on which networks are compared.
const SAMPLES: usize = 256;
/// Greatest number of layers of a network for which plain parameters are tried layer by layer; each trial
/// recomputes everything after the layer.
const MOST_LAYERS: usize = 8;

/// Greatest error, relative to that of the plain network, with which another network replaces it.
const WORTH: f64 = 0.5;

/// Network, and the figures by which it was chosen.
#[derive(Debug, Clone)]
pub struct Aimed {
    /// The network.
    pub quantized: Quantized,
    /// Layers that kept their plain parameters.
    pub plain_layers: Vec<String>,
    /// Score on the accelerator, on the samples used for comparison.
    pub score: Score,
    /// Score of the network without the method for layers.
    pub plain: Score,
}

/// Quantizes a network with the method for layers of `config`, and returns the network with the least error
/// on the accelerator, with overflows of every layer propagated.
///
/// A method with a guarantee keeps it in every layer; the network without the method replaces it only if that
/// is better and overflows on no input. With other methods, in networks of up to 8 layers, layers return to
/// their plain parameters one by one if that improves the network. A network of weights that cannot overflow
/// replaces the result if it is better. The network without the method is kept unless the result halves its
/// error and is safe on significantly more samples ([`SampleScore::safe`], [`is_significant`]). For networks
/// whose outputs have no classes, only the error counts. On the samples, the result is therefore never worse;
/// smaller differences may be specific to the samples. If sums rarely overflow, a few samples cause most of
/// the error, which may change no class.
///
/// Without such a method or an accelerator this is [`quantize()`].
///
/// # Errors
/// Under the conditions of [`quantize()`].
pub fn quantize_aimed(
    graph: &Graph,
    samples: &[Sample],
    config: &Config,
    accelerator: Option<&Accelerator>,
) -> Result<Aimed, QuantizeError> {
    quantize_watched(graph, samples, config, accelerator, &())
}

/// Runs [`quantize_aimed`] with an observer of the methods' search, which may also provide earlier choices.
///
/// # Errors
/// Under the conditions of [`quantize()`].
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
    // Weights that cannot overflow are one candidate among others; if there are none, that is not an error
    // here.
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

/// Returns whether a network is safe on significantly more samples than another one, or there are no classes.
fn is_safer(own: &[SampleScore], other: &[SampleScore]) -> bool {
    let safe: Option<Vec<_>> = own.iter().zip(other).map(|(own, other)| own.safe.zip(other.safe)).collect();
    safe.is_none_or(|safe| {
        let count = |wanted| safe.iter().filter(|&&found| found == wanted).count() as u64;
        is_significant(count((true, false)), count((false, true)))
    })
}

/// Returns whether some layer's sums overflow on some input of the network.
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
    /// Returns the network by the method, except for layers that keep their plain parameters, and the layers
    /// for which the method was called.
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

    /// Returns the network by the method. Layers return to their plain parameters, from the first to the
    /// last, if that improves it.
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
