//! Tests of patterns: matches, non-matches and names.

use crate::common::DOUBLE;
use guardbit_graph::ops::{Add, Concat, Conv2d, Mul, Quantize, Relu, Relu6, Reshape};
use guardbit_graph::pattern::{Match, Pattern};
use guardbit_graph::{Activation, DType, Graph, GraphBuilder, Op, OutputSpec, TensorId, TensorType};
use guardbit_num::Scheme;

/// Parses a network from lines `name = op(operands)`.
///
/// `x` is its input, `w` and `b` are weights and bias for one channel, and `-` is an absent operand. Outputs are
/// unread tensors and names that end in `!`.
fn network(lines: &[&str]) -> Graph {
    let mut builder = GraphBuilder::new("network");
    let ty = |shape: &[usize]| TensorType::quantized(shape, DType::Int8, 0.5, 0).unwrap();
    let mut known: Vec<(String, TensorId)> = vec![
        ("x".into(), builder.input("x", ty(&[1, 2, 2, 1])).unwrap()),
        ("w".into(), builder.constant("w", ty(&[1, 1, 1, 1]), vec![2]).unwrap()),
    ];
    let bias = TensorType { shape: vec![1], dtype: DType::Int32, quantization: None };
    known.push(("b".into(), builder.constant("b", bias, vec![3]).unwrap()));
    let (mut read, mut outputs) = (Vec::new(), Vec::new());
    for line in lines {
        let (name, call) = line.split_once(" = ").unwrap();
        let (op, operands) = call.trim_end_matches(')').split_once('(').unwrap();
        let find = |name: &str| known.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        let inputs: Vec<_> = operands.split(", ").map(find).collect();
        let id = builder
            .node(
                operation(op),
                &inputs,
                OutputSpec::quantized(name.trim_end_matches('!'), DType::Int8, 0.5, 0).unwrap(),
            )
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        read.extend(inputs.into_iter().flatten());
        known.push((name.trim_end_matches('!').into(), id));
        if name.ends_with('!') {
            outputs.push(id);
        }
    }
    let unread = known.iter().skip(3).map(|(_, id)| *id).filter(|id| !read.contains(id));
    let unread: Vec<_> = unread.filter(|id| !outputs.contains(id)).collect();
    outputs.extend(unread);
    builder.finish(outputs).unwrap()
}

fn operation(name: &str) -> Op {
    let conv = |activation| Conv2d { activation, requantize: DOUBLE, ..Conv2d::default() };
    match name {
        "conv" => conv(Activation::None).into(),
        "conv_relu" => conv(Activation::Relu).into(),
        "relu" => Relu { requantize: DOUBLE }.into(),
        "relu6" => Relu6 { requantize: DOUBLE }.into(),
        "quantize" => Quantize { requantize: DOUBLE }.into(),
        "add" => Add { activation: Activation::None, scheme: Scheme::Double }.into(),
        "mul" => Mul { activation: Activation::None, requantize: DOUBLE }.into(),
        "concat" => Concat { axis: 3, requantize: DOUBLE }.into(),
        "reshape" => Reshape { shape: vec![1, 2, 2, 1] }.into(),
        other => panic!("{other}"),
    }
}

/// Compares all matches, written as `root [nodes] name=tensor ...`.
fn check(lines: &[&str], pattern: &Pattern, expected: &[&str]) {
    let graph = network(lines);
    let name = |id: &TensorId| graph.tensor(*id).name.as_str();
    let text = |found: &Match<'_>| {
        let nodes: Vec<_> = found.nodes().map(|node| graph.node_name(node)).collect();
        let mut text = format!("{} [{}]", found.output().name, nodes.join(" "));
        for known in ["x", "w", "b", "a", "act", "in"] {
            let all: Vec<_> = found.all(known).iter().map(name).collect();
            if !all.is_empty() {
                text += &format!(" {known}={}", all.join("+"));
            }
        }
        text
    };
    let found: Vec<_> = pattern.matches(&graph).iter().map(text).collect();
    assert_eq!(found, expected, "{pattern:?} in {lines:?}");
}

fn any(name: &'static str) -> Pattern {
    Pattern::any().named(name)
}

fn conv() -> Pattern {
    let bias = Pattern::constant().named("b").or_absent();
    Pattern::op::<Conv2d>().reads([any("x"), Pattern::constant().named("w"), bias])
}

#[test]
fn operands_one_for_one() {
    check(&["c = conv(x, w, b)"], &conv(), &["c [c] x=x w=w b=b"]);
    check(&["c = conv(x, w)"], &conv(), &["c [c] x=x w=w"]);
    check(&["c = conv(x, w, -)"], &conv(), &["c [c] x=x w=w"]);
    let without_bias = Pattern::op::<Conv2d>().reads([any("x"), any("w")]);
    check(&["c = conv(x, w, b)", "d = conv(c, w, -)"], &without_bias, &["d [d] x=c w=w"]);
    check(&["c = conv(x, w, b)"], &Pattern::op::<Conv2d>(), &["c [c]"]);
    check(&["r = relu(x)"], &Pattern::op::<Relu>().reads([Pattern::constant()]), &[]);
}

#[test]
fn attributes_and_types() {
    let plain = Pattern::op_where(|conv: &Conv2d| conv.activation == Activation::None);
    check(&["p = conv(x, w)", "q = conv_relu(p, w)", "r = conv(q, w)"], &plain, &["p [p]", "r [r]"]);
    let rectifiers = Pattern::op_named(["relu", "relu6"]);
    check(&["p = relu(x)", "q = relu6(p)", "r = quantize(q)"], &rectifiers, &["p [p]", "q [q]"]);
    let four = Pattern::op::<Relu>().where_type(|ty| ty.len() == 4);
    check(&["p = relu(x)", "c = concat(p, p)", "r = relu(c)"], &four, &["p [p]"]);
    let twos = Pattern::constant().where_tensor(|t| t.codes().is_some_and(|codes| *codes == [2]));
    check(&["m = mul(x, w)"], &Pattern::op::<Mul>().reads([any("x"), twos]), &["m [m] x=x"]);
}

/// The longer alternative is tried first, from the outputs upwards.
#[test]
fn optional_nodes() {
    let pattern = conv().then_maybe(|conv| Pattern::op_named(["relu", "relu6"]).reads([conv]).named("act"));
    check(&["c = conv(x, w)", "r = relu(c)"], &pattern, &["r [c r] x=x w=w act=r"]);
    check(&["c = conv(x, w)", "q = quantize(c)"], &pattern, &["c [c] x=x w=w"]);
    // Another node reads the convolution, so the rectifier is left out.
    check(&["c = conv(x, w)", "r = relu(c)", "q = quantize(c)"], &pattern, &["c [c] x=x w=w"]);
    check(
        &["c = conv(x, w)", "r = relu(c)", "d = conv(r, w)", "s = relu6(d)"],
        &pattern,
        &["r [c r] x=x w=w act=r", "s [d s] x=r w=w act=s"],
    );
}

#[test]
fn what_others_read() {
    let pattern = |first: Pattern| Pattern::op::<Quantize>().reads([first.named("a")]);
    let relu = || Pattern::op::<Relu>();
    let seen_elsewhere = ["r = relu(x)", "q = quantize(r)", "s = reshape(r)"];
    check(&seen_elsewhere, &pattern(relu()), &[]);
    check(&seen_elsewhere, &pattern(relu().shared()), &["q [r q] a=r"]);
    check(&["r! = relu(x)", "q = quantize(r)"], &pattern(relu()), &[]);
    check(&["r! = relu(x)", "q = quantize(r)"], &pattern(relu().shared()), &["q [r q] a=r"]);
    // A shared node can be part of several matches.
    let twice = ["r = relu(x)", "q = quantize(r)", "p = quantize(r)"];
    check(&twice, &pattern(relu().shared()), &["q [r q] a=r", "p [r p] a=r"]);
    // The inputs of a shared node belong to it.
    let two = Pattern::op::<Relu6>().reads([relu().reads([relu().named("a")]).shared()]);
    check(&["r = relu(x)", "s = relu(r)", "t = relu6(s)"], &two, &[]);
}

#[test]
fn branches_that_meet() {
    let pattern = Pattern::op::<Mul>().reads([any("x"), Pattern::op::<Relu>().reads([any("x")])]);
    check(&["r = relu(x)", "m = mul(x, r)"], &pattern, &["m [r m] x=x"]);
    check(&["r = relu(x)", "m = mul(r, x)"], &pattern, &[]);
    check(&["r = relu(x)", "s = relu(r)", "m = mul(x, s)"], &pattern, &[]);
    // Both branches start at one node inside the match.
    let start = || Pattern::op::<Quantize>().reads([any("x")]).named("a");
    let diamond = Pattern::op::<Add>()
        .reads([Pattern::op::<Relu>().reads([start()]), Pattern::op::<Relu6>().reads([start()])]);
    check(
        &["q = quantize(x)", "r = relu(q)", "s = relu6(q)", "y = add(r, s)"],
        &diamond,
        &["y [q r s y] x=x a=q"],
    );
    check(
        &["q = quantize(x)", "r = relu(q)", "s = relu6(q)", "y = add(r, s)", "z = reshape(q)"],
        &diamond,
        &[],
    );
}

#[test]
fn operands_in_any_order() {
    let pattern = Pattern::op::<Add>().reads_in_any_order([Pattern::op::<Relu>().named("a"), any("x")]);
    check(&["r = relu(x)", "y = add(r, x)"], &pattern, &["y [r y] x=x a=r"]);
    check(&["r = relu(x)", "y = add(x, r)"], &pattern, &["y [r y] x=x a=r"]);
    check(&["y = add(x, x)"], &pattern, &[]);
    // A choice that fails later is undone: the first operand matches both patterns.
    let same = Pattern::op::<Add>().reads([
        Pattern::op::<Add>().reads_in_any_order([any("a"), any("x")]),
        Pattern::op::<Relu>().reads([any("a")]),
    ]);
    check(
        &["q = quantize(x)", "s = add(x, q)", "r = relu(q)", "y = add(s, r)"],
        &same,
        &["y [s r y] x=x a=q"],
    );
}

#[test]
fn any_number_of_operands() {
    let each = Pattern::op::<Quantize>().reads([any("in")]);
    let pattern = Pattern::op::<Concat>().reads_only(each.named("a"));
    // One operand reads another one, so both are inside.
    let lines = ["p = quantize(x)", "q = quantize(p)", "r = quantize(q)", "y = concat(q, r)"];
    check(&lines, &pattern, &["y [q r y] a=q+r in=p+q"]);
    let lines = ["p = quantize(x)", "q = relu(x)", "r = quantize(q)", "y = concat(p, r)"];
    check(&lines, &pattern, &["y [p r y] a=p+r in=x+q"]);
    check(&["p = quantize(x)", "q = relu(x)", "y = concat(p, q)"], &pattern, &[]);
}

#[test]
fn what_a_match_knows() {
    let graph = network(&["c = conv_relu(x, w)", "q = quantize(c)"]);
    let pattern = Pattern::op::<Quantize>().reads([conv().named("a")]);
    let found = pattern.matches(&graph).swap_remove(0);
    assert_eq!(found.op::<Conv2d>("a").unwrap().activation, Activation::Relu);
    assert!(found.op::<Relu>("a").is_none() && found.op::<Conv2d>("x").is_none());
    assert_eq!((found.id("b"), found.node("x"), found.tensor("none").is_none()), (None, None, true));
    assert_eq!(found.ty("w").unwrap().len(), 1);
    assert_eq!(format!("{pattern:?}"), "quantize(a: conv2d(x: any, w: constant, b: constant?))");
}
