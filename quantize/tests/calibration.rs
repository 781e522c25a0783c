//! Calibration behaviour that no other test covers.

use std::sync::{Arc, Mutex};

use crate::networks::{chain, samples};
use guardbit_graph::{Graph, word_of};
use guardbit_hwmodels::Accelerator;
use guardbit_quantize::method::Method;
use guardbit_quantize::{
    CodeSetting, Config, LayerClass, LayerInput, LayerMethod, LayerParameters, LayerProblem, LayerSetting,
    Observed, Plan, QuantizeError, Range, Rule, Target, Which, calibrate, quantize,
};
use guardbit_sim::StatsLevel;

fn accelerator(bits: &str) -> Accelerator {
    guardbit_hwmodels::load("fpga-int14-os", &[format!("accumulation.acc.bits={bits}")]).unwrap()
}

/// User-defined method: half of the observed range.
struct Half;

impl Method for Half {
    fn name(&self) -> &str {
        "half"
    }

    fn range(&self, observed: &Observed, _target: &Target) -> Range {
        let (low, high) = observed.extremes();
        Range { low: low / 2.0, high: high / 2.0 }
    }
}

#[test]
fn a_method_of_the_users_own_is_asked() {
    let graph = chain();
    let of = |method: Option<Arc<dyn Method>>| {
        let mut config = Config::default();
        config.method = method.unwrap_or(config.method);
        quantize(&graph, &samples(3, 1), &config, None).unwrap().tensors
    };
    let (plain, half) = (of(None), of(Some(Arc::new(Half))));
    assert_eq!(plain.len(), half.len());
    let scale = |tensors: &[guardbit_quantize::TensorFigures]| tensors[0].codes.parameters.scale;
    assert_eq!(scale(&half), scale(&plain) / 2.0);
    assert!(half[0].at_ends.iter().sum::<u64>() > plain[0].at_ends.iter().sum::<u64>(), "more is clipped");
}

/// Record of a method for layers, layer by layer: class, whether the input is free, events on the
/// accelerator, and SQNR.
type Seen = (LayerClass, bool, u64, f64);

/// Uses the plain parameters with twice the input scale, if allowed.
struct Doubled(Mutex<Vec<Seen>>);

impl LayerMethod for Doubled {
    fn name(&self) -> &str {
        "doubled"
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        let outcome = layer.run(&layer.plain, StatsLevel::Events)?;
        let events = outcome.stats.levels.iter().map(|level| level.total().events()).sum();
        let free = matches!(layer.input, LayerInput::Free(_));
        self.0.lock().unwrap().push((layer.class, free, events, outcome.sqnr_db()));
        assert_eq!(layer.weights.len(), layer.channels * layer.terms);
        let mut input = layer.plain.input;
        if free {
            input.scale *= 2.0;
        }
        let weights = layer.plain.weights.clone();
        let bias = layer.bias_codes(input, &weights);
        Ok(LayerParameters { input, weights, bias, ..layer.plain.clone() })
    }
}

#[test]
fn a_method_for_layers_gets_the_layer_on_its_accelerator() {
    let seen = |bits: &str| {
        let method = Arc::new(Doubled(Mutex::new(Vec::new())));
        let config = Config { layer_method: Some(Arc::clone(&method) as _), ..Config::default() };
        let graph = chain();
        let plan = Plan::new(&graph, &config).unwrap();
        let hw = accelerator(bits);
        let calibrated = calibrate(&plan, &config, Some(&hw), &samples(3, 1)).unwrap();
        let plain_plan = Plan::new(&graph, &Config::default()).unwrap();
        let plain = calibrate(&plain_plan, &Config::default(), None, &samples(3, 1)).unwrap();
        let input = plan.graph().inputs()[0];
        let scale =
            |c: &guardbit_quantize::Calibrated<'_>| c.simulated.variable(input).unwrap().parameters.scale;
        assert_eq!(scale(&calibrated), 2.0 * scale(&plain), "the input was chosen again");
        let kept = calibrated.units.iter().all(|unit| unit.likeness.sqnr_db() > 15.0);
        assert!(kept, "its codes were made again: {:?}", calibrated.units);
        method.0.lock().unwrap().clone()
    };
    let (narrow, wide) = (seen("9"), seen("24"));
    let classes: Vec<LayerClass> = wide.iter().map(|layer| layer.0).collect();
    use LayerClass as C;
    assert_eq!(classes, [C::Conv, C::Depthwise, C::Pointwise, C::Dense]);
    // A reshape precedes the dense layer, and codes of its own follow it.
    assert!(wide.iter().all(|layer| layer.1), "{wide:?}");
    assert!(wide.iter().all(|layer| layer.2 == 0), "{wide:?}");
    assert!(narrow.iter().all(|layer| layer.2 > 0), "{narrow:?}");
    assert!(narrow[0].3 < wide[0].3 - 10.0, "overflow is part of the error: {narrow:?} {wide:?}");
}

#[test]
fn rules_are_for_classes_and_names() {
    let graph = chain();
    let of = |layers: Which, weights: u32, float: bool| {
        let weights = CodeSetting { bits: weights, ..CodeSetting::WEIGHTS };
        let rule = Rule { weights: Some(weights), float: Some(float), ..Rule::new(layers) };
        let config = Config { rules: vec![rule], ..Config::default() };
        let units = quantize(&graph, &samples(2, 1), &config, None).unwrap().units;
        units.into_iter().filter_map(|unit| Some((unit.class?, unit.weight_bits))).collect::<Vec<_>>()
    };
    use LayerClass as C;
    let by_class = of(Which::Class(C::Depthwise), 4, false);
    assert_eq!(
        by_class,
        [(C::Conv, Some(8)), (C::Depthwise, Some(4)), (C::Pointwise, Some(8)), (C::Dense, Some(8))]
    );
    let name = graph.node_name(graph.nodes_with_ids().nth(4).unwrap().0).to_owned();
    let by_name = of(Which::Name(name.clone()), 8, true);
    assert!(
        !by_name.iter().any(|(class, bits)| *class == C::Pointwise && bits.is_some()),
        "{name}: {by_name:?}"
    );
}

/// A layer whose own quantization loses too much stays in float and reports it; the rest is still quantized.
#[test]
fn what_loses_too_much_stays_in_float() {
    let graph = chain();
    let weights = CodeSetting { bits: 2, ..CodeSetting::WEIGHTS };
    let rule = Rule { weights: Some(weights), ..Rule::new(Which::Class(LayerClass::Depthwise)) };
    let config = Config { rules: vec![rule], least_sqnr_db: Some(15.0), ..Config::default() };
    let quantized = quantize(&graph, &samples(3, 1), &config, None).unwrap();
    let float: Vec<_> = quantized.units.iter().filter(|unit| unit.float.is_some()).collect();
    assert_eq!(float.len(), 1, "{float:?}");
    assert!(float[0].float.as_deref().unwrap().contains("below 15 dB"), "{float:?}");
    let ops: Vec<_> = quantized.graph.nodes().iter().map(|node| node.op.name()).collect();
    assert_eq!(ops.iter().filter(|op| **op == "float_conv2d").count(), 1, "{ops:?}");
    assert!(ops.contains(&"conv2d") && ops.contains(&"quantize_float") && ops.contains(&"dequantize"));
}

/// Channels without weights keep their bias, and a bias that is huge relative to its weights still fits.
#[test]
fn biases_beside_tiny_weights_are_kept() {
    use guardbit_graph::ops::FloatConv2d;
    use guardbit_graph::{DType, GraphBuilder, OutputSpec, Padding, TensorType};
    let mut builder = GraphBuilder::new("bias");
    let ty =
        |shape: &[usize]| TensorType { shape: shape.to_vec(), dtype: DType::Float32, quantization: None };
    let words = |values: &[f32]| values.iter().map(|&value| word_of(value)).collect::<Vec<_>>();
    let x = builder.input("x", ty(&[1, 1, 1, 2])).unwrap();
    let w = builder.constant("w", ty(&[3, 1, 1, 2]), words(&[0.5, -0.25, 0.0, 0.0, 1e-12, 1e-12])).unwrap();
    let b = builder.constant("b", ty(&[3]), words(&[0.1, 0.3, -0.7])).unwrap();
    let conv = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid };
    let output = OutputSpec { name: "y".into(), dtype: DType::Float32, quantization: None };
    let y = builder.node(conv, &[Some(x), Some(w), Some(b)], output).unwrap();
    let graph = builder.finish(vec![y]).unwrap();
    let samples: Vec<_> = (0..5).map(|i| vec![vec![i as f32 - 2.0, 1.0]]).collect();
    let quantized = quantize(&graph, &samples, &Config::default(), None).unwrap();
    let biases = quantized.graph.tensors().iter().find(|tensor| tensor.ty.dtype == DType::Int32);
    let biases = biases.and_then(|tensor| tensor.codes()).unwrap().to_vec();
    assert!(biases[1] > 1000, "fine steps without weights: {biases:?}");
    assert!(biases[2].unsigned_abs() <= 1 << 30 && biases[2] < -1000, "in 32 bits: {biases:?}");
    let likeness = quantized.units[0].likeness;
    assert!(likeness.sqnr_db() > 35.0 && likeness.greatest_error() < 0.02, "{likeness:?}");
}

/// Every error describes the problem.
#[test]
fn errors() {
    let graph = chain();
    let mut text = String::new();
    let mut check = |what: &str, result: Result<(), QuantizeError>| {
        let error = result.unwrap_err();
        let help = error.help();
        text += &format!("{what}\n  {}: {error}\n  {help}\n", error.code());
    };
    let run = |graph: &Graph, samples: &[Vec<Vec<f32>>], config: &Config, hw: Option<&Accelerator>| {
        quantize(graph, samples, config, hw).map(drop)
    };
    let plain = Config::default();
    check("no samples", run(&graph, &[], &plain, None));
    check("a short sample", run(&graph, &[vec![vec![1.0; 3]]], &plain, None));
    check("two inputs", run(&graph, &[vec![vec![1.0; 144], vec![]]], &plain, None));
    check("not a number", run(&graph, &[vec![vec![f32::NAN; 144]]], &plain, None));
    let quantized = quantize(&graph, &samples(2, 1), &plain, None).unwrap().graph;
    check("a quantized network", run(&quantized, &samples(2, 1), &plain, None));
    let none = Config {
        rules: vec![Rule { float: Some(true), ..Rule::new(Which::Name("nobody".into())) }],
        ..plain.clone()
    };
    check("an unknown layer", run(&graph, &samples(2, 1), &none, None));
    let float = LayerSetting { float: true, ..LayerSetting::default() };
    check("nothing", run(&graph, &samples(2, 1), &Config { setting: float, ..plain.clone() }, None));
    let little = Config { memory: 1000, ..plain.clone() };
    check("little memory", run(&graph, &samples(5, 1), &little, None));
    let method = Doubled(Mutex::new(Vec::new()));
    let aimed = Config { layer_method: Some(Arc::new(method)), ..plain.clone() };
    check("no accelerator", run(&graph, &samples(2, 1), &aimed, None));
    struct Wrong;
    impl LayerMethod for Wrong {
        fn name(&self) -> &str {
            "wrong"
        }

        fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
            let mut chosen = layer.plain.clone();
            match layer.input {
                LayerInput::Fixed(_) => chosen.input.scale *= 2.0,
                LayerInput::Free(_) => {}
            }
            Ok(chosen)
        }
    }
    // Only codes of 8 bits can be converted by a table.
    let mut wrong = Config { layer_method: Some(Arc::new(Wrong)), ..plain.clone() };
    wrong.setting.activations.bits = 16;
    check(
        "a method that changes what is decided",
        run(&graph, &samples(2, 1), &wrong, Some(&accelerator("14"))),
    );
    let trap = guardbit_hwmodels::load(
        "fpga-int14-os",
        &["accumulation.acc.bits=6".into(), "accumulation.acc.overflow=trap".into()],
    )
    .unwrap();
    let method = Doubled(Mutex::new(Vec::new()));
    let aimed = Config { layer_method: Some(Arc::new(method)), ..plain };
    check("a trap", run(&graph, &samples(2, 1), &aimed, Some(&trap)));
    insta::assert_snapshot!(text);
}
