//! The trace of a dot product agrees with a run of its layer.

use crate::common::random::{self, Case};
use crate::common::{accelerator, datapath, independent_dots, program, register, run, serial};
use guardbit_graph::DType;
use guardbit_hwmodels::{Datapath, Reduce, Terms};
use guardbit_num::Overflow;
use guardbit_sim::trace::{LiveDot, StepKind, TraceOperand, operands, trace};
use guardbit_sim::{Options, Reads};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Published: products of 100 and -100 in 8 bits (exact sum 200): saturating 27 with 2 events, wrapping -56.
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
    for (c, code) in codes.to_vec().into_iter().enumerate() {
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

/// Returns, per product and level, whether a run of the level ends with it.
fn run_ends(datapath: &Datapath, terms: usize) -> Vec<Vec<bool>> {
    let mut ends = vec![vec![false; datapath.levels.len()]; terms];
    let mut values: Vec<usize> = (0..terms).collect();
    for (index, level) in datapath.levels.iter().enumerate() {
        let length = level.terms.run_length(values.len());
        values = values.chunks(length).filter_map(|run| run.last().copied()).collect();
        values.iter().for_each(|&k| ends[k][index] = true);
    }
    ends
}

/// A dot product gives equal results whether it is fed product by product, or in beats that end with runs of
/// the innermost level.
fn check_live(case: &Case) -> Result<(), TestCaseError> {
    let program = program(&case.graph, &case.accelerator);
    let Some(layer) = program.mac_layers().next() else { return Ok(()) };
    let Some(mut live) = LiveDot::new(layer) else { return Ok(()) };
    let window = &layer.dots.window;
    let sample = case.samples[0].as_slice();
    let reads = Reads { activations: sample, weights: layer.dots.streams_weights().then_some(sample) };
    for index in [0, window.dots() / 2, window.dots() - 1] {
        let out = window.output_position(index);
        let operands = operands(layer, reads, out);
        if operands.is_empty() {
            continue;
        }
        let expected = trace(layer, out.c, &operands);
        let ends = run_ends(&layer.datapath, operands.len());
        let length = layer.datapath.levels[0].terms.run_length(operands.len());
        for beat in [1, length] {
            let mut steps = Vec::new();
            let mut end = None;
            let chunks = operands.chunks(beat).zip(ends.chunks(beat));
            for (operands, ends) in chunks {
                prop_assert_eq!(end, None);
                let done = live.beat(layer, out.c, operands, &ends[ends.len() - 1]);
                steps.extend(done.steps);
                end = done.end;
            }
            steps.sort_by_key(|step| step.level);
            prop_assert_eq!(&steps, &expected.steps);
            let end = end.unwrap();
            let seen = (end.delivered, end.exact, end.code);
            prop_assert_eq!(seen, (expected.delivered, expected.exact, expected.code));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_live_dot_product_does_what_its_trace_says(case in random::case()) {
        check_live(&case)?;
    }
}

/// A dot product can be abandoned before its last run ends, and the next one starts from an empty state.
#[test]
fn products_are_counted_until_the_end() {
    let graph = independent_dots(DType::Int8, DType::Int8, 4, vec![1; 4]);
    let hw = accelerator(datapath(vec![serial("acc", Terms::All, register(8, Overflow::Saturate))]));
    let program = program(&graph, &hw);
    let layer = program.mac_layers().next().unwrap();
    let mut live = LiveDot::new(layer).unwrap();
    let one = [TraceOperand { activation: 100, weight: 1 }];
    live.beat(layer, 0, &one, &[]);
    let beat = live.beat(layer, 0, &one, &[false]);
    assert_eq!((live.products(), beat.steps[0].value, beat.end), (200, 127, None));
    let end = live.beat(layer, 0, &one, &[true]).end.unwrap();
    assert_eq!((end.delivered, end.exact, live.products()), (127, 300, 0));
}
