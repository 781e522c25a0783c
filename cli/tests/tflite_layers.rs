//! Accelerated layers of every TFLite operator that has them, in both engines, against LiteRT: one recorded
//! network of each operator and type (`scripts/oracles/make_tflite_oracle.py`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::root;
use guardbit_frontends::read_tflite;
use guardbit_hwmodels::{load, lower};
use guardbit_sim::{Engine, Keep, Options, Simulation};
use serde_json::Value;

fn codes(list: &Value) -> Vec<i32> {
    list.as_array().unwrap().iter().map(|code| code.as_i64().unwrap() as i32).collect()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Checks that both runs of both engines give the runtime's codes, and returns the number of accelerated
/// layers per operation.
fn check(sets: &[&str]) -> BTreeMap<&'static str, usize> {
    let text = std::fs::read_to_string(root().join("frontends/tests/data/tflite_oracle.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut ran = BTreeMap::new();
    for case in cases.iter().filter(|case| case["litert_ref"].is_array()) {
        let name = case["name"].as_str().unwrap();
        let graph = Arc::new(read_tflite(&bytes(&case["model"]), name).unwrap());
        let sets: Vec<String> = ["accumulation.acc.bits=auto", "bias.bits=from_model"]
            .iter()
            .chain(sets)
            .map(|s| s.to_string())
            .collect();
        let program = lower(Arc::clone(&graph), &load("exact-int32-os", &sets).unwrap()).unwrap();
        let Some(layer) = program.mac_layers().next() else { continue };
        *ran.entry(graph.node(layer.node).op.name()).or_default() += 1;
        let inputs: Vec<_> = case["inputs"].as_array().unwrap().iter().map(codes).collect();
        let expected = codes(&case["litert_ref"][0]);
        for engine in [Engine::Reference, Engine::Fast] {
            let mut simulation =
                Simulation::new(&program, Options { engine, keep: Keep::Outputs, ..Options::default() });
            let sample = simulation.run_batch(std::slice::from_ref(&inputs)).unwrap().pop().unwrap();
            let output = graph.outputs()[0].index();
            for tensors in [&sample.exact, &sample.simulated] {
                assert_eq!(tensors[output].as_ref().unwrap().to_vec(), expected, "{name}, {engine:?}");
            }
        }
    }
    ran
}

#[test]
fn every_layer_equals_litert() {
    for sets in [&[][..], &["operands.zero_point=fold"], &["reduction_order.walk=reverse"]] {
        let ran = check(sets);
        let ops: Vec<_> = ran.keys().copied().collect();
        assert_eq!(
            ops,
            ["batch_matmul", "conv2d", "depthwise_conv2d", "fully_connected", "transpose_conv2d"],
            "{ran:?}"
        );
    }
}
