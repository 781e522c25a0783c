//! Order in which the products of a dot product are added.

mod given;
mod random;

use crate::accelerator::Axis;
use crate::keys::ReductionOrder;
use crate::names::Named;

pub(crate) use given::MOST_NUMBERS;
pub use given::Permutations;

/// Order in which a flat sequence of products is walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walk {
    /// 0, 1, 2, ...
    Forward,
    /// Last one first.
    Reverse,
    /// i, i + n, i + 2n, ... for i = 0..n.
    Stride(usize),
    /// Permutation that follows from a seed and the number of products: see [`random_permutation`].
    Random {
        /// Seed of the permutation.
        seed: u64,
    },
    /// User-defined permutations.
    File(Permutations),
    /// By product, ascending; equal products keep their order. Computed for each dot product.
    Sorted,
    /// The greatest positive product, then the negative one of greatest magnitude, then the next positive
    /// one, and so on. When one sign is exhausted, the remaining ones follow by descending magnitude.
    /// Computed for each dot product.
    SignPaired,
    /// The next negative product while the exact sum so far is 0 or more, otherwise the next non-negative
    /// one; when there are none left, the others. Products of each sign keep their order. Computed for each
    /// dot product.
    Greedy,
}

/// Kind of a walk, without its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkKind {
    Forward,
    Reverse,
    Stride,
    Random,
    File,
    Sorted,
    SignPaired,
    Greedy,
}

impl Named for WalkKind {
    const WHAT: &'static str = "walk";

    fn all() -> Vec<(&'static str, Self)> {
        vec![
            ("forward", Self::Forward),
            ("reverse", Self::Reverse),
            ("stride", Self::Stride),
            ("random", Self::Random),
            ("file", Self::File),
            ("sorted", Self::Sorted),
            ("sign_paired", Self::SignPaired),
            ("greedy", Self::Greedy),
        ]
    }
}

impl Walk {
    /// Returns whether every dot product has an order of its own, which depends on its products. Lowered
    /// layers then have their products in the order of the flattened axes, on which that order is based.
    pub fn depends_on_data(&self) -> bool {
        matches!(self, Self::Sorted | Self::SignPaired | Self::Greedy)
    }

    pub(crate) fn kind(&self) -> WalkKind {
        match self {
            Self::Forward => WalkKind::Forward,
            Self::Reverse => WalkKind::Reverse,
            Self::Stride(_) => WalkKind::Stride,
            Self::Random { .. } => WalkKind::Random,
            Self::File(_) => WalkKind::File,
            Self::Sorted => WalkKind::Sorted,
            Self::SignPaired => WalkKind::SignPaired,
            Self::Greedy => WalkKind::Greedy,
        }
    }

    /// Describes how it differs from walking forward; empty if it does not.
    pub fn describe(&self) -> String {
        match self {
            Self::Forward => String::new(),
            Self::Reverse => "reversed".into(),
            Self::Stride(n) => format!("stride {n}"),
            Self::Random { seed } => format!("random permutation of seed {seed}"),
            Self::File(_) => "permutation from a file".into(),
            Self::Sorted => "sorted by product".into(),
            Self::SignPaired => "signs paired by magnitude".into(),
            Self::Greedy => "signs chosen by the running sum".into(),
        }
    }

    /// Returns `flat` in this order; `None` if there is no permutation of that length. A walk that depends on
    /// data does not change it.
    fn apply(&self, flat: &[usize]) -> Option<Vec<usize>> {
        let at = |places: &[usize]| places.iter().map(|&i| flat[i]).collect();
        Some(match self {
            Self::Forward | Self::Sorted | Self::SignPaired | Self::Greedy => flat.to_vec(),
            Self::Reverse => flat.iter().rev().copied().collect(),
            Self::Stride(n) => (0..*n).flat_map(|i| flat.iter().skip(i).step_by(*n).copied()).collect(),
            Self::Random { seed } => at(&random::random_permutation(*seed, flat.len())),
            Self::File(given) => at(given.of_terms(flat.len())?),
        })
    }
}

pub use random::random_permutation;

impl ReductionOrder {
    /// Returns the order of the layer with these names, reduced to that layer, and its window cells in the
    /// order of addition, as flat `[row, column, channel]` indices. Returns `None` if there is no permutation
    /// for it.
    pub fn of_layer(&self, names: &[&str], kernel: [usize; 3]) -> Option<(Self, Vec<usize>)> {
        let flat = self.flat(kernel);
        let walk = match &self.walk {
            Walk::File(given) => Walk::File(given.of_layer(names, flat.len())?),
            walk => walk.clone(),
        };
        let cells = walk.apply(&flat)?;
        Some((Self { walk, ..self.clone() }, cells))
    }

    /// Returns the window cells in the order of the flattened axes.
    fn flat(&self, kernel: [usize; 3]) -> Vec<usize> {
        let size = |axis| match axis {
            Axis::Kh => kernel[0],
            Axis::Kw => kernel[1],
            Axis::Ic => kernel[2],
        };
        let step = |axis| match axis {
            Axis::Kh => kernel[1] * kernel[2],
            Axis::Kw => kernel[2],
            Axis::Ic => 1,
        };
        let [slow, middle, fast] = self.axes;
        let mut flat = Vec::with_capacity(kernel.iter().product());
        let block = self.ic_block.unwrap_or(usize::MAX);
        for start in (0..kernel[2]).step_by(block) {
            let end = start.saturating_add(block).min(kernel[2]);
            let range = |axis| if axis == Axis::Ic { start..end } else { 0..size(axis) };
            for i in range(slow) {
                for j in range(middle) {
                    flat.extend(range(fast).map(|k| i * step(slow) + j * step(middle) + k * step(fast)));
                }
            }
        }
        flat
    }
}
