//! What the float network makes of samples, for calibrations that follow each other.

use std::sync::{Arc, OnceLock};

use crate::Plan;

/// What every unit of the float network makes of every sample, computed when it is first asked for. Scales and widths change
/// nothing in it.
pub(crate) struct FloatOutputs {
    /// By unit; empty where it is computed anew each time.
    held: Vec<OnceLock<Vec<Arc<[i32]>>>>,
}

impl FloatOutputs {
    /// Nothing is held.
    pub fn passing() -> Self {
        Self { held: Vec::new() }
    }

    /// All is held, unless it takes more than `memory` bytes.
    pub fn held(plan: &Plan, samples: usize, memory: usize) -> Self {
        let len = |unit: &crate::Unit| plan.graph().tensor(unit.output).ty.len();
        let elements: usize = plan.units().iter().map(len).sum();
        match elements.saturating_mul(samples).saturating_mul(size_of::<i32>()) <= memory {
            true => Self { held: plan.units().iter().map(|_| OnceLock::new()).collect() },
            false => Self::passing(),
        }
    }

    /// What a unit makes of every sample: words, by `make` if they are not known.
    pub fn of(&self, unit: usize, make: impl FnOnce() -> Vec<Arc<[i32]>>) -> Vec<Arc<[i32]>> {
        match self.held.get(unit) {
            Some(held) => held.get_or_init(make).clone(),
            None => make(),
        }
    }
}
