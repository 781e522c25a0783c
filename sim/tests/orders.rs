//! Orders of addition, with the guarantees of each tested by hand, and roundings by place.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Graph, OutputPosition, Padding};
use guardbit_hwmodels::{BiasPlace, Datapath, Product, ShiftRounding, Terms, Walk};
use guardbit_num::{Overflow, philox4x32};
use guardbit_sim::trace::operands;
use guardbit_sim::{Engine, EventStage, LayerStats, Options};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Returns one dot product with these products: weights of their values, activations of 1.
fn graph(products: &[i32], bias: Option<i32>) -> Graph {
    let shape = [1, 1, 1, products.len()];
    let weights = (quantized(&shape, DType::Int16, 1.0, 0), products.to_vec());
    let x = quantized(&shape, DType::Int8, 1.0, 0);
    let bias = bias.map(|bias| vec![bias]);
    one_layer(conv2d(1, Padding::Valid), x, Some(weights), bias, output("y", DType::Int16, 1.0, 0))
}

fn walked(walk: &Walk, bits: u32, overflow: Overflow) -> Datapath {
    let mut path = datapath(vec![serial("acc", Terms::All, register(bits, overflow))]);
    path.order.walk = walk.clone();
    path
}

/// Returns the products in the order of addition.
fn order(walk: &Walk, products: &[i32], preload: Option<i32>) -> Vec<i128> {
    let mut path = walked(walk, 32, Overflow::Wrap);
    if preload.is_some() {
        path.bias.at = BiasPlace::Preload;
    }
    let program = program(&graph(products, preload), &accelerator(path));
    let layer = program.mac_layers().next().unwrap();
    let first = OutputPosition { n: 0, h: 0, w: 0, c: 0 };
    operands(layer, &vec![1; products.len()], first).iter().map(|o| o.activation * o.weight).collect()
}

fn stats(products: &[i32], bias: Option<i32>, path: Datapath) -> LayerStats {
    let program = program(&graph(products, bias), &accelerator(path));
    let ran = |engine| {
        let options = Options { engine, ..Options::default() };
        run(&program, &[vec![1; products.len()]], options).unwrap().stats
    };
    let reference = ran(Engine::Reference);
    assert_eq!(ran(Engine::Fast), reference);
    reference
}

#[test]
fn orders_by_hand() {
    let products = [3, -1, 0, -5, 2, 3, -2];
    let cases: [(Walk, Option<i32>, [i128; 7]); 5] = [
        (Walk::Sorted, None, [-5, -2, -1, 0, 2, 3, 3]),
        (Walk::SignPaired, None, [3, -5, 3, -2, 2, -1, 0]),
        // 0 -1 (-1) 3 (2) -5 (-3) 0 2 (-1) 3 (2) -2 (0)
        (Walk::Greedy, None, [-1, 3, -5, 0, 2, 3, -2]),
        // From -4: 3 (-1) 0 2 (1) -1 (0) -5 (-5) 3 (-2), then the remaining ones.
        (Walk::Greedy, Some(-4), [3, 0, 2, -1, -5, 3, -2]),
        (Walk::Stride(3), None, [3, -5, -2, -1, 2, 0, 3]),
    ];
    for (walk, preload, expected) in cases {
        assert_eq!(order(&walk, &products, preload), expected, "{walk:?} {preload:?}");
    }
    assert_eq!(order(&Walk::SignPaired, &[1, 2, 3, -1], None), [3, -1, 2, 1]);
    assert_eq!(order(&Walk::SignPaired, &[-1, -2, -3, 1], None), [1, -3, -2, -1]);
}

/// `k` of an event is the place in the order of addition, and runs follow that order.
#[test]
fn runs_are_taken_from_the_order() {
    let mut path = walked(&Walk::Sorted, 8, Overflow::Saturate);
    path.levels.insert(0, serial("inner", Terms::Count(2), register(8, Overflow::Saturate)));
    // Sorted: -100 -60 | -20 10 | 90 100: runs of -160, -10 and 190.
    let stats = stats(&[100, -60, 10, -100, 90, -20], None, path);
    let seen: Vec<_> = stats.events.iter().map(|e| (e.stage, e.run, e.k, e.held, e.addend)).collect();
    // The outer level adds -128, -10 and 127: it falls below its rail once.
    let [inner, outer] = [0, 1].map(EventStage::Level);
    assert_eq!(seen, [(inner, 0, 1, -100, -60), (outer, 0, 3, -128, -10), (inner, 2, 5, 90, 100)]);
}

/// Four products of 100 among four hundred of -1: pairs reach 397 before the rest brings the sum back to 0.
#[test]
fn sign_paired_is_no_promise() {
    let products: Vec<i32> = [100; 4].into_iter().chain([-1; 400]).collect();
    let level = |walk: &Walk| stats(&products, None, walked(walk, 9, Overflow::Saturate)).levels[0].total();
    let paired = level(&Walk::SignPaired);
    assert_eq!((paired.transient, paired.min_prefix, paired.max_prefix), (1, 0, 397));
    let sorted = level(&Walk::Sorted);
    assert_eq!((sorted.transient, sorted.min_prefix, sorted.max_prefix), (1, -400, 0));
    let greedy = level(&Walk::Greedy);
    assert_eq!((greedy.transient, greedy.events()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// Uses one serial level that holds each product and the preloaded bias.
    #[test]
    fn greedy_leaves_no_transient(
        products in prop::collection::vec(-100i32..=100, 1..60),
        bias in prop::option::of(-128i32..128),
        bits in 8u32..13,
    ) {
        for overflow in [Overflow::Wrap, Overflow::Saturate, Overflow::Observe] {
            let mut path = walked(&Walk::Greedy, bits, overflow);
            path.bias.at = BiasPlace::Preload;
            let stats = stats(&products, bias, path);
            let level = stats.levels[0].total();
            prop_assert_eq!(level.transient, 0);
            let sum: i32 = products.iter().sum::<i32>() + bias.unwrap_or(0);
            let fits = (-(1 << (bits - 1))..1 << (bits - 1)).contains(&sum);
            prop_assert_eq!(level.persistent, u64::from(!fits));
            prop_assert_eq!(stats.total().wrong == 0, fits || overflow == Overflow::Observe);
        }
    }

    #[test]
    fn sorted_goes_down_and_then_up(products in prop::collection::vec(-100i32..=100, 1..60)) {
        let stats = stats(&products, None, walked(&Walk::Sorted, 9, Overflow::Observe));
        let level = stats.levels[0].total();
        let negative: i32 = products.iter().filter(|&&p| p < 0).sum();
        let sum: i32 = products.iter().sum();
        prop_assert_eq!(level.min_prefix, i128::from(negative));
        prop_assert_eq!(level.max_prefix, i128::from(sum.max(0)));
        prop_assert_eq!(level.transient, u64::from((-256..256).contains(&sum) && negative < -256));
    }
}

/// The third sample's second output uses the random words of its place, whatever runs in parallel.
#[test]
fn random_words_follow_from_their_place() {
    let shape = [1, 1, 1, 2];
    let weights = (quantized(&[2, 1, 1, 2], DType::Int16, 1.0, 0), vec![0, 0, 1, 1]);
    let x = quantized(&shape, DType::Int8, 1.0, 0);
    let graph =
        one_layer(conv2d(1, Padding::Valid), x, Some(weights), None, output("y", DType::Int16, 1.0, 0));
    let mut path = walked(&Walk::Forward, 16, Overflow::Wrap);
    let round = ShiftRounding::Stochastic { seed: 7 };
    path.product = Product { shift: 6, round, ..path.product };
    path.levels[0].shift = 1;
    path.levels[0].round = ShiftRounding::Stochastic { seed: 9 };
    let program = program(&graph, &accelerator(path));
    let samples: Vec<Vec<i32>> = (0..4).map(|s| vec![100 - s, 20 + 7 * s]).collect();
    let ran = |engine| run(&program, &samples, Options { engine, ..Options::default() }).unwrap();
    let (reference, fast) = (ran(Engine::Reference), ran(Engine::Fast));
    assert_eq!((&reference.tensors, &reference.stats), (&fast.tensors, &fast.stats));
    for (sample, values) in samples.iter().enumerate() {
        let word = |number: usize, stage: u32, seed: u32| {
            philox4x32([0, stage, 1, sample as u32], [seed, 0])[0] >> (8 * number)
        };
        let product = |k: usize| (i128::from(values[k]) + i128::from(word(k, 0, 7) % 64)) >> 6;
        let sum = (product(0) + product(1) + i128::from(word(0, 1, 9) % 2)) >> 1;
        let made = reference.tensors[sample].simulated[graph.outputs()[0].index()].as_ref().unwrap().get(1);
        assert_eq!(i128::from(made), sum << 7, "sample {sample}");
    }
}
