//! Tests of states: codes that are carried from one step of a stream to the next.

use guardbit_graph::ops::{Concat, Slice};
use guardbit_graph::{DType, Graph, GraphBuilder, GraphError, OutputSpec, TensorType};

use crate::common::DOUBLE;
use crate::passes::stream;

fn ty(shape: &[usize], dtype: DType) -> TensorType {
    TensorType::quantized(shape, dtype, 0.5, 0).unwrap()
}

/// Returns a network that outputs the last three codes of a stream, the newest last.
fn window() -> Graph {
    let mut builder = GraphBuilder::new("window");
    let x = builder.input("x", ty(&[1, 1], DType::Int8)).unwrap();
    let held = builder.state("held", ty(&[1, 2], DType::Int8), vec![7, 8]).unwrap();
    let spec = |name| OutputSpec::quantized(name, DType::Int8, 0.5, 0).unwrap();
    let joined = Concat { axis: 1, requantize: DOUBLE };
    let y = builder.node(joined, &[Some(held), Some(x)], spec("y")).unwrap();
    let last = Slice { begin: vec![0, 1], size: vec![1, 2], ..Slice::whole(&[1, 3]) };
    let next = builder.node(last, &[Some(y)], spec("next")).unwrap();
    builder.carry(held, next).unwrap();
    builder.finish(vec![y]).unwrap()
}

fn steps(codes: &[i32]) -> Vec<Vec<Vec<i32>>> {
    codes.iter().map(|&code| vec![vec![code]]).collect()
}

#[test]
fn a_stream_starts_with_the_initial_codes_and_goes_on_with_the_next_ones() {
    let graph = window();
    let output = |codes: &Vec<Vec<i32>>| codes[graph.outputs()[0].index()].clone();
    let made: Vec<_> = stream(&graph, &steps(&[1, 2, 3, 4])).iter().map(output).collect();
    assert_eq!(made, [[7, 8, 1], [8, 1, 2], [1, 2, 3], [2, 3, 4]]);
    assert_eq!(output(&graph.interpret(&[&[5]]).unwrap()), [7, 8, 5], "one sample is the first step");
}

#[test]
fn a_state_that_nothing_is_carried_to_keeps_its_codes() {
    let mut builder = GraphBuilder::new("constant");
    builder.input("x", ty(&[1], DType::Int8)).unwrap();
    let held = builder.state("held", ty(&[2], DType::Int8), vec![1, 2]).unwrap();
    let graph = builder.finish(vec![held]).unwrap();
    let made = stream(&graph, &steps(&[3, 4]));
    assert!(made.iter().all(|codes| codes[held.index()] == [1, 2]));
}

#[test]
fn an_input_a_constant_and_another_state_can_be_carried() {
    let mut builder = GraphBuilder::new("delay");
    let x = builder.input("x", ty(&[1], DType::Int8)).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.state(name, ty(&[1], DType::Int8), vec![0]).unwrap());
    let five = builder.constant("five", ty(&[1], DType::Int8), vec![5]).unwrap();
    [(a, x), (b, a), (c, five)].into_iter().for_each(|(state, next)| builder.carry(state, next).unwrap());
    let graph = builder.finish(vec![b, c]).unwrap();
    let made = stream(&graph, &steps(&[1, 2, 3, 4]));
    let of = |id: guardbit_graph::TensorId| made.iter().map(|codes| codes[id.index()][0]).collect::<Vec<_>>();
    assert_eq!((of(b), of(c)), (vec![0, 0, 1, 2], vec![0, 5, 5, 5]));
}

#[test]
fn states_that_cannot_be() {
    let mut builder = GraphBuilder::new("wrong");
    let x = builder.input("x", ty(&[1, 2], DType::Int8)).unwrap();
    let outside = builder.state("s", ty(&[1], DType::Int8), vec![200]).unwrap_err();
    assert!(matches!(outside, GraphError::CodeRange { .. }), "{outside}");
    let count = builder.state("s", ty(&[1], DType::Int8), vec![1, 2]).unwrap_err();
    assert!(matches!(count, GraphError::CodeCount { .. }), "{count}");
    let wide = builder.state("s", ty(&[1 << 20, 1 << 20], DType::Int8), vec![]).unwrap_err();
    assert!(matches!(wide, GraphError::TooLarge { .. }), "{wide}");
    let held = builder.state("s", ty(&[2], DType::Int8), vec![1, 2]).unwrap();
    let other = builder.state("o", ty(&[1, 2], DType::UInt8), vec![1, 2]).unwrap();
    let narrow = TensorType::quantized(&[1, 2], DType::Int8, 0.5, 0).unwrap();
    let range = guardbit_graph::CodeRange::new(-3, 3).unwrap();
    let quantization = narrow.quantization.clone().map(|quantization| quantization.with_range(range));
    let narrow = builder.state("n", TensorType { quantization, ..narrow }, vec![0, 0]).unwrap();
    let problem = |error: GraphError| error.to_string();
    let said = [(x, x), (held, x), (other, x), (narrow, x)]
        .map(|(state, next)| builder.carry(state, next).map_err(problem).unwrap_err());
    let expected = [
        "state `x` cannot take the codes of `x`: `x` is not a state",
        "state `s` cannot take the codes of `x`: its shape is [1, 2], not [2]",
        "state `o` cannot take the codes of `x`: it is int8, not uint8",
        "state `n` cannot take the codes of `x`: it may hold int8, the state int8 [-3, 3]",
    ];
    assert_eq!(said, expected);
    let graph = window();
    let step = |inputs: &[&[i32]], mut states: Vec<Vec<i32>>| graph.interpret_step(inputs, &mut states);
    assert!(matches!(step(&[&[1]], vec![]), Err(GraphError::StateCount { expected: 1, found: 0 })));
    assert!(matches!(step(&[&[1]], vec![vec![1]]), Err(GraphError::CodeCount { .. })));
    assert!(matches!(step(&[&[1]], vec![vec![1, 300]]), Err(GraphError::CodeRange { .. })));
}

/// States and their initial codes are part of a network's identity, by which results are stored.
#[test]
fn states_are_part_of_what_decides() {
    let text = |graph: &Graph| serde_json::to_string(graph).unwrap();
    let graph = window();
    assert!(text(&graph).contains("\"states\":[{\"tensor\":1,\"next\":"), "{}", text(&graph));
    let part = graph.cut(&["held".into()], &[]).unwrap();
    assert!(!part.has_states() && part.inputs().len() == 2 && !text(&part).contains("states"));
    let order = graph.in_order_of_files();
    assert_eq!(text(&order.in_order_of_files()), text(&order));
    assert_eq!(stream(&order, &steps(&[1, 2]))[1][order.outputs()[0].index()], [8, 1, 2]);
}
