//! Tests of networks that are written, run by ONNX Runtime, and read again.

use std::path::Path;
use std::process::Command;

use guardbit_frontends::{BATCH, Frontend, check_onnx, onnx::Onnx, random_codes, read_onnx, write_onnx};
use guardbit_graph::{DType, Graph, Op};
use serde_json::{Map, Value, json};

use super::built;
use super::oracle::{PYTHON, cases, elements, input, output};

type Codes = Vec<Vec<i32>>;

/// Returns the network of a case, with its input codes and its results.
fn ran(folder: &Path, case: &Value) -> Option<(Graph, Codes, Codes)> {
    let graph = Onnx.read(&folder.join(format!("{}.onnx", case["name"].as_str()?)), "net").ok()?;
    let arrays = case["inputs"].as_array()?;
    let inputs: Vec<Vec<i32>> =
        graph.inputs().iter().zip(arrays).map(|(&id, array)| input(graph.tensor(id), array)).collect();
    let tensors = graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).ok()?;
    let outputs = graph.outputs().iter().map(|id| tensors[id.index()].clone()).collect();
    Some((graph, inputs, outputs))
}

/// Returns the operations of a network and the types of their outputs, sorted because independent operations may be
/// exchanged.
fn shape_of(graph: &Graph) -> Vec<String> {
    let node = |node: &guardbit_graph::Node| format!("{:?} {:?}", node.op, graph.tensor(node.output).ty);
    let mut nodes: Vec<String> = graph.nodes().iter().map(node).collect();
    nodes.sort_unstable();
    nodes
}

/// The written network reads as an equal one and computes equal codes.
fn check_again(name: &str, graph: &Graph, bytes: &[u8], inputs: &[Vec<i32>], outputs: &[Vec<i32>]) {
    let again = read_onnx(bytes, "net").unwrap_or_else(|error| panic!("{name}: {error}"));
    // One-dimensional signals may be moved before or after they become images. Zeros between pixels are several
    // operations.
    if !name.contains("_line") && !graph.nodes().iter().any(|node| matches!(node.op, Op::Dilate(_))) {
        assert_eq!(shape_of(&again), shape_of(graph), "{name}");
    }
    assert_eq!(again.metadata(), graph.metadata(), "{name}");
    let tensors = again.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    for (id, codes) in again.outputs().iter().zip(outputs) {
        assert_eq!(&tensors[id.index()], codes, "{name}");
    }
}

#[test]
fn kept_networks_read_again_are_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden");
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let mut written = Vec::new();
    for case in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
        let (graph, inputs, outputs) = ran(&folder, &case).unwrap();
        assert_eq!(check_onnx(&graph), write_onnx(&graph).map(drop));
        if let Ok(bytes) = write_onnx(&graph) {
            check_again(case["name"].as_str().unwrap(), &graph, &bytes, &inputs, &outputs);
            written.push(case["name"].as_str().unwrap().to_owned());
        }
    }
    assert!(written.len() > 8, "{written:?}");
}

/// Returns inputs as real values, which the file quantizes again.
fn real_inputs(graph: &Graph, inputs: &[Vec<i32>]) -> Value {
    let one = |(&id, codes): (&guardbit_graph::TensorId, &Vec<i32>)| {
        let tensor = graph.tensor(id);
        let wanted = json!({"dtype": "float32"});
        let bits: Vec<u32> =
            output(tensor, codes, &wanted).iter().map(|&value| (value as f32).to_bits()).collect();
        json!({"shape": tensor.ty.shape, "data": bits})
    };
    graph.inputs().iter().zip(inputs).map(one).collect()
}

const BUILT: u64 = 60;

/// Returns a generated network with random codes and its results.
fn built(seed: u64) -> (Graph, Codes, Codes) {
    let graph = built::network(seed);
    let ty = &graph.tensor(graph.inputs()[0]).ty;
    let inputs = vec![random_codes(seed, ty.code_range(), ty.len())];
    let tensors = graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    let outputs = graph.outputs().iter().map(|id| tensors[id.index()].clone()).collect();
    (graph, inputs, outputs)
}

#[test]
fn built_networks_read_again_are_the_same() {
    for seed in 0..BUILT {
        let (graph, inputs, outputs) = built(seed);
        let bytes = write_onnx(&graph).unwrap();
        check_again(&format!("built_{seed}"), &graph, &bytes, &inputs, &outputs);
    }
}

/// Written files are complete, with the number of samples open or fixed.
///
/// ONNX's own check passes, every tensor has its shape, outputs have the graph's names, QONNX's executor runs the
/// file, and several samples at once give the results of single ones.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn written_files_are_whole() {
    let target = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden");
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let kept: Vec<Value> = serde_json::from_str(&text).unwrap();
    let kept = kept.iter().map(|case| ran(&folder, case).unwrap());
    let kept = kept.filter(|(graph, ..)| write_onnx(graph).is_ok());
    let mut names = Map::new();
    for (index, (graph, inputs, outputs)) in (0..BUILT).map(built).chain(kept).enumerate() {
        let outputs_of: Vec<&str> =
            graph.outputs().iter().map(|&id| graph.tensor(id).name.as_str()).collect();
        let outputs_of = json!(outputs_of);
        let open = [(BATCH.to_owned(), "samples".to_owned())].into();
        for (name, graph) in [("fixed", graph.clone()), ("open", graph.with_metadata(open))] {
            let name = format!("{name}_{index}");
            let bytes = write_onnx(&graph).unwrap();
            let network = read_onnx(&bytes, "net").unwrap();
            let made = network.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
            for (id, codes) in network.outputs().iter().zip(&outputs) {
                assert_eq!(&made[id.index()], codes, "{name}");
            }
            std::fs::write(target.path().join(format!("{name}.onnx")), bytes).unwrap();
            names.insert(name, outputs_of.clone());
        }
    }
    let written = names.len();
    std::fs::write(target.path().join("outputs.json"), Value::Object(names).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oracles/check_written.py");
    let python = std::env::var("GUARDBIT_ONNX_PYTHON").unwrap();
    let checked = Command::new(python).arg(script).arg(target.path()).output().unwrap();
    let text = String::from_utf8_lossy(&checked.stdout);
    let wrong: Vec<&str> = text.lines().filter(|line| !line.ends_with(": ok")).collect();
    let of_kind = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
    let counts = ["_", " fixed: ok", " open: ok"].map(of_kind);
    assert!(
        wrong.is_empty() && counts[0] == written && counts[1] > 8 && counts[2] > BUILT as usize / 2,
        "{counts:?} of {written}: {wrong:#?}\n{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn what_cannot_be_written_is_refused_by_name() {
    let line = |(name, graph): (&str, Graph)| {
        let error = write_onnx(&graph).unwrap_err();
        assert_eq!(check_onnx(&graph), Err(error.clone()));
        format!("{name}: {error}\n")
    };
    insta::assert_snapshot!(built::refused().into_iter().map(line).collect::<String>());
}

#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn written_networks_run_equal_in_onnx_runtime() {
    let (mut names, mut refused) = (Map::new(), Vec::new());
    let target = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for family in ["one_op", "networks", "transformer", "float_ops"] {
        let (folder, cases) = cases(PYTHON, family);
        for case in &cases {
            // Two families may have networks with equal names.
            let name = &format!("{family}_{}", case["name"].as_str().unwrap());
            let Some((graph, inputs, outputs)) = ran(folder.path(), case) else { continue };
            match write_onnx(&graph) {
                Err(error) => refused.push(format!("{name}: {error}")),
                Ok(bytes) => {
                    check_again(name, &graph, &bytes, &inputs, &outputs);
                    std::fs::write(target.path().join(format!("{name}.onnx")), &bytes).unwrap();
                    names.insert(name.clone(), real_inputs(&graph, &inputs));
                    expected.push((name.clone(), graph, outputs));
                }
            }
        }
    }
    for seed in 0..BUILT {
        let ((graph, inputs, outputs), name) = (built(seed), format!("built_{seed}"));
        std::fs::write(target.path().join(format!("{name}.onnx")), write_onnx(&graph).unwrap()).unwrap();
        names.insert(name.clone(), real_inputs(&graph, &inputs));
        expected.push((name, graph, outputs));
    }
    std::fs::write(target.path().join("inputs.json"), Value::Object(names).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oracles/run_onnx.py");
    let python = std::env::var("GUARDBIT_ONNX_PYTHON").unwrap();
    assert!(Command::new(python).arg(script).arg(target.path()).status().unwrap().success());
    let text = std::fs::read_to_string(target.path().join("outputs.json")).unwrap();
    let made: Value = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for (name, graph, outputs) in &expected {
        let Some(arrays) = made[name].as_array() else {
            wrong.push(format!("{name}: {}", made[name]));
            continue;
        };
        for ((&id, codes), array) in graph.outputs().iter().zip(outputs).zip(arrays) {
            let ours = output(graph.tensor(id), codes, array);
            // The runtime's float32 sums and functions may differ in the last bits.
            let near = if graph.tensor(id).ty.dtype == DType::Float32 { 2e-5 } else { 0.0 };
            let theirs = elements(array);
            let different = ours.iter().zip(theirs).filter(|(a, b)| (*a - b).abs() > near).count();
            if different > 0 {
                wrong.push(format!("{name}: {different} of {} differ", ours.len()));
            }
        }
    }
    println!("{} written, {} refused", expected.len(), refused.len());
    refused.iter().for_each(|line| println!("refused {line}"));
    // If results differ, the folder is kept for inspection.
    let kept = (!wrong.is_empty()).then(|| target.keep());
    assert!(wrong.is_empty() && expected.len() > 1200, "{kept:?}: {wrong:#?}");
}
