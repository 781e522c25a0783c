//! How the products of a dot product fill the rows of an array through which sums move.
//!
//! A column adds the products of its rows to one sum, the chain: the innermost run of `accumulation` that is longer
//! than what one processing element takes in a step. A chain that is shorter than the column ends inside it: a pass
//! holds as many whole chains as fit, the rows left over idle, and each chain hands its sum on below the last row. A
//! longer chain takes several passes, in each of which its sum enters the column from above, and ends with one.

use super::mapping::Runs;
use crate::{Accelerator, Array, Level};

/// The chain of a layer's dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    rows: usize,
    dot_width: usize,
    /// Products of a dot product.
    terms: usize,
    /// The level that adds along the column.
    level: usize,
    /// Products of a chain; at most those of a dot product.
    length: usize,
    /// Groups whose dot products lie one below the other.
    groups: usize,
    stack: Stack,
}

/// How whole dot products of several groups lie one below the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stack {
    /// Rows of one.
    own: usize,
    /// How many share a chain of the hardware.
    shared: usize,
    /// Rows from the first of a chain to the first of the next one; of a dot product that takes several chains, their rows.
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
        // The hardware's chain, whatever the layer.
        let (of_hardware, length) = run(levels, dot_width, usize::MAX);
        let (own, whole) = (chain.passes().most().max(1), length.div_ceil(dot_width).min(rows));
        let adds_zeros = levels.get(of_hardware).is_some_and(|level| !level.reduce.takes_run_at_once());
        let shared = if adds_zeros { (whole / own).max(1) } else { 1 };
        Self { stack: Stack { own, shared, pitch: own.next_multiple_of(whole) }, ..chain }
    }

    /// The same for dot products of so many groups, one below the other: [`room`](Self::room) at most.
    pub fn of_groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// How many dot products the rows hold, one below the other.
    pub fn room(&self) -> usize {
        let Stack { shared, pitch, .. } = self.stack;
        let is_whole = self.of_groups(1).passes().count() <= 1;
        if is_whole { (self.rows / pitch * shared).max(1) } else { 1 }
    }

    /// The row in which the dot product of a group begins.
    fn first_row(&self, group: usize) -> usize {
        let Stack { own, shared, pitch } = self.stack;
        group / shared * pitch + group % shared * own
    }

    pub fn chained(&self) -> Chained {
        Chained { level: self.level, abreast: self.abreast() }
    }

    /// Rows that the products of a chain need.
    fn steps(&self) -> usize {
        self.length.div_ceil(self.dot_width)
    }

    /// Chains of a pass.
    pub fn abreast(&self) -> usize {
        (self.rows / self.steps()).max(1)
    }

    /// Passes of a chain.
    fn split(&self) -> usize {
        self.steps().div_ceil(self.rows)
    }

    /// Products of a pass, at most.
    pub fn terms_of_pass(&self) -> usize {
        if self.split() > 1 { self.rows * self.dot_width } else { self.abreast() * self.length }
    }

    /// The rows that each pass uses.
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
        // The rest of a dot product is shorter than a chain: it fits behind the others of its pass.
        let last = whole % abreast * steps + (self.terms % self.length).div_ceil(self.dot_width);
        Runs::one(abreast * steps).times(whole / abreast).and(Runs::one(last))
    }

    /// From the start of each pass to that of the next one, at least: what streams is through, the rows of the next pass
    /// are loaded, and a sum that enters the column again has left it.
    pub fn intervals(&self, stream: usize) -> Runs {
        let again = if self.split() > 1 { self.rows } else { 0 };
        self.passes().map(|rows| rows.max(stream).max(again))
    }

    /// Sums that a column hands on for every dot product.
    pub fn sums(&self) -> usize {
        if self.split() > 1 { self.passes().count() } else { self.terms.div_ceil(self.length) }
    }

    /// The pass in which level `level` adds the value that ends with product `k` of group `group` of those one below the
    /// other, and the row.
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

/// Products that a processing element takes in a step: `dot_width`, or as many of them as are whole runs of the outermost level
/// whose runs it holds. A run that ends hands its sum on, and there are adders for as many sums as runs of a full step.
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

/// The level that adds along a column, and the length of its runs in products.
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

/// The chain as the hardware below and beside the columns sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chained {
    /// The level that adds along a column.
    pub level: usize,
    /// Chains that end in a column side by side.
    pub abreast: usize,
}

/// Rows that idle because of the chain alone, whatever the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// The level that adds along a column.
    pub level: usize,
    /// Products of a chain.
    pub length: usize,
    /// Rows in use: in every pass, or in the last one of a chain that takes several.
    pub used: usize,
}

impl Unfilled {
    /// `None` where chains fill the columns: they are as long, a part or a multiple of it, or take all products.
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
