//! Rules of `docs/reference/arithmetic.md` that are easily misunderstood, each computed by hand and tested in every
//! engine.

use std::sync::Arc;

use crate::common::{
    REQUANTIZE, accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::ops::{AvgPool2d, FullyConnected, Mean, Sum};
use guardbit_graph::{
    Activation, DType, Graph, MultiplierRule, Op, OutputPosition, Padding, Quantization, Requantize,
    TensorType,
};
use guardbit_hwmodels::{
    BiasPlace, Check, Datapath, Level, OutputFit, Product, Reduce, Register, Terms, Walk, ZeroPoint,
    check_yaml, lower,
};
use guardbit_num::{Format, Overflow, Rounding, Scheme};
use guardbit_sim::trace::operands;
use guardbit_sim::{Codes, Engine, EventStage, LayerStats, Options};

/// Dot product: activations and weights as codes of scale 1, and their zero points.
#[derive(Clone, Default)]
struct Dot {
    x: Vec<i32>,
    w: Vec<i32>,
    zero_points: (i32, i32),
    bias: Option<i32>,
    activation: Activation,
}

impl Dot {
    fn of(x: &[i32], w: &[i32]) -> Self {
        Self { x: x.to_vec(), w: w.to_vec(), ..Self::default() }
    }

    fn sum_of(values: &[i32], bias: Option<i32>) -> Self {
        Self { bias, ..Self::of(&vec![1; values.len()], values) }
    }

    fn graph(&self, out: DType) -> Graph {
        let k = self.x.len();
        let quantization = Some(Quantization::per_tensor(1.0, self.zero_points.1).unwrap());
        let weights = TensorType { shape: vec![1, 1, 1, k], dtype: DType::Int16, quantization };
        let x = quantized(&[1, 1, 1, k], DType::Int8, 1.0, self.zero_points.0);
        let op = guardbit_graph::ops::Conv2d { activation: self.activation, ..conv2d(1, Padding::Valid) };
        let bias = self.bias.map(|bias| vec![bias]);
        one_layer(op, x, Some((weights, self.w.clone())), bias, output("y", out, 1.0, 0))
    }

    /// Returns narrow code, exact code and statistics, which must be equal in every engine.
    fn run(&self, path: &Datapath, out: DType) -> (i32, i32, LayerStats) {
        let graph = self.graph(out);
        let program = program(&graph, &accelerator(path.clone()));
        let ran = |engine| {
            let options = Options { engine, ..Options::default() };
            let ran = run(&program, std::slice::from_ref(&self.x), options).unwrap();
            let at = graph.outputs()[0].index();
            let code = |codes: &Option<Codes>| codes.as_ref().unwrap().get(0);
            (code(&ran.tensors[0].simulated[at]), code(&ran.tensors[0].exact[at]), ran.stats)
        };
        let reference = ran(Engine::Reference);
        assert_eq!(ran(Engine::Fast), reference);
        reference
    }
}

/// Returns a serial level of 8 bits that saturates.
fn narrow() -> Level {
    serial("acc", Terms::All, register(8, Overflow::Saturate))
}

fn with_bias(at: BiasPlace, levels: Vec<Level>) -> Datapath {
    let mut path = datapath(levels);
    path.bias.at = at;
    path
}

/// Under `hand_over` the register is exact within the run: a preload is neither fitted nor a prefix.
#[test]
fn a_preload_under_hand_over_is_not_fitted() {
    // (values, bias, check) -> (code, bias events, persistent, transient, greatest prefix, events).
    let check = |values: &[i32], check, expected: (i32, u64, u64, u64, i128, u64)| {
        let path = with_bias(BiasPlace::Preload, vec![Level { check, ..narrow() }]);
        let (code, _, stats) = Dot::sum_of(values, Some(200)).run(&path, DType::Int16);
        let level = stats.levels[0].total();
        let bias_events = stats.total().bias_events;
        let found = (code, bias_events, level.persistent, level.transient, level.max_prefix, level.events());
        assert_eq!(found, expected, "{values:?} {check:?}");
    };
    check(&[-100], Check::EachAdd, (27, 1, 0, 1, 200, 0));
    check(&[-100], Check::HandOver, (100, 0, 0, 0, 100, 0));
    // The result is fitted once: one event, and no bias event.
    check(&[-50], Check::HandOver, (127, 0, 1, 0, 150, 1));
}

/// A bias is shifted once, by the sum of the shifts, with the rounding of the last stage that shifts.
#[test]
fn a_bias_is_shifted_once() {
    use Rounding::{Floor, HalfUp};
    // (shift, round) of product and inner level; a bias of 3 before a sum of 0.
    let check = |product: (u32, Rounding), level: (u32, Rounding), held: i32| {
        let inner = Level {
            shift: level.0,
            round: level.1.into(),
            ..serial("inner", Terms::Count(1), Register::Auto)
        };
        for at in [BiasPlace::Preload, BiasPlace::Post] {
            let mut path = with_bias(at, vec![inner.clone(), serial("acc", Terms::All, Register::Auto)]);
            path.product = Product { shift: product.0, round: product.1.into(), ..path.product };
            let (code, exact, _) = Dot::sum_of(&[0], Some(3)).run(&path, DType::Int16);
            assert_eq!((code, exact), (held << (product.0 + level.0), 3), "{product:?} {level:?} {at:?}");
        }
    };
    // 3 / 4 rounded down is 0. Two shifts by 1, the first rounded up, would give (3 + 1) / 2 = 2, then 1.
    check((1, HalfUp), (1, Floor), 0);
    check((1, Floor), (1, HalfUp), 1);
    // The level does not shift, so the product's rounding applies.
    check((2, HalfUp), (0, Floor), 1);
    check((2, Floor), (0, HalfUp), 0);
}

/// Under `fold` the bias and `-zw * sum(x)` are added to the sum in one addition, shifted together.
#[test]
fn bias_and_side_sum_are_shifted_together() {
    let mut path = datapath(vec![Level { shift: 1, ..serial("acc", Terms::All, Register::Auto) }]);
    path.operands.zero_point = ZeroPoint::Fold;
    // Raw codes -1 * 0; the real weight is -1, and -1 * -1 = 1 is all side sum. With a bias of 1, 2 / 2 = 1
    // is added; shifted separately, each would be 0.
    let dot = Dot { zero_points: (0, 1), bias: Some(1), ..Dot::of(&[-1], &[0]) };
    assert_eq!(dot.run(&path, DType::Int16).0, 2);
}

/// A layer has a bias adder if it has a bias or zero points that require one, even if the added value is 0.
#[test]
fn the_bias_adder() {
    let check = |dot: Dot, zero_point, expected: (i32, u64)| {
        let mut path = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
        path.operands.zero_point = zero_point;
        path.bias.register = register(4, Overflow::Saturate);
        let (code, _, stats) = dot.run(&path, DType::Int16);
        assert_eq!((code, stats.total().bias_events), expected, "{:?}", dot.zero_points);
    };
    let with = |zero_points, bias| Dot { zero_points, bias, ..Dot::of(&[10, -10], &[10, 5]) };
    // Neither a bias nor folded zero points: no adder, no event.
    check(with((0, 0), None), ZeroPoint::Subtract, (50, 0));
    check(with((0, 0), None), ZeroPoint::Fold, (50, 0));
    check(with((3, 2), None), ZeroPoint::Subtract, (7 * 8 - 13 * 3, 0));
    // An adder of 4 bits.
    check(with((0, 0), Some(0)), ZeroPoint::Subtract, (7, 1));
    check(with((3, 0), None), ZeroPoint::Fold, (5, 0));
    check(with((3, 2), None), ZeroPoint::Fold, (7, 1));
    // The activations sum to 0, and so the added value is 0, but the adder exists.
    check(with((0, 2), None), ZeroPoint::Fold, (7, 1));
}

/// An unsigned register of any width cannot hold a negative sum: it is reported as 65 bits, more than any
/// register has.
#[test]
fn a_negative_sum_takes_65_unsigned_bits() {
    let register =
        |signed| Register::Fixed { format: Format::new(8, signed).unwrap(), overflow: Overflow::Wrap };
    let required = |values: &[i32], signed| {
        let path = datapath(vec![serial("acc", Terms::All, register(signed))]);
        let (_, _, stats) = Dot::sum_of(values, None).run(&path, DType::Int16);
        let level = stats.levels[0].total();
        (level.required_final, level.required_prefix)
    };
    assert_eq!(required(&[-1, 4], false), (2, 65));
    assert_eq!(required(&[4, -5], false), (65, 65));
    assert_eq!(required(&[-1, 4], true), (3, 3));
    assert_eq!(required(&[3, 4], false), (3, 3));
    assert!(Format::new(65, false).is_err());
}

/// `bits: auto` is as wide as necessary, including the sign.
#[test]
fn an_auto_level_ignores_signed() {
    let text = "schema: 1\naccumulation: [{name: acc, bits: auto, signed: false}]";
    let accelerator = check_yaml(text, "hw.yaml", &[]).0.unwrap();
    let (code, exact, stats) = Dot::sum_of(&[-1, -4], None).run(&accelerator.datapath, DType::Int16);
    let level = stats.levels[0].total();
    assert_eq!((code, exact, level.required_final), (-5, -5, 4));
}

/// A pool's walk covers the whole window; cells outside the image are then left out.
#[test]
fn a_pool_walks_its_whole_window() {
    let pool =
        AvgPool2d { kernel: [3, 3], stride: [1, 1], padding: Padding::Same, activation: Activation::None };
    let x = quantized(&[1, 2, 2, 1], DType::Int8, 1.0, 0);
    let graph = one_layer(pool, x, None, None, output("y", DType::Int8, 1.0, 0));
    let mut path = datapath(vec![
        serial("inner", Terms::Count(3), register(4, Overflow::Saturate)),
        serial("acc", Terms::All, Register::Auto),
    ]);
    path.order.walk = Walk::Stride(2);
    let program = program(&graph, &accelerator(path));
    let layer = program.mac_layers().next().unwrap();
    let read: Vec<i128> =
        operands(layer, &[1, 2, 3, 4], OutputPosition::default()).iter().map(|o| o.activation).collect();
    // Cells 0, 2, 4, 6, 8, 1, 3, 5, 7, of which 4, 8, 5 and 7 lie in the image.
    assert_eq!(read, [1, 4, 2, 3]);
    // Runs and k count the remaining cells: 1 + 4, then 4 more, exceeds 4 bits.
    let ran = run(&program, &[vec![1, 4, 3, 4]], Options::default()).unwrap();
    let event = ran.stats.events.iter().find(|event| event.out == OutputPosition::default()).unwrap();
    assert_eq!((event.run, event.k, event.held, event.addend), (0, 2, 5, 4));
}

/// `requantize.output` applies to requantized sums. Pools, means and sums clamp as the model's runtime does.
#[test]
fn pools_keep_the_clamp_of_the_model() {
    let (axes, keep_dims, requantize) = (vec![1, 2], true, REQUANTIZE);
    let pool =
        AvgPool2d { kernel: [2, 2], stride: [1, 1], padding: Padding::Valid, activation: Activation::None };
    let ops: [Op; 3] = [
        pool.into(),
        Mean { axes: axes.clone(), keep_dims, requantize }.into(),
        Sum { axes, keep_dims, requantize }.into(),
    ];
    for (op, &fit) in ops.iter().flat_map(|op| OutputFit::ALL.iter().map(move |fit| (op, fit))) {
        let x = quantized(&[1, 2, 2, 2], DType::Int8, 1.0, 0);
        let graph = one_layer(op.clone(), x, None, None, output("y", DType::Int8, 1.0, 0));
        let mut path = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
        path.requantize.output = fit;
        let sample = [-128, 127, -128, 127, -128, 127, -128, 127];
        let (node, layer) = graph.nodes_with_ids().next().unwrap();
        let expected = graph.evaluate(node, &[&sample]);
        let at = layer.output.index();
        let program = program(&graph, &accelerator(path));
        for engine in [Engine::Reference, Engine::Fast] {
            let ran = run(&program, &[sample.to_vec()], Options { engine, ..Options::default() }).unwrap();
            let made = |codes: &[Option<Codes>]| codes[at].as_ref().unwrap().to_vec();
            let (exact, simulated) = (made(&ran.tensors[0].exact), made(&ran.tensors[0].simulated));
            assert_eq!((&exact, &simulated), (&expected, &expected), "{} {fit:?}", op.name());
        }
    }
}

/// A scheme of the accelerator replaces that of the model; the multiplier is still formed by the model's
/// rule.
#[test]
fn a_scheme_keeps_the_multiplier_rule() {
    let (s_x, s_w, s_y) = (0.1f32, 0.3f32, 0.7f32);
    let multiplier = |rule, scheme| {
        let requantize = Requantize { scheme: Scheme::Double, rule };
        let op = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize };
        let weights = (quantized(&[1, 1], DType::Int8, s_w, 0), vec![1]);
        let x = quantized(&[1, 1], DType::Int8, s_x, 0);
        let graph = one_layer(op, x, Some(weights), None, output("y", DType::Int8, s_y, 0));
        let mut path = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
        path.requantize.scheme = Some(scheme);
        let program = lower(Arc::new(graph), &accelerator(path)).unwrap();
        let requantizer = program.mac_layers().next().unwrap().requantizers[0];
        assert_eq!(requantizer.scheme(), scheme);
        requantizer.multiplier().real()
    };
    let (x, w, y) = (f64::from(s_x), f64::from(s_w), f64::from(s_y));
    for &scheme in Scheme::ALL {
        assert_eq!(multiplier(MultiplierRule::Float64, scheme), x * w / y);
        assert_eq!(multiplier(MultiplierRule::ProductInFloat32, scheme), f64::from(s_x * s_w) / y);
        assert_eq!(multiplier(MultiplierRule::Float32, scheme), f64::from(s_x * s_w / s_y));
    }
}

/// The k of an event is the last product that the sum contains, at every level.
#[test]
fn k_is_the_last_product() {
    let outer = serial("acc", Terms::All, register(4, Overflow::Saturate));
    let ks = |inner: Level| {
        let path = datapath(vec![inner, outer.clone()]);
        let (_, _, stats) = Dot::sum_of(&[1, 2, 2, 1, 2, 2, 1, 2], None).run(&path, DType::Int16);
        stats.events.iter().map(|event| (event.stage, event.run, event.k)).collect::<Vec<_>>()
    };
    // Runs of three: 5, 5, 3. The second and the third do not fit together with the first.
    let serial = serial("inner", Terms::Count(3), Register::Auto);
    assert_eq!(ks(serial.clone()), [(EventStage::Level(1), 0, 5), (EventStage::Level(1), 0, 7)]);
    assert_eq!(
        ks(Level { reduce: Reduce::Tree, ..serial }),
        [(EventStage::Level(1), 0, 5), (EventStage::Level(1), 0, 7)]
    );
}

/// Under `output: wrap` the output keeps the low bits, in the exact run too. An activation clips before that,
/// even at a bound of the dtype.
#[test]
fn an_activation_clips_before_the_store() {
    use Activation::{None, Relu, Relu6, ReluN1To1};
    // Sums in units of the output code, whose zero point is 0 for both int8 and uint8.
    let check = |activation, out, sum: i32, code: i32| {
        let mut path = datapath(vec![serial("acc", Terms::All, register(20, Overflow::Saturate))]);
        path.requantize.output = OutputFit::Wrap;
        let dot = Dot { activation, ..Dot::sum_of(&[sum], Option::None) };
        let (simulated, exact, stats) = dot.run(&path, out);
        assert_eq!((simulated, exact), (code, code), "{activation:?} {out:?} {sum}");
        assert_eq!(stats.total().output_mismatch, 0);
    };
    check(None, DType::Int8, 130, 130 - 256);
    check(None, DType::Int8, -130, -130 + 256);
    check(None, DType::UInt8, -1, 255);
    check(Relu, DType::Int8, -130, 0);
    // A rectifier bounds one side.
    check(Relu, DType::Int8, 130, 130 - 256);
    // Its bound is the least code of the dtype.
    check(Relu, DType::UInt8, -1, 0);
    check(Relu, DType::UInt8, 257, 1);
    check(Relu6, DType::UInt8, -1, 0);
    check(Relu6, DType::UInt8, 300, 6);
    check(ReluN1To1, DType::UInt8, -1, 0);
}

/// Under `output: saturate_symmetric` no code lies further below 0 than above it, for any model.
#[test]
fn an_accelerator_may_have_a_restricted_range() {
    let check = |activation, out, sum: i32, code: i32| {
        let mut path = datapath(vec![serial("acc", Terms::All, register(20, Overflow::Saturate))]);
        path.requantize.output = OutputFit::SaturateSymmetric;
        let dot = Dot { activation, ..Dot::sum_of(&[sum], None) };
        let (simulated, exact, _) = dot.run(&path, out);
        assert_eq!((simulated, exact), (code, code), "{activation:?} {out:?} {sum}");
    };
    check(Activation::None, DType::Int8, -128, -127);
    check(Activation::None, DType::Int8, -300, -127);
    check(Activation::None, DType::Int8, 300, 127);
    check(Activation::None, DType::Int4, -8, -7);
    check(Activation::None, DType::UInt8, -1, 0);
    check(Activation::None, DType::UInt8, 300, 255);
    check(Activation::ReluN1To1, DType::Int8, -128, -1);
}

/// Known defects of LiteRT 2.3.0: a product beyond int32 gives the greatest code, and int8 codes are summed
/// as such.
#[test]
fn what_litert_gets_wrong() {
    let requantize = Requantize { scheme: Scheme::Float64Away, rule: MultiplierRule::Float64 };
    let run_exact = |graph: &Graph, x: &[i32]| {
        let path = datapath(vec![serial("acc", Terms::All, Register::Auto)]);
        let ran = run(&program(graph, &accelerator(path)), &[x.to_vec()], Options::default()).unwrap();
        ran.tensors[0].exact[graph.outputs()[0].index()].as_ref().unwrap().to_vec()
    };
    let dense = |w| {
        let op = FullyConnected { keep_num_dims: false, activation: Activation::None, requantize };
        let weights = (quantized(&[1, 1], DType::Int8, 1.0, 0), vec![w]);
        let x = quantized(&[1, 1], DType::Int8, 1.0, 0);
        one_layer(op, x, Some(weights), None, output("y", DType::Int8, 7.4e-6, 0))
    };
    // 127 * 127 / 7.4e-6 is more than 2^31.
    assert_eq!((run_exact(&dense(127), &[127]), run_exact(&dense(-127), &[127])), (vec![127], vec![-128]));
    let sum = Sum { axes: vec![1], keep_dims: true, requantize };
    let x = quantized(&[1, 2], DType::Int8, 1.0, 0);
    let graph = one_layer(sum, x, None, None, output("y", DType::Int8, 1.0, 0));
    assert_eq!(run_exact(&graph, &[-5, -6]), [-11]);
}
