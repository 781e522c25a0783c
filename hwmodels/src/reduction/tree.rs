//! An adder tree: adjacent pairs, round after round; an odd last value passes up unchanged.

use super::{Adders, Kind, Limits, RunReach};
use crate::bounds::Range;

pub(super) const KIND: Kind = Kind {
    name: "tree",
    meaning: "adjacent pairs, round after round; an odd last value passes up unchanged. Each node is \
              checked. A single value does not form a node: it passes unchanged, whatever its size, and is \
              the run's final sum.",
    at_once: true,
    pairing: Some("adjacent"),
    module: "gb_tree",
    in_vhdl: true,
};

/// Run in progress.
#[derive(Debug, Clone)]
pub struct Run<V, R> {
    values: Vec<V>,
    registers: std::marker::PhantomData<R>,
}

impl<V, R> Default for Run<V, R> {
    fn default() -> Self {
        Self { values: Vec::new(), registers: std::marker::PhantomData }
    }
}

impl<V: Copy, R> Run<V, R> {
    pub(super) fn push(&mut self, value: V, _: &mut impl Adders<Value = V, Register = R>) {
        self.values.push(value);
    }

    pub(super) fn finish(self, adders: &mut impl Adders<Value = V, Register = R>) -> V {
        pairwise(self.values, |left, right| adders.node(left, right)).unwrap_or_else(|| adders.nothing())
    }
}

/// Reduces many values to one; `None` without values.
fn pairwise<V: Copy>(mut values: Vec<V>, mut node: impl FnMut(V, V) -> V) -> Option<V> {
    while values.len() > 1 {
        values = values
            .chunks(2)
            .map(|pair| match *pair {
                [left, right] => node(left, right),
                _ => pair[0],
            })
            .collect();
    }
    values.first().copied()
}

pub(super) fn reach(values: &[Range], whole: Range, _: Range, register: &impl Limits) -> RunReach {
    let (mut node, mut result) = (values.iter().copied().fold(Range::ZERO, Range::hull), Range::ZERO);
    let rounds = usize::BITS - values.len().saturating_sub(1).leading_zeros();
    for _ in 0..rounds {
        let sum = node.plus(node);
        result = result.hull(sum);
        // An odd last value passes up unchanged.
        node = node.hull(register.fitted(sum));
    }
    let whole = pairwise(vec![whole; values.len()], |a, b| register.fitted(a.plus(b)));
    RunReach { result, out: node, whole: whole.unwrap_or(Range::ZERO), goes_on: false }
}
