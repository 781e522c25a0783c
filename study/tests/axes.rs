//! Sweeps over arbitrary axes.

use std::fs;
use std::path::{Path, PathBuf};

use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{
    Axes, Axis, Condition, Existing, InputSource, Pick, QuantizeChoices, QuantizeRequest, RunRequest,
    Settings, Silent, StudyError, SweepRequest, load_study, run, sweep,
};

const ACCELERATOR: &str = "\
schema: 1
extends: fpga-int14-os
name: small
accumulation:
- {name: inner, reduce: serial, terms: 4, bits: 11, overflow: saturate}
- {name: acc, reduce: serial, terms: all, bits: 12, overflow: wrap}
";

/// Folder with a network and an accelerator with two levels.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("net.yaml"), include_str!("net.yaml")).unwrap();
        fs::write(dir.path().join("hw.yaml"), ACCELERATOR).unwrap();
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn settings(&self, seed: u64, mode: Mode, sets: &[&str]) -> Settings {
        Settings {
            mode,
            stats: StatsLevel::Full,
            sets: sets.iter().map(ToString::to_string).collect(),
            ..Settings::new(InputSource::Random { count: 5, seed })
        }
    }

    fn request(&self, axes: Axes) -> SweepRequest {
        SweepRequest::new(
            self.path("net.yaml"),
            self.path("hw.yaml").to_string_lossy().into_owned(),
            self.settings(3, Mode::Propagated, &[]),
            axes,
        )
    }
}

fn axes(list: &[&str]) -> Axes {
    Axes::new(list.iter().map(|text| text.parse().unwrap()).collect(), &[], Vec::new()).unwrap()
}

/// A key by its last part is the whole key, for axes, zips and conditions, unless it belongs to several sections.
#[test]
fn keys_may_be_short() {
    let list =
        |keys: &[&str]| keys.iter().map(|key| format!("{key}=1,2").parse().unwrap()).collect::<Vec<Axis>>();
    let keys = ["fraction_bits", "promote_terms", "rows", "scheme", "bits", "seed", "clock_mhz"];
    let whole = list(&keys);
    let whole: Vec<&str> = whole.iter().map(Axis::key).collect();
    let expected = [
        "float_accumulation.fraction_bits",
        "float_accumulation.promote_terms",
        "array.rows",
        "requantize.scheme",
        "bits",
        "seed",
        "clock_mhz",
    ];
    assert_eq!(whole, expected);
    let zip = vec![vec!["rows".to_owned(), "array.cols".to_owned()]];
    let condition: Condition = "rows == fraction_bits".parse().unwrap();
    let axes = Axes::new(list(&["rows", "cols", "fraction_bits"]), &zip, vec![condition]).unwrap();
    assert_eq!(axes.combinations().unwrap(), [["1", "1", "1"], ["2", "2", "2"]]);
    let twice = Axes::new(list(&["rows", "array.rows"]), &[], Vec::new());
    assert_eq!(twice.unwrap_err().to_string(), "axis `array.rows` appears twice");
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

/// Every point of a sweep over four axes has the figures of a separate run, and is byte-equal to a sweep of
/// that point alone: its file, its rows of every table, and its predictions for every sample.
#[test]
fn points_are_runs() {
    let folder = Folder::new();
    let list = [
        "reduction_order.walk=forward,reverse",
        "mode=propagated,isolated",
        "seed=3,4",
        "accumulation.acc.bits=9,12",
    ];
    let out = folder.path("out");
    let records = sweep(&folder.request(axes(&list)), Some(&out), Existing::Refuse, &Silent).unwrap();
    assert_eq!(records.len(), 16);
    let table = lines(&out.join("sweep.csv"));
    assert_eq!(
        table[0][table[0].len() - 4..],
        ["reduction_order.walk", "axis.mode", "seed", "accumulation.acc.bits"]
    );
    let summary = lines(&out.join("summary.csv"));
    let mut row = 1;
    for (index, record) in records.iter().enumerate() {
        let value = |i: usize| record.parameters[i].value.as_str();
        let (walk, bits) =
            (format!("reduction_order.walk={}", value(0)), format!("accumulation.acc.bits={}", value(3)));
        let request = RunRequest::new(
            folder.path("net.yaml"),
            folder.path("hw.yaml").to_string_lossy().into_owned(),
            folder.settings(value(2).parse().unwrap(), value(1).parse().unwrap(), &[&walk, &bits]),
        );
        let alone = folder.path(&format!("run{index}"));
        run(&request, Some(&alone), Existing::Refuse, &Silent).unwrap();
        let layers = lines(&alone.join("layers.csv"));
        let first = row;
        for layer in &layers[1..] {
            assert_eq!(table[row][5..][..layer.len()], layer[..], "point {index}");
            let values: Vec<&str> = (0..4).map(value).collect();
            assert_eq!(table[row][table[row].len() - 4..], values);
            row += 1;
        }
        assert_eq!((summary[index + 1][0].as_str(), summary[index + 1][2].as_str()), (value(3), "acc"));
        let bytes =
            |path: PathBuf| fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let predictions = bytes(out.join(format!("predictions/{index:05}.npz")));
        assert!(predictions == bytes(alone.join("predictions.npz")), "predictions of point {index}");
        let classes = lines(&out.join("classes.csv"));
        let own: Vec<&[String]> =
            classes.iter().filter(|line| line[0] == index.to_string()).map(|line| &line[1..]).collect();
        assert_eq!(own, lines(&alone.join("classes.csv"))[1..], "classes of point {index}");
        assert!(!own.is_empty());

        // Sweep with this point only.
        let single: Vec<String> =
            record.parameters.iter().map(|one| format!("{}={}", one.key, one.value)).collect();
        let single: Vec<&str> = single.iter().map(String::as_str).collect();
        let only = folder.path(&format!("only{index}"));
        sweep(&folder.request(axes(&single)), Some(&only), Existing::Refuse, &Silent).unwrap();
        let point = |out: &Path, index: usize| bytes(out.join(format!("points/{index:05}.json")));
        assert!(point(&out, index) == point(&only, 0), "the file of point {index}");
        assert!(predictions == bytes(only.join("predictions/00000.npz")));
        assert_eq!(lines(&only.join("summary.csv"))[1..], summary[index + 1..index + 2]);
        assert_eq!(lines(&only.join("sweep.csv"))[1..], table[first..row]);
    }
    assert_eq!(row, table.len());
}

/// An accelerator file is shown by its name: its folder makes no difference to results.
#[test]
fn folders_of_accelerators_are_not_told() {
    let table = || {
        let folder = Folder::new();
        let hw = format!("hw=fpga-int14-os,{}", folder.path("hw.yaml").display());
        let out = folder.path("out");
        sweep(&folder.request(axes(&[&hw])), Some(&out), Existing::Refuse, &Silent).unwrap();
        ["summary.csv", "sweep.csv", "report.html"].map(|name| fs::read_to_string(out.join(name)).unwrap())
    };
    let [summary, ..] = table();
    assert!(summary.contains(",hw.yaml\n") && summary.contains(",fpga-int14-os\n"), "{summary}");
    assert!(table() == table());
}

/// The number of events depends on the axes; otherwise a sweep that runs one point for all would pass.
#[test]
fn axes_reach_the_accelerator() {
    let folder = Folder::new();
    for key in [
        "accumulation.acc.bits=8,16",
        "accumulation.inner.bits=6,16",
        "accumulation.inner.terms=2,9",
        "seed=1,2",
    ] {
        let records = sweep(&folder.request(axes(&[key])), None, Existing::Refuse, &Silent).unwrap();
        let [a, b] = &records[..] else { panic!("{key}") };
        assert_ne!(a.layers, b.layers, "{key}");
    }
}

/// Checks the combinations, in order.
fn check(list: &[&str], zips: &[&[&str]], conditions: &[&str], expected: &[&[&str]]) {
    let list = list.iter().map(|text| text.parse::<Axis>().unwrap()).collect();
    let zips: Vec<Vec<String>> =
        zips.iter().map(|keys| keys.iter().map(ToString::to_string).collect()).collect();
    let conditions = conditions.iter().map(|text| text.parse::<Condition>().unwrap()).collect();
    let axes = Axes::new(list, &zips, conditions).unwrap();
    assert_eq!(axes.combinations().unwrap(), expected);
}

#[test]
fn axes_multiply_pair_and_leave_out() {
    check(&["a=1,2", "b=x,y"], &[], &[], &[&["1", "x"], &["1", "y"], &["2", "x"], &["2", "y"]]);
    check(&["a=1,2", "b=x,y"], &[&["a", "b"]], &[], &[&["1", "x"], &["2", "y"]]);
    check(&["a=1,2", "c=0", "b=x,y"], &[&["b", "a"]], &[], &[&["1", "0", "x"], &["2", "0", "y"]]);
    check(&["a=8..=10", "b=9,10"], &[], &["a < b"], &[&["8", "9"], &["8", "10"], &["9", "10"]]);
    check(&["a=8,9", "b=8,9"], &[], &["a == b", "a != 8"], &[&["9", "9"]]);
    check(&[], &[], &[], &[&[]]);
    check(&["a=1,0,0", "b=0,1,0"], &[&["a", "b"]], &[], &[&["1", "0"], &["0", "1"], &["0", "0"]]);
}

/// Messages about invalid axes.
#[test]
fn errors() {
    let folder = Folder::new();
    let message = |list: &[&str]| {
        let list: Result<Vec<Axis>, _> = list.iter().map(|text| text.parse()).collect();
        let axes = list.and_then(|list| Axes::new(list, &[], Vec::new()));
        let ran = axes.map_err(StudyError::from);
        let ran = ran.and_then(|axes| sweep(&folder.request(axes), None, Existing::Refuse, &Silent));
        let error = ran.unwrap_err();
        format!("{}: {error}", error.code()).replace(&folder.0.path().to_string_lossy().into_owned(), "")
    };
    insta::assert_snapshot!(message(&["acc"]), @"guardbit::study::axis: invalid axis `acc`: expected KEY=VALUES, e.g. accumulation.acc.bits=12..=16 or mode=propagated,isolated");
    insta::assert_snapshot!(message(&["accumulation.acc.bits="]), @"guardbit::study::axis: axis `accumulation.acc.bits`: a value is missing");
    insta::assert_snapshot!(message(&["accumulation.acc.bits=8..12"]), @"guardbit::study::axis: axis `accumulation.acc.bits`: `8..12` is ambiguous: write 8..=12 to include 12");
    insta::assert_snapshot!(message(&["accumulation.acc.bits=8,8"]), @"guardbit::study::axis: axis `accumulation.acc.bits`: the value 8 appears twice");
    insta::assert_snapshot!(message(&["accumulation.acc.bits=8", "accumulation.acc.bits=9"]), @"guardbit::study::axis: axis `accumulation.acc.bits` appears twice");
    insta::assert_snapshot!(message(&["accumulation.acc.bits=8", "accumulation.1.bits=9"]), @"guardbit::study::axis: `accumulation.acc.bits` and `accumulation.1.bits` set the same value");
    insta::assert_snapshot!(message(&["requantize=single", "requantize.scheme=double"]), @"guardbit::study::axis: `requantize` and `requantize.scheme` set the same value");
    insta::assert_snapshot!(message(&["layers.y.bias.bits=8", "layers.0.bias.bits=9"]), @"guardbit::study::axis: `layers.y.bias.bits` and `layers.0.bias.bits` set the same value");
    insta::assert_snapshot!(message(&["accumulation.acc.bitz=8"]), @"guardbit::hw::unknown_key: axis accumulation.acc.bitz=8: unknown key `accumulation.acc.bitz`");
    insta::assert_snapshot!(message(&["accumulation.acc.bits=1"]), @"guardbit::hw::bits: axis accumulation.acc.bits=1: `accumulation.acc.bits` is 1; it must be `auto` or a whole number from 2 to 64");
    insta::assert_snapshot!(message(&["mode=both"]), @"guardbit::study::axis: axis `mode`: unknown mode `both`; expected propagated and isolated");
    insta::assert_snapshot!(message(&["samples=2"]), @"guardbit::study::axis: axis `samples`: is valid only with an input file; for random codes use `random`");
    insta::assert_snapshot!(message(&["model=nothing.tflite"]), @"guardbit::model::io: nothing.tflite: No such file or directory (os error 2)");
    insta::assert_snapshot!(message(&["a=0..=9999", "b=0,1"]), @"guardbit::study::points: the sweep has 20000 points; expected at most 10000");
    insta::assert_snapshot!(message(&[]), @"guardbit::study::nothing: the sweep varies nothing");
}

/// A study file defines equal axes.
#[test]
fn study_files() {
    let folder = Folder::new();
    let load = |sweep: &str| {
        let text = format!(
            "schema: 1\nmodel: net.yaml\nhw: hw.yaml\nrandom: 5\nseed: 3\nstats: full\nsweep:\n{sweep}"
        );
        fs::write(folder.path("study.yaml"), text).unwrap();
        load_study(&folder.path("study.yaml"))
    };
    let request = load(
        "  axes:\n    accumulation.inner.bits: 8..=10\n    accumulation.acc.bits: [9, 10]\n    reduction_order: [[kh, kw, ic], {axes: [ic, kh, kw], walk: reverse}]\n    model: [net.yaml]\n  where: accumulation.inner.bits <= accumulation.acc.bits\n",
    );
    let request = request.unwrap();
    assert_eq!(request.axes.combinations().unwrap().len(), 5 * 2);
    let records = sweep(&request, None, Existing::Refuse, &Silent).unwrap();
    let shown: Vec<&str> = records[1].parameters.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(shown, ["8", "9", "{axes: [ic, kh, kw], walk: reverse}", "net.yaml"]);
    let message = |sweep: &str| {
        let error = load(sweep).unwrap_err().to_string();
        error.replace(&folder.0.path().to_string_lossy().into_owned(), "")
    };
    insta::assert_snapshot!(message("  axes: 3\n"), @"/study.yaml:8:9: `sweep.axes` is 3; it must be a map of axes, e.g. {accumulation.acc.bits: 12..=16, mode: [propagated, isolated]}");
    insta::assert_snapshot!(message("  axes: {seed: []}\n"), @"/study.yaml:8:16: `sweep.axes.seed`: has no value");
    insta::assert_snapshot!(message("  axes: {seed: 1..=2}\n  zip: [[seed, mode]]\n"), @"/study.yaml:9:8: `zip`: unknown axis `mode`");
    insta::assert_snapshot!(message("  axes: {seed: [1, 2, 1], mode: [a, b, a]}\n  zip: [[seed, mode]]\n"), @"/study.yaml:9:8: `zip`: the values 1, a appear twice");
    insta::assert_snapshot!(message("  axes: {seed: 1..=2}\n  where: 3 < 4\n"), @"/study.yaml:9:10: `where`: neither side is an axis: the axes are seed, at column 1 of `3 < 4`");
    insta::assert_snapshot!(message("  axes: {seed: 1..=2}\n  where: seed\n"), @"/study.yaml:9:14: `where`: expected a comparison (==, !=, <, <=, > or >=) here, at column 5 of `seed`");
    insta::assert_snapshot!(message("  axes: {seed: 1..=2}\n  where: [seed < 3, seed == two]\n"), @"/study.yaml:9:29: `where`: `two` is not a value of `seed` and not an axis; the values of `seed` are 1, 2; the axes are seed, at column 9 of `seed == two`");
    let none = load("  axes: {seed: 1..=2}\n  where: seed > 2\n").unwrap();
    let none = sweep(&none, None, Existing::Refuse, &Silent).unwrap_err();
    let none =
        format!("{}: {none}", none.code()).replace(&folder.0.path().to_string_lossy().into_owned(), "");
    insta::assert_snapshot!(none, @"guardbit::study::no_point: /study.yaml:9:10: no combination of the axes satisfies `where`: seed > 2");
}

/// Errors point at the value that is wrong, not at the map or list around it, when the file is read and when the
/// sweep is planned.
#[test]
fn errors_of_studies_point_at_the_value() {
    let folder = Folder::new();
    let marked = |text: &str| {
        fs::write(folder.path("study.yaml"), text).unwrap();
        let request = load_study(&folder.path("study.yaml"));
        let ran = request.and_then(|request| sweep(&request, None, Existing::Refuse, &Silent));
        match ran.unwrap_err() {
            StudyError::StudyFile { place, .. } => place.text[place.span.clone()].to_owned(),
            other => panic!("{text}: {other}"),
        }
    };
    let flow = |settings: &str, sweep: &str| {
        format!("{{schema: 1, model: net.yaml, hw: hw.yaml, {settings}sweep: {{{sweep}}}}}\n")
    };
    for (settings, sweep, expected) in [
        ("", "bits: x", "x"),
        ("", "bits: [8, x]", "["),
        ("", "bits: 8, overflow: [wrap, clip]", "clip"),
        ("", "bits: 8, bits: 9", "9"),
        ("", "widths: 9", "widths"),
        ("", "axes: {seed: 1, seed: 2}", "2"),
        ("", "axes: {seed: [1, 2, 1]}", "["),
        ("", "axes: {seed: [1, 2], mode: a}, zip: [[seed, mode]]", "["),
        ("", "axes: {seed: [1, 2]}, where: seed < x", "x"),
        ("seed: x, ", "bits: 8", "x"),
        ("input: x.npy, seed: 3, ", "bits: 8", "3"),
        ("random: 3, input: x.npy, ", "bits: 8", "x.npy"),
        ("dim: {batch: 1, width: 0}, ", "bits: 8", "0"),
        ("set: {bias.bits: 8, bias.bits: 9}, ", "bits: 8", "9"),
        ("stats: all, ", "bits: 8", "all"),
        // Errors that are found when the sweep is planned.
        ("", "axes: {accumulation.acc.bits: 99}", "99"),
        ("", "axes: {seed: [1, 2], accumulation.acc.bitz: 8}", "8"),
        ("", "axes: {mode: both}", "both"),
        ("", "axes: {seed: 1, layers.y.bias.bits: 8, layers.0.bias.bits: 9}", "9"),
        ("", "axes: {seed: [1, 2]}, where: seed > 2", "seed > 2"),
        ("set: {accumulation.acc.bits: 99}, ", "bits: 8", "99"),
        ("", "bits: 8, level: none", "none"),
        ("", "", "{"),
    ] {
        assert_eq!(marked(&flow(settings, sweep)), expected, "{settings}{sweep}");
    }
    assert_eq!(marked("schema: 2\n"), "2");
    assert_eq!(marked("schema: 1\nmodel: [a, b, a]\nhw: h\nsweep: {bits: 8}\n"), "a");
    assert_eq!(marked("schema: 1\nmodel: a\nhw: h\nseeds: 1\n"), "seeds");
}

/// A sweep over quantizations of a float network has the figures of networks that are quantized separately,
/// each for its point's accelerator if the method depends on it.
#[test]
fn quantizations_are_axes() {
    let digits = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits").join(name);
    let of = |name: &str, first: usize| InputSource::File { path: digits(name), pick: Pick::First { first } };
    let settings = Settings {
        labels: Some(digits("test_labels.npy")),
        stats: StatsLevel::Events,
        ..Settings::new(of("test_images_float.npy", 20))
    };
    let folder = tempfile::tempdir().unwrap();
    let swept = |model: PathBuf, list: &[&str]| {
        let request = SweepRequest::new(model, "fpga-int14-os", settings.clone(), axes(list));
        sweep(&request, None, Existing::Refuse, &Silent).map_err(|error| error.to_string())
    };
    let calibration = format!("quantize:calibration={}", digits("calibration.npy").display());
    let (samples, methods) = ("quantize:samples=3", "quantize:method=min-max,guaranteed");
    let (weights, bits) = ("quantize:weights=int8,int4", "accumulation.acc.bits=12,14");
    let float = digits("digits_float.onnx");
    let records = swept(float.clone(), &[&calibration, samples, methods, weights, bits]).unwrap();
    assert_eq!(records.len(), 8);
    let mut seen = Vec::new();
    for record in &records {
        let value = |index: usize| record.parameters[index].value.as_str();
        assert_eq!(value(0), "calibration.npy");
        let choices = QuantizeChoices {
            method: value(2).into(),
            weights: value(3).into(),
            ..QuantizeChoices::default()
        };
        let register = format!("accumulation.acc.bits={}", value(4));
        let request = QuantizeRequest {
            model: float.clone(),
            cut: Default::default(),
            calibration: of("calibration.npy", 3),
            test: None,
            labels: None,
            output: None,
            hw: Some("fpga-int14-os".into()),
            sets: vec![register.clone()],
            config: choices.config().unwrap(),
            mixed: None,
            dynamic: false,
            cache: None,
            report: None,
            style: Default::default(),
            statistics: Vec::new(),
        };
        let out = folder.path().join("alone.onnx");
        guardbit_study::quantize(&request, &out, Existing::Replace, &Silent).unwrap();
        let alone = swept(out, &[&register]).unwrap().swap_remove(0);
        assert_eq!(
            (&record.layers, &record.outcomes),
            (&alone.layers, &alone.outcomes),
            "{:?}",
            record.parameters
        );
        seen.push(&record.layers);
    }
    assert!(
        (1..seen.len()).all(|index| !seen[..index].contains(&seen[index])),
        "every point is another network"
    );

    let message = |list: &[&str]| swept(float.clone(), list).unwrap_err();
    insta::assert_snapshot!(message(&[methods]), @"quantize: a sweep over quantizations needs calibration samples: add the axis `quantize:calibration=X.npy`");
    insta::assert_snapshot!(message(&["quantize:methods=mse"]), @"axis `quantize:methods`: `methods` is not a setting of the quantizer: expected one of calibration, samples, mode, method, weight-method, weights, activations, per-tensor, symmetric, asymmetric-weights, full-range, power-of-two, equalize, inline-functions, correct-bias");
    insta::assert_snapshot!(message(&[&calibration, samples, "quantize:method=mode"]), @"mode: unknown method; the methods are min-max, moving-average, average, percentile, kl, kl-tensorrt, kl-tvm, mse, overflow-aware, guaranteed");
    insta::assert_snapshot!(message(&[&calibration, samples, "quantize:per-tensor=perhaps"]), @"axis `quantize:per-tensor`: `perhaps`: expected true or false");
}
