//! Prepared float network divided into units: parts that become one quantized operation, and parts that stay
//! in float.

use std::collections::BTreeSet;
use std::sync::Arc;

use guardbit_graph::pattern::Match;
use guardbit_graph::{Graph, Links, NodeId, TensorId};

use crate::patterns::{Clip, Forms, Operation, PATTERNS};
use crate::prepare::{equalized, inlined, own_inputs, prepare};
use crate::{Config, QuantizeError, Which};

/// Float network divided into units, in order of execution.
pub struct Plan {
    graph: Graph,
    units: Vec<Unit>,
}

/// Part of the float network.
pub struct Unit {
    /// Name of the pattern that it matches, or of its only operation if it stays in float.
    pub(crate) pattern: &'static str,
    /// Nodes in order of execution.
    pub(crate) nodes: Vec<NodeId>,
    /// Activations that it reads.
    pub(crate) inputs: Vec<TensorId>,
    /// Output of the unit.
    pub(crate) output: TensorId,
    /// Forms of the quantized operation; `None` if it stays in float.
    pub(crate) forms: Option<Arc<dyn Forms>>,
    pub(crate) clip: Option<Clip>,
    /// Reason why it stays in float.
    pub(crate) reason: Option<String>,
}

impl Plan {
    /// Divides a float network, which is prepared first, into units.
    ///
    /// # Errors
    /// [`QuantizeError`] if it is not in float, a rule of `config` names a layer that it does not have, or
    /// nothing in it can be quantized.
    pub fn new(graph: &Graph, config: &Config) -> Result<Self, QuantizeError> {
        let mut graph = prepare(graph)?;
        if config.inline_functions {
            graph = inlined(&graph)?;
        }
        if config.equalize {
            graph = equalized(&graph)?;
        }
        let mut plan = Self { units: units(&graph), graph };
        plan.check_rules(config)?;
        if config.layer_method.is_some() {
            let graph = own_inputs(&plan.graph, &plan.decided_inputs(config))?;
            plan = Self { units: units(&graph), graph };
        }
        for index in 0..plan.units.len() {
            let (names, class) = (plan.names(index), plan.units[index].class());
            if config.setting(names, class).float && plan.units[index].forms.is_some() {
                plan.units[index].stay("the configuration requests float".into());
            }
        }
        if plan.units.iter().all(|unit| unit.forms.is_none()) {
            return Err(QuantizeError::NothingToQuantize);
        }
        Ok(plan)
    }

    /// Returns the prepared float network.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the units in order of execution.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns full and short name of a unit, which are those of its last node.
    pub(crate) fn names(&self, unit: usize) -> [&str; 2] {
        let last = self.units[unit].nodes.last().copied().unwrap_or_default();
        [self.graph.node_name(last), self.graph.short_name(last)]
    }

    /// Returns inputs of layers whose codes a layer cannot choose on its own, with the node that reads each:
    /// other operations read them too, or their producer has no choice. Only codes of 8 bits can be converted
    /// by a table.
    fn decided_inputs(&self, config: &Config) -> Vec<(NodeId, TensorId)> {
        let links = Links::new(&self.graph);
        let readers = |id: TensorId| self.units.iter().filter(|unit| unit.inputs.contains(&id)).count();
        let is_free = |id: TensorId| {
            let maker = self.units.iter().find(|unit| unit.output == id).and_then(|unit| unit.forms.as_ref());
            readers(id) == 1 && !links.is_output(id) && maker.is_none_or(|forms| forms.output().is_free())
        };
        let widest = config.rules.iter().filter_map(|rule| rule.activations).map(|codes| codes.bits);
        if widest.chain([config.setting.activations.bits]).any(|bits| bits > 8) {
            return Vec::new();
        }
        let layers =
            self.units.iter().filter(|unit| unit.forms.as_ref().is_some_and(|forms| forms.layer().is_some()));
        let decided = layers.filter_map(|unit| unit.inputs.first().map(|&input| (unit, input)));
        let node = |(unit, input): (&Unit, TensorId)| {
            let reads = |id: &&NodeId| self.graph.node(**id).inputs.contains(&Some(input));
            unit.nodes.iter().find(reads).map(|&id| (id, input))
        };
        decided.filter(|&(_, input)| !is_free(input)).filter_map(node).collect()
    }

    fn check_rules(&self, config: &Config) -> Result<(), QuantizeError> {
        for rule in &config.rules {
            let Which::Name(name) = &rule.layers else { continue };
            let known = (0..self.units.len()).any(|unit| self.names(unit).contains(&name.as_str()));
            if !known {
                return Err(QuantizeError::UnknownLayer { name: name.clone() });
            }
        }
        Ok(())
    }
}

impl Unit {
    /// Returns the class of its layer, if it is one.
    pub fn class(&self) -> Option<crate::LayerClass> {
        let forms = self.forms.as_ref()?;
        forms
            .layer()
            .map(|layer| layer.class)
            .or((self.pattern == "batch_matmul").then_some(crate::LayerClass::MatMul))
    }

    /// Returns the pattern that it matches, or the name of its only operation if it matches none.
    pub fn pattern(&self) -> &'static str {
        self.pattern
    }

    /// Returns why it stays in float, if it does.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn stay(&mut self, reason: String) {
        self.forms = None;
        self.clip = None;
        self.reason = Some(reason);
    }
}

/// Returns matches from the outputs upwards, and every other node on its own.
fn units(graph: &Graph) -> Vec<Unit> {
    let links = Links::new(graph);
    let mut taken: BTreeSet<NodeId> = BTreeSet::new();
    let mut units = Vec::new();
    for (root, node) in graph.nodes_with_ids().collect::<Vec<_>>().into_iter().rev() {
        if taken.contains(&root) {
            continue;
        }
        let free = |found: &Match<'_>| found.own_nodes().all(|node| !taken.contains(&node));
        let found = PATTERNS.iter().find_map(|pattern| {
            let found = pattern.pattern().at(graph, &links, root).filter(free)?;
            Some((pattern.name(), pattern.operation(&found)?, found.own_nodes().collect::<Vec<_>>()))
        });
        let unit = match found {
            Some((pattern, Operation { forms, inputs, clip }, nodes)) => {
                Unit { pattern, nodes, inputs, output: node.output, forms: Some(forms), clip, reason: None }
            }
            None => left(graph, root),
        };
        taken.extend(&unit.nodes);
        units.push(unit);
    }
    units.sort_by_key(|unit| unit.nodes.last().copied());
    units
}

/// Returns a unit of a node that matches no pattern.
fn left(graph: &Graph, root: NodeId) -> Unit {
    let node = graph.node(root);
    let is_activation = |id: &TensorId| graph.tensor(*id).constant.is_none();
    let op = node.op.name();
    Unit {
        pattern: op,
        nodes: vec![root],
        inputs: node.inputs.iter().flatten().copied().filter(is_activation).collect(),
        output: node.output,
        forms: None,
        clip: None,
        reason: Some(format!("no pattern matches this `{op}`")),
    }
}
