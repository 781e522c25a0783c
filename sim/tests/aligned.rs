//! Tests of layers of floating-point codes: laws of aligned accumulators, and exact sums.

use std::sync::Arc;

use guardbit_graph::ops::{FloatBinary, FloatCast, FloatConv2d, FloatMatMul, RealPair};
use guardbit_graph::{
    DType, Graph, GraphBuilder, Op, OutputSpec, Padding, RealCodes, TensorId, TensorType, real_of, word_of,
};
use guardbit_hwmodels::{Host, Program, Step, from_yaml, lower};
use guardbit_sim::{FloatStats, Keep, Mode, Options, SampleTensors, Simulation};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Channels of the layer.
const CHANNELS: usize = 3;

/// A product, or a padded convolution, of codes of two formats with scales.
#[derive(Debug, Clone)]
struct Case {
    dtypes: [DType; 2],
    terms: usize,
    weights: Vec<i32>,
    activation_scale: f32,
    scales: [f32; CHANNELS],
    samples: Vec<Vec<i32>>,
}

fn ty(shape: &[usize], dtype: DType) -> TensorType {
    TensorType { shape: shape.to_vec(), dtype, quantization: None }
}

/// Adds a node.
fn node(
    builder: &mut GraphBuilder,
    name: &str,
    op: impl Into<Op>,
    inputs: &[TensorId],
    dtype: DType,
) -> TensorId {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    builder.node(op, &inputs, OutputSpec { name: name.into(), dtype, quantization: None }).unwrap()
}

/// Returns codes as real values times constant scales.
fn real(
    builder: &mut GraphBuilder,
    name: &str,
    codes: TensorId,
    shape: &[usize],
    scales: &[f32],
) -> TensorId {
    let values =
        node(builder, &format!("{name}_values"), FloatCast { saturate: false }, &[codes], DType::Float32);
    let words = scales.iter().map(|&scale| word_of(scale)).collect();
    let scales = builder.constant(format!("{name}_by"), ty(shape, DType::Float32), words).unwrap();
    let op = FloatBinary { function: RealPair::Mul };
    node(builder, &format!("{name}_real"), op, &[values, scales], DType::Float32)
}

impl Case {
    /// Returns `[2, terms]` times `[terms, CHANNELS]`.
    fn product(&self) -> Arc<Graph> {
        let mut builder = GraphBuilder::new("net");
        let x = builder.input("x", ty(&[2, self.terms], self.dtypes[0])).unwrap();
        let a = real(&mut builder, "a", x, &[1], &[self.activation_scale]);
        let shape = [self.terms, CHANNELS];
        let w = builder.constant("w", ty(&shape, self.dtypes[1]), self.weights.clone()).unwrap();
        let b = real(&mut builder, "b", w, &[1, CHANNELS], &self.scales);
        let y = node(&mut builder, "y", FloatMatMul {}, &[a, b], DType::Float32);
        Arc::new(builder.finish(vec![y]).unwrap())
    }

    /// Returns a convolution of two pixels with a window of three, one of them padding, and a second product of its
    /// results as codes.
    fn chain(&self) -> Arc<Graph> {
        let mut builder = GraphBuilder::new("net");
        let depth = self.terms / 3;
        let x = builder.input("x", ty(&[1, 2, 1, depth], self.dtypes[0])).unwrap();
        let a = real(&mut builder, "a", x, &[1], &[self.activation_scale]);
        let count = CHANNELS * 3 * depth;
        let weights = self.weights[..count].to_vec();
        let w = builder.constant("w", ty(&[CHANNELS, 3, 1, depth], self.dtypes[1]), weights).unwrap();
        let b = real(&mut builder, "b", w, &[CHANNELS, 1, 1, 1], &self.scales);
        let words = [0.5f32, -1.0, 0.0].map(word_of).to_vec();
        let bias = builder.constant("bias", ty(&[CHANNELS], DType::Float32), words).unwrap();
        let padding = Padding::Explicit { rows: [1, 1], cols: [0, 0] };
        let op = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding };
        let hidden = node(&mut builder, "hidden", op, &[a, b, bias], DType::Float32);
        let codes = node(&mut builder, "codes", FloatCast { saturate: true }, &[hidden], self.dtypes[0]);
        let c = real(&mut builder, "c", codes, &[1], &[2.0]);
        let last = self.weights[..CHANNELS * CHANNELS].to_vec();
        let v = builder.constant("v", ty(&[CHANNELS, CHANNELS], self.dtypes[1]), last).unwrap();
        let d = real(&mut builder, "d", v, &[1], &[1.0]);
        let y = node(&mut builder, "y", FloatMatMul {}, &[c, d], DType::Float32);
        Arc::new(builder.finish(vec![y]).unwrap())
    }

    /// Returns the sum of each dot product of the product, in units of `2^-48`.
    fn exact_sums(&self, sample: &[i32]) -> Vec<i128> {
        let [a, w] = self.dtypes.map(|dtype| RealCodes::of(dtype).unwrap());
        let unit = |real: f32| (f64::from(real) * 2f64.powi(24)) as i128;
        let sum = |index: usize| {
            let (row, channel) = (index / CHANNELS, index % CHANNELS);
            let product = |k: usize| {
                unit(a.real(sample[row * self.terms + k]))
                    * unit(w.real(self.weights[k * CHANNELS + channel]))
            };
            (0..self.terms).map(product).sum()
        };
        (0..2 * CHANNELS).map(sum).collect()
    }
}

/// Finite codes of a format whose values are multiples of `2^-24`.
fn finite(dtype: DType) -> impl Strategy<Value = i32> {
    let real = move |code: i32| RealCodes::of(dtype).unwrap().real(code);
    (dtype.min()..=dtype.max()).prop_filter("finite", move |&code| real(code).is_finite())
}

fn case() -> impl Strategy<Value = Case> {
    let dtypes =
        [DType::Float8E4M3Fn, DType::Float8E5M2, DType::Float16, DType::Float4E2M1, DType::Float8E4M3FnUz];
    let dtype = move || prop::sample::select(dtypes.to_vec());
    let scale = prop::sample::select(vec![1.0f32, 0.1, 3.0, 0.007]);
    (dtype(), dtype(), 3usize..40).prop_flat_map(move |(a, w, terms)| {
        let weights = prop::collection::vec(finite(w), terms * CHANNELS);
        let samples = prop::collection::vec(prop::collection::vec(finite(a), 2 * terms), 1..4);
        (weights, prop::array::uniform3(scale.clone()), samples).prop_map(
            move |(mut weights, scales, samples)| {
                weights.resize((terms * CHANNELS).max(CHANNELS * CHANNELS), 0);
                weights.truncate((terms * CHANNELS).max(CHANNELS * CHANNELS));
                Case { dtypes: [a, w], terms, weights, activation_scale: 0.75, scales, samples }
            },
        )
    })
}

/// A unit: products of one addition, format of the accumulator, and products after which it is promoted.
#[derive(Debug, Clone)]
struct Unit {
    terms: usize,
    result: &'static str,
    round: &'static str,
    promoted: usize,
    apart: bool,
}

fn unit() -> impl Strategy<Value = Unit> {
    let results = prop::sample::select(vec!["float32", "e8m13", "float16", "bfloat16"]);
    let rounds = prop::sample::select(vec!["toward_zero", "half_even", "floor"]);
    (1usize..20, results, rounds, 0usize..3, any::<bool>()).prop_map(
        |(terms, result, round, promoted, apart)| Unit {
            terms,
            result,
            round,
            promoted: promoted * terms,
            apart,
        },
    )
}

impl Unit {
    fn yaml(&self, bits: u32) -> String {
        let Self { terms, result, round, promoted, apart } = self;
        let apart = if *apart {
            ", incoming: apart, interleaved: true, sum_bits: 31, accumulator_bits: 24, reach: 25"
        } else {
            ""
        };
        format!(
            "schema: 1\nfloat_accumulation: {{terms: {terms}, fraction_bits: {bits}, result: {result}, result_round: {round}, \
             promote_terms: {promoted}{apart}}}\n"
        )
    }
}

fn program(graph: &Arc<Graph>, yaml: &str) -> Program {
    lower(Arc::clone(graph), &from_yaml(yaml, "x", &[]).unwrap()).unwrap()
}

fn run(program: &Program, samples: &[Vec<i32>], mode: Mode) -> (Vec<SampleTensors>, Vec<FloatStats>) {
    let options = Options { mode, keep: Keep::All, ..Options::default() };
    let mut simulation = Simulation::new(program, options);
    let samples: Vec<Vec<Vec<i32>>> = samples.iter().map(|sample| vec![sample.clone()]).collect();
    let tensors = simulation.run_batch(&samples).unwrap();
    (tensors, simulation.float_stats().into_iter().flatten().collect())
}

/// Runs a unit with `bits` fraction bits on the product of a case.
fn ran(case: &Case, unit: &Unit, bits: u32) -> (Vec<Vec<i32>>, FloatStats) {
    let graph = case.product();
    let program = program(&graph, &unit.yaml(bits));
    let (tensors, mut stats) = run(&program, &case.samples, Mode::Propagated);
    let output = graph.outputs()[0].index();
    (
        tensors.iter().map(|sample| sample.simulated[output].as_ref().unwrap().to_vec()).collect(),
        stats.remove(0),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// The exact network has the rational sum, rounded once, and the scales in float32.
    #[test]
    fn exact_outputs_are_rounded_once(case in case()) {
        let graph = case.product();
        let program = program(&graph, &Unit { terms: 8, result: "float32", round: "half_even", promoted: 0, apart: false }.yaml(40));
        let (tensors, _) = run(&program, &case.samples, Mode::Propagated);
        for (sample, tensors) in case.samples.iter().zip(&tensors) {
            let made = tensors.exact[graph.outputs()[0].index()].as_ref().unwrap().to_vec();
            for (index, (sum, word)) in case.exact_sums(sample).into_iter().zip(made).enumerate() {
                // Conversion of an integer rounds once, to nearest even; a power of two is exact.
                let rounded = sum as f32 * 2f32.powi(-48);
                let scale = 0.75f32 * case.scales[index % CHANNELS];
                prop_assert_eq!(rounded * scale, real_of(word), "{}", index);
            }
        }
    }

    /// With as many fraction bits as are required, results are those of the most bits, no term loses a bit, or sums are
    /// exact. With one bit less, that is not so for the dot product that requires them.
    #[test]
    fn required_bits_suffice_and_one_less_does_not(case in case(), unit in unit()) {
        // Products with powers of two are exact. Others may round different sums to one output.
        let case = Case { activation_scale: 0.5, scales: [1.0, 2.0, 0.25], ..case };
        let (widest, stats) = ran(&case, &unit, 40);
        let holds = |histogram: &[u64], is: &dyn Fn(u32) -> bool| {
            let Some(bits) = FloatStats::largest(histogram) else { return true };
            is(bits) && (bits == 0 || !is(bits - 1))
        };
        prop_assert!(holds(&stats.required_result, &|bits| ran(&case, &unit, bits).0 == widest), "result");
        prop_assert!(holds(&stats.required_exact, &|bits| ran(&case, &unit, bits).1.cut_terms == 0), "exact");
        prop_assert!(holds(&stats.required_float32, &|bits| ran(&case, &unit, bits).1.wrong == 0), "float32");
        prop_assert_eq!(stats.required_exact.is_empty(), unit.apart);
        // What is required does not depend on what is built.
        let narrow = ran(&case, &unit, 7).1;
        prop_assert_eq!(&narrow.required_result, &stats.required_result);
        prop_assert_eq!(&narrow.required_exact, &stats.required_exact);
        prop_assert_eq!(&narrow.required_float32, &stats.required_float32);
    }

    /// In a single addition, more fraction bits neither cut nor drop more terms.
    #[test]
    fn more_bits_lose_less(case in case(), bits in 0u32..40) {
        let unit = Unit { terms: 64, result: "float32", round: "toward_zero", promoted: 0, apart: false };
        let [narrow, wide] = [bits, bits + 1].map(|bits| ran(&case, &unit, bits).1);
        prop_assert!(wide.vanished_terms <= narrow.vanished_terms);
        prop_assert!(wide.cut_terms <= narrow.cut_terms);
        prop_assert!(wide.most_cut_bits <= narrow.most_cut_bits);
    }

    /// Promotion after each product adds in float32, one product after another.
    #[test]
    fn promotion_after_each_product_is_serial_float32(case in case()) {
        let unit = Unit { terms: 1, result: "float32", round: "half_even", promoted: 1, apart: false };
        let (made, _) = ran(&case, &unit, 40);
        let [a, w] = case.dtypes.map(|dtype| RealCodes::of(dtype).unwrap());
        for (sample, made) in case.samples.iter().zip(made) {
            for (index, word) in made.into_iter().enumerate() {
                let (row, channel) = (index / CHANNELS, index % CHANNELS);
                let product = |k: usize| {
                    a.real(sample[row * case.terms + k]) * w.real(case.weights[k * CHANNELS + channel])
                };
                let sum = (0..case.terms).fold(0.0f32, |sum, k| sum + product(k));
                prop_assert_eq!(sum * (0.75f32 * case.scales[channel]), real_of(word));
            }
        }
    }

    /// Results do not depend on the number of threads, nor on how samples are divided into batches.
    #[test]
    fn threads_and_batches_do_not_matter(case in case(), unit in unit()) {
        let graph = case.chain();
        let program = program(&graph, &unit.yaml(9));
        let samples: Vec<Vec<i32>> =
            case.samples.iter().map(|sample| sample[..case.terms / 3 * 2].to_vec()).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&program, &samples, Mode::Propagated))
        };
        let (one, three) = (on(1), on(3));
        prop_assert_eq!(&one, &three);
        let mut simulation = Simulation::new(&program, Options { keep: Keep::All, ..Options::default() });
        for sample in &samples {
            simulation.run_batch(&[vec![sample.clone()]]).unwrap();
        }
        prop_assert_eq!(one.1, simulation.float_stats().into_iter().flatten().collect::<Vec<_>>());
    }
}

/// Runs `float_accumulation` with some keys on the product of a case.
fn ran_with(case: &Case, keys: &str) -> (Vec<Vec<i32>>, FloatStats) {
    let graph = case.product();
    let program = program(&graph, &format!("schema: 1\nfloat_accumulation: {{{keys}}}\n"));
    let (tensors, mut stats) = run(&program, &case.samples, Mode::Propagated);
    let output = graph.outputs()[0].index();
    let made = tensors.iter().map(|sample| sample.simulated[output].as_ref().unwrap().to_vec());
    (made.collect(), stats.remove(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100)))]

    /// Required fraction bits and required integer bits of a fixed-point register suffice, and one bit less does not.
    #[test]
    fn required_bits_of_registers_suffice(case in case(), terms in 1usize..20, bits in 0u32..=40, width in 2u32..=64) {
        let case = Case { activation_scale: 0.5, scales: [1.0, 2.0, 0.25], ..case };
        let fixed = |bits: u32, more: &str| ran_with(&case, &format!("terms: {terms}, result: fixed, fraction_bits: {bits}{more}"));
        let (sums, stats) = fixed(bits, &format!(", bits: {width}"));
        prop_assert_eq!(stats.overflows > 0, stats.first_overflow.0.is_some());
        prop_assert!(stats.overflow_dots <= stats.overflows);
        let (unlimited, without) = fixed(bits, "");
        prop_assert_eq!(without.overflows, 0);
        prop_assert_eq!(&without.required_integer, &stats.required_integer);
        if stats.overflows == 0 {
            prop_assert_eq!(sums, unlimited);
        }
        let integer = FloatStats::largest(&stats.required_integer).unwrap();
        if (2..=64).contains(&(bits + integer)) {
            prop_assert_eq!(fixed(bits, &format!(", bits: {}", bits + integer)).1.overflows, 0);
        }
        if integer > 1 && (3..=65).contains(&(bits + integer)) {
            let (_, narrow) = fixed(bits, &format!(", bits: {}", bits + integer - 1));
            prop_assert!(narrow.overflows > 0);
        }
        let widest = fixed(40, "").0;
        let holds = |histogram: &[u64], is: &dyn Fn(u32) -> bool| {
            let Some(bits) = FloatStats::largest(histogram) else { return true };
            is(bits) && (bits == 0 || !is(bits - 1))
        };
        prop_assert!(holds(&stats.required_result, &|bits| fixed(bits, "").0 == widest), "result");
        prop_assert!(holds(&stats.required_exact, &|bits| fixed(bits, "").1.cut_terms == 0), "exact");
        prop_assert!(holds(&stats.required_float32, &|bits| fixed(bits, "").1.wrong == 0), "float32");
    }

    /// Additions one after another in float32 are those of the machine; operands that are flushed are zero.
    #[test]
    fn serial_additions_are_those_of_the_machine(case in case(), flush in any::<bool>()) {
        let subnormals = if flush { "flush" } else { "keep" };
        let keys = format!("reduce: serial, result: float32, result_round: half_even, subnormals: {subnormals}");
        let (made, stats) = ran_with(&case, &keys);
        prop_assert!(stats.required_result.is_empty() && stats.required_exact.is_empty());
        let [a, w] = case.dtypes.map(|dtype| {
            let (format, codes) = (dtype.float_format().unwrap(), RealCodes::of(dtype).unwrap());
            move |code: i32| if flush && format.is_subnormal(code as u32) { 0.0 } else { codes.real(code) }
        });
        for (sample, made) in case.samples.iter().zip(made) {
            for (index, word) in made.into_iter().enumerate() {
                let (row, channel) = (index / CHANNELS, index % CHANNELS);
                let product = |k: usize| a(sample[row * case.terms + k]) * w(case.weights[k * CHANNELS + channel]);
                let sum = (0..case.terms).fold(0.0f32, |sum, k| sum + product(k));
                prop_assert_eq!(sum * (0.75f32 * case.scales[channel]), real_of(word));
            }
        }
    }
}

/// In isolated mode a layer reads the activations of the exact network, and otherwise those of the layer before it.
#[test]
fn activations_are_those_of_the_mode() {
    let case = Case {
        dtypes: [DType::Float8E4M3Fn; 2],
        terms: 9,
        weights: (0..27).map(|i| i * 11 % 120).collect(),
        activation_scale: 0.75,
        scales: [1.0, 2.0, 0.5],
        samples: vec![vec![0x7E, 0x01, 0x38, 0x30, 0xB9, 0x02]],
    };
    let graph = case.chain();
    let program = program(&graph, "schema: 1\nfloat_accumulation: {terms: 4, fraction_bits: 2}\n");
    let on_host = program.steps.iter().filter(|step| matches!(step, Step::Host(Host::OfLayer))).count();
    assert_eq!(on_host, 8, "conversions of four operands");
    let [propagated, isolated] =
        [Mode::Propagated, Mode::Isolated].map(|mode| run(&program, &case.samples, mode));
    assert_eq!(propagated.1[0], isolated.1[0]);
    assert_ne!(propagated.1[1], isolated.1[1]);
    let codes = graph.find_tensor("codes").unwrap().index();
    assert_ne!(propagated.0[0].simulated[codes], propagated.0[0].exact[codes]);
    assert!(propagated.1[0].cut_terms > 0 && propagated.1[0].outputs.sqnr_db().is_finite());
}

/// Without `float_accumulation` the host computes the layer, and the reason is given.
#[test]
fn without_the_section_the_host_computes() {
    let case = Case {
        dtypes: [DType::Float8E4M3Fn; 2],
        terms: 3,
        weights: vec![0x38; 9],
        activation_scale: 0.75,
        scales: [1.0; 3],
        samples: Vec::new(),
    };
    let program = program(&case.product(), "schema: 1\n");
    assert!(matches!(program.steps.last(), Some(Step::Host(Host::NoFloatAccumulation))));
}
