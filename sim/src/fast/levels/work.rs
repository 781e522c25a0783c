//! Data that the stages of one block share at one pixel.

use guardbit_hwmodels::{Fixup, MacLayer};

use super::super::kernels::{LANES, Vector};
use super::lane::{Lane, Rails};
use super::plan::{Plan, Start};
use crate::reference::{Draws, Stage};

/// Data that the stages of one block share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<'a, V: Lane> {
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

/// Random numbers of the dot products of one block at one pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Random<'a> {
    pub layer: &'a MacLayer,
    pub sample: usize,
    /// Index of the first lane's output.
    pub first: usize,
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

impl Random<'_> {
    /// Returns both values plus random bits below the shift, shifted right.
    pub fn rounded<V: Lane>(
        &self,
        values: [Vector<V>; 2],
        shift: u32,
        seed: u64,
        stage: Stage,
        number: usize,
    ) -> [Vector<V>; 2] {
        let low = V::low_bits((1i128 << shift) - 1);
        let mut rounded = values;
        for l in 0..LANES {
            if values[0][l].or(values[1][l]).and(low) != V::ZERO {
                let draws = Draws::of_output(self.layer, self.sample, self.first + l);
                let word = V::low_bits(draws.word(seed, stage, number).into()).and(low);
                rounded.iter_mut().for_each(|value| value[l] = value[l].plus(word));
            }
            rounded.iter_mut().for_each(|value| value[l] = value[l].shift_right(shift));
        }
        rounded
    }
}
