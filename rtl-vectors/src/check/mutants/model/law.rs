//! Law: every fault of the model is caught, or is proved to change nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use guardbit_graph::{Activation, DType, Graph, NodeId, Operand, OutputSpec, TensorType, ops::Conv2d};
use guardbit_hwmodels::{Program, from_yaml, lower};
use guardbit_num::{Overflow, Rounding};
use guardbit_sim::Reads;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::super::facts::{Facts, Target};
use super::super::registers::{FIT_FAULTS, registers};
use super::super::{self as mutants, unit};
use super::array::{self, Array};
use super::bench::{Manner, replay};
use super::twist::{TWISTS, Twist};
use super::unit::Model;
use crate::array::ArrayPart;
use crate::beats::Beats;
use crate::bundle::Request;
use crate::export::with_dots;
use crate::fit::Fit;
use crate::manifest::{Arithmetic, Manifest, Packing, Source};
use crate::seeds::seeds;

/// Layer: a convolution of 1x1 pixels.
#[derive(Debug, Clone)]
struct Layer {
    terms: usize,
    activation: (bool, i32),
    weights: (bool, Vec<i8>),
    biases: Vec<i32>,
    output: (f32, i32),
    activation_function: Activation,
    codes: Vec<u8>,
}

/// Layer and accelerator.
#[derive(Debug, Clone)]
struct Drawn {
    layer: Layer,
    accelerator: String,
}

impl Drawn {
    fn graph(&self) -> Graph {
        let Layer { terms, activation, weights, biases, output, .. } = &self.layer;
        let channels = biases.len();
        let tensor = |shape: &[usize], dtype, scale, zero_point| {
            TensorType::quantized(shape, dtype, scale, zero_point).unwrap()
        };
        let (dtype, zero_point) = self.activation();
        let (is_short, codes) = weights;
        let (weight, half) = if *is_short { (DType::Int4, 4) } else { (DType::Int8, 0) };
        let codes = (0..channels * terms).map(|at| i32::from(codes[at % codes.len()]) >> half).collect();
        let operands = [
            Operand::input("x", tensor(&[1, 1, channels, *terms], dtype, 0.05, zero_point)),
            Operand::constant("w", tensor(&[channels, 1, 1, *terms], weight, 0.01, 0), codes),
            Operand::constant("b", tensor(&[channels], DType::Int32, 0.05 * 0.01, 0), biases.clone()),
        ];
        let output_zero_point = if activation.0 { output.1 + 128 } else { output.1 };
        let output = OutputSpec::quantized("y", dtype, output.0, output_zero_point).unwrap();
        let op = Conv2d { activation: self.layer.activation_function, ..Conv2d::default() };
        Graph::of_op("unit", op, operands, output).unwrap()
    }

    fn activation(&self) -> (DType, i32) {
        let (is_unsigned, zero_point) = self.layer.activation;
        if is_unsigned { (DType::UInt8, zero_point + 128) } else { (DType::Int8, zero_point) }
    }

    fn codes(&self) -> Vec<i32> {
        let first = if self.layer.activation.0 { 0 } else { -128 };
        let count = self.layer.biases.len() * self.layer.terms;
        self.layer.codes.iter().cycle().take(count).map(|&code| i32::from(code) + first).collect()
    }
}

/// Generates a level without its number of terms.
fn levels(bits: std::ops::Range<u32>) -> impl Strategy<Value = String> {
    let rounding = prop::sample::select(Rounding::ALL.to_vec());
    let shift = prop_oneof![4 => Just((0, Rounding::Floor)), 1 => (1u32..5, rounding)];
    let modes: Vec<Overflow> = Overflow::ALL.into_iter().filter(|&mode| mode != Overflow::Trap).collect();
    (bits, prop::sample::select(modes), prop::bool::weighted(0.25), shift).prop_map(
        |(bits, mode, at_hand_over, (shift, round))| {
            let check = if at_hand_over { ", check: hand_over" } else { "" };
            let round =
                if shift > 0 { format!(", shift: {shift}, round: {}", round.name()) } else { String::new() };
            format!("bits: {bits}, overflow: {mode}{check}{round}")
        },
    )
}

/// Generates accelerators of every kind as YAML.
fn accelerators() -> impl Strategy<Value = String> {
    let modes = prop::sample::select(vec![
        "wrap",
        "saturate",
        "saturate_symmetric",
        "saturate_zero",
        "sticky",
        "observe",
    ]);
    let product = prop_oneof![
        2 => Just(String::new()),
        1 => (10u32..18, modes.clone(), 0u32..4).prop_map(|(bits, mode, shift)| {
            format!("product: {{bits: {bits}, overflow: {mode}, shift: {shift}, round: half_even}}\n")
        }),
    ];
    let bias = prop_oneof![
        2 => Just("{at: post}".to_owned()),
        2 => (10u32..25, modes).prop_map(|(bits, mode)| format!("{{at: post, bits: {bits}, overflow: {mode}}}")),
        1 => Just("{at: preload}".to_owned()),
        1 => Just("{at: post_requantize}".to_owned()),
    ];
    let schemes =
        prop::sample::select(vec!["double", "single", "away", "even", "float64_away", "tosa_double"]);
    let fold = prop::bool::weighted(0.3);
    let sizes = (1usize..7, 1usize..6, 2usize..10, 2usize..5);
    (0usize..5, levels(9..20), levels(10..20), levels(8..24), sizes, product, bias, schemes, fold).prop_map(
        |(kind, inner, middle, last, (rows, cols, run, runs), product, bias, scheme, fold)| {
            let serial = |name: &str, terms: String, rest: &str| format!("  - {{name: {name}, terms: {terms}, {rest}}}\n");
            let last = serial("acc", "all".into(), &last);
            let (dataflow, array, below) = match kind {
                0 => ("output_stationary", format!("rows: {rows}, cols: {cols}"), String::new()),
                1 => {
                    let array = format!("rows: {rows}, cols: {cols}");
                    ("weight_stationary", array, serial("chain", "rows".into(), &inner))
                }
                2 => {
                    let array = format!("rows: 1, cols: {cols}, dot_width: {run}");
                    ("vector", array, serial("tree", "dot_width, reduce: tree".into(), &inner))
                }
                3 => ("vector", format!("rows: 1, cols: {cols}"), serial("inner", run.to_string(), &inner)),
                _ => {
                    let below = serial("inner", run.to_string(), &inner) + &serial("middle", runs.to_string(), &middle);
                    ("output_stationary", format!("rows: {rows}, cols: {cols}"), below)
                }
            };
            let fold = if fold { "operands: {zero_point: fold}\n" } else { "" };
            format!(
                "schema: 1\narray: {{{array}}}\ndataflow: {dataflow}\naccumulation:\n{below}{last}{product}bias: {bias}\n{fold}requantize: {{scheme: {scheme}}}\n"
            )
        },
    )
}

prop_compose! {
    fn drawn()(
        terms in prop_oneof![1usize..20, 20usize..71],
        activation in (prop::bool::weighted(0.25), prop_oneof![Just(0), Just(-128), -128i32..128]),
        weights in (prop::bool::weighted(0.25), prop::collection::vec(-127i8..=127, 71)),
        size in prop::sample::select(vec![50, 1000, 30_000, 1_000_000]),
        biases in prop::collection::vec(-1.0f64..1.0, 1..5),
        output in (prop::sample::select(vec![0.05f32, 0.2, 0.7]), prop_oneof![Just(-128), Just(0), -128i32..128]),
        activation_function in prop::sample::select(vec![Activation::None, Activation::Relu, Activation::Relu6]),
        codes in prop::collection::vec(any::<u8>(), 71),
        accelerator in accelerators(),
    ) -> Drawn {
        let biases = biases.into_iter().map(|bias| (bias * f64::from(size)) as i32).collect();
        Drawn { layer: Layer { terms, activation, weights, biases, output, activation_function, codes }, accelerator }
    }
}

/// Bundle as the model of the bench sees it.
struct Exported {
    facts: Facts,
    beats: Beats,
    array: Option<ArrayPart>,
}

/// Returns the bundle of the only layer; `None` if the accelerator does not accept it.
fn exported(drawn: &Drawn) -> Option<Exported> {
    let accelerator = from_yaml(&drawn.accelerator, "drawn.yaml", &[]).unwrap();
    let program = lower(Arc::new(drawn.graph()), &accelerator).ok()?;
    let node = program.mac_layers().next()?.node;
    of_layer(&program, node, &drawn.codes())
}

fn of_layer(program: &Program, node: NodeId, codes: &[i32]) -> Option<Exported> {
    let source = Source {
        model: "unit".into(),
        model_sha256: "0".repeat(64),
        accelerator: "drawn".into(),
        accelerator_sha256: "0".repeat(64),
        input: "random".into(),
        seed: 0,
        cases: 4,
    };
    let (settings, packing) = (Default::default(), Packing::Dense);
    let request = Request { source, settings, packing, formats: Vec::new(), waves: Vec::new() };
    let inputs = [Reads::from(codes)];
    let (bundle, dots) = with_dots(program, node, &inputs, &request).ok()?;
    let (layer, manifest) = (program.mac_layer(node)?, bundle.manifest);
    let arithmetic = &manifest.arithmetic;
    let mut beats = Beats::new(manifest.interface.lanes, arithmetic.levels.len());
    let mut noise = Pcg64Mcg::seed_from_u64(5);
    for dot in &dots {
        beats.send(dot, arithmetic, &mut noise, &mut |_| ());
    }
    let array = crate::array::array(program, node, layer, arithmetic, &inputs, 0).ok();
    Some(Exported { facts: Facts::new(manifest), beats, array })
}

impl Exported {
    /// Returns the first difference of the unit in either manner of replay.
    fn unit(&self, faulty: &Arithmetic, twist: Twist, fit: fn(Fit) -> Fit) -> Option<String> {
        let manifest = &self.facts.manifest;
        let model = Model::new(faulty, manifest.interface.lanes, twist, fit);
        let manners = [Manner::Plain, Manner::Stress(1)];
        manners
            .into_iter()
            .find_map(|manner| replay(&self.beats, &manifest.arithmetic, model.clone(), manner))
    }

    /// Returns the first difference of the sums that leave the array.
    fn array(&self, faulty: &Manifest, twist: array::Twist, fit: fn(Fit) -> Fit) -> Option<String> {
        let part = self.array.as_ref()?;
        let unit = Model::new(&faulty.arithmetic, 1, Twist::None, fit);
        array::replay(part, Array::new(faulty, &part.info, unit, twist))
    }

    /// Returns the bins that are missed, and every mutant of a design that is neither caught nor proved, or both.
    fn wrong(&self, target: Target) -> Vec<String> {
        let (facts, manifest) = (&self.facts, &self.facts.manifest);
        let same = |fit: Fit| fit;
        let missed =
            facts.manifest.coverage.bins.iter().filter(|bin| bin.cases == 0 && bin.unreachable.is_none());
        let mut wrong: Vec<String> =
            missed.map(|bin| format!("bin {} {}: missed", bin.level, bin.name)).collect();
        let mut judge = |name: String, found: Option<String>, proof: Option<String>| {
            if found.is_some() == proof.is_some() {
                wrong.push(format!("{name}: found {found:?}, proof {proof:?}"));
            }
        };
        let found = |faulty: &Manifest, fit: fn(Fit) -> Fit| match target {
            Target::Unit => self.unit(&faulty.arithmetic, Twist::None, fit),
            _ => self.array(faulty, array::Twist::None, fit),
        };
        judge("no fault".into(), found(manifest, same), Some("it is the reference".into()));
        let table = if target.is_array() { mutants::array::MUTANTS } else { unit::MUTANTS };
        for mutant in table.iter().filter(|m| !m.patch.is_vhdl() && (m.applies)(facts)) {
            let path = mutant.patch.path;
            let found = match target {
                Target::Unit => self.unit(&manifest.arithmetic, twist(TWISTS, path), same),
                _ => self.array(manifest, twist(array::TWISTS, path), same),
            };
            judge(path.into(), found, (mutant.equivalent)(facts));
        }
        for register in &registers(facts, target) {
            for fault in register.faults() {
                let faulty = fault.planted(manifest, register);
                let name = format!("{}, {}", fault.name(register), register.name);
                judge(name, found(&faulty, same), fault.equivalent(register));
            }
        }
        for fault in FIT_FAULTS.iter().filter(|f| !f.patch.is_vhdl() && f.applies(facts, target)) {
            judge(fault.patch.path.into(), found(manifest, fault.changed), fault.equivalent(facts, target));
        }
        wrong
    }
}

/// Returns the fault of a model that stands for a patch.
fn twist<T: Copy>(twists: &[(&str, T)], patch: &str) -> T {
    twists.iter().find(|(path, _)| *path == patch).map(|row| row.1).unwrap()
}

/// Every mutant in SystemVerilog has a fault of the model.
#[test]
fn every_mutant_has_a_twist() {
    let mutants = unit::MUTANTS.iter().chain(mutants::array::MUTANTS).map(|mutant| &mutant.patch);
    let mutants: BTreeSet<&str> = mutants.filter(|patch| !patch.is_vhdl()).map(|patch| patch.path).collect();
    let units = TWISTS.iter().map(|(path, _)| *path);
    assert_eq!(mutants, units.chain(array::TWISTS.iter().map(|(path, _)| *path)).collect());
}

/// Returns the layer and the accelerator of a seed.
fn of_seed(seed: u64) -> Drawn {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    drawn().new_tree(&mut runner).unwrap().current()
}

/// Returns what is wrong with the unit of a seed, or with its array if it has one.
fn wrong_of_seed(seed: u64, target: Target) -> Vec<String> {
    let Some(exported) = exported(&of_seed(seed)) else { return Vec::new() };
    match target {
        Target::Array if exported.array.is_none() => Vec::new(),
        _ => exported.wrong(target),
    }
}

/// Seeds that the cases once had gaps for: a clamp, a clear and sticky flags that nothing showed, products that wrap, sums that few
/// operands have, products in float64.
const ONCE_OPEN: [u64; 14] = [165, 182, 201, 225, 306, 341, 343, 366, 442, 476, 501, 547, 725, 770];

/// Seeds of arrays whose faults had no proof: one row without a product, and a rail that no product reaches.
const ONCE_OPEN_ARRAYS: [u64; 2] = [1_048_729, 1_048_758];

/// Returns every seed with something wrong, its accelerator, and what is wrong.
fn open_seeds(seeds: impl Iterator<Item = u64>, target: Target) -> Vec<String> {
    seeds
        .filter_map(|seed| {
            let wrong = wrong_of_seed(seed, target);
            let text = || format!("seed {seed}: {}\n{}", wrong.join("\n"), described(seed));
            (!wrong.is_empty()).then(text)
        })
        .collect()
}

/// The cases of a bundle catch every fault of the reference RTL's model that is not proved to change nothing, no bin is missed
/// without a proof, and the model without a fault passes. `PROPTEST_CASES` sets the number of layers and accelerators, times 6;
/// `GUARDBIT_LAW_SEEDS=0-99` takes other ones.
#[test]
fn mutants_are_caught_or_equivalent() {
    let open = open_seeds(
        seeds("GUARDBIT_LAW_SEEDS", 0..u64::from(Config::default().cases / 6)).chain(ONCE_OPEN),
        Target::Unit,
    );
    assert!(open.is_empty(), "{} open\n{}", open.len(), open.join("\n"));
}

/// The tiles of random arrays catch every fault of their registers that is not proved to change nothing. `PROPTEST_CASES`
/// sets the number of drawn accelerators, times 5; about a third has an array. `GUARDBIT_LAW_ARRAY_SEEDS` takes other ones.
#[test]
fn mutants_of_random_arrays_are_caught_or_equivalent() {
    let drawn = FIRST_ARRAY..FIRST_ARRAY + u64::from(Config::default().cases / 5);
    let open = open_seeds(seeds("GUARDBIT_LAW_ARRAY_SEEDS", drawn).chain(ONCE_OPEN_ARRAYS), Target::Array);
    assert!(open.is_empty(), "{} open\n{}", open.len(), open.join("\n"));
}

/// Returns the accelerator of a seed, and its layer in short.
fn described(seed: u64) -> String {
    let Drawn { layer, accelerator } = of_seed(seed);
    let Layer { terms, activation, biases, output, activation_function, .. } = layer;
    format!("{accelerator}{terms} terms, {activation:?}, {biases:?}, {output:?}, {activation_function:?}")
}

/// First seed of the arrays.
const FIRST_ARRAY: u64 = 1 << 20;

/// Arrays, with the numbers of products of their layers: accelerators that hide what the next level clamps or cuts off.
const ARRAYS: [(&str, usize); 11] = [
    (
        "schema: 1\narray: {rows: 3, cols: 4}\ndataflow: output_stationary\naccumulation:\n  - {name: acc, terms: all, bits: 14, overflow: saturate}\n",
        40,
    ),
    (
        "schema: 1\narray: {rows: 3, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 14, overflow: wrap}\n  - {name: acc, terms: all, bits: 18, overflow: saturate_symmetric}\n",
        40,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 1}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 17, overflow: sticky}\n  - {name: acc, terms: all, bits: 14, overflow: saturate_symmetric}\n",
        4,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 1}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 17, overflow: saturate}\n  - {name: acc, terms: all, bits: 14, overflow: saturate}\n",
        4,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 13, overflow: saturate, check: hand_over}\n  - {name: acc, terms: all, bits: 12, overflow: saturate}\n",
        1,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 13, overflow: saturate, check: hand_over}\n  - {name: acc, terms: all, bits: 12, overflow: saturate_zero}\n",
        2,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 13, overflow: saturate_symmetric, check: hand_over}\n  - {name: acc, terms: all, bits: 12, overflow: saturate, check: hand_over}\n",
        2,
    ),
    (
        "schema: 1\narray: {rows: 2, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 14, overflow: wrap, shift: 1, round: half_up}\n  - {name: acc, terms: all, bits: 12, overflow: wrap}\n",
        5,
    ),
    (
        "schema: 1\narray: {rows: 1, cols: 2}\ndataflow: weight_stationary\naccumulation:\n  - {name: chain, terms: rows, bits: 12, overflow: saturate}\n  - {name: acc, terms: all, bits: 14, overflow: saturate}\nproduct: {bits: 13, overflow: saturate}\n",
        3,
    ),
    (
        "schema: 1\narray: {rows: 3, cols: 2}\ndataflow: output_stationary\naccumulation:\n  - {name: acc, terms: all, bits: 12, overflow: saturate_zero}\nproduct: {bits: 13, overflow: saturate_zero}\n",
        1,
    ),
    (
        "schema: 1\narray: {rows: 3, cols: 2}\ndataflow: output_stationary\naccumulation:\n  - {name: acc, terms: all, bits: 12, overflow: wrap}\nproduct: {bits: 13, overflow: wrap}\n",
        3,
    ),
];

/// Units whose first level hides what it clamps of the only product of a dot product.
const UNITS: [&str; 2] = [
    "schema: 1\narray: {rows: 1, cols: 3, dot_width: 5}\ndataflow: vector\naccumulation:\n  - {name: tree, reduce: tree, terms: dot_width, bits: 13, overflow: saturate_symmetric, check: hand_over}\n  - {name: acc, terms: all, bits: 17, overflow: saturate_zero}\nproduct: {bits: 16, overflow: saturate_symmetric}\n",
    "schema: 1\narray: {rows: 3, cols: 2}\ndataflow: output_stationary\naccumulation:\n  - {name: acc, terms: all, bits: 12, overflow: saturate}\nproduct: {bits: 13, overflow: saturate}\n",
];

/// The tiles of an array, and the cases of a unit, catch every fault of its registers that is not proved to change nothing.
#[test]
fn mutants_of_arrays_are_caught_or_equivalent() {
    let arrays = ARRAYS.map(|(accelerator, terms)| (accelerator, terms, Target::Array));
    let units = UNITS.map(|accelerator| (accelerator, 1, Target::Unit));
    for (accelerator, terms, target) in arrays.into_iter().chain(units) {
        let layer = Layer {
            terms,
            activation: (false, -123),
            weights: (false, (0..71).map(|at| (at * 37 % 255 - 127) as i8).collect()),
            biases: vec![30, -7],
            output: (0.7, 0),
            activation_function: Activation::None,
            codes: (0..71).map(|at| (at * 91 % 256) as u8).collect(),
        };
        let exported = exported(&Drawn { layer, accelerator: accelerator.into() }).unwrap();
        assert!(target == Target::Unit || exported.array.is_some());
        let wrong = exported.wrong(target);
        assert!(wrong.is_empty(), "{}\n{accelerator}", wrong.join("\n"));
    }
}
