//! Codes that a layer multiplies.

use std::sync::Arc;

/// Codes of activations and weights of one sample.
pub(crate) type Operands = [Codes; 2];

/// Codes of one operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Codes {
    pub elements: Arc<[i32]>,
    /// Codes of the scales of blocks, one per element.
    pub scales: Option<Arc<[i32]>>,
}

impl Codes {
    /// Returns the code of the scale of an element, if its operand has scales of blocks.
    pub fn scale(&self, at: usize) -> Option<i32> {
        self.scales.as_ref().map(|scales| scales[at])
    }
}
