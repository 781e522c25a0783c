//! Laws of the two forms of a network, on random networks of several layers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::networks::{Layer, layer, network, samples};
use guardbit_graph::{CodeRange, Graph, real_of, word_of};
use guardbit_hwmodels::load;
use guardbit_quantize::{
    CodeSetting, Config, LayerInput, LayerMethod, LayerParameters, LayerProblem, LayerSetting, Plan,
    QuantizeError, Range, Scales, Symmetry, Target, calibrate, prepare, realize,
};
use guardbit_testing::cases;
use proptest::prelude::*;

fn codes(weights: bool) -> impl Strategy<Value = CodeSetting> {
    let widths = prop_oneof![4 => Just(8u32), 1 => 3..8u32];
    (widths, any::<bool>(), any::<bool>(), any::<bool>(), 0..4u8).prop_map(
        move |(bits, signed, restricted, symmetric, scales)| CodeSetting {
            bits,
            signed: weights || signed,
            restricted,
            symmetry: if symmetric || weights { Symmetry::Symmetric } else { Symmetry::Asymmetric },
            scales: if scales == 0 { Scales::PowersOfTwo } else { Scales::Any },
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    (codes(false), codes(true), any::<bool>(), any::<bool>(), prop::option::weighted(0.2, 10.0..40.0f64))
        .prop_map(|(activations, weights, per_channel, propagate, least_sqnr_db)| Config {
            setting: LayerSetting { activations, weights, per_channel, float: false },
            propagate,
            least_sqnr_db,
            ..Config::default()
        })
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    prop::collection::vec(layer(), 1..8)
}

/// Returns the codes of the integer network, by name.
fn integer_codes(graph: &Graph, sample: &[Vec<f32>]) -> Vec<Vec<i32>> {
    let input = graph.tensor(graph.inputs()[0]);
    let words: Vec<i32> = match &input.ty.quantization {
        None => sample[0].iter().map(|&value| word_of(value)).collect(),
        Some(q) => {
            let code = |value: &f32| {
                let steps = (value / q.scale(0)).round_ties_even() as i128 + i128::from(q.zero_point(0));
                input.ty.code_range().clamp(steps)
            };
            sample[0].iter().map(code).collect()
        }
    };
    graph.interpret(&[&words]).unwrap()
}

/// Uses plain parameters, with input codes of the given bits, layer by layer.
struct Narrower(Vec<u32>, AtomicUsize);

impl LayerMethod for Narrower {
    fn name(&self) -> &str {
        "narrower"
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        let bits = self.0[self.1.fetch_add(1, Ordering::Relaxed) % self.0.len()];
        let plain = layer.plain.clone();
        let own = plain.input_codes;
        assert!(matches!(layer.input, LayerInput::Free(_)), "{} has an input of its own", layer.name);
        if bits >= own.bits() {
            return Ok(plain);
        }
        let max = if own.min() < 0 { (1 << (bits - 1)) - 1 } else { (1 << bits) - 1 };
        let codes = CodeRange::new(if own.min() < 0 { -max } else { 0 }, max).unwrap();
        let end = |code: i32| plain.input.real(code);
        let range = Range { low: end(own.min()), high: end(own.max()) };
        let input = Target { codes, ..layer.targets.input }.parameters(range);
        let bias = layer.bias_codes(input, &plain.weights);
        Ok(LayerParameters { input, input_codes: codes, bias, ..plain })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    /// Every tensor with codes has equal codes in the simulated and in the integer network.
    #[test]
    fn both_forms_have_the_same_codes(layers in layers(), seed: u64, config in config()) {
        let float = network(&layers, seed);
        let plan = Plan::new(&float, &config).unwrap();
        let calibrated = calibrate(&plan, &config, None, &samples(4, seed)).unwrap();
        let integer = realize(&calibrated.simulated).unwrap();
        // Other samples than those of calibration, with values beyond the observed ranges too.
        let fresh: Vec<_> = samples(3, seed ^ 1)
            .into_iter()
            .map(|sample| vec![sample[0].iter().map(|value| value * 1.3).collect()])
            .collect();
        let simulated = calibrated.simulated.run(&fresh).unwrap();
        for (sample, tensors) in fresh.iter().zip(simulated) {
            let made = integer_codes(&integer, sample);
            prop_assert!(!tensors.is_empty());
            for (id, codes) in tensors {
                let name = &plan.graph().tensor(id).name;
                let own = integer.find_tensor(name).expect("a tensor of codes keeps its name");
                prop_assert_eq!(&codes.to_vec(), &made[own.index()], "{}", name);
            }
        }
    }

    /// Codes are also equal if layers choose their input codes individually. A layer that keeps the existing
    /// codes has no tensor of its own.
    #[test]
    fn both_forms_have_the_same_codes_where_layers_choose_theirs(
        layers in layers(), seed: u64, config in config(), bits in prop::collection::vec(2u32..9, 1..4),
    ) {
        let float = network(&layers, seed);
        let method = Narrower(bits, AtomicUsize::new(0));
        let config = Config { layer_method: Some(Arc::new(method)), least_sqnr_db: None, ..config };
        let plan = Plan::new(&float, &config).unwrap();
        let wide = load("exact-int32-os", &[]).unwrap();
        let calibrated = calibrate(&plan, &config, Some(&wide), &samples(4, seed)).unwrap();
        let integer = realize(&calibrated.simulated).unwrap();
        let fresh = samples(3, seed ^ 1);
        let simulated = calibrated.simulated.run(&fresh).unwrap();
        for (sample, tensors) in fresh.iter().zip(simulated) {
            let made = integer_codes(&integer, sample);
            for (id, codes) in tensors {
                let name = &plan.graph().tensor(id).name;
                let Some(own) = integer.find_tensor(name) else {
                    prop_assert!(name.contains("_own"), "{}", name);
                    continue;
                };
                prop_assert_eq!(&codes.to_vec(), &made[own.index()], "{}", name);
            }
        }
    }

    /// Preparation changes real values only by rounding.
    #[test]
    fn preparation_keeps_values(layers in layers(), seed: u64) {
        let float = network(&layers, seed);
        let prepared = prepare(&float).unwrap();
        prop_assert!(prepared.nodes().len() <= float.nodes().len());
        for sample in samples(2, seed) {
            let words: Vec<i32> = sample[0].iter().map(|&value| word_of(value)).collect();
            let of = |graph: &Graph| -> Vec<f32> {
                let made = graph.interpret(&[&words]).unwrap();
                made[graph.outputs()[0].index()].iter().map(|&word| real_of(word)).collect()
            };
            for (before, after) in of(&float).into_iter().zip(of(&prepared)) {
                prop_assert!((before - after).abs() <= 1e-4 * before.abs().max(1.0), "{before} {after}");
            }
        }
    }
}
