//! Output of `--audit`: the changes that each step made to the network.

use guardbit_graph::Graph;
use guardbit_hwmodels::{Decision, LowerError, Program, audit_frontend, audit_lowering};
use guardbit_reports::text_table;
use serde::Serialize;

use super::printable;
use crate::printable::plain;

/// Maximum characters of a name in the table; JSON has all.
const LONGEST: usize = 40;

/// Decision as printed.
#[derive(Serialize)]
pub struct Line {
    step: String,
    index: Option<usize>,
    name: String,
    outcome: String,
    what: String,
}

/// Returns the decisions of every step: reading, these passes, and lowering if there is a program.
pub fn decisions(
    before: &Graph,
    after: &Graph,
    passes: &[String],
    program: Option<&Program>,
) -> Result<Vec<Line>, LowerError> {
    let mut all: Vec<Line> = audit_frontend(before).into_iter().map(Line::from).collect();
    if !passes.is_empty() {
        all.extend(passed(before, after, &passes.join(", ")));
    }
    if let Some(program) = program {
        all.extend(audit_lowering(program)?.into_iter().map(Line::from));
    }
    Ok(all)
}

/// Returns the nodes that passes removed, added and changed. A node is identified by its full name.
fn passed(before: &Graph, after: &Graph, passes: &str) -> Vec<Line> {
    let find = |graph: &Graph, name: &str| {
        graph.nodes_with_ids().find(|(id, _)| graph.node_name(*id) == name).map(|(id, _)| id)
    };
    let line = |graph: &Graph, id: guardbit_graph::NodeId, outcome: &str, what: String| Line {
        step: format!("passes {passes}"),
        index: Some(id.index()),
        name: graph.short_name(id).to_owned(),
        outcome: outcome.into(),
        what,
    };
    let mut all = Vec::new();
    for (id, node) in before.nodes_with_ids() {
        let op = node.op.name();
        match find(after, before.node_name(id)) {
            None => all.push(line(
                before,
                id,
                "dropped",
                format!("{op} is part of another operation, or was removed"),
            )),
            Some(other) if after.node(other).op != node.op => {
                let now = after.node(other).op.name();
                all.push(line(before, id, "changed", format!("{op} is now {now} with other attributes")));
            }
            Some(_) => {}
        }
    }
    let added = after.nodes_with_ids().filter(|(id, _)| find(before, after.node_name(*id)).is_none());
    all.extend(added.map(|(id, node)| line(after, id, "added", node.op.name().into())));
    all
}

impl From<Decision> for Line {
    fn from(decision: Decision) -> Self {
        let Decision { step, node, name, outcome, what } = decision;
        Self { step: step.to_string(), index: node, name, outcome: outcome.to_string(), what }
    }
}

pub fn text(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "nothing was changed, dropped or left out (add --hw for partition and lowering)\n".into();
    }
    let name = |line: &Line| {
        let mut name: String = printable(&line.name).chars().take(LONGEST).collect();
        if line.name.chars().nth(LONGEST).is_some() {
            name.push('…');
        }
        name
    };
    let cells = |line: &Line| {
        let index = line.index.map_or(String::new(), |index| index.to_string());
        vec![line.step.clone(), index, name(line), line.outcome.clone(), plain(&line.what).into_owned()]
    };
    text_table(&["step", "index", "name", "outcome", "what"], &lines.iter().map(cells).collect::<Vec<_>>())
}
