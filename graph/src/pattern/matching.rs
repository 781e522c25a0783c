//! Matching of patterns against graphs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Made, Pattern, Reads};
use crate::ops::OpType;
use crate::{Graph, GraphPatch, Links, NodeId, Op, OutputSpec, PatchError, Tensor, TensorId, TensorType};

/// A part of a graph that matches a pattern.
#[derive(Debug, Clone)]
pub struct Match<'g> {
    graph: &'g Graph,
    root: NodeId,
    nodes: BTreeSet<NodeId>,
    shared: BTreeSet<NodeId>,
    named: Names,
}

type Names = BTreeMap<&'static str, Vec<TensorId>>;

/// The state of a partial match.
#[derive(Debug, Clone, Default)]
struct State {
    named: Names,
    /// Nodes that the pattern describes.
    nodes: BTreeSet<NodeId>,
    /// Nodes of the match that others may read, too.
    shared: BTreeSet<NodeId>,
}

impl Pattern {
    /// Returns the match whose root is `root`, or the first one if there are several.
    pub fn at<'g>(&self, graph: &'g Graph, links: &Links, root: NodeId) -> Option<Match<'g>> {
        let output = graph.node(root).output;
        let ways = Matcher { graph, links }.tensor(self, output, State::default());
        let found = ways.into_iter().find(|state| is_closed(graph, links, root, state))?;
        // A pattern of any tensor does not record the root.
        let nodes = found.nodes.into_iter().chain([root]).collect();
        Some(Match { graph, root, nodes, shared: found.shared, named: found.named })
    }

    /// Returns the matches in order of execution. They have only shared nodes in common.
    ///
    /// The search goes from the outputs of the network upwards.
    pub fn matches<'g>(&self, graph: &'g Graph) -> Vec<Match<'g>> {
        let links = Links::new(graph);
        let mut taken = BTreeSet::new();
        let mut found = Vec::new();
        for root in (0..graph.nodes().len()).rev().map(NodeId) {
            let free = self
                .at(graph, &links, root)
                .filter(|found| found.own_nodes().all(|node| !taken.contains(&node)));
            if let Some(one) = free {
                taken.extend(one.own_nodes());
                found.push(one);
            }
        }
        found.reverse();
        found
    }
}

/// Returns whether only the root and shared nodes are read from outside.
fn is_closed(graph: &Graph, links: &Links, root: NodeId, state: &State) -> bool {
    let goes = |node: &NodeId| state.nodes.contains(node) && !state.shared.contains(node);
    let inside = |node: &NodeId| {
        let output = graph.node(*node).output;
        !links.is_output(output) && links.readers(output).iter().all(|reader| *reader == root || goes(reader))
    };
    state.nodes.iter().filter(|node| **node != root && goes(node)).all(inside)
}

struct Matcher<'a> {
    graph: &'a Graph,
    links: &'a Links,
}

impl Matcher<'_> {
    /// Returns every way in which a tensor matches.
    fn tensor(&self, pattern: &Pattern, id: TensorId, state: State) -> Vec<State> {
        let part = &pattern.0;
        let tensor = self.graph.tensor(id);
        if !part.tests.iter().all(|test| test(tensor)) {
            return Vec::new();
        }
        let Some(state) = remembered(part.name, id, state) else { return Vec::new() };
        match &part.made {
            Made::Anyhow => vec![state],
            Made::Constant if tensor.constant.is_some() => vec![state],
            Made::Constant => Vec::new(),
            Made::Either(ways) => ways.iter().flat_map(|way| self.tensor(way, id, state.clone())).collect(),
            Made::ByNode { test, reads, .. } => {
                let Some(node) = self.links.producer(id).filter(|&node| test(&self.graph.node(node).op))
                else {
                    return Vec::new();
                };
                let mut state = state;
                state.nodes.insert(node);
                if part.shared {
                    state.shared.insert(node);
                }
                self.operands(reads, &self.graph.node(node).inputs, state)
            }
        }
    }

    fn operands(&self, reads: &Reads, operands: &[Option<TensorId>], state: State) -> Vec<State> {
        match reads {
            Reads::Anything => vec![state],
            Reads::Each(patterns) => self.each(&patterns.iter().collect::<Vec<_>>(), operands, state),
            Reads::InAnyOrder([a, b]) => {
                let mut ways = self.each(&[a, b], operands, state.clone());
                ways.extend(self.each(&[b, a], operands, state));
                ways
            }
            Reads::Only(pattern) => {
                let outer = state.named.clone();
                operands.iter().fold(vec![state], |states, &operand| {
                    // Each operand binds its own names, which are collected afterwards.
                    let alone = |state: &State| {
                        let own = State { named: outer.clone(), ..state.clone() };
                        let ways = self.operand(pattern, operand, own);
                        ways.into_iter().map(|way| collected(state, way, &outer)).collect::<Vec<_>>()
                    };
                    states.iter().flat_map(alone).collect()
                })
            }
        }
    }

    /// Matches operands one by one. At the end, optional patterns may be left over, and so may absent operands.
    fn each(&self, patterns: &[&Pattern], operands: &[Option<TensorId>], state: State) -> Vec<State> {
        if operands.iter().skip(patterns.len()).any(Option::is_some) {
            return Vec::new();
        }
        patterns.iter().enumerate().fold(vec![state], |states, (index, pattern)| {
            let operand = operands.get(index).copied().flatten();
            states.into_iter().flat_map(|state| self.operand(pattern, operand, state)).collect()
        })
    }

    fn operand(&self, pattern: &Pattern, operand: Option<TensorId>, state: State) -> Vec<State> {
        match operand {
            Some(id) => self.tensor(pattern, id, state),
            None if pattern.0.optional => vec![state],
            None => Vec::new(),
        }
    }
}

/// Returns the state with a tensor under its name, or `None` if the name belongs to another tensor.
fn remembered(name: Option<&'static str>, id: TensorId, mut state: State) -> Option<State> {
    let Some(name) = name else { return Some(state) };
    let known = state.named.entry(name).or_insert_with(|| vec![id]);
    (known.as_slice() == [id]).then_some(state)
}

/// Returns `all` plus the names that one more operand binds.
fn collected(all: &State, one: State, outer: &Names) -> State {
    let mut named = all.named.clone();
    for (name, tensors) in one.named.into_iter().filter(|(name, _)| !outer.contains_key(name)) {
        named.entry(name).or_default().extend(tensors);
    }
    State { named, ..one }
}

impl<'g> Match<'g> {
    /// Returns the matched graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the node whose output the pattern describes.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Returns the output of the root.
    pub fn output(&self) -> &'g Tensor {
        self.graph.tensor(self.graph.node(self.root).output)
    }

    /// Returns the nodes that the pattern describes, in order of execution.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().copied()
    }

    /// Returns the nodes that disappear when the match is replaced: all except the [`shared`](Pattern::shared) ones.
    pub fn own_nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|node| *node == self.root || !self.shared.contains(node))
    }

    /// Returns whether [`nodes`](Self::nodes) contains a node.
    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    /// Returns the tensor with this name, or `None` if the match lacks the part of the pattern that binds it.
    pub fn id(&self, name: &str) -> Option<TensorId> {
        self.all(name).first().copied()
    }

    /// Returns the tensors with this name. There are several if [`reads_only`](Pattern::reads_only) matched the
    /// operands.
    pub fn all(&self, name: &str) -> &[TensorId] {
        self.named.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<&'g Tensor> {
        self.id(name).map(|id| self.graph.tensor(id))
    }

    /// Returns the type of the tensor with this name.
    pub fn ty(&self, name: &str) -> Option<&'g TensorType> {
        self.tensor(name).map(|tensor| &tensor.ty)
    }

    /// Returns the node that computes the tensor with this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let id = self.id(name)?;
        self.nodes.iter().copied().find(|&node| self.graph.node(node).output == id)
    }

    /// Returns the operation `T` that computes the tensor with this name.
    pub fn op<T: OpType>(&self, name: &str) -> Option<&'g T> {
        T::of(&self.graph.node(self.node(name)?).op)
    }

    /// Replaces the match by one node that reads `inputs` and computes the output of the root.
    ///
    /// Returns false, without a change, if the operation does not accept the inputs.
    ///
    /// # Errors
    /// [`PatchError`] if the root was replaced before.
    pub fn replace_by(
        &self,
        patch: &mut GraphPatch<'_>,
        op: impl Into<Op>,
        inputs: &[Option<TensorId>],
    ) -> Result<bool, PatchError> {
        let output = self.output();
        match patch.node(op, inputs, OutputSpec::of(output)) {
            Ok(made) => patch.replace(self.graph.node(self.root).output, made).map(|()| true),
            Err(_) => Ok(false),
        }
    }
}
