//! Reduction of runs by one level.

use guardbit_hwmodels::Check;

use super::super::kernels::{
    CHOSEN, EXACT, Extremes, LANES, LATCHED, Lane, Mode, Rails, SATURATE, Vector, WRAP, fit, shift_right,
    with_mode,
};
use super::loops::{Values, add_up, bounds, note, step, tree, tree_extremes, tree_extremes_beside, walk};
use super::plan::{Known, Stage, Start};
use super::random::{Draw, Random};
use super::scratch::{RunLog, Seen};
use crate::reference::Stage as RandomStage;

/// Reduces runs by one level.
#[derive(Clone, Copy)]
pub(super) struct Reducer<'a, V: Lane> {
    pub stage: &'a Stage<V>,
    /// Rails; `None` if no value that arrives can overflow.
    pub rails: Option<&'a Rails<V>>,
    pub start: Option<&'a Start<V>>,
    pub full: bool,
    /// Whether the narrow values may differ from the unbounded ones.
    pub lost: bool,
    /// Seed and random numbers, if the level rounds at random.
    pub random: Option<(u64, &'a Random<'a>)>,
    /// Index of the level.
    pub index: usize,
    /// Mask of the lanes from which a negative lane before takes 1 when a run ends.
    pub borrowing: Option<&'a Vector<V>>,
}

impl<V: Lane> Reducer<'_, V> {
    /// Reduces one run and overwrites its values. Returns the unbounded and the narrow result. The narrow
    /// values are only read if `lost`; there must be room for all of them.
    #[inline(always)]
    pub fn run(
        self,
        unbounded: &mut [Vector<V>],
        narrow: &mut [Vector<V>],
        seen: &mut Seen<V>,
        stepped: &mut bool,
        log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        match self.stage.known {
            Known::Serial => {
                let narrow = if self.lost { &*narrow } else { &*unbounded };
                self.serial(&*unbounded, narrow, seen, stepped, log)
            }
            Known::Tree => self.tree(unbounded, narrow, seen, stepped, log),
        }
    }

    /// Returns the rails if every addition is checked against them.
    #[inline(always)]
    fn at_each_add(&self) -> Option<&Rails<V>> {
        self.rails.filter(|_| self.stage.check == Check::EachAdd)
    }

    /// Reduces one run of a serial level like [`run`](Self::run).
    #[inline(always)]
    pub fn serial(
        self,
        unbounded: impl Values<V>,
        narrow: impl Values<V>,
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        let zero = Start::ZERO;
        let start = self.start.unwrap_or(&zero);
        let rails = self.at_each_add();
        let wants_prefixes = self.full && self.stage.check == Check::EachAdd;
        let mut prefixes = Extremes::ZERO;
        prefixes.take(&start.unbounded);
        let sum = if wants_prefixes || (rails.is_some() && !self.lost) {
            walk(unbounded, start.unbounded, &mut prefixes)
        } else {
            add_up(unbounded, start.unbounded)
        };
        if wants_prefixes {
            seen.prefixes.take(&prefixes.min);
            seen.prefixes.take(&prefixes.max);
        }
        let held = match rails {
            Some(rails) if self.lost || !rails.keep(&prefixes.min, &prefixes.max) => {
                *stepped = true;
                with_mode!(rails.mode, step::<V, _>(rails, narrow, start, &mut seen.counts, log.rows()))
            }
            None if self.lost => add_up(narrow, start.held),
            _ => sum,
        };
        (sum, held)
    }

    #[inline(always)]
    fn tree(
        self,
        unbounded: &mut [Vector<V>],
        narrow: &mut [Vector<V>],
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        if unbounded.is_empty() {
            return (Vector::ZERO, Vector::ZERO);
        }
        let rails = self.at_each_add();
        let wants_prefixes = self.full && self.stage.check == Check::EachAdd;
        let mut nodes = Extremes::ZERO;
        let (sum, keeps) = if wants_prefixes {
            let sum = match self.lost {
                true => tree_extremes(unbounded, &mut nodes),
                false => tree_extremes_beside(unbounded, narrow, &mut nodes),
            };
            seen.prefixes.take(&nodes.min);
            seen.prefixes.take(&nodes.max);
            (sum, rails.is_none_or(|rails| rails.keep(&nodes.min, &nodes.max)))
        } else {
            let sum = add_up(&*unbounded, Vector::ZERO);
            (sum, rails.is_none_or(|rails| self.keeps(rails, &*unbounded)))
        };
        let held = match rails {
            Some(rails) if self.lost || !keeps => {
                *stepped = true;
                let values = if self.lost { narrow } else { unbounded };
                with_mode!(rails.mode, tree::<V>(rails, values, &mut seen.counts, log.rows()))
            }
            None if self.lost => add_up(&*narrow, Vector::ZERO),
            _ => sum,
        };
        (sum, held)
    }

    /// Returns whether no node of a tree overflows.
    #[inline(always)]
    fn keeps(self, rails: &Rails<V>, values: impl Values<V>) -> bool {
        let bounds = bounds(values);
        rails.keep(&bounds.min, &bounds.max)
    }

    /// Ends run `number`: records its final sum, fits it if the level checks at the hand-over, and shifts it.
    #[inline(always)]
    pub fn leave(
        self,
        (unbounded, mut narrow): (Vector<V>, Vector<V>),
        number: usize,
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        seen.finals.take(&unbounded);
        if self.full {
            seen.prefixes.take(&unbounded);
        }
        if let Some(rails) = self.rails.filter(|_| self.stage.check == Check::HandOver)
            && !rails.keep(&narrow, &narrow)
        {
            *stepped = true;
            let misfit;
            (narrow, misfit) = fit(rails, &narrow, &mut seen.counts);
            if let Some(row) = log.rows().last_mut() {
                note(row, &misfit);
            }
        }
        if self.borrowing.is_some() || self.random.is_some() {
            return end_rarely(
                self.stage,
                self.borrowing,
                self.random,
                (self.index, number),
                unbounded,
                narrow,
            );
        }
        let &Stage { shift, round, .. } = self.stage;
        (shift_right(&unbounded, shift, round), shift_right(&narrow, shift, round))
    }
}

/// Ends run `number` of level `index`, where lanes borrow from those above or are rounded at random. Not a part of the
/// loops of levels, whose values it would keep from the registers; for that reason arguments are values, too.
#[inline(never)]
fn end_rarely<V: Lane>(
    &Stage { shift, round, .. }: &Stage<V>,
    borrowing: Option<&Vector<V>>,
    random: Option<(u64, &Random<'_>)>,
    (index, number): (usize, usize),
    unbounded: Vector<V>,
    mut narrow: Vector<V>,
) -> (Vector<V>, Vector<V>) {
    if let Some(high) = borrowing {
        for l in 1..LANES {
            narrow[l] = narrow[l].plus(V::mask(unbounded[l - 1] < V::ZERO).and(high[l]));
        }
    }
    match random {
        Some((seed, random)) => {
            let draw = Draw { seed, shift, stage: RandomStage::Level(index) };
            random.rounded([unbounded, narrow], draw, number).into()
        }
        None => (shift_right(&unbounded, shift, round), shift_right(&narrow, shift, round)),
    }
}
