//! Kernels that step windows on a register of 16 bits, two or one per vector.

use super::super::bytes::QuadRow;
use super::super::kernels::Stepped;
use super::super::pairs::{ListCells, PairRow, PairStepping, PairWindows, StepList};
use super::super::places::log::Log;
use super::super::places::schedule::Turn;
use super::super::places::traces::Traces;
use super::super::singles::SingleStepping;
use super::{Kernels, ShortMode};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, short};

impl Kernels {
    /// Lists the products that must be stepped, of the two windows whose cells begin with `cells`. `runs`
    /// holds the distances and lengths of adjacent cells in the order of addition. With `RANKS`, the list
    /// also contains the number of listed products before each product. Requires [`Self::steps_pairs`].
    pub fn list_steps<const RANKS: bool>(
        self,
        cells: ListCells<'_>,
        runs: &[(usize, usize)],
        list: &mut StepList,
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: `Kernels` says so only if the CPU has AVX-512BW, VL, VBMI2, BITALG and VPOPCNTDQ, and POPCNT.
            return unsafe { avx512::list_steps::<RANKS>(cells, runs, list) };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }

    /// Returns the weights of quads row by row, every lane twice in succession; `counts` has the number of
    /// rows of each quad. Requires [`Self::steps_pairs`].
    pub fn double(self, quads: &[QuadRow], counts: impl Iterator<Item = usize>) -> Vec<PairRow> {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: `Kernels` says so only if the CPU has AVX-512BW and VL.
            return unsafe { avx512::double(quads, counts) };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }

    /// Steps pairs of windows on a register of 16 bits. Requires [`Self::steps_pairs`].
    pub fn step_pairs<const COUNT: bool>(
        self,
        mode: ShortMode,
        stepping: &PairStepping<'_>,
        windows: PairWindows<'_>,
        out: &mut [Stepped],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: `Kernels` says so only if the CPU has AVX-512BW, VL, VBMI2 and BITALG.
            return unsafe {
                with_mode!(mode, |MODE| avx512::step_pairs::<MODE, COUNT>(stepping, windows, out))
            };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }

    /// Steps windows on a register of 16 bits, one per vector. Requires [`Self::steps_singles`].
    pub fn step_singles<const COUNT: bool>(
        self,
        mode: ShortMode,
        stepping: &SingleStepping<'_>,
        corners: &[usize],
        out: &mut [Stepped],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_singles() {
            // SAFETY: `Kernels` says so only if the CPU has AVX2.
            return unsafe {
                with_mode!(mode, |MODE| avx2::step_singles::<MODE, COUNT>(stepping, corners, out))
            };
        }
        unreachable!("single windows are stepped only with vector instructions for them")
    }

    /// Steps four windows, two or one, and records the overflows after each product in `traces`.
    pub fn trace_singles(
        self,
        mode: ShortMode,
        stepping: &SingleStepping<'_>,
        corners: &[usize],
        traces: &mut Traces,
        out: &mut [Stepped],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_singles() {
            // SAFETY: `Kernels` says so only if the CPU has AVX2.
            return unsafe {
                with_mode!(mode, |MODE| avx2::trace_singles::<MODE>(stepping, corners, traces, out))
            };
        }
        unreachable!("single windows are stepped only with vector instructions for them")
    }

    /// Steps pairs of windows and logs the overflows up to every turn of each window. `turns` holds the turns
    /// by slot; `log` must have room for them.
    pub fn step_pairs_logged(
        self,
        mode: ShortMode,
        stepping: &PairStepping<'_>,
        windows: PairWindows<'_>,
        turns: &[&[Turn]],
        log: &mut Log,
        out: &mut [Stepped],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: `Kernels` says so only if the CPU has AVX-512BW, VL, VBMI2 and BITALG.
            return unsafe {
                with_mode!(mode, |MODE| avx512::step_logged::<MODE>(stepping, windows, turns, log, out))
            };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }
}
