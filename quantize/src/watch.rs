//! What others may see of a search, and know of earlier ones.

use crate::{LayerParameters, LayerProblem};

/// Is told how far the search of a method for layers is, and may know what it chose before.
pub trait Watch: Sync {
    /// A unit of the network begins: number `index` of `count`, by the name of its output.
    fn unit(&self, _index: usize, _count: usize, _name: &str) {}

    /// The method of that name looks at one more candidate for the layer.
    fn candidate(&self, _method: &str) {}

    /// What the method of that name chose for the same layer before.
    fn found(&self, _method: &str, _layer: &LayerProblem<'_>) -> Option<LayerParameters> {
        None
    }

    /// The method of that name chose parameters for a layer.
    fn chosen(&self, _method: &str, _layer: &LayerProblem<'_>, _parameters: &LayerParameters) {}
}

/// Nobody watches.
impl Watch for () {}
