//! Behaviour that users rely on apart from figures: reproducible bytes, resume, folders, output for machines.

use std::fs;
use std::path::Path;

use crate::common;
use crate::common::{assert_same, contents, csv_rows, digits, guardbit, succeed};

fn run(out: &Path, more: &[&str]) -> String {
    let model = digits("digits_int8.tflite");
    let out = out.to_string_lossy();
    let mut args = vec!["run", &model, "--hw", "fpga-int14-ws", "--random", "6", "--seed", "3", "-o", &out];
    args.extend(more);
    succeed(&args)
}

fn sweep(out: &Path, more: &[&str]) -> String {
    let model = digits("digits_int8.tflite");
    let out = out.to_string_lossy();
    let mut args = vec!["sweep", &model, "--hw", "fpga-int14-os", "--random", "6", "--bits", "12..=15"];
    args.extend(["-o", &out]);
    args.extend(more);
    succeed(&args)
}

#[test]
fn results_are_the_same_bytes_for_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    run(&one, &["--threads", "1", "--dump-tensors"]);
    run(&two, &["--threads", "2", "--dump-tensors"]);
    assert_same(&one, &two);
}

/// Events per sample equal those of the layers, for each register.
#[test]
fn events_of_samples_sum_up() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run(&out, &["--set", "product.bits=12", "--set", "bias.bits=14"]);
    let [layers, samples] = ["layers.csv", "samples.csv"].map(|name| csv_rows(&out.join(name)));
    let file = fs::File::open(out.join("sample_events.npz")).unwrap();
    let mut archive = ndarray_npy::NpzReader::new(file).unwrap();
    for (kind, column) in ["events", "product_events", "bias_events"].into_iter().enumerate() {
        // Counts of a layer as a whole are in the row of its last level.
        let number = |row: &common::Row| row[column].parse::<i64>().unwrap_or(0);
        let expected: i64 = layers.iter().map(number).sum();
        assert!(expected > 0, "{column}");
        assert_eq!(samples.iter().map(number).sum::<i64>(), expected, "{column}");
        let mut by_sample = vec![0; samples.len()];
        for name in archive.names().unwrap() {
            let counts: ndarray::Array2<i64> = archive.by_name(&name).unwrap();
            let of_layer = layers.iter().filter(|row| row["layer"] == name);
            assert_eq!(counts.column(kind).sum(), of_layer.map(number).sum::<i64>(), "{name} {column}");
            by_sample.iter_mut().zip(counts.column(kind)).for_each(|(sum, count)| *sum += count);
        }
        assert_eq!(by_sample, samples.iter().map(number).collect::<Vec<_>>(), "{column}");
    }
    let listed = csv_rows(&out.join("events.csv"));
    for level in ["product", "bias"] {
        assert!(listed.iter().any(|row| row["level"] == level), "{level}");
    }
}

#[test]
fn run_writes_what_run_json_lists() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run(&out, &["--dump-tensors"]);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(out.join("run.json")).unwrap()).unwrap();
    let mut listed: Vec<String> =
        json["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap().to_string()).collect();
    listed.push("run.json".into());
    listed.sort();
    assert_eq!(listed, contents(&out).into_keys().collect::<Vec<_>>());
    assert_eq!(json["schema"], 3);
    assert_eq!(json["hw"]["resolved"]["name"], "fpga-int14-ws");
    assert_eq!(json["model"]["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn an_interrupted_sweep_ends_like_an_uninterrupted_one() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    let table = sweep(&whole, &[]);
    sweep(&broken, &[]);
    // State after a sweep was killed after its second point.
    for name in ["summary.csv", "sweep.csv", "report.html", "points/00002.json", "points/00003.json"] {
        fs::remove_file(broken.join(name)).unwrap();
    }
    fs::remove_dir_all(broken.join("plots")).unwrap();
    assert_eq!(sweep(&broken, &[]), table);
    assert_same(&whole, &broken);
}

#[test]
fn another_sweep_does_not_take_over_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    sweep(&out, &[]);
    let model = digits("digits_int8.tflite");
    let out_text = out.to_string_lossy();
    let other = ["sweep", &model, "--hw", "fpga-int14-os", "--random", "7", "--bits", "12", "-o", &out_text];
    assert_eq!(guardbit(&other).status.code(), Some(2));
    let forced: Vec<&str> = other.iter().copied().chain(["--force"]).collect();
    succeed(&forced);
    let files = contents(&out);
    assert!(!files.contains_key("points/00001.json"), "what it wrote before is gone");
}

#[test]
fn the_digits_network_is_right_where_the_accumulator_is_wide() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let (model, images, labels) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    let out_text = out.to_string_lossy();
    let args = [
        "run",
        &model,
        "--hw",
        "exact-int32-os",
        "--input",
        &images,
        "--labels",
        &labels,
        "--json",
        "-o",
        &out_text,
    ];
    let summary: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    let outcome = &summary["outcome"];
    assert!(outcome["samples"].as_u64().unwrap() >= 500);
    assert!(outcome["accuracy_exact"].as_f64().unwrap() >= 0.95);
    assert_eq!(outcome["accuracy"], outcome["accuracy_exact"]);
    assert_eq!(outcome["output_mismatch"], 0);
    assert!(outcome["output_sqnr_db"].is_null(), "JSON has no infinite numbers");
    for row in csv_rows(&out.join("layers.csv")) {
        assert_eq!((row["events"].as_str(), row["wrong"].as_str()), ("0", "0"), "{}", row["layer"]);
    }
}

/// Statistics levels omit the columns of design that they do not count.
#[test]
fn less_is_counted_where_less_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let rows = |stats: &str| {
        let out = dir.path().join(stats);
        run(&out, &["--stats", stats]);
        csv_rows(&out.join("layers.csv"))
    };
    let (full, events, values, none) = (rows("full"), rows("events"), rows("values"), rows("none"));
    for (((full, events), values), none) in full.iter().zip(&events).zip(&values).zip(&none) {
        for (column, value) in full {
            let of_full = ["transient", "min_prefix", "max_prefix", "required_final", "required_prefix"];
            let blank = of_full.contains(&column.as_str()) || column.starts_with("exact_required_");
            assert_eq!(&events[column], if blank { "" } else { value }, "events: {column}");
            let of_events = ["events", "events_high", "events_low", "outputs_touched", "first_event_cycle"];
            let blank = of_events.contains(&column.as_str());
            assert_eq!(&values[column], if blank { "" } else { value }, "values: {column}");
            let identity =
                ["index", "layer", "op", "level", "bits", "overflow", "name"].contains(&column.as_str());
            let costs = [
                "compute_cycles",
                "stall_cycles",
                "utilization",
                "sram_bytes",
                "dram_bytes",
                "time_us",
                "stall_sram_cycles",
                "stall_dram_cycles",
            ];
            let always = ["dots", "terms", "output_mismatch", "sqnr_db", "cycles"];
            let always = always.iter().chain(&costs).any(|name| name == column);
            assert_eq!(&none[column], if identity || always { value } else { "" }, "none: {column}");
        }
    }
}

#[test]
fn a_layer_can_have_its_own_width() {
    let dir = tempfile::tempdir().unwrap();
    let hw = dir.path().join("hw.yaml");
    let text =
        "schema: 1\nextends: fpga-int14-os\nname: mixed\nlayers:\n  \"5\": {accumulation.acc.bits: 20}\n";
    fs::write(&hw, text).unwrap();
    let out = dir.path().join("out");
    let (model, hw, out_text) = (digits("digits_int8.tflite"), hw.to_string_lossy(), out.to_string_lossy());
    succeed(&["run", &model, "--hw", &hw, "--random", "2", "-o", &out_text]);
    let bits: Vec<String> = csv_rows(&out.join("layers.csv")).iter().map(|row| row["bits"].clone()).collect();
    assert_eq!(bits, ["14", "14", "14", "20"]);
}

#[test]
fn accelerators_are_shown_as_files_that_load() {
    let dir = tempfile::tempdir().unwrap();
    let shown = succeed(&["hw", "show", "fpga-int14-ws", "--set", "accumulation.chain.bits=12"]);
    let path = dir.path().join("shown.yaml");
    fs::write(&path, &shown).unwrap();
    let path = path.to_string_lossy();
    assert_eq!(succeed(&["hw", "show", &path]), shown);
    assert!(succeed(&["hw", "check", &path]).starts_with("fpga-int14-ws: "));
    let schema: serde_json::Value = serde_json::from_str(&succeed(&["hw", "schema"])).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn inspect_says_where_operations_run() {
    let model = digits("digits_int8.tflite");
    let ops: serde_json::Value =
        serde_json::from_str(&succeed(&["inspect", &model, "--hw", "fpga-int14-os", "--json"])).unwrap();
    assert_eq!([&ops["network"], &ops["hw"]], ["digits_int8", "fpga-int14-os"]);
    let places: Vec<&str> =
        ops["operations"].as_array().unwrap().iter().map(|op| op["runs_on"].as_str().unwrap()).collect();
    let host = "host: its operation is not in `offload`";
    assert_eq!(places, ["accelerator", "accelerator", "accelerator", host, host, "accelerator"]);
}

/// `inspect --json` and `--nodes` list everything that determines codes, and `--audit` lists what each step
/// did.
#[test]
fn inspect_shows_nodes_and_decisions() {
    let model = digits("digits_int8.tflite");
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeed(&[&["inspect", &model, "--json"][..], args].concat())).unwrap()
    };
    let node = &json(&[])["operations"][0]["node"];
    let roles: Vec<_> = node["operands"].as_array().unwrap().iter().map(|o| o["role"].clone()).collect();
    assert_eq!(roles, ["input", "weights", "bias"]);
    assert_eq!((&node["accumulator"], &node["bias"]), (&"int32".into(), &"accumulator".into()));
    assert_eq!(node["requantize"]["scheme"], "double");
    assert_eq!(node["requantize"]["multipliers"].as_array().unwrap().len(), 16);
    assert_eq!(node["operands"][1]["scales"].as_array().unwrap().len(), 16);
    assert!(
        succeed(&["inspect", &model, "--nodes"])
            .contains("\n    requantize  double, multiplier in float64: ")
    );

    let audit = json(&["--audit", "--hw", "fpga-int14-os", "--set", "requantize.scheme=single"]);
    let of = |step: &str, outcome: &str| {
        let all = audit["decisions"].as_array().unwrap().iter();
        all.filter(|line| line["step"] == step && line["outcome"] == outcome).count()
    };
    assert_eq!([of("partition", "kept"), of("partition", "host"), of("lowering", "changed")], [4, 2, 4]);
    let passed = json(&["--audit", "--pass", "merge_layouts"]);
    let dropped = |line: &&serde_json::Value| line["outcome"] == "dropped" && line["name"] == "flatten_1";
    assert_eq!(passed["decisions"].as_array().unwrap().iter().filter(dropped).count(), 1);
}

/// `inspect --pass` prints the network before and after.
#[test]
fn inspect_shows_passes() {
    let model = digits("digits_int8.tflite");
    let inspect = |args: &[&str]| succeed(&[&["inspect", &model][..], args].concat());
    let plain = inspect(&[]);
    let passed = inspect(&["--pass", "merge_layouts", "--pass", "dead_nodes"]);
    let after = passed.strip_prefix(&plain).unwrap();
    assert!(
        after.starts_with(
            "\nafter merge_layouts, dead_nodes, with 5 operations instead of 6:\n\ndigits_int8\n"
        ),
        "{after}"
    );
    assert!(plain.contains(" reshape ") && !after.contains(" reshape "), "{after}");
    assert_eq!(inspect(&["--pass", "fold_pads"]), format!("{plain}\nfold_pads: nothing to do\n"));
    let json: serde_json::Value =
        serde_json::from_str(&inspect(&["--pass", "merge_layouts", "--hw", "fpga-int14-os", "--json"]))
            .unwrap();
    let count = |key: &str| json[key]["operations"].as_array().unwrap().len();
    assert_eq!([count("before"), count("after")], [6, 5]);
    assert_eq!(json["after"]["operations"][4]["runs_on"], "accelerator");
    let unknown = guardbit(&["inspect", &model, "--pass", "none"]);
    assert_eq!(unknown.status.code(), Some(2));
    let listed = String::from_utf8_lossy(&unknown.stderr).into_owned();
    for pass in guardbit_graph::passes::PASSES {
        assert!(listed.contains(pass.name()), "{listed}");
    }
}

#[test]
fn an_accelerator_is_checked_for_a_network() {
    let model = digits("digits_int8.tflite");
    let codes = |args: &[&str]| -> Vec<String> {
        let printed: serde_json::Value = serde_json::from_str(&succeed(args)).unwrap();
        let warnings = printed["warnings"].as_array().unwrap();
        warnings.iter().map(|w| w["code"].as_str().unwrap().to_string()).collect()
    };
    let alone = codes(&["hw", "check", "exact-int32-os", "--json"]);
    assert!(alone.is_empty(), "{alone:?}");
    // The host runs all layers: the network is in float, or the accelerator runs nothing.
    let float = digits("digits_float.onnx");
    let none = "guardbit::hw::no_layer_accelerated";
    assert_eq!(codes(&["hw", "check", "exact-int32-os", "--model", &float, "--json"]), [none]);
    let others =
        ["hw", "check", "exact-int32-os", "--model", &model, "--json", "--set", "offload=[batch_matmul]"];
    assert_eq!(codes(&others), [none]);
    let text = succeed(&["hw", "check", "exact-int32-os", "--model", &float]);
    assert!(text.contains("\nThe accelerator runs 0 % of the ") && !text.contains("tiles"), "{text}");
    // A depthwise layer uses one column of sixteen.
    let with_model = codes(&["hw", "check", "exact-int32-os", "--model", &model, "--json"]);
    assert_eq!(with_model, ["guardbit::hw::array_larger_than_layer"]);
}

/// The tile is equal in all outputs, and depends on the memories.
#[test]
fn tiles_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let (hw, set) = ("fpga-int14-ws", "memory.accumulator_kib=1");
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&succeed(args)).unwrap() };
    let out = dir.path().join("run");
    let out = out.to_string_lossy();
    let run = json(&["run", &model, "--hw", hw, "--set", set, "--random", "1", "-o", &out, "--json"]);
    let file: serde_json::Value =
        serde_json::from_slice(&fs::read(Path::new(&*out).join("run.json")).unwrap()).unwrap();
    let check = json(&["hw", "check", hw, "--set", set, "--model", &model, "--json"]);
    let inspect = json(&["inspect", &model, "--hw", hw, "--set", set, "--json"]);
    let tiles = run["timing"]["tiles"].as_array().unwrap();
    assert_eq!(tiles.len(), 4);
    assert_eq!((&file["timing"], &check["tiles"]), (&run["timing"], &run["timing"]["tiles"]));
    for tile in tiles {
        let index = tile["index"].as_u64().unwrap() as usize;
        assert_eq!(&inspect["operations"][index]["tile"], tile);
        assert_eq!(tile["fits"], true);
        // Half of 1 KiB.
        assert!(tile["sum_bytes"].as_u64().unwrap() <= 512);
    }
    // 64 pixels of 16 channels do not fit, so they are cut.
    assert!(tiles[0]["pixels"].as_u64().unwrap() < 64);
    let text = succeed(&["hw", "check", hw, "--model", &model]);
    assert!(text.contains("In every layer: order channels outer"), "{text}");
}

/// A seed draws samples of real input together with their labels.
#[test]
fn samples_are_picked() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images, labels) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    let outputs = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let out_text = out.to_string_lossy();
        let mut args = vec!["run", &model, "--hw", "exact-int32-os", "--input", &images, "--labels", &labels];
        args.extend(["--json", "-o", &out_text]);
        args.extend(more);
        let json: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
        let arrays = common::int8_arrays(&out.join("outputs.npz"));
        let (_, codes) = arrays.into_iter().find(|(name, _)| name.starts_with("exact/")).unwrap();
        (json["outcome"].clone(), codes)
    };
    let (_, all) = outputs("all", &[]);
    let (outcome, first) = outputs("first", &["--samples", "40"]);
    assert_eq!(outcome["samples"], 40);
    assert_eq!(first, all.slice_axis(ndarray::Axis(0), (0..40).into()));
    let (outcome, drawn) = outputs("drawn", &["--samples", "40", "--seed", "5"]);
    let indices = guardbit_frontends::random_subset(5, 40, 540);
    assert_eq!(drawn, all.select(ndarray::Axis(0), &indices));
    // Labels of other samples would be right in one of ten cases.
    assert!(outcome["accuracy_exact"].as_f64().unwrap() > 0.9);
    let json = fs::read_to_string(dir.path().join("drawn/run.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["input"]["pick"], serde_json::json!({ "count": 40, "seed": 5 }));
}

/// A number of samples without a file of samples does not mean random ones.
#[test]
fn samples_go_with_an_input() {
    let (dir, model) = (tempfile::tempdir().unwrap(), digits("digits_int8.tflite"));
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let args = ["run", &model, "--hw", "exact-int32-os", "--random", "3", "--samples", "2", "-o", &out];
    let output = guardbit(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--samples needs --input"));
}

/// With real input, a seed draws the dot products of a bundle.
#[test]
fn vectors_take_a_seed_with_real_input() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images) = (digits("digits_int8.tflite"), digits("test_images.npy"));
    let stimuli = |seed: &str| {
        let out = dir.path().join(seed);
        let out_text = out.to_string_lossy();
        let args = ["vectors", &model, "--hw", "fpga-int14-os", "--layer", "5", "--input", &images];
        succeed(
            &[&args[..], &["--samples", "30", "--seed", seed, "--cases", "60", "-o", &out_text]].concat(),
        );
        contents(&out)
    };
    assert_ne!(stimuli("1"), stimuli("2"));
    let out = dir.path().join("alone").to_string_lossy().into_owned();
    let args =
        ["vectors", &model, "--hw", "fpga-int14-os", "--layer", "5", "--input", &images, "--seed", "3"];
    succeed(&[&args[..], &["-o", &out]].concat());
}

/// `--quiet` leaves stderr empty; stdout keeps the requested output.
#[test]
fn quiet_is_quiet() {
    let model = digits("digits_int8.tflite");
    for args in [
        &["inspect", &model, "--hw", "exact-int32-os"][..],
        &["hw", "check", "exact-int32-os", "--model", &model],
        &["hw", "check", "exact-int32-os", "--set", "product.bits=40", "--set", "accumulation.acc.bits=12"],
    ] {
        let loud = guardbit(args);
        assert!(!loud.stderr.is_empty(), "{args:?} has something to say");
        let quiet = guardbit(&[args, &["--quiet"]].concat());
        assert_eq!(String::from_utf8_lossy(&quiet.stderr), "", "{args:?}");
        assert_eq!(quiet.stdout, loud.stdout);
    }
}

/// An output as long as an input reconstructs it: it has no classes.
#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn an_autoencoder_has_no_top_1() {
    let Some(model) = common::shared_model("anomaly_autoencoder_int8.tflite") else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let args =
        ["run", &model, "--hw", "fpga-int14-os", "--random", "2", "-o", &out, "--stats", "none", "--json"];
    let json: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    assert!(json["outcome"]["top1_agreement"].is_null());
    assert!(json["outcome"]["output_mismatch"].is_u64());
}

/// The report of a run contains every key of the accelerator.
#[test]
fn a_report_names_the_whole_accelerator() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run(&out, &["--set", "accumulation.chain.bits=13", "--set", "clock_mhz=321"]);
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(out.join("run.json")).unwrap()).unwrap();
    for key in json["hw"]["resolved"].as_object().unwrap().keys() {
        assert!(report.contains(&format!("\n{key}:")), "{key}");
    }
    assert!(report.contains("clock_mhz: 321") && report.contains("bits: 13"));
    assert!(report.contains(json["hw"]["resolved"]["description"].as_str().unwrap()));
}

/// Short names are accepted wherever a layer is named, and are equivalent to index and full name.
#[test]
fn layers_go_by_index_short_name_and_full_name() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let full = "digits_1/depthwise_1/Relu;digits_1/depthwise_1/BiasAdd;digits_1/depthwise_1/depthwise;\
                digits_1/depthwise_1/Squeeze1";
    let summaries: Vec<String> = ["1", "depthwise_1", full]
        .iter()
        .enumerate()
        .map(|(i, layer)| {
            let out = dir.path().join(i.to_string()).to_string_lossy().into_owned();
            let set = format!("layers.{layer}.accumulation.acc.bits=9");
            let table = succeed(&[
                "run",
                &model,
                "--hw",
                "fpga-int14-os",
                "--random",
                "2",
                "--set",
                &set,
                "-o",
                &out,
            ]);
            let bundle = format!("{out}.bundle");
            let vectors = succeed(&[
                "vectors",
                &model,
                "--hw",
                "fpga-int14-os",
                "--layer",
                layer,
                "--cases",
                "4",
                "-o",
                &bundle,
            ]);
            table + &vectors
        })
        .collect();
    assert_eq!(summaries[0], summaries[1]);
    assert_eq!(summaries[0], summaries[2]);
    let rows = csv_rows(&dir.path().join("1/layers.csv"));
    let row = rows.iter().find(|row| row["bits"] == "9").unwrap();
    assert_eq!(
        (row["layer"].as_str(), row["name"].as_str(), row["index"].as_str()),
        (full, "depthwise_1", "1")
    );
}

/// The short name is the last column of every table that names layers.
#[test]
fn tables_that_name_layers_have_their_short_names_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let (run, size, sweep) = (dir.path().join("run"), dir.path().join("size"), dir.path().join("sweep"));
    let common = ["--hw", "fpga-int14-os", "--random", "2", "-o"];
    let call = |command: &str, more: &[&str], out: &Path| {
        succeed(&[&[command, &model], more, &common, &[&out.to_string_lossy()]].concat());
    };
    call("run", &[], &run);
    call("size", &[], &size);
    call("sweep", &["--bits", "13..=14"], &sweep);
    let mut tables = 0;
    for folder in [&run, &size, &sweep] {
        for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_none_or(|e| e != "csv") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let header: Vec<_> = text.lines().next().unwrap().split(',').collect();
            if header.contains(&"layer") {
                assert_eq!(header.last(), Some(&"name"), "{}", file.display());
                tables += 1;
            }
        }
    }
    assert_eq!(tables, 10);
}

/// `inspect --export` writes an equal network, and replaces nothing.
#[test]
fn exported_networks_read_again_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.onnx");
    let out = out.to_string_lossy();
    let model = format!(
        "{}/../frontends/tests/onnx/golden/residual_qdq_channel_u8s8_3.onnx",
        env!("CARGO_MANIFEST_DIR")
    );
    succeed(&["inspect", &model, "--export", &out]);
    let shapes = |model: &str| -> Vec<serde_json::Value> {
        let json: serde_json::Value = serde_json::from_str(&succeed(&["inspect", model, "--json"])).unwrap();
        let nodes = json["operations"].as_array().unwrap();
        nodes.iter().map(|node| serde_json::json!([node["op"], node["shape"], node["scale"]])).collect()
    };
    assert_eq!(shapes(&out), shapes(&model));
    let before = fs::read(&*out).unwrap();
    let again = guardbit(&["inspect", &model, "--export", &out]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("guardbit::file"));
    assert_eq!(fs::read(&*out).unwrap(), before);
    let tflite = guardbit(&["inspect", &digits("digits_int8.tflite"), "--export", &format!("{out}.onnx")]);
    assert!(String::from_utf8_lossy(&tflite.stderr).contains("guardbit::onnx::export::node"));
    assert_eq!(contents(dir.path()).len(), 1);
}

/// A preset's description does not apply after `--set`.
#[test]
fn reports_say_what_was_set() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let (model, shown) = (common::digits("digits_int8.tflite"), out.to_string_lossy());
    let set = ["--set", "accumulation.acc.bits=18"];
    let run = ["run", &model, "--hw", "fpga-int14-os", "--random", "1", "--quiet", "-o", &shown];
    common::succeed(&[&run[..], &set].concat());
    let report = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(
        report.contains("fpga-int14-os with accumulation.acc.bits=18; without that it is described as: ")
    );
    let (float, calibration) = (common::digits("digits_float.onnx"), common::digits("calibration.npy"));
    let (network, report) = (dir.path().join("q.onnx"), dir.path().join("report"));
    let (network, folder) = (network.to_string_lossy(), report.to_string_lossy());
    let args = ["quantize", &float, "--calibration", &calibration, "--samples", "1", "--quiet"];
    common::succeed(&[&args[..], &["--report", &folder, "-o", &network]].concat());
    let report = std::fs::read_to_string(report.join("report.html")).unwrap();
    assert!(report.contains("none was named"));
}

#[test]
fn help_lists_every_code_of_weights() {
    let help = common::succeed(&["quantize", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("Codes of weights: int2 to int8 or uint2 to uint8; or e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1, bfloat16, mxfp8, mxfp8-e5m2, mxfp4, nvfp4 for all weights and activations"), "{help}");
}
