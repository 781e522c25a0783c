//! Quantization end to end: files in, a file out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::networks;
use crate::networks::{Layer, network, samples};
use guardbit_frontends::{BATCH, read_onnx, write_dynamic_onnx, write_onnx};
use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{load, lower};
use guardbit_quantize::search::Judge;
use guardbit_quantize::{CodeSetting, Config, LayerSetting, Symmetry, code_weights, quantize};
use guardbit_study::{Existing, InputSource, Pick, QuantizeChoices, QuantizeRequest, Silent, StudyError};
use serde_json::{Map, Value, json};

fn digits(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits").join(name)
}

fn request() -> QuantizeRequest {
    QuantizeRequest {
        model: digits("digits_float.onnx"),
        cut: Default::default(),
        calibration: InputSource::File { path: digits("calibration.npy"), pick: Pick::All },
        test: Some(digits("test_images_float.npy")),
        labels: Some(digits("test_labels.npy")),
        output: None,
        hw: None,
        sets: Vec::new(),
        config: Config::default(),
        mixed: None,
        dynamic: false,
        cache: None,
        report: None,
        style: Default::default(),
        statistics: vec![("layers".into(), |quantized| quantized.graph.nodes().len().to_string())],
    }
}

fn run(
    request: &QuantizeRequest,
    out: &Path,
    existing: Existing,
) -> Result<guardbit_reports::QuantizeRecord, StudyError> {
    guardbit_study::quantize(request, out, existing, &Silent)
}

#[test]
fn digits_in_8_bits_are_as_accurate_as_in_float() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("digits.onnx");
    let report = folder.path().join("report");
    let wanted = QuantizeRequest { report: Some(report.clone()), ..request() };
    let record = run(&wanted, &out, Existing::Refuse).unwrap();
    let (float, codes) = (record.accuracy_float.unwrap().value(), record.accuracy.unwrap().value());
    assert!((float - codes).abs() <= 0.005, "{float} in float, {codes} in 8 bits");
    assert!(float > 0.9 && record.evaluated > 100);
    assert!(record.parts.iter().all(|part| part.float.is_none()), "{:?}", record.parts);
    assert!(record.parts.iter().all(|part| part.sqnr_db.unwrap().value() > 25.0), "{:?}", record.parts);
    assert_eq!(record.own.len(), 1);
    for name in ["parts.csv", "tensors.csv", "histograms.csv", "layers.csv", "report.html", "quantize.json"] {
        assert!(report.join(name).is_file(), "{name}");
    }
    let network = guardbit_frontends::load(&out).unwrap();
    assert!(
        network.tensors().iter().all(|tensor| !tensor.ty.dtype.is_float() || tensor.name.contains("real"))
    );
    // A repetition is byte-equal.
    let again = folder.path().join("again.onnx");
    run(&request(), &again, Existing::Refuse).unwrap();
    assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(&out).unwrap());
}

/// One layer, named as in the quantized network, has a narrow accumulator: plain weights overflow it,
/// guaranteed weights do not.
#[test]
fn a_layer_has_registers_of_its_own() {
    for (method, overflows) in [("min-max", true), ("guaranteed", false)] {
        let folder = tempfile::tempdir().unwrap();
        let sets = ["accumulation.acc.bits=32", "layers.logits.accumulation.acc.bits=12"].map(String::from);
        let config =
            QuantizeChoices { method: method.into(), ..QuantizeChoices::default() }.config().unwrap();
        let wanted =
            QuantizeRequest { hw: Some("fpga-int14-os".into()), sets: sets.into(), config, ..request() };
        let record = run(&wanted, &folder.path().join("out.onnx"), Existing::Refuse).unwrap();
        let events: Vec<_> =
            record.layers.iter().map(|row| (row.layer.as_str(), row.events > Some(0))).collect();
        assert_eq!(events.last(), Some(&("logits", overflows)), "{method}");
        assert!(events.iter().rev().skip(1).all(|&(_, any)| !any), "{method}: {events:?}");
    }
}

/// The written file of a guaranteed network proves what the search proved, also where a range of codes became a
/// clip of real values that reads as an activation.
#[test]
fn guaranteed_files_are_proved() {
    let mut narrowed = 0;
    for (seed, bits) in [(0, 9), (1, 10), (2, 11), (3, 12)] {
        let accelerator = load("fpga-int14-os", &[format!("accumulation.acc.bits={bits}")]).unwrap();
        let conv = Layer::Conv { kernel: 3, channels: 8, bias: true };
        let clipped = |clip| [conv, Layer::Function(clip)];
        let float = network(&[clipped(1), clipped(1), clipped(0)].concat(), seed);
        // Values that the clips reach.
        let mut large = samples(4, seed);
        large.iter_mut().flatten().flatten().for_each(|value| *value *= 100.0);
        let choices = QuantizeChoices { method: "guaranteed".into(), ..QuantizeChoices::default() };
        let made = quantize(&float, &large, &choices.config().unwrap(), Some(&accelerator)).unwrap();
        let graph = Arc::new(read_onnx(&write_onnx(&made.graph).unwrap(), "net").unwrap());
        let ids = graph.nodes().iter().map(|node| node.output);
        narrowed += ids.filter(|&id| graph.possible_codes(id) != graph.tensor(id).ty.code_range()).count();
        let program = lower(Arc::clone(&graph), &accelerator).unwrap();
        for layer in program.mac_layers().filter(|layer| layer.dots.weights.is_some()) {
            let proved = LayerBounds::new(&graph, layer).proved_bits(0);
            assert!(proved <= bits, "{seed}: {} needs {proved} of {bits} bits", layer.name);
        }
    }
    assert!(narrowed > 0, "no clip is tighter than its type");
}

#[test]
fn an_existing_file_is_replaced_only_by_force_and_if_it_is_ours() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.onnx");
    run(&request(), &out, Existing::Refuse).unwrap();
    let before = std::fs::read(&out).unwrap();
    let refused = run(&request(), &out, Existing::Refuse).unwrap_err();
    assert_eq!(refused.code(), "guardbit::file");
    assert_eq!(std::fs::read(&out).unwrap(), before);
    run(&request(), &out, Existing::Replace).unwrap();
    std::fs::copy(digits("digits_float.onnx"), &out).unwrap();
    let foreign = run(&request(), &out, Existing::Replace).unwrap_err();
    assert_eq!(foreign.code(), "guardbit::file::foreign");
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(digits("digits_float.onnx")).unwrap());
}

/// Test case: name, float network, samples, settings.
type Case = (String, Graph, Vec<Vec<Vec<f32>>>, Config);

/// Returns random networks that ONNX Runtime has kernels for: 8-bit codes.
fn cases() -> Vec<Case> {
    let every = |seed: u64| -> Vec<Layer> {
        let all = [
            Layer::Conv { kernel: 3, channels: 6, bias: true },
            Layer::BatchNorm,
            Layer::Function(0),
            Layer::Depthwise,
            Layer::Grouped,
            Layer::Residual(0),
            Layer::Function(6),
            Layer::Conv { kernel: 1, channels: 4, bias: false },
            Layer::Function(4),
            Layer::Product,
            Layer::MaxPool,
            Layer::Function(1),
            Layer::AvgPool,
            Layer::Concat,
            Layer::Residual(2),
            Layer::Function(3),
            Layer::Offset,
            Layer::Dense { bias: true },
            Layer::Along { bias: true },
            Layer::Softmax,
            Layer::Resize(0),
            Layer::Resize(1),
            Layer::Resize(2),
            Layer::Transposed,
            Layer::Over(0),
            Layer::Over(1),
            Layer::Over(2),
            Layer::MovedMean { keep_dims: false },
            Layer::MovedMean { keep_dims: true },
        ];
        let mut numbers = networks::Numbers::new(seed);
        let count = 2 + (seed % 6) as usize;
        (0..count)
            .map(|_| all[((numbers.next() + 1.0) * 0.5 * all.len() as f32) as usize % all.len()])
            .collect()
    };
    let config = |seed: u64| {
        let symmetry = if seed.is_multiple_of(3) { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let activations =
            CodeSetting { signed: seed.is_multiple_of(2), symmetry, ..CodeSetting::ACTIVATIONS };
        let weights =
            CodeSetting { bits: if seed.is_multiple_of(5) { 5 } else { 8 }, ..CodeSetting::WEIGHTS };
        let setting =
            LayerSetting { activations, weights, per_channel: !seed.is_multiple_of(4), float: false };
        Config { setting, ..Config::default() }
    };
    (0..CASES)
        .map(|seed| {
            let graph = network(&every(seed), seed);
            (format!("random{seed}"), graph, samples(6, seed), config(seed))
        })
        .collect()
}

const CASES: u64 = 150;

/// Returns the codes of the only output with real values.
fn codes_of(graph: &Graph, sample: &[Vec<f32>]) -> Vec<i32> {
    let input = graph.tensor(graph.inputs()[0]);
    let q = input.ty.quantization.as_ref().unwrap();
    let code = |value: &f32| {
        let steps = (value / q.scale(0)).round_ties_even() as i128 + i128::from(q.zero_point(0));
        input.ty.code_range().clamp(steps)
    };
    let codes: Vec<i32> = sample[0].iter().map(code).collect();
    graph.interpret(&[&codes]).unwrap().swap_remove(graph.outputs()[0].index())
}

/// Returns the differences between ONNX Runtime's results for a folder of networks and the expected ones.
fn different(folder: &Path, inputs: Map<String, Value>, expected: &[(String, Vec<f32>)]) -> Vec<String> {
    std::fs::write(folder.join("inputs.json"), Value::Object(inputs).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oracles/run_onnx.py");
    let python = std::env::var("GUARDBIT_ONNX_PYTHON").unwrap();
    assert!(Command::new(python).arg(script).arg(folder).status().unwrap().success());
    let text = std::fs::read_to_string(folder.join("outputs.json")).unwrap();
    let made: Value = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for (name, own) in expected {
        let theirs: Option<Vec<f32>> = made[name][0]["data"].as_array().map(|data| {
            data.iter().map(|value| f32::from_bits(value.as_u64().unwrap_or(0) as u32)).collect()
        });
        if theirs.as_ref() != Some(own) {
            wrong.push(format!("{name}: {own:?} here, {} there", made[name]));
        }
    }
    wrong
}

/// Dynamically quantized networks whose float operations are exact in float32 have bit-equal results in ONNX
/// Runtime and, when read again, here. Their integer products are layers.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn dynamic_networks_are_equal_in_onnx_runtime() {
    const LAYERS: [Layer; 11] = [
        Layer::Conv { kernel: 3, channels: 6, bias: true },
        Layer::Conv { kernel: 1, channels: 4, bias: false },
        Layer::Depthwise,
        Layer::Grouped,
        Layer::BatchNorm,
        Layer::Function(0),
        Layer::Function(2),
        Layer::Residual(0),
        Layer::MaxPool,
        Layer::Along { bias: true },
        Layer::Transposed,
    ];
    let target = tempfile::tempdir().unwrap();
    let (mut inputs, mut expected) = (Map::new(), Vec::new());
    for seed in 0..40 {
        let mut numbers = networks::Numbers::new(seed);
        let mut layer =
            || LAYERS[((numbers.next() + 1.0) * 0.5 * LAYERS.len() as f32) as usize % LAYERS.len()];
        let float = network(&(0..2 + seed % 4).map(|_| layer()).collect::<Vec<_>>(), seed);
        let weights = CodeSetting { signed: seed % 3 > 0, ..CodeSetting::WEIGHTS };
        let setting = LayerSetting { weights, per_channel: seed % 2 == 0, ..LayerSetting::default() };
        let coded = code_weights(&float, &Config { setting, ..Config::default() }).unwrap();
        let count = coded.nodes().iter().filter(|node| node.op.name() == "dequantize").count();
        let bytes = write_dynamic_onnx(&coded).unwrap();
        let again = read_onnx(&bytes, "net").unwrap_or_else(|error| panic!("{seed}: {error}"));
        let layers = again.nodes().iter().filter(|node| node.op.kind().mac.is_some()).count();
        assert!(count > 0 && layers == count, "{seed}: {layers} layers of {count}");
        for (index, sample) in samples(3, seed).iter().enumerate() {
            let name = format!("dynamic{seed}-{index}");
            let words: Vec<i32> = sample[0].iter().map(|value| value.to_bits() as i32).collect();
            let made = again.interpret(&[&words]).unwrap().swap_remove(again.outputs()[0].index());
            expected.push((name.clone(), made.iter().map(|&word| f32::from_bits(word as u32)).collect()));
            std::fs::write(target.path().join(format!("{name}.onnx")), &bytes).unwrap();
            let bits: Vec<u32> = sample[0].iter().map(|value| value.to_bits()).collect();
            inputs.insert(name, json!([{"shape": networks::INPUT, "data": bits}]));
        }
    }
    let wrong = different(target.path(), inputs, &expected);
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:#?}", wrong.len(), expected.len());
}

/// A dynamically quantized network is written, needs no accelerator, and is about as accurate as the float
/// network. Its layers have accumulators, and unsupported settings are errors.
#[test]
fn dynamic_quantization_is_a_file_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("dynamic.onnx");
    let wanted = QuantizeRequest { dynamic: true, report: Some(folder.path().join("report")), ..request() };
    let record = run(&wanted, &out, Existing::Refuse).unwrap();
    let (float, codes) = (record.accuracy_float.unwrap().value(), record.accuracy.unwrap().value());
    assert!((float - codes).abs() <= 0.005, "{float} in float, {codes} dynamically quantized");
    assert_eq!((record.method.as_str(), record.layers.len()), ("dynamic", 4));
    assert!(record.layers.iter().all(|layer| layer.events == Some(0)));
    let network = guardbit_frontends::load(&out).unwrap();
    assert_eq!(network.tensor(network.outputs()[0]).name, "logits");
    let signed = CodeSetting { signed: true, ..CodeSetting::ACTIVATIONS };
    let setting = LayerSetting { activations: signed, ..LayerSetting::default() };
    for wrong in [
        QuantizeRequest { mixed: Some("bits=16".parse().unwrap()), ..wanted.clone() },
        QuantizeRequest { config: Config { setting, ..Config::default() }, ..wanted.clone() },
    ] {
        let error = run(&wrong, &out, Existing::Replace).unwrap_err();
        assert_eq!(error.code(), "guardbit::quantize::setting", "{error}");
    }
}

/// Outputs keep the names of the float file, and an open number of samples stays open.
#[test]
fn names_and_open_sizes_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("digits_open.onnx");
    let open = [(BATCH.to_owned(), "samples".to_owned())].into();
    let float = guardbit_frontends::load(&request().model).unwrap();
    std::fs::write(&model, write_onnx(&float.clone().with_metadata(open)).unwrap()).unwrap();
    for (model, batch) in [(request().model, None), (model, Some("samples"))] {
        for dynamic in [false, true] {
            let out = folder.path().join("out.onnx");
            let wanted = QuantizeRequest { model: model.clone(), dynamic, ..request() };
            run(&wanted, &out, Existing::Replace).unwrap();
            let codes = guardbit_frontends::load(&out).unwrap();
            let names = |graph: &Graph| -> Vec<String> {
                let ids = graph.inputs().iter().chain(graph.outputs());
                ids.map(|&id| graph.tensor(id).name.clone()).collect()
            };
            assert_eq!(names(&codes), names(&float));
            assert_eq!(codes.metadata().get(BATCH).map(String::as_str), batch);
        }
    }
}

/// A written network has equal codes in guardbit and in ONNX Runtime.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn quantized_networks_are_equal_in_onnx_runtime() {
    let target = tempfile::tempdir().unwrap();
    let (mut inputs, mut expected, mut refused) = (Map::new(), Vec::new(), Vec::new());
    for (name, float, samples, config) in cases() {
        let quantized = quantize(&float, &samples, &config, None).unwrap();
        let left: Vec<_> = quantized.units.iter().filter_map(|unit| unit.float.as_ref()).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
        let bytes = match write_onnx(&quantized.graph) {
            Ok(bytes) => bytes,
            Err(error) => {
                refused.push(format!("{name}: {error}"));
                continue;
            }
        };
        let network = read_onnx(&bytes, "net").unwrap_or_else(|error| panic!("{name}: {error}"));
        for (index, sample) in samples.iter().enumerate() {
            let name = format!("{name}-{index}");
            let own = codes_of(&network, sample);
            assert_eq!(own, codes_of(&quantized.graph, sample), "{name}: read again");
            std::fs::write(target.path().join(format!("{name}.onnx")), &bytes).unwrap();
            let bits: Vec<u32> = sample[0].iter().map(|value| value.to_bits()).collect();
            inputs.insert(name.clone(), json!([{"shape": networks::INPUT, "data": bits}]));
            let q = network.tensor(network.outputs()[0]).ty.quantization.clone().unwrap();
            let real = |&code: &i32| (code - q.zero_point(0)) as f32 * q.scale(0);
            expected.push((name, own.iter().map(real).collect::<Vec<f32>>()));
        }
    }
    let wrong = different(target.path(), inputs, &expected);
    println!("{} runs equal, {} networks refused", expected.len() - wrong.len(), refused.len());
    refused.iter().for_each(|line| println!("refused {line}"));
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:#?}", wrong.len(), expected.len());
    assert!(refused.is_empty(), "{refused:#?}");
}

/// With any budget of accumulator bits, the chosen network is at least as good as one width for all layers,
/// and it can be written.
#[test]
fn mixed_widths_are_no_worse_than_uniform_ones() {
    let folder = tempfile::tempdir().unwrap();
    let pick = Pick::First { first: 8 };
    let calibration = InputSource::File { path: digits("calibration.npy"), pick };
    let hw = Some("exact-int32-os".to_owned());
    let mixed = |bits: u32| QuantizeRequest {
        calibration: calibration.clone(),
        hw: hw.clone(),
        mixed: Some(format!("bits={bits}").parse().unwrap()),
        ..request()
    };
    let (float, out) = (guardbit_frontends::load(&request().model).unwrap(), folder.path().join("out.onnx"));
    let images: ndarray::ArrayD<f32> = ndarray_npy::read_npy(digits("calibration.npy")).unwrap();
    let images: Vec<Vec<Vec<f32>>> =
        images.outer_iter().take(8).map(|image| vec![image.iter().copied().collect()]).collect();
    let wide = load("exact-int32-os", &[]).unwrap();
    let judge = Judge::new(&float, &images, 8, Some(&wide)).unwrap();
    let record = run(&mixed(24), &out, Existing::Refuse).unwrap();
    for bits in [8, 7, 6, 5, 4] {
        let mut config = Config::default();
        (config.setting.weights.bits, config.setting.activations.bits) = (bits, bits);
        let uniform = quantize(&float, &images, &config, None).unwrap().graph;
        let sqnr = judge.score(&uniform).unwrap().sqnr_db();
        let program = lower(Arc::new(uniform), &wide).unwrap();
        let needed = program
            .mac_layers()
            .filter_map(|layer| LayerBounds::new(&program.graph, layer).weight_bits(0))
            .max();
        let within = record.tradeoffs.iter().filter(|row| Some(row.accumulator_bits) <= needed);
        let best = within.map(|row| row.sqnr_db.value()).fold(f64::NEG_INFINITY, f64::max);
        assert!(
            best >= sqnr - 0.01,
            "{bits} bits: {best} dB, {sqnr} dB uniform, accumulators of {needed:?} bits"
        );
    }
}

/// Widths of single layers meet their budget and are those of the written network. A budget that cannot be
/// met is an error that states the nearest value.
#[test]
fn mixed_widths_keep_their_budget() {
    let folder = tempfile::tempdir().unwrap();
    let of = |mixed: &str| QuantizeRequest {
        calibration: InputSource::File { path: digits("calibration.npy"), pick: Pick::First { first: 8 } },
        hw: Some("exact-int32-os".into()),
        mixed: Some(mixed.parse().unwrap()),
        ..request()
    };
    let out = folder.path().join("mixed.onnx");
    let record = run(&of("bytes=3000"), &out, Existing::Refuse).unwrap();
    let chosen: Vec<_> = record.tradeoffs.iter().filter(|row| row.chosen).collect();
    assert_eq!(chosen.len(), 1);
    assert!(chosen[0].bytes <= 3000 && record.tradeoffs[0].bytes > 3000, "{:?}", chosen[0]);
    let within = record.tradeoffs.iter().filter(|row| row.bytes <= 3000);
    assert!(within.clone().all(|row| row.sqnr_db.value() <= chosen[0].sqnr_db.value()));
    let bits: Vec<u32> = record.parts.iter().filter_map(|part| part.weight_bits).collect();
    assert!(bits.iter().any(|&bits| bits < 8), "{bits:?}");
    let error = run(&of("bytes=10"), &out, Existing::Replace).unwrap_err();
    assert_eq!(error.code(), "guardbit::quantize::budget");
    assert!(error.to_string().contains(" bytes"), "{error}");
}

/// Progress of a search, which ends at a step that contains `end`.
#[derive(Default)]
struct Told {
    steps: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
    end: &'static str,
    cancelled: Arc<AtomicBool>,
}

impl guardbit_study::Progress for Told {
    fn start(&self, _what: &str, _total: u64) {}

    fn advance(&self, _samples: u64) {}

    fn step(&self, what: &str) {
        self.steps.lock().unwrap().push(what.to_owned());
        if !self.end.is_empty() && what.starts_with(self.end) {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn note(&self, text: &str) {
        self.notes.lock().unwrap().push(text.to_owned());
    }
}

/// An interrupted search reuses its finished layers and ends with the result of an uninterrupted one; so does
/// one with damaged files.
#[test]
fn a_search_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let search = |method: &str, cache: Option<&Path>, end: &'static str| {
        let config = QuantizeChoices { method: method.into(), ..QuantizeChoices::default() };
        let told = Told { end, ..Told::default() };
        let config = Config { cancelled: told.cancelled.clone(), ..config.config().unwrap() };
        let calibration =
            InputSource::File { path: digits("calibration.npy"), pick: Pick::First { first: 6 } };
        let (hw, cache) = (Some("fpga-int14-os".into()), cache.map(PathBuf::from));
        let request = QuantizeRequest { calibration, hw, cache, config, ..request() };
        let out = folder.path().join("out.onnx");
        let ended = guardbit_study::quantize(&request, &out, Existing::Replace, &told);
        let steps = told.steps.into_inner().unwrap();
        let tried = |layer: &str| {
            steps.iter().filter(|step| step.contains(layer) && step.contains("candidate")).count()
        };
        let layers: Vec<bool> =
            ["part 1 of", "part 2 of", "part 3 of"].map(|layer| tried(layer) > 0).to_vec();
        (ended.map(|_| std::fs::read(&out).unwrap()), layers, told.notes.into_inner().unwrap())
    };
    for method in ["guaranteed", "overflow-aware"] {
        let (whole, layers, _) = search(method, None, "");
        assert_eq!(layers, [true; 3], "{method}");
        let (stopped, ..) = search(method, Some(&cache), "part 3 of");
        assert_eq!(stopped.unwrap_err().code(), "guardbit::interrupted");
        let (resumed, layers, notes) = search(method, Some(&cache), "");
        assert_eq!(resumed.unwrap(), *whole.as_ref().unwrap(), "{method}");
        // `overflow-aware` evaluates networks of other settings after the first one.
        let second = method == "overflow-aware";
        assert_eq!(layers, [false, second, true], "{method}");
        assert!(notes.iter().any(|note| note.contains("finished parts of the search")), "{notes:?}");
    }
    let files = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    for file in files(&files(&cache)[0]).iter().flat_map(|folder| files(folder)) {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("\"codes\": [", "\"codes\": [1,", 1)).unwrap();
    }
    let (again, layers, notes) = search("guaranteed", Some(&cache), "");
    assert_eq!((again.unwrap(), layers), (search("guaranteed", None, "").0.unwrap(), vec![true; 3]));
    assert!(notes.iter().any(|note| note.ends_with("is damaged and ignored; remove it")), "{notes:?}");
}

/// Networks of mixed widths are evaluated only once.
#[test]
fn networks_of_mixed_widths_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let search = |cache: Option<PathBuf>| {
        let told = Told::default();
        let request = QuantizeRequest {
            calibration: InputSource::File {
                path: digits("calibration.npy"),
                pick: Pick::First { first: 4 },
            },
            hw: Some("exact-int32-os".into()),
            mixed: Some("bytes=3000".parse().unwrap()),
            cache,
            ..request()
        };
        let out = folder.path().join("out.onnx");
        guardbit_study::quantize(&request, &out, Existing::Replace, &told).unwrap();
        assert!(told.steps.into_inner().unwrap().iter().any(|step| step == "mixed widths: network 2"));
        (std::fs::read(&out).unwrap(), told.notes.into_inner().unwrap())
    };
    let cache = Some(folder.path().join("cache"));
    let (first, notes) = search(cache.clone());
    assert!(notes.is_empty(), "{notes:?}");
    let (second, notes) = search(cache);
    assert_eq!(second, first);
    assert!(notes[0].ends_with(" finished parts of the search are from the cache"), "{notes:?}");
}
