//! Closed forms of cycles for one array alone, without a layer's memories.

use super::mapping::Mapping;
use super::sizes::times;
use super::{Gemm, overlapped, scalesim_v3};
use crate::{Accelerator, TimingConvention};

/// Cycles of matrix products on the array of one core, with ideal memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayCycles {
    /// Folds: fillings of the array.
    pub folds: usize,
    /// Cycles in which a fold's stationary operand is loaded before its first step.
    pub preload: usize,
    /// Cycles in which operands stream into one processing element.
    pub steps: usize,
    /// Cycles from the first processing element's step to the same step of the last one.
    pub skew: usize,
    /// Cycles from the start of a fold to that of the next one.
    pub period: usize,
    /// Cycles in which sums leave the array after its last addition.
    pub drain: usize,
    /// Cycles from the first operand to the last sum that leaves the array.
    pub cycles: u64,
    /// Cycles that the convention counts.
    pub counted: u64,
}

impl ArrayCycles {
    /// Returns the cycles of the matrix products `gemm`. Conventions without an array of their own count as
    /// `overlapped`.
    pub fn new(accelerator: &Accelerator, gemm: Gemm) -> Self {
        Self::of(&Mapping::new(accelerator, gemm), accelerator.timing.convention)
    }

    pub(super) fn of(mapping: &Mapping, convention: TimingConvention) -> Self {
        let folds = mapping.folds();
        let (period, counted) = match convention {
            TimingConvention::ScalesimV3 => (folds.span(), scalesim_v3::schedule(mapping).compute),
            // Every fold loads or shifts through all rows of the array, used or not.
            _ => (folds.steps.max(folds.preload).max(folds.drain), overlapped::compute_cycles(&folds)),
        };
        Self {
            folds: times([folds.count, folds.groups]),
            preload: folds.preload,
            steps: folds.steps,
            skew: folds.skew,
            period,
            drain: folds.drain,
            cycles: folds.all().saturating_sub(1).saturating_mul(period as u64).saturating_add(folds.whole()),
            counted,
        }
    }
}
