//! The trace of a dot product says what a run of the same layer says.

mod common;

use common::{accelerator, datapath, independent_dots, program, register, run, serial};
use guardbit_graph::DType;
use guardbit_hwmodels::{Reduce, Terms};
use guardbit_num::Overflow;
use guardbit_sim::Options;
use guardbit_sim::trace::{StepKind, operands, trace};

/// Published: products of 100 and -100 in 8 bits (true 200): saturating 27 with 2 events, wrapping -56.
#[test]
fn steps_of_a_published_case() {
    let expected = [
        (Overflow::Saturate, [100, 127, 127, 27], [false, true, true, false]),
        (Overflow::Wrap, [100, -56, 44, -56], [false, true, false, false]),
    ];
    for (overflow, values, events) in expected {
        let graph = independent_dots(DType::Int8, DType::Int8, 4, vec![1; 4]);
        let hw = accelerator(datapath(vec![serial("acc", Terms::All, register(8, overflow))]));
        let program = program(&graph, &hw);
        let layer = program.mac_layers().next().unwrap();
        let operands = operands(layer, &[100, 100, 100, -100], layer.dots.window.output_position(0));
        let trace = trace(layer, 0, &operands);
        let adds: Vec<_> = trace.steps.iter().filter(|s| s.kind == StepKind::Add).collect();
        assert_eq!(adds.iter().map(|s| s.value).collect::<Vec<_>>(), values, "{overflow}");
        assert_eq!(adds.iter().map(|s| s.overflow.is_some()).collect::<Vec<_>>(), events, "{overflow}");
        assert_eq!(adds.iter().map(|s| s.unbounded).collect::<Vec<_>>(), [100, 200, 300, 200]);
        assert_eq!((trace.delivered, trace.exact), (values[3], 200));
    }
}

#[test]
fn traces_and_runs_agree() {
    let weights: Vec<i32> = (0..60).map(|i| (i * 37 % 255) - 127).collect();
    let graph = independent_dots(DType::Int8, DType::Int8, 20, weights);
    let mut tree = serial("tree", Terms::Count(8), register(14, Overflow::Saturate));
    tree.reduce = Reduce::Tree;
    let hw = accelerator(datapath(vec![tree, serial("acc", Terms::All, register(14, Overflow::Wrap))]));
    let program = program(&graph, &hw);
    let layer = program.mac_layers().next().unwrap();
    let input: Vec<i32> = (0..60).map(|i| (i * 91 % 255) - 127).collect();
    let ran = run(&program, std::slice::from_ref(&input), Options::default()).unwrap();
    let codes = ran.tensors[0].simulated[program.graph.outputs()[0].index()].clone().unwrap();
    let mut events = [0, 0];
    for (c, &code) in codes.iter().enumerate() {
        let out = layer.dots.window.output_position(c);
        let trace = trace(layer, c, &operands(layer, &input, out));
        assert_eq!(trace.code, code, "channel {c}");
        for step in trace.steps.iter().filter(|s| s.overflow.is_some()) {
            events[step.level] += 1;
        }
    }
    for (level, events) in ran.stats.levels.iter().zip(events) {
        let counted: u64 = level.channels.iter().map(|c| c.events_high + c.events_low).sum();
        assert_eq!(counted, events);
    }
}
