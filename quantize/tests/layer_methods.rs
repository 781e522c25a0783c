//! Methods for whole layers, on random networks and accelerators.

use std::sync::Arc;

use crate::networks::{self, Numbers, product};
use crate::networks::{Layer, layer, network, samples};
use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{LayerBounds, Witness};
use guardbit_hwmodels::{Accelerator, MacLayer, load, lower};
use guardbit_num::Overflow;
use guardbit_quantize::method::{Guaranteed, OverflowAware};
use guardbit_quantize::search::{Judge, SampleScore, quantize_aimed};
use guardbit_quantize::{
    CodeSetting, Config, LayerMethod, LayerParameters, LayerProblem, LayerSetting, QuantizeError, Sample,
    Symmetry, quantize,
};
use guardbit_sim::{LayerStats, Options, Simulation, StatsLevel};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Generates accumulators of 9 to 20 bits: one level, or tiles in an inner and an outer one; zero points
/// subtracted or folded, bias before or after, in any order.
fn accelerator() -> impl Strategy<Value = Accelerator> {
    let mode = prop::sample::select(vec!["wrap", "saturate", "saturate_symmetric", "sticky"]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (9u32..20, prop::option::of((2usize..9, 0u32..5)), mode, flags).prop_map(|(bits, tiles, mode, flags)| {
        let (fold, preload, reverse) = flags;
        let mut sets = match tiles {
            None => vec![format!("accumulation=[{{name: acc, terms: all, bits: {bits}, overflow: {mode}}}]")],
            Some((tile, more)) => vec![format!(
                "accumulation=[{{name: inner, terms: {tile}, bits: {bits}, overflow: {mode}}}, \
                 {{name: outer, terms: all, bits: {}, overflow: {mode}}}]",
                bits + more
            )],
        };
        sets.push(format!("operands.zero_point={}", if fold { "fold" } else { "subtract" }));
        sets.push(format!("bias.at={}", if preload { "preload" } else { "post" }));
        sets.push("bias.bits=32".into());
        sets.push(format!("reduction_order.walk={}", if reverse { "reverse" } else { "forward" }));
        load("exact-int32-os", &sets).unwrap()
    })
}

fn setting() -> impl Strategy<Value = LayerSetting> {
    (3u32..9, 3u32..9, any::<bool>(), any::<bool>()).prop_map(
        |(weights, activations, per_channel, symmetric)| {
            let symmetry = if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
            LayerSetting {
                activations: CodeSetting { bits: activations, symmetry, ..CodeSetting::ACTIVATIONS },
                weights: CodeSetting { bits: weights, ..CodeSetting::WEIGHTS },
                per_channel,
                float: false,
            }
        },
    )
}

/// Returns the statistics of each layer on inputs.
fn counted(graph: &Graph, accelerator: &Accelerator, inputs: &[Vec<i32>]) -> Vec<LayerStats> {
    let program = lower(Arc::new(graph.clone()), accelerator).unwrap();
    let mut simulation = Simulation::new(&program, Options { stats: StatsLevel::Full, ..Options::default() });
    let batch: Vec<Vec<Vec<i32>>> = inputs.iter().map(|input| vec![input.clone()]).collect();
    simulation.run_batch(&batch).unwrap();
    simulation.finish().into_iter().flatten().collect()
}

/// The layer's own accumulators hold every sum that its weights allow, and inputs that attain the bounds
/// cause no event.
fn check_layer(graph: &Graph, layer: &MacLayer) -> Result<(), TestCaseError> {
    let bounds = LayerBounds::new(graph, layer);
    for (index, level) in layer.datapath.levels.iter().enumerate() {
        let guardbit_hwmodels::Register::Fixed { format, overflow } = level.register else { continue };
        // A symmetric register has no code for the least sum of its width.
        let own = bounds.proved_bits(index) <= format.bits();
        prop_assert!(own, "{}: {} bits of {}", layer.name, bounds.proved_bits(index), format.bits());
        if overflow == Overflow::SaturateSymmetric {
            let low = bounds.channels.iter().map(|channel| channel.proved()[index].min).min();
            prop_assert!(low.is_none_or(|low| low > format.min()));
        }
        let witness = Witness::of_level(graph, layer, &bounds, index);
        prop_assert!(witness.is_none_or(|witness| format.holds(witness.sum)));
    }
    Ok(())
}

/// Layer method that asserts that its choice has at most the noise of the plain parameters.
struct Compared(OverflowAware);

impl LayerMethod for Compared {
    fn name(&self) -> &str {
        "compared"
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        let chosen = self.0.choose(layer)?;
        let noise = |parameters| layer.run(parameters, StatsLevel::None).map(|outcome| outcome.noise);
        let (own, plain) = (noise(&chosen)?, noise(&layer.plain)?);
        assert!(own <= plain, "{}: {own} beside {plain}", layer.name);
        Ok(chosen)
    }
}

fn config(setting: LayerSetting, method: impl LayerMethod + 'static) -> Config {
    Config { setting, layer_method: Some(Arc::new(method)), ..Config::default() }
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    prop::collection::vec(layer(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    /// No input overflows a guaranteed network anywhere, and the bounds of `guardbit size` agree.
    #[test]
    fn guaranteed_networks_never_overflow(
        layers in layers(), seed: u64, accelerator in accelerator(), setting in setting(),
    ) {
        let made = match quantize(&network(&layers, seed), &samples(4, seed), &config(setting, Guaranteed), Some(&accelerator)) {
            Ok(made) => made,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let graph = made.graph;
        let program = lower(Arc::new(graph.clone()), &accelerator).unwrap();
        for layer in program.mac_layers().filter(|layer| layer.dots.weights.is_some()) {
            check_layer(&graph, layer)?;
        }
        let input = graph.tensor(graph.inputs()[0]);
        let codes = input.ty.code_range();
        let any = |seed: u64| -> Vec<i32> {
            let mut numbers = networks::Numbers::new(seed);
            let span = f64::from(codes.max()) - f64::from(codes.min());
            (0..input.ty.len()).map(|_| codes.clamp((f64::from(codes.min()) + (f64::from(numbers.next()) + 1.0) / 2.0 * span) as i128)).collect()
        };
        let inputs: Vec<Vec<i32>> = (0..6)
            .map(any)
            .chain([codes.min(), codes.max()].map(|code| vec![code; input.ty.len()]))
            .collect();
        if input.ty.quantization.is_some() {
            for stats in counted(&graph, &accelerator, &inputs) {
                let events: u64 = stats.levels.iter().map(|level| level.total().events()).sum();
                prop_assert_eq!((events, stats.total().bias_events), (0, 0));
            }
        }
    }

    /// A layer is never worse than with plain parameters, on its own samples.
    #[test]
    fn overflow_aware_layers_are_never_worse(
        layers in layers(), seed: u64, accelerator in accelerator(), setting in setting(),
    ) {
        let method = Compared(OverflowAware { samples: 2 });
        let made = quantize(&network(&layers, seed), &samples(4, seed), &config(setting, method), Some(&accelerator));
        prop_assert!(made.is_ok(), "{:?}", made.err());
    }
}

/// Layers of more than 2^14 weights are searched on fewer channels, windows and scales. They lose at most 1
/// dB compared with their halves, which are not large and have their own inputs. Results do not depend on the
/// number of threads.
#[test]
fn large_layers_are_nearly_as_good_as_their_halves() {
    let threads = |count: usize| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    // Windows are kept if there are at most half as many as products; otherwise products of cells are kept.
    for (terms, channels, windows, bits) in [(24, 690, 160, 10), (36, 460, 16, 12)] {
        let mut numbers = Numbers::new(terms as u64);
        let weights: Vec<Vec<f32>> =
            (0..channels).map(|_| numbers.take(terms).iter().map(|w| w * w * w).collect()).collect();
        let factors: Vec<Vec<f32>> = (0..12).map(|_| numbers.take(terms)).collect();
        let samples: Vec<Sample> = (0..windows)
            .map(|_| {
                let own = numbers.take(factors.len());
                let value = |cell: usize| -> f32 {
                    factors.iter().zip(&own).map(|(factor, own)| factor[cell] * own).sum()
                };
                vec![(0..terms).map(|cell| (value(cell) + 0.2 * numbers.next()).max(0.0)).collect()]
            })
            .collect();
        let wanted = load("exact-int32-os", &[format!("accumulation.acc.bits={bits}")]).unwrap();
        let narrow = CodeSetting { bits: 4, ..CodeSetting::ACTIVATIONS };
        let setting = LayerSetting { activations: narrow, ..LayerSetting::default() };
        let of = |weights: &[Vec<f32>], method: Config| {
            let float = product(weights);
            let made = quantize(&float, &samples, &method, Some(&wanted)).unwrap().graph;
            let score = Judge::new(&float, &samples, samples.len(), Some(&wanted)).unwrap().score(&made);
            (score.unwrap().noise, made)
        };
        let guaranteed = || config(setting, Guaranteed);
        let (own, graph) = threads(1).install(|| of(&weights, guaranteed()));
        let program = lower(Arc::new(graph.clone()), &wanted).unwrap();
        check_layer(&graph, program.mac_layers().next().unwrap()).unwrap();
        assert!(graph == threads(3).install(|| of(&weights, guaranteed())).1, "threads change codes");
        let halves: f64 = weights.chunks(channels / 2).map(|weights| of(weights, guaranteed()).0).sum();
        assert!(own <= 1.25 * halves, "{terms} products: {own} beside {halves}");
        let aware = || config(setting, Compared(OverflowAware { samples: 4 }));
        let one = threads(1).install(|| of(&weights, aware())).1;
        assert!(one == threads(3).install(|| of(&weights, aware())).1, "threads change codes");
    }
}

/// Returns the result of a sign test of at most 8 samples, in counts: `P(X >= better)` of that many fair
/// draws is at most 5 %.
fn is_safer(own: &[SampleScore], other: &[SampleScore]) -> bool {
    let Some(pairs) =
        own.iter().zip(other).map(|(own, other)| own.safe.zip(other.safe)).collect::<Option<Vec<_>>>()
    else {
        return true;
    };
    let differing: Vec<bool> =
        pairs.iter().filter(|(own, other)| own != other).map(|(own, _)| *own).collect();
    let better = differing.iter().filter(|own| **own).count();
    let draws = 1usize << differing.len();
    let as_many = (0..draws).filter(|draw| draw.count_ones() as usize >= better).count();
    20 * as_many <= draws
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(10)))]

    /// With overflows propagated through all layers, a network is either the plain one, or it has at most
    /// half of its error, at most the error of one that cannot overflow, and more safe samples than chance
    /// explains.
    #[test]
    fn aimed_networks_are_never_worse(
        layers in layers(), seed: u64, accelerator in accelerator(), setting in setting(),
    ) {
        let (float, samples) = (network(&layers, seed), samples(8, seed));
        let judge = Judge::new(&float, &samples, 100, Some(&accelerator)).unwrap();
        let noise = |graph: &Graph| judge.score(graph).unwrap().noise;
        let method = config(setting, OverflowAware { samples: 2 });
        let aimed = quantize_aimed(&float, &samples, &method, Some(&accelerator)).unwrap();
        let plain = Config { layer_method: None, ..method };
        let without = quantize(&float, &samples, &plain, Some(&accelerator)).unwrap().graph;
        let plain = noise(&without);
        prop_assert_eq!(aimed.plain.noise, plain);
        let own = noise(&aimed.quantized.graph);
        prop_assert_eq!(aimed.score.noise, own);
        prop_assert!(own <= plain, "{own} beside {plain}");
        let cautious = quantize_aimed(&float, &samples, &config(setting, Guaranteed), Some(&accelerator)).unwrap();
        let [without, own, cautious] = [&without, &aimed.quantized.graph, &cautious.quantized.graph].map(|graph| judge.samples(graph).unwrap());
        for sample in without.iter().chain(&own).chain(&cautious) {
            prop_assert!(sample.right || sample.safe != Some(true), "{sample:?}");
        }
        let noise = |samples: &[SampleScore]| samples.iter().map(|sample| sample.noise).sum::<f64>();
        let (by_plain, by_cautious) = (noise(&without), noise(&cautious));
        if own == without {
            let better = by_cautious <= 0.5 * by_plain && by_plain > 0.0 && is_safer(&cautious, &without);
            prop_assert!(!better, "{by_cautious} beside {by_plain}");
        } else {
            prop_assert!(noise(&own) <= 0.5 * by_plain && noise(&own) <= by_cautious, "{own:?} beside {by_plain} and {by_cautious}");
            prop_assert!(is_safer(&own, &without), "{own:?} beside {without:?}");
        }
    }

    /// If plain weights cannot overflow, a guaranteed network is never worse than the plain one.
    #[test]
    fn guaranteed_networks_lose_nothing_on_wide_registers(layers in layers(), seed: u64, setting in setting()) {
        let wide = load("exact-int32-os", &[]).unwrap();
        let (float, samples) = (network(&layers, seed), samples(3, seed));
        let aimed = quantize_aimed(&float, &samples, &config(setting, Guaranteed), Some(&wide)).unwrap();
        prop_assert!(aimed.score.noise <= aimed.plain.noise, "{} beside {}", aimed.score.noise, aimed.plain.noise);
    }
}
