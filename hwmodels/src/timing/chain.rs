//! Maps the products of a dot product onto the rows of an array through which sums move.
//!
//! A column adds the products of its rows to one sum, the chain. The chain is the innermost run of
//! `accumulation` that is longer than the products of one processing element per step. If the chain is
//! shorter than the column, a pass holds as many whole chains as fit, the remaining rows idle, and each chain
//! hands on its sum below its last row. A longer chain takes several passes. In each pass the sum enters the
//! column from above, and the last pass ends the chain.

use std::ops::Range;

use super::sizes::Runs;
use crate::{Accelerator, Array, Level};

/// Chain of a layer's dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    rows: usize,
    dot_width: usize,
    /// Products of a dot product.
    terms: usize,
    /// Index of the level that adds along the column.
    level: usize,
    /// Products of a chain; at most the products of a dot product.
    length: usize,
    /// Number of groups whose dot products are stacked in a column.
    groups: usize,
    stack: Stack,
}

/// Placement of whole dot products of several groups, stacked in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stack {
    /// Rows of one dot product.
    own: usize,
    /// Number of dot products that share a chain of the hardware.
    shared: usize,
    /// Distance in rows from one chain to the next; for a dot product of several chains, all its rows.
    pitch: usize,
}

impl Chain {
    pub fn new(accelerator: &Accelerator, terms: usize) -> Self {
        let Array { rows, .. } = accelerator.array;
        let dot_width = products_per_step(accelerator);
        let levels = &accelerator.datapath.levels;
        let (level, length) = run(levels, dot_width, terms.max(1));
        let alone = Stack { own: rows, shared: 1, pitch: rows };
        let chain = Self { rows, dot_width, terms, level, length, groups: 1, stack: alone };
        // Chain length of the hardware, independent of the layer.
        let (of_hardware, length) = run(levels, dot_width, usize::MAX);
        let (own, whole) = (chain.passes().most().max(1), length.div_ceil(dot_width).min(rows));
        let adds_zeros = levels.get(of_hardware).is_some_and(|level| !level.reduce.takes_run_at_once());
        let shared = if adds_zeros { (whole / own).max(1) } else { 1 };
        Self { stack: Stack { own, shared, pitch: own.next_multiple_of(whole) }, ..chain }
    }

    /// Returns this chain for dot products of `groups` stacked groups; at most [`room`](Self::room).
    pub fn of_groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// Returns the number of dot products that fit into the rows when stacked.
    pub fn room(&self) -> usize {
        let Stack { shared, pitch, .. } = self.stack;
        let is_whole = self.of_groups(1).passes().count() <= 1;
        if is_whole { (self.rows / pitch * shared).max(1) } else { 1 }
    }

    /// Returns the row in which the dot product of a group begins.
    fn first_row(&self, group: usize) -> usize {
        let Stack { own, shared, pitch } = self.stack;
        group / shared * pitch + group % shared * own
    }

    pub fn chained(&self) -> Chained {
        Chained { level: self.level, abreast: self.abreast() }
    }

    /// Returns the number of rows that a chain needs.
    fn steps(&self) -> usize {
        self.length.div_ceil(self.dot_width)
    }

    /// Returns the number of chains per pass.
    pub fn abreast(&self) -> usize {
        (self.rows / self.steps()).max(1)
    }

    /// Returns the number of passes per chain.
    fn split(&self) -> usize {
        self.steps().div_ceil(self.rows)
    }

    /// Returns the maximum number of products per pass.
    pub fn terms_of_pass(&self) -> usize {
        if self.split() > 1 { self.rows * self.dot_width } else { self.abreast() * self.length }
    }

    /// Returns the products of a dot product that pass `pass` adds, in the order of addition.
    pub fn terms_of(&self, pass: usize) -> Range<usize> {
        if self.groups > 1 {
            return 0..self.terms;
        }
        let (chain, step) = match self.split() {
            1 => (pass * self.abreast(), 0),
            split => (pass / split, pass % split * self.terms_of_pass()),
        };
        let start = chain * self.length + step;
        let ends = [(chain + self.abreast()) * self.length, self.terms, start + self.terms_of_pass()];
        start..ends.into_iter().fold(usize::MAX, usize::min)
    }

    /// Returns the number of rows used by each pass.
    pub fn passes(&self) -> Runs {
        if self.groups > 1 {
            return Runs::one(self.first_row(self.groups - 1) + self.stack.own);
        }
        let whole = self.terms / self.length;
        if self.split() > 1 {
            let rest = Runs::cut((self.terms % self.length).div_ceil(self.dot_width), self.rows);
            return Runs::cut(self.steps(), self.rows).times(whole).and(rest);
        }
        let (abreast, steps) = (self.abreast(), self.steps());
        // The remainder of a dot product is shorter than a chain, so it fits behind the other chains of its
        // pass.
        let last = whole % abreast * steps + (self.terms % self.length).div_ceil(self.dot_width);
        Runs::one(abreast * steps).times(whole / abreast).and(Runs::one(last))
    }

    /// Returns the minimum distance from the start of each pass to the start of the next one. By then the
    /// streamed operand has passed, the rows of the next pass are loaded, and a sum that enters the column
    /// again has left it.
    pub fn intervals(&self, stream: usize) -> Runs {
        let again = if self.split() > 1 { self.rows } else { 0 };
        self.passes().map(|rows| rows.max(stream).max(again))
    }

    /// Returns the number of sums that a column hands on per dot product.
    pub fn sums(&self) -> usize {
        if self.split() > 1 { self.passes().count() } else { self.terms.div_ceil(self.length) }
    }

    /// Returns the pass and the row in which level `level` adds the value that ends with product `k` of the
    /// stacked group `group`.
    #[inline]
    pub fn place(&self, group: usize, k: usize, level: usize) -> (usize, usize) {
        let (chain, step) = (k / self.length, k % self.length / self.dot_width);
        let pass = chain / self.abreast() * self.split() + step / self.rows;
        let row = if level <= self.level {
            self.first_row(group) + chain % self.abreast() * self.steps() + step % self.rows
        } else {
            self.rows - 1
        };
        (pass, row)
    }
}

/// Returns the products that a processing element takes per step: `dot_width`, or the largest part of it that
/// consists of whole runs of the outermost level whose runs fit. A run that ends hands on its sum, and there
/// are adders for as many sums as a full step has runs.
pub(crate) fn products_per_step(accelerator: &Accelerator) -> usize {
    let width = accelerator.array.dot_width;
    let mut run = 1usize;
    for level in &accelerator.datapath.levels {
        let longer = run.saturating_mul(level.terms.run_length(usize::MAX.div_ceil(run)));
        if longer > width {
            break;
        }
        run = longer;
    }
    width / run * run
}

/// Returns the level that adds along a column, and the length of its runs in products.
fn run(levels: &[Level], dot_width: usize, terms: usize) -> (usize, usize) {
    let mut length = 1usize;
    for (index, level) in levels.iter().enumerate() {
        length = length.saturating_mul(level.terms.run_length(terms.div_ceil(length))).min(terms);
        if length > dot_width {
            return (index, length);
        }
    }
    (levels.len().saturating_sub(1), terms)
}

/// Chain as seen by the hardware below and next to the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chained {
    /// Index of the level that adds along a column.
    pub level: usize,
    /// Number of chains that end in a column side by side.
    pub abreast: usize,
}

/// Rows that idle in every layer because of the chain length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// Index of the level that adds along a column.
    pub level: usize,
    /// Products of a chain.
    pub length: usize,
    /// Rows in use: in every pass, or in the last pass of a chain that takes several.
    pub used: usize,
}

impl Unfilled {
    /// Returns `None` if chains fill the columns: the chain is as long as the column, a divisor or a multiple
    /// of it, or takes all products.
    pub fn of(accelerator: &Accelerator) -> Option<Self> {
        let endless = usize::MAX;
        let Chain { level, length, rows, .. } = Chain::new(accelerator, endless);
        if length == endless {
            return None;
        }
        let chain = Chain::new(accelerator, length);
        let used = match chain.split() {
            1 => chain.abreast() * chain.steps(),
            split => chain.steps() - (split - 1) * rows,
        };
        (used < rows).then_some(Self { level, length, used })
    }
}
