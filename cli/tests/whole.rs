//! Whole layers in memory images: recomputed by a second implementation, run on the reference design, compared with what a
//! design wrote.
//!
//! `GUARDBIT_ORACLE_PYTHON` names a Python with NumPy; the simulators run if `GUARDBIT_SIMULATORS` is set.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use guardbit_files::{UNSEALED, schema_violations, seal_text};
use guardbit_testing::is_full;
use serde_json::Value;

use crate::attention::network as attention;
use crate::common::{assert_same, digits, guardbit, needed, root, shared_model, succeed};

const SMALL: &[&str] = &["--set", "array.rows=4", "--set", "array.cols=4"];

/// Changes a folder of whole layers.
type Fault<'a> = &'a dyn Fn(&Path);

/// Layers of every kind: network (empty: the digits, `attention`: two activations), accelerator and settings.
const NETWORKS: &[(&str, &str, &[&str])] = &[
    ("", "fpga-int14-os", &[]),
    ("", "fpga-int14-ws", &["--image-order", "blocked:3"]),
    ("", "fpga-int14-tree", &["--image-order", "nchw"]),
    (
        "",
        "fpga-int14-os",
        &["--set", "operands.zero_point=fold", "--image-order", "blocked:16", "--sample", "3"],
    ),
    (
        "",
        "fpga-int14-ws",
        &["--set", "accumulation.acc.overflow=sticky", "--set", "accumulation.acc.bits=12"],
    ),
    ("", "fpga-int14-os", &["--set", "bias.at=preload", "--set", "accumulation.acc.bits=20"]),
    (
        "",
        "fpga-int14-os",
        &["--set", "accumulation.acc.shift=3", "--set", "accumulation.acc.round=half_away"],
    ),
    ("", "fpga-int14-ws", &["--set", "memory.activation_kib=0.5", "--set", "memory.accumulator_kib=0.1"]),
    ("attention", "fpga-int14-os", &["--sample", "1"]),
    ("attention", "fpga-int14-ws", &["--set", "operands.zero_point=fold", "--image-order", "blocked:4"]),
    ("attention", "fpga-int14-tree", &["--image-order", "nchw"]),
];

fn try_export(dir: &Path, model: &str, hw: &str, layer: &str, more: &[&str]) -> Output {
    let (images, out) = (digits("test_images.npy"), dir.to_string_lossy());
    let mut args = vec!["vectors", "--whole", "--hw", hw, "--layer", layer, "-o", &out];
    let network = match model {
        "" => digits("digits_int8.tflite"),
        "attention" => attention(dir.parent().unwrap()),
        other => other.to_owned(),
    };
    args.insert(1, &network);
    args.extend(if model.is_empty() { ["--input", &images] } else { ["--random", "2"] });
    if hw != "fpga-int14-tree" {
        args.extend(SMALL);
    }
    args.extend(more);
    guardbit(&args)
}

fn export(dir: &Path, model: &str, hw: &str, layer: &str, more: &[&str]) -> Value {
    let output = try_export(dir, model, hw, layer, more);
    assert!(output.status.success(), "{hw} {more:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&fs::read(dir.join("layout.json")).unwrap()).unwrap()
}

fn text(output: Output) -> (bool, String) {
    let all =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), all)
}

fn make(dir: &Path, args: &[&str]) -> (bool, String) {
    text(Command::new("make").args(args).current_dir(dir).output().unwrap())
}

/// Returns what Verilator complains of in the bench of a layer. What only other layers use is no fault.
fn lint(dir: &Path, layer: &str) -> String {
    let design = ["gb_array.sv", "gb_dut.sv"].map(|name| format!("{layer}/{name}"));
    let design = design.into_iter().find(|name| dir.join(name).exists()).unwrap();
    let output = Command::new("verilator")
        .args(["--lint-only", "-Wall", "-Wno-UNUSED", "-Wno-PINMISSING", "-Wno-DECLFILENAME", "--timing"])
        .args(["--timescale", "1ns/1ps", "-Irtl", "--top-module", "tb_layer", "rtl/gb_codes.sv"])
        .args([&design, &format!("{layer}/tb_layer_params.sv"), "tb_clock.sv", "tb_layer.sv"])
        .current_dir(dir)
        .output()
        .unwrap();
    text(output).1
}

fn recheck(python: &str, dir: &Path) -> (bool, String) {
    let script = root().join("scripts/second/recheck_layers.py");
    text(Command::new(python).arg(script).arg(dir).output().unwrap())
}

/// Replaces a text of a file of the folder, which must contain it.
fn plant(dir: &Path, file: &str, from: &str, to: &str) {
    let path = dir.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Swaps a line of a file with the first other one from line `b` on.
fn swap(dir: &Path, file: &str, a: usize, b: usize) {
    let path = dir.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let b = (b..lines.len()).find(|&b| lines[b] != lines[a]).unwrap();
    lines.swap(a, b);
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// Layouts fit their schema, images are chained, and equal requests give equal bytes.
#[test]
fn layouts_fit_their_schema_and_chain_images() {
    let dir = tempfile::tempdir().unwrap();
    for (index, (model, hw, more)) in NETWORKS.iter().enumerate() {
        let out = dir.path().join(format!("whole{index}"));
        let layout = export(&out, model, hw, "all", more);
        let schema: Value =
            serde_json::from_slice(&fs::read(out.join("layout.schema.json")).unwrap()).unwrap();
        assert!(schema_violations(&schema, &layout).is_empty(), "{hw} {more:?}");
        let (layers, images) = (layout["layers"].as_array().unwrap(), layout["images"].as_array().unwrap());
        let chained = layers.iter().filter(|layer| {
            let image = &images[layer["input"].as_u64().unwrap() as usize];
            let writer = image["writer"].as_str();
            assert_eq!(writer.is_some(), image["file"].as_str().unwrap().ends_with("/ofm.mem"));
            writer.is_some_and(|writer| writer < layer["folder"].as_str().unwrap())
        });
        assert_eq!(chained.count(), if model.is_empty() { 2 } else { 1 }, "{hw} {more:?}");
        for file in layout["files"].as_array().unwrap() {
            let bytes = fs::read(out.join(file["path"].as_str().unwrap())).unwrap();
            let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            assert!(file["words"].as_u64().is_none_or(|words| words == lines), "{file}");
        }
    }
    let again = dir.path().join("again");
    export(&again, "", NETWORKS[0].1, "all", NETWORKS[0].2);
    assert_same(&dir.path().join("whole0"), &again);
    // The folder is guardbit's own, so it may be replaced.
    let (passed, said) = text(try_export(&again, "", "fpga-int14-os", "5", &[]));
    assert!(!passed && said.contains("--force"), "{said}");
    assert_eq!(export(&again, "", "fpga-int14-os", "5", &["--force"])["layers"].as_array().unwrap().len(), 1);
}

/// The memory in one file holds the words of every constant and input, zeros where layers write, and no image that stays on the
/// chip.
#[test]
fn the_memory_holds_every_region() {
    let dir = tempfile::tempdir().unwrap();
    let resident = ["--set", "memory.residency=fit", "--image-order", "blocked:3"];
    let cases: [(&str, &[&str], usize); 2] = [("plain", &[], 0), ("resident", &resident, 2)];
    for (name, more, on_chip) in cases {
        let out = dir.path().join(name);
        let layout = export(&out, "", "fpga-int14-os", "all", more);
        let dram = &layout["dram"];
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let lines = |file: &Value| {
            let text = fs::read_to_string(out.join(file.as_str().unwrap())).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let bytes_of = |line: &String, size: usize| {
            let value = u128::from_str_radix(line, 16).unwrap();
            value.to_le_bytes()[..size].to_vec()
        };
        let memory: Vec<u8> = lines(&dram["file"])
            .iter()
            .flat_map(|line| bytes_of(line, number(&dram["word_bytes"])))
            .collect();
        assert_eq!(memory.len(), number(&dram["bytes"]));
        let (mut end, mut nonzero) = (0, 0);
        for region in dram["regions"].as_array().unwrap() {
            let (address, size) = (number(&region["address"]), number(&region["word_bytes"]));
            assert!(address >= end && address % number(&dram["alignment"]) == 0, "{region}");
            let words = lines(&region["file"]);
            assert_eq!(words.len(), number(&region["words"]), "{region}");
            end = address + size * words.len();
            let expected: Vec<u8> = match region["is_given"].as_bool().unwrap() {
                true => words.iter().flat_map(|line| bytes_of(line, size)).collect(),
                false => vec![0; size * words.len()],
            };
            assert!(memory[address..end] == expected, "{region}");
            nonzero += expected.iter().filter(|&&byte| byte != 0).count();
        }
        // Nothing lies between the regions.
        assert_eq!(memory.iter().filter(|&&byte| byte != 0).count(), nonzero);
        assert_eq!(dram["on_chip"].as_array().unwrap().len(), on_chip, "{dram}");
        let files =
            |part: &Value| part.as_array().unwrap().iter().map(|one| one["file"].clone()).collect::<Vec<_>>();
        let placed = [files(&dram["regions"]), dram["on_chip"].as_array().unwrap().clone()].concat();
        for image in files(&layout["images"]) {
            assert_eq!(placed.iter().filter(|&file| *file == image).count(), 1, "{image}");
        }
    }
}

/// Every value and tile follows from the images by the rules of the page.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn whole_layers_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    for (index, (model, hw, more)) in NETWORKS.iter().enumerate() {
        let out = dir.path().join(format!("whole{index}"));
        export(&out, model, hw, "all", more);
        let (passed, said) = recheck(&python, &out);
        assert!(passed && said.contains(" 0 differ"), "{model} {hw} {more:?}: {said}");
    }
    // A changed image, a wrong stride, a swapped tile and a lost spill.
    let faults: [(&str, Fault<'_>); 4] = [
        ("sum", &|out| swap(out, "00_conv_1/ifm.mem", 27, 28)),
        ("sum", &|out| {
            plant(
                out,
                "layout.json",
                "\"strides\": [\n          64,\n          8,",
                "\"strides\": [\n          64,\n          7,",
            )
        }),
        ("terms", &|out| {
            plant(
                out,
                "layout.json",
                "\"terms\": [\n            0,\n            4",
                "\"terms\": [\n            4,\n            8",
            )
        }),
        ("spill", &|out| swap(out, "00_conv_1/spill.mem", 8, 9)),
    ];
    for (what, fault) in faults {
        let out = dir.path().join("faulty");
        export(&out, "", "fpga-int14-ws", "all", &["--force"]);
        fault(&out);
        let (passed, said) = recheck(&python, &out);
        assert!(!passed && said.contains(what), "{what}: {said}");
        fs::remove_dir_all(&out).unwrap();
    }
}

/// The reference design computes every layer, each from what it wrote for the layers before.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn whole_layers_run_on_the_reference_design() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    for (index, (model, hw, more)) in NETWORKS.iter().enumerate() {
        let out = dir.path().join(format!("whole{index}"));
        let layout = export(&out, model, hw, "all", more);
        let (passed, said) = make(&out, &["icarus", "CHAINED=1"]);
        let layers = layout["layers"].as_array().unwrap();
        assert!(
            passed && said.matches(" mismatches=0 ").count() == layers.len(),
            "{model} {hw} {more:?}: {said}"
        );
        for layer in layers {
            let folder = layer["folder"].as_str().unwrap();
            assert_eq!(lint(&out, folder), "", "{folder} of {model} {hw} {more:?}");
            let out = out.to_string_lossy();
            succeed(&["diff-layer", &out, &format!("{out}/dut/{folder}.mem"), "--layer", folder]);
        }
    }
    for (index, layer) in [(0, "05_fully_connected"), (1, "01_depthwise_1"), (2, "00_conv_1"), (8, "01_y")] {
        let (passed, said) =
            make(&dir.path().join(format!("whole{index}")), &["verilator", &format!("LAYERS={layer}")]);
        assert!(passed && said.contains(" mismatches=0 "), "{said}");
    }
}

/// The whole wake-word network runs on the reference arrays.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn the_wake_word_network_runs_from_its_images() {
    needed("GUARDBIT_SIMULATORS");
    let Some(model) = shared_model("kws_dscnn_int8.tflite").filter(|_| is_full()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("kws");
    export(&out, &model, "fpga-int14-os", "all", &["--set", "array.rows=8", "--set", "array.cols=8"]);
    let (passed, said) = make(&out, &["icarus", "CHAINED=1"]);
    assert!(passed && said.matches(" mismatches=0 ").count() == 10, "{said}");
}

/// Faults of images, addresses, tiles and spilled sums fail on the reference design.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn planted_faults_are_caught() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    const LAYER: &str = "LAYERS=01_depthwise_1";
    let faults: [(&str, Fault<'_>); 7] = [
        ("kind=", &|out| swap(out, "00_conv_1/ofm.mem", 130, 131)),
        ("kind=", &|out| swap(out, "01_depthwise_1/weights.mem", 1, 2)),
        ("kind=", &|out| {
            plant(out, "01_depthwise_1/tb_layer_params.sv", "IFM_BY_ROW = 128", "IFM_BY_ROW = 112")
        }),
        ("kind=", &|out| {
            plant(out, "01_depthwise_1/tb_layer_params.sv", "OFM_BY_ROW = 96", "OFM_BY_ROW = 80")
        }),
        ("kind=", &|out| swap(out, "01_depthwise_1/tiles.mem", 3, 6)),
        ("kind=spill", &|out| swap(out, "01_depthwise_1/spill.mem", 8, 9)),
        // A spill is lost: every tile starts its sums again.
        ("kind=sum", &|out| {
            plant(out, "rtl/gb_ws_acc.sv", "start ? {ACC_W{1'b0}} : word[ACC_W-1:0]", "{ACC_W{1'b0}}")
        }),
    ];
    for (index, (kind, fault)) in faults.into_iter().enumerate() {
        let out = dir.path().join(format!("whole{index}"));
        export(&out, "", "fpga-int14-ws", "all", &[]);
        let (passed, said) = make(&out, &["icarus", LAYER]);
        assert!(passed, "{said}");
        fault(&out);
        let (passed, said) = make(&out, &["icarus", LAYER]);
        assert!(!passed && said.contains(kind), "fault {index}: {said}");
    }
}

/// `diff-layer` names the output whose word was changed, with its window, operands, code and sum.
#[test]
fn differences_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("whole");
    export(&out, "", "fpga-int14-os", "all", &["--image-order", "blocked:16"]);
    let (folder, dut) = (out.to_string_lossy(), dir.path().join("dut.mem"));
    let ofm = fs::read_to_string(out.join("01_depthwise_1/ofm.mem")).unwrap();
    let mut lines: Vec<String> = ofm.lines().map(String::from).collect();
    let dut_text = dut.to_string_lossy().into_owned();
    let diff = |lines: &[String], more: &[&str]| {
        fs::write(&dut, lines.join("\n")).unwrap();
        let mut args = vec!["diff-layer", &folder, &dut_text];
        args.extend(more);
        let output = guardbit(&args);
        (output.status.code(), text(output).1)
    };
    let layer = ["--layer", "1"];
    assert_eq!(diff(&lines, &layer).0, Some(0));
    // Row 1, column 2, channel 5 of an output of 6 x 6 pixels, 16 channels a word: digits 5 from the right.
    let (word, from_right) = (8, 5);
    let digits = lines[word].len() / 2;
    let at = (digits - 1 - from_right) * 2;
    let changed = if &lines[word][at..at + 2] == "17" { "18" } else { "17" };
    lines[word].replace_range(at..at + 2, changed);
    let (code, said) = diff(&lines, &layer);
    assert!(
        code == Some(1)
            && said.contains("1 codes differ")
            && said.contains("output [0, 1, 2, 5], word 8 lane 5"),
        "{said}"
    );
    lines[0].replace_range(0..1, "x");
    let (code, said) = diff(&lines, &["--layer", "01_depthwise_1", "--json"]);
    let json: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &json["codes_different"], &json["codes_unknown"]), (Some(1), &2.into(), &1.into()));
    let first = &json["first"][1];
    assert_eq!(
        (&first["output"], &first["window"]),
        (&serde_json::json!([0, 1, 2, 5]), &serde_json::json!([1, 2]))
    );
    assert_eq!((&first["terms"], first["operands"].as_array().unwrap().len()), (&9.into(), 8));
    // With all nine operands, the sum would follow; a wrong sum is named too.
    let sums = fs::read_to_string(out.join("01_depthwise_1/sum.mem")).unwrap();
    let faulty = dir.path().join("sums.mem");
    fs::write(&faulty, sums.replacen('1', "3", 1)).unwrap();
    let faulty = faulty.to_string_lossy();
    let (_, said) = diff(&lines, &["--layer", "1", "--sums", &faulty]);
    assert!(said.contains("1 sums differ") && said.contains(", got "), "{said}");

    let several = diff(&lines, &[]);
    assert!(
        several.0 == Some(2) && several.1.contains("several layers: 00_conv_1, 01_depthwise_1"),
        "{}",
        several.1
    );
    let unknown = diff(&lines, &["--layer", "pool"]);
    assert!(unknown.0 == Some(2) && unknown.1.contains("no layer `pool`"), "{}", unknown.1);
    let broken = diff(&["zz".into(), "!".into()], &layer);
    assert!(
        broken.0 == Some(2) && broken.1.contains("line 2: `!` is not a hexadecimal word"),
        "{}",
        broken.1
    );
    swap(&out, "01_depthwise_1/ofm.mem", 0, 8);
    let changed = diff(&lines, &layer);
    assert!(changed.0 == Some(2) && changed.1.contains("changed since guardbit wrote it"), "{}", changed.1);
}

/// Requests without sense are refused, and leave nothing behind.
#[test]
fn bad_requests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("whole");
    let cases: [(&str, &[&str], &str); 6] = [
        ("0", &["--mode", "isolated"], "--whole and --mode exclude each other"),
        ("0", &["--cases", "3"], "--whole and --cases exclude each other"),
        ("0", &["--sample", "100000"], "--sample: 100000: there are"),
        ("0", &["--image-order", "hwcn"], "unknown order `hwcn`"),
        ("3", &[], "runs on the host"),
        ("0", &["--set", "requantize.output=wrap"], "output that wraps cannot be exported"),
    ];
    for (layer, more, said) in cases {
        let (passed, text) = text(try_export(&out, "", "fpga-int14-os", layer, more));
        assert!(!passed && text.contains(said), "{more:?}: {text}");
        assert!(!out.exists());
    }
}

/// Numbers of a layout that lead outside of an image are errors, also under a valid seal.
#[test]
fn layouts_that_leave_their_images_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("whole");
    let layout = export(&out, "attention", "fpga-int14-os", "all", &[]);
    let layers = layout["layers"].as_array().unwrap();
    let at = layers.iter().position(|layer| layer["weights"]["activations"].is_object()).unwrap();
    let folder = layers[at]["folder"].as_str().unwrap();
    let refused = |key: &str, value: u64| {
        let mut changed = layout.clone();
        changed["layers"][at]["weights"]["activations"][key][0] = value.into();
        changed["sha256"] = UNSEALED.into();
        let text = serde_json::to_string_pretty(&changed).unwrap() + "\n";
        fs::write(out.join("layout.json"), seal_text(&text)).unwrap();
        let [dir, ofm] =
            [out.clone(), out.join(folder).join("ofm.mem")].map(|path| path.display().to_string());
        let output = guardbit(&["diff-layer", &dir, &ofm, "--layer", folder]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for key in ["starts", "strides"] {
        for value in [1 << 20, u64::MAX] {
            let (code, text) = refused(key, value);
            assert!(code == Some(2) && text.contains("does not fit its images"), "{key} {value}: {text}");
        }
    }
}
