//! Every command on a network whose accelerated layer reads a constant.

use crate::common::{int8_arrays, succeed};
use ndarray::arr2;

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 3], dtype: int8, scale: 0.1}
constants:
  - {name: c, shape: [1, 4], dtype: int8, scale: 0.1, values: [1, 2, 3, 4]}
  - {name: w, shape: [3, 4], dtype: int8, scale: 0.1, values: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}
nodes:
  - {op: fully_connected, inputs: [c, w], output: {name: f, dtype: int8, scale: 0.1}}
  - {op: add, inputs: [x, f], output: {name: y, dtype: int8, scale: 0.1}}
outputs: [y]
";

#[test]
fn constant_activations_go_through_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("net.yaml"), NETWORK).unwrap();
    let samples = arr2(&[[-128i8, 0, 127], [5, -7, 100]]);
    ndarray_npy::write_npy(path("x.npy"), &samples).unwrap();
    let (model, input) = (path("net.yaml"), path("x.npy"));
    let with = |command: &str, more: &[&str]| {
        let out = path(command);
        let common = [command, &model, "--hw", "fpga-int14-os", "--input", &input, "-o", &out];
        succeed(&[&common[..], more].concat());
        dir.path().join(command)
    };
    // Values computed by LiteRT 2.3.0.
    let expected = arr2(&[[-127i8, 1, 127], [6, -6, 101]]).into_dyn();
    let tensors = with("run", &["--dump-tensors"]).join("outputs.npz");
    for (name, codes) in int8_arrays(&tensors) {
        assert_eq!(codes, expected, "{name}");
    }
    let size = with("size", &[]);
    with("sweep", &["--bits", "3..=6"]);
    let bundle = with("vectors", &["--layer", "f"]);
    succeed(&["check", &bundle.to_string_lossy()]);
    // The layer alone, on the input that attains its bound.
    let witness = std::fs::read_dir(size.join("witnesses")).unwrap().next().unwrap().unwrap().path();
    let alone = path("alone");
    let witness = witness.to_string_lossy();
    succeed(&["run", &model, "--hw", "fpga-int14-os", "--layer", "f", "--input", &witness, "-o", &alone]);
}
