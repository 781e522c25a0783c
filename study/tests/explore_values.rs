//! What an exploration does not run: every design has the values of the same point of a sweep, which runs each.

use std::fs;
use std::path::PathBuf;

use guardbit_reports::Fraction;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{
    Axes, Existing, ExploreRequest, InputSource, Settings, Silent, SweepRequest, explore, sweep,
};
use ndarray::Array2;
use proptest::prelude::*;

/// Three layers with a branch around one, so that what overflows in one changes what the next reads.
fn network(seed: u64) -> String {
    format!(
        "\
schema: 1
inputs:
  - {{name: x, shape: [1, 12], dtype: int8, scale: 0.1, zero_point: 3}}
constants:
  - {{name: a, shape: [6, 12], dtype: int8, scale: 0.1, random: {{seed: {seed}}}}}
  - {{name: b, shape: [6, 6], dtype: int8, scale: 0.1, random: {{seed: {}}}}}
  - {{name: c, shape: [4, 6], dtype: int8, scale: 0.1, random: {{seed: {}}}}}
nodes:
  - {{op: fully_connected, inputs: [x, a], output: {{name: y, dtype: int8, scale: 9.0}}}}
  - {{op: fully_connected, inputs: [y, b], output: {{name: z, dtype: int8, scale: 500.0}}}}
  - {{op: add, inputs: [y, z], output: {{name: s, dtype: int8, scale: 500.0}}}}
  - {{op: fully_connected, inputs: [s, c], output: {{name: out, dtype: int8, scale: 20000.0}}}}
outputs: [out]
",
        seed + 1,
        seed + 2
    )
}

/// One code, taken as it is: the sums are the codes.
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

/// Designs of the axes, each beside the point of a sweep; gives how many were not simulated.
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
    let settings = Settings {
        input,
        labels: None,
        output: None,
        mode: Mode::Propagated,
        stats: StatsLevel::None,
        sets: Vec::new(),
        events: 0,
        profile: None,
        format: Default::default(),
        task: None,
    };
    let request = ExploreRequest {
        model: path("net.yaml"),
        hw: hw.clone(),
        settings: settings.clone(),
        axes: axes(),
        budget: None,
        objectives: Vec::new(),
        costs: Vec::new(),
    };
    let explored = explore(&request, &path("out"), Existing::Refuse, &Silent).unwrap();
    let request = SweepRequest {
        models: vec![path("net.yaml")],
        hws: vec![hw],
        settings,
        level: None,
        bits: None,
        overflow: Vec::new(),
        axes: axes(),
        stats_given: true,
        cache: None,
        shard: None,
    };
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

/// How a level is, but for its name, run and width.
fn level() -> impl Strategy<Value = String> {
    let check = prop::sample::select(vec!["each_add", "hand_over"]);
    let reduce = prop::sample::select(vec!["serial", "serial", "tree"]);
    (overflow(), check, reduce, prop::bool::weighted(0.9)).prop_map(|(overflow, check, reduce, signed)| {
        format!("overflow: {overflow}, check: {check}, reduce: {reduce}, signed: {signed}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// All widths around those that suffice, of one level and of two, with exact products and with narrow ones.
    #[test]
    fn designs_have_the_values_of_their_points(
        seed in 1u64..1000,
        levels in prop::collection::vec(level(), 1..=2),
        product in prop::sample::select(vec!["auto", "auto", "12", "15"]),
        chain in 12u32..=17,
    ) {
        let (last, inner) = levels.split_last().unwrap();
        let mut all: Vec<String> =
            inner.iter().map(|level| format!("name: chain, terms: 4, bits: 16, {level}")).collect();
        all.push(format!("name: acc, terms: all, bits: 20, {last}"));
        let mut axes = vec!["accumulation.acc.bits=12..=21".to_owned(), format!("product.bits={product}")];
        if !inner.is_empty() {
            axes.push(format!("accumulation.chain.bits={chain},{}", chain + 1));
        }
        let input = InputSource::Random { count: 12, seed };
        check(&network(seed), &accelerator(&all), &axes, input)?;
    }
}

/// Symmetric saturation has no least code: -128 needs 9 bits there.
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
