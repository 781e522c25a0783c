//! Bodies of the kernels that read operands of 16 bits in place.

use super::super::cells::PlacedWindows;
use super::super::kernels::{Lanes, Pair, Row, Walked};
use super::super::words::PairLayout;
use super::Kernels;
#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(doc)]
use super::kernels;
use crate::options::Isa;

impl Kernels {
    /// Returns whether sums are computed from operands of 16 bits in place.
    pub fn sums_in_place(self) -> bool {
        matches!(self.isa, Isa::Avx2 | Isa::Avx512)
    }

    /// Runs [`kernels::sum`] for the windows at `corners`; only the weights of the first `count` lanes may be
    /// nonzero. Requires [`Self::sums_in_place`].
    pub fn sum_in_place<const BOUNDED: bool>(
        self,
        (cells, corners): (&[i16], &[usize]),
        layout: &PairLayout,
        (weights, count): (&[Pair], usize),
        start: &Lanes,
        out: &mut [Walked],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.sums_in_place() {
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            return unsafe {
                avx2::sum_in_place::<BOUNDED>((cells, corners), layout, (weights, count), start, out)
            };
        }
        unreachable!("sums are computed in place only with vector instructions for them")
    }

    /// Runs [`kernels::walk`] for windows in place. Requires [`Self::sums_in_place`]; products fit 16 bits.
    pub fn walk_in_place(
        self,
        windows: PlacedWindows<'_>,
        weights: &[Row],
        start: &Lanes,
        out: &mut [Walked],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.sums_in_place() {
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            return unsafe { avx2::walk_in_place(windows, weights, start, out) };
        }
        unreachable!("windows are walked in place only with vector instructions for them")
    }

    /// Runs [`kernels::sum`] for windows in place whose lanes read cells of their own. Requires
    /// [`Self::sums_own`]; products fit 16 bits.
    pub fn sum_own<const BOUNDED: bool>(
        self,
        windows: PlacedWindows<'_>,
        weights: &[Row],
        start: &Lanes,
        out: &mut [Walked],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.sums_own(weights.len()) {
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            return unsafe { avx2::sum_own::<BOUNDED>(windows, weights, start, out) };
        }
        unreachable!("sums are computed in place only with vector instructions for them")
    }

    /// Returns whether [`Self::sum_own`] supports `products` products.
    pub fn sums_own(self, products: usize) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.sums_in_place() && products <= avx2::SPLIT_PRODUCTS;
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }
}
