//! Tests of every integer of a node at its extremes: attributes, constant operands, and the shapes of operands.
//!
//! [`rows`] has a small network for every supported operator. Each of its integers becomes each of [`EXTREMES`]. Each
//! of its lists becomes empty, too short and too long. Each pair of these changes is combined. A reader must return
//! an error or a network with little memory. An unchecked size is a panic (tests run with overflow checks) or a list
//! that exceeds memory.

mod rows;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Arc, Mutex};

use guardbit_frontends::{FrontendError, read_onnx};
use guardbit_graph::MAX_ELEMENTS;

use super::writer::{Attribute, Model, Node, Tensor, element};
use rows::{
    Absent, Codes, Floats, Integers, Operand, Reals, Row, U8, Weights, X, codes, floats, image, integers,
    reals, row, rows, u8s, x,
};

const EXTREMES: [i64; 9] = [i64::MIN, -1, 0, 1, 1 << 16, 1 << 31, 1 << 33, 1 << 62, i64::MAX];
const REALS: [f32; 8] = [f32::NAN, f32::INFINITY, -1.0, 0.0, 1e-30, 9e5, 1e18, f32::MAX];
const SHAPES: [&[i64]; 8] = [
    &[],
    &[0],
    &[0, 1 << 62, 8],
    &[1 << 62, 8, 0],
    &[0, i64::MAX, 2, i64::MAX],
    &[1 << 33, 1 << 33],
    &[-1, 4],
    &[2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
];

/// A change of a row.
struct Change {
    what: String,
    /// The attribute or operand that it changes.
    of: usize,
    change: Box<dyn Fn(&mut Row)>,
}

/// Returns every change of one integer, list or shape.
fn changes(row: &Row) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, (name, value)) in row.attributes.iter().enumerate() {
        let mut add = |value: Attribute| {
            let what = match &value {
                Attribute::Tensor(tensor) => format!("{name}: {:?}", tensor.dims),
                other => format!("{name}: {other:?}"),
            };
            let change = Box::new(move |row: &mut Row| row.attributes[at].1 = value.clone());
            changes.push(Change { what, of: at, change });
        };
        match value {
            Attribute::Int(_) => EXTREMES.iter().for_each(|&value| add(Attribute::Int(value))),
            Attribute::Ints(values) => {
                lists(values, &EXTREMES, 1).into_iter().map(Attribute::Ints).for_each(add)
            }
            Attribute::Tensor(tensor) => {
                SHAPES.iter().for_each(|dims| add(Attribute::Tensor(tensor.clone().with_dims(dims))));
            }
            Attribute::Text(_) => {}
        }
    }
    let count = row.attributes.len();
    for (at, operand) in row.operands.iter().enumerate() {
        let mut add = |operand: Operand| {
            let what = format!("operand {at}: {operand:?}");
            let change = Box::new(move |row: &mut Row| row.operands[at] = operand.clone());
            changes.push(Change { what, of: count + at, change });
        };
        let shapes = |shape: &[i64]| {
            let known = SHAPES.iter().map(|shape| shape.to_vec());
            // One more or less than a size of another operand.
            known.chain(lists(shape, &[&EXTREMES[..], &[3, 5]].concat(), 1)).collect::<Vec<_>>()
        };
        match operand {
            X(shape) => shapes(shape).into_iter().map(X).for_each(add),
            U8(shape) => shapes(shape).into_iter().map(U8).for_each(add),
            Reals(shape) => shapes(shape).into_iter().map(Reals).for_each(add),
            Codes(element, shape) => {
                shapes(shape).into_iter().for_each(|shape| add(Codes(*element, shape)));
            }
            Weights { shape, scales, axis } => {
                let (scales, axis) = (*scales, *axis);
                shapes(shape).into_iter().for_each(|shape| add(Weights { shape, scales, axis }));
                for scales in [0, 1, 3, 5] {
                    add(Weights { shape: shape.clone(), scales, axis });
                }
                for axis in EXTREMES {
                    add(Weights { shape: shape.clone(), scales, axis });
                }
            }
            Integers(values) => lists(values, &EXTREMES, 1).into_iter().map(Integers).for_each(add),
            Floats(values) => lists(values, &REALS, 1.0).into_iter().map(Floats).for_each(add),
            Absent => {}
        }
    }
    changes
}

/// Returns a list with an extreme at each index and at all of them, and lists of other lengths.
fn lists<T: Copy>(values: &[T], extremes: &[T], more: T) -> Vec<Vec<T>> {
    let one = |at: usize, extreme: T| {
        let mut changed = values.to_vec();
        changed[at] = extreme;
        changed
    };
    let ones = (0..values.len()).flat_map(|at| extremes.iter().map(move |&extreme| one(at, extreme)));
    let all = extremes.iter().map(|&extreme| vec![extreme; values.len()]);
    let lengths = [vec![], values.iter().copied().take(1).collect(), [values, &[more]].concat()];
    ones.chain(all).chain(lengths).collect()
}

/// The surroundings of a row's node.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Setting {
    /// The node is alone. Its outputs are those of the network.
    Alone,
    /// The node reads dequantized codes, and its output is quantized.
    BetweenCodes,
    /// The node's output is added to real values.
    BeforeSum,
}

fn model(row: &Row, setting: Setting) -> Model {
    let mut model = Model {
        opset: row.opset,
        nodes: Vec::new(),
        constants: vec![Tensor::reals("scale", &[0.5]).with_dims(&[])],
        inputs: Vec::new(),
        outputs: row.outputs.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut names = Vec::new();
    for (index, operand) in row.operands.iter().enumerate() {
        let mut name = format!("in{index}");
        let tensor = |element: i32, dims: &[i64], bytes: &[u8]| {
            let count =
                dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim)).filter(|n| (0..=1024).contains(n));
            let bytes = bytes.repeat(count.unwrap_or(0) as usize);
            Tensor { name: name.clone(), dims: dims.to_vec(), element, bytes }
        };
        match operand {
            X(dims) if setting == Setting::BetweenCodes => {
                let codes = format!("{name}_codes");
                model.inputs.push((codes.clone(), element::UINT8, dims.clone()));
                model.nodes.push(Node::new("DequantizeLinear", &[&codes, "scale"], &[&name]));
            }
            X(dims) => model.inputs.push((name.clone(), element::FLOAT, dims.clone())),
            U8(dims) => model.inputs.push((name.clone(), element::UINT8, dims.clone())),
            Reals(dims) => model.constants.push(tensor(element::FLOAT, dims, &0.5f32.to_le_bytes())),
            Codes(element::INT32, dims) => {
                model.constants.push(tensor(element::INT32, dims, &0i32.to_le_bytes()));
            }
            Codes(element, dims) => model.constants.push(tensor(*element, dims, &[0])),
            Weights { shape, scales, axis } => {
                let [codes, scale, zero] = ["codes", "scale", "zero"].map(|what| format!("{name}_{what}"));
                let other = |named: &str, tensor: Tensor| Tensor { name: named.into(), ..tensor };
                let scales = &[*scales];
                let made = [
                    other(&codes, tensor(element::INT8, shape, &[1])),
                    other(&scale, tensor(element::FLOAT, scales, &0.5f32.to_le_bytes())),
                    other(&zero, tensor(element::INT8, scales, &[0])),
                ];
                model.constants.extend(made);
                let node = Node::new("DequantizeLinear", &[&codes, &scale, &zero], &[&name]);
                model.nodes.push(node.with("axis", Attribute::Int(*axis)));
            }
            Integers(values) => model.constants.push(Tensor::integers(&name, values)),
            Floats(values) => model.constants.push(Tensor::reals(&name, values)),
            Absent => name.clear(),
        }
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let node = Node { domain: row.domain().into(), ..Node::new(row.op, &names, row.outputs) };
    model.nodes.push(row.attributes.iter().fold(node, |node, (name, value)| node.with(name, value.clone())));
    match setting {
        Setting::Alone => {}
        Setting::BetweenCodes => {
            model.nodes.push(Node::new("QuantizeLinear", &["y", "scale"], &["end"]));
            model.outputs = vec!["end".into()];
        }
        Setting::BeforeSum => {
            model.inputs.push(("other".into(), element::FLOAT, vec![1, 4, 4, 4]));
            model.nodes.push(Node::new("Add", &["other", "y"], &["end"]));
            model.outputs = vec!["end".into()];
        }
    }
    model
}

/// Reads the network of a row. An error must be helpful, and a network must be within limits.
fn check(row: &Row, setting: Setting) -> Result<(), FrontendError> {
    let graph = match read_onnx(&model(row, setting).to_bytes(), "net") {
        Ok(graph) => graph,
        Err(error) => {
            let message = error.message();
            assert!(error.code().starts_with("guardbit::onnx::"), "{}", error.code());
            assert!(message.len() < 4000, "a message of {} bytes", message.len());
            let placed = message.contains('`') || error.code() == "guardbit::onnx::graph";
            assert!(placed, "a message that names no place: {message}");
            return Err(error);
        }
    };
    let elements: usize =
        graph.tensors().iter().map(|tensor| tensor.ty.shape.iter().product::<usize>()).sum();
    assert!(elements <= MAX_ELEMENTS, "{elements} elements");
    Ok(())
}

/// Unchanged rows can be read, so that a change is rejected for its own reason.
#[test]
fn rows_can_be_read() {
    // Constants alone do not form a network.
    let none = ["is an output of the network, but constant", "the graph has no input"];
    let problem = |row: &Row| match (check(row, Setting::Alone), row.is_constant() || row.op == "Shape") {
        (Ok(()), false) => None,
        (Err(error), true) if none.iter().any(|text| error.message().ends_with(text)) => None,
        (result, _) => Some(format!("{row:?}: {result:?}")),
    };
    let wrong: Vec<String> = rows().iter().filter_map(problem).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A new operator needs its row.
#[test]
fn every_operator_has_a_row() {
    let unknown =
        Model { nodes: vec![Node::new("Nothing", &[], &["y"])], ..model(&row("Relu", &[]), Setting::Alone) };
    let help = read_onnx(&unknown.to_bytes(), "net").unwrap_err().help();
    let (operators, _) = help.split_once("; `--to").unwrap();
    let operators = operators.strip_prefix("supported operators: ").unwrap();
    let rows = rows();
    let name = |op: &str| op.rsplit('.').next().unwrap_or_default().to_owned();
    let without: Vec<&str> =
        operators.split(", ").filter(|op| rows.iter().all(|row| row.op != name(op))).collect();
    assert_eq!(without, [""; 0]);
}

/// The variable that passes a row to [`one_row`].
const TASK: &str = "GUARDBIT_EXTREMES_TASK";

/// Runs each row in a process with little memory, which a list of arbitrary length ends at once.
#[test]
fn extremes_come_back() {
    const KIB: u32 = 1 << 20;
    let one = |index: usize| {
        Command::new("sh")
            .args(["-c", &format!("ulimit -v {KIB}; MALLOC_ARENA_MAX=1 exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "onnx::extremes::one_row", "--nocapture", "--test-threads=1"])
            .env(TASK, index.to_string())
            .output()
            .unwrap()
    };
    let mut wrong = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        let output = one(index);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let told = out.lines().find(|line| line.contains("cases came back"));
        match (output.status.success(), told) {
            (true, Some(told)) => println!("{}: {told}", row.op),
            _ => wrong.push(format!("{} {:?}: {err}", row.op, row.attributes)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Does nothing unless [`extremes_come_back`] runs it.
#[test]
fn one_row() {
    let Ok(task) = std::env::var(TASK) else { return };
    let row = rows()[task.parse::<usize>().unwrap()].clone();
    // For each position of a panic: the first case and the number of cases.
    let wrong = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
    let places = Arc::clone(&wrong);
    std::panic::set_hook(Box::new(move |info| {
        *places.lock().unwrap().entry(info.to_string()).or_default() += 1;
    }));
    let (changes, mut cases) = (changes(&row), 0);
    let mut check = |what: &str, row: &Row, setting: Setting| {
        cases += 1;
        let before = wrong.lock().unwrap().len();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(check(row, setting))));
        if wrong.lock().unwrap().len() > before {
            eprintln!("{setting:?}: {what}");
        }
    };
    for (at, Change { what, of, change }) in changes.iter().enumerate() {
        let mut changed = row.clone();
        change(&mut changed);
        for setting in [Setting::Alone, Setting::BetweenCodes, Setting::BeforeSum] {
            check(what, &changed, setting);
        }
        for other in changes[at + 1..].iter().filter(|other| other.of != *of) {
            let mut changed = changed.clone();
            (other.change)(&mut changed);
            check(&format!("{what}, {}", other.what), &changed, Setting::Alone);
        }
    }
    let _ = std::panic::take_hook();
    let wrong = wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{cases} cases came back");
}

/// The messages about excessive sizes and invalid numbers.
#[test]
fn refusals() {
    let sizes = |values: &[i64]| [image(), Absent, Absent, integers(values)];
    let ones = |values: &[f32]| [image(), Absent, floats(values)];
    let pads = |values: &[i64], mode| row("Pad", &[image(), integers(values)]).text("mode", mode);
    let slice = |values: [i64; 4]| {
        let lists = values.map(|value| integers(&[value]));
        row("Slice", &[vec![image()], lists.to_vec()].concat())
    };
    let pool = |pads: &[i64]| {
        row("AveragePool", &[image()]).ints("kernel_shape", &[2, 2]).ints("pads", pads).int("ceil_mode", 1)
    };
    let transposed = || row("ConvTranspose", &[image(), reals(&[4, 2, 2, 2])]);
    let product = |zero: Operand| row("MatMulInteger", &[codes(&[2, 4]), u8s(&[4, 3]), zero]);
    let empty = || reals(&[0, 1 << 62, 8]);
    let huge = 1i64 << 62;
    let cases = [
        row("Resize", &sizes(&[1, 4, 1 << 20, 1 << 20])),
        row("Resize", &ones(&[1.0, 1.0, 9e5, 9e5])),
        row("Resize", &sizes(&[1, 4, 0, 8])),
        row("Resize", &sizes(&[1, 4, 7, 8])).text("nearest_mode", "up"),
        pads(&[0, 0, huge, huge, 0, 0, huge, huge], "edge"),
        pads(&[0, 0, 0, 1 << 33, 0, 0, 0, 0], "constant"),
        pads(&[0, 0, 1, 1], "edge"),
        pads(&[0; 8], "wrap"),
        slice([4, 9, 3, i64::MAX]),
        row("DepthToSpace", &[image()]).int("blocksize", 1 << 33),
        pool(&[i64::MAX; 4]),
        pool(&[0, 0, 0, 1]).ints("strides", &[2, 2]),
        transposed().ints("strides", &[huge, huge]),
        transposed().ints("output_shape", &[huge, huge]),
        transposed().ints("output_shape", &[5]),
        product(u8s(&[0])),
        product(reals(&[])),
        row("Transpose", &[empty()]),
        row("ConstantOfShape", &[integers(&[0, huge, 8])]),
        row("Gemm", &[x(&[2, 4]), reals(&[])]).int("transB", 1),
        row("Conv", &[image(), Weights { shape: vec![4, 4, 2, 2], scales: 3, axis: 0 }, reals(&[4])]),
    ];
    let mut text = String::new();
    for row in cases {
        // Scales of weights matter only if a layer becomes one of codes.
        let setting = if row.op == "Conv" { Setting::BetweenCodes } else { Setting::Alone };
        let error = check(&row, setting).err().unwrap_or_else(|| panic!("{row:?} must be refused"));
        writeln!(text, "{}: {}", error.code(), error.message()).unwrap();
    }
    insta::assert_snapshot!(text);
}
