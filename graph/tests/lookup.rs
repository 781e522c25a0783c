//! Tests of lookup by full name, short name and index.

use std::collections::BTreeSet;

use guardbit_graph::ops::Relu;
use guardbit_graph::{
    DType, Graph, GraphBuilder, LookupError, MultiplierRule, OutputSpec, Quantization, Requantize,
    TensorType, plain_name,
};
use guardbit_num::Scheme;
use proptest::prelude::*;

/// Returns a chain of nodes with these names.
fn chain<S: AsRef<str>>(names: &[S]) -> Graph {
    let mut builder = GraphBuilder::new("chain");
    let (dtype, quantization) = (DType::Int8, Some(Quantization::per_tensor(1.0, 0).unwrap()));
    let ty = TensorType { shape: vec![1, 1], dtype, quantization: quantization.clone() };
    let mut last = builder.input("the input", ty).unwrap();
    for name in names {
        let op = Relu { requantize: Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 } };
        let spec = OutputSpec { name: name.as_ref().into(), dtype, quantization: quantization.clone() };
        last = builder.node(op, &[Some(last)], spec).unwrap();
    }
    builder.finish(vec![last]).unwrap()
}

fn found(graph: &Graph, name: &str) -> Option<usize> {
    graph.find_node(name).ok().map(|node| node.index())
}

#[test]
fn a_node_has_three_names() {
    let graph = chain(&["model/conv2d/BiasAdd;model/x", "conv.1", "2"]);
    for name in ["model/conv2d/BiasAdd;model/x", "conv2d", "0"] {
        assert_eq!(found(&graph, name), Some(0), "{name}");
    }
    assert_eq!(
        (found(&graph, "conv.1"), found(&graph, "conv_1"), found(&graph, "1")),
        (Some(1), Some(1), Some(1))
    );
    assert_eq!(found(&graph, "2"), Some(2), "its name and its index");
    for name in ["", "conv", "3", "+1", "-1", "the input"] {
        assert_eq!(graph.find_node(name), Err(LookupError::Unknown), "{name}");
    }
}

#[test]
fn a_number_that_means_two_nodes_is_ambiguous() {
    let graph = chain(&["1", "a", "0"]);
    let ids: Vec<_> = graph.nodes_with_ids().map(|(id, _)| id).collect();
    assert_eq!(graph.find_node("1"), Err(LookupError::Ambiguous { by_name: ids[0], by_index: ids[1] }));
    assert_eq!(graph.find_node("2"), Ok(ids[2]));
    assert_eq!(graph.find_node(graph.short_name(ids[0])), Ok(ids[0]));
}

#[test]
fn wrong_names_have_near_ones() {
    let names: Vec<_> =
        (0..80).map(|i| format!("net/block_{i}/conv2d/BiasAdd")).chain(["head".into()]).collect();
    let graph = chain(&names);
    let near = |name: &str| -> Vec<&str> {
        graph.near_nodes(name, |_| true).into_iter().map(|id| graph.short_name(id)).collect()
    };
    assert_eq!(near("block_7-conv2")[0], "block_7_conv2d");
    assert!(near("block_7_conv").len() <= 5);
    assert_eq!(near("hed"), ["head"]);
    assert_eq!(near("net/block_31/conv2d/BiasAd")[0], "block_31_conv2d");
    assert!(near("something else entirely").is_empty());
    assert!(near(&"x".repeat(100_000)).is_empty());
    assert!(graph.near_nodes("hed", |id| id.index() == 0).is_empty());
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(model/)?(conv2d|dense|block_[0-9])(_[0-9])?(/Relu|/batch_norm/FusedBatchNormV3)?",
        1 => "[0-9]{1,2}",
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn every_name_resolves_to_its_node(names in prop::collection::btree_set(name(), 1..30)) {
        let names: BTreeSet<String> = names.iter().map(|name| plain_name(name).into()).collect();
        let names: Vec<_> = names.into_iter().filter(|name| !["", "the input"].contains(&&name[..])).collect();
        prop_assume!(!names.is_empty());
        let (graph, again) = (chain(&names), chain(&names));
        for (id, _) in graph.nodes_with_ids() {
            let short = graph.short_name(id);
            prop_assert_eq!(short, again.short_name(id), "stable");
            prop_assert!(short.parse::<f64>().is_err(), "{} is a number", short);
            prop_assert_eq!(graph.find_node(short), Ok(id));
            for name in [graph.node_name(id), &id.index().to_string()] {
                match graph.find_node(name) {
                    Ok(found) => prop_assert_eq!(found, id),
                    Err(LookupError::Ambiguous { by_name, by_index }) => {
                        prop_assert!(by_name == id || by_index == id);
                        prop_assert_ne!(by_name, by_index);
                    }
                    Err(LookupError::Unknown) => prop_assert!(false, "{} is unknown", name),
                }
            }
        }
    }
}
