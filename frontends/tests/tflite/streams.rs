//! Tests of networks with variables: results of their steps, and rejected forms.

use guardbit_frontends::{Profile, read_tflite, read_tflite_as};

use super::writer::{INT16, Model, Operator, Tensor, Value};

const RESOURCE: i8 = 13;

/// Tensors of the network, among them the input `x` and the output `y` of the concatenation.
const X: i32 = 0;
const V: i32 = 1;
const W: i32 = 2;
const A: i32 = 3;
const B: i32 = 4;
const Y: i32 = 5;

fn pair(name: &'static str) -> Tensor {
    Tensor::int8(name, &[1, 2], 0.5, -3)
}

fn resource(name: &'static str) -> Tensor {
    Tensor::plain(name, RESOURCE, &[])
}

fn once(subgraph: i32) -> Operator {
    Operator { outputs: vec![], ..Operator::new(129, &[], 0) }.with_options(103, [(0, Value::Int(subgraph))])
}

fn handle(tensor: i32, variable: &'static str) -> Operator {
    Operator::new(142, &[], tensor).with_options(111, [(1, Value::Text(variable))])
}

fn read(handle: i32, tensor: i32) -> Operator {
    Operator::new(143, &[handle], tensor)
}

fn assign(handle: i32, value: i32) -> Operator {
    Operator { outputs: vec![], ..Operator::new(144, &[handle, value], 0) }
}

fn join(first: i32, second: i32) -> Operator {
    Operator::new(2, &[first, second], Y).with_options(10, [(0, Value::Int(1))])
}

/// Returns a network whose variables start as `v` = 40, 50 and `w` = 60, 70.
fn network(operators: Vec<Operator>) -> Model {
    let y = Tensor { shape: vec![1, 4], ..pair("y") };
    let tensors = vec![pair("x"), resource("to_v"), resource("to_w"), pair("a"), pair("b"), y];
    let constants = vec![pair("of_v").with_data([40, 50]), pair("of_w").with_data([60, 70])];
    let constants = [vec![resource("v"), resource("w")], constants].concat();
    let assignments = vec![handle(0, "v"), handle(1, "w"), assign(0, 2), assign(1, 3)];
    Model { initializations: vec![(constants, assignments)], ..Model::new(tensors, operators) }
}

/// Returns a network that outputs the previous step's input with the current one.
pub fn delay() -> Model {
    network(vec![once(1), handle(V, "v"), read(V, A), assign(V, X), join(A, X)])
}

/// A description, the operators after the handles, and `y` of three steps.
type Row = (&'static str, Vec<Operator>, [[i32; 4]; 3]);

#[test]
fn steps_follow_one_another() {
    let start =
        |operators: Vec<Operator>| [vec![once(1), handle(V, "v"), handle(W, "w")], operators].concat();
    let rows: [Row; 9] = [
        (
            "a read before the assignment has the value of the step before",
            vec![read(V, A), assign(V, X), join(A, X)],
            [[40, 50, 1, 2], [1, 2, 3, 4], [3, 4, 5, 6]],
        ),
        (
            "a read after it has the new one",
            vec![assign(V, X), read(V, A), join(A, X)],
            [[1, 2, 1, 2], [3, 4, 3, 4], [5, 6, 5, 6]],
        ),
        (
            "both",
            vec![read(V, A), assign(V, X), read(V, B), join(A, B)],
            [[40, 50, 1, 2], [1, 2, 3, 4], [3, 4, 5, 6]],
        ),
        (
            "reads of one value",
            vec![read(V, A), read(V, B), assign(V, X), join(A, B)],
            [[40, 50, 40, 50], [1, 2, 1, 2], [3, 4, 3, 4]],
        ),
        (
            "the last assignment counts",
            vec![read(V, A), read(W, B), assign(V, B), assign(V, X), join(A, B)],
            [[40, 50, 60, 70], [1, 2, 60, 70], [3, 4, 60, 70]],
        ),
        (
            "without an assignment the value stays",
            vec![read(W, A), join(A, X)],
            [[60, 70, 1, 2], [60, 70, 3, 4], [60, 70, 5, 6]],
        ),
        (
            "one variable hands on what the other held",
            vec![read(V, A), read(W, B), assign(V, X), assign(W, A), join(A, B)],
            [[40, 50, 60, 70], [1, 2, 40, 50], [3, 4, 1, 2]],
        ),
        (
            "variables change places",
            vec![read(V, A), read(W, B), assign(V, B), assign(W, A), join(A, B)],
            [[40, 50, 60, 70], [60, 70, 40, 50], [40, 50, 60, 70]],
        ),
        (
            "handles of one name are one variable",
            vec![handle(Y + 1, "v"), read(V, A), assign(Y + 1, X), join(A, X)],
            [[40, 50, 1, 2], [1, 2, 3, 4], [3, 4, 5, 6]],
        ),
    ];
    for (what, operators, expected) in rows {
        let mut model = network(start(operators));
        model.tensors.push(resource("to_v_too"));
        assert_eq!(outputs(&model, Profile::LitertRef), expected, "{what}");
    }
}

#[test]
fn tensorflow_lite_micro_starts_at_the_zero_point() {
    let mut model = delay();
    model.operators.remove(0);
    model.initializations.clear();
    assert_eq!(outputs(&model, Profile::Tflm), [[-3, -3, 1, 2], [1, 2, 3, 4], [3, 4, 5, 6]]);
}

/// Returns the output of three steps.
fn outputs(model: &Model, profile: Profile) -> Vec<Vec<i32>> {
    let graph = read_tflite_as(&model.to_bytes(), "stream", profile).unwrap();
    let mut states = graph.initial_states();
    let mut step = |x: [i32; 2]| graph.interpret_step(&[&x], &mut states).unwrap();
    let steps = [[1, 2], [3, 4], [5, 6]].map(&mut step);
    steps.map(|codes| codes[graph.outputs()[0].index()].clone()).to_vec()
}

#[test]
fn refusals() {
    let row = |change: &dyn Fn(&mut Model)| {
        let mut model = delay();
        change(&mut model);
        read_tflite(&model.to_bytes(), "net").unwrap_err().to_string()
    };
    // The subgraph of CALL_ONCE has handles 0 and 1, constants 2 and 3, and assignments as operators 2 and 3.
    let start = |change: fn(&mut Vec<Tensor>, &mut Vec<Operator>)| {
        row(&|m| {
            let (tensors, operators) = &mut m.initializations[0];
            change(tensors, operators);
        })
    };
    let found = [
        ("a missing subgraph", row(&|m| m.operators[0] = once(2))),
        ("a negative subgraph", row(&|m| m.operators[0] = once(-1))),
        (
            "the network itself",
            row(&|m| {
                m.operators[0] = once(0);
                m.initializations.clear();
            }),
        ),
        ("a subgraph that nothing runs", row(&|m| m.initializations.push((vec![], vec![])))),
        ("CALL_ONCE within", start(|_, operators| operators.push(once(1)))),
        ("another operator within", start(|_, operators| operators.push(Operator::new(0, &[2, 3], 2)))),
        ("no constant", start(|tensors, _| tensors[2].data = None)),
        ("no variable", start(|_, operators| operators[2] = assign(2, 3))),
        ("a missing tensor", start(|_, operators| operators[2] = assign(0, 9))),
        ("a missing operand", start(|_, operators| operators[2].inputs.truncate(1))),
        ("another shape", start(|tensors, _| tensors[2].shape = vec![2, 1])),
        (
            "another type",
            start(|tensors, _| {
                tensors[2] =
                    Tensor { element: INT16, zero_points: vec![0], ..pair("of_v") }.with_data([0; 4]);
            }),
        ),
        ("data of another size", start(|tensors, _| tensors[2].data = Some(vec![1; 3]))),
        ("CALL_ONCE after the read", row(&|m| m.operators[..3].rotate_left(1))),
        ("CALL_ONCE again after the read", row(&|m| m.operators.insert(3, once(1)))),
        ("no CALL_ONCE", row(&|m| drop((m.operators.remove(0), m.initializations.clear())))),
        ("another variable starts", start(|_, operators| operators[0] = handle(0, "u"))),
        ("no handle", row(&|m| m.operators[2] = read(X, A))),
        ("an unwritten value", row(&|m| m.operators[3] = assign(V, B))),
        (
            "a value of another shape",
            row(&|m| {
                m.operators[3] = assign(V, Y);
                m.operators.swap(3, 4);
            }),
        ),
        (
            "a read of another shape",
            row(&|m| {
                m.operators.insert(4, read(V, B));
                m.tensors[B as usize].shape = vec![2, 1];
            }),
        ),
        ("a read that writes the input", row(&|m| m.operators[2] = read(V, X))),
    ];
    let text: String = found.iter().map(|(what, error)| format!("{what}: {error}\n")).collect();
    insta::assert_snapshot!(text, @r"
    a missing subgraph: net: the file is damaged: subgraph 2 does not exist
    a negative subgraph: net: operator 0 (CALL_ONCE): CallOnceOptions.init_subgraph_index is -1
    the network itself: net: operator 0 (CALL_ONCE): runs subgraph 0, the network itself
    a subgraph that nothing runs: net: the model has 3 subgraphs; expected one, and those that CALL_ONCE runs
    CALL_ONCE within: net: operator 0 (CALL_ONCE): runs subgraph 1, whose operator 4 is CALL_ONCE (129); only assignments of constants are supported there
    another operator within: net: operator 0 (CALL_ONCE): runs subgraph 1, whose operator 4 is ADD (0); only assignments of constants are supported there
    no constant: net: operator 0 (CALL_ONCE): runs subgraph 1, whose operator 2 assigns a tensor that is not a constant
    no variable: net: operator 0 (CALL_ONCE): runs subgraph 1, whose operator 2 assigns to something that is not a variable
    a missing tensor: net: the file is damaged: tensor 9 does not exist
    a missing operand: net: operator 0 (CALL_ONCE): runs subgraph 1, whose operator 2 has the wrong number of inputs or outputs
    another shape: net: operator 2 (READ_VARIABLE): reads variable `v` as int8 [1, 2], but it starts as int8 [2, 1]
    another type: net: operator 2 (READ_VARIABLE): reads variable `v` as int8 [1, 2], but it starts as int16 [1, 2]
    data of another size: net: tensor `of_v`: 3 bytes of data do not match int8 of shape [1, 2]
    CALL_ONCE after the read: net: operator 1 (READ_VARIABLE): reads variable `v`, which no earlier initialization (CALL_ONCE) assigns: LiteRT rejects this; TensorFlow Lite Micro (`--profile tflm`) starts from 0
    CALL_ONCE again after the read: net: operator 3 (CALL_ONCE): runs after a variable was read or assigned; it must come before
    no CALL_ONCE: net: operator 1 (READ_VARIABLE): reads variable `v`, which no earlier initialization (CALL_ONCE) assigns: LiteRT rejects this; TensorFlow Lite Micro (`--profile tflm`) starts from 0
    another variable starts: net: operator 2 (READ_VARIABLE): reads variable `v`, which no earlier initialization (CALL_ONCE) assigns: LiteRT rejects this; TensorFlow Lite Micro (`--profile tflm`) starts from 0
    no handle: net: operator 2 (READ_VARIABLE): has a handle that does not come from VAR_HANDLE
    an unwritten value: net: operator 3 (ASSIGN_VARIABLE) reads tensor `b`, which is neither a constant nor written before
    a value of another shape: net: operator 2 (READ_VARIABLE): state `a` cannot take the codes of `y`: its shape is [1, 4], not [1, 2]
    a read of another shape: net: operator 4 (READ_VARIABLE): reads shape [2, 1] of a variable that holds [1, 2]
    a read that writes the input: net: operator 2 (READ_VARIABLE): tensor `x` is defined twice
    ");
}

/// A subgraph that assigns one constant many times.
#[test]
fn assignments_are_not_unfolded() {
    let mut model = delay();
    model.initializations[0].0[2] = Tensor::int8("of_v", &[1, 4096], 0.5, -3).with_data(vec![1; 4096]);
    model.repeat_operators = 100;
    let error = read_tflite(&model.to_bytes(), "net").unwrap_err();
    assert_eq!(error.code(), "guardbit::tflite::unfolds", "{error}");
}
