//! Tests of composites: equal codes as composites, as one layer, and after expansion.

use crate::passes::networks::{Random, layers, network};
use guardbit_graph::passes::Pass;
use guardbit_graph::pattern::{Expand, FusedOp, Pattern};
use guardbit_graph::{Graph, Op};
use proptest::prelude::*;

/// Fuses a convolution with its bias, requantization and activation, and two operations without dot products.
fn table() -> Vec<FusedOp> {
    let operands = || Pattern::any().or_absent();
    let conv = Pattern::op_named(["conv2d", "depthwise_conv2d"])
        .reads([Pattern::any(), Pattern::constant(), operands()])
        .then_maybe(|conv| Pattern::op_named(["relu", "relu6"]).reads([conv]));
    let padded = Pattern::op_named(["pad"]).then_maybe(|pad| Pattern::op_named(["max_pool2d"]).reads([pad]));
    let moved = Pattern::op_named(["reshape", "transpose"])
        .then_maybe(|moved| Pattern::op_named(["reshape", "transpose", "quantize"]).reads([moved]));
    vec![FusedOp::new("npu.conv2d", conv), FusedOp::new("npu.pool", padded), FusedOp::new("npu.move", moved)]
}

fn fused(graph: &Graph) -> Graph {
    table().iter().fold(graph.clone(), |graph, op| op.run(&graph).unwrap().unwrap_or(graph))
}

fn composites(graph: &Graph) -> Vec<guardbit_graph::ops::Composite> {
    let composite = |node: &'_ guardbit_graph::Node| match &node.op {
        Op::Composite(composite) => Some(composite.clone()),
        _ => None,
    };
    graph.nodes().iter().filter_map(composite).collect()
}

/// Returns names and codes of the outputs.
fn outputs(graph: &Graph, seed: u64) -> Vec<(String, Vec<i32>)> {
    let mut random = Random(seed);
    let inputs: Vec<Vec<i32>> = graph
        .inputs()
        .iter()
        .map(|&id| random.codes(graph.tensor(id).ty.code_range(), graph.tensor(id).ty.len()))
        .collect();
    let codes = graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    graph.outputs().iter().map(|id| (graph.tensor(*id).name.clone(), codes[id.index()].clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn composites_make_the_codes_of_what_they_are_made_of(layers in layers(), seed: u64) {
        let graph = network(&layers);
        let fused = fused(&graph);
        prop_assert_eq!(outputs(&fused, seed), outputs(&graph, seed));
        // The dot products of a composite give its codes, too.
        for (id, node) in fused.nodes_with_ids() {
            let Op::Composite(composite) = &node.op else { continue };
            let is_conv = composite.name() == "npu.conv2d";
            // Codes with a step are computed by the host.
            let in_steps = fused.tensor(node.output).ty.code_range().step() != 1;
            let made = composite.body().nodes().len() > 1 || fused.dot_products(id).is_some();
            prop_assert!(!is_conv || in_steps || made);
        }
        let back = Expand.run(&fused).unwrap().unwrap_or_else(|| fused.clone());
        prop_assert_eq!(composites(&back).len(), 0);
        prop_assert_eq!(outputs(&back, seed), outputs(&graph, seed));
        // After expansion, only unused nodes are missing.
        let elementary = guardbit_graph::passes::DeadNodes.run(&graph).unwrap().unwrap_or_else(|| graph.clone());
        if fused != graph {
            prop_assert_eq!(back.nodes().len(), elementary.nodes().len());
        }
    }
}

/// The networks above contain something to fuse.
#[test]
fn networks_have_composites() {
    let mut random = Random(3);
    let mut layer =
        || (random.below(crate::passes::networks::KINDS.into()) as u8, random.below(usize::MAX) as u64);
    let graphs: Vec<Graph> =
        (0..200).map(|_| network(&(0..8).map(|_| layer()).collect::<Vec<_>>())).collect();
    let all: Vec<Graph> = graphs.iter().map(fused).collect();
    let several = |graph: &&Graph| composites(graph).iter().any(|c| c.body().nodes().len() > 1);
    let layers = |graph: &&Graph| composites(graph).iter().any(|c| c.single() == Some("conv2d"));
    let found = [all.iter().filter(several).count(), all.iter().filter(layers).count()];
    assert!(found.iter().all(|&count| count >= 20), "{found:?} of {}", all.len());
}
