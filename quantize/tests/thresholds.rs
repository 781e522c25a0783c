//! Ranges and parameters against numpy and ONNX Runtime (`scripts/make_threshold_goldens.py`).

use std::path::{Path, PathBuf};
use std::process::Command;

use guardbit_graph::CodeRange;
use guardbit_quantize::method::{Average, Kl, KlTvm, Method, MinMax, MovingAverage, Mse, Percentile};
use guardbit_quantize::{Observed, Range, Scales, Symmetry, Target, Uniform};
use serde_json::Value;

const SAMPLES: usize = 4;
const SIZE: usize = 1500;
const UNIT: f64 = 1.0 / (1 << 20) as f64;

/// The values of a set, as the script makes them.
fn values(name: &str) -> Vec<Vec<f32>> {
    let mut state: u32 = name.bytes().map(u32::from).sum();
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i64::from(state >> 12)
    };
    let mut bell = || (0..4).map(|_| draw()).sum::<i64>() - (1 << 21);
    let shape = |n: i64| match name {
        "heavy" => (n.signum() * ((n * n) >> 20)) | 1,
        "rectified" if n <= 0 => 0,
        "leaky" if n <= 0 => n.div_euclid(8) | 1,
        _ => n | 1,
    };
    let mut all: Vec<f32> = (0..SAMPLES * SIZE).map(|_| (shape(bell()) as f64 * UNIT) as f32).collect();
    if name != "no_power_of_two" {
        all[SAMPLES * SIZE - 1] = 4.0;
    }
    all.chunks(SIZE).map(<[f32]>::to_vec).collect()
}

fn observed(samples: &[Vec<f32>]) -> Observed {
    let mut observed = Observed::default();
    samples.iter().for_each(|sample| observed.add(sample));
    observed
}

fn target(min: i32, max: i32, symmetry: Symmetry) -> Target {
    Target { codes: CodeRange::new(min, max).unwrap(), symmetry, scales: Scales::Any }
}

/// The method of a row, and its target.
fn method(name: &str) -> (Box<dyn Method>, Target) {
    let int8 = target(-128, 127, Symmetry::Asymmetric);
    match name {
        "min-max" => (Box::new(MinMax), int8),
        "average" => (Box::new(Average), int8),
        "moving-average" => (Box::new(MovingAverage::USUAL), int8),
        "percentile 99.999" => (Box::new(Percentile::USUAL), int8),
        "percentile 99" => (Box::new(Percentile { percent: 99.0 }), int8),
        "percentile 100" => (Box::new(Percentile { percent: 100.0 }), int8),
        "kl" => (Box::new(Kl::TENSOR_RT), int8),
        "kl int4" => (Box::new(Kl::TENSOR_RT), target(-8, 7, Symmetry::Asymmetric)),
        "kl-tvm" => (Box::new(KlTvm::USUAL), target(-127, 127, Symmetry::Symmetric)),
        "mse int8" => (Box::new(Mse::USUAL), int8),
        "mse int4" => (Box::new(Mse::USUAL), target(-8, 7, Symmetry::Asymmetric)),
        "mse int4 symmetric" => (Box::new(Mse::USUAL), target(-7, 7, Symmetry::Symmetric)),
        other => panic!("no method `{other}`"),
    }
}

/// What the oracle gives: two ends, or a threshold that goes no further than values were seen.
fn expected(row: &Value, observed: &Observed) -> Range {
    let (low, high) = observed.extremes();
    match row.as_array() {
        Some(ends) => Range { low: ends[0].as_f64().unwrap(), high: ends[1].as_f64().unwrap() },
        None => {
            let threshold = row.as_f64().unwrap();
            Range { low: low.max(-threshold), high: high.min(threshold) }
        }
    }
}

/// How far from ONNX Runtime's range a method may be: its histograms begin at the least magnitude, in float32.
fn tolerance(set: &str, method: &str, observed: &Observed) -> f64 {
    let bin = observed.magnitude() / 1024.0;
    match (set, method) {
        // Parts that lose as little: the script looks at the loss.
        ("bell", "kl") => 10.0 * bin,
        (_, "percentile 99.999" | "percentile 99") => bin,
        (_, "average" | "moving-average") => 1e-6 * observed.magnitude(),
        _ => 0.0,
    }
}

fn check(golden: &Value) {
    for (set, of_set) in golden["sets"].as_object().unwrap() {
        let observed = observed(&values(set));
        let sum: f64 = values(set).iter().flatten().map(|value| f64::from(value.abs())).sum();
        assert!((sum - of_set["checksum"].as_f64().unwrap()).abs() < 1e-6, "{set}: other values");
        for (oracle, exact) in [("numpy", true), ("ort", false)] {
            for (name, row) in of_set[oracle].as_object().unwrap() {
                let (method, target) = method(name);
                let (ours, theirs) = (method.range(&observed, &target), expected(row, &observed));
                let allowed = if exact { 1e-12 } else { tolerance(set, name, &observed) };
                let apart = (ours.low - theirs.low).abs().max((ours.high - theirs.high).abs());
                assert!(apart <= allowed, "{set}, {name}: {ours:?}, {oracle} has {theirs:?}");
            }
        }
    }
    let scales = golden["scales"].as_array().unwrap();
    assert!(scales.len() > 100);
    for row in scales {
        let int = |index: usize| row[index].as_i64().unwrap() as i32;
        let real = |index: usize| row[index].as_f64().unwrap();
        let symmetry = if row[2] == true { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let ours = target(int(0), int(1), symmetry).parameters(Range { low: real(3), high: real(4) });
        assert_eq!((f64::from(ours.scale), ours.zero_point), (real(5), int(6)), "{row}");
    }
}

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/thresholds.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn thresholds_equal_those_of_others() {
    check(&golden());
}

#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn thresholds_equal_those_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let made: PathBuf = folder.path().join("thresholds.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/make_threshold_goldens.py");
    let python = std::env::var("GUARDBIT_ONNX_PYTHON").unwrap();
    assert!(Command::new(python).arg(script).arg(&made).status().unwrap().success());
    let anew: Value = serde_json::from_str(&std::fs::read_to_string(made).unwrap()).unwrap();
    check(&anew);
    assert_eq!(anew, golden(), "the committed file is another one");
}

/// The part that is reached exactly ends at the bin in which it is reached: `searchsorted` of numpy.
#[test]
fn a_percentile_that_falls_on_an_edge() {
    let magnitudes = Uniform { counts: vec![1, 1, 1, 1], start: 0.0, width: 0.5 };
    let thresholds =
        [0.0, 25.0, 50.0, 50.1, 75.0, 100.0].map(|percent| Percentile { percent }.threshold(&magnitudes));
    assert_eq!(thresholds, [0.5, 0.5, 0.5, 1.0, 1.0, 1.5]);
}
