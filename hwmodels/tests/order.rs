//! Permutations from a seed, and from files by layer or number of products.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use guardbit_graph::ops::FullyConnected;
use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, MultiplierRule, OutputSpec, Quantization, Requantize, TensorType,
};
use guardbit_hwmodels::{
    Accelerator, HwError, from_complete_yaml, from_yaml, load, lower, random_permutation,
};
use guardbit_num::Scheme;

/// Expected values are those of `random_permutation` in scripts/second/arithmetic_orders.py, an implementation in
/// Python.
#[test]
fn a_seed_gives_the_same_permutation_everywhere() {
    assert_eq!(random_permutation(0, 12), [8, 10, 11, 5, 7, 0, 2, 1, 6, 3, 9, 4]);
    assert_eq!(random_permutation(7, 9), [4, 2, 7, 0, 8, 5, 1, 3, 6]);
    assert_eq!(random_permutation(2_147_483_647, 5), [0, 2, 1, 4, 3]);
    assert_eq!(random_permutation(1, 1), [0]);
}

/// Returns a graph of two fully connected layers of 5 and 3 products.
fn graph() -> Arc<Graph> {
    let quantization = Some(Quantization::per_tensor(1.0, 0).unwrap());
    let ty = |shape: &[usize]| TensorType {
        shape: shape.to_vec(),
        dtype: DType::Int8,
        quantization: quantization.clone(),
    };
    let requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
    let op = || FullyConnected { keep_num_dims: false, activation: Activation::None, requantize };
    let out =
        |name: &str| OutputSpec { name: name.into(), dtype: DType::Int8, quantization: quantization.clone() };
    let mut builder = GraphBuilder::new("two");
    let x = builder.input("x", ty(&[1, 5])).unwrap();
    let w = builder.constant("w", ty(&[3, 5]), vec![1; 15]).unwrap();
    let a = builder.node(op(), &[Some(x), Some(w)], out("a")).unwrap();
    let w = builder.constant("v", ty(&[2, 3]), vec![1; 6]).unwrap();
    let b = builder.node(op(), &[Some(a), Some(w)], out("b")).unwrap();
    Arc::new(builder.finish(vec![b]).unwrap())
}

fn orders(accelerator: &Accelerator) -> Vec<Vec<usize>> {
    lower(graph(), accelerator).unwrap().mac_layers().map(|layer| layer.order.clone()).collect()
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
}

#[test]
fn files_name_layers_or_lengths() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "orders/all.json", r#"{"a": [4, 3, 2, 1, 0], "3": [1, 0, 2], "5": [0, 1, 2, 3, 4]}"#);
    file(folder.path(), "orders/three.yaml", "- 2\n- 0\n- 1\n");
    let base = "schema: 1\nreduction_order: {walk: file, file: orders/all.json}\n";
    let hw = file(folder.path(), "hw.yaml", base);
    let accelerator = load(&hw, &[]).unwrap();
    assert_eq!(orders(&accelerator), [vec![4, 3, 2, 1, 0], vec![1, 0, 2]]);
    // The path is relative to the file that names it, even if another file extends it.
    file(folder.path(), "more/own.yaml", "schema: 1\nextends: ../hw.yaml\n");
    let own = load(folder.path().join("more/own.yaml").to_str().unwrap(), &[]).unwrap();
    assert_eq!(orders(&own), orders(&accelerator));
    // A layer of its own; a list is identified by its length.
    let layers = format!("{base}layers: {{b: {{reduction_order.file: orders/three.yaml}}}}\n");
    let layers = load(&file(folder.path(), "layers.yaml", &layers), &[]).unwrap();
    assert_eq!(orders(&layers), [vec![4, 3, 2, 1, 0], vec![2, 0, 1]]);
    // The complete file needs no other file.
    let complete = from_complete_yaml(&layers.resolved_yaml(), "complete.yaml").unwrap();
    assert_eq!((orders(&complete), &complete.datapath), (orders(&layers), &layers.datapath));
    // A different number in the file gives a different accelerator.
    file(folder.path(), "orders/all.json", r#"{"a": [4, 3, 2, 0, 1], "3": [1, 0, 2], "5": [0, 1, 2, 3, 4]}"#);
    assert_ne!(load(&hw, &[]).unwrap().resolved_json(), accelerator.resolved_json());
}

fn message(error: &HwError, folder: &Path) -> String {
    format!("{}\n{error}\n{}", error.code(), error.help()).replace(&format!("{}/", folder.display()), "")
}

#[test]
fn what_is_no_permutation() {
    let folder = tempfile::tempdir().unwrap();
    let hw = file(folder.path(), "hw.yaml", "schema: 1\nreduction_order: {walk: file, file: p.json}\n");
    let mut all = String::new();
    for text in [
        "[0, 1, 3]",
        "[0, 1, 1]",
        "[0, -1]",
        r#"{"5": [0, 1, 2]}"#,
        r#"{"a": [0], "a": [0]}"#,
        "[0, 1.5]",
        "{a: {b: 1}}",
        "\"x\"",
        "[0, 1",
    ] {
        file(folder.path(), "p.json", text);
        let error = load(&hw, &[]).unwrap_err();
        all += &format!("{text}\n{}\n\n", message(&error, folder.path()));
    }
    for (name, text) in [
        ("no file", "schema: 1\nreduction_order: {walk: file}\n"),
        ("not there", "schema: 1\nreduction_order: {walk: file, file: none.json}\n"),
        ("both", "schema: 1\nreduction_order: {walk: file, file: p.json, permutations: [0]}\n"),
        ("in the file", "schema: 1\nreduction_order: {walk: file, permutations: {a: [0, 2]}}\n"),
        ("a word", "schema: 1\nreduction_order: {walk: file, permutations: {a: [x]}}\n"),
    ] {
        let error = load(&file(folder.path(), "other.yaml", text), &[]).unwrap_err();
        all += &format!("{name}\n{}\n\n", message(&error, folder.path()));
    }
    let error = from_complete_yaml("schema: 1\nreduction_order: {walk: file, file: p.json}\n", "hw.yaml");
    all += &format!("complete\n{}\n\n", message(&error.unwrap_err(), folder.path()));
    let packed = "schema: 1\nextends: fpga-int14-os\nreduction_order: {walk: sorted}\n\
                  accumulation: [{name: dsp, terms: 7, bits: 18, overflow: wrap}, {name: acc}]\n\
                  packing: {kind: dsp48e2_int8x2}\n";
    all += &format!("packed\n{}\n", message(&from_yaml(packed, "hw.yaml", &[]).unwrap_err(), folder.path()));
    insta::assert_snapshot!(all);
}

#[test]
fn a_layer_without_a_permutation() {
    let text = "schema: 1\nreduction_order: {walk: file, permutations: {b: [0, 1, 2], a: [1, 0]}}\n";
    let accelerator = from_yaml(text, "hw.yaml", &[]).unwrap();
    let error = lower(graph(), &accelerator).unwrap_err();
    insta::assert_snapshot!(format!("{}\n{error}\n{}", error.code(), error.help()));
}
