//! Cross-layer equalization and bias correction, tested through the public interface.

use crate::networks::Numbers;
use guardbit_graph::ops::{FloatConv2d, FloatUnary, RealFunction};
use guardbit_graph::{DType, Graph, GraphBuilder, OutputSpec, Padding, TensorType, real_of, word_of};
use guardbit_quantize::{CodeSetting, Config, LayerSetting, Plan, quantize};
use guardbit_testing::cases;
use proptest::prelude::*;

const CHANNELS: usize = 4;
const NETWORKS: usize = 4;

/// Returns three 1x1 convolutions with ReLU between them. Channel c of the first produces values 8^c times as
/// large as those of channel 0, and the second reads them with correspondingly smaller weights.
fn unbalanced(seed: u64) -> Graph {
    let mut numbers = Numbers::new(seed);
    let mut builder = GraphBuilder::new("unbalanced");
    let real =
        |shape: &[usize]| TensorType { shape: shape.to_vec(), dtype: DType::Float32, quantization: None };
    let output = |name: String| OutputSpec { name, dtype: DType::Float32, quantization: None };
    let mut x = builder.input("x", real(&[1, 2, 2, CHANNELS])).unwrap();
    for layer in 0..3 {
        let factor = |out: usize, read: usize| match layer {
            0 => 8f32.powi(out as i32),
            1 => 8f32.powi(-(read as i32)),
            _ => 1.0,
        };
        let weights: Vec<i32> = (0..CHANNELS * CHANNELS)
            .map(|i| word_of(numbers.next() * factor(i / CHANNELS, i % CHANNELS)))
            .collect();
        let bias: Vec<i32> = (0..CHANNELS).map(|c| word_of(numbers.next() * factor(c, 0))).collect();
        let w = builder.constant(format!("w{layer}"), real(&[CHANNELS, 1, 1, CHANNELS]), weights).unwrap();
        let b = builder.constant(format!("b{layer}"), real(&[CHANNELS]), bias).unwrap();
        let op = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid };
        x = builder.node(op, &[Some(x), Some(w), Some(b)], output(format!("conv{layer}"))).unwrap();
        if layer < 2 {
            let relu = FloatUnary { function: RealFunction::Relu, parameters: Vec::new() };
            x = builder.node(relu, &[Some(x)], output(format!("relu{layer}"))).unwrap();
        }
    }
    builder.finish(vec![x]).unwrap()
}

fn samples(seed: u64) -> Vec<Vec<Vec<f32>>> {
    let mut numbers = Numbers::new(seed ^ 0xba1a);
    (0..40).map(|_| vec![numbers.take(4 * CHANNELS)]).collect()
}

fn config(bits: u32) -> Config {
    let weights = CodeSetting { bits, ..CodeSetting::WEIGHTS };
    let setting = LayerSetting { weights, per_channel: false, ..LayerSetting::default() };
    Config { setting, ..Config::default() }
}

/// Returns the real outputs of a float network, or of a quantized one.
fn outputs(graph: &Graph, sample: &[Vec<f32>]) -> Vec<f64> {
    let ty = &graph.tensor(graph.inputs()[0]).ty;
    let code = |&value: &f32| match &ty.quantization {
        None => word_of(value),
        Some(q) => {
            let code = (value / q.scale(0)).round_ties_even() as i32 + q.zero_point(0);
            code.clamp(ty.code_range().min(), ty.code_range().max())
        }
    };
    let codes: Vec<i32> = sample[0].iter().map(code).collect();
    let output = graph.outputs()[0];
    let made = graph.interpret(&[&codes]).unwrap();
    let real = |&code: &i32| match &graph.tensor(output).ty.quantization {
        None => f64::from(real_of(code)),
        Some(q) => f64::from(q.scale(0)) * f64::from(code - q.zero_point(0)),
    };
    made[output.index()].iter().map(real).collect()
}

/// Returns the mean squared error, and the mean error per channel, over the samples.
fn errors(float: &Graph, other: &Graph, samples: &[Vec<Vec<f32>>]) -> (f64, Vec<f64>) {
    let (mut squares, mut means, mut count) = (0.0, vec![0.0; CHANNELS], 0.0);
    for sample in samples {
        for (i, (a, b)) in outputs(float, sample).into_iter().zip(outputs(other, sample)).enumerate() {
            squares += (a - b) * (a - b);
            means[i % CHANNELS] += a - b;
            count += 1.0;
        }
    }
    (squares / count, means.into_iter().map(|sum| sum * CHANNELS as f64 / count).collect())
}

/// Returns whether every tensor between the layers has nonzero values, without which its scale is
/// undetermined.
fn tells_scales(graph: &Graph, samples: &[Vec<Vec<f32>>]) -> bool {
    let made = |sample: &Vec<Vec<f32>>| {
        let words: Vec<i32> = sample[0].iter().map(|&value| word_of(value)).collect();
        graph.interpret(&[&words]).unwrap()
    };
    let made: Vec<_> = samples.iter().map(made).collect();
    ["relu0", "relu1"].iter().all(|name| {
        let tensor = graph.find_tensor(name).unwrap().index();
        made.iter().any(|tensors| tensors[tensor].iter().any(|&word| real_of(word) != 0.0))
    })
}

/// The mean error of the last layer's outputs nearly vanishes, as do those of the layers before it.
fn check_bias_correction(graph: &Graph, samples: &[Vec<Vec<f32>>]) -> Result<(), TestCaseError> {
    let plain = Config { equalize: true, ..config(3) };
    let corrected = Config { correct_bias: true, ..plain.clone() };
    let mean = |config: &Config| {
        let quantized = quantize(graph, samples, config, None).unwrap();
        let (_, means) = errors(graph, &quantized.graph, samples);
        let step = quantized.graph.tensor(quantized.graph.outputs()[0]).ty.quantization.clone().unwrap();
        (means.iter().map(|mean| mean.abs()).sum::<f64>() / CHANNELS as f64, f64::from(step.scale(0)))
    };
    let ((before, _), (after, step)) = (mean(&plain), mean(&corrected));
    prop_assert!(after <= before / 4.0 + step / 2.0, "{after} of {before}, steps of {step}");
    Ok(())
}

/// With this seed, corrected biases leave only zeros between the last two layers.
#[test]
fn a_tensor_that_correction_leaves_at_zero_keeps_its_scale() {
    let seed = 9_434_203_020_178_740_394;
    check_bias_correction(&unbalanced(seed), &samples(seed)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(24), failure_persistence: None, ..ProptestConfig::default() })]

    /// A balanced network is unchanged in float, and loses less with one scale for all weights. This holds in
    /// the geometric mean over several networks, because one whose outputs hardly depend on its inputs has
    /// little to lose.
    #[test]
    fn equalization_keeps_the_network_and_its_precision(seeds in any::<[u64; NETWORKS]>()) {
        let with = Config { equalize: true, ..config(8) };
        let mut gain = 1.0;
        for seed in seeds {
            let (graph, samples) = (unbalanced(seed), samples(seed));
            let plan = Plan::new(&graph, &with).unwrap();
            let (power, _) = errors(&graph, &graph_of_zeros(&graph), &samples);
            let (changed, _) = errors(&graph, plan.graph(), &samples);
            prop_assert!(changed <= power * 1e-10, "{changed} of {power}");
            let [plain, balanced] = [&config(8), &with].map(|config| {
                errors(&graph, &quantize(&graph, &samples, config, None).unwrap().graph, &samples).0
            });
            gain *= (plain / balanced).powf(1.0 / NETWORKS as f64);
        }
        prop_assert!(gain > 4.0, "{gain}");
    }

    #[test]
    fn bias_correction_takes_mean_errors_out(seed in any::<u64>()) {
        let (graph, samples) = (unbalanced(seed), samples(seed));
        prop_assume!(tells_scales(&graph, &samples));
        check_bias_correction(&graph, &samples)?;
    }
}

/// Returns the network with a last layer of zeros: its errors equal the power of the outputs.
fn graph_of_zeros(graph: &Graph) -> Graph {
    let mut patch = guardbit_graph::GraphPatch::new(graph);
    for name in ["w2", "b2"] {
        let id = graph.find_tensor(name).unwrap();
        let ty = graph.tensor(id).ty.clone();
        let zeros = patch.constant(name, ty.clone(), vec![0; ty.len()]).unwrap();
        patch.replace(id, zeros).unwrap();
    }
    patch.apply().unwrap()
}
