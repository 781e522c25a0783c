//! Data that the stages of one block share at one pixel.

use guardbit_hwmodels::Fixup;

use super::super::kernels::{Lane, Rails, Vector};
use super::super::simd::Kernels;
use super::plan::{Plan, Start};
use super::random::Random;

/// Data that the stages of one block share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<'a, V: Lane> {
    pub kernels: Kernels,
    pub plan: &'a Plan<V>,
    pub start: &'a Start<V>,
    /// Number of first stages that cannot overflow: the product, then each level.
    pub certain: usize,
    /// Whether extremes of prefixes are requested.
    pub full: bool,
    /// Mask of the lanes that share an adder with the lane before them.
    pub high: Option<&'a Vector<V>>,
    /// Random numbers of these dot products, if some stage rounds at random.
    pub random: Option<&'a Random<'a>>,
}

impl<'a, V: Lane> Work<'a, V> {
    /// Returns whether nothing can overflow.
    pub fn is_certain(&self) -> bool {
        self.certain > self.plan.levels.len() && self.borrowing().is_none()
    }

    /// Returns the lanes from which negative low lanes take 1.
    pub fn borrowing(&self) -> Option<&'a Vector<V>> {
        self.high.filter(|_| self.plan.shared.is_some_and(|shared| shared.fixup == Fixup::None))
    }

    /// Returns whether the products, or the innermost level, need [`Special`](super::special::Special).
    pub fn is_special(&self) -> bool {
        let shares = self.high.is_some() && self.certain <= 1 && self.plan.levels[0].rails.is_some();
        shares || self.plan.product.random.is_some() || self.plan.walk.is_some()
    }

    /// Returns the rails of products, unless none exceeds them.
    pub fn product_rails(&self) -> Option<&'a Rails<V>> {
        self.plan.product.rails.as_ref().filter(|_| self.certain == 0)
    }
}
