//! Networks that `scripts/make_onnx_goldens.py` has built, run by ONNX Runtime and QONNX, and kept.

use std::path::Path;

use serde_json::Value;

use crate::oracle::{Outcome, run};

#[test]
fn kept_networks_compute_what_their_runtime_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden");
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 20);
    for case in &cases {
        let outcome = run(&folder, case);
        assert!(matches!(outcome, Outcome::Ran { different: 0, elements: 1.., .. }), "{}: {outcome:?}", case["name"]);
    }
}
