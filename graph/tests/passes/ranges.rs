//! Tests of code ranges: the result for a narrower range is the result for the whole dtype, clamped.

use guardbit_graph::{CodeRange, Graph, GraphBuilder, OutputSpec, TensorId};
use proptest::prelude::*;

use super::networks::{layers, network};
use super::sample;

/// Checks that the codes of every tensor lie in the range of its type, and compares them with the clamped results.
fn check(graph: &Graph, seed: u64) -> Result<(), TestCaseError> {
    let inputs = sample(graph, seed);
    let codes = graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    for (tensor, codes) in graph.tensors().iter().zip(&codes) {
        let range = tensor.ty.code_range();
        prop_assert!(codes.iter().all(|&code| range.contains(code)), "{} {range}", tensor.name);
    }
    for (id, node) in graph.nodes_with_ids() {
        let range = graph.tensor(node.output).ty.code_range();
        let Some(alone) = without_range(graph, node) else { continue };
        let read: Vec<&[i32]> = node.inputs.iter().flatten().map(|id| codes[id.index()].as_slice()).collect();
        let (wide, _) = alone.nodes_with_ids().next().unwrap();
        let clamped: Vec<i32> =
            alone.evaluate(wide, &read).into_iter().map(|code| range.clamp(code.into())).collect();
        prop_assert_eq!(&codes[node.output.index()], &clamped, "{:?} {:?}", id, node);
    }
    Ok(())
}

/// Returns the network of one node whose output may be any code of its dtype, or `None` if the node only passes on
/// codes.
fn without_range(graph: &Graph, node: &guardbit_graph::Node) -> Option<Graph> {
    let mut builder = GraphBuilder::new("alone");
    let mut inputs: Vec<Option<TensorId>> = Vec::new();
    for (index, &id) in node.inputs.iter().flatten().enumerate() {
        let tensor = graph.tensor(id);
        let name = format!("{index}");
        inputs.push(Some(match tensor.codes() {
            Some(codes) => builder.constant(name, tensor.ty.clone(), codes.to_vec()).unwrap(),
            None => builder.input(name, tensor.ty.clone()).unwrap(),
        }));
    }
    let mut output = OutputSpec::of(graph.tensor(node.output));
    let all = CodeRange::of(output.dtype);
    output.quantization = output.quantization.map(|quantization| quantization.with_range(all));
    let made = builder.node(node.op.clone(), &inputs, output).ok()?;
    builder.finish(vec![made]).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn outputs_are_clamped_to_their_range(layers in layers(), seed: u64) {
        check(&network(&layers), seed)?;
    }
}
