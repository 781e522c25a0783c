//! A point of a sweep with a trapped overflow is an ordinary result; a run that traps fails.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{Row, contents, csv_rows};
use assert_cmd::Command;
use serde_json::Value;

/// Two layers; some widths trap in a later sample.
const CHAIN: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 32], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [4, 32], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 2}}
  - {name: v, shape: [3, 4], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 3}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: h, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 9.0, zero_point: 0}}
outputs: [y]
";
/// Three layers, the first of which traps first.
const CONVOLUTION: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 6, 6, 3], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: k, shape: [4, 3, 3, 3], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 1}}
  - {name: b, shape: [4], dtype: int32, scale: 0.01, zero_point: 0, values: [900, -2000, 0, 400]}
  - {name: w, shape: [5, 64], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 2}}
  - {name: v, shape: [3, 5], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 3}}
nodes:
  - {op: conv2d, inputs: [x, k, b], output: {name: c, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: reshape, inputs: [c], shape: [1, 64], output: {name: f, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: fully_connected, inputs: [f, w], output: {name: h, dtype: int8, scale: 900.0, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 900.0, zero_point: 0}}
outputs: [y]
";
const WIDTHS: &str = "--bits 14..=20";

/// Creates a folder with `network`.
fn folder(network: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), network).unwrap();
    dir
}

fn guardbit(dir: &Path, args: &str) -> Output {
    let args = args.split_whitespace();
    Command::cargo_bin("guardbit").unwrap().current_dir(dir).args(args).output().unwrap()
}

fn sweep(dir: &Path, out: &str, more: &str) -> String {
    let output =
        guardbit(dir, &format!("sweep net.yaml --hw fpga-int14-os --random 40 {WIDTHS} -o {out} {more}"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rows(dir: &Path, out: &str) -> Vec<Row> {
    csv_rows(&dir.join(out).join("summary.csv"))
}

/// Returns the error of `run` at a point, if it traps there.
fn run(dir: &Path, row: &Row, more: &str) -> Option<String> {
    let [bits, overflow] = [&row["bits"], &row["overflow"]];
    let point = format!("--set accumulation.acc.bits={bits} --set accumulation.acc.overflow={overflow}");
    let output =
        guardbit(dir, &format!("run net.yaml --hw fpga-int14-os --random 40 {point} -o run --force {more}"));
    let said = String::from_utf8(output.stderr).unwrap();
    let words = said.replace("  |", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    match output.status.code() {
        Some(0) => None,
        // Without the advice, which tables do not have.
        Some(1) => {
            let message = words.split(" help: ").next()?;
            message.split_once("x overflow trapped").map(|(_, rest)| format!("overflow trapped{rest}"))
        }
        other => panic!("{other:?}: {said}"),
    }
}

/// Compares sweeps that include a trapping mode with runs, and with sweeps of the other modes alone.
fn check(network: &str, more: &str) {
    let dir = folder(network);
    let dir = dir.path();
    let said = sweep(dir, "out", &format!("--overflow wrap,trap,saturate {more}"));
    sweep(dir, "others", &format!("--overflow wrap,saturate {more}"));
    let all = rows(dir, "out");
    let (trap, others): (Vec<Row>, Vec<Row>) = all.iter().cloned().partition(|row| row["overflow"] == "trap");
    assert_eq!(others, rows(dir, "others"), "{more}: the other points are as without it");
    let ended = trap.iter().filter(|row| !row["trapped"].is_empty()).count();
    assert!(0 < ended && ended < trap.len(), "{more}: some points trap, some do not: {trap:?}");
    for row in &trap {
        let trapped = run(dir, row, more);
        assert_eq!(row["trapped"], trapped.clone().unwrap_or_default(), "{more}");
        match trapped {
            Some(error) => {
                assert!(error.contains(&format!("sample {},", row["samples"])), "{more}: {row:?}");
                assert!(said.contains(&error), "{more}: {said}");
                let blank = ["top1_agreement", "output_mismatch", "output_sqnr_db", "events", "wrong"];
                assert!(blank.iter().all(|column| row[*column].is_empty()), "{more}: {row:?}");
            }
            // Nothing overflows, so all modes are equivalent.
            None => {
                let wrap = others.iter().find(|other| other["bits"] == row["bits"]).unwrap();
                let mut same = row.clone();
                same.insert("overflow".into(), "wrap".into());
                assert_eq!(&same, wrap, "{more}");
            }
        }
    }
    let json: Value = serde_json::from_str(&fs::read_to_string(dir.join("out/sweep.json")).unwrap()).unwrap();
    let listed: Vec<(u64, &str)> = json["trapped"].as_array().unwrap().iter().map(entry).collect();
    let trapped = all.iter().zip(0..).filter(|(row, _)| !row["trapped"].is_empty());
    assert_eq!(listed, trapped.map(|(row, at)| (at, row["trapped"].as_str())).collect::<Vec<_>>(), "{more}");
    let page = fs::read_to_string(dir.join("out/report.html")).unwrap();
    assert!(listed.iter().all(|(_, error)| page.contains(*error)), "{more}");

    // Points that run together, or again, change nothing.
    let before = contents(&dir.join("out"));
    let assert_same = |out: &str| {
        assert!(before == contents(&dir.join(out)), "{more}: {out} differs");
    };
    fs::remove_file(dir.join(format!("out/points/{:05}.json", listed[0].0))).unwrap();
    sweep(dir, "out", &format!("--overflow wrap,trap,saturate {more}"));
    assert_same("out");
    for threads in [1, 2, 5] {
        let out = format!("out{threads}");
        sweep(dir, &out, &format!("--overflow wrap,trap,saturate {more} --threads {threads}"));
        assert_same(&out);
    }
}

fn entry(entry: &Value) -> (u64, &str) {
    (entry["point"].as_u64().unwrap(), entry["error"].as_str().unwrap())
}

#[test]
fn a_point_that_traps_is_a_result() {
    for mode in ["propagated", "isolated"] {
        for stats in ["none", "full"] {
            check(CHAIN, &format!("--mode {mode} --stats {stats}"));
        }
        check(CONVOLUTION, &format!("--mode {mode} --stats events"));
    }
}

/// A stage that is not swept traps at every width: there is nothing to draw, but the sweep completes.
#[test]
fn every_point_may_trap() {
    let dir = folder(CONVOLUTION);
    let dir = dir.path();
    let traps = "--set product.bits=12 --set product.overflow=trap";
    for mode in ["propagated", "isolated"] {
        let more = format!("{traps} --mode {mode} --stats full");
        sweep(dir, mode, &format!("{more} --overflow wrap,saturate"));
        let rows = rows(dir, mode);
        assert_eq!(rows.len(), 14);
        for row in &rows {
            assert_eq!(Some(&row["trapped"]), run(dir, row, &more).as_ref(), "{mode}");
            assert!(row["trapped"].contains("the product"), "{mode}: {row:?}");
        }
        let page = fs::read_to_string(dir.join(mode).join("report.html")).unwrap();
        assert!(
            page.contains("An overflow is trapped at every width that was run (14 to 20 bits)"),
            "{mode}"
        );
        assert!(page.contains("No point ran to its end."), "{mode}");
    }
}
