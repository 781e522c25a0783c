//! Applies a method to some layers only.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{LayerMethod, LayerParameters, LayerProblem, QuantizeError};

/// Method that chooses for all layers except some, which keep their plain parameters. A choice for a layer is
/// reused as long as the layer's inputs and plain parameters are equal.
pub struct SomeLayers {
    method: Arc<dyn LayerMethod>,
    plain: BTreeSet<String>,
    known: Known,
    /// Layers for which it was called, in order of execution.
    asked: Mutex<Vec<String>>,
}

/// Choices by method and layer name, and by a hash of everything on which they depend.
pub type Known = Arc<Mutex<BTreeMap<(String, u64), LayerParameters>>>;

impl SomeLayers {
    /// Applies `method` to all layers except `plain`. Choices of other instances that share `known` are
    /// reused.
    pub fn new(method: Arc<dyn LayerMethod>, plain: BTreeSet<String>, known: Known) -> Self {
        Self { method, plain, known, asked: Mutex::default() }
    }

    /// Returns the names of the layers for which it was called, in order of execution.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LayerMethod for SomeLayers {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(layer.name.to_owned());
        if self.plain.contains(layer.name) {
            return Ok(layer.plain.clone());
        }
        let key = (format!("{}: {}", self.method.name(), layer.name), hash(layer));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chosen) = known().get(&key) {
            return Ok(chosen.clone());
        }
        let chosen = match layer.watch.found(self.method.name(), layer) {
            Some(chosen) => chosen,
            None => {
                let chosen = self.method.choose(layer)?;
                layer.watch.chosen(self.method.name(), layer, &chosen);
                chosen
            }
        };
        known().insert(key, chosen.clone());
        Ok(chosen)
    }
}

/// Returns a hash of everything that a choice depends on and that differs between networks of one search.
fn hash(layer: &LayerProblem<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let plain = &layer.plain;
    format!("{:?} {:?} {:?}", layer.targets, plain.input, plain.output).hash(&mut hasher);
    matches!(layer.input, crate::LayerInput::Free(_)).hash(&mut hasher);
    plain.weights.scales.iter().for_each(|scale| scale.to_bits().hash(&mut hasher));
    (&plain.weights.codes, &plain.weights.zero_points, &plain.bias).hash(&mut hasher);
    for value in layer.samples.iter().flatten() {
        value.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}
