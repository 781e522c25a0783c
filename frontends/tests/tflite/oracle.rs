//! Tests of networks of one operator, and of streams, against TensorFlow Lite's runtimes, as recorded by
//! `scripts/oracles/make_tflite_oracle.py`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use guardbit_frontends::{Profile, read_tflite_as, tflite_operators};
use guardbit_graph::{Graph, GraphError};
use serde_json::Value;

/// A network, its inputs, and the results of a runtime.
struct Case<'a> {
    name: &'a str,
    file: Vec<u8>,
    inputs: Vec<Vec<i32>>,
    outputs: Vec<Vec<i32>>,
}

impl<'a> Case<'a> {
    /// Returns a case, or `None` if the runtime rejects the file.
    fn of(value: &'a Value, runtime: &str) -> Option<Self> {
        let outputs = value[runtime].as_array()?.iter().map(codes).collect();
        let inputs = value["inputs"].as_array().unwrap().iter().map(codes).collect();
        Some(Self { name: value["name"].as_str().unwrap(), file: bytes(&value["model"]), inputs, outputs })
    }

    /// Compares the results. With `unset_padding`, elements whose code is the zero point are not compared.
    fn check(&self, profile: Profile, unset_padding: bool) -> Result<(), String> {
        let graph = read_tflite_as(&self.file, self.name, profile).map_err(|error| error.to_string())?;
        let outputs = self.run(&graph).map_err(|error| error.to_string())?;
        for ((id, found), expected) in graph.outputs().iter().zip(&outputs).zip(&self.outputs) {
            let zero_point = graph.tensor(*id).ty.quantization.as_ref().map(|q| q.zero_point(0));
            let differs = |(a, b): (&i32, &i32)| a != b && !(unset_padding && Some(*a) == zero_point);
            let differ = found.iter().zip(expected).filter(|&pair| differs(pair)).count();
            if found.len() != expected.len() || differ > 0 {
                let first = found.iter().zip(expected).position(differs);
                let shown = first.map(|at| (at, found[at], expected[at]));
                return Err(format!("{}: {differ} of {} codes differ: {shown:?}", self.name, expected.len()));
            }
        }
        Ok(())
    }

    /// Returns the outputs. Those of a stream are concatenated step by step.
    fn run(&self, graph: &Graph) -> Result<Vec<Vec<i32>>, GraphError> {
        let size = graph.tensor(graph.inputs()[0]).ty.len();
        let steps = if graph.has_states() { self.inputs[0].len() / size } else { 1 };
        let mut states = graph.initial_states();
        let mut outputs = vec![Vec::new(); graph.outputs().len()];
        for step in 0..steps {
            let of_step = |codes: &'_ Vec<i32>| codes.len() / steps * step..codes.len() / steps * (step + 1);
            let inputs: Vec<_> = self.inputs.iter().map(|codes| &codes[of_step(codes)]).collect();
            let codes = graph.interpret_step(&inputs, &mut states)?;
            for (id, output) in graph.outputs().iter().zip(&mut outputs) {
                output.extend(&codes[id.index()]);
            }
        }
        Ok(outputs)
    }
}

fn codes(list: &Value) -> Vec<i32> {
    list.as_array().unwrap().iter().map(|code| i32::try_from(code.as_i64().unwrap()).unwrap()).collect()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Operators and types whose results differ from a runtime's, and why.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("litert_ref", "sum/int8", "the kernel reads codes as if they were uint8"),
    ("litert_ref", "sum/int16", "the kernel reads codes as if they were uint8"),
];

/// Kernels that pad with uninitialized memory.
///
/// LiteRT sets the kernel's `output_offset`, but TensorFlow Lite Micro does not, so a network may give different
/// codes in each process.
const UNSET_PADDING: &[(&str, &str)] = &[("tflm", "space_to_batch_nd/int8")];

/// Compares every network that `runtime` runs, and returns their number.
fn check(cases: &[Value], runtime: &str, profile: Profile) -> usize {
    let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for case in cases.iter().filter_map(|value| Case::of(value, runtime)) {
        let kind = case.name.rsplit_once('/').unwrap().0;
        let expected = EXPECTED.iter().any(|(r, k, _)| *r == runtime && *k == kind);
        count += 1;
        match case.check(profile, UNSET_PADDING.contains(&(runtime, kind))) {
            Err(_) if expected => {}
            // Rejected with the reason, because results must not be guessed.
            Err(problem) if profile != Profile::LitertRef && refused(&problem) => count -= 1,
            Err(problem) => failures.entry(kind).or_default().push(problem),
            Ok(()) => {}
        }
    }
    let text = failures.iter().map(|(kind, all)| format!("{kind}: {} networks, {}\n", all.len(), all[0]));
    let text: String = text.collect();
    assert!(text.is_empty(), "{runtime}: {count} networks\n{text}");
    count
}

fn refused(problem: &str) -> bool {
    problem.contains("are unknown") || problem.contains("TensorFlow Lite Micro")
}

fn cases(path: &Path) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The page of operators lists all supported ones.
#[test]
fn the_page_lists_every_operator() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/tflite.md"))
            .unwrap();
    let operators = page.split("\n## ").find(|section| section.starts_with("Operators")).unwrap();
    let rows = operators.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let names = rows.flat_map(|names| names.split(", "));
    let mut listed: Vec<_> = names.filter_map(|name| name.strip_prefix('`')?.strip_suffix('`')).collect();
    listed.sort_unstable();
    assert_eq!(listed, tflite_operators());
}

/// Recorded cases, a few of each operator.
#[test]
fn recorded_networks_equal_their_runtimes() {
    let recorded = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tflite_oracle.json"));
    assert!(check(&recorded, "litert_ref", Profile::LitertRef) > 150);
    assert!(check(&recorded, "tflm", Profile::Tflm) > 80);
}

/// Recorded networks whose results differ in a runtime that rounds once, and one of each other operator.
///
/// `scripts/goldens/make_tflite_single.py` recorded them. It has to compile the runtime.
#[test]
fn recorded_networks_equal_a_runtime_that_rounds_once() {
    let recorded = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tflite_single.json"));
    assert!(check(&recorded, "tflm_single", Profile::TfliteSingle) > 100);
}

/// Recorded networks with 16-bit activations from TensorFlow's converter (`scripts/goldens/make_tensorflow_networks.py`).
#[test]
fn recorded_networks_of_tensorflow_equal_their_runtimes() {
    let recorded = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tflite_tensorflow.json"));
    assert_eq!(check(&recorded, "litert_ref", Profile::LitertRef), 2);
    assert_eq!(check(&recorded, "tflm", Profile::Tflm), 2);
}

/// Recorded streams of 50 steps (`scripts/oracles/tflite_streams.py`, `make_tflite_oracle.py --golden --only stream_`).
#[test]
fn recorded_streams_equal_their_runtimes() {
    let recorded = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tflite_streams.json"));
    assert_eq!(check(&recorded, "litert_ref", Profile::LitertRef), 15);
    assert_eq!(check(&recorded, "tflm", Profile::Tflm), 10);
}

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON"]
fn generated_networks_equal_their_runtimes() {
    let cases = generated();
    for (runtime, profile, least) in [
        ("litert_ref", Profile::LitertRef, 800),
        ("tflm", Profile::Tflm, 450),
        ("xnnpack", Profile::Xnnpack, 600),
        ("tflm_single", Profile::TfliteSingle, 0),
    ] {
        let count = check(&cases, runtime, profile);
        println!("{profile}: {count} networks equal");
        assert!(count >= least || std::env::var_os(CASES).is_some(), "{profile}: {count}");
    }
}

/// The variable that names a file of `make_tflite_oracle.py` to use instead of new networks, e.g. whole networks.
const CASES: &str = "GUARDBIT_TFLITE_CASES";

/// Returns networks that the script generates and the runtimes run now.
fn generated() -> Vec<Value> {
    if let Some(known) = std::env::var_os(CASES) {
        return cases(Path::new(&known));
    }
    let python = std::env::var("GUARDBIT_ORACLE_PYTHON").expect("GUARDBIT_ORACLE_PYTHON");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oracles/make_tflite_oracle.py");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("cases.json");
    let output = Command::new(python).arg(script).arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    cases(&out)
}
