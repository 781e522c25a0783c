//! Tests of lengths for axes that ONNX files leave open.

use std::path::PathBuf;

use guardbit_frontends::{Cut, Dim, Dims, load_part};
use guardbit_graph::Graph;

use crate::onnx::writer::{Attribute, Model, Node, Tensor, element};

/// Returns the network x -> `[1, sizes, 6]` -> two heads -> times itself, transposed.
///
/// Sizes of reshapes are computed as torch.onnx does it. A length of -1 is an open axis.
fn products(sizes: [i64; 3]) -> Vec<u8> {
    let node = |op: &str, inputs: &[&str], output: &str| Node::new(op, inputs, &[output]);
    let with =
        |node: Node, name: &str, value: Attribute| Node { attributes: vec![(name.into(), value)], ..node };
    let permuted = |input: &str, output: &str, axes: &[i64]| {
        with(node("Transpose", &[input], output), "perm", Attribute::Ints(axes.to_vec()))
    };
    let nodes = vec![
        node("Shape", &["x"], "shape"),
        node("Gather", &["shape", "first"], "tokens"),
        with(node("Concat", &["one", "tokens", "rest"], "sizes"), "axis", Attribute::Int(0)),
        node("Reshape", &["x", "sizes"], "heads"),
        permuted("heads", "q", &[0, 2, 1, 3]),
        permuted("heads", "k", &[0, 2, 3, 1]),
        node("MatMul", &["q", "k"], "y"),
    ];
    let constants = vec![
        Tensor::integers("first", &[1]),
        Tensor::integers("one", &[1]),
        Tensor::integers("rest", &[2, 3]),
    ];
    let inputs = vec![("x".to_owned(), element::FLOAT, sizes.to_vec())];
    Model { opset: 13, nodes, constants, inputs, outputs: vec!["y".into()] }.to_bytes()
}

fn read(path: PathBuf, dims: &[&str]) -> Result<Graph, String> {
    let dims: Dims = dims.iter().map(|dim| dim.parse::<Dim>().unwrap()).collect();
    load_part(&path, None, &Cut { dims, ..Cut::default() })
        .map_err(|error| format!("{}: {} ({})", error.code(), error.message(), error.help()))
}

fn read_bytes(bytes: &[u8], dims: &[&str]) -> Result<Graph, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, bytes).unwrap();
    read(path, dims)
}

/// An open axis with a length is equivalent to an axis of that length in the file.
#[test]
fn an_axis_with_a_length_is_that_of_a_file_that_fixes_it() {
    for length in 1..=64 {
        let open = read_bytes(&products([1, -1, 6]), &[&format!("x:1={length}")]).unwrap();
        let fixed = read_bytes(&products([1, length, 6]), &[]).unwrap();
        let size = length as usize;
        assert_eq!(open.tensor(open.outputs()[0]).ty.shape, [1, 2, size, size]);
        assert_eq!(format!("{open:?}"), format!("{fixed:?}"));
    }
}

#[test]
fn axes_have_the_names_of_the_file() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/attention/transformer_uint8.onnx");
    for dims in [&["tokens=24"][..], &["tokens:1=24"], &["tokens=24", "tokens:1=24"]] {
        let graph = read(path.clone(), dims).unwrap();
        assert_eq!(graph.tensor(graph.outputs()[0]).ty.shape, [1, 24, 32]);
    }
    let check = |dims: &[&str], expected: &str| {
        let error = read(path.clone(), dims).map(|_| ()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(
        &[],
        "guardbit::onnx::tensor: tensor `tokens`: has no fixed size along axis 1; give it a length, e.g. with --dim tokens=128",
    );
    check(
        &["token=8"],
        "guardbit::onnx::dim: the file has no open axis `token` (the open axes of the file are `tokens` (`tokens:1`))",
    );
    check(&["tokens:2=8"], "axis `tokens:2` has length 32 in the file");
    check(&["tokens=8", "tokens:1=9"], "axis 1 of input `tokens` gets two lengths");
    check(&["tokens=1000000000000"], "expected at most");
    let digits = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/digits_int8.tflite");
    assert!(
        read(digits, &["x=1"]).unwrap_err().starts_with("guardbit::model::fixed_axes: TensorFlow Lite files")
    );
    let yaml = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.yaml");
    assert!(read(yaml, &["x=1"]).unwrap_err().starts_with("guardbit::model::fixed_axes: graph YAML files"));
}

/// An open first axis counts samples, unless other axes have its name.
#[test]
fn a_length_is_no_number_of_samples() {
    let model = |sizes: [i64; 2]| {
        let nodes = vec![Node::new("Relu", &["x"], &["y"])];
        let inputs = vec![("x".to_owned(), element::FLOAT, sizes.to_vec())];
        Model { opset: 13, nodes, constants: Vec::new(), inputs, outputs: vec!["y".into()] }.to_bytes()
    };
    for (sizes, dims, shape) in
        [([-2, 3], &[][..], [1, 3]), ([-1, -2], &["n=4"], [1, 4]), ([-2, -2], &["n=4"], [4, 4])]
    {
        let graph = read_bytes(&model(sizes), dims).unwrap();
        assert_eq!(graph.tensor(graph.outputs()[0]).ty.shape, shape, "{sizes:?}");
    }
    let error = read_bytes(&model([-2, -2]), &[]).map(|_| ()).unwrap_err();
    assert!(
        error.contains("`n` is the name of other axes, too; give it a length, e.g. with --dim n=128"),
        "{error}"
    );
}
