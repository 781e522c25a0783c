//! Parts of networks compute what the whole computes there.

use guardbit_graph::{CutError, Graph, TensorId};
use proptest::prelude::*;

use crate::passes::networks::{layers, network};
use crate::passes::sample;

fn interpret(graph: &Graph, inputs: &[Vec<i32>]) -> Vec<Vec<i32>> {
    graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

fn name(graph: &Graph, id: TensorId) -> String {
    graph.tensor(id).name.clone()
}

/// The front up to any tensor has its codes; the rest from there on, with these codes as input, has those of the outputs.
fn check(graph: &Graph, seed: u64) -> Result<(), TestCaseError> {
    let inputs = sample(graph, seed);
    let codes = interpret(graph, &inputs);
    let of = |name: &str| codes[graph.find_tensor(name).unwrap().index()].clone();
    for node in graph.nodes() {
        let at = name(graph, node.output);
        let front = graph.cut(&[], std::slice::from_ref(&at)).unwrap();
        let read: Vec<_> = front.inputs().iter().map(|&id| of(&name(&front, id))).collect();
        prop_assert_eq!(&interpret(&front, &read)[front.outputs()[0].index()], &of(&at));
        prop_assert!(front.nodes().len() <= graph.nodes().len() && front.outputs().len() == 1);
        for (id, _) in front.nodes_with_ids() {
            let whole = graph.find_node(front.node_name(id)).unwrap();
            prop_assert_eq!(front.short_name(id), graph.short_name(whole));
        }
        if graph.outputs().contains(&node.output) {
            continue;
        }
        let rest = match graph.cut(std::slice::from_ref(&at), &[]) {
            Err(CutError::Unused { .. }) => continue,
            rest => rest.unwrap(),
        };
        let read: Vec<_> = rest.inputs().iter().map(|&id| of(&name(&rest, id))).collect();
        let made = interpret(&rest, &read);
        for (&whole, &part) in graph.outputs().iter().zip(rest.outputs()) {
            prop_assert_eq!(&made[part.index()], &of(&name(graph, whole)));
        }
        prop_assert!(rest.nodes().iter().all(|other| name(&rest, other.output) != at));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_have_the_codes_of_the_whole(layers in layers(), seed: u64) {
        check(&network(&layers), seed)?;
    }
}

#[test]
fn parts_that_there_are_none_of() {
    let graph = network(&[(0, 1), (0, 2), (0, 3)]);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let input = name(&graph, graph.inputs()[0]);
    let output = name(&graph, graph.outputs()[0]);
    let constant = graph.tensors().iter().find(|tensor| tensor.constant.is_some()).unwrap().name.clone();
    let code =
        |from: &[&str], to: &[&str]| graph.cut(&names(from), &names(to)).map(|_| ()).unwrap_err().code();
    assert_eq!(code(&[], &["no such tensor"]), "guardbit::cut::unknown_tensor");
    assert_eq!(code(&[], &[&input]), "guardbit::cut::nothing");
    assert_eq!(code(&[&output], &[]), "guardbit::cut::nothing");
    assert_eq!(code(&[], &[&constant]), "guardbit::cut::constant");
    let first = name(&graph, graph.nodes()[0].output);
    let last = name(&graph, graph.nodes()[graph.nodes().len() - 1].output);
    assert_eq!(code(&[&last], &[&first]), "guardbit::cut::unused");
    assert_eq!(graph.cut(&[], &names(&[&output])).unwrap().nodes().len(), graph.nodes().len());
}
