//! Designs that an exploration does not simulate: every design has the values of the corresponding point of a
//! sweep, which runs each.

use std::fs;
use std::path::PathBuf;

use guardbit_reports::Fraction;
use guardbit_study::{
    Axes, Existing, ExploreRequest, InputSource, Settings, Silent, SweepRequest, explore, sweep,
};
use guardbit_testing::cases;
use ndarray::Array2;
use proptest::prelude::*;

/// Output sizes of the three layers.
const SIZES: [usize; 3] = [6, 6, 4];
const INPUTS: usize = 12;

/// Weights of one sign, then of the other, for nonnegative activations: sums rise and return.
fn weights(magnitudes: &[i8], outputs: usize) -> String {
    let terms = magnitudes.len() / outputs;
    let signed = magnitudes.iter().enumerate().map(|(index, &magnitude)| {
        let (output, term) = (index / terms, index % terms);
        let value = if 2 * term < terms { magnitude } else { -magnitude };
        if output % 2 == 0 { value } else { -value }
    });
    format!("{:?}", signed.collect::<Vec<_>>())
}

/// Returns three layers with a branch around one: overflow in one changes the inputs of the next.
fn network(magnitudes: &[i8]) -> String {
    let (a, rest) = magnitudes.split_at(SIZES[0] * INPUTS);
    let (b, c) = rest.split_at(SIZES[1] * SIZES[0]);
    let [a, b, c] = [(a, SIZES[0]), (b, SIZES[1]), (c, SIZES[2])].map(|(own, outputs)| weights(own, outputs));
    format!(
        "\
schema: 1
inputs:
  - {{name: x, shape: [1, 12], dtype: int8, scale: 0.1, zero_point: -128}}
constants:
  - {{name: a, shape: [6, 12], dtype: int8, scale: 0.1, values: {a}}}
  - {{name: b, shape: [6, 6], dtype: int8, scale: 0.1, values: {b}}}
  - {{name: c, shape: [4, 6], dtype: int8, scale: 0.1, values: {c}}}
nodes:
  - {{op: fully_connected, inputs: [x, a], output: {{name: y, dtype: int8, scale: 3.0, zero_point: -128}}}}
  - {{op: fully_connected, inputs: [y, b], output: {{name: z, dtype: int8, scale: 120.0, zero_point: -128}}}}
  - {{op: add, inputs: [y, z], output: {{name: s, dtype: int8, scale: 120.0, zero_point: -128}}}}
  - {{op: fully_connected, inputs: [s, c], output: {{name: out, dtype: int8, scale: 2000.0}}}}
outputs: [out]
"
    )
}

/// One code with weight 1: sums equal codes.
const IDENTITY: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 1], dtype: int8, scale: 1.0}
constants:
  - {name: one, shape: [1, 1], dtype: int8, scale: 1.0, values: [1]}
nodes:
  - {op: fully_connected, inputs: [x, one], output: {name: y, dtype: int8, scale: 1.0}}
outputs: [y]
";

fn accelerator(levels: &[String]) -> String {
    let levels = levels.iter().map(|level| format!("- {{{level}}}\n")).collect::<String>();
    format!(
        "schema: 1\nextends: fpga-int14-ws\nname: small\narray: {{rows: 4, cols: 4}}\naccumulation:\n{levels}"
    )
}

/// Compares the designs of the axes with the points of a sweep; returns how many designs were not simulated.
fn check(
    network: &str,
    accelerator: &str,
    axes: &[String],
    input: InputSource,
) -> Result<usize, TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { dir.path().join(name) };
    fs::write(path("net.yaml"), network).unwrap();
    fs::write(path("hw.yaml"), accelerator).unwrap();
    let hw = path("hw.yaml").to_string_lossy().into_owned();
    let axes =
        || Axes::new(axes.iter().map(|text| text.parse().unwrap()).collect(), &[], Vec::new()).unwrap();
    let settings = Settings::new(input);
    let request = ExploreRequest {
        model: path("net.yaml"),
        hw: hw.clone(),
        settings: settings.clone(),
        axes: axes(),
        budget: None,
        objectives: Vec::new(),
        costs: Vec::new(),
    };
    let explored = explore(&request, Some(&path("out")), Existing::Refuse, &Silent).unwrap();
    let request = SweepRequest::new(path("net.yaml"), hw, settings, axes());
    let points = sweep(&request, None, Existing::Refuse, &Silent).unwrap();
    prop_assert_eq!(explored.rows.len(), points.len());
    for (row, point) in explored.rows.iter().zip(&points) {
        let found: (Option<u64>, Option<Fraction>) = (row.output_mismatch, row.top1_agreement);
        let summary = &point.summary;
        prop_assert_eq!(found, (summary.output_mismatch, summary.top1_agreement), "{:?}\n{:?}", row, point);
    }
    Ok(explored.rows.iter().filter(|row| row.ran != "simulated").count())
}

fn overflow() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe"])
}

/// Generates the settings of a level without its name, run and width.
fn level() -> impl Strategy<Value = String> {
    let check = prop::sample::select(vec!["each_add", "hand_over"]);
    let reduce = prop::sample::select(vec!["serial", "serial", "tree"]);
    (overflow(), check, reduce, prop::bool::weighted(0.9)).prop_map(|(overflow, check, reduce, signed)| {
        format!("overflow: {overflow}, check: {check}, reduce: {reduce}, signed: {signed}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(24), ..ProptestConfig::default() })]

    /// Widths around the sufficient ones, common to all layers or per layer, with one level and two, and with
    /// exact and narrow products.
    #[test]
    fn designs_have_the_values_of_their_points(
        magnitudes in prop::collection::vec(1i8..=127, SIZES[0] * INPUTS + SIZES[1] * SIZES[0] + SIZES[2] * SIZES[1]),
        levels in prop::collection::vec(level(), 1..=2),
        product in prop::sample::select(vec!["auto", "auto", "12", "15"]),
        chain in 13u32..=18,
        is_uniform in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let (last, inner) = levels.split_last().unwrap();
        let mut all: Vec<String> =
            inner.iter().map(|level| format!("name: chain, terms: 4, bits: 16, {level}")).collect();
        all.push(format!("name: acc, terms: all, bits: 20, {last}"));
        let mut axes = vec![format!("product.bits={product}")];
        if is_uniform {
            axes.push("accumulation.acc.bits=12..=21".into());
        } else {
            axes.extend(["y", "out"].map(|layer| format!("layers.{layer}.accumulation.acc.bits=13..=20")));
        }
        if !inner.is_empty() {
            axes.push(format!("accumulation.chain.bits={chain},{}", chain + 1));
        }
        let input = InputSource::Random { count: 12, seed: seed.into() };
        check(&network(&magnitudes), &accelerator(&all), &axes, input)?;
    }
}

/// A proof for exact products does not cover products that wrap: sums of nonnegative values become negative.
#[test]
fn wrapped_products_prove_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("x.npy");
    ndarray_npy::write_npy(&input, &Array2::from_elem((3, 1), -28i8)).unwrap();
    let levels = ["name: acc, terms: all, bits: 8, overflow: saturate, signed: false".to_owned()];
    let axes =
        ["accumulation.acc.bits=7..=10".to_owned(), "product.bits=7".into(), "product.overflow=wrap".into()];
    let input = InputSource::File { path: input, pick: Default::default() };
    // Codes from 0 on all become one code: 100, the exact sum, and 0, because an unsigned register holds -28
    // as 0.
    let network = IDENTITY
        .replace("scale: 1.0}\nconstants", "scale: 1.0, zero_point: -128}\nconstants")
        .replace("scale: 1.0}}", "scale: 1.0, zero_point: 127}}");
    check(&network, &accelerator(&levels), &axes, input).unwrap();
}

/// Symmetric saturation excludes the least code, so -128 needs 9 bits.
#[test]
fn the_least_code_is_none_of_symmetric_saturation() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("x.npy");
    ndarray_npy::write_npy(&input, &Array2::from_elem((3, 1), -128i8)).unwrap();
    let levels = ["name: acc, terms: all, bits: 8, overflow: saturate".to_owned()];
    let axes = [
        "accumulation.acc.bits=7..=10".to_owned(),
        "accumulation.acc.overflow=saturate,saturate_symmetric".to_owned(),
    ];
    let input = InputSource::File { path: input, pick: Default::default() };
    let known = check(IDENTITY, &accelerator(&levels), &axes, input).unwrap();
    assert_eq!(known, 5, "8 to 10 bits saturating, and 9 and 10 symmetric");
}
