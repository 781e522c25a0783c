//! Layers of floating-point codes give the same on every engine and instruction set.

use std::sync::Arc;

use guardbit_graph::ops::{FloatBinary, FloatBlockScale, FloatCast, FloatConv2d, FloatMatMul, RealPair};
use guardbit_graph::{DType, Graph, GraphBuilder, Op, OutputSpec, Padding, TensorId, TensorType, word_of};
use guardbit_hwmodels::{from_yaml, lower};
use guardbit_sim::{Engine, FloatStats, Isa, Keep, Options, SampleTensors, Simulation, StatsLevel};
use guardbit_testing::cases;
use proptest::prelude::*;

/// More pixels than a tile has.
const ROWS: usize = 10;

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
    blocks: Option<Blocks>,
    /// Whether a second layer follows, whose activations differ in the exact network.
    twice: bool,
}

/// Scales of blocks of both operands.
#[derive(Debug, Clone)]
struct Blocks {
    /// Dtype of the scales.
    dtype: DType,
    size: usize,
    /// Exponents of constant scales, or their codes for ue4m3, which repeat.
    codes: Vec<u8>,
    /// Whether scales of activations follow from the activations.
    dynamic: bool,
    /// Whether those of weights are the inverses of those of activations.
    inverse: bool,
}

impl Blocks {
    fn scale(&self, at: usize) -> f32 {
        let code = self.codes[at % self.codes.len()];
        match self.dtype {
            DType::Float8E8M0 => 2f32.powi(i32::from(code) - 127),
            _ => guardbit_graph::RealCodes::of(self.dtype).unwrap().real(i32::from(code % 126) + 1),
        }
    }
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
        let second = op.clone();
        let x = builder.input("x", ty(&x, self.dtypes[0])).unwrap();
        let w = ty(&w, self.dtypes[1]);
        let w = builder.constant("w", w, self.weights.clone()).unwrap();
        let shapes = [x, w].map(|id| builder.tensor(id).ty.shape.clone());
        let of_real = |dtype| OutputSpec { name: "again".into(), dtype, quantization: None };
        let [mut a, mut b] = [("a", x), ("b", w)]
            .map(|(name, codes)| node(&mut builder, name, FloatCast { saturate: false }.into(), &[codes]));
        if let Some(blocks) = &self.blocks {
            let mul = |function| Op::from(FloatBinary { function });
            let constant = |builder: &mut GraphBuilder, name: &str, shape: &[usize], axis: usize| {
                let inner: usize = shape[axis + 1..].iter().product();
                let scale = |at: usize| match (at / inner % shape[axis] / blocks.size, blocks.inverse) {
                    (block, true) if axis == 0 => blocks.scale(block).recip(),
                    (block, true) => blocks.scale(block),
                    (block, false) => blocks.scale(block * 7 + at % inner),
                };
                let words = (0..shape.iter().product()).map(|at| word_of(scale(at))).collect();
                builder.constant(name, ty(shape, DType::Float32), words).unwrap()
            };
            let axis = if self.depthwise { 3 } else { 1 };
            let scales = match blocks.dynamic {
                true => {
                    let (scale_dtype, element_dtype) = (blocks.dtype, self.dtypes[0]);
                    let op = FloatBlockScale { axis, block_size: blocks.size, scale_dtype, element_dtype };
                    let scales = node(&mut builder, "scales", op.into(), &[a]);
                    let quotient = node(&mut builder, "quotient", mul(RealPair::Div), &[a, scales]);
                    let cast = FloatCast { saturate: true };
                    let codes = builder.node(cast, &[Some(quotient)], of_real(self.dtypes[0])).unwrap();
                    a = node(&mut builder, "values", FloatCast { saturate: false }.into(), &[codes]);
                    scales
                }
                false => constant(&mut builder, "s", &shapes[0], axis),
            };
            a = node(&mut builder, "scaled_a", mul(RealPair::Mul), &[a, scales]);
            let scales = constant(&mut builder, "t", &shapes[1], if self.depthwise { 3 } else { 0 });
            b = node(&mut builder, "scaled_b", mul(RealPair::Mul), &[b, scales]);
        }
        let mut y = node(&mut builder, "y", op, &[a, b]);
        if self.twice {
            let of = |name: &str| OutputSpec { name: name.into(), dtype: self.dtypes[0], quantization: None };
            let cast = FloatCast { saturate: true };
            let codes = builder.node(cast, &[Some(y)], of("second_codes")).unwrap();
            let a = node(&mut builder, "second_a", FloatCast { saturate: false }.into(), &[codes]);
            let shape = if self.depthwise { vec![channels, ROWS, 1, 1] } else { vec![channels, channels] };
            let weights = self.weights.iter().cycle().take(shape.iter().product()).copied().collect();
            let w = builder.constant("second_w", ty(&shape, self.dtypes[1]), weights).unwrap();
            let b = node(&mut builder, "second_b", FloatCast { saturate: false }.into(), &[w]);
            y = node(&mut builder, "z", second, &[a, b]);
        }
        Arc::new(builder.finish(vec![y]).unwrap())
    }

    fn run(&self, engine: Engine, isa: Option<Isa>) -> (Vec<SampleTensors>, Vec<Option<FloatStats>>) {
        let accelerator = from_yaml(&format!("schema: 1\n{}\n", self.unit), "x", &[]).unwrap();
        let program = lower(self.graph(), &accelerator).unwrap();
        assert_eq!(program.float_layers().count(), 1 + usize::from(self.twice));
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

/// Returns a unit, with the keys of `block_scales`.
fn unit(block_scales: &'static str) -> impl Strategy<Value = String> {
    let unit = (
        1usize..40,
        0u32..=40,
        prop::sample::select(vec!["float32", "e8m13", "float16", "bfloat16"]),
        prop::sample::select(vec!["toward_zero", "half_even", "floor"]),
        prop::sample::select(vec!["toward_zero", "toward_zero", "floor", "half_even"]),
        (0usize..4, any::<bool>()),
    );
    unit.prop_map(move |(terms, bits, result, round, align, (promoted, zero))| {
        // Groups divide the products of an addition.
        let terms = if block_scales.contains("group_terms") { terms * 8 } else { terms };
        format!(
            "float_accumulation: {{terms: {terms}, fraction_bits: {bits}, result: {result}, result_round: {round}, \
             align_round: {align}, promote_terms: {}, negative_zero: {zero}{block_scales}}}",
            promoted * terms
        )
    })
}

fn stats() -> impl Strategy<Value = StatsLevel> {
    prop::sample::select(vec![StatsLevel::None, StatsLevel::Events, StatsLevel::Full])
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
    // Without odd codes no sum needs the reference.
    (dtype(), dtype(), 1usize..60, 1usize..36, unit(""), stats(), any::<[bool; 3]>()).prop_flat_map(
        |(a, w, terms, channels, unit, stats, [odd, depthwise, twice])| {
            let odd = u32::from(odd);
            (codes(a, ROWS * terms, odd), codes(w, terms * channels, odd)).prop_map(
                move |(activations, weights)| {
                    let (unit, blocks) = (unit.clone(), None);
                    Case {
                        dtypes: [a, w],
                        terms,
                        channels,
                        depthwise,
                        activations,
                        weights,
                        unit,
                        stats,
                        blocks,
                        twice,
                    }
                },
            )
        },
    )
}

/// Layers of codes of at most 8 bits, whose products are added in lanes of 32 bits.
fn short() -> impl Strategy<Value = Case> {
    let dtypes = [DType::Float8E4M3Fn, DType::Float8E4M3Fn, DType::Float8E5M2, DType::Float4E2M1];
    let dtype = move || prop::sample::select(dtypes.to_vec());
    let unit = (
        1usize..12,
        0u32..=20,
        prop::sample::select(vec!["float32", "e8m13", "bfloat16"]),
        prop::sample::select(vec!["toward_zero", "toward_zero", "half_even"]),
        prop::sample::select(vec!["toward_zero", "floor"]),
        0usize..4,
    );
    let unit = unit.prop_map(|(terms, bits, result, round, align, promoted)| {
        format!(
            "float_accumulation: {{terms: {terms}, fraction_bits: {bits}, result: {result}, result_round: {round}, \
             align_round: {align}, promote_terms: {}}}",
            promoted * terms
        )
    });
    let level = prop::sample::select(vec![StatsLevel::Events, StatsLevel::Full]);
    (dtype(), dtype(), 1usize..60, 1usize..20, unit, level, any::<[bool; 2]>()).prop_flat_map(
        |(a, w, terms, channels, unit, stats, [odd, twice])| {
            (codes(a, ROWS * terms, u32::from(odd)), codes(w, terms * channels, u32::from(odd))).prop_map(
                move |(activations, weights)| {
                    let (unit, dtypes) = (unit.clone(), [a, w]);
                    let (depthwise, blocks) = (false, None);
                    Case {
                        dtypes,
                        terms,
                        channels,
                        depthwise,
                        activations,
                        weights,
                        unit,
                        stats,
                        blocks,
                        twice,
                    }
                },
            )
        },
    )
}

/// Sums of the largest codes need more than 32 bits: exact sums of long dot products, those of one addition if weights are far
/// apart, and delivered sums with many fraction bits.
#[test]
fn sums_of_the_largest_codes_do_not_overflow() {
    let check = |[a, w]: [DType; 2],
                 activation: i32,
                 [least, largest]: [i32; 2],
                 (products, bits): (usize, u32)| {
        let (terms, channels) = (1300, 3);
        let weights = (0..terms * channels).map(|at| if at < channels { least } else { largest }).collect();
        let case = Case {
            dtypes: [a, w],
            terms,
            channels,
            depthwise: false,
            activations: vec![activation],
            weights,
            unit: format!("float_accumulation: {{terms: {products}, fraction_bits: {bits}, result: e8m13}}"),
            stats: StatsLevel::Events,
            blocks: None,
            twice: false,
        };
        let reference = case.run(Engine::Reference, None);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            assert_eq!(case.run(Engine::Fast, Some(isa)), reference, "{a} {w} {isa:?}");
        }
    };
    check([DType::Float8E4M3Fn; 2], 0x7E, [0x01, 0x7E], (32, 13));
    check([DType::Float8E5M2; 2], 0x7B, [0x1C, 0x7B], (1, 3));
    check([DType::Float8E4M3Fn, DType::Float8E5M2], 0x7E, [0x18, 0x7B], (32, 3));
    check([DType::Float8E4M3Fn, DType::Float4E2M1], 0x7E, [0x7, 0x7], (32, 26));
}

/// Exact sums that are made alone, for a second layer whose operands differ in the exact network, need more than 32 bits.
#[test]
fn exact_sums_of_a_second_layer_do_not_overflow() {
    let (terms, channels) = (4, 1100);
    // The first channel cancels but for terms that vanish; all others saturate.
    let first = |k: usize| [0x7E, 0xFE, 0x01, 0x01][k];
    let weight = |at: usize| if at.is_multiple_of(channels) { first(at / channels) } else { 0x7E };
    let case = Case {
        dtypes: [DType::Float8E4M3Fn; 2],
        terms,
        channels,
        depthwise: false,
        activations: vec![0x7E],
        weights: (0..terms * channels).map(weight).collect(),
        unit: "float_accumulation: {terms: 32, fraction_bits: 13, result: e8m13}".into(),
        stats: StatsLevel::Events,
        blocks: None,
        twice: true,
    };
    let reference = case.run(Engine::Reference, None);
    assert_ne!(reference.0[0].exact, reference.0[0].simulated);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        assert_eq!(case.run(Engine::Fast, Some(isa)), reference, "{isa:?}");
    }
}

/// Layers with block scales, whose products are terms or whose groups of products are.
fn blocked() -> impl Strategy<Value = Case> {
    let small = [DType::Float8E4M3Fn, DType::Float8E5M2, DType::Float4E2M1];
    let dtype = move || prop::sample::select(small.to_vec());
    let per_term = (dtype(), dtype(), unit(", block_scales: per_term"), Just(DType::Float8E8M0));
    let e2m1 = || Just(DType::Float4E2M1);
    let per_group = (
        e2m1(),
        e2m1(),
        unit(", block_scales: per_group, group_terms: 8, scale_format: any, operands: [e2m1]"),
        prop::sample::select(vec![DType::Float8E8M0, DType::Float8E4M3Fn]),
    );
    // Scales near each other, and scales of any size, whose sums need more than 64 bits.
    let scales = prop_oneof![
        3 => prop::collection::vec(120u8..136, 1..20),
        1 => prop::collection::vec(0u8..255, 1..20),
    ];
    let shape = (1usize..60, 1usize..36, any::<[bool; 3]>(), prop::sample::select(vec![8usize, 16, 32]));
    (prop_oneof![per_term, per_group], shape, stats(), scales).prop_flat_map(
        |((a, w, unit, dtype), (terms, channels, [odd, depthwise, dynamic], size), stats, scales)| {
            let odd = u32::from(odd);
            let blocks = Some(Blocks { dtype, size, codes: scales, dynamic, inverse: false });
            (codes(a, ROWS * terms, odd), codes(w, terms * channels, odd)).prop_map(
                move |(activations, weights)| {
                    let (unit, blocks) = (unit.clone(), blocks.clone());
                    Case {
                        dtypes: [a, w],
                        terms,
                        channels,
                        depthwise,
                        activations,
                        weights,
                        unit,
                        stats,
                        blocks,
                        twice: false,
                    }
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

    #[test]
    fn every_engine_equals_the_reference_on_short_codes(case in short()) {
        let reference = case.run(Engine::Reference, None);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            prop_assert_eq!(&case.run(Engine::Fast, Some(isa)), &reference, "{:?}", isa);
        }
    }

    #[test]
    fn every_engine_equals_the_reference_with_block_scales(case in blocked()) {
        let reference = case.run(Engine::Reference, None);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            prop_assert_eq!(&case.run(Engine::Fast, Some(isa)), &reference, "{:?}", isa);
        }
    }

    /// The exact network does not depend on whether the unit adds products or groups of products.
    #[test]
    fn exact_sums_do_not_depend_on_the_unit(case in blocked()) {
        let with = |unit: &str| {
            let unit = format!("float_accumulation: {{{unit}, fraction_bits: 9}}");
            Case { unit, ..case.clone() }.run(Engine::Fast, None).0[0].exact.clone()
        };
        let blocks = case.blocks.as_ref().unwrap();
        if case.dtypes == [DType::Float4E2M1; 2] && blocks.dtype == DType::Float8E8M0 {
            let groups = "block_scales: per_group, group_terms: 8, terms: 32, operands: [e2m1]";
            prop_assert_eq!(with(groups), with("block_scales: per_term, terms: 4"));
        }
    }

    /// Scales of activations whose products with those of weights are 1 change nothing.
    #[test]
    fn inverse_scales_change_nothing(case in case(), codes in prop::collection::vec(1u8..254, 2..9)) {
        let small = case.dtypes.iter().all(|dtype| dtype.bits() <= 8);
        if !small || case.depthwise {
            return Ok(());
        }
        let blocks = Blocks { dtype: DType::Float8E8M0, size: 4, codes, dynamic: false, inverse: true };
        let case = Case { twice: false, ..case };
        let unit = case.unit.replace('}', ", block_scales: per_term}");
        let scaled = Case { unit, blocks: Some(blocks), ..case.clone() }.run(Engine::Fast, None);
        let plain = case.run(Engine::Fast, None);
        let of = |run: &(Vec<SampleTensors>, Vec<Option<FloatStats>>)| {
            let output = |tensors: &[Option<_>]| format!("{:?}", tensors.last());
            (output(&run.0[0].simulated), output(&run.0[0].exact), run.1.last().cloned())
        };
        prop_assert_eq!(of(&scaled), of(&plain));
    }
}
