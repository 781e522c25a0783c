//! Time and memory of every reader against the size of what it reads.
//!
//! The table [`ROWS`] has one row per reader and kind of file. A row has a name, the file's extension, a
//! generator of a file of a given size, the reader, and the result. The result is `None` if the file is
//! accepted, otherwise the code of the error (or a part of its text for readers without codes). Each row is
//! read at two sizes, the second eight times the first, several times, each in a separate process. Time must
//! grow by less than [`TIMES`], and peak memory by less than [`MEMORY`] bytes per additional byte of the
//! file.
//!
//! Another reader needs only its row, a generator, and a function from a path to a result.

#[path = "../../frontends/tests/tflite/writer.rs"]
#[allow(dead_code)]
mod writer;

#[path = "../../frontends/tests/onnx/writer.rs"]
#[allow(dead_code)]
mod onnx;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use guardbit_study::{Existing, InputSource, Pick, RunRequest, Settings, Silent, run};
use writer::{Model, Operator, Tensor};

/// Bytes of the smaller file.
const SIZE: usize = 100_000;
/// Ratio of the larger to the smaller file.
const FACTOR: usize = 8;
/// Maximum growth of time that counts as proportional: with [`FACTOR`] 8, quadratic time gives 64.
const TIMES: f64 = 16.0;
/// Times below this are noise.
const NOISE: f64 = 5e-3;
/// Maximum bytes of memory per byte of the file. A list of small numbers in text becomes events and 64-bit
/// integers, and is read twice to locate an error.
const MEMORY: f64 = 400.0;
/// Memory beyond which growth counts.
const SLACK: u64 = 24 << 20;
/// Maximum bytes of an error's text.
const MESSAGE: usize = 4000;
/// Runs of each size; the best one counts.
const REPEATS: usize = 3;

type Reader = fn(&Path) -> Result<(), String>;

/// Name, extension, generator, reader, error.
type Row = (&'static str, &'static str, fn(usize) -> Vec<u8>, Reader, Option<&'static str>);

const ROWS: &[Row] = &[
    ("operators of their own", "tflite", tflite_chain, network, None),
    ("an operator of many outputs", "tflite", tflite_outputs, network, Some("guardbit::tflite::unfolds")),
    ("an operator of many inputs", "tflite", tflite_inputs, network, Some("guardbit::tflite")),
    ("names that meet when they are cut", "tflite", tflite_names, network, None),
    ("a long name", "tflite", tflite_long_name, network, None),
    ("nodes of ONNX", "onnx", onnx_nodes, network, None),
    ("a node of many inputs", "onnx", onnx_inputs, network, None),
    ("weights", "onnx", onnx_weights, network, None),
    ("a list of an attribute", "onnx", onnx_list, network, Some("guardbit::onnx::node")),
    ("a constant of many axes", "onnx", onnx_axes, network, Some("guardbit::onnx::tensor")),
    ("a long text of an attribute", "onnx", onnx_text, network, Some("guardbit::onnx::node")),
    ("a long name of a node", "onnx", onnx_name, network, Some("guardbit::onnx::operator")),
    ("nodes", "yaml", yaml_nodes, network, None),
    ("nodes in JSON on one line", "yaml", yaml_json, network, None),
    ("values in a list", "yaml", yaml_values, network, None),
    ("values in nested lists", "yaml", yaml_nested, network, None),
    ("lists in one another", "yaml", yaml_deep, network, Some("guardbit::graph_yaml::syntax")),
    ("lists in one another, quoted", "yaml", yaml_quoted, network, Some("guardbit::graph_yaml::syntax")),
    ("keys in one another", "yaml", yaml_indented, network, Some("guardbit::graph_yaml")),
    ("repeated aliases", "yaml", yaml_aliases, network, Some("guardbit::graph_yaml::syntax")),
    ("aliases of aliases", "yaml", yaml_laughs, network, Some("guardbit::graph_yaml::syntax")),
    ("a shape of many axes", "yaml", yaml_shape, network, Some("guardbit::graph_yaml::graph")),
    ("an attribute of many axes", "yaml", yaml_axes, network, Some("guardbit::graph_yaml::graph")),
    ("a long unknown name", "yaml", yaml_unknown, network, Some("guardbit::graph_yaml::unknown_tensor")),
    ("a long text in quotes", "yaml", yaml_text, network, Some("guardbit::graph_yaml::value")),
    ("samples", "npy", npy_samples, samples, None),
    ("samples in Fortran order", "npy", npy_fortran, samples, None),
    ("brackets in a header", "npy", npy_brackets, samples, Some("guardbit::input::array")),
    ("spaces in a header", "npy", npy_spaces, samples, Some("guardbit::input::array")),
    ("samples in an archive", "npz", npz_samples, samples, None),
    ("zeros of another shape in an archive", "npz", npz_zeros, samples, Some("guardbit::input::shape")),
    ("labels of another shape", "npy", npy_samples, labels, Some("guardbit::labels")),
];

/// Time and memory of reading one file.
#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    /// Peak memory of the whole process.
    peak_bytes: u64,
}

#[test]
fn every_reader_is_proportional() {
    let mut wrong = Vec::new();
    for (index, row) in ROWS.iter().enumerate() {
        if let Err(problem) = check(index, row) {
            wrong.push(format!("{}: {problem}", row.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(index: usize, &(name, extension, generate, ..): &Row) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let measure = |size: usize| {
        let path = dir.path().join(format!("{size}.{extension}"));
        let bytes = generate(size);
        std::fs::write(&path, &bytes).unwrap();
        let costs = (0..REPEATS).map(|_| in_process(index, &path)).collect::<Result<Vec<_>, _>>()?;
        let best = costs.iter().copied().reduce(|a, b| Cost {
            seconds: a.seconds.min(b.seconds),
            peak_bytes: a.peak_bytes.min(b.peak_bytes),
        });
        Ok::<_, String>((bytes.len() as u64, best.unwrap()))
    };
    let (small, less) = measure(SIZE)?;
    let (large, more) = measure(SIZE * FACTOR)?;
    let times = more.seconds / less.seconds.max(NOISE);
    let growth = more.peak_bytes.saturating_sub(less.peak_bytes).saturating_sub(SLACK);
    let memory = growth as f64 / large.saturating_sub(small).max(1) as f64;
    println!(
        "{name}: {small} and {large} bytes, {:.4} and {:.4} s ({times:.1} times), {:.1} and {:.1} MB ({memory:.1} a byte)",
        less.seconds,
        more.seconds,
        less.peak_bytes as f64 / 1e6,
        more.peak_bytes as f64 / 1e6,
    );
    match (times < TIMES, memory < MEMORY) {
        (false, _) => Err(format!("{:.4} s become {:.4} s", less.seconds, more.seconds)),
        (_, false) => Err(format!("{memory:.0} bytes of memory for every byte of the file")),
        _ => Ok(()),
    }
}

/// Environment variable that names the row and the file for a separate process.
const TASK: &str = "GUARDBIT_LIMITS_TASK";

fn in_process(index: usize, path: &Path) -> Result<Cost, String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "limits::one_row", "--nocapture", "--test-threads=1"]);
    let output = command.env(TASK, format!("{index} {}", path.display())).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once("cost: ").map(|(_, cost)| cost));
    let (Some(line), true) = (line, output.status.success()) else {
        return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    };
    let mut numbers = line.split_whitespace();
    let mut next = || numbers.next().unwrap();
    Ok(Cost { seconds: next().parse().unwrap(), peak_bytes: next().parse().unwrap() })
}

/// Does nothing unless [`in_process`] requests it.
#[test]
fn one_row() {
    let Ok(task) = std::env::var(TASK) else { return };
    let (index, path) = task.split_once(' ').unwrap();
    let (name, _, _, read, expected) = ROWS[index.parse::<usize>().unwrap()];
    let start = (Instant::now(), busy());
    let result = read(Path::new(path));
    let seconds = match (start.1, busy()) {
        (Some(before), Some(after)) => after - before,
        _ => start.0.elapsed().as_secs_f64(),
    };
    match (&result, expected) {
        (Ok(()), None) => {}
        (Err(error), Some(expected)) if error.contains(expected) => {}
        _ => panic!("{name}: {}", result.err().unwrap_or("it was taken".into())),
    }
    let message = result.err().map_or(0, |error| error.len());
    assert!(message < MESSAGE, "{name}: a message of {message} bytes");
    println!("\ncost: {seconds} {}", peak());
}

/// Returns the CPU seconds of this thread; `None` if the system does not report them.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Returns the peak memory of this process; 0 if the system does not report it.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib << 10)
}

// Readers.

fn network(path: &Path) -> Result<(), String> {
    let help = guardbit_frontends::FrontendError::help;
    guardbit_frontends::load(path)
        .map(|_| ())
        .map_err(|error| format!("{}: {error} {}", error.code(), help(&error)))
}

fn samples(path: &Path) -> Result<(), String> {
    run_on(InputSource::File { path: path.into(), pick: Pick::All }, None)
}

fn labels(path: &Path) -> Result<(), String> {
    run_on(InputSource::Random { count: 2, seed: 1 }, Some(path))
}

fn run_on(input: InputSource, labels: Option<&Path>) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("net.yaml");
    // Network of one layer that reads 8 codes.
    std::fs::write(&model, include_str!("net.yaml").replace("16", "8")).unwrap();
    let settings = Settings { labels: labels.map(Path::to_owned), ..Settings::new(input) };
    let request = RunRequest::new(model, "exact-int32-os", settings);
    run(&request, Some(&dir.path().join("out")), Existing::Refuse, &Silent)
        .map(|_| ())
        .map_err(|error| format!("{}: {error} {}", error.code(), error.help()))
}

// Generators; `size` is the approximate number of bytes.

/// Returns a chain of RELUs with these names.
fn relus(names: Vec<String>) -> Vec<u8> {
    let mut tensors = vec![Tensor::int8("input", &[1, 4], 0.5, 0)];
    let operators = (0..names.len() as i32).map(|i| Operator::new(19, &[i], i + 1)).collect();
    tensors.extend(names.into_iter().map(|name| Tensor::int8(String::leak(name), &[1, 4], 0.5, 0)));
    Model::new(tensors, operators).to_bytes()
}

fn tflite_chain(size: usize) -> Vec<u8> {
    relus((0..size / 250).map(|i| format!("model/conv_{i}/Relu")).collect())
}

/// Returns pairs of nodes whose names differ only at the end.
fn tflite_names(size: usize) -> Vec<u8> {
    let base = |i: usize| format!("{}{i:06}", "a".repeat(22));
    relus((0..size / 500).flat_map(|i| [format!("x/{}", base(i)), format!("y/{}", base(i))]).collect())
}

fn tflite_long_name(size: usize) -> Vec<u8> {
    relus(vec!["n".repeat(size)])
}

fn tflite_outputs(size: usize) -> Vec<u8> {
    let mut operator = Operator::new(19, &[0], 1);
    operator.outputs = vec![1; size / 8];
    let tensors = ["x", "y"].map(|name| Tensor::int8(name, &[1, 4], 0.5, 0)).to_vec();
    Model { repeat_operators: size / 8, ..Model::new(tensors, vec![operator]) }.to_bytes()
}

fn tflite_inputs(size: usize) -> Vec<u8> {
    let operator = Operator { inputs: vec![0; size / 8], ..Operator::new(2, &[0], 1) };
    let tensors = ["x", "y"].map(|name| Tensor::int8(name, &[1, 4], 0.5, 0)).to_vec();
    Model::new(tensors, vec![operator]).to_bytes()
}

/// Returns nodes between an input `x` of these sizes, constants, and an output `y`.
fn onnx(nodes: Vec<onnx::Node>, constants: Vec<onnx::Tensor>) -> Vec<u8> {
    let inputs = vec![("x".into(), onnx::element::FLOAT, vec![1, 4])];
    onnx::Model { opset: 13, nodes, constants, inputs, outputs: vec!["y".into()] }.to_bytes()
}

fn onnx_nodes(size: usize) -> Vec<u8> {
    let count = size / 40;
    let name = |i: usize| match i {
        0 => "x".to_owned(),
        i if i == count => "y".to_owned(),
        i => format!("relu{i}"),
    };
    onnx((0..count).map(|i| onnx::Node::new("Relu", &[&name(i)], &[&name(i + 1)])).collect(), Vec::new())
}

fn onnx_inputs(size: usize) -> Vec<u8> {
    let node = onnx::Node::new("Concat", &vec!["x"; size / 3], &["y"]);
    onnx(vec![node.with("axis", onnx::Attribute::Int(1))], Vec::new())
}

fn onnx_weights(size: usize) -> Vec<u8> {
    let count = size / 16;
    let weights = onnx::Tensor::reals("w", &vec![0.5; 4 * count]).with_dims(&[4, count as i64]);
    onnx(vec![onnx::Node::new("MatMul", &["x", "w"], &["y"])], vec![weights])
}

fn onnx_list(size: usize) -> Vec<u8> {
    let node = onnx::Node::new("Transpose", &["x"], &["y"]);
    onnx(vec![node.with("perm", onnx::Attribute::Ints(vec![1; size / 2]))], Vec::new())
}

fn onnx_axes(size: usize) -> Vec<u8> {
    let other = onnx::Tensor::reals("c", &[1.0]).with_dims(&vec![1; size / 2]);
    onnx(vec![onnx::Node::new("Add", &["x", "c"], &["y"])], vec![other])
}

fn onnx_text(size: usize) -> Vec<u8> {
    let pads = onnx::Tensor::integers("p", &[0; 4]);
    let node = onnx::Node::new("Pad", &["x", "p"], &["y"]);
    onnx(vec![node.with("mode", onnx::Attribute::Text("m".repeat(size)))], vec![pads])
}

fn onnx_name(size: usize) -> Vec<u8> {
    onnx(vec![onnx::Node::new(&"N".repeat(size), &["x"], &["y"])], Vec::new())
}

/// Returns a graph with these constants and nodes, both in YAML.
fn graph(constants: &str, nodes: &str, output: &str) -> Vec<u8> {
    format!(
        "schema: 1\ninputs:\n  - {{name: x, shape: [1, 8], dtype: int8, scale: 1}}\nconstants: {constants}\n\
         nodes: {nodes}\noutputs: [{output}]\n"
    )
    .into_bytes()
}

fn relu(i: usize, input: &str) -> String {
    format!("{{op: relu, inputs: [{input}], output: {{name: y{i}, dtype: int8, scale: 1}}}}")
}

fn yaml_nodes(size: usize) -> Vec<u8> {
    let node = |i: usize| format!("\n  - {}", relu(i, "x"));
    graph("[]", &(0..size / 80).map(node).collect::<String>(), "y0")
}

fn yaml_json(size: usize) -> Vec<u8> {
    let node = |i: usize| {
        format!(
            "{{\"op\":\"relu\",\"inputs\":[\"x\"],\"output\":{{\"name\":\"y[{i}\",\"dtype\":\"int8\",\"scale\":1}}}}"
        )
    };
    let nodes: Vec<String> = (0..size / 85).map(node).collect();
    let input = "{\"name\":\"x\",\"shape\":[1,8],\"dtype\":\"int8\",\"scale\":1}";
    let nodes = nodes.join(",");
    format!("{{\"schema\":1,\"inputs\":[{input}],\"nodes\":[{nodes}],\"outputs\":[\"y[0\"]}}").into_bytes()
}

fn constant(shape: &str, values: &str) -> Vec<u8> {
    let constants = format!("\n  - {{name: c, shape: {shape}, dtype: int8, scale: 1, values: {values}}}");
    graph(&constants, "[]", "x")
}

fn yaml_values(size: usize) -> Vec<u8> {
    let count = size / 2;
    constant(&format!("[{count}]"), &format!("[{}]", "1,".repeat(count)))
}

fn yaml_nested(size: usize) -> Vec<u8> {
    let count = size / 12;
    constant(&format!("[{count}, 2, 2]"), &format!("[{}]", "[[1,2],[3,4]],".repeat(count)))
}

fn yaml_deep(size: usize) -> Vec<u8> {
    graph("[]", &"[".repeat(size), "x")
}

/// Returns brackets that a plain count would miss, because quotes contain as many closing ones.
fn yaml_quoted(size: usize) -> Vec<u8> {
    graph("[]", &"[ \"]\", ".repeat(size / 7), "x")
}

fn yaml_indented(size: usize) -> Vec<u8> {
    let depth = ((2 * size) as f64).sqrt() as usize;
    let lines = (1..depth).map(|i| format!("{}a:\n", " ".repeat(i)));
    [graph("[]", "[]", "x"), b"deep:\n".to_vec(), lines.collect::<String>().into_bytes()].concat()
}

fn yaml_aliases(size: usize) -> Vec<u8> {
    let list = format!("&a [{}]", "1,".repeat(size / 4));
    constant("[1]", &format!("[{list}{}]", ",*a".repeat(size / 8)))
}

fn yaml_laughs(size: usize) -> Vec<u8> {
    let level = |i: usize| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(","));
    let levels: String = (1..size / 60).map(level).collect();
    format!("schema: 1\na0: &a0 [1, 1]\n{levels}").into_bytes()
}

fn yaml_shape(size: usize) -> Vec<u8> {
    constant(&format!("[{}]", "1,".repeat(size / 2)), "[1]")
}

fn yaml_axes(size: usize) -> Vec<u8> {
    let node = format!(
        "\n  - {{op: mean, inputs: [x], axes: [{}], output: {{name: y, dtype: int8, scale: 1}}}}",
        "7,".repeat(size / 2)
    );
    graph("[]", &node, "y")
}

fn yaml_unknown(size: usize) -> Vec<u8> {
    graph("[]", &format!("\n  - {}", relu(0, &"n".repeat(size))), "x")
}

fn yaml_text(size: usize) -> Vec<u8> {
    graph("[]", "[]", "x")
        .into_iter()
        .chain(format!("name: \"{}\"\n", "\\e".repeat(size / 2)).into_bytes())
        .collect()
}

/// Returns an int8 array with its header.
fn npy(shape: &str, fortran: &str, elements: usize) -> Vec<u8> {
    let text = format!("{{'descr': '|i1', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
    bytes.resize(bytes.len() + elements, 3);
    bytes
}

fn npy_samples(size: usize) -> Vec<u8> {
    let count = size / 8;
    npy(&format!("({count}, 8)"), "False", count * 8)
}

fn npy_fortran(size: usize) -> Vec<u8> {
    let count = size / 8;
    npy(&format!("({count}, 8)"), "True", count * 8)
}

/// Returns a version 2 header with this text.
fn header(text: &str) -> Vec<u8> {
    [&b"\x93NUMPY\x02\x00"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn npy_brackets(size: usize) -> Vec<u8> {
    let depth = size / 200;
    header(&format!("{{'descr': {}'|i1'{}, ", "[".repeat(depth), "]".repeat(depth)))
}

fn npy_spaces(size: usize) -> Vec<u8> {
    header(&" ".repeat(size))
}

/// Returns an archive with one compressed member.
fn npz(member: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("x.npy", options).unwrap();
    zip.write_all(member).unwrap();
    zip.finish().unwrap().into_inner()
}

fn npz_samples(size: usize) -> Vec<u8> {
    let count = size / 8;
    let mut member = npy(&format!("({count}, 8)"), "False", 0);
    // Codes that do not compress.
    member.extend(guardbit_frontends::random_codes(1, -128..=127, count * 8).iter().map(|&code| code as u8));
    npz(&member)
}

/// Returns an archive that unpacks to far more bytes than the file has.
fn npz_zeros(size: usize) -> Vec<u8> {
    npz(&npy(&format!("({size}, 100)"), "False", size * 100))
}
