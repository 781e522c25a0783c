//! Explored designs against every point run alone, and laws of budgets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use guardbit_hwmodels::check;
use guardbit_reports::{ExploreRecord, PointRow, RunRecord};
use guardbit_sim::Mode;
use guardbit_study::{
    Axes, Budget, Existing, ExploreRequest, Grid, InputSource, ReferenceRtl, RunRequest, Settings, Silent,
    SizeRequest, StudyError, explore, run, size,
};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Three layers: overflow in one changes the inputs of the next.
const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 24], dtype: int8, scale: 0.1, zero_point: 3}
constants:
  - {name: a, shape: [12, 24], dtype: int8, scale: 0.1, random: {seed: 1}}
  - {name: b, shape: [10, 12], dtype: int8, scale: 0.1, random: {seed: 2}}
  - {name: c, shape: [4, 10], dtype: int8, scale: 0.1, random: {seed: 3}}
nodes:
  - {op: fully_connected, inputs: [x, a], output: {name: y, dtype: int8, scale: 12.0}}
  - {op: fully_connected, inputs: [y, b], output: {name: z, dtype: int8, scale: 700.0}}
  - {op: fully_connected, inputs: [z, c], output: {name: out, dtype: int8, scale: 30000.0}}
outputs: [out]
";

/// Two convolutions and a product with enough pixels and channels to keep an array busy.
const LARGER: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 8, 8, 16], dtype: int8, scale: 0.1, zero_point: 3}
constants:
  - {name: a, shape: [32, 3, 3, 16], dtype: int8, scale: 0.1, random: {seed: 1}}
  - {name: b, shape: [64, 1, 1, 32], dtype: int8, scale: 0.1, random: {seed: 2}}
  - {name: c, shape: [10, 64], dtype: int8, scale: 0.1, random: {seed: 3}}
nodes:
  - {op: conv2d, inputs: [x, a], padding: same, output: {name: y, dtype: int8, scale: 12.0}}
  - {op: conv2d, inputs: [y, b], padding: same, output: {name: z, dtype: int8, scale: 700.0}}
  - {op: mean, inputs: [z], axes: [1, 2], output: {name: m, dtype: int8, scale: 700.0}}
  - {op: fully_connected, inputs: [m, c], output: {name: out, dtype: int8, scale: 30000.0}}
outputs: [out]
";

const ACCELERATOR: &str = "\
schema: 1
extends: fpga-int14-ws
name: small
array: {rows: 4, cols: 4}
accumulation:
- {name: chain, reduce: serial, terms: rows, bits: 16, overflow: wrap}
- {name: acc, reduce: serial, terms: all, bits: 20, overflow: saturate}
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
        fs::write(dir.path().join("hw.yaml"), ACCELERATOR).unwrap();
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn hw(&self) -> String {
        self.path("hw.yaml").to_string_lossy().into_owned()
    }

    fn request(&self, list: &[&str], budget: Option<&str>) -> ExploreRequest {
        let axes = list.iter().map(|text| text.parse().unwrap()).collect();
        ExploreRequest {
            model: self.path("net.yaml"),
            hw: self.hw(),
            settings: settings(Vec::new()),
            axes: Axes::new(axes, &[], Vec::new()).unwrap(),
            budget: budget.map(|budget| budget.parse().unwrap()),
            objectives: Vec::new(),
            costs: Vec::new(),
        }
    }

    fn explore(&self, list: &[&str], budget: Option<&str>, out: &str) -> ExploreRecord {
        explore(&self.request(list, budget), Some(&self.path(out)), Existing::Refuse, &Silent).unwrap()
    }
}

/// Returns a separate run with these overrides.
fn alone(folder: &Folder, out: &str, sets: Vec<String>) -> RunRecord {
    let request = RunRequest {
        costs: vec!["aladdin-40nm".into()],
        ..RunRequest::new(folder.path("net.yaml"), folder.hw(), settings(sets))
    };
    run(&request, Some(&folder.path(out)), Existing::Replace, &Silent).unwrap()
}

/// Returns the cycles on the accelerator, area and energy of a separate run.
fn cycles_and_costs(folder: &Folder, out: &str, sets: Vec<String>) -> (u64, Option<f64>, Option<f64>) {
    let alone = alone(folder, out, sets);
    (alone.timing.cycles, alone.costs[0].area, alone.costs[0].energy_pj)
}

/// Returns the overrides that produce a row's design.
fn sets_of(record: &ExploreRecord, row: usize) -> Vec<String> {
    record.parameters[row].iter().map(|one| format!("{}={}", one.key, one.value)).collect()
}

/// A row of the sensitivity table equals a run with that key doubled.
#[test]
fn sensitivities_are_those_of_runs() {
    let folder = Folder::new();
    let record =
        folder.explore(&["array.rows=4,8", "array.cols=4,8", "memory.dram_bytes_per_cycle=2,8"], None, "out");
    let base = &record.sensitivity[0];
    assert_eq!((base.doubled.as_str(), base.value), ("", None));
    let least = record.rows.iter().map(|row| row.cycles).min();
    assert_eq!((Some(base.cycles), record.rows[base.point].front), (least, true));
    assert_eq!(record.sensitivity.len(), 11);
    let text = fs::read_to_string(folder.path("out/sensitivity.csv")).unwrap();
    assert_eq!(text.lines().count(), 12);
    for row in &record.sensitivity[1..] {
        let mut sets = sets_of(&record, base.point);
        sets.push(format!("{}={}", row.doubled, row.value.unwrap() * 2.0));
        if row.doubled == "clock_mhz" {
            // The external memory does not depend on the clock.
            sets.extend(
                ["memory.dram_bytes_per_cycle=4", "memory.dram_latency_cycles=200"].map(String::from),
            );
        }
        let (cycles, area, energy) = cycles_and_costs(&folder, "run", sets);
        assert_eq!(row.cycles, cycles, "{}", row.doubled);
        for (own, alone) in [(row.area, area), (row.energy_pj, energy)] {
            let (own, alone) = (own.unwrap(), alone.unwrap());
            assert!((own / alone - 1.0).abs() < 1e-9, "{}: {own} {alone}", row.doubled);
        }
        assert_eq!(row.cycles_ratio, Some(row.cycles as f64 / base.cycles as f64));
    }
    assert!(record.sensitivity[1..].iter().any(|row| row.cycles < base.cycles));
}

/// Doubling the bottleneck of a design makes it faster. An array that is twice as fast sees memories at half
/// the pace.
#[test]
fn what_binds_a_design_is_worth_doubling() {
    let folder = Folder::new();
    fs::write(folder.path("net.yaml"), LARGER).unwrap();
    let axes = [
        "array.rows=4,16,64",
        "array.cols=4,16,64",
        "memory.sram_bytes_per_cycle=2 * rows,4",
        "memory.accumulator_bytes_per_cycle=8 * cols,16",
        "memory.dram_bytes_per_cycle=2,64",
    ];
    let record = folder.explore(&axes, None, "out");
    let mut seen = BTreeMap::new();
    for (index, row) in record.rows.iter().enumerate().step_by(5) {
        let memory = |key: &str| {
            let of_axis = record.parameters[index].iter().find(|one| one.key == key).unwrap();
            let size = |key: &str| {
                let own = record.parameters[index].iter().find(|one| one.key == key).unwrap();
                own.value.parse::<f64>().unwrap()
            };
            match of_axis.value.as_str() {
                "2 * rows" => 2.0 * size("array.rows"),
                "8 * cols" => 8.0 * size("array.cols"),
                number => number.parse().unwrap(),
            }
        };
        let ports = [
            "memory.sram_bytes_per_cycle",
            "memory.accumulator_bytes_per_cycle",
            "memory.dram_bytes_per_cycle",
        ];
        let twice = |key: &str| (vec![format!("{key}={}", memory(key) * 2.0)], 1);
        let bounds = [
            (&row.bound, row.bound_ratio, true),
            // The host does not count.
            (&row.accelerator_bound, row.accelerator_bound_ratio, false),
        ];
        for (bound, ratio, counts_host) in bounds {
            let (changed, speed) = match bound.as_str() {
                "activation_port" | "weight_port" => twice(ports[0]),
                "accumulator_port" => twice(ports[1]),
                "dram" => {
                    let (mut sets, speed) = twice(ports[2]);
                    sets.push("memory.dram_latency_cycles=50".into());
                    (sets, speed)
                }
                "compute" | "mapping" => {
                    let mut sets: Vec<String> =
                        ports.iter().map(|key| format!("{key}={}", memory(key) / 2.0)).collect();
                    sets.push("memory.dram_latency_cycles=200".into());
                    (sets, 2)
                }
                "host" => (vec!["host.clock_mhz=600".to_owned()], 1),
                other => panic!("{other}"),
            };
            let timing = alone(&folder, "run", [sets_of(&record, index), changed].concat()).timing;
            let helped: &mut [u64; 2] = seen.entry((counts_host, bound.clone())).or_default();
            // The host keeps its pace where the array has twice its own.
            let host = |cycles: u64| if counts_host { cycles } else { 0 };
            let found = timing.cycles + speed * host(timing.host_cycles);
            let before = speed * (row.cycles + host(row.host_cycles));
            helped[usize::from(found < before)] += 1;
            // Halves of odd cycles are rounded up.
            let expected = ratio.unwrap() * before as f64;
            assert!((found as f64 - expected).abs() <= 20.0, "{bound}: {found} {expected}");
            assert!(counts_host || bound != "host");
        }
    }
    let [not, helps] = seen.values().fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]]);
    assert!(helps >= 9 * not && seen.len() >= 3, "{seen:?}");
}

/// A slow host bounds every design, and a fast one none.
#[test]
fn a_slow_host_binds() {
    let folder = Folder::new();
    fs::write(folder.path("net.yaml"), LARGER).unwrap();
    let record = folder.explore(&["host.ops_per_cycle=0.001,1000", "array.rows=4,8"], None, "out");
    for (parameters, row) in record.parameters.iter().zip(&record.rows) {
        assert_eq!(row.bound == "host", parameters[0].value == "0.001", "{row:?}");
        assert_eq!(row.bound_ratio.unwrap() < 0.6 && row.bound == "host", row.host_cycles > row.cycles);
        // The accelerator's own bound is that of the fast host's inference.
        let fast =
            record.rows.iter().find(|other| other.cycles == row.cycles && other.bound != "host").unwrap();
        assert_eq!(row.accelerator_bound, fast.bound);
    }
    // The clock of the host changes no cycles of the accelerator.
    let of = |key: &str| record.sensitivity.iter().find(|row| row.doubled == key).unwrap();
    assert_eq!(of("host.clock_mhz").cycles_ratio, Some(1.0));
    assert!(of("host.clock_mhz").latency_ratio <= Some(1.0));
}

/// Warnings equal those of `guardbit hw check`, and the share of differing codes is what the budget bounds.
#[test]
fn doubtful_designs_are_named() {
    let folder = Folder::new();
    let axes = ["array.cols=4,64", "memory.accumulator_bytes_per_cycle=16,8 * cols"];
    let record = folder.explore(&axes, Some("mismatch=5%"), "out");
    for (index, row) in record.rows.iter().enumerate().filter(|(_, row)| row.design == "axes") {
        let (_, doubtful) = check(&folder.hw(), &sets_of(&record, index));
        let texts: Vec<String> = doubtful.iter().map(ToString::to_string).collect();
        assert_eq!(record.warnings[index][..texts.len()], texts[..], "{index}");
        assert_eq!(row.warnings, record.warnings[index].join(" | "));
        let slow = row.warnings.contains("`memory.accumulator_bytes_per_cycle` is 16");
        assert_eq!(slow, record.parameters[index][1].value == "16", "{index}: {}", row.warnings);
        assert_eq!(
            row.warnings.contains("at most half of the array"),
            record.parameters[index][0].value == "64"
        );
        // 40 samples with 4 codes each.
        assert_eq!(row.mismatch_share.unwrap().value(), row.output_mismatch.unwrap() as f64 / 160.0);
    }
    let named: Vec<usize> = record.front_warnings().iter().flat_map(|(_, rows)| rows.clone()).collect();
    assert!(!named.is_empty() && named.iter().all(|&row| record.rows[row].front));
}

fn settings(sets: Vec<String>) -> Settings {
    Settings { sets, ..Settings::new(InputSource::Random { count: 40, seed: 7 }) }
}

/// Compared figures of a design: loss, cycles, area, energy.
type Score = [f64; 4];

fn beats(a: &Score, b: &Score) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a != b
}

/// Returns the scores of all points run alone, by their axis values.
fn enumerated(folder: &Folder, record: &ExploreRecord) -> Vec<Score> {
    let mut scores = Vec::new();
    for (index, parameters) in record.parameters.iter().enumerate() {
        let request = RunRequest {
            costs: vec!["aladdin-40nm".into()],
            ..RunRequest::new(
                folder.path("net.yaml"),
                folder.hw(),
                settings(parameters.iter().map(|one| format!("{}={}", one.key, one.value)).collect()),
            )
        };
        let alone =
            run(&request, Some(&folder.path(&format!("run{index}"))), Existing::Refuse, &Silent).unwrap();
        let lost = 1.0 - alone.outcome.top1_agreement.unwrap().value();
        let cost = &alone.costs[0];
        scores.push([lost, alone.timing.cycles as f64, cost.area.unwrap(), cost.energy_pj.unwrap()]);
    }
    scores
}

fn score(row: &PointRow) -> Score {
    let lost = 1.0 - row.top1_agreement.unwrap().value();
    [lost, row.cycles as f64, row.area.unwrap(), row.energy_pj.unwrap()]
}

/// Points that are not simulated have the figures of a separate run, and the front is that of all runs.
#[test]
fn the_front_is_that_of_a_full_enumeration() {
    let folder = Folder::new();
    let axes = [
        "array.rows=4,8",
        "array.cols=4,16",
        "accumulation.chain.bits=12,15,18",
        "accumulation.acc.bits=10,13,16,20",
        "accumulation.acc.overflow=saturate,wrap",
    ];
    let record = folder.explore(&axes, None, "out");
    assert_eq!(record.points, 96);
    assert_eq!(record.simulated + record.shared + record.exact, 96);
    assert!(record.simulated < 48, "columns change no value: {}", record.simulated);
    assert!(record.exact > 0 && record.shared >= record.simulated, "{record:?}");
    let expected = enumerated(&folder, &record);
    for (row, expected) in record.rows.iter().zip(&expected) {
        let found = score(row);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
        assert!(found.iter().zip(expected).all(|(&a, &b)| near(a, b)), "{row:?}\n{expected:?}");
    }
    let on_front: Vec<bool> =
        expected.iter().map(|own| !expected.iter().any(|other| beats(other, own))).collect();
    let found: Vec<bool> = record.rows.iter().map(|row| row.front).collect();
    assert_eq!(found, on_front);
    assert!(on_front.iter().filter(|on| **on).count() > 3, "{on_front:?}");
}

/// Rows with equal `values` have equal results, and rows with other ones mostly others.
#[test]
fn equal_values_are_equal() {
    let folder = Folder::new();
    let axes = ["array.cols=2,4", "accumulation.chain.bits=8..=16", "accumulation.acc.bits=10,14"];
    let record = folder.explore(&axes, None, "out");
    let mut seen: BTreeMap<usize, (Option<guardbit_reports::Fraction>, Option<u64>)> = BTreeMap::new();
    for row in &record.rows {
        let results = (row.top1_agreement, row.output_mismatch);
        assert_eq!(*seen.entry(row.values).or_insert(results), results, "{row:?}");
    }
    assert!(seen.len() > 4, "{seen:?}");
    let mismatches: std::collections::BTreeSet<Option<u64>> =
        seen.values().map(|(_, codes)| *codes).collect();
    assert!(mismatches.len() > 2, "{mismatches:?}");
}

fn recommended(record: &ExploreRecord) -> Option<&PointRow> {
    record.rows.iter().find(|row| row.recommended)
}

/// Returns the score of the widths that `size` recommends for the first hardware, priced by one model.
fn sized(folder: &Folder, budget: &str) -> Score {
    let request = SizeRequest {
        model: folder.path("net.yaml"),
        hw: folder.hw(),
        settings: settings(Vec::new()),
        budget: Some(budget.parse::<Budget>().unwrap()),
        area: None,
        grid: Grid::None,
        rtl: ReferenceRtl::NONE,
    };
    let out = folder.path("size");
    size(&request, Some(&out), Existing::Replace, &Silent).unwrap();
    let request = RunRequest {
        costs: vec!["aladdin-40nm".into()],
        ..RunRequest::new(
            folder.path("net.yaml"),
            out.join("recommended.yaml").to_string_lossy().into_owned(),
            settings(Vec::new()),
        )
    };
    let run = run(&request, Some(&folder.path("sized")), Existing::Replace, &Silent).unwrap();
    let cost = &run.costs[0];
    [
        1.0 - run.outcome.top1_agreement.unwrap().value(),
        run.timing.cycles as f64,
        cost.area.unwrap(),
        cost.energy_pj.unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), ..ProptestConfig::default() })]

    /// A looser budget never costs more, for any order of objectives, and the result of `size` is never
    /// better.
    #[test]
    fn a_looser_budget_never_costs_more(
        shares in prop::collection::vec(0u32..60, 2..4),
        kind in prop_oneof![Just("mismatch"), Just("agreement")],
        objective in prop_oneof![Just("energy"), Just("area"), Just("cycles")],
    ) {
        let mut shares = shares;
        shares.sort_unstable();
        let folder = Folder::new();
        let mut before: Option<f64> = None;
        for (index, share) in shares.iter().enumerate() {
            let budget = format!("{kind}={share}%");
            let mut request = folder.request(&["array.cols=2,4", "accumulation.acc.bits=14,18"], Some(&budget));
            request.objectives = vec![objective.parse().unwrap()];
            let out = folder.path(&format!("out{index}"));
            let record = explore(&request, Some(&out), Existing::Refuse, &Silent).unwrap();
            let row = recommended(&record).expect("widths that hold everything keep every budget");
            prop_assert_eq!(row.within, Some(true));
            let place = ["cycles", "area", "energy"].iter().position(|name| *name == objective).unwrap() + 1;
            let cost = score(row)[place];
            prop_assert!(before.is_none_or(|before| cost <= before), "{budget}: {cost} after {before:?}");
            before = Some(cost);
            let sized = sized(&folder, &budget)[place];
            prop_assert!(cost <= sized * (1.0 + 1e-9), "{budget}: {cost}, size {sized}");
            let yaml = fs::read_to_string(out.join("recommended.yaml")).unwrap();
            prop_assert!(guardbit_hwmodels::from_yaml(&yaml, "recommended.yaml", &[]).is_ok());
        }
    }
}

/// Creates labels of 40 samples: int64, little-endian.
fn labels(folder: &Folder, classes: &[u8]) -> PathBuf {
    let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", classes.len());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    classes.iter().for_each(|&class| bytes.extend(i64::from(class).to_le_bytes()));
    let path = folder.path("labels.npy");
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns the samples or output codes that a design loses: out of 40 samples, or 4 codes of each.
fn lost(kind: &str, outcome: &guardbit_reports::ScoreFigures) -> u64 {
    let count = |share: Option<guardbit_reports::Fraction>| (share.unwrap().value() * 40.0).round() as u64;
    match kind {
        "accuracy" => count(outcome.accuracy_exact).saturating_sub(count(outcome.accuracy)),
        "agreement" => 40 - count(outcome.top1_agreement),
        _ => outcome.output_mismatch,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), ..ProptestConfig::default() })]

    /// Every design of the front, run alone from its own file, has the figures of its row. It is within the
    /// budget exactly if its row states so; some are.
    #[test]
    fn designs_of_the_front_keep_what_they_say(
        share in 0u32..40,
        kind in prop_oneof![3 => Just("accuracy"), 1 => Just("agreement"), 1 => Just("mismatch")],
        classes in prop::collection::vec(0u8..4, 40),
    ) {
        let folder = Folder::new();
        let labels = Some(labels(&folder, &classes));
        let axes = ["array.cols=2,4", "accumulation.chain.bits=12,15", "accumulation.acc.bits=11,13,15"];
        let mut request = folder.request(&axes, Some(&format!("{kind}={share}%")));
        request.settings.labels = labels.clone();
        let out = folder.path("out");
        let record = explore(&request, Some(&out), Existing::Refuse, &Silent).unwrap();
        let whole = if kind == "mismatch" { 160 } else { 40 };
        let mut within = 0;
        for &index in &record.front() {
            let row = &record.rows[index];
            let mut own = settings(Vec::new());
            own.labels = labels.clone();
            let request = RunRequest {
                costs: vec!["aladdin-40nm".into()],
                ..RunRequest::new(
                    folder.path("net.yaml"),
                    out.join(format!("designs/{index}.yaml")).to_string_lossy().into_owned(),
                    own,
                )
            };
            let alone = run(&request, Some(&folder.path(&format!("run{index}"))), Existing::Refuse, &Silent).unwrap();
            let keeps = lost(kind, &alone.outcome) * 100 <= u64::from(share) * whole;
            prop_assert_eq!(row.within, Some(keeps), "{:?} {:?}", row, alone.outcome);
            within += u64::from(keeps);
            let cost = &alone.costs[0];
            prop_assert_eq!(
                (row.accuracy, row.top1_agreement, row.output_mismatch, row.cycles, row.area, row.energy_pj),
                (
                    alone.outcome.accuracy,
                    alone.outcome.top1_agreement,
                    Some(alone.outcome.output_mismatch),
                    alone.timing.cycles,
                    cost.area,
                    cost.energy_pj,
                )
            );
        }
        prop_assert!(within > 0, "{record:?}");
        let best = recommended(&record).expect("widths that hold everything keep every budget");
        prop_assert!(best.front, "{:?}", best);
        let files = fs::read_dir(out.join("designs")).unwrap().count();
        prop_assert_eq!(files, record.front().len());
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(current).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_path_buf();
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

/// Titles of started work.
#[derive(Default)]
struct Begun(std::sync::Mutex<Vec<String>>);

impl guardbit_study::Progress for Begun {
    fn start(&self, what: &str, _total: u64) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn advance(&self, _samples: u64) {}

    fn note(&self, _text: &str) {}
}

/// A folder that lost some simulation results and all outputs is completed to its earlier state; another
/// exploration is refused.
#[test]
fn explorations_are_resumed() {
    let folder = Folder::new();
    let axes = ["array.rows=4,8", "accumulation.acc.bits=11,13,15"];
    folder.explore(&axes, Some("mismatch=20%"), "whole");
    folder.explore(&axes, Some("mismatch=20%"), "out");
    let (whole, out) = (contents(&folder.path("whole")), folder.path("out"));
    assert_eq!(contents(&out), whole);
    let kept: Vec<&PathBuf> = whole.keys().filter(|path| path.starts_with("values")).collect();
    assert!(kept.len() > 1, "{:?}", whole.keys());
    assert!(
        whole.keys().any(|path| path.starts_with("searches")) && whole.contains_key(Path::new("pareto.csv"))
    );
    fs::remove_file(out.join(kept[0])).unwrap();
    fs::remove_file(out.join("pareto.csv")).unwrap();
    let begun = Begun::default();
    let again = folder.request(&axes, Some("mismatch=20%"));
    explore(&again, Some(&out), Existing::Refuse, &begun).unwrap();
    assert_eq!(contents(&out), whole);
    let begun = begun.0.into_inner().unwrap();
    assert!(begun.iter().any(|what| what.ends_with(" 1 to simulate")), "{begun:?}");
    assert!(!begun.iter().any(|what| what.contains("together")), "searches are kept: {begun:?}");
    let other = folder.request(&axes, Some("mismatch=30%"));
    let refused = explore(&other, Some(&out), Existing::Refuse, &Silent);
    assert!(matches!(refused, Err(StudyError::Folder(_))), "{refused:?}");
}

#[test]
fn what_cannot_be_explored_says_why() {
    let folder = Folder::new();
    let check = |change: &dyn Fn(&mut ExploreRequest), says: &str| {
        let mut request = folder.request(&["array.rows=4,8"], None);
        change(&mut request);
        let error = explore(&request, Some(&folder.path("bad")), Existing::Refuse, &Silent).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(!folder.path("bad").exists());
    };
    check(
        &|request| request.axes = folder.request(&["seed=1,2"], None).axes,
        "varies only keys of the accelerator",
    );
    check(&|request| request.settings.mode = Mode::Isolated, "isolated mode has figures of layers only");
    check(&|request| request.budget = "accuracy=1%".parse().ok(), "an accuracy budget needs labels");
    check(
        &|request| {
            request.costs = vec!["finn-r".into()];
            request.objectives = vec!["energy".parse().unwrap()];
        },
        "no selected cost model (finn-r) provides `energy`",
    );
    check(&|request| request.costs = vec!["cacti".into()], "neither a cost model nor a file");
    check(
        &|request| request.axes = folder.request(&["accumulation.acc.bits=1,2"], None).axes,
        "accumulation.acc.bits",
    );
}
