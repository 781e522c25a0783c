//! Tests of patches: checks, kept parts and the order of nodes.

use guardbit_graph::ops::{Relu, Reshape};
use guardbit_graph::{
    DType, Graph, GraphPatch, NodeId, OutputSpec, PatchError, Quantization, TensorId, TensorType,
};

use super::cases::{Line, text};
use crate::common::DOUBLE;

const RELU: Relu = Relu { requantize: DOUBLE };

/// Returns the network x -> a -> b -> y, all relu.
fn line() -> Graph {
    Line::new(&[1, 4], 0).then("a", RELU, &[]).then("b", RELU, &[]).then("y", RELU, &[]).finish()
}

fn tensor(graph: &Graph, name: &str) -> TensorId {
    graph.find_tensor(name).unwrap()
}

fn node(graph: &Graph, name: &str) -> NodeId {
    graph.find_node(name).unwrap()
}

fn spec(name: &str, scale: f32) -> OutputSpec {
    let quantization = Some(Quantization::per_tensor(scale, 0).unwrap());
    OutputSpec { name: name.into(), dtype: DType::Int8, quantization }
}

fn ty(shape: &[usize]) -> TensorType {
    TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization: spec("", 0.1).quantization }
}

/// Returns the error of a patch, with its code.
fn error(make: impl FnOnce(&Graph, &mut GraphPatch<'_>) -> Result<(), PatchError>) -> String {
    let graph = line();
    let mut patch = GraphPatch::new(&graph);
    let failed = make(&graph, &mut patch).and_then(|()| patch.apply().map(|_| ()));
    let error = failed.expect_err("the patch must be refused");
    assert!(!error.help().is_empty());
    format!("{}: {error}", error.code())
}

#[test]
fn a_patch_that_changes_nothing_makes_the_same_graph() {
    let graph = line();
    assert!(!GraphPatch::new(&graph).leaves_out());
    let again = GraphPatch::new(&graph).apply().unwrap();
    assert_eq!(format!("{again:?}"), format!("{graph:?}"));
}

#[test]
fn what_is_added_stands_in_the_place_of_what_it_replaces() {
    let graph = line();
    let mut patch = GraphPatch::new(&graph);
    let b = patch.node(RELU, &[Some(tensor(&graph, "x"))], spec("b", 0.1)).unwrap();
    patch.replace(tensor(&graph, "b"), b).unwrap();
    patch.remove(node(&graph, "a")).unwrap();
    patch.remove(node(&graph, "b")).unwrap();
    assert!(patch.leaves_out());
    assert_eq!(text(&patch.apply().unwrap()), ["b = relu(x)", "y = relu(b)"]);
}

/// An added node reads its given inputs, even if it replaces them for others.
#[test]
fn nodes_can_be_put_between() {
    let graph = line();
    let mut patch = GraphPatch::new(&graph);
    let between = patch.node(RELU, &[Some(tensor(&graph, "a"))], spec("between", 0.1)).unwrap();
    patch.replace(tensor(&graph, "a"), between).unwrap();
    let expected = ["a = relu(x)", "between = relu(a)", "b = relu(between)", "y = relu(b)"];
    assert_eq!(text(&patch.apply().unwrap()), expected);
}

#[test]
fn constants_take_the_place_of_tensors() {
    let graph = line();
    let mut patch = GraphPatch::new(&graph);
    let constant = patch.constant("b", ty(&[1, 4]), vec![1, 2, 3, 4]).unwrap();
    patch.replace(tensor(&graph, "b"), constant).unwrap();
    let made = patch.apply().unwrap();
    assert_eq!(text(&made), ["y = relu(b)"]);
    assert_eq!(made.inputs().len(), 1, "inputs stay");
    assert_eq!(super::outputs(&made, &[vec![0; 4]])[0].1, [1, 2, 3, 4]);
}

/// Notes of readers are kept as long as their tensor exists.
#[test]
fn notes_are_kept() {
    let mut line = Line::new(&[1, 4], 0).then("a", RELU, &[]).then("y", RELU, &[]);
    line.builder.note("a", "of a");
    line.builder.note("y", "of y");
    let graph = line.finish();
    let mut patch = GraphPatch::new(&graph);
    patch.replace(tensor(&graph, "a"), tensor(&graph, "x")).unwrap();
    let made = patch.apply().unwrap();
    assert_eq!(made.notes().iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["of y"]);
}

#[test]
fn what_makes_no_graph_is_refused() {
    let type_error = error(|graph, patch| {
        let other = patch.node(RELU, &[Some(tensor(graph, "x"))], spec("other", 0.2))?;
        patch.replace(tensor(graph, "a"), other)
    });
    assert_eq!(
        type_error,
        "guardbit::patch::type: `other` cannot replace `a`: its scales, zero points or range differ"
    );
    let shape = error(|graph, patch| {
        let other =
            patch.node(Reshape { shape: vec![4] }, &[Some(tensor(graph, "x"))], spec("other", 0.1))?;
        patch.replace(tensor(graph, "a"), other)
    });
    assert_eq!(shape, "guardbit::patch::type: `other` cannot replace `a`: its shape is [4], not [1, 4]");
    let twice = error(|graph, patch| {
        patch.replace(tensor(graph, "b"), tensor(graph, "a"))?;
        patch.replace(tensor(graph, "b"), tensor(graph, "x"))
    });
    assert_eq!(twice, "guardbit::patch::replaced_twice: `b` is replaced twice");
    let read = error(|graph, patch| patch.remove(node(graph, "a")));
    assert_eq!(read, "guardbit::patch::still_read: `a` is removed, but `b` reads it");
    let given = error(|graph, patch| patch.remove(node(graph, "y")));
    assert_eq!(given, "guardbit::patch::still_read: `y` is removed, but it is an output of the network");
    let output = error(|graph, patch| patch.replace(tensor(graph, "y"), tensor(graph, "b")));
    assert_eq!(
        output,
        "guardbit::patch::output_name: `y` is an output of the network and would be called `b`"
    );
    let cycle = error(|graph, patch| {
        patch.replace(tensor(graph, "a"), tensor(graph, "b"))?;
        patch.replace(tensor(graph, "b"), tensor(graph, "a"))
    });
    assert_eq!(cycle, "guardbit::patch::cycle: `b` would depend on itself");
    let late = error(|graph, patch| patch.replace(tensor(graph, "x"), tensor(graph, "b")));
    assert_eq!(late, "guardbit::patch::cycle: `a` would depend on itself");
    let name = error(|graph, patch| {
        let b = patch.node(RELU, &[Some(tensor(graph, "b"))], spec("a", 0.1))?;
        patch.replace(tensor(graph, "b"), b)
    });
    assert_eq!(name, "guardbit::patch::graph: tensor `a` is defined twice");
    let shape = error(|graph, patch| {
        patch.node(Reshape { shape: vec![3] }, &[Some(tensor(graph, "x"))], spec("z", 0.1)).map(|_| ())
    });
    assert_eq!(shape, "guardbit::patch::graph: reshape `z`: shape [3] does not fit the input's [1, 4]");
    let codes = error(|_, patch| patch.constant("c", ty(&[2]), vec![0, 300]).map(|_| ()));
    assert_eq!(codes, "guardbit::patch::graph: tensor `c`: code 300 at index 1 is outside int8");
    let unknown = error(|_, patch| {
        let other = Line::new(&[1, 4], 0).then("a", RELU, &[]).then("b", RELU, &[]);
        let other = other.then("c", RELU, &[]).then("d", RELU, &[]).then("e", RELU, &[]).finish();
        patch.node(RELU, &[Some(tensor(&other, "e"))], spec("z", 0.1)).map(|_| ())
    });
    assert_eq!(unknown, "guardbit::patch::unknown: tensor 5 does not exist");
}
