//! Tests that parts of networks compute the tensors of the whole.

use guardbit_graph::{CutError, Graph, TensorId};
use proptest::prelude::*;

use crate::passes::networks::{layers, network};
use crate::passes::{sample, stream};

fn name(graph: &Graph, id: TensorId) -> String {
    graph.tensor(id).name.clone()
}

/// Number of steps of a stream. Parts of networks with states have the codes of the whole in each step.
const STEPS: u64 = 3;

/// The part up to any tensor has its codes. The rest, with these codes as input, has the codes of the outputs.
fn check(graph: &Graph, seed: u64) -> Result<(), TestCaseError> {
    let inputs: Vec<_> = (0..STEPS).map(|step| sample(graph, seed.wrapping_add(step))).collect();
    let codes = stream(graph, &inputs);
    let of = |step: &Vec<Vec<i32>>, name: &str| step[graph.find_tensor(name).unwrap().index()].clone();
    // The inputs of a part in every step, from the codes of the whole.
    let read = |part: &Graph| -> Vec<Vec<Vec<i32>>> {
        let step = |step| part.inputs().iter().map(|&id| of(step, &name(part, id))).collect();
        codes.iter().map(step).collect()
    };
    for node in graph.nodes() {
        let at = name(graph, node.output);
        let front = graph.cut(&[], std::slice::from_ref(&at)).unwrap();
        for (made, whole) in stream(&front, &read(&front)).iter().zip(&codes) {
            prop_assert_eq!(&made[front.outputs()[0].index()], &of(whole, &at));
        }
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
        for (made, step) in stream(&rest, &read(&rest)).iter().zip(&codes) {
            for (&whole, &part) in graph.outputs().iter().zip(rest.outputs()) {
                prop_assert_eq!(&made[part.index()], &of(step, &name(graph, whole)));
            }
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
