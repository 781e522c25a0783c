//! A width reported as sufficient is sufficient when it is set: on random networks of several layers, in both
//! modes.

use std::fmt::Write as _;
use std::path::Path;

use guardbit_num::{MIN_BITS, Overflow};
use guardbit_reports::{LayerRow, RunRecord};
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{Existing, InputSource, RunRequest, Settings, Silent, run};
use guardbit_testing::cases;
use proptest::prelude::*;
use proptest::sample::select;

/// Chain of layers on a datapath.
#[derive(Debug, Clone)]
struct Case {
    network: String,
    accelerator: String,
    seed: u64,
    mode: Mode,
}

fn case() -> impl Strategy<Value = Case> {
    let layers = prop::collection::vec((any::<u32>(), 1usize..4, 1usize..6, 1u32..40), 1..4);
    let levels = (select(vec![1usize, 2]), 4u32..12, 5u32..13, 2usize..7);
    let modes = (select(Overflow::ALL.to_vec()), select(Overflow::ALL.to_vec()))
        .prop_filter("runs go on", |(a, b)| *a != Overflow::Trap && *b != Overflow::Trap);
    let rest = (
        select(vec!["subtract", "fold"]),
        select(vec!["post", "preload"]),
        select(vec!["forward", "reverse"]),
        select(vec![0u32, 0, 1]),
        select(Mode::ALL.to_vec()),
        any::<u64>(),
    );
    (layers, levels, modes, rest).prop_map(|(layers, levels, modes, rest)| {
        let (count, inner, outer, terms) = levels;
        let (zero_point, bias, walk, shift, mode, seed) = rest;
        let last = format!("{{name: acc, terms: all, bits: {outer}, overflow: {}}}", modes.1.name());
        let first =
            format!("{{name: chain, terms: {terms}, bits: {inner}, overflow: {}, shift: {shift}}}", modes.0.name());
        let levels = if count == 1 { last } else { format!("{first}, {last}") };
        let accelerator = format!(
            "schema: 1\nname: narrow\nextends: exact-int32-os\noperands: {{zero_point: {zero_point}}}\n\
             reduction_order: {{axes: [kh, kw, ic], walk: {walk}}}\naccumulation: [{levels}]\nbias: {{at: {bias}}}\n"
        );
        Case { network: network(&layers), accelerator, seed, mode }
    })
}

/// Returns a chain of 1x1 to 3x3 convolutions: seed of the weights, kernel, channels, scale of the output.
fn network(layers: &[(u32, usize, usize, u32)]) -> String {
    let (mut constants, mut nodes) = (String::new(), String::new());
    let (mut read, mut depth) = ("x".to_owned(), 2usize);
    for (index, &(seed, kernel, channels, scale)) in layers.iter().enumerate() {
        let _ = writeln!(
            constants,
            "  - {{name: w{index}, shape: [{channels}, {kernel}, {kernel}, {depth}], dtype: int8, scale: 1, random: {{seed: {seed}}}}}\n  \
             - {{name: b{index}, shape: [{channels}], dtype: int32, random: {{seed: {seed}, min: -3000, max: 3000}}}}"
        );
        let _ = writeln!(
            nodes,
            "  - {{op: conv2d, inputs: [{read}, w{index}, b{index}], padding: same, output: {{name: layer{index}, dtype: int8, scale: {}, zero_point: {}}}}}",
            scale * 4,
            (seed % 200) as i32 - 100
        );
        (read, depth) = (format!("layer{index}"), channels);
    }
    format!(
        "schema: 1\nname: chain\ninputs:\n  - {{name: x, shape: [1, 4, 4, 2], dtype: int8, scale: 1, zero_point: 7}}\n\
         constants:\n{constants}nodes:\n{nodes}outputs: [{read}]\n"
    )
}

fn ran(folder: &Path, case: &Case, name: &str, mode: Mode, sets: Vec<String>) -> RunRecord {
    let write = |file: &str, text: &str| {
        let path = folder.join(file);
        std::fs::write(&path, text).unwrap();
        path
    };
    let request = RunRequest::new(
        write("network.yaml", &case.network),
        write("hw.yaml", &case.accelerator).to_string_lossy().into_owned(),
        Settings {
            mode,
            stats: StatsLevel::Full,
            sets,
            ..Settings::new(InputSource::Random { count: 3, seed: case.seed })
        },
    );
    run(&request, Some(&folder.join(name)), Existing::Refuse, &Silent).unwrap()
}

/// Returns the bits that the run reports for an overflow mode, per layer.
type Enough = fn(&LayerRow) -> Option<u32>;
const WRAP: Enough = |row| row.exact_required_final;
const SATURATE: Enough = |row| row.exact_required_prefix;

/// Returns overrides with the widths of `met` for every layer: per layer, or at each level the widest of all
/// layers.
fn sets(met: &RunRecord, overflow: Overflow, enough: Enough, own: bool) -> Vec<String> {
    let widest = |level: &str| {
        let rows = met.layers.iter().filter(|row| row.level == level);
        rows.filter_map(&enough).max().unwrap()
    };
    let set = |row: &LayerRow| {
        let bits = if own { enough(row).unwrap() } else { widest(&row.level) }.max(MIN_BITS);
        let layer = if own { format!("layers.{}.", row.index) } else { String::new() };
        let level = format!("{layer}accumulation.{}", row.level);
        [format!("{level}.bits={bits}"), format!("{level}.overflow={}", overflow.name())]
    };
    met.layers.iter().flat_map(set).collect()
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let met = ran(folder.path(), case, "met", case.mode, Vec::new());
    // Compare with the hardware at wide widths: with dropped bits it differs from the exact network.
    let wide: Vec<String> =
        met.layers.iter().map(|row| format!("accumulation.{}.bits=auto", row.level)).collect();
    let wide = ran(folder.path(), case, "wide", case.mode, wide);
    for (name, overflow, enough) in [
        ("wrap", Overflow::Wrap, WRAP),
        ("saturate", Overflow::Saturate, SATURATE),
        ("sticky", Overflow::Sticky, SATURATE),
    ] {
        for own in [false, true] {
            let sets = sets(&met, overflow, enough, own);
            let built = ran(folder.path(), case, &format!("{name}-{own}"), case.mode, sets.clone());
            prop_assert_eq!(built.outcome.output_mismatch, wide.outcome.output_mismatch, "{:?}", sets);
            for (row, unlimited) in built.layers.iter().zip(&wide.layers) {
                prop_assert_eq!(row.persistent, Some(0), "{:?}", sets);
                prop_assert_eq!(
                    (row.wrong, row.output_mismatch),
                    (unlimited.wrong, unlimited.output_mismatch),
                    "{:?}",
                    sets
                );
                if overflow != Overflow::Wrap {
                    prop_assert_eq!((row.events, row.transient), (Some(0), Some(0)), "{:?}", sets);
                }
                prop_assert_eq!(row.exact_required_final, unlimited.required_final, "{:?}", sets);
                prop_assert_eq!(row.exact_required_prefix, unlimited.required_prefix, "{:?}", sets);
            }
        }
    }
    if !case.accelerator.contains("shift: 1") {
        prop_assert_eq!(wide.outcome.output_mismatch, 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn widths_called_enough_are_enough(case in case()) {
        check(&case)?;
    }
}
