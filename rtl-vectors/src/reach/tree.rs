//! Nodes of an adder tree, by the number of values that they contain.

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::reduction::{Limits, RunReach};

use crate::manifest::LevelInfo;

/// Ranges of the nodes of trees over up to a number of equal values.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    /// By the number of values, less 1: what the node compares with the rails, and what it holds. A single value is no
    /// node, and is not compared.
    nodes: Vec<(Range, Range)>,
}

impl Nodes {
    /// Returns the nodes of a level over up to `values` values in `value`.
    pub fn new(level: &LevelInfo, value: Range, values: usize) -> Self {
        let mut nodes = vec![(value, value)];
        for count in 2..=values {
            let left = left(count);
            let sum = nodes[left - 1].1.plus(nodes[count - left - 1].1);
            let held = match level.check {
                Check::EachAdd => level.register.fitted(sum),
                Check::HandOver => sum,
            };
            nodes.push((sum, held));
        }
        Self { nodes }
    }

    /// Returns the bounds of runs of up to as many values, for a level that checks each node.
    pub fn reach(&self) -> RunReach {
        let held = |range: Range, (_, held): &(Range, Range)| range.hull(*held);
        RunReach {
            result: self.nodes[1..].iter().fold(Range::ZERO, |range, (sum, _)| range.hull(*sum)),
            out: self.nodes.iter().fold(Range::ZERO, held),
            whole: self.nodes.last().map_or(Range::ZERO, |(_, held)| *held),
            goes_on: false,
        }
    }

    /// Returns the range of the results that are compared in nodes that end with lane `lane`, or at the end of runs that
    /// do; `None` if there are none.
    pub fn ending_with(&self, level: &LevelInfo, lane: usize) -> Option<Range> {
        let result = |count: usize| self.nodes.get(count - 1).map(|(result, _)| *result);
        match level.check {
            Check::HandOver => result(lane + 1),
            Check::EachAdd => {
                // A node begins at a multiple of the power of two that holds its number of values.
                let counts = (1..usize::BITS).map(|bits| ((lane >> bits) << bits, 1usize << (bits - 1)));
                let counts = counts.take_while(|&(_, half)| half <= lane);
                // It must fit the tree.
                let fits = lane < self.nodes.len();
                let ranges = counts
                    .filter(|&(start, half)| fits && lane + 1 - start > half)
                    .filter_map(|(start, _)| result(lane + 1 - start));
                ranges.reduce(Range::hull)
            }
        }
    }
}

/// Returns the number of values in the left half of a node with `count` values, which is full.
pub(crate) fn left(count: usize) -> usize {
    count.next_power_of_two() / 2
}
