//! Laws of the search for widths per layer.

use crate::networks::{layer, network, samples};
use guardbit_hwmodels::load;
use guardbit_quantize::search::Judge;
use guardbit_quantize::search::mixed::{
    Budget, Choices, Explored, NetworkChoices, Point, Precision, explore,
};
use guardbit_quantize::{CodeSetting, Config, QuantizeError, Rule, Which, quantize};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Network whose figures are sums over its layers, and whose error also has terms of two layers together.
#[derive(Debug, Clone)]
struct Sums {
    /// Error, bytes and accumulator bits by layer and step.
    layers: Vec<Vec<(f64, u64, u32)>>,
    together: f64,
    /// Steps of the network that cannot be quantized, if there is one.
    impossible: Option<Vec<usize>>,
}

impl Choices for Sums {
    fn steps(&self) -> Vec<usize> {
        self.layers.iter().map(Vec::len).collect()
    }

    fn point(&self, steps: &[usize]) -> Result<Point, QuantizeError> {
        if self.impossible.as_deref() == Some(steps) && steps.iter().any(|&step| step > 0) {
            return Err(QuantizeError::NothingToQuantize);
        }
        let of = || self.layers.iter().zip(steps).map(|(layer, &step)| layer[step]);
        let deep = steps.iter().filter(|&&step| step > 0).count() as f64;
        let error = of().map(|(error, ..)| error).sum::<f64>() + self.together * deep * (deep - 1.0);
        Ok(Point {
            steps: steps.to_vec(),
            error,
            accuracy: 1.0 / (1.0 + error),
            bytes: of().map(|(_, bytes, _)| bytes).sum(),
            layer_bits: of().map(|(.., bits)| bits).collect(),
        })
    }
}

fn sums() -> impl Strategy<Value = Sums> {
    let layer = prop::collection::vec((0.0f64..10.0, 1u64..1000, 8u32..24), 1..4);
    (
        prop::collection::vec(layer, 1..5),
        -1.0f64..1.0,
        prop::option::of(prop::collection::vec(0usize..2, 1..5)),
    )
        .prop_map(|(layers, together, impossible)| Sums { layers, together, impossible })
}

/// Returns all possible networks.
fn all(sums: &Sums) -> Vec<Point> {
    let counts = sums.steps();
    let total: usize = counts.iter().product();
    let steps = |mut index: usize| -> Vec<usize> {
        counts
            .iter()
            .map(|&count| {
                let step = index % count;
                index /= count;
                step
            })
            .collect()
    };
    (0..total).filter_map(|index| sums.point(&steps(index)).ok()).collect()
}

fn cost(point: Option<&Point>, budget: Budget) -> f64 {
    point.map_or(f64::INFINITY, |point| match budget {
        Budget::Error(_) | Budget::Accuracy(_) => point.bytes as f64,
        Budget::Bytes(_) | Budget::AccumulatorBits(_) => point.error,
    })
}

fn keeps(point: &Point, budget: Budget) -> bool {
    match budget {
        Budget::Error(most) => point.error <= most,
        Budget::Accuracy(least) => point.accuracy >= least,
        Budget::Bytes(most) => point.bytes <= most,
        Budget::AccumulatorBits(most) => point.accumulator_bits() <= most,
    }
}

/// Returns whether the points contain a path from the widest network to the narrowest, one step of one layer
/// at a time.
fn has_way(found: &Explored, counts: &[usize]) -> bool {
    let met = |steps: &Vec<usize>| found.points().iter().any(|point| point.steps == *steps);
    let mut reached = vec![vec![0; counts.len()]];
    for _ in 0..counts.iter().map(|count| count - 1).sum::<usize>() {
        let next = |steps: &Vec<usize>| {
            let steps = steps.clone();
            (0..counts.len()).map(move |layer| {
                let mut next = steps.clone();
                next[layer] += 1;
                next
            })
        };
        let mut found: Vec<Vec<usize>> = reached.iter().flat_map(next).filter(met).collect();
        found.sort();
        found.dedup();
        reached = found;
    }
    !reached.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    /// Values that are shared between the networks of a search do not change any of them.
    #[test]
    fn networks_of_a_search_are_those_of_their_rules(
        layers in prop::collection::vec(layer(), 1..5), seed: u64, propagate: bool, wanted in prop::collection::vec(0usize..2, 8),
    ) {
        let steps = [Precision { weights: 8, activations: 8 }, Precision { weights: 4, activations: 5 }];
        let (float, samples) = (network(&layers, seed), samples(3, seed));
        let config = Config { propagate, ..Config::default() };
        let wide = load("exact-int32-os", &[]).unwrap();
        let judge = Judge::new(&float, &samples, 3, Some(&wide)).unwrap();
        let choices = NetworkChoices::new(&float, &samples, &config, &wide, judge, &steps).unwrap();
        for turned in [0, 1] {
            let chosen: Vec<usize> =
                (0..=choices.layers().len()).map(|layer| wanted[layer % 8] ^ turned).collect();
            let rule = |(name, &step): (&String, &usize)| {
                let bits = |bits, setting| Some(CodeSetting { bits, ..setting });
                let Precision { weights, activations } = steps[step];
                Rule {
                    weights: bits(weights, config.setting.weights),
                    activations: bits(activations, config.setting.activations),
                    ..Rule::new(Which::Name(name.clone()))
                }
            };
            let rules = choices.layers().iter().zip(&chosen).map(rule).collect();
            let mut own = Config { rules, ..config.clone() };
            own.setting.activations.bits = steps[chosen[choices.layers().len()]].activations;
            let own = quantize(&float, &samples, &own, None).unwrap();
            let found = choices.quantized(&chosen).unwrap();
            prop_assert_eq!(found.graph, own.graph);
            prop_assert_eq!(found.units, own.units);
        }
    }
}

proptest! {
    /// From the widest network the search descends to the narrowest, and visits each layer's first step.
    #[test]
    fn searches_reach_the_narrowest_network(sums in sums()) {
        let sums = Sums { impossible: None, ..sums };
        let found = explore(&sums, 0).unwrap();
        let counts = sums.steps();
        prop_assert!(has_way(&found, &counts), "{found:?}");
        let start = found.points()[0].error;
        for (layer, &more) in found.sensitivity().iter().enumerate() {
            let mut steps = vec![0; counts.len()];
            steps[layer] = 1;
            let known = if counts[layer] > 1 { sums.point(&steps).unwrap().error - start } else { f64::INFINITY };
            prop_assert_eq!(more, known);
        }
    }

    /// No budget selects a worse network than one width for all layers that satisfies it.
    #[test]
    fn nothing_uniform_is_better(sums in sums(), limit in 0.0f64..1.0) {
        let sums = Sums { impossible: None, ..sums };
        let found = explore(&sums, 0).unwrap();
        let counts = sums.steps();
        for step in 0..counts.iter().copied().max().unwrap() {
            let uniform: Vec<usize> = counts.iter().map(|&count| step.min(count - 1)).collect();
            let uniform = sums.point(&uniform).unwrap();
            for budget in [
                Budget::Error(20.0 * limit),
                Budget::Accuracy(limit),
                Budget::Bytes((3000.0 * limit) as u64),
                Budget::AccumulatorBits((24.0 * limit) as u32),
            ] {
                let taken = found.within(&[budget]);
                prop_assert!(!keeps(&uniform, budget) || cost(taken, budget) <= cost(Some(&uniform), budget), "{budget:?}");
            }
        }
    }

    /// A looser budget never selects a worse network. The selected network satisfies the budget, and is the
    /// best visited one that does.
    #[test]
    fn looser_budgets_are_never_worse(sums in sums(), exchanges in 0usize..30, limit in 0.0f64..1.0, more in 0.0f64..1.0) {
        let found = explore(&sums, exchanges).unwrap();
        let pairs = [
            (Budget::Error(20.0 * limit), Budget::Error(20.0 * (limit + more))),
            (Budget::Accuracy(limit), Budget::Accuracy(limit - more)),
            (Budget::Bytes((3000.0 * limit) as u64), Budget::Bytes((3000.0 * (limit + more)) as u64)),
            (Budget::AccumulatorBits((24.0 * limit) as u32), Budget::AccumulatorBits((24.0 * (limit + more)) as u32)),
        ];
        for (tight, loose) in pairs {
            let (own, other) = (found.within(&[tight]), found.within(&[loose]));
            prop_assert!(cost(other, loose) <= cost(own, tight), "{tight:?} {own:?}, {loose:?} {other:?}");
            prop_assert!(own.is_none_or(|point| keeps(point, tight)), "{tight:?}: {own:?}");
            // No visited point is better.
            for point in found.points() {
                prop_assert!(!keeps(point, tight) || cost(own, tight) <= cost(Some(point), tight), "{tight:?}: {own:?}, {point:?}");
            }
        }
    }

    /// The Pareto front is correct: no visited point dominates one of its points, and every other one is
    /// dominated. With enough exchanges, few of all possible networks are missed.
    #[test]
    fn trade_offs_are_undominated(sums in sums()) {
        let found = explore(&sums, 1000).unwrap();
        let best = found.pareto();
        for point in found.points() {
            prop_assert!(best.iter().any(|best| best.dominates(point)));
            prop_assert!(sums.point(&point.steps).unwrap() == *point);
        }
        for (index, point) in best.iter().enumerate() {
            let beaten = best.iter().enumerate().any(|(other, by)| other != index && by.dominates(point));
            prop_assert!(!beaten);
        }
        prop_assert!(best.windows(2).all(|pair| pair[0].bytes <= pair[1].bytes));
        prop_assert_eq!(found.sensitivity().len(), sums.layers.len());
        // Every point is a possible network.
        prop_assert!(found.points().len() <= all(&sums).len());
    }
}
