//! A layer of bipolar codes: widths, samples and stimuli of only -1 and 1.

use std::fs;

use guardbit_rtl_vectors::manifest::Manifest;

use crate::common::{csv_rows, int8_arrays, succeed};

const NETWORK: &str = "\
schema: 1
inputs: [{name: x, shape: [1, 784], dtype: int4, scale: 1.0, range: [-1, 1], step: 2}]
constants: [{name: w, shape: [3, 784], dtype: int4, scale: 1.0, range: [-1, 1], step: 2, random: {seed: 1}}]
nodes: [{op: fully_connected, inputs: [x, w], output: {name: y, dtype: int8, scale: 8.0}}]
outputs: [y]
";

#[test]
fn widths_samples_and_stimuli_hold_no_other_codes() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (model, sized, ran, bundle) = (path("net.yaml"), path("sized"), path("ran"), path("bundle"));
    fs::write(&model, NETWORK).unwrap();
    // A sum of 784 products of -1 or 1 is within 784 of 0.
    succeed(&["size", &model, "--hw", "exact-int32-os", "--random", "2", "-o", &sized]);
    let rows = csv_rows(&dir.path().join("sized/size.csv"));
    assert_eq!([&rows[0]["bits_type"], &rows[0]["bits_weights"], &rows[0]["bits_range"]], ["11", "11", "11"]);

    succeed(&["run", &model, "--hw", "exact-int32-os", "--random", "4", "-o", &ran]);
    let inputs = int8_arrays(&dir.path().join("ran/inputs.npz"));
    assert!(inputs[0].1.iter().all(|code| code.abs() == 1) && inputs[0].1.iter().any(|&code| code == 1));

    let layer = ["--layer", "y", "--cases", "4", "--random", "1"];
    let hw = ["--hw", "exact-int32-os", "--set", "accumulation.acc.bits=8"];
    succeed(&[&["vectors", &model][..], &hw, &layer, &["-o", &bundle]].concat());
    succeed(&["check", &bundle, "--simulator", "none"]);
    let text = fs::read_to_string(dir.path().join("bundle/manifest.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    let arithmetic = &manifest.arithmetic;
    for operand in [&arithmetic.activation, &arithmetic.weight] {
        assert_eq!((operand.bits, operand.min, operand.max, operand.step), (2, -1, 1, 2));
    }
    let missed: Vec<_> =
        manifest.coverage.bins.iter().filter(|bin| bin.cases == 0 && bin.unreachable.is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
