//! Tests that passes keep every code of every output.

mod cases;
mod conventions;
pub(crate) mod networks;
mod patches;
mod ranges;

use self::networks::{KINDS, Random, layers, network};
use guardbit_graph::passes::{PASSES, Pass};
use guardbit_graph::{Graph, Links};
use proptest::prelude::*;

/// Returns names and codes of the outputs for these inputs. A network with states runs three steps.
pub fn outputs(graph: &Graph, inputs: &[Vec<i32>]) -> Vec<(String, Vec<i32>)> {
    let steps = vec![inputs.to_vec(); if graph.has_states() { 3 } else { 1 }];
    let of = |codes: &Vec<Vec<i32>>| {
        let of = |id: &guardbit_graph::TensorId| (graph.tensor(*id).name.clone(), codes[id.index()].clone());
        graph.outputs().iter().map(of).collect::<Vec<_>>()
    };
    stream(graph, &steps).iter().flat_map(of).collect()
}

/// Returns the codes of every tensor in every step of a stream.
pub fn stream(graph: &Graph, steps: &[Vec<Vec<i32>>]) -> Vec<Vec<Vec<i32>>> {
    let mut states = graph.initial_states();
    let mut step = |inputs: &Vec<Vec<i32>>| {
        let inputs: Vec<&[i32]> = inputs.iter().map(Vec::as_slice).collect();
        graph.interpret_step(&inputs, &mut states).unwrap()
    };
    steps.iter().map(&mut step).collect()
}

/// Returns random codes for every input.
pub fn sample(graph: &Graph, seed: u64) -> Vec<Vec<i32>> {
    let mut random = Random(seed);
    let inputs = graph.inputs().iter().map(|&id| &graph.tensor(id).ty);
    inputs.map(|ty| random.codes(ty.code_range(), ty.len())).collect()
}

/// Checks that the producer of every tensor is found.
fn check_producers(graph: &Graph) {
    let links = Links::new(graph);
    for tensor in graph.tensors().iter().filter_map(|tensor| graph.find_tensor(&tensor.name)) {
        assert_eq!(graph.producer(tensor), links.producer(tensor), "{}", graph.tensor(tensor).name);
    }
}

/// Runs a pass and compares the outputs. Returns whether the pass changed something.
fn check(pass: &dyn Pass, graph: &Graph) -> bool {
    let Some(changed) = pass.run(graph).unwrap() else { return false };
    for seed in 0..3 {
        let inputs = sample(graph, seed);
        assert_eq!(outputs(&changed, &inputs), outputs(graph, &inputs), "{}: {graph:#?}", pass.name());
    }
    check_producers(&changed);
    let links = Links::new(&changed);
    for tensor in changed.tensors().iter().filter_map(|tensor| changed.find_tensor(&tensor.name)) {
        let kept = links.is_output(tensor) || !links.readers(tensor).is_empty();
        assert!(kept || changed.inputs().contains(&tensor), "{} is left over", changed.tensor(tensor).name);
    }
    assert!(pass.patch(&changed).unwrap().is_none(), "{} is not done", pass.name());
    let again = pass.run(graph).unwrap().unwrap();
    assert_eq!(format!("{again:?}"), format!("{changed:?}"), "{} is not the same again", pass.name());
    true
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_pass_keeps_every_output(layers in layers()) {
        let graph = network(&layers);
        for pass in PASSES {
            check(*pass, &graph);
        }
    }

    #[test]
    fn passes_one_after_another_keep_every_output(layers in layers()) {
        let graph = network(&layers);
        let mut changed = graph.clone();
        for pass in PASSES.iter().chain(PASSES) {
            changed = pass.run(&changed).unwrap().unwrap_or(changed);
        }
        let inputs = sample(&graph, 1);
        prop_assert_eq!(outputs(&changed, &inputs), outputs(&graph, &inputs));
        check_producers(&changed.in_order_of_files());
        graph.nodes_with_ids().for_each(|(node, _)| check_producers(&graph.single_node(node)));
    }
}

/// The networks above contain something to change for every pass.
#[test]
fn every_pass_finds_something_to_do() {
    let mut random = Random(7);
    let mut layer = || (random.below(KINDS.into()) as u8, random.below(usize::MAX) as u64);
    let graphs: Vec<Graph> =
        (0..300).map(|_| network(&(0..8).map(|_| layer()).collect::<Vec<_>>())).collect();
    for pass in PASSES {
        let found = graphs.iter().filter(|graph| check(*pass, graph)).count();
        println!("{}: {found} of {}", pass.name(), graphs.len());
        assert!(found >= 15, "{}: {found} of {}", pass.name(), graphs.len());
    }
}
