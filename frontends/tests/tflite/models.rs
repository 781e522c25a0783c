//! Tests of the contents of whole networks read from real files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use guardbit_frontends::load;
use guardbit_graph::{Graph, TensorId};

fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns the listing of a model outside of the project. Returns `None`, with a notice, if it is absent.
fn shared_model(name: &str) -> Option<String> {
    let path = workspace("../shared/models").join(name);
    if !path.exists() {
        println!("skipped: {} is absent", path.display());
        return None;
    }
    Some(listing(&load(&path).unwrap()))
}

/// Returns one line per operation, with the shapes of its constants and its output.
fn listing(graph: &Graph) -> String {
    let shape = |id: TensorId| format!("{:?}", graph.tensor(id).ty.shape);
    let ty = |id: TensorId| {
        let ty = &graph.tensor(id).ty;
        let zero_point = ty.quantization.as_ref().unwrap().zero_point(0);
        format!("{} {} zero point {zero_point}", ty.dtype, shape(id))
    };
    let mut text = String::new();
    for &id in graph.inputs() {
        writeln!(text, "{} = input {}", graph.tensor(id).name, ty(id)).unwrap();
    }
    for node in graph.nodes() {
        let constants = node.inputs.iter().flatten().filter(|id| graph.tensor(**id).constant.is_some());
        let constants: String = constants.map(|&id| format!(" {}", shape(id))).collect();
        writeln!(text, "{}{constants} -> {}", node.op.name(), ty(node.output)).unwrap();
    }
    for &id in graph.outputs() {
        writeln!(text, "output {}", graph.tensor(id).name).unwrap();
    }
    text
}

#[test]
fn digits() {
    let graph = load(&workspace("examples/digits/digits_int8.tflite")).unwrap();
    assert_eq!(graph.name(), "digits_int8");
    insta::assert_snapshot!(listing(&graph), @r"
    serving_default_image:0 = input int8 [1, 8, 8, 1] zero point -128
    conv2d [16, 3, 3, 1] [16] -> int8 [1, 8, 8, 16] zero point -128
    depthwise_conv2d [1, 3, 3, 16] [16] -> int8 [1, 6, 6, 16] zero point -128
    conv2d [32, 1, 1, 16] [32] -> int8 [1, 6, 6, 32] zero point -128
    avg_pool2d -> int8 [1, 3, 3, 32] zero point -128
    reshape -> int8 [1, 288] zero point -128
    fully_connected [10, 288] [10] -> int8 [1, 10] zero point 48
    output StatefulPartitionedCall_1:0
    ");
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn resnet8() {
    let Some(listing) = shared_model("resnet8_cifar10_int8.tflite") else { return };
    insta::assert_snapshot!(listing, @r"
    input_1_int8 = input int8 [1, 32, 32, 3] zero point -128
    conv2d [16, 3, 3, 3] [16] -> int8 [1, 32, 32, 16] zero point -128
    conv2d [16, 3, 3, 16] [16] -> int8 [1, 32, 32, 16] zero point -128
    conv2d [16, 3, 3, 16] [16] -> int8 [1, 32, 32, 16] zero point 4
    add -> int8 [1, 32, 32, 16] zero point -128
    conv2d [32, 3, 3, 16] [32] -> int8 [1, 16, 16, 32] zero point -128
    conv2d [32, 3, 3, 32] [32] -> int8 [1, 16, 16, 32] zero point 4
    conv2d [32, 1, 1, 16] [32] -> int8 [1, 16, 16, 32] zero point -17
    add -> int8 [1, 16, 16, 32] zero point -128
    conv2d [64, 3, 3, 32] [64] -> int8 [1, 8, 8, 64] zero point -128
    conv2d [64, 3, 3, 64] [64] -> int8 [1, 8, 8, 64] zero point -2
    conv2d [64, 1, 1, 32] [64] -> int8 [1, 8, 8, 64] zero point 38
    add -> int8 [1, 8, 8, 64] zero point -128
    avg_pool2d -> int8 [1, 1, 1, 64] zero point -128
    reshape -> int8 [1, 64] zero point -128
    fully_connected [10, 64] [10] -> int8 [1, 10] zero point 24
    softmax -> int8 [1, 10] zero point -128
    output Identity_int8
    ");
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn keyword_spotting() {
    let Some(listing) = shared_model("kws_dscnn_int8.tflite") else { return };
    insta::assert_snapshot!(listing, @r"
    input_1 = input int8 [1, 49, 10, 1] zero point 83
    conv2d [64, 10, 4, 1] [64] -> int8 [1, 25, 5, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    conv2d [64, 1, 1, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    conv2d [64, 1, 1, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    conv2d [64, 1, 1, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    conv2d [64, 1, 1, 64] [64] -> int8 [1, 25, 5, 64] zero point -128
    avg_pool2d -> int8 [1, 1, 1, 64] zero point -128
    reshape -> int8 [1, 64] zero point -128
    fully_connected [12, 64] [12] -> int8 [1, 12] zero point 14
    softmax -> int8 [1, 12] zero point -128
    output Identity
    ");
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn anomaly_detection() {
    let Some(listing) = shared_model("anomaly_autoencoder_int8.tflite") else { return };
    insta::assert_snapshot!(listing, @r"
    input_1 = input int8 [1, 640] zero point 89
    fully_connected [128, 640] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [8, 128] [8] -> int8 [1, 8] zero point -128
    fully_connected [128, 8] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [128, 128] [128] -> int8 [1, 128] zero point -128
    fully_connected [640, 128] [640] -> int8 [1, 640] zero point 96
    output Identity
    ");
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn visual_wake_words() {
    let Some(listing) = shared_model("vww_mobilenet_v1_025_int8.tflite") else { return };
    insta::assert_snapshot!(listing, @r"
    input_1_int8 = input int8 [1, 96, 96, 3] zero point -128
    conv2d [8, 3, 3, 3] [8] -> int8 [1, 48, 48, 8] zero point -128
    depthwise_conv2d [1, 3, 3, 8] [8] -> int8 [1, 48, 48, 8] zero point -128
    conv2d [16, 1, 1, 8] [16] -> int8 [1, 48, 48, 16] zero point -128
    depthwise_conv2d [1, 3, 3, 16] [16] -> int8 [1, 24, 24, 16] zero point -128
    conv2d [32, 1, 1, 16] [32] -> int8 [1, 24, 24, 32] zero point -128
    depthwise_conv2d [1, 3, 3, 32] [32] -> int8 [1, 24, 24, 32] zero point -128
    conv2d [32, 1, 1, 32] [32] -> int8 [1, 24, 24, 32] zero point -128
    depthwise_conv2d [1, 3, 3, 32] [32] -> int8 [1, 12, 12, 32] zero point -128
    conv2d [64, 1, 1, 32] [64] -> int8 [1, 12, 12, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 12, 12, 64] zero point -128
    conv2d [64, 1, 1, 64] [64] -> int8 [1, 12, 12, 64] zero point -128
    depthwise_conv2d [1, 3, 3, 64] [64] -> int8 [1, 6, 6, 64] zero point -128
    conv2d [128, 1, 1, 64] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    conv2d [128, 1, 1, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    conv2d [128, 1, 1, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    conv2d [128, 1, 1, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    conv2d [128, 1, 1, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    conv2d [128, 1, 1, 128] [128] -> int8 [1, 6, 6, 128] zero point -128
    depthwise_conv2d [1, 3, 3, 128] [128] -> int8 [1, 3, 3, 128] zero point -128
    conv2d [256, 1, 1, 128] [256] -> int8 [1, 3, 3, 256] zero point -128
    depthwise_conv2d [1, 3, 3, 256] [256] -> int8 [1, 3, 3, 256] zero point -128
    conv2d [256, 1, 1, 256] [256] -> int8 [1, 3, 3, 256] zero point -128
    avg_pool2d -> int8 [1, 1, 1, 256] zero point -128
    reshape -> int8 [1, 256] zero point -128
    fully_connected [2, 256] [2] -> int8 [1, 2] zero point -5
    softmax -> int8 [1, 2] zero point -128
    output Identity_int8
    ");
}
