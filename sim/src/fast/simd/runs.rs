//! Kernels for runs of an innermost level.

#[cfg(doc)]
use super::super::kernels;
use super::super::kernels::RunsOut;
use super::super::pairs::PairRuns;
use super::super::singles::SingleRuns;
use super::{Kernels, ShortMode};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, short};

impl Kernels {
    /// Steps the serial runs of the windows at `corner`, two windows per lane. Requires
    /// [`Self::steps_pairs`].
    pub fn step_pair_chains(
        self,
        mode: ShortMode,
        runs: &PairRuns<'_>,
        corner: usize,
        out: &mut [RunsOut<'_>; 2],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: `Kernels` says so only if the CPU has AVX-512BW, VL, VBMI2 and BITALG.
            return unsafe {
                with_mode!(mode, |MODE| match runs.own {
                    true => avx512::chains::<MODE, true>(runs, corner, out),
                    false => avx512::chains::<MODE, false>(runs, corner, out),
                })
            };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }

    /// Reduces the trees of the windows at `corner`, two windows per lane. Trees have at most
    /// [`kernels::PAIR_TREE`] products, and their rails lie within 16 bits. Requires [`Self::steps_pairs`].
    pub fn step_pair_trees(
        self,
        wraps: bool,
        runs: &PairRuns<'_>,
        corner: usize,
        out: &mut [RunsOut<'_>; 2],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_pairs() {
            // SAFETY: as above.
            return unsafe {
                match (wraps, runs.own) {
                    (false, false) => avx512::trees::<false, false>(runs, corner, out),
                    (false, true) => avx512::trees::<false, true>(runs, corner, out),
                    (true, false) => avx512::trees::<true, false>(runs, corner, out),
                    (true, true) => avx512::trees::<true, true>(runs, corner, out),
                }
            };
        }
        unreachable!("pairs are stepped only with vector instructions for them")
    }

    /// Steps the serial runs of windows, one per vector. Requires [`Self::steps_singles`].
    pub fn step_chains(self, mode: ShortMode, runs: &SingleRuns<'_>, out: &mut [RunsOut<'_>; 2]) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_singles() {
            // SAFETY: `Kernels` says so only if the CPU has AVX2.
            return unsafe {
                with_mode!(mode, |MODE| match runs.stepping.own {
                    true => avx2::chains::<MODE, true>(runs, out),
                    false => avx2::chains::<MODE, false>(runs, out),
                })
            };
        }
        unreachable!("runs are stepped only with vector instructions for them")
    }

    /// Reduces the trees of windows, one per vector. Trees have at most [`kernels::PAIR_TREE`] products, and
    /// their rails lie within 16 bits. Requires [`Self::steps_singles`].
    pub fn step_trees(self, wraps: bool, runs: &SingleRuns<'_>, out: &mut [RunsOut<'_>; 2]) {
        #[cfg(target_arch = "x86_64")]
        if self.steps_singles() {
            // SAFETY: as above.
            return unsafe {
                match (wraps, runs.stepping.own) {
                    (false, false) => avx2::trees::<false, false>(runs, out),
                    (false, true) => avx2::trees::<false, true>(runs, out),
                    (true, false) => avx2::trees::<true, false>(runs, out),
                    (true, true) => avx2::trees::<true, true>(runs, out),
                }
            };
        }
        unreachable!("runs are stepped only with vector instructions for them")
    }
}
