//! The datapath by hand: short sums whose every step can be checked on paper, in both engines.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Graph, Padding};
use guardbit_hwmodels::{BiasPlace, Check, Datapath, Level, Product, Reduce, Register, Terms, ZeroPoint};
use guardbit_num::{Format, Overflow, Rounding};
use guardbit_sim::{Engine, Event, EventStage, LayerStats, Options, SimError};

/// Returns one dot product that adds `values` in order: weights with these values, activations of 1.
fn sum_of(values: &[i32], bias: Option<i32>) -> Graph {
    let weights = (quantized(&[1, 1, 1, values.len()], DType::Int16, 1.0, 0), values.to_vec());
    let x = quantized(&[1, 1, 1, values.len()], DType::Int8, 1.0, 0);
    let bias = bias.map(|b| vec![b]);
    one_layer(conv2d(1, Padding::Valid), x, Some(weights), bias, output("y", DType::Int16, 1.0, 0))
}

fn simulate(graph: &Graph, path: &Datapath, engine: Engine) -> Result<(i32, LayerStats), SimError> {
    let program = program(graph, &accelerator(path.clone()));
    let ones = vec![1; graph.tensor(graph.inputs()[0]).ty.len()];
    let ran = run(&program, &[ones], Options { engine, ..Options::default() })?;
    let output = graph.outputs()[0].index();
    Ok((ran.tensors[0].simulated[output].as_ref().unwrap().get(0), ran.stats))
}

/// Expected results of a sum; omitted fields are 0.
#[derive(Default)]
struct Expected<'a> {
    code: i32,
    /// `(k, held, addend)` of every event of every level.
    events: &'a [(usize, i128, i128)],
    /// `(k, held, addend, stored)` of every product that did not fit, then of every bias.
    narrowings: &'a [(usize, i128, i128, i128)],
    persistent: u64,
    transient: u64,
    bias_events: u64,
    product_events: u64,
}

fn check(values: &[i32], bias: Option<i32>, path: &Datapath, expected: &Expected<'_>) {
    for engine in [Engine::Reference, Engine::Fast] {
        let (code, stats) = simulate(&sum_of(values, bias), path, engine).unwrap();
        assert_eq!(code, expected.code, "code, {engine:?}");
        let of_level = |event: &&Event| matches!(event.stage, EventStage::Level(_));
        let events: Vec<_> = stats.events.iter().filter(of_level).map(|e| (e.k, e.held, e.addend)).collect();
        let narrowings: Vec<_> = stats
            .events
            .iter()
            .filter(|event| !of_level(event))
            .map(|e| (e.k, e.held, e.addend, e.stored))
            .collect();
        assert_eq!(narrowings, expected.narrowings, "products and biases, {engine:?}");
        assert_eq!(events, expected.events, "events, {engine:?}");
        let level = |pick: fn(&guardbit_sim::ChannelLevel) -> u64| -> u64 {
            stats.levels.iter().map(|level| pick(&level.total())).sum()
        };
        assert_eq!(level(|l| l.persistent), expected.persistent, "persistent, {engine:?}");
        assert_eq!(level(|l| l.transient), expected.transient, "transient, {engine:?}");
        let total = stats.total();
        assert_eq!(total.bias_events, expected.bias_events, "bias events, {engine:?}");
        assert_eq!(total.product_events, expected.product_events, "product events, {engine:?}");
    }
}

fn acc(bits: u32, overflow: Overflow) -> Level {
    serial("acc", Terms::All, register(bits, overflow))
}

fn one(bits: u32, overflow: Overflow) -> Datapath {
    datapath(vec![acc(bits, overflow)])
}

fn transient(code: i32, events: &[(usize, i128, i128)]) -> Expected<'_> {
    Expected { code, events, transient: 1, ..Expected::default() }
}

fn persistent(code: i32, events: &[(usize, i128, i128)]) -> Expected<'_> {
    Expected { code, events, persistent: 1, ..Expected::default() }
}

/// Integer rows of the public cases, with outcomes computed by hand.
#[test]
fn public_cases() {
    use Overflow::{Saturate, SaturateZero, Wrap};
    let up_down = [100, 100, -100, -100];
    check(&up_down, None, &one(8, Wrap), &transient(0, &[(1, 100, 100), (2, -56, -100)]));
    check(&up_down, None, &one(8, Saturate), &transient(-73, &[(1, 100, 100)]));
    check(&[100, -100, 100, -100], None, &one(8, Saturate), &Expected::default());

    let stays_up = [100, 100, 100, -100];
    check(&stays_up, None, &one(8, Wrap), &persistent(-56, &[(1, 100, 100)]));
    check(&stays_up, None, &one(8, Saturate), &persistent(27, &[(1, 100, 100), (2, 127, 100)]));
    check(&stays_up, None, &one(8, SaturateZero), &persistent(0, &[(1, 100, 100)]));

    let swing: Vec<i32> = [vec![225; 40], vec![-225; 40]].concat();
    check(&swing, None, &one(14, Wrap), &transient(0, &[(36, 8100, 225), (43, -8059, -225)]));
    let clipped = [(36, 8100, 225), (37, 8191, 225), (38, 8191, 225), (39, 8191, 225)];
    check(&swing, None, &one(14, Saturate), &transient(-809, &clipped));

    check(&[120; 69], None, &one(14, Wrap), &persistent(-8104, &[(68, 8160, 120)]));
    check(&[120; 69], None, &one(14, Saturate), &persistent(8191, &[(68, 8160, 120)]));
    check(&[120; 68], None, &one(14, Saturate), &Expected { code: 8160, ..Expected::default() });

    let ones = [1; 10];
    check(&ones, None, &one(3, Wrap), &persistent(2, &[(3, 3, 1)]));
    let held: Vec<_> = (3..10).map(|k| (k, 3, 1)).collect();
    check(&ones, None, &one(3, Saturate), &persistent(3, &held));
}

/// Results of every mode for 100 + 100 - 150 in 8 bits.
#[test]
fn modes() {
    use Overflow::{Observe, Saturate, SaturateSymmetric, SaturateZero, Sticky, Wrap};
    let values = [100, 100, -150];
    check(&values, None, &one(8, Wrap), &transient(50, &[(1, 100, 100), (2, -56, -150)]));
    check(&values, None, &one(8, Saturate), &transient(-23, &[(1, 100, 100)]));
    check(&values, None, &one(8, SaturateZero), &transient(0, &[(1, 100, 100), (2, 0, -150)]));
    check(&values, None, &one(8, Sticky), &transient(127, &[(1, 100, 100)]));
    check(&values, None, &one(8, Observe), &transient(50, &[(1, 100, 100)]));
    // -128 fits, but symmetric saturation does not use it: an event that is neither persistent nor transient.
    let low = Expected { code: -127, events: &[(1, -100, -28)], ..Expected::default() };
    check(&[-100, -28], None, &one(8, SaturateSymmetric), &low);
    let unsigned = Register::Fixed { format: Format::new(8, false).unwrap(), overflow: Saturate };
    let path = datapath(vec![serial("acc", Terms::All, unsigned)]);
    check(&[200, -250, 5], None, &path, &persistent(5, &[(1, 200, -250)]));
}

/// Exact within the run, fitted when the result leaves: the final sum is the only prefix.
#[test]
fn hand_over() {
    let level = Level { check: Check::HandOver, ..acc(8, Overflow::Saturate) };
    let path = datapath(vec![level.clone()]);
    check(&[100, 100, -150], None, &path, &Expected { code: 50, ..Expected::default() });
    check(&[100, 100, 100], None, &path, &persistent(127, &[(2, 300, 0)]));
    let tree = datapath(vec![Level { reduce: Reduce::Tree, ..level }]);
    check(&[100, 100, -150], None, &tree, &Expected { code: 50, ..Expected::default() });
    check(&[100, 100, 100], None, &tree, &persistent(127, &[(2, 300, 0)]));
}

/// Adjacent pairs; an odd last value passes up unchanged, whatever its size.
#[test]
fn tree() {
    let level = Level { reduce: Reduce::Tree, ..acc(8, Overflow::Saturate) };
    let path = datapath(vec![level.clone()]);
    // (100 + 100 -> 127) + (-50 + -50 = -100) = 27.
    check(&[100, 100, -50, -50], None, &path, &transient(27, &[(1, 100, 100)]));
    // 300 is not a node of its own; it meets 20 in the last round.
    check(&[10, 10, 300], None, &path, &persistent(127, &[(2, 20, 300)]));
    check(&[300], None, &path, &persistent(300, &[]));
    // Sticky is saturation at each node.
    let sticky = datapath(vec![Level { register: register(8, Overflow::Sticky), ..level }]);
    check(&[100, 100, -50, -50], None, &sticky, &transient(27, &[(1, 100, 100)]));
}

/// A column chain of two rows, followed by an accumulator.
#[test]
fn two_levels() {
    let chain = serial("chain", Terms::Count(2), register(8, Overflow::Saturate));
    let path = datapath(vec![chain.clone(), acc(9, Overflow::Wrap)]);
    // Runs 100+100 -> 127, 100+100 -> 127, 50: 127 + 127 = 254, + 50 = 304 -> -208 in 9 bits.
    let expected = Expected {
        code: -208,
        events: &[(1, 100, 100), (3, 100, 100), (4, 254, 50)],
        persistent: 2,
        ..Expected::default()
    };
    check(&[100, 100, 100, 100, 50], None, &path, &expected);

    // The chain drops a bit: (7 >> 1) + (7 >> 1) = 6, shifted back to 12; the exact sum is 14.
    let shifting = Level { shift: 1, round: Rounding::Floor.into(), ..chain };
    let path = datapath(vec![shifting, acc(9, Overflow::Wrap)]);
    check(&[3, 4, 4, 3], None, &path, &Expected { code: 12, ..Expected::default() });
}

#[test]
fn products() {
    let mut path = one(20, Overflow::Saturate);
    path.product =
        Product { register: register(8, Overflow::Saturate), shift: 0, round: Rounding::Floor.into() };
    check(
        &[200, -200, 5],
        None,
        &path,
        &Expected {
            code: 4,
            product_events: 2,
            narrowings: &[(0, 0, 200, 127), (1, 0, -200, -128)],
            ..Expected::default()
        },
    );
    // Fitted first, then shifted: 127 >> 1 = 63 and 5 / 2 rounds up to 3.
    path.product = Product { shift: 1, round: Rounding::HalfUp.into(), ..path.product };
    let shifted = Expected {
        code: (64 + 3) * 2,
        product_events: 1,
        narrowings: &[(0, 0, 200, 127)],
        ..Expected::default()
    };
    check(&[200, 5], None, &path, &shifted);
}

#[test]
fn bias_after_the_last_level() {
    let mut path = one(8, Overflow::Saturate);
    check(&[100, 100], Some(1000), &path, &persistent(1127, &[(1, 100, 100)]));
    path.bias.register = register(8, Overflow::Wrap);
    let narrowings = &[(1, 127, 10, 137 - 256)];
    let wrapped = Expected { bias_events: 1, narrowings, ..persistent(127 + 10 - 256, &[(1, 100, 100)]) };
    check(&[100, 100], Some(10), &path, &wrapped);
    // Without a bias there is no addition, and nothing to check.
    path.bias.register = register(4, Overflow::Wrap);
    check(&[100], None, &path, &Expected { code: 100, ..Expected::default() });
}

#[test]
fn bias_as_initial_value() {
    let preload = |overflow| {
        let mut path = one(8, overflow);
        path.bias.at = BiasPlace::Preload;
        path
    };
    check(&[50, -60], Some(100), &preload(Overflow::Saturate), &transient(67, &[(0, 100, 50)]));
    // The bias itself does not fit: one bias event, prefix 0 does not fit, no addition.
    let narrowings = &[(0, 0, 200, 127)];
    let loaded = Expected { code: 27, transient: 1, bias_events: 1, narrowings, ..Expected::default() };
    check(&[-100], Some(200), &preload(Overflow::Saturate), &loaded);
    let stuck = Expected { code: 127, transient: 1, bias_events: 1, narrowings, ..Expected::default() };
    check(&[-100], Some(200), &preload(Overflow::Sticky), &stuck);
    // At unit 2: 9 >> 1 = 4 is loaded.
    let mut path = preload(Overflow::Saturate);
    path.product = Product { shift: 1, ..path.product };
    check(&[6], Some(9), &path, &Expected { code: 14, ..Expected::default() });
}

#[test]
fn bias_after_requantization() {
    let mut path = one(8, Overflow::Saturate);
    path.bias.at = BiasPlace::PostRequantize;
    check(&[100, 100], Some(1000), &path, &persistent(1127, &[(1, 100, 100)]));
    path.bias.register = register(8, Overflow::Saturate);
    let narrowings = &[(0, 0, 1000, 127)];
    let fitted = Expected { code: 227, bias_events: 1, narrowings, ..Expected::default() };
    check(&[100], Some(1000), &path, &fitted);
}

/// Raw codes in the accumulator: the constants move to the bias, padding carries the zero point.
#[test]
fn folded_zero_points() {
    let weights = (quantized(&[1, 3, 1, 1], DType::Int8, 1.0, 0), vec![1, 2, 3]);
    let x = quantized(&[1, 1, 1, 1], DType::Int8, 1.0, -100);
    let padding = Padding::Explicit { rows: [1, 1], cols: [0, 0] };
    let graph = one_layer(conv2d(1, padding), x, Some(weights), None, output("y", DType::Int16, 1.0, 0));
    let extremes = |zero_point| {
        let mut path = one(16, Overflow::Saturate);
        path.operands.zero_point = zero_point;
        let (code, stats) = simulate(&graph, &path, Engine::Reference).unwrap();
        let level = stats.levels[0].total();
        (code, level.min_prefix, level.max_prefix)
    };
    // The one pixel holds code 1, real 101: 2 * 101.
    assert_eq!(extremes(ZeroPoint::Subtract), (202, 0, 202));
    // -100*1, + 1*2, -100*3: prefixes -100, -98, -398; the bias restores 600.
    assert_eq!(extremes(ZeroPoint::Fold), (202, -398, 0));
}

#[test]
fn trap_names_the_first_overflow() {
    for engine in [Engine::Reference, Engine::Fast] {
        let error = simulate(&sum_of(&[100, 100, 100], None), &one(8, Overflow::Trap), engine).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("overflow trapped in layer `y`, level `acc`, sample 0, "), "{text}");
        assert!(text.contains("output [n 0, h 0, w 0, c 0], k 1, cycle "), "{text}");
    }
}

#[test]
fn wrong_and_harmless() {
    // The output saturates at 32767: the lost 1 does not show.
    let (_, stats) =
        simulate(&sum_of(&[30000, 2768, 100], None), &one(16, Overflow::Saturate), Engine::Fast).unwrap();
    let total = stats.total();
    assert_eq!((total.wrong, total.harmless, total.sum_abs_err, total.output_mismatch), (1, 1, 101, 0));
}
