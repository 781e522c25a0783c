//! Float network's values for samples, shared between successive calibrations.

use std::sync::{Arc, OnceLock};

use crate::Plan;

/// Values of every unit of the float network for every sample, computed on first use. They do not depend on
/// scales and widths.
pub(crate) struct FloatOutputs {
    /// Values by unit; empty if they are computed anew each time.
    held: Vec<OnceLock<Vec<Arc<[i32]>>>>,
}

impl FloatOutputs {
    /// Keeps no values.
    pub fn passing() -> Self {
        Self { held: Vec::new() }
    }

    /// Keeps all values, unless they take more than `memory` bytes.
    pub fn held(plan: &Plan, samples: usize, memory: usize) -> Self {
        let len = |unit: &crate::Unit| plan.graph().tensor(unit.output).ty.len();
        let elements: usize = plan.units().iter().map(len).sum();
        match elements.saturating_mul(samples).saturating_mul(size_of::<i32>()) <= memory {
            true => Self { held: plan.units().iter().map(|_| OnceLock::new()).collect() },
            false => Self::passing(),
        }
    }

    /// Returns the words of a unit for every sample, computed by `make` if they are not known.
    pub fn of(&self, unit: usize, make: impl FnOnce() -> Vec<Arc<[i32]>>) -> Vec<Arc<[i32]>> {
        match self.held.get(unit) {
            Some(held) => held.get_or_init(make).clone(),
            None => make(),
        }
    }
}
