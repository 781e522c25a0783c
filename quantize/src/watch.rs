//! Observation of a search, and reuse of the choices of earlier ones.

use crate::{LayerParameters, LayerProblem};

/// Observer that is notified of the progress of a method for layers, and may provide its earlier choices.
pub trait Watch: Sync {
    /// Called when a unit of the network begins: number `index` of `count`, with the name of its output.
    fn unit(&self, _index: usize, _count: usize, _name: &str) {}

    /// Called when the method named `method` evaluates a further candidate for the layer.
    fn candidate(&self, _method: &str) {}

    /// Returns what the method named `method` chose earlier for the same layer, if known.
    fn found(&self, _method: &str, _layer: &LayerProblem<'_>) -> Option<LayerParameters> {
        None
    }

    /// Called when the method named `method` has chosen parameters for a layer.
    fn chosen(&self, _method: &str, _layer: &LayerProblem<'_>, _parameters: &LayerParameters) {}
}

/// Observes nothing.
impl Watch for () {}
