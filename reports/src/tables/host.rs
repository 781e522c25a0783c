//! `host.csv`: the operations that the host runs, and their time.

use guardbit_graph::NodeId;
use guardbit_hwmodels::Program;

use super::table::table;
use crate::Fraction;

table! {
    "host.csv"
    /// An operation that the host runs.
    HostRow {
        /// Index over all operations of the graph.
        index: usize,
        /// Name of the operation: that of its output tensor.
        layer: String,
        /// The operation.
        op: String,
        /// Elements of its output.
        elements: usize,
        /// Operations on 32-bit numbers.
        operations: u64,
        /// Bytes that it reads and writes.
        bytes: u64 ["bytes"],
        /// Time in cycles of the accelerator's clock, at the rates of `host`.
        cycles: u64 ["cycles"],
        /// What limits the operation: `lanes` (the arithmetic of the host), `memory` (its bytes), or
        /// `nothing` if it takes no time.
        bound: String,
        /// Part of the cycles of all operations on the host.
        share: Option<Fraction>,
        /// Short name.
        name: String,
    }
}

impl HostRow {
    /// Returns the rows of a program, in order of execution.
    pub fn all(program: &Program) -> Vec<Self> {
        let graph = &program.graph;
        let row = |(node, own): (NodeId, &guardbit_graph::Node)| {
            let time = program.host_time(node)?;
            Some(Self {
                index: node.index(),
                layer: graph.node_name(node).to_owned(),
                name: graph.short_name(node).to_owned(),
                op: own.op.name().to_owned(),
                elements: graph.tensor(own.output).ty.len(),
                operations: time.work.operations,
                bytes: time.work.bytes,
                cycles: time.cycles,
                bound: time.bound.name().to_owned(),
                share: None,
            })
        };
        let mut rows: Vec<Self> = graph.nodes_with_ids().filter_map(row).collect();
        let all = rows.iter().map(|row| row.cycles).fold(0, u64::saturating_add);
        rows.iter_mut().for_each(|row| row.share = Fraction::of(row.cycles, all));
        rows
    }

    /// Returns the number of operations of each kind, e.g. `add 3, softmax 1`.
    pub fn counted(rows: &[Self]) -> String {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for one in rows {
            match kinds.iter_mut().find(|(op, _)| *op == one.op) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&one.op, 1)),
            }
        }
        kinds.iter().map(|(op, count)| format!("{op} {count}")).collect::<Vec<_>>().join(", ")
    }
}
