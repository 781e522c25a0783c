//! Timelines of runs: the rules of trace events, and totals that equal the tables.

use std::collections::BTreeMap;
use std::path::Path;

use guardbit_files::Existing;
use guardbit_reports::RunRecord;
use guardbit_sim::StatsLevel;
use guardbit_study::{InputSource, RunRequest, Settings, Silent, run};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs the digits network and returns the record with its timeline.
fn traced(hw: &str, sets: &[&str]) -> (RunRecord, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let settings = Settings {
        sets: sets.iter().map(|&set| set.to_owned()).collect(),
        stats: StatsLevel::Full,
        ..Settings::new(InputSource::Random { count: 4, seed: 1 })
    };
    let model = Path::new(ROOT).join("examples/digits/digits_int8.tflite");
    let request = RunRequest { trace: Some(file.clone()), ..RunRequest::new(model, hw, settings) };
    let record = run(&request, Some(&folder.path().join("out")), Existing::Refuse, &Silent).unwrap();
    let trace = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    (record, trace)
}

/// Checks the rules of the format for every event, and returns the cycles of the slices by track and name.
fn slices(trace: &Value) -> BTreeMap<(u64, u64), Vec<(String, u64)>> {
    let mut open: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    let mut found: BTreeMap<(u64, u64), Vec<(String, u64)>> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let ts = event["ts"].as_f64().unwrap();
        assert!(ts >= 0.0 && event["args"].is_object(), "{event}");
        match event["ph"].as_str().unwrap() {
            // Complete events of a track follow each other: none begins before the one before has ended.
            "X" => {
                let end = ts + event["dur"].as_f64().unwrap();
                let free = open.insert(track, end).unwrap_or(0.0);
                assert!(ts >= free - 1e-6 && end >= ts, "{event} starts before {free}");
                let cycles = event["args"]["cycles"].as_u64().unwrap_or(0);
                found.entry(track).or_default().push((name.to_owned(), cycles));
            }
            "C" => {
                let free = open.insert(track, ts).unwrap_or(0.0);
                assert!(ts >= free && event["args"]["events"].is_u64(), "{event}");
            }
            "M" => {
                assert!(event["args"]["name"].is_string() || event["args"]["sort_index"].is_u64(), "{event}")
            }
            other => panic!("{other}"),
        }
    }
    found
}

fn check(hw: &str, sets: &[&str]) {
    let (record, trace) = traced(hw, sets);
    let slices = slices(&trace);
    let of = |pid, tid| slices.get(&(pid, tid)).cloned().unwrap_or_default();
    let sum = |pid, tid| of(pid, tid).iter().map(|(_, cycles)| cycles).sum::<u64>();
    let layers: Vec<(String, u64)> =
        record.bottlenecks.iter().map(|row| (row.name.clone(), row.cycles)).collect();
    assert_eq!(of(1, 1), layers, "{hw} {sets:?}");
    // Every cycle of a layer has a cause.
    assert_eq!(sum(1, 2), record.timing.cycles);
    let waits = of(1, 2).into_iter().filter(|(name, _)| name.starts_with("stall")).map(|(_, cycles)| cycles);
    assert_eq!(waits.sum::<u64>(), record.timing.stall_cycles);
    assert!(sum(1, 3) <= record.timing.cycles);
    let hosts = record.timing.host.iter().filter(|row| row.cycles > 0);
    assert_eq!(of(2, 1), hosts.map(|row| (row.name.clone(), row.cycles)).collect::<Vec<_>>());

    let events = trace["traceEvents"].as_array().unwrap();
    let counted = |phase: &str, pid: u64| -> u64 {
        let of_pid = events.iter().filter(|event| event["ph"] == phase && event["pid"] == pid);
        of_pid.filter_map(|event| event["args"]["events"].as_u64()).sum()
    };
    let all: u64 = record.layers.iter().filter_map(|row| row.events).sum();
    // Once with the layers, by level, next to what bounds each layer.
    let own = || events.iter().filter(|event| event["pid"] == 1 && event["tid"] == 1 && event["ph"] == "X");
    let by_level =
        own().filter_map(|event| event["args"]["events"].as_object()).flat_map(|levels| levels.values());
    assert_eq!(by_level.filter_map(Value::as_u64).sum::<u64>(), all, "{hw} {sets:?}");
    let bounds: Vec<&str> = own().map(|event| event["args"]["bound"].as_str().unwrap()).collect();
    assert_eq!(bounds, record.bottlenecks.iter().map(|row| row.bound.as_str()).collect::<Vec<_>>());
    // Once over time, once over groups of rows.
    assert_eq!([counted("C", 3), counted("X", 3)], [all; 2], "{hw} {sets:?}");
    assert!(all > 0, "{hw} {sets:?}");
    let ends = events.iter().filter(|event| event["ph"] == "X" && event["pid"] != 3);
    let last = ends.map(|event| event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap());
    let last = last.fold(0.0, f64::max);
    assert!((last - record.timing.latency_us).abs() < 2e-3, "{last} {}", record.timing.latency_us);
}

#[test]
fn timelines_add_up() {
    check("fpga-int14-os", &["accumulation.acc.bits=12"]);
    check("fpga-int14-os", &["accumulation.acc.bits=12", "memory.double_buffer=false", "clock_mhz=333"]);
    check("fpga-int14-os", &["accumulation.acc.bits=12", "timing.convention=scalesim_v3"]);
    check(
        "fpga-int14-ws",
        &[
            "accumulation.chain.bits=12",
            "memory.sram_bytes_per_cycle=1",
            "memory.activation_kib=1",
            "memory.weight_kib=1",
            "memory.accumulator_kib=1",
        ],
    );
}

/// A timeline in the folder of results would be in its way.
#[test]
fn a_timeline_lies_next_to_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let model = Path::new(ROOT).join("examples/digits/digits_int8.tflite");
    for file in ["out", "out/trace.json", "out/a/trace.json"] {
        let settings = Settings::new(InputSource::Random { count: 1, seed: 1 });
        let request = RunRequest::new(model.clone(), "fpga-int14-os", settings);
        let request = RunRequest { trace: Some(folder.path().join(file)), ..request };
        let error = run(&request, Some(&out), Existing::Refuse, &Silent).unwrap_err();
        assert_eq!(error.code(), "guardbit::run::trace", "{file}: {error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{file}");
    }
}
