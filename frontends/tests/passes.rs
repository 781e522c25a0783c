//! Tests of passes on real networks.

use std::path::{Path, PathBuf};

use guardbit_frontends::{load, random_codes};
use guardbit_graph::ops::{Conv2d, DepthwiseConv2d, Pad};
use guardbit_graph::passes::{PASSES, find};
use guardbit_graph::{Graph, GraphPatch, NodeId, Op, OutputSpec, Padding};

fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns names and codes of the outputs for random inputs.
fn outputs(graph: &Graph, seed: u64) -> Vec<(String, Vec<i32>)> {
    let inputs: Vec<Vec<i32>> = (seed..)
        .zip(graph.inputs())
        .map(|(seed, &id)| {
            let ty = &graph.tensor(id).ty;
            random_codes(seed, ty.code_range(), ty.len())
        })
        .collect();
    let codes = graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    graph.outputs().iter().map(|&id| (graph.tensor(id).name.clone(), codes[id.index()].clone())).collect()
}

/// Returns the network with a `pad` before every padded convolution, and their number.
fn with_pads(graph: &Graph) -> (Graph, usize) {
    let mut patch = GraphPatch::new(graph);
    let mut pads = 0;
    for (id, node) in graph.nodes_with_ids() {
        let Some((paddings, op)) = apart(graph, id) else { continue };
        let input = node.inputs[0].unwrap();
        let spec = OutputSpec::of(patch.tensor(input).unwrap());
        let padded = OutputSpec { name: format!("pad {pads}"), ..spec };
        let padded = patch.node(Pad { paddings, value: None }, &[Some(input)], padded).unwrap();
        let inputs: Vec<_> = [Some(padded)].into_iter().chain(node.inputs[1..].iter().copied()).collect();
        let conv = patch.node(op, &inputs, OutputSpec::of(graph.tensor(node.output))).unwrap();
        patch.replace(node.output, conv).unwrap();
        patch.remove(id).unwrap();
        pads += 1;
    }
    (patch.apply().unwrap(), pads)
}

/// Returns the padding of a convolution, and the convolution without it.
fn apart(graph: &Graph, id: NodeId) -> Option<(Vec<[usize; 2]>, Op)> {
    let op = match &graph.node(id).op {
        Op::Conv2d(conv) => Conv2d { padding: Padding::Valid, ..conv.clone() }.into(),
        Op::DepthwiseConv2d(conv) => DepthwiseConv2d { padding: Padding::Valid, ..conv.clone() }.into(),
        _ => return None,
    };
    let window = graph.window(id)?;
    let sides = |axis: usize| {
        let reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
        let covered = (window.output[axis] - 1) * window.stride[axis] + reach;
        [window.pad[axis], covered.saturating_sub(window.input[axis] + window.pad[axis])]
    };
    let paddings = vec![[0, 0], sides(0), sides(1), [0, 0]];
    (paddings.iter().any(|sides| *sides != [0, 0])).then_some((paddings, op))
}

/// Runs every pass on the network and on one with separate pads.
///
/// `merged` is whether there is a reshape before a fully connected layer.
fn check(path: &str, merged: bool, pads: usize) {
    // Ignored tests may be run without the shared models.
    if path.starts_with("../shared") && !cfg!(shared_models) {
        return;
    }
    let graph = load(&workspace(path)).unwrap();
    let (padded, found) = with_pads(&graph);
    assert_eq!(found, pads);
    let expected: Vec<_> = (0..2).map(|seed| outputs(&graph, seed)).collect();
    for graph in [&graph, &padded] {
        for pass in PASSES {
            let Some(changed) = pass.run(graph).unwrap() else { continue };
            for (seed, expected) in (0..).zip(&expected) {
                assert_eq!(outputs(&changed, seed), *expected, "{}", pass.name());
            }
        }
    }
    let nodes = |name: &str, graph: &Graph| {
        find(name).unwrap().run(graph).unwrap().map(|changed| changed.nodes().len())
    };
    let all = graph.nodes().len();
    assert_eq!(nodes("merge_layouts", &graph), merged.then_some(all - 1));
    assert_eq!(padded.nodes().len(), all + pads);
    assert_eq!(nodes("fold_pads", &padded), (pads > 0).then_some(all));
}

#[test]
fn digits() {
    check("examples/digits/digits_int8.tflite", true, 1);
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8() {
    check("../shared/models/resnet8_cifar10_int8.tflite", true, 7);
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn wake_words() {
    check("../shared/models/vww_mobilenet_v1_025_int8.tflite", true, 14);
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn keywords() {
    check("../shared/models/kws_dscnn_int8.tflite", true, 5);
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn autoencoder() {
    check("../shared/models/anomaly_autoencoder_int8.tflite", false, 0);
}
