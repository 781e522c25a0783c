//! Identity of a stored point: changes with everything that decides its figures, and with nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use guardbit_num::Overflow;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{Axes, Existing, Identity, InputSource, Pick, Settings, Silent, SweepRequest, sweep};
use ndarray::{Array1, Array4, ArrayD};
use ndarray_npy::{WritableElement, write_npy};
use serde_json::Value;
use sha2::{Digest, Sha256};

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 4, 4, 2], dtype: int8, scale: 0.5, zero_point: -3}
constants:
  - {name: w, shape: [3, 2, 2, 2], dtype: int8, scale: [0.1, 0.2, 0.3], axis: 0, file: w.npy}
  - {name: b, shape: [3], dtype: int32, values: [1, -2, 3]}
  - {name: v, shape: [2, 12], dtype: int8, scale: 0.25, random: {seed: 4, min: -100}}
nodes:
  - op: conv2d
    inputs: [x, w, b]
    output: {name: c, dtype: int8, scale: 0.7, zero_point: 1}
    padding: same
    dilation: [1, 1]
    activation: relu
    requantize: double
  - {op: max_pool2d, inputs: [c], output: {name: m, dtype: int8, scale: 0.7, zero_point: 1}, kernel: [2, 2], stride: [2, 2]}
  - {op: fully_connected, inputs: [m, v], output: {name: y, dtype: int8, scale: 0.9, zero_point: 5}}
  - {op: softmax, inputs: [y], output: {name: s, dtype: int8, scale: 0.00390625, zero_point: -128}, beta: 1.0}
outputs: [s]
";

const BASE: &str = "\
schema: 1
description: a base
clock_mhz: 200
memory: {weight_kib: 64}
";

const ACCELERATOR: &str = "\
schema: 1
extends: base.yaml
name: mine
description: two levels
accumulation:
  - {name: chain, reduce: serial, terms: 4, bits: 12, overflow: wrap}
  - {name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}
layers:
  y: {accumulation.acc.bits: 13}
";

/// Inputs of a sweep with one point.
#[derive(Clone)]
struct Study {
    files: BTreeMap<&'static str, String>,
    weights: Vec<i8>,
    codes: Vec<i8>,
    classes: Vec<i64>,
    labelled: bool,
    /// File name of the network.
    file_name: &'static str,
    folder: &'static str,
    settings: Settings,
    level: &'static str,
    bits: &'static str,
    overflow: Vec<Overflow>,
}

impl Study {
    fn new() -> Self {
        let settings = Settings {
            stats: StatsLevel::Events,
            ..Settings::new(InputSource::Random { count: 1, seed: 0 })
        };
        Self {
            files: [("net.yaml", NETWORK), ("acc.yaml", ACCELERATOR), ("base.yaml", BASE)]
                .map(|(name, text)| (name, text.to_owned()))
                .into(),
            weights: (0..24).map(|i| (i * 37 % 101) as i8 - 50).collect(),
            codes: (0..96).map(|i| (i * 53 % 251) as u8 as i8).collect(),
            classes: vec![0, 1, 1],
            labelled: true,
            file_name: "net.yaml",
            folder: "a",
            settings,
            level: "acc",
            bits: "14",
            overflow: Vec::new(),
        }
    }

    fn edit(mut self, file: &str, from: &str, to: &str) -> Self {
        let text = self.files.get_mut(file).unwrap();
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        self
    }

    /// Runs the study in a new folder; returns `sweep.json`.
    fn manifest(&self) -> Value {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join(self.folder);
        fs::create_dir(&dir).unwrap();
        for (name, text) in &self.files {
            let name = if *name == "net.yaml" { self.file_name } else { name };
            fs::write(dir.join(name), text).unwrap();
        }
        write(&dir, "w.npy", Array4::from_shape_vec((3, 2, 2, 2), self.weights.clone()).unwrap().into_dyn());
        let samples = self.codes.len() / 32;
        let shape = (samples, 4, 4, 2);
        let input =
            write(&dir, "x.npy", Array4::from_shape_vec(shape, self.codes.clone()).unwrap().into_dyn());
        let labels = write(&dir, "labels.npy", Array1::from(self.classes.clone()).into_dyn());
        let mut settings = self.settings.clone();
        settings.input = match settings.input {
            InputSource::Random { .. } => InputSource::File { path: input, pick: Pick::All },
            InputSource::File { pick, .. } => InputSource::File { path: input, pick },
        };
        settings.labels = self.labelled.then_some(labels);
        let request = SweepRequest {
            level: Some(self.level.into()),
            bits: Some(self.bits.parse().unwrap()),
            overflow: self.overflow.clone(),
            ..SweepRequest::new(
                dir.join(self.file_name),
                dir.join("acc.yaml").to_string_lossy().into_owned(),
                settings,
                Axes::default(),
            )
        };
        let out = dir.join("out");
        sweep(&request, Some(&out), Existing::Refuse, &Silent).unwrap();
        let json: Value = serde_json::from_slice(&fs::read(out.join("sweep.json")).unwrap()).unwrap();
        let stored = fs::read(out.join("points/00000.json")).unwrap();
        let stored: Value = serde_json::from_slice(&stored).unwrap();
        assert_eq!(stored["identity"], json["points"][0]["identity"], "it stands in the point too");
        json
    }

    fn identity(&self) -> Identity {
        self.manifest()["points"][0]["identity"].as_str().unwrap().parse().unwrap()
    }
}

fn write<T: WritableElement>(dir: &Path, name: &str, array: ArrayD<T>) -> PathBuf {
    let path = dir.join(name);
    write_npy(&path, &array).unwrap();
    path
}

/// Returns changes of one thing each, with a name.
fn changes() -> Vec<(String, Study)> {
    let mut all: Vec<(String, Study)> = Vec::new();
    let texts = [
        ("net.yaml", "zero_point: -3", "zero_point: -2"),
        ("net.yaml", "scale: 0.5", "scale: 0.50000006"),
        ("net.yaml", "0.2, 0.3]", "0.2, 0.30000004]"),
        ("net.yaml", "values: [1, -2, 3]", "values: [1, -2, 4]"),
        ("net.yaml", "seed: 4, min: -100", "seed: 5, min: -100"),
        ("net.yaml", "seed: 4, min: -100", "seed: 4, min: -99"),
        ("net.yaml", "padding: same", "padding: {rows: [0, 1], cols: [1, 0]}"),
        ("net.yaml", "dilation: [1, 1]", "dilation: [2, 2]"),
        ("net.yaml", "activation: relu", "activation: relu6"),
        ("net.yaml", "requantize: double", "requantize: single"),
        ("net.yaml", "requantize: double", "requantize: double\n    multiplier: float32"),
        ("net.yaml", "kernel: [2, 2]", "kernel: [1, 1]"),
        ("net.yaml", "scale: 0.9", "scale: 0.8"),
        ("net.yaml", "zero_point: 5", "zero_point: 4"),
        ("net.yaml", "zero_point: 5", "zero_point: 5, range: [-127, 127]"),
        ("net.yaml", "axis: 0, file", "axis: 0, range: [-127, 127], file"),
        ("net.yaml", "beta: 1.0", "beta: 2.0"),
        ("acc.yaml", "terms: 4", "terms: 5"),
        ("acc.yaml", "bits: 12", "bits: 13"),
        ("acc.yaml", "overflow: wrap", "overflow: saturate"),
        ("acc.yaml", "overflow: saturate", "overflow: wrap"),
        ("acc.yaml", "acc.bits: 13", "acc.bits: 12"),
        ("acc.yaml", "schema: 1", "schema: 1\nreduction_order: [ic, kh, kw]"),
        ("acc.yaml", "schema: 1", "schema: 1\nproduct: {shift: 1}"),
        ("acc.yaml", "schema: 1", "schema: 1\noperands: {zero_point: fold}"),
        ("acc.yaml", "schema: 1", "schema: 1\nbias: {at: preload}"),
        ("acc.yaml", "schema: 1", "schema: 1\narray: {rows: 8}"),
        ("acc.yaml", "schema: 1", "schema: 1\nrequantize: {scheme: away}"),
        ("base.yaml", "clock_mhz: 200", "clock_mhz: 201"),
        ("base.yaml", "weight_kib: 64", "weight_kib: 65"),
    ];
    let study = Study::new();
    for (file, from, to) in texts {
        all.push((format!("{file}: {to}"), study.clone().edit(file, from, to)));
    }
    let outputs = study.clone().edit("net.yaml", "outputs: [s]", "outputs: [y, s]");
    let mut add = |name: &str, change: &dyn Fn(&mut Study)| {
        // With several outputs, one is named so that labels apply to it.
        let mut changed = if name.starts_with("output") { outputs.clone() } else { study.clone() };
        changed.settings.output = name.starts_with("output").then(|| "s".into());
        change(&mut changed);
        all.push((name.into(), changed));
    };
    add("name of a tensor", &|study| {
        *study = study.clone().edit("net.yaml", "name: m,", "name: n,").edit("net.yaml", "[m, v]", "[n, v]");
    });
    add("weight", &|study| study.weights[17] += 1);
    add("sample", &|study| study.codes[40] ^= 1);
    add("order of samples", &|study| study.codes.rotate_left(32));
    add("fewer samples", &|study| {
        study.settings.input = InputSource::File { path: PathBuf::new(), pick: Pick::First { first: 2 } };
    });
    add("label", &|study| study.classes[2] = 0);
    add("no labels", &|study| study.labelled = false);
    add("mode", &|study| study.settings.mode = Mode::Isolated);
    add("stats", &|study| study.settings.stats = StatsLevel::Full);
    add("output s", &|_| ());
    add("output y", &|study| study.settings.output = Some("y".into()));
    add("set", &|study| study.settings.sets.push("accumulation.chain.bits=11".into()));
    add("width", &|study| study.bits = "15");
    add("overflow", &|study| study.overflow = vec![Overflow::Wrap]);
    // The accelerator is unchanged, but events are summed at another level.
    add("level", &|study| (study.level, study.bits) = ("chain", "12"));
    all
}

#[test]
fn any_change_gives_another_identity() {
    let mut seen = BTreeMap::from([(Study::new().identity(), "none".to_owned())]);
    for (change, study) in changes() {
        if let Some(other) = seen.insert(study.identity(), change.clone()) {
            // Two ways to make one change.
            let same = [("acc.yaml: overflow: wrap", "overflow")];
            assert!(same.contains(&(other.as_str(), change.as_str())), "`{change}` is as `{other}`");
        }
    }
}

/// Modification of a study.
type Change = fn(&mut Study);

/// Other names, paths and spellings keep the identity.
#[test]
fn the_same_things_keep_it() {
    let same: [(&str, Change); 6] = [
        ("nothing", |_| ()),
        ("file name", |study| study.file_name = "renamed.yaml"),
        ("folder", |study| study.folder = "elsewhere"),
        ("name and description", |study| {
            *study = study.clone().edit("acc.yaml", "name: mine", "name: yours").edit("acc.yaml", "two", "2");
        }),
        ("comments", |study| {
            *study = study.clone().edit("net.yaml", "inputs:", "# a comment\nname: tiny\ninputs:")
        }),
        ("defaults", |study| {
            study.settings.sets.push("timing.convention=overlapped".into());
            study.settings.input =
                InputSource::File { path: PathBuf::new(), pick: Pick::Random { count: 3, seed: 9 } };
        }),
    ];
    let expected = Study::new().identity();
    for (name, change) in same {
        let mut study = Study::new();
        change(&mut study);
        assert_eq!(study.identity(), expected, "{name}");
    }
}

/// The documented derivation, recomputed by hand.
#[test]
fn the_derivation_is_the_documented_one() {
    let study = Study::new();
    let manifest = study.manifest();
    let point = &manifest["points"][0];
    let parts = &point["depends_on"];
    let codes: Vec<u8> = study.codes.iter().flat_map(|&code| code.to_le_bytes()).collect();
    let classes: Vec<u8> = study.classes.iter().flat_map(|&class| (class as u64).to_le_bytes()).collect();
    assert_eq!(parts["input"], sha256(&codes));
    assert_eq!(parts["labels"], sha256(&classes));
    let text = format!(
        "{{\"derivation\":2,\"arithmetic\":{},\"model\":{},\"accelerator\":{},\"input\":{},\"labels\":{},\"settings\":\
         {{\"mode\":\"propagated\",\"stats\":\"events\",\"outputs\":{{\"compared\":[\"s\"],\"classes\":\"s\"}},\"level\":\"acc\"}}}}",
        guardbit_sim::ARITHMETIC_VERSION,
        parts["model"],
        parts["accelerator"],
        parts["input"],
        parts["labels"]
    );
    assert_eq!(point["identity"], sha256(text.as_bytes()));
    let all = format!("[{}]", point["identity"]);
    assert_eq!(manifest["identity"], sha256(all.as_bytes()));
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
