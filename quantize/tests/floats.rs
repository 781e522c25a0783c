//! Laws of networks with floating-point codes, on random networks of several layers.

use std::sync::Arc;

use crate::networks::{Layer, chain, layer, network, samples};
use guardbit_graph::{DType, FloatCodes, FloatDots, Graph, NodeId, RealCodes, real_of, word_of};
use guardbit_num::{FloatFormat, FloatOverflow, FloatRounding, Rounding};
use guardbit_quantize::method::{METHODS, Method, MinMax, Mse, Percentile};
use guardbit_quantize::statistics::Likeness;
use guardbit_quantize::{
    BlockScales, Config, FloatTarget, Observed, QuantizeError, Rule, Scales, ShortFloats, Which, prepare,
    quantize,
};
use guardbit_testing::cases;
use proptest::prelude::*;

const BYTES: [DType; 4] =
    [DType::Float8E4M3Fn, DType::Float8E5M2, DType::Float8E4M3FnUz, DType::Float8E5M2FnUz];

fn formats() -> impl Strategy<Value = ShortFloats> {
    let bytes = || prop::sample::select(&BYTES[..]);
    prop_oneof![
        4 => (bytes(), bytes()).prop_map(|(activations, weights)| ShortFloats::new(activations, weights)),
        1 => prop::sample::select(&[DType::Float16, DType::BFloat16][..])
            .prop_map(|dtype| ShortFloats::new(dtype, dtype)),
    ]
}

/// Formats with scales of blocks.
fn blocks() -> impl Strategy<Value = ShortFloats> {
    let one = || {
        prop::sample::select(vec![
            (DType::Float8E4M3Fn, Some(BlockScales::Mx)),
            (DType::Float8E5M2, Some(BlockScales::Mx)),
            (DType::Float4E2M1, Some(BlockScales::Mx)),
            (DType::Float4E2M1, Some(BlockScales::Nv)),
            (DType::Float8E4M3Fn, None),
        ])
    };
    (one(), one()).prop_map(|((activations, activation_blocks), (weights, weight_blocks))| ShortFloats {
        activations,
        weights,
        activation_blocks,
        weight_blocks,
    })
}

/// Returns one of three methods.
fn method(index: usize) -> Arc<dyn Method> {
    match index {
        0 => Arc::new(MinMax),
        1 => Arc::new(Mse::USUAL),
        _ => Arc::new(Percentile { percent: 90.0 }),
    }
}

fn config() -> impl Strategy<Value = Config> {
    (formats(), 0..3usize, 0..3usize, any::<[bool; 3]>()).prop_map(
        |(formats, activations, weights, [per_channel, propagate, powers])| {
            let (method, weight_method) = (method(activations), method(weights));
            let short_floats = Some(formats);
            let mut config = Config { short_floats, method, weight_method, propagate, ..Config::default() };
            config.setting.per_channel = per_channel;
            let scales = if powers { Scales::PowersOfTwo } else { Scales::Any };
            (config.setting.activations.scales, config.setting.weights.scales) = (scales, scales);
            config
        },
    )
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    prop::collection::vec(layer(), 1..6)
}

fn words(sample: &[Vec<f32>]) -> Vec<i32> {
    sample[0].iter().map(|&value| word_of(value)).collect()
}

fn products(graph: &Graph) -> Vec<(NodeId, Option<FloatDots>)> {
    let products = graph.float_products();
    products.into_iter().map(|product| (product.node, graph.float_dots(product.node))).collect()
}

/// Returns the code of a real value by the table of formats.
fn code(format: FloatFormat, value: f32) -> i32 {
    let overflow = if format.bits() == 8 { FloatOverflow::Saturate } else { FloatOverflow::Special };
    let rounding = FloatRounding::By(Rounding::HalfEven);
    format.code(f64::from(value).into(), rounding, overflow).unwrap() as i32
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// Every product has operands of the requested formats. Constant codes are those of the table of formats, and each
    /// value is the nearest one that its scale allows.
    #[test]
    fn operands_are_codes_of_the_formats(layers in layers(), seed: u64, config in config()) {
        let float = network(&layers, seed);
        let made = quantize(&float, &samples(3, seed), &config, None).unwrap().graph;
        let formats = config.short_floats.unwrap();
        let plain = prepare(&float).unwrap();
        let of_plain = plain.float_products();
        let products = products(&made);
        prop_assert_eq!(products.len(), of_plain.len());
        for ((node, dots), plain_node) in products.into_iter().zip(of_plain) {
            let dots = dots.expect("operands are codes");
            prop_assert_eq!(dots.activations.dtype, formats.activations);
            let FloatCodes::Constant(codes) = &dots.weights.codes else { continue };
            prop_assert_eq!(dots.weights.dtype, formats.weights);
            let weights = plain.node(plain_node.node).inputs[1].unwrap();
            let (weights, shape) = (plain.tensor(weights).codes().unwrap(), &plain.tensor(weights).ty.shape);
            let is_conv = made.node(node).op.name() == "float_conv2d";
            let (outer, last) = (weights.len() / shape[0], *shape.last().unwrap());
            let real = RealCodes::of(formats.weights).unwrap();
            let values: Vec<f32> = (0..1 << formats.weights.bits()).map(|code| real.real(code)).filter(|value| value.is_finite()).collect();
            for (at, (own, word)) in codes.iter().zip(weights.iter()).enumerate() {
                let channel = if is_conv { at / outer } else { at % last };
                let scale = dots.weights.scales[channel % dots.weights.scales.len()];
                let exact = real_of(word) / scale;
                prop_assert_eq!(own, code(dots.weights.format, exact));
                if formats.weights.bits() == 8 {
                    let distance = (real.real(own) - exact).abs();
                    prop_assert!(values.iter().all(|value| distance <= (value - exact).abs()), "{} became {}", exact, real.real(own));
                }
            }
        }
    }

    /// With scales of blocks, operands have such scales, and the figures of calibration are those of the network.
    #[test]
    fn networks_with_block_scales_are_those_of_their_files(layers in layers(), seed: u64, formats in blocks()) {
        let (float, samples) = (network(&layers, seed), samples(2, seed));
        let config = Config { short_floats: Some(formats), ..Config::default() };
        let quantized = quantize(&float, &samples, &config, None).unwrap();
        let plain = prepare(&float).unwrap();
        for (_, dots) in products(&quantized.graph) {
            let dots = dots.expect("operands are codes");
            let constant = matches!(dots.weights.codes, FloatCodes::Constant(_));
            let wanted = if constant { formats.weight_blocks } else { formats.activation_blocks };
            // Blocks whose scales are all equal are one scale.
            prop_assert!(dots.weights.blocks.is_some() <= wanted.is_some());
            prop_assert_eq!(dots.activations.blocks.is_some(), formats.activation_blocks.is_some());
        }
        for unit in &quantized.units {
            let (to, from) = (plain.find_tensor(&unit.name).unwrap(), quantized.graph.find_tensor(&unit.name).unwrap());
            let mut likeness = Likeness::default();
            for sample in &samples {
                let own = quantized.graph.interpret(&[&words(sample)]).unwrap();
                let exact = plain.interpret(&[&words(sample)]).unwrap();
                let reals = |words: &[i32]| words.iter().map(|&word| real_of(word)).collect::<Vec<_>>();
                likeness.add(&reals(&exact[to.index()]), &reals(&own[from.index()]));
            }
            prop_assert_eq!(likeness, unit.likeness, "{}", unit.name);
        }
    }

    /// The figures of calibration are those of the network: it computes what was observed.
    #[test]
    fn figures_are_those_of_the_network(layers in layers(), seed: u64, config in config()) {
        let (float, samples) = (network(&layers, seed), samples(3, seed));
        let quantized = quantize(&float, &samples, &config, None).unwrap();
        let plain = prepare(&float).unwrap();
        let (mut own, mut exact) = (Vec::new(), Vec::new());
        for sample in &samples {
            own.push(quantized.graph.interpret(&[&words(sample)]).unwrap());
            exact.push(plain.interpret(&[&words(sample)]).unwrap());
        }
        prop_assert!(!quantized.units.is_empty());
        for unit in &quantized.units {
            let (to, from) = (plain.find_tensor(&unit.name).unwrap(), quantized.graph.find_tensor(&unit.name).unwrap());
            let mut likeness = Likeness::default();
            for (own, exact) in own.iter().zip(&exact) {
                let reals = |words: &[i32]| words.iter().map(|&word| real_of(word)).collect::<Vec<_>>();
                likeness.add(&reals(&exact[to.index()]), &reals(&own[from.index()]));
            }
            prop_assert_eq!(likeness, unit.likeness, "{}", unit.name);
        }
    }

    /// The method `mse` never has a larger squared error than the largest magnitude.
    #[test]
    fn mse_is_never_worse_than_the_largest_magnitude(
        values in prop::collection::vec(-1e3f32..1e3, 1..200),
        power in 0..4i32,
        dtype in prop::sample::select(&BYTES[..]),
        powers: bool,
    ) {
        // Powers make distributions with few large values.
        let values: Vec<f32> = values.into_iter().map(|value| value.abs().powi(power) * value).collect();
        let target = FloatTarget::new(dtype, if powers { Scales::PowersOfTwo } else { Scales::Any }).unwrap();
        let mut observed = Observed::default();
        observed.add(&values);
        let (format, real) = (dtype.float_format().unwrap(), RealCodes::of(dtype).unwrap());
        let error = |method: &dyn Method| {
            let scale = target.scale(method.magnitude(&observed, &target).unwrap());
            let one = |(value, count): (f64, u64)| {
                let held = real.real(code(format, value as f32 / scale)) * scale;
                (f64::from(held) - value).powi(2) * count as f64
            };
            observed.histogram().middles().map(one).sum::<f64>()
        };
        prop_assert!(error(&Mse::USUAL) <= error(&MinMax));
    }

    /// Values beyond the covered magnitude become the largest code of 8 bits, and no code of finite values is NaN.
    #[test]
    fn codes_saturate(value: f32, magnitude in 1e-30f64..1e30, dtype in prop::sample::select(&BYTES[..])) {
        let target = FloatTarget::new(dtype, Scales::Any).unwrap();
        let scale = target.scale(magnitude);
        let real = RealCodes::of(dtype).unwrap().real(target.code(value, scale));
        prop_assert_eq!(real.is_nan(), value.is_nan());
        if f64::from(value.abs()) >= magnitude * 1.001 {
            prop_assert_eq!(f64::from(real.abs()), target.largest());
            prop_assert_eq!(real < 0.0, value < 0.0);
        }
    }
}

fn e4m3() -> Config {
    let dtype = DType::Float8E4M3Fn;
    Config { short_floats: Some(ShortFloats::new(dtype, dtype)), ..Config::default() }
}

/// With the largest magnitude as range, the largest code is used and nothing is cut.
#[test]
fn the_largest_magnitude_has_the_largest_code() {
    let quantized = quantize(&chain(), &samples(3, 1), &e4m3(), None).unwrap();
    assert_eq!(quantized.tensors.len(), 4);
    for tensor in &quantized.tensors {
        assert!(tensor.at_ends.iter().sum::<u64>() > 0, "{}", tensor.name);
        assert_eq!(tensor.codes.dtype, DType::Float8E4M3Fn);
    }
    assert!(quantized.units.iter().all(|unit| unit.likeness.sqnr_db() > 20.0), "{:?}", quantized.units);
    for (_, dots) in products(&quantized.graph) {
        let weights = dots.unwrap().weights;
        let FloatCodes::Constant(codes) = weights.codes else { panic!("constant weights") };
        let largest = codes.iter().map(|code| code & 0x7F).max();
        assert_eq!(largest, Some(weights.format.largest() as i32));
    }
}

/// A layer that stays in float has no codes, and says so.
#[test]
fn layers_stay_in_float() {
    let graph = chain();
    let plain = prepare(&graph).unwrap();
    let name = plain.short_name(plain.float_products()[0].node).to_owned();
    let rule =
        Rule { float: Some(true), ..Rule::new(Which::Class(guardbit_quantize::LayerClass::Depthwise)) };
    let config = Config { rules: vec![rule], ..e4m3() };
    let quantized = quantize(&graph, &samples(3, 1), &config, None).unwrap();
    let coded = products(&quantized.graph).iter().map(|(_, dots)| dots.is_some()).collect::<Vec<_>>();
    assert_eq!(coded, [true, false, true, true], "{name}");
    assert_eq!(quantized.units.iter().filter(|unit| unit.float.is_some()).count(), 1);
}

/// Methods for integer codes are refused, and so are samples that a float network cannot have.
#[test]
fn what_is_refused() {
    for method in METHODS.iter().filter(|method| !method.chooses_floats()) {
        let config = Config { method: Arc::new(*method), ..e4m3() };
        let error = quantize(&chain(), &samples(3, 1), &config, None).unwrap_err().to_string();
        assert!(error.contains("chooses no range of floating-point codes"), "{error}");
    }
    let names: Vec<&str> =
        METHODS.iter().filter(|method| method.chooses_floats()).map(|method| method.name()).collect();
    assert_eq!(names, ["min-max", "moving-average", "average", "percentile", "mse"]);
    let none = quantize(&chain(), &[], &e4m3(), None);
    assert!(matches!(none, Err(QuantizeError::NoSamples)));
    let rule = Rule { float: Some(true), ..Rule::new(Which::Name("nobody".into())) };
    let unknown = quantize(&chain(), &samples(1, 1), &Config { rules: vec![rule], ..e4m3() }, None);
    assert!(matches!(unknown, Err(QuantizeError::UnknownLayer { .. })));
}
