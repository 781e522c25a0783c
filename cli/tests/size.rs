//! `guardbit size`: files, recommendation and witnesses, on small and real networks.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::{self, csv_rows, digits, guardbit, needed, shared_model, succeed};
use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{LayerBounds, Witness};
use guardbit_hwmodels::{load, lower};
use guardbit_sim::{ChannelLevel, Options, Simulation};
use ndarray::{Array1, Array2, Array4, Axis, Slice};
use ndarray_npy::{read_npy, write_npy};

const MODELS: [&str; 4] = [
    "resnet8_cifar10_int8.tflite",
    "kws_dscnn_int8.tflite",
    "anomaly_autoencoder_int8.tflite",
    "vww_mobilenet_v1_025_int8.tflite",
];

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn column(path: &Path, name: &str) -> Vec<String> {
    csv_rows(path).into_iter().map(|row| row[name].clone()).collect()
}

/// Published with the models: worst-case widths of the dot products, for any input, without the bias.
#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn worst_case_widths_of_real_networks() {
    let check = |model: &str, expected: &[&str]| {
        let Some(path) = shared_model(model) else { return };
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        succeed(&["size", &path, "--hw", "fpga-int14-os", "--random", "1", "-o", &text(&out)]);
        let bits = column(&out.join("size.csv"), "bits_weights");
        match expected {
            [least, most] => {
                let ends = (bits.iter().min().unwrap().as_str(), bits.iter().max().unwrap().as_str());
                assert_eq!(ends, (*least, *most), "{model}");
            }
            all => assert_eq!(bits, all, "{model}"),
        }
    };
    check(MODELS[0], &["19", "21", "21", "21", "22", "19", "22", "23", "20", "20"]);
    check(MODELS[1], &["19", "21"]);
    check(MODELS[2], &["17", "22"]);
    check(MODELS[3], &["18", "21"]);
}

/// At the proved widths nothing overflows for any input, on any kind of datapath.
#[test]
fn recommended_accelerators_run_without_overflow() {
    let listed: serde_json::Value = serde_json::from_str(&succeed(&["hw", "list", "--json"])).unwrap();
    for hw in listed.as_array().unwrap().iter().map(|preset| preset["name"].as_str().unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        let (sized, ran) = (dir.path().join("sized"), dir.path().join("ran"));
        let model = digits("digits_int8.tflite");
        succeed(&["size", &model, "--hw", hw, "--random", "2", "-o", &text(&sized)]);
        let recommended = text(&sized.join("recommended.yaml"));
        succeed(&["run", &model, "--hw", &recommended, "--random", "20", "--seed", "7", "-o", &text(&ran)]);
        let rows = csv_rows(&ran.join("layers.csv"));
        let levels = csv_rows(&sized.join("size_levels.csv"));
        assert_eq!(rows.len(), levels.len(), "{hw}");
        for (row, level) in rows.iter().zip(&levels) {
            assert_eq!((&row["level"], &row["bits"]), (&level["level"], &level["bits_recommended"]), "{hw}");
            assert_eq!(
                (row["events"].as_str(), row["output_mismatch"].as_str().trim_start_matches('0')),
                ("0", ""),
                "{hw}"
            );
            let bits = |name: &str| level[name].parse::<u32>().unwrap();
            assert!(bits("bits_data_final") <= bits("bits_data_prefix"), "{hw}");
            assert!(bits("bits_data_prefix") <= bits("bits_range"), "{hw}");
            assert!(bits("bits_range") <= bits("bits_weights"), "{hw}");
            assert!(bits("bits_weights") <= bits("bits_type"), "{hw}");
        }
    }
}

/// Notes on proved widths: in the recommended accelerator, and below the table.
#[test]
fn what_is_not_proved_is_said() {
    let check = |sets: &[&str], described: &str, remark: &str| {
        let dir = tempfile::tempdir().unwrap();
        let out = text(&dir.path().join("sized"));
        let model = digits("digits_int8.tflite");
        let mut args = vec!["size", &model, "--hw", "fpga-int14-os", "--random", "2", "-o", &out];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let printed = succeed(&args);
        let recommended = fs::read_to_string(dir.path().join("sized/recommended.yaml")).unwrap();
        assert!(recommended.contains(&format!("digits_int8.tflite, {described}'\n")), "{recommended}");
        assert!(printed.contains(remark), "{printed}");
    };
    check(&[], "no input overflows", "");
    let remark = "sums with biases of 4 layers may overflow their register, `bias.bits`";
    check(&["bias.bits=12"], "no input overflows an accumulator", remark);
    check(
        &["bias.bits=3", "bias.at=post_requantize"],
        "no input overflows an accumulator",
        "sums with biases of",
    );
    check(
        &["product.bits=12"],
        "no input overflows an accumulator",
        "products of 4 layers may overflow their register",
    );
    check(
        &["accumulation.acc.signed=false"],
        "some sums fit no width",
        "`acc` is unsigned, but sums may be negative",
    );
}

/// The wrong sums of the grid equal those of the simulator on an accelerator with these two levels, if the
/// grid covers every dot product. Proved widths are never wrong.
#[test]
fn the_grid_is_wrong_as_often_as_the_simulator_says() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    for mode in ["saturate", "wrap", "saturate_symmetric", "saturate_zero", "sticky"] {
        let set = format!("accumulation.acc.overflow={mode}");
        let sized = dir.path().join(format!("sized_{mode}"));
        let out = text(&sized);
        succeed(&["size", &model, "--hw", "fpga-int14-os", "--set", &set, "--random", "1", "-o", &out]);
        let grid = csv_rows(&sized.join("size_grid.csv"));
        for row in &grid {
            let (legal, wrong) = (row["legal"] == "true", row["wrong"] == "0");
            assert!(wrong || !legal, "{row:?}");
        }
        let mut seen = 0;
        for (tile, inner, outer) in [("8", "15", "17"), ("32", "16", "18"), ("128", "17", "18")] {
            let yaml = dir.path().join("two.yaml");
            let levels = [("inner", tile, inner), ("outer", "all", outer)].map(|(name, terms, bits)| {
                format!("  - {{name: {name}, terms: {terms}, bits: {bits}, overflow: {mode}}}\n")
            });
            let text_of_file =
                format!("schema: 1\nextends: fpga-int14-os\naccumulation:\n{}", levels.concat());
            std::fs::write(&yaml, text_of_file).unwrap();
            let ran = dir.path().join(format!("ran_{mode}_{tile}"));
            let (hw, out) = (text(&yaml), text(&ran));
            succeed(&["run", &model, "--hw", &hw, "--random", "1", "--mode", "isolated", "-o", &out]);
            for row in csv_rows(&ran.join("layers.csv")).iter().filter(|row| row["level"] == "outer") {
                let point = grid.iter().find(|point| {
                    (&point["index"], point["tile"].as_str()) == (&row["index"], tile)
                        && (point["inner_bits"].as_str(), point["outer_bits"].as_str()) == (inner, outer)
                });
                let Some(point) = point.filter(|point| point["dots"] == row["dots"]) else { continue };
                assert_eq!(point["wrong"], row["wrong"], "{mode} {tile} {inner} {outer} {}", row["layer"]);
                seen += usize::from(point["wrong"] != "0");
            }
        }
        assert!(seen > 0, "some compared point has wrong sums");
    }
}

/// A coarser grid has every second run length; proved widths do not depend on it.
#[test]
fn grids_are_as_fine_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let of = |grid: &str| {
        let out = dir.path().join(grid);
        succeed(&[
            "size",
            &model,
            "--hw",
            "fpga-int14-os",
            "--random",
            "1",
            "--grid",
            grid,
            "-o",
            &text(&out),
        ]);
        csv_rows(&out.join("size_grid.csv"))
    };
    let (full, coarse) = (of("full"), of("coarse"));
    assert!(of("none").is_empty());
    let key = |row: &common::Row| ["index", "tile", "inner_bits", "outer_bits"].map(|name| row[name].clone());
    assert!(coarse.len() * 3 < full.len() && !coarse.is_empty(), "{} {}", coarse.len(), full.len());
    for row in &coarse {
        let same = full.iter().find(|other| key(other) == key(row)).unwrap();
        assert_eq!(same["legal"], row["legal"], "{row:?}");
        assert!(["8", "32", "128"].contains(&row["tile"].as_str()));
        assert!(row["dots"].parse::<u64>().unwrap() <= same["dots"].parse::<u64>().unwrap());
    }
    let same = |file: &str| {
        std::fs::read(dir.path().join("none").join(file)).unwrap()
            == std::fs::read(dir.path().join("full").join(file)).unwrap()
    };
    assert!(same("size.csv") && same("size_levels.csv") && same("recommended.yaml"));
}

/// The figures of a layer follow from its channels. The listed files exist, and do not depend on threads.
#[test]
fn tables_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let run = |name: &str, threads: &str| {
        let out = dir.path().join(name);
        let args = [
            "size",
            &model,
            "--hw",
            "fpga-int14-os",
            "--random",
            "3",
            "--budget",
            "mismatch=1%",
            "--threads",
            threads,
        ];
        succeed(&[&args[..], &["-o", &text(&out)]].concat());
        out
    };
    let (one, two) = (run("one", "1"), run("two", "2"));
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(one.join("size.json")).unwrap()).unwrap();
    assert_eq!((&json["command"], &json["schema"]), (&"size".into(), &3.into()));
    let listed = json["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap());
    for file in listed.chain(["size.json"]) {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(&one) == read(&two), "{file} differs between 1 and 2 threads");
    }
    let channels = csv_rows(&one.join("size_channels.csv"));
    for row in csv_rows(&one.join("size.csv")) {
        let own: Vec<_> = channels.iter().filter(|channel| channel["index"] == row["index"]).collect();
        assert_eq!(own.len().to_string(), row["channels"]);
        for bits in [
            "bits_type",
            "bits_weights",
            "bits_a2q",
            "bits_a2q_plus",
            "bits_data_final",
            "bits_data_prefix",
            "bits_range",
        ] {
            let widest = own.iter().filter_map(|channel| channel[bits].parse::<u32>().ok()).max();
            // Only some channels of the digits network have weights that sum to 0.
            let widest = widest.filter(|_| bits != "bits_a2q_plus");
            assert_eq!(widest.map_or(String::new(), |bits| bits.to_string()), row[bits], "{bits}");
        }
        let bits = |name: &str| row[name].parse::<u32>().unwrap();
        assert!(bits("bits_budget") <= bits("bits_data_prefix"));
        assert_eq!(row["bits_a2q_plus"], "");
    }
}

/// The budget is met by the network at the recommended widths, and by each layer alone, where one bit less
/// exceeds it.
#[test]
fn budgets_are_kept_and_tight() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let (images, labels) = first_digits(dir.path(), 40);
    let size = |budget: &str, out: &Path| {
        let args = ["size", &model, "--hw", "fpga-int14-os", "--input", &images, "--labels", &labels];
        succeed(&[&args[..], &["--budget", budget, "--json", "-o", &text(out)]].concat())
    };
    let out = dir.path().join("mismatch");
    size("mismatch=1%", &out);
    for row in csv_rows(&out.join("size.csv")) {
        for (off, within) in [(0, true), (1, false)] {
            let bits = row["bits_budget"].parse::<u32>().unwrap() - off;
            let set = format!("accumulation.acc.bits={bits}");
            let ran = dir.path().join(format!("ran-{}-{off}", row["index"]));
            let args = [
                "run",
                &model,
                "--hw",
                "fpga-int14-os",
                "--input",
                &images,
                "--mode",
                "isolated",
                "--set",
                &set,
            ];
            succeed(&[&args[..], &["-o", &text(&ran)]].concat());
            let layer = csv_rows(&ran.join("layers.csv"))
                .into_iter()
                .find(|ran| ran["index"] == row["index"])
                .unwrap();
            let count = |name: &str| layer[name].parse::<u64>().unwrap();
            assert_eq!(
                count("output_mismatch") * 100 <= count("dots"),
                within,
                "layer {} at {bits} bits",
                row["index"]
            );
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&size("accuracy=1%", &dir.path().join("accuracy"))).unwrap();
    let accuracy = |name: &str| json["recommended"][name].as_f64().unwrap();
    assert!(accuracy("accuracy_exact") - accuracy("accuracy") <= 0.01);
}

#[test]
fn bad_budgets_and_tools_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (digits("digits_int8.tflite"), text(&dir.path().join("out")));
    let values = text(&dir.path().join("values.npy"));
    write_npy(&values, &Array2::<f32>::zeros((1, 10))).unwrap();
    let cases = [
        (&["--budget", "accuracy=1%"][..], "needs labels"),
        (&["--budget", "accuracy=1%", "--task", "regress", "--labels", &values][..], "the task is `regress`"),
        (&["--budget", "accuracy=200%"][..], "invalid budget"),
        (&["--budget", "accuracy=1"][..], "write accuracy=1% for 1 percent"),
        (&["--area", "vivado"][..], "[possible values: yosys]"),
    ];
    for (extra, message) in cases {
        let args =
            [&["size", &model, "--hw", "fpga-int14-os", "--random", "1", "-o", &out][..], extra].concat();
        let output = guardbit(&args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{extra:?}");
        assert!(stderr.contains(message), "{extra:?}: {stderr}");
        assert!(!Path::new(&out).exists());
    }
}

/// Levels are synthesized as the modules of the reference RTL. A serial level has its register, a flag for
/// the start of a run, two overflow flags, and if sticky a flag for being stuck. A tree has its result and
/// the flags.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn areas_come_from_yosys() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let area = |name: &str, hw: &str, sets: &[&str]| {
        let out = dir.path().join(name);
        let mut args = vec!["size", &model, "--hw", hw, "--random", "1", "--area", "yosys"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        succeed(&[&args[..], &["--set", "offload=[fully_connected]", "-o", &text(&out)]].concat());
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("size.json")).unwrap()).unwrap();
        assert!(json["result"]["area"].as_str().unwrap().starts_with("Yosys "));
        let row = csv_rows(&out.join("size.csv")).remove(0);
        ["lut", "ff", "bits_recommended"].map(|name| row[name].parse::<u64>().unwrap())
    };
    let [lut, ff, bits] = area("serial", "fpga-int14-os", &[]);
    assert_eq!(ff, bits + 3);
    assert!(lut >= bits);
    // Unsigned, with nonnegative pixels and weights of both signs: the proved range fits no unsigned
    // register, but the circuit exists.
    let sticky = ["accumulation.acc.overflow=sticky", "accumulation.acc.signed=false"];
    let [sticky_lut, sticky_ff, bits] = area("sticky", "fpga-int14-os", &sticky);
    assert!(sticky_ff > bits + 3 && sticky_lut > 0, "{sticky_lut} {sticky_ff} {bits}");
    let [tree_lut, tree_ff, bits] = area("tree", "fpga-int14-tree", &[]);
    assert!(tree_ff > bits + 3 && tree_lut > 0, "{tree_lut} {tree_ff} {bits}");
}

/// Returns the counts of one channel of a network with one layer, at a width.
fn counts(graph: &Graph, input: &[i32], bits: u32, channel: usize) -> ChannelLevel {
    let accelerator = load("fpga-int14-os", &[format!("accumulation.acc.bits={bits}")]).unwrap();
    let program = lower(Arc::new(graph.clone()), &accelerator).unwrap();
    let mut simulation = Simulation::new(&program, Options::default());
    simulation.run_batch(&[vec![input.to_vec()]]).unwrap();
    simulation.finish().swap_remove(0).unwrap().levels[0].channels[channel]
}

/// Every bound by weights of every layer is attained by its witness, and one bit less overflows on it.
#[test]
fn witnesses_of_real_networks() {
    let shared = MODELS.into_iter().filter_map(shared_model);
    for model in shared.chain([digits("digits_int8.tflite")]) {
        let graph = Arc::new(guardbit_frontends::load(Path::new(&model)).unwrap());
        let program = lower(Arc::clone(&graph), &load("fpga-int14-os", &[]).unwrap()).unwrap();
        for layer in program.mac_layers() {
            let bounds = LayerBounds::new(&graph, layer);
            let witness = Witness::of_level(&graph, layer, &bounds, 0).unwrap();
            let name = format!("{model}, {}", layer.name);
            assert!(witness.attained && Some(witness.bits) == bounds.weight_bits(0), "{name}");
            let alone = graph.single_node(layer.node);
            let at = |bits| counts(&alone, &witness.input, bits, witness.channel);
            let enough = at(witness.bits);
            assert_eq!((enough.events(), enough.required_final), (0, witness.bits), "{name}");
            assert!([enough.min_prefix, enough.max_prefix].contains(&witness.sum), "{name}");
            let less = at(witness.bits - 1);
            assert!(less.events() > 0 && less.persistent > 0, "{name}");
        }
    }
}

/// Returns samples and labels of the digits network: the first `count`.
fn first_digits(dir: &Path, count: usize) -> (String, String) {
    let (images, labels) = (text(&dir.join("images.npy")), text(&dir.join("labels.npy")));
    let first = Slice::from(..count as isize);
    let codes: Array4<i8> = read_npy(digits("test_images.npy")).unwrap();
    write_npy(&images, &codes.slice_axis(Axis(0), first)).unwrap();
    let classes: Array1<u8> = read_npy(digits("test_labels.npy")).unwrap();
    write_npy(&labels, &classes.slice_axis(Axis(0), first)).unwrap();
    (images, labels)
}

/// Accelerator with two levels of 14 bits.
const TWO_LEVELS: &str = "fpga-int14-ws";

/// Returns the total of recommended bits, and the output codes that differ, within a budget.
fn cost(args: &[&str], budget: &str, out: &Path) -> (u64, serde_json::Value) {
    let tail = ["--budget", budget, "--json", "-o", &text(out)].map(String::from);
    let tail: Vec<&str> = tail.iter().map(String::as_str).collect();
    let json: serde_json::Value = serde_json::from_str(&succeed(&[args, &tail].concat())).unwrap();
    let bits = column(&out.join("size_levels.csv"), "bits_recommended");
    (bits.iter().map(|bits| bits.parse::<u64>().unwrap()).sum(), json)
}

/// A looser budget never costs more, and is met: on the first digits, for a chain followed by an accumulator.
#[test]
fn a_looser_budget_never_costs_more() {
    let dir = tempfile::tempdir().unwrap();
    let (images, labels) = first_digits(dir.path(), 24);
    let model = digits("digits_int8.tflite");
    let args = ["size", &model, "--hw", TWO_LEVELS, "--input", &images, "--labels", &labels];
    for (kind, budgets) in [("accuracy", ["0", "5", "20", "60"]), ("mismatch", ["0", "1", "20", "80"])] {
        let mut last = u64::MAX;
        for percent in budgets {
            let out = dir.path().join(format!("{kind}{percent}"));
            let (bits, json) = cost(&args, &format!("{kind}={percent}%"), &out);
            assert!(bits <= last, "{kind}={percent}%: {bits} bits, a tighter one {last}");
            last = bits;
            let figure = |name: &str| json["recommended"][name].as_f64().unwrap();
            let share = percent.parse::<f64>().unwrap() / 100.0;
            match kind {
                "accuracy" => {
                    assert!(figure("accuracy_exact") - figure("accuracy") <= share + 1e-6, "{percent}");
                }
                _ => assert!(figure("output_mismatch") <= share * 24.0 * 10.0, "{percent}"),
            }
        }
        // Chains are narrowed together with the level after them.
        let levels = csv_rows(&dir.path().join(format!("{kind}{}", budgets[3])).join("size_levels.csv"));
        let chains: Vec<_> = levels.iter().filter(|row| row["level"] == "chain").collect();
        let sum = |name: &str| chains.iter().map(|row| row[name].parse::<usize>().unwrap()).sum::<usize>();
        assert!(sum("bits_recommended") + chains.len() <= sum("bits_data_prefix"), "{kind}: {chains:?}");
    }
}

/// If the widest of the recommended widths exceed the budget in all layers, the one design for all layers is wider,
/// within the budget, and no level of it can be narrowed alone.
#[test]
fn one_design_for_all_layers_keeps_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let hw = text(&dir.path().join("hw.yaml"));
    std::fs::write(
        &hw,
        "{schema: 1, name: array, extends: fpga-int14-ws, array: {rows: 16, cols: 8}, accumulation: \
         [{name: chain, reduce: serial, terms: rows, bits: 32, overflow: saturate}, \
         {name: acc, reduce: serial, terms: all, bits: 32, overflow: saturate}]}",
    )
    .unwrap();
    let (images, labels) = (digits("test_images.npy"), digits("test_labels.npy"));
    let model = digits("digits_int8.tflite");
    let on = [&model, "--hw", &hw, "--input", &images, "--labels", &labels, "--json"];
    let json = |args: &[&str]| serde_json::from_str::<serde_json::Value>(&succeed(args)).unwrap();
    let sized = json(&[&["size"], &on[..], &["--budget", "accuracy=1%"]].concat());
    let remark = sized["remarks"].to_string();
    assert!(remark.contains("in every layer exceed accuracy=1%"), "{remark}");
    let bits = |level: usize| sized["design"][level]["bits"].as_u64().unwrap();
    let loses = |chain: u64, acc: u64| {
        let sets = [format!("accumulation.chain.bits={chain}"), format!("accumulation.acc.bits={acc}")];
        let ran = json(&[&["run"], &on[..], &["--set", &sets[0], "--set", &sets[1]]].concat());
        let figure = |name: &str| ran["outcome"][name].as_f64().unwrap();
        figure("accuracy_exact") - figure("accuracy")
    };
    let (chain, acc) = (bits(0), bits(1));
    assert!(loses(chain, acc) <= 0.01 + 1e-6, "chain {chain}, acc {acc}");
    assert!(loses(chain - 1, acc) > 0.01 && loses(chain, acc - 1) > 0.01, "chain {chain}, acc {acc}");
}

/// A looser budget never costs more on ResNet-8.
#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn a_looser_budget_never_costs_more_on_resnet8() {
    let Some(model) = shared_model(MODELS[0]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let args = ["size", &model, "--hw", "fpga-int14-os", "--random", "2"];
    let bits = ["0", "10", "50"]
        .map(|percent| cost(&args, &format!("mismatch={percent}%"), &dir.path().join(percent)).0);
    assert!(bits.is_sorted_by(|a, b| a >= b) && bits[0] > bits[2], "{bits:?}");
}

/// Stdout has every level, the one design for all layers, and remarks on the budget.
#[test]
fn stdout_shows_every_level() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let out = dir.path().join("out");
    let args = [
        "size",
        &model,
        "--hw",
        TWO_LEVELS,
        "--random",
        "4",
        "--budget",
        "mismatch=0.01%",
        "-o",
        &text(&out),
        "--all",
    ];
    let stdout = succeed(&args);
    let levels = csv_rows(&out.join("size_levels.csv"));
    let table: Vec<Vec<&str>> = stdout
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    let at = |name: &str| table[0].iter().position(|column| *column == name).unwrap();
    assert_eq!(table.len(), 1 + levels.len());
    for (line, row) in table[1..].iter().zip(&levels) {
        let shown = ["level", "weights", "data_prefix", "recommended"].map(|name| line[at(name)]);
        let written =
            ["level", "bits_weights", "bits_data_prefix", "bits_recommended"].map(|name| row[name].as_str());
        assert_eq!(shown, written);
    }
    let widest = |level: &str| {
        let rows = levels.iter().filter(|row| row["level"] == level);
        rows.map(|row| row["bits_recommended"].parse::<u32>().unwrap()).max().unwrap()
    };
    let design = format!("one design for all layers     chain {}, acc {}", widest("chain"), widest("acc"));
    assert!(stdout.contains(&design), "{stdout}");
    assert!(stdout.contains("note: mismatch=0.01% is less than one of 40 output codes (2.50%)"), "{stdout}");
    // Rates name the level, and an inner level has its own transients.
    let rates = csv_rows(&out.join("size_rates.csv"));
    for level in ["chain", "acc"] {
        let transient = rates.iter().filter(|row| row["level"] == level && row["transient"] != "0").count();
        assert!(transient > 0, "{level}");
    }
}

/// If products overflow their register, widths refer to products that the hardware does not add.
#[test]
fn narrow_products_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    for (product, note) in [
        ("product.bits=auto", None),
        ("product.bits=17", None),
        ("product.bits=12", Some("note: products of 4 layers may overflow their register")),
        ("layers.0.product.bits=12", Some("note: products of one layer may overflow its register")),
    ] {
        let out = text(&dir.path().join(product));
        let stdout =
            succeed(&["size", &model, "--hw", TWO_LEVELS, "--set", product, "--random", "2", "-o", &out]);
        let notes: Vec<&str> = stdout.lines().filter(|line| line.starts_with("note: ")).collect();
        assert_eq!(notes.len(), usize::from(note.is_some()), "{product}: {stdout}");
        assert!(notes.iter().all(|line| line.starts_with(note.unwrap())), "{product}: {notes:?}");
    }
}

/// Every witness, replayed by the documented command, attains the bound of its level; one bit less overflows.
#[test]
fn witnesses_are_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let sized = dir.path().join("sized");
    succeed(&["size", &model, "--hw", TWO_LEVELS, "--random", "1", "-o", &text(&sized)]);
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(sized.join("size.json")).unwrap()).unwrap();
    let witnesses = json["result"]["witnesses"].as_array().unwrap();
    let levels = csv_rows(&sized.join("size_levels.csv"));
    assert_eq!(witnesses.len(), levels.len());
    for (witness, level) in witnesses.iter().zip(&levels) {
        let name = witness["level"].as_str().unwrap();
        assert_eq!((name, witness["attained"].as_bool()), (level["level"].as_str(), Some(true)));
        let bits = witness["bits"].as_u64().unwrap();
        assert_eq!(level["bits_weights"], bits.to_string());
        let file = text(&sized.join(witness["file"].as_str().unwrap()));
        for (off, fits) in [(0, true), (1, false)] {
            let set = format!("accumulation.{name}.bits={}", bits - off);
            let out = dir.path().join(format!("{}-{name}-{off}", level["index"]));
            let layer = level["index"].as_str();
            let other = format!("accumulation.{}.bits=auto", if name == "acc" { "chain" } else { "acc" });
            let args = ["run", &model, "--hw", TWO_LEVELS, "--layer", layer, "--input", &file];
            succeed(&[&args[..], &["--set", &set, "--set", &other, "-o", &text(&out)]].concat());
            let rows = csv_rows(&out.join("layers.csv"));
            let row = rows.iter().find(|row| row["level"] == name).unwrap();
            assert_eq!(row["layer"], level["layer"]);
            assert_eq!(row["required_final"], bits.to_string(), "{witness}");
            let sum = witness["sum"].to_string();
            assert!([&row["min_prefix"], &row["max_prefix"]].contains(&&sum), "{witness} {row:?}");
            assert_eq!((row["persistent"] == "0", row["events"] == "0"), (fits, fits), "{witness} {row:?}");
        }
    }
}

/// Settings of a layer by name in `recommended.yaml` can be overridden by index, for each key separately.
#[test]
fn recommended_files_take_overrides_of_their_layers() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let (sized, ran) = (dir.path().join("sized"), dir.path().join("ran"));
    succeed(&[
        "size",
        &model,
        "--hw",
        TWO_LEVELS,
        "--random",
        "2",
        "--budget",
        "mismatch=20%",
        "-o",
        &text(&sized),
    ]);
    let levels = csv_rows(&sized.join("size_levels.csv"));
    // The width common to all layers is the file's base value, and still an override.
    let widest =
        levels.iter().filter(|row| row["level"] == "acc").map(|row| &row["bits_recommended"]).max().unwrap();
    let own = levels.iter().find(|row| row["level"] == "acc" && row["bits_recommended"] != *widest).unwrap();
    let (hw, index) = (text(&sized.join("recommended.yaml")), &own["index"]);
    let sets = [
        format!("layers.{index}.accumulation.acc.bits={widest}"),
        format!("layers.{index}.accumulation.acc.overflow=wrap"),
    ];
    let args = ["run", &model, "--hw", &hw, "--random", "1", "--set", &sets[0], "--set", &sets[1]];
    succeed(&[&args[..], &["-o", &text(&ran)]].concat());
    for (row, level) in csv_rows(&ran.join("layers.csv")).iter().zip(&levels) {
        let overridden = row["index"] == *index && row["level"] == "acc";
        let bits = if overridden { widest } else { &level["bits_recommended"] };
        let mode = if overridden { "wrap" } else { &level["overflow"] };
        assert_eq!((&row["bits"], row["overflow"].as_str()), (bits, mode), "{row:?}");
    }
    // Layers are listed in their order.
    let yaml = std::fs::read_to_string(&hw).unwrap();
    let layers = yaml.split("\nlayers:\n").nth(1).unwrap();
    let places: Vec<Option<usize>> = levels
        .iter()
        .filter(|row| row["level"] == "acc")
        .map(|row| layers.find(&format!("{}:", row["name"])))
        .filter(Option::is_some)
        .collect();
    assert!(places.len() > 1 && places.is_sorted(), "{yaml}");
}

/// Widths reported as sufficient by a run, set at every level, give the codes of the exact network.
#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn widths_that_a_run_calls_enough_are_enough_on_real_networks() {
    for (model, hw) in [(MODELS[0], "fpga-int14-os"), (MODELS[0], TWO_LEVELS), (MODELS[3], "fpga-int14-os")] {
        let Some(path) = shared_model(model) else { continue };
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str, sets: &[String]| {
            let out = dir.path().join(name);
            let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set.as_str()]).collect();
            let args = ["run", &path, "--hw", hw, "--random", "2", "-o", &text(&out)].map(String::from);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            succeed(&[&args[..], &sets].concat());
            csv_rows(&out.join("layers.csv"))
        };
        let met = run("met", &[]);
        assert!(met.iter().any(|row| row["required_final"] != row["exact_required_final"]), "{model} {hw}");
        for (mode, needs) in [("wrap", "exact_required_final"), ("saturate", "exact_required_prefix")] {
            let mut levels: Vec<&str> = met.iter().map(|row| row["level"].as_str()).collect();
            levels.sort_unstable();
            levels.dedup();
            let set = |level: &&str| {
                let rows = met.iter().filter(|row| row["level"] == **level);
                let bits = rows.map(|row| row[needs].parse::<u32>().unwrap()).max().unwrap();
                [format!("accumulation.{level}.bits={bits}"), format!("accumulation.{level}.overflow={mode}")]
            };
            for row in run(mode, &levels.iter().flat_map(set).collect::<Vec<_>>()) {
                assert_eq!(row["persistent"], "0", "{model} {hw} {mode} {row:?}");
                assert!(["", "0"].contains(&row["wrong"].as_str()), "{model} {hw} {mode} {row:?}");
                assert!(["", "0"].contains(&row["output_mismatch"].as_str()), "{model} {hw} {mode} {row:?}");
                assert_eq!(row["required_final"], row["exact_required_final"], "{model} {hw} {mode} {row:?}");
            }
        }
    }
}

/// A2Q+ gives a width of the layer only if the weights of every channel sum to 0.
#[test]
fn a2q_plus_is_that_of_all_channels_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let a2q_plus = |weights: &str| {
        let (model, out) = (dir.path().join("network.yaml"), dir.path().join(weights.replace(' ', "")));
        let network = format!(
            "schema: 1\nname: two\ninputs:\n  - {{name: x, shape: [1, 2, 2, 2], dtype: int8, scale: 1}}\nconstants:\n  \
             - {{name: w, shape: [2, 1, 1, 2], dtype: int8, scale: 1, values: [{weights}]}}\nnodes:\n  \
             - {{op: conv2d, inputs: [x, w], output: {{name: y, dtype: int8, scale: 9}}}}\noutputs: [y]\n"
        );
        std::fs::write(&model, network).unwrap();
        succeed(&["size", &text(&model), "--hw", "fpga-int14-os", "--random", "1", "-o", &text(&out)]);
        let of = |file: &str| column(&out.join(file), "bits_a2q_plus");
        (of("size.csv"), of("size_channels.csv"))
    };
    // Channels of only zeros sum to 0 too: 1 bit. An l1 norm of 10 needs 10 * 255 + 2 <= 2^12.
    assert_eq!(a2q_plus("0, 0, 100, 100"), (vec![String::new()], vec!["1".into(), String::new()]));
    assert_eq!(a2q_plus("0, 0, 5, -5"), (vec!["12".into()], vec!["1".into(), "12".into()]));
}
