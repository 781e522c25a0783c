//! Layers of floating-point codes give the same on every engine and instruction set.

use std::sync::Arc;

use guardbit_graph::ops::{FloatCast, FloatConv2d, FloatMatMul};
use guardbit_graph::{DType, Graph, GraphBuilder, Op, OutputSpec, Padding, TensorId, TensorType};
use guardbit_hwmodels::{from_yaml, lower};
use guardbit_sim::{Engine, FloatStats, Isa, Keep, Options, SampleTensors, Simulation, StatsLevel};
use guardbit_testing::cases;
use proptest::prelude::*;

const ROWS: usize = 3;

/// A product, or a convolution of each channel, of codes of two formats, and a unit.
#[derive(Debug, Clone)]
struct Case {
    dtypes: [DType; 2],
    terms: usize,
    channels: usize,
    depthwise: bool,
    activations: Vec<i32>,
    weights: Vec<i32>,
    unit: String,
    stats: StatsLevel,
}

impl Case {
    fn graph(&self) -> Arc<Graph> {
        let mut builder = GraphBuilder::new("net");
        let ty = |shape: &[usize], dtype| TensorType { shape: shape.into(), dtype, quantization: None };
        let node = |builder: &mut GraphBuilder, name: &str, op: Op, inputs: &[TensorId]| {
            let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
            let output = OutputSpec { name: name.into(), dtype: DType::Float32, quantization: None };
            builder.node(op, &inputs, output).unwrap()
        };
        let Self { terms, channels, .. } = *self;
        let (x, w, op) = match self.depthwise {
            false => (vec![ROWS, terms], vec![terms, channels], Op::from(FloatMatMul {})),
            true => {
                let op = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid };
                (vec![1, terms + ROWS - 1, 1, channels], vec![channels, terms, 1, 1], Op::from(op))
            }
        };
        let x = builder.input("x", ty(&x, self.dtypes[0])).unwrap();
        let w = ty(&w, self.dtypes[1]);
        let w = builder.constant("w", w, self.weights.clone()).unwrap();
        let [a, b] = [("a", x), ("b", w)]
            .map(|(name, codes)| node(&mut builder, name, FloatCast { saturate: false }.into(), &[codes]));
        let y = node(&mut builder, "y", op, &[a, b]);
        Arc::new(builder.finish(vec![y]).unwrap())
    }

    fn run(&self, engine: Engine, isa: Option<Isa>) -> (Vec<SampleTensors>, Vec<Option<FloatStats>>) {
        let accelerator = from_yaml(&format!("schema: 1\n{}\n", self.unit), "x", &[]).unwrap();
        let program = lower(self.graph(), &accelerator).unwrap();
        let options = Options { engine, isa, stats: self.stats, keep: Keep::All, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let count = match self.depthwise {
            false => ROWS * self.terms,
            true => (self.terms + ROWS - 1) * self.channels,
        };
        let activations: Vec<i32> = self.activations.iter().cycle().take(count).copied().collect();
        let tensors = simulation.run_batch(&[vec![activations]]).unwrap();
        (tensors, simulation.float_stats())
    }
}

/// Codes of a format: mostly numbers that are near each other, with zeros, and some of any kind.
fn codes(dtype: DType, count: usize, odd: u32) -> impl Strategy<Value = Vec<i32>> {
    let (least, greatest) = (dtype.min(), dtype.max());
    let middle = (greatest - least) / 4;
    let near = (middle - middle / 3)..=(middle + middle / 3);
    let negative = near.clone();
    let code = prop_oneof![
        12 => near,
        12 => negative.prop_map(move |code| code + (greatest - least + 1) / 2),
        2 => Just(0),
        odd => least..=greatest,
    ];
    prop::collection::vec(code, count)
}

fn case() -> impl Strategy<Value = Case> {
    let dtypes = [
        DType::Float8E4M3Fn,
        DType::Float8E5M2,
        DType::Float8E4M3FnUz,
        DType::Float4E2M1,
        DType::Float16,
        DType::BFloat16,
    ];
    let dtype = move || prop::sample::select(dtypes.to_vec());
    let unit = (
        1usize..40,
        0u32..=40,
        prop::sample::select(vec!["float32", "e8m13", "float16", "bfloat16"]),
        prop::sample::select(vec!["toward_zero", "half_even", "floor"]),
        prop::sample::select(vec!["toward_zero", "toward_zero", "floor", "half_even"]),
        (0usize..4, any::<bool>()),
    );
    let unit = unit.prop_map(|(terms, bits, result, round, align, (promoted, zero))| {
        format!(
            "float_accumulation: {{terms: {terms}, fraction_bits: {bits}, result: {result}, result_round: {round}, \
             align_round: {align}, promote_terms: {}, negative_zero: {zero}}}",
            promoted * terms
        )
    });
    let stats = prop::sample::select(vec![StatsLevel::None, StatsLevel::Events, StatsLevel::Full]);
    // Without odd codes no sum needs the reference.
    (dtype(), dtype(), 1usize..60, 1usize..36, unit, stats, any::<[bool; 2]>()).prop_flat_map(
        |(a, w, terms, channels, unit, stats, [odd, depthwise])| {
            let odd = u32::from(odd);
            (codes(a, ROWS * terms, odd), codes(w, terms * channels, odd)).prop_map(
                move |(activations, weights)| {
                    let unit = unit.clone();
                    Case { dtypes: [a, w], terms, channels, depthwise, activations, weights, unit, stats }
                },
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn every_engine_equals_the_reference_in_floating_point(case in case()) {
        let reference = case.run(Engine::Reference, None);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            prop_assert_eq!(&case.run(Engine::Fast, Some(isa)), &reference, "{:?}", isa);
        }
    }
}
