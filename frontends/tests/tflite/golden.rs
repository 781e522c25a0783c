//! Tests of real networks against the runtime: every tensor, code by code.

use std::fs::File;
use std::path::{Path, PathBuf};

use guardbit_frontends::load;
use guardbit_graph::{Graph, Tensor};
use ndarray::ArrayD;
use ndarray_npy::NpzReader;

fn digits(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits").join(file)
}

/// Returns the codes of every tensor for one sample.
fn run(graph: &Graph, sample: &[i32]) -> Vec<Vec<i32>> {
    let constant = |tensor: &Tensor| tensor.codes().map_or_else(Vec::new, |codes| codes.to_vec());
    let mut codes: Vec<_> = graph.tensors().iter().map(constant).collect();
    codes[graph.inputs()[0].index()] = sample.to_vec();
    for (id, node) in graph.nodes_with_ids() {
        let inputs: Vec<_> = node.inputs.iter().map(|i| i.map_or(&[][..], |i| &codes[i.index()])).collect();
        let output = graph.evaluate(id, &inputs);
        codes[node.output.index()] = output;
    }
    codes
}

#[test]
fn digits_equals_litert() {
    let graph = load(&digits("digits_int8.tflite")).unwrap();
    let mut golden = NpzReader::new(File::open(digits("golden/litert_ref.npz")).unwrap()).unwrap();
    let mut codes_of = |name: &str| -> ArrayD<i8> { golden.by_name(name).unwrap() };
    let samples = codes_of("inputs");
    for (index, sample) in samples.outer_iter().enumerate() {
        let sample: Vec<_> = sample.iter().map(|&code| code.into()).collect();
        let codes = run(&graph, &sample);
        for node in graph.nodes() {
            let name = &graph.tensor(node.output).name;
            let expected = codes_of(&format!("tensor/{name}"));
            let expected: Vec<i32> =
                expected.index_axis(ndarray::Axis(0), index).iter().map(|&c| c.into()).collect();
            assert!(codes[node.output.index()] == expected, "sample {index}, `{name}`");
        }
    }
}
