//! Tests of dot products of floating-point codes: which nodes have them, and that codes, scales and geometry give the
//! results of the host.

use guardbit_graph::ops::{
    FloatBinary, FloatBlockScale, FloatCast, FloatConv2d, FloatMatMul, RealPair, Transpose,
};
use guardbit_graph::passes::find;
use guardbit_graph::{
    DType, FloatCodes, Graph, GraphBuilder, NodeId, Op, OutputSpec, Padding, RealCodes, TensorId, TensorType,
    real_of, word_of,
};

const E4M3: DType = DType::Float8E4M3Fn;

struct Net(GraphBuilder);

impl Net {
    fn new() -> Self {
        Self(GraphBuilder::new("net"))
    }

    fn constant(&mut self, name: &str, shape: &[usize], dtype: DType, codes: Vec<i32>) -> TensorId {
        let ty = TensorType { shape: shape.to_vec(), dtype, quantization: None };
        self.0.constant(name, ty, codes).unwrap()
    }

    fn reals(&mut self, name: &str, shape: &[usize], values: &[f32]) -> TensorId {
        self.constant(name, shape, DType::Float32, values.iter().map(|&value| word_of(value)).collect())
    }

    fn input(&mut self, shape: &[usize], dtype: DType) -> TensorId {
        let ty = TensorType { shape: shape.to_vec(), dtype, quantization: None };
        self.0.input("x", ty).unwrap()
    }

    fn node(&mut self, name: &str, op: impl Into<Op>, inputs: &[TensorId]) -> TensorId {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let output = OutputSpec { name: name.into(), dtype: DType::Float32, quantization: None };
        self.0.node(op, &inputs, output).unwrap()
    }

    /// Returns codes as real values times scales.
    fn real(&mut self, name: &str, codes: TensorId, shape: &[usize], scales: &[f32]) -> TensorId {
        let values = self.node(&format!("{name}_values"), FloatCast { saturate: false }, &[codes]);
        let scales = self.reals(&format!("{name}_by"), shape, scales);
        self.node(&format!("{name}_real"), FloatBinary { function: RealPair::Mul }, &[values, scales])
    }
}

/// Finite codes of e4m3fn.
fn codes(count: usize, seed: usize) -> Vec<i32> {
    (0..count)
        .map(|i| ((i * 73 + seed) % 251) as i32)
        .map(|code| if code == 127 { 5 } else { code })
        .collect()
}

/// A matrix product whose second operand has a scale per column and is transposed after its scales.
fn product() -> Graph {
    let mut net = Net::new();
    let x = net.input(&[2, 3, 8], E4M3);
    let a = net.real("a", x, &[1], &[0.5]);
    let w = net.constant("w", &[5, 8], E4M3, codes(40, 9));
    let b = net.real("b", w, &[5, 1], &[1.0, 2.0, 0.25, 4.0, 0.5]);
    let b = net.node("turned", Transpose { permutation: vec![1, 0] }, &[b]);
    let y = net.node("y", FloatMatMul {}, &[a, b]);
    net.0.finish(vec![y]).unwrap()
}

/// A padded convolution in two groups, with a scale per channel and a bias.
fn convolution() -> Graph {
    let mut net = Net::new();
    let x = net.input(&[2, 5, 4, 6], E4M3);
    let a = net.real("a", x, &[1], &[2.0]);
    let w = net.constant("w", &[4, 3, 2, 3], E4M3, codes(72, 30));
    let b = net.real("b", w, &[4, 1, 1, 1], &[1.0, 2.0, 0.25, 8.0]);
    let bias = net.reals("bias", &[4], &[1.0, -2.0, 0.5, 1024.0]);
    let padding = Padding::Explicit { rows: [1, 1], cols: [0, 1] };
    let op = FloatConv2d { stride: [2, 1], dilation: [1, 1], padding };
    let y = net.node("y", op, &[a, b, bias]);
    net.0.finish(vec![y]).unwrap()
}

fn last(graph: &Graph) -> NodeId {
    graph.nodes_with_ids().last().unwrap().0
}

/// Sums of products of codes, times scales, plus the bias, equal the host's results. All values are exact in float64.
#[test]
fn codes_scales_and_geometry_give_the_results_of_the_host() {
    for graph in [product(), convolution()] {
        let input = graph.tensor(graph.inputs()[0]);
        let x = codes(input.ty.len(), 3);
        let host = graph.interpret(&[&x]).unwrap()[graph.outputs()[0].index()].clone();
        let dots = graph.float_dots(last(&graph)).unwrap();
        let read = |operand: &guardbit_graph::FloatOperand| operand.codes(&graph, |_| x.clone());
        let (a, b) = (read(&dots.activations), read(&dots.weights));
        let value = |code: i32| f64::from(RealCodes::of(E4M3).unwrap().real(code));
        assert_eq!(dots.window.dots(), host.len());
        for (index, &word) in host.iter().enumerate() {
            let out = dots.window.output_position(index);
            let product = |k| {
                let cell = dots.window.kernel_position(k);
                let x = dots.activation(out, cell).map_or(0.0, |at| value(a[at]));
                x * value(b[dots.weight(out, cell)])
            };
            let sum: f64 = (0..dots.window.terms()).map(product).sum();
            let bias = dots.bias.as_ref().map_or(0.0, |bias| f64::from(bias[out.c]));
            let made = (sum * f64::from(dots.scale(out.c)) + bias) as f32;
            assert_eq!(made, real_of(word), "{index}");
        }
    }
}

/// Scales along the sum that are no codes, scales that are not positive, and real operands are left to the host.
#[test]
fn other_products_have_none() {
    let with = |shape: &[usize], scales: &[f32], relu: bool| {
        let mut net = Net::new();
        let x = net.input(&[2, 4], E4M3);
        let a = net.real("a", x, &[1], &[0.5]);
        let a = match relu {
            true => {
                let zero = net.reals("zero", &[1], &[0.0]);
                net.node("relu", FloatBinary { function: RealPair::Maximum }, &[a, zero])
            }
            false => a,
        };
        let w = net.constant("w", &[4, 2], E4M3, codes(8, 1));
        let b = net.real("b", w, shape, scales);
        let y = net.node("y", FloatMatMul {}, &[a, b]);
        let graph = net.0.finish(vec![y]).unwrap();
        graph.float_dots(last(&graph)).map(|dots| dots.weights.scales)
    };
    assert_eq!(with(&[1, 2], &[3.0, 0.1], false), Some(vec![3.0, 0.1]));
    assert_eq!(with(&[4, 1], &[2.0; 4], false), Some(vec![2.0]));
    assert_eq!(with(&[4, 1], &[1.0, 2.0, 3.0, 1.7], false), None, "scales along the sum without a format");
    assert_eq!(with(&[1], &[0.0], false), None);
    assert_eq!(with(&[1], &[f32::INFINITY], false), None);
    assert_eq!(with(&[1], &[1.0], true), None, "a rectifier before the product");
}

/// Constant halves are codes if the other operand is of halves and each is exact.
#[test]
fn exact_halves_are_codes() {
    let with = |dtype, weights: [f32; 2]| {
        let mut net = Net::new();
        let x = net.input(&[1, 2], dtype);
        let a = net.node("a", FloatCast { saturate: false }, &[x]);
        let b = net.reals("w", &[2, 1], &weights);
        let y = net.node("y", FloatMatMul {}, &[a, b]);
        let graph = net.0.finish(vec![y]).unwrap();
        graph.float_dots(last(&graph)).map(|dots| dots.weights.codes)
    };
    let constant = |codes: [i32; 2]| Some(FloatCodes::Constant(codes[..].into()));
    assert_eq!(with(DType::Float16, [1.0, -0.5]), constant([0x3C00, 0xB800]));
    assert_eq!(with(DType::BFloat16, [1.0, -0.5]), constant([0x3F80, 0xBF00]));
    assert_eq!(with(DType::Float16, [1.0, 0.1]), None);
    assert_eq!(with(E4M3, [1.0, -0.5]), None);
}

/// Folding of constants keeps the codes of weights.
#[test]
fn folding_keeps_codes_of_weights() {
    for graph in [product(), convolution()] {
        assert!(find("fold_constants").unwrap().run(&graph).unwrap().is_none());
    }
}

/// A product whose weights have scales along the sum, times a scale, and whose activations choose their own.
fn blocked(scales: &[f32], scale_dtype: DType, weights: DType) -> Graph {
    let mut net = Net::new();
    let x = net.input(&[2, 8], DType::Float32);
    let op = FloatBlockScale { axis: 1, block_size: 4, scale_dtype, element_dtype: E4M3 };
    let by = net.node("by", op, &[x]);
    let quotient = net.node("quotient", FloatBinary { function: RealPair::Div }, &[x, by]);
    let output = OutputSpec { name: "codes".into(), dtype: E4M3, quantization: None };
    let codes_of_x = net.0.node(FloatCast { saturate: true }, &[Some(quotient)], output).unwrap();
    let values = net.node("values", FloatCast { saturate: false }, &[codes_of_x]);
    let a = net.node("a", FloatBinary { function: RealPair::Mul }, &[values, by]);
    let w = net.constant("w", &[3, 8], weights, codes(24, 9));
    let b = net.real("b", w, &[3, 8], scales);
    let half = net.reals("half", &[1], &[0.5]);
    let b = net.node("halved", FloatBinary { function: RealPair::Mul }, &[half, b]);
    let b = net.node("turned", Transpose { permutation: vec![1, 0] }, &[b]);
    let y = net.node("y", FloatMatMul {}, &[a, b]);
    net.0.finish(vec![y]).unwrap()
}

/// Scales of blocks are codes of their format times one scale, and give the results of the host. Operands of 16 bits have none.
#[test]
fn scales_of_blocks_give_the_results_of_the_host() {
    let powers: Vec<f32> = (0..24).map(|at| 1.5 * 2f32.powi(at / 4 * 3 - 20)).collect();
    let small: Vec<f32> = (0..24).map(|at| [0.5f32, 1.125, 448.0, 0.001953125][at / 4 % 4] * 0.3).collect();
    for (scales, dtype, format, scale) in
        [(powers, DType::Float8E8M0, "ue8m0", 0.75), (small, DType::Float8E4M3Fn, "ue4m3", 0.3 * 0.5)]
    {
        let wide = blocked(&scales, dtype, DType::Float16);
        assert!(wide.float_dots(last(&wide)).is_none(), "sums of such products may not be exact");
        let graph = blocked(&scales, dtype, E4M3);
        let x: Vec<i32> = (0..16).map(|at| word_of((at as f32 - 7.3) * 0.37 * 4f32.powi(at % 5))).collect();
        let made = graph.interpret(&[&x]).unwrap();
        let dots = graph.float_dots(last(&graph)).unwrap();
        assert_eq!((dots.weights.scales.clone(), dots.activations.scales.clone()), (vec![scale], vec![1.0]));
        let read = |id: TensorId| made[id.index()].clone();
        let value = |format: guardbit_num::FloatFormat, code: i32| match format.decode(code as u32) {
            guardbit_num::Decoded::Finite(number) => number.value(),
            other => panic!("{other:?}"),
        };
        let values = |operand: &guardbit_graph::FloatOperand| -> Vec<f64> {
            let blocks = operand.blocks.as_ref().unwrap();
            assert_eq!(blocks.format.name(), format);
            let (codes, scales) = (operand.codes(&graph, read), blocks.codes(&graph, read));
            codes
                .iter()
                .zip(scales.iter())
                .map(|(&c, &s)| value(operand.format, c) * value(blocks.format, s))
                .collect()
        };
        let (a, b) = (values(&dots.activations), values(&dots.weights));
        for (index, &word) in made[graph.outputs()[0].index()].iter().enumerate() {
            let out = dots.window.output_position(index);
            let product = |k| {
                let cell = dots.window.kernel_position(k);
                a[dots.activation(out, cell).unwrap()] * b[dots.weight(out, cell)]
            };
            let sum: f64 = (0..8).map(product).sum::<f64>() * f64::from(dots.scale(out.c));
            assert!(
                (sum - f64::from(real_of(word))).abs() <= 1e-6 * sum.abs(),
                "{sum} and {}",
                real_of(word)
            );
        }
        // The blocks of one pixel: 4 and 4 elements.
        let places = dots.activations.blocks.as_ref().unwrap().places(&graph);
        assert_eq!(places[..9], [0, 0, 0, 0, 1, 1, 1, 1, 2]);
    }
}

/// Scales follow the rules of OCP microscaling and NVFP4.
#[test]
fn scales_are_those_of_the_standards() {
    let scale = |scale_dtype, element_dtype, largest: f32| {
        FloatBlockScale { axis: 0, block_size: 1, scale_dtype, element_dtype }.scale(largest)
    };
    let powers = |element, largest: f32| scale(DType::Float8E8M0, element, largest);
    for (element, most) in [(E4M3, 8), (DType::Float8E5M2, 15), (DType::Float4E2M1, 2)] {
        for exponent in -100..=100 {
            let power = 2f32.powi(exponent);
            assert_eq!(powers(element, power), 2f32.powi(exponent - most), "{element} {exponent}");
            assert_eq!(
                powers(element, power * 1.9999999),
                2f32.powi(exponent - most),
                "{element} {exponent}"
            );
        }
        assert_eq!(powers(element, 0.0), 2f32.powi(-127));
        assert_eq!(powers(element, 1e-40), 2f32.powi(-127));
        assert!(powers(element, f32::INFINITY).is_nan() && powers(element, f32::NAN).is_nan());
        assert_eq!(powers(element, f32::MAX), 2f32.powi(127 - most));
    }
    let small = |largest| scale(DType::Float8E4M3Fn, DType::Float4E2M1, largest);
    assert_eq!([small(6.0), small(6.4), small(1e9), small(0.0)], [1.0, 1.125, 448.0, 2f32.powi(-9)]);
}
