//! The order in which the products of a dot product are added.

mod given;
mod random;

use crate::accelerator::Axis;
use crate::keys::ReductionOrder;
use crate::names::Named;

pub(crate) use given::MOST_NUMBERS;
pub use given::Permutations;

/// How a flat sequence of products is walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walk {
    /// 0, 1, 2, ...
    Forward,
    /// Last first.
    Reverse,
    /// i, i + n, i + 2n, ... for i = 0..n.
    Stride(usize),
    /// A permutation that follows from a seed and the number of products: see [`random_permutation`].
    Random {
        /// The seed.
        seed: u64,
    },
    /// Permutations that were given.
    File(Permutations),
    /// By product, ascending; equal ones in the order of the sequence. For each dot product by itself.
    Sorted,
    /// The greatest positive product, the negative one of the greatest magnitude, the next positive one, and so on; when
    /// one sign is used up, the others by descending magnitude. For each dot product by itself.
    SignPaired,
    /// The next negative product while the exact sum so far is 0 or more, else the next one that is not negative; when
    /// there is none of those, the others. Each in the order of the sequence, for each dot product by itself.
    Greedy,
}

/// How a flat sequence is walked, without what belongs to it.
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
    /// Whether every dot product has an order of its own, which depends on its products. Then lowered layers have their
    /// products in the order of the flattened axes, from which that order starts.
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

    /// In words: what makes it differ from walking forward, empty if nothing does.
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

    /// `flat` in this order; `None` if no permutation of that length was given. A walk that depends on data leaves it as
    /// it is.
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
    /// The order of the layer that goes by these names, as it stands for that layer alone, and its window cells in the
    /// order of addition, as flat `[row, column, channel]` indices. `None` if there is no permutation for it.
    pub fn of_layer(&self, names: &[&str], kernel: [usize; 3]) -> Option<(Self, Vec<usize>)> {
        let flat = self.flat(kernel);
        let walk = match &self.walk {
            Walk::File(given) => Walk::File(given.of_layer(names, flat.len())?),
            walk => walk.clone(),
        };
        let cells = walk.apply(&flat)?;
        Some((Self { walk, ..self.clone() }, cells))
    }

    /// The window cells in the order of the flattened axes.
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
