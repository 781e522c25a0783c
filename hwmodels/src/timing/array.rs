//! The closed forms for one array and nothing else: what a design of the array alone takes.

use super::mapping::Mapping;
use super::{Gemm, overlapped, scalesim_v3};
use crate::{Accelerator, TimingConvention};

/// Cycles of matrix products on one core's array, with a memory that takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayCycles {
    /// Fillings of the array.
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
    /// From the first operand to the last sum out of the array.
    pub cycles: u64,
    /// What the convention counts of them.
    pub counted: u64,
}

impl ArrayCycles {
    /// The cycles of the matrix products `gemm`. Conventions that have no array of their own count as `overlapped`.
    pub fn new(accelerator: &Accelerator, gemm: Gemm) -> Self {
        let mapping = Mapping::new(accelerator.dataflow, accelerator.array, gemm);
        let fold = mapping.fold();
        let folds = fold.count * fold.groups;
        let (period, counted) = match accelerator.timing {
            TimingConvention::ScalesimV3 => (fold.span(), scalesim_v3::schedule(&mapping).compute),
            _ => (fold.interval, overlapped::compute_cycles(&fold)),
        };
        let last = fold.span() + fold.drain;
        Self {
            folds,
            preload: fold.preload,
            steps: fold.steps,
            skew: fold.skew,
            period,
            drain: fold.drain,
            cycles: folds.saturating_sub(1) as u64 * period as u64 + last as u64,
            counted,
        }
    }
}
