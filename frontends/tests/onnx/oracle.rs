//! Tests of networks against ONNX Runtime and QONNX. `scripts/oracles/make_onnx_oracle.py` builds and runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use guardbit_frontends::{Frontend, onnx::Onnx};
use guardbit_graph::{DType, Graph, NodeId, RealCodes, Tensor, TensorId};
use serde_json::Value;

/// The result of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The case ran: number of elements, and number of different ones.
    Ran {
        elements: usize,
        different: usize,
        greatest: f64,
        layers: u64,
    },
    Refused(String),
}

/// The variable that names a Python with the packages of `scripts/requirements/onnx.txt`.
pub const PYTHON: &str = "GUARDBIT_ONNX_PYTHON";

/// The variable that names a Python with the packages of `scripts/requirements/onnx-newer.txt`.
const NEWER_PYTHON: &str = "GUARDBIT_ONNX_NEWER_PYTHON";

/// Generates the cases of a family.
pub fn cases(python: &str, family: &str) -> (tempfile::TempDir, Vec<Value>) {
    let python = std::env::var(python).expect(python);
    let folder = tempfile::tempdir().unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oracles");
    let mut command = Command::new(python);
    command.arg(scripts.join("make_onnx_oracle.py")).arg(family).arg(folder.path());
    assert!(command.status().unwrap().success(), "the oracle of {family}");
    let text = std::fs::read_to_string(folder.path().join("cases.json")).unwrap();
    (folder, serde_json::from_str(&text).unwrap())
}

/// Returns the elements of an array: integers, or real numbers.
pub fn elements(array: &Value) -> Vec<f64> {
    let real = array["dtype"] == "float32";
    let value = |value: &Value| match real {
        true => f64::from(f32::from_bits(value.as_u64().unwrap() as u32)),
        false => value.as_i64().unwrap() as f64,
    };
    array["data"].as_array().unwrap().iter().map(value).collect()
}

/// Returns whether values are real numbers here. Short floating-point numbers are also compared by their codes.
fn is_real(dtype: DType, real: bool) -> bool {
    dtype == DType::Float32 || dtype.is_float() && real
}

/// Returns the codes of an input. Real values are quantized by the rule of the format.
pub fn input(tensor: &Tensor, array: &Value) -> Vec<i32> {
    let real = array["dtype"] == "float32";
    let code = |value: f64| match (tensor.ty.dtype, real) {
        (dtype, real) if is_real(dtype, real) => RealCodes::of(dtype).unwrap().code(value as f32, false),
        (dtype, true) => {
            let quantization = tensor.ty.quantization.as_ref().unwrap();
            quantization.codes_of(dtype).clamp(Onnx.quantize_input(value as f32, quantization))
        }
        (_, false) => value as i32,
    };
    elements(array).into_iter().map(code).collect()
}

/// Returns the values of an output: codes if the runtime returns codes, otherwise real values.
pub fn output(tensor: &Tensor, codes: &[i32], wanted: &Value) -> Vec<f64> {
    let real = wanted["dtype"] == "float32";
    let value = |&code: &i32| match (tensor.ty.dtype, &tensor.ty.quantization) {
        (dtype, _) if is_real(dtype, real) => f64::from(RealCodes::of(dtype).unwrap().real(code)),
        (_, Some(q)) if real => f64::from((code - q.zero_point(0)) as f32 * q.scale(0)),
        _ => f64::from(code),
    };
    codes.iter().map(value).collect()
}

pub fn run(folder: &Path, case: &Value) -> Outcome {
    let path: PathBuf = folder.join(format!("{}.onnx", case["name"].as_str().unwrap()));
    let graph = match Onnx.read(&path, "net") {
        Ok(graph) => graph,
        Err(error) => return Outcome::Refused(error.message()),
    };
    compare(&graph, case)
}

/// Returns the layers of codes with constant weights.
pub fn layers(graph: &Graph) -> Vec<NodeId> {
    let is_layer = |id: &NodeId| graph.dot_products(*id).is_some_and(|d| d.has_constant_weights());
    graph.nodes_with_ids().map(|(id, _)| id).filter(is_layer).collect()
}

/// Returns the codes of every input of a case.
fn inputs(graph: &Graph, case: &Value) -> Vec<Vec<i32>> {
    let arrays = case["inputs"].as_array().unwrap();
    graph.inputs().iter().zip(arrays).map(|(&id, array)| input(graph.tensor(id), array)).collect()
}

/// Returns the elements of every tensor for the inputs of a case.
pub fn interpreted(graph: &Graph, case: &Value) -> Vec<Vec<i32>> {
    let inputs = inputs(graph, case);
    graph.interpret(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

/// Returns the elements of every tensor, computed node by node from the codes of the runtime's quantizers, if the
/// case has them.
///
/// A code may differ from the runtime's by one, but only if the case declares that it lies near a tie.
fn by_quantizer(graph: &Graph, case: &Value) -> Vec<Vec<i32>> {
    let name = &case["name"];
    let constant = |tensor: &Tensor| tensor.codes().map_or_else(Vec::new, |codes| codes.to_vec());
    let mut tensors: Vec<Vec<i32>> = graph.tensors().iter().map(constant).collect();
    for (&id, codes) in graph.inputs().iter().zip(inputs(graph, case)) {
        tensors[id.index()] = codes;
    }
    let (mut compared, mut elements, mut off) = (0, 0, 0);
    for (id, node) in graph.nodes_with_ids() {
        let read = |id: &Option<TensorId>| id.map_or(&[][..], |id| tensors[id.index()].as_slice());
        let mut made = graph.evaluate(id, &node.inputs.iter().map(read).collect::<Vec<_>>());
        let tensor = graph.tensor(node.output);
        if let Some(quantizer) = case["codes"].get(&tensor.name).filter(|_| tensor.ty.dtype != DType::Float32)
        {
            let flat = self::elements(&quantizer["codes"]).into_iter().map(|code| code as i32);
            let near = quantizer["near"].as_array().unwrap().iter().map(|near| *near == 1);
            let theirs: Vec<(i32, bool)> = flat.zip(near).collect();
            assert_eq!(made.len(), theirs.len(), "{name}: {}", tensor.name);
            // Images have channels last here. Of both orders of the file's codes, the one with more equal codes is
            // used.
            let last = channels_last(&quantizer["codes"]["shape"], &theirs);
            let differing =
                |theirs: &[(i32, bool)]| made.iter().zip(theirs).filter(|(a, b)| **a != b.0).count();
            let theirs = last.into_iter().chain([theirs]).min_by_key(|theirs| differing(theirs)).unwrap();
            let codes: Vec<i32> = theirs.iter().map(|their| their.0).collect();
            for (index, (&ours, &(code, near))) in made.iter().zip(&theirs).enumerate() {
                let tie = near && ours.abs_diff(code) == 1;
                assert!(ours == code || tie, "{name}: {}[{index}] is {ours}, not {code}", tensor.name);
                off += usize::from(ours != code);
            }
            (compared, elements) = (compared + 1, elements + codes.len());
            made = codes;
        }
        tensors[node.output.index()] = made;
    }
    println!("{name}: {off} of {elements} codes of {compared} quantizers are on the other side of a tie");
    // Quantizers that only move codes, and those of inputs, have no tensor in the graph.
    let all = case["codes"].as_object().unwrap().len();
    assert!(compared * 3 >= all, "{name}: {compared} of {all} quantizers compared");
    tensors
}

/// Returns the elements of an image with its channels last, or `None` if the shape is not that of an image.
fn channels_last<T: Copy>(shape: &Value, elements: &[T]) -> Option<Vec<T>> {
    let sizes: Vec<usize> =
        shape.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect();
    let [images, channels, rows, columns] = sizes[..] else { return None };
    let pixels = rows * columns;
    let at = |index: usize| {
        let (image, within) = (index / (pixels * channels), index % (pixels * channels));
        elements[image * pixels * channels + within % channels * pixels + within / channels]
    };
    Some((0..images * pixels * channels).map(at).collect())
}

fn compare(graph: &Graph, case: &Value) -> Outcome {
    let layers = layers(graph).len() as u64;
    let tensors =
        if case["codes"].is_object() { by_quantizer(graph, case) } else { interpreted(graph, case) };
    let (mut count, mut different, mut greatest) = (0, 0, 0.0f64);
    for (&id, wanted) in graph.outputs().iter().zip(case["outputs"].as_array().unwrap()) {
        let made = output(graph.tensor(id), &tensors[id.index()], wanted);
        let wanted = elements(wanted);
        assert_eq!(made.len(), wanted.len(), "{}", case["name"]);
        count += made.len();
        for (made, wanted) in made.iter().zip(&wanted) {
            let differs = made != wanted && !(made.is_nan() && wanted.is_nan());
            different += usize::from(differs);
            if differs {
                // A NaN on only one side exceeds every bound.
                let distance = (made - wanted).abs();
                greatest = if distance.is_nan() { f64::INFINITY } else { greatest.max(distance) };
            }
        }
    }
    Outcome::Ran { elements: count, different, greatest, layers }
}

/// The results of all cases with one `key`: networks, elements, different elements, and the greatest difference.
#[derive(Debug, Default)]
pub struct Row {
    pub networks: usize,
    elements: usize,
    different: usize,
    greatest: f64,
    refused: Vec<String>,
    /// Cases that were rejected with the expected message.
    refusals: usize,
    /// Cases whose number of layers differs from the expected one.
    layers: Vec<String>,
    /// Maximum number of different codes, whose real values are so near a tie that float32 sums may round either way.
    ties: Option<usize>,
    /// The allowed difference from the runtime's results, for the `reason` in the cases.
    pub near: f64,
}

impl Row {
    /// Returns whether all networks ran with the expected layers, and no difference exceeds `bound`.
    pub fn is_within(&self, bound: f64) -> bool {
        let Self { elements, different, greatest, refused, layers, ties, refusals, .. } = self;
        let near = *greatest <= bound && ties.is_none_or(|ties| *different <= ties);
        near && refused.is_empty() && layers.is_empty() && (*elements > 0 || *refusals > 0)
    }
}

pub fn table(python: &str, family: &str, key: &str) -> BTreeMap<String, Row> {
    table_and_errors(python, family, key).0
}

/// Returns the rows of a family, and the exporter's error for each network that it cannot write.
pub fn table_and_errors(
    python: &str,
    family: &str,
    key: &str,
) -> (BTreeMap<String, Row>, BTreeMap<String, String>) {
    let (folder, cases) = cases(python, family);
    let unexported = std::fs::read_to_string(folder.path().join("unexported.json")).unwrap();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for case in &cases {
        let row = rows.entry(case[key].as_str().unwrap().to_owned()).or_default();
        row.networks += 1;
        if let Some(near) = case["near"].as_f64() {
            assert!(case["reason"].is_string(), "{} gives no reason", case["name"]);
            row.near = row.near.max(near);
        }
        if let Some(ties) = case["ties"].as_u64() {
            *row.ties.get_or_insert_default() += ties as usize;
        }
        match run(folder.path(), case) {
            Outcome::Ran { elements, different, greatest, layers } => {
                if case["refused"].is_string() {
                    row.refused.push(format!("{}: read, not refused", case["name"]));
                }
                if case["layers"].as_u64().is_some_and(|stated| stated != layers) {
                    row.layers.push(format!("{}: {layers} layers, not {}", case["name"], case["layers"]));
                }
                row.elements += elements;
                row.different += different;
                row.greatest = row.greatest.max(greatest);
                if different > 0 {
                    println!("{}: {different} of {elements} differ, by {greatest}", case["name"]);
                }
            }
            Outcome::Refused(message) => match case["refused"].as_str() {
                Some(stated) if message.contains(stated) => row.refusals += 1,
                _ => row.refused.push(format!("{}: {message}", case["name"])),
            },
        }
    }
    let [compared, different, ties] = rows
        .values()
        .fold([0; 3], |[a, b, c], row| [a + row.elements, b + row.different, c + row.ties.unwrap_or(0)]);
    println!("{family}: {} rows, {compared} elements, {different} differ, {ties} near ties", rows.len());
    for (of, Row { networks, elements, different, greatest, refused, layers, .. }) in &rows {
        println!(
            "{of}: {networks} networks, {elements} elements, {different} differ by {greatest} at most {refused:?} {layers:?}"
        );
    }
    (rows, serde_json::from_str(&unexported).unwrap())
}

/// Every generated network of one operator computes the results of ONNX Runtime.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn networks_of_one_operator_equal_onnx_runtime() {
    let rows = table(PYTHON, "one_op", "op");
    assert!(rows.values().map(|row| row.networks).sum::<usize>() >= 300);
    for (op, row) in rows {
        assert!(row.is_within(0.0), "{op}: {row:?}");
    }
}

/// Float networks of one operator compute the results of ONNX Runtime, except for the roundings of its float32
/// kernels, and equal codes between quantizers.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn float_operators_equal_onnx_runtime() {
    const NEAR: f64 = 2e-5;
    for (op, row) in table(PYTHON, "float_ops", "op") {
        let bound = if op.starts_with("near_") { NEAR } else { 0.0 };
        assert!(row.is_within(bound), "{op}: {row:?}");
    }
}

/// Networks from ONNX Runtime's own quantizer compute its results, from the image to the class.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn quantized_networks_equal_onnx_runtime() {
    for (of, row) in table(PYTHON, "networks", "network") {
        assert!(row.is_within(0.0), "{of}: {row:?}");
    }
}

/// A transformer block, with products of codes and float normalizations, computes the results of ONNX Runtime.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn a_transformer_block_equals_onnx_runtime() {
    for (of, row) in table(PYTHON, "transformer", "network") {
        assert!(row.is_within(0.0), "{of}: {row:?}");
    }
}

/// Networks with dynamic quantization, including those of `quantize_dynamic`, compute the results of ONNX Runtime.
///
/// This holds for the unfused and the fused form. With float kernels in between, results differ only by their
/// roundings.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn dynamic_networks_equal_onnx_runtime() {
    let rows = table(PYTHON, "dynamic", "network");
    assert!(rows.values().map(|row| row.networks).sum::<usize>() >= 500);
    for (of, row) in rows {
        let bound = if of.starts_with("near_") { 2e-5 } else { 0.0 };
        assert!(row.is_within(bound), "{of}: {row:?}");
    }
}

/// Networks of few bits compute the results of QONNX's executor.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn networks_of_few_bits_equal_qonnx() {
    for (of, row) in table(PYTHON, "qonnx", "network") {
        assert!(row.is_within(0.0), "{of}: {row:?}");
    }
}

/// Networks that Brevitas exported compute the results of QONNX's executor and ONNX Runtime.
///
/// Codes and real values are equal if scales are powers of two. Otherwise float32 sums may round a code near a tie
/// differently.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON and GUARDBIT_BREVITAS_PYTHON"]
fn exports_of_brevitas_equal_their_runtimes() {
    let rows = table(PYTHON, "brevitas", "network");
    assert!(rows.len() >= 25 && rows.contains_key("bipolar"));
    for (of, row) in rows {
        let bound = if of.starts_with("near_") { 2e-5 } else { 0.0 };
        assert!(row.is_within(bound), "{of}: {row:?}");
    }
}

/// Networks of QONNX's package, whose scales are not powers of two. Its executor sums in float32, so codes near a tie
/// differ in some cases.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn networks_of_qonnx_s_package_equal_qonnx() {
    for (of, row) in table(PYTHON, "qonnx_models", "network") {
        assert!(row.different * 500 < row.elements && row.is_within(0.02), "{of}: {row:?}");
    }
}

/// The standard's own tests of quantized operators: the tests that pass, and the messages of the others.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn node_tests_of_the_standard() {
    insta::assert_snapshot!(node_tests(PYTHON));
}

/// The tests of a newer version of the standard, which has codes of 2 bits.
#[test]
#[ignore = "needs GUARDBIT_ONNX_NEWER_PYTHON"]
fn node_tests_of_the_newer_standard() {
    insta::assert_snapshot!(node_tests(NEWER_PYTHON));
}

/// Returns the result of every node test.
fn node_tests(python: &str) -> String {
    let (folder, cases) = cases(python, "node_tests");
    let mut lines = String::new();
    for case in &cases {
        let outcome = match (&case["unfed"], run(folder.path(), case)) {
            (_, Outcome::Refused(message)) => format!("unsupported: {message}"),
            (Value::String(problem), _) => format!("unsupported: {problem}"),
            (_, Outcome::Ran { different: 0, .. }) => "pass".into(),
            (_, Outcome::Ran { elements, different, .. }) => {
                let runtime = Value::Object(
                    [("inputs", &case["inputs"]), ("outputs", &case["runtime"]), ("name", &case["name"])]
                        .map(|(key, value)| (key.to_owned(), value.clone()))
                        .into_iter()
                        .collect(),
                );
                let as_runtime = case["runtime"].is_array()
                    && matches!(run(folder.path(), &runtime), Outcome::Ran { different: 0, .. });
                match as_runtime {
                    true => format!(
                        "known-bad: the file differs in {different} of {elements}, ONNX Runtime in none"
                    ),
                    false => format!("FAIL: {different} of {elements} differ"),
                }
            }
        };
        lines += &format!("{}: {outcome}\n", case["name"].as_str().unwrap());
    }
    lines
}
