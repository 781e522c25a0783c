//! Layers of floating-point codes on accelerators that align their products.

use std::path::Path;
use std::process::Command;

use crate::common::{csv_rows, digits, guardbit, needed, root, succeed};

/// Runs the FP8 network on three images.
fn run(hw: &str, more: &[&str], out: &Path) {
    let (model, images, labels) =
        (digits("digits_fp8.onnx"), digits("test_images_float.npy"), digits("test_labels.npy"));
    let out = out.to_string_lossy();
    let args = ["run", &model, "--hw", hw, "--input", &images, "--labels", &labels, "--quiet", "-o", &out];
    succeed(&[&args, more].concat());
}

/// Tables, page, JSON and terminal have every layer, and say what the accumulator cost.
#[test]
fn results_have_the_layers() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    run("hopper-wgmma-e4m3", &["--samples", "3", "--set", "float_accumulation.fraction_bits=4"], &out);
    let rows = csv_rows(&out.join("aligned.csv"));
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["conv", "depthwise", "pointwise", "logits_product"]);
    let number = |row: usize, column: &str| rows[row][column].parse::<f64>().unwrap();
    assert_eq!((number(3, "products"), number(3, "dots"), number(3, "fraction_bits")), (288.0, 30.0, 4.0));
    for (at, row) in rows.iter().enumerate() {
        assert!(number(at, "cut_terms") > 0.0 && number(at, "wrong") > 0.0, "{row:?}");
        assert!(number(at, "required_result") > 4.0 && number(at, "cycles") > 0.0, "{row:?}");
    }
    let bits = csv_rows(&out.join("aligned_bits.csv"));
    let dots: u64 = bits
        .iter()
        .filter(|row| row["name"] == "logits_product")
        .map(|row| row["result"].parse::<u64>().unwrap())
        .sum();
    assert_eq!(dots, 30);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for (words, is_there) in [
        ("Floating-point accumulators", true),
        ("Does it lose bits?", true),
        ("Layers with the most noise", true),
        ("Does it overflow?", false),
        ("output codes", false),
    ] {
        assert_eq!(page.contains(words), is_there, "{words}");
    }
    let mut plots: Vec<String> = std::fs::read_dir(out.join("plots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".svg"))
        .collect();
    plots.sort_unstable();
    assert_eq!(plots, ["fraction_bits.svg", "roofline.svg", "sqnr.svg"]);
    let sqnr = std::fs::read_to_string(out.join("plots/sqnr.svg")).unwrap();
    assert!(sqnr.contains("logits_product"), "{sqnr}");
    let bottlenecks = csv_rows(&out.join("bottlenecks.csv"));
    assert_eq!(bottlenecks.len(), 4, "time of every layer");
    let (model, images) = (digits("digits_fp8.onnx"), digits("test_images_float.npy"));
    let args = ["run", &model, "--hw", "ada-mma-e4m3", "--input", &images, "--samples", "2", "--quiet"];
    let json: serde_json::Value = serde_json::from_str(&succeed(&[&args[..], &["--json"]].concat())).unwrap();
    assert_eq!(json["aligned"].as_array().unwrap().len(), 4);
    assert_eq!(json["coverage"]["layers_on_accelerator"], 4);
    let text = succeed(&args);
    assert!(text.contains("vanished") && text.contains("activations e4m3, weights e4m3"), "{text}");
    // Those with the least SQNR first, or all in order of execution.
    let first = |text: &str| text.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(first(&text), "logits_product", "{text}");
    assert_eq!(first(&succeed(&[&args[..], &["--all"]].concat())), "conv");
}

/// The command in the report runs in the folder where the run was started, whatever the paths are.
#[test]
fn the_command_of_a_report_runs() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("in 'ner");
    std::fs::create_dir(&inner).unwrap();
    for file in ["digits_fp8.onnx", "test_images_float.npy"] {
        std::fs::copy(digits(file), inner.join(file)).unwrap();
    }
    std::fs::write(inner.join("hw.yaml"), "schema: 1\nextends: hopper-wgmma-e4m3\n").unwrap();
    let guardbit = env!("CARGO_BIN_EXE_guardbit");
    let shell = |command: &str| {
        let run =
            std::process::Command::new("sh").args(["-c", command]).current_dir(dir.path()).output().unwrap();
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    };
    let files =
        "in\\ \\'ner/digits_fp8.onnx --hw in\\ \\'ner/hw.yaml --input in\\ \\'ner/test_images_float.npy";
    shell(&format!("{guardbit} run {files} --samples 2 --stats full --quiet -o out"));
    let page = std::fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    let (_, data) = page.split_once("id=\"layers-data\"").unwrap();
    let json = &data[data.find('{').unwrap()..data.find("</script>").unwrap()];
    let panels: serde_json::Value = serde_json::from_str(json).unwrap();
    let command = panels["command"].as_str().unwrap().replacen("guardbit", guardbit, 1);
    shell(&format!("{command} --to logits_product --stats full -o again --quiet"));
    assert!(dir.path().join("again/aligned.csv").exists());
}

/// Every point of a sweep has the layers, also if it is taken from the folder, and comparisons have them.
#[test]
fn points_and_comparisons_have_the_layers() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images) = (digits("digits_fp8.onnx"), digits("test_images_float.npy"));
    let out = dir.path().join("sweep");
    let axes = ["--axis", "float_accumulation.fraction_bits=6,40", "--axis", "mode=isolated,propagated"];
    // Short dot products are exact in float32, and JSON has no infinite ratios.
    let exact =
        ["--set", "float_accumulation.result=float32", "--set", "float_accumulation.result_round=half_even"];
    let words = out.to_string_lossy();
    let args =
        ["sweep", &model, "--hw", "hopper-wgmma-e4m3", "--input", &images, "--samples", "2", "--quiet"];
    let cache = dir.path().join("cache").to_string_lossy().into_owned();
    let args = [&args[..], &axes, &exact, &["--cache", &cache]].concat();
    succeed(&[&args[..], &["-o", &words]].concat());
    let rows = csv_rows(&out.join("aligned.csv"));
    let points: Vec<&str> = rows.iter().map(|row| row["point"].as_str()).collect();
    let expected = ["0", "1", "2", "3"].map(|point| [point; 4]).concat();
    assert_eq!(points, expected);
    let summary = csv_rows(&out.join("summary.csv"));
    for (point, row) in summary.iter().enumerate() {
        let own = |column: &str| -> u64 {
            let of = rows.iter().filter(|row| row["point"] == point.to_string());
            of.map(|row| row[column].parse::<u64>().unwrap()).sum()
        };
        assert_eq!(
            (row["wrong"].clone(), row["cycles"].clone()),
            (own("wrong").to_string(), own("cycles").to_string())
        );
    }
    assert!(rows.iter().any(|row| row["sum_sqnr_db"] == "inf"), "{rows:?}");
    let again = dir.path().join("again");
    succeed(&[&args[..], &["-o", &again.to_string_lossy()]].concat());
    let table = |folder: &Path| std::fs::read(folder.join("aligned.csv")).unwrap();
    assert!(table(&out) == table(&again), "points of the cache");

    let [wide, narrow] = ["13", "6"].map(|bits| {
        let out = dir.path().join(bits);
        let set = format!("float_accumulation.fraction_bits={bits}");
        run("hopper-wgmma-e4m3", &["--samples", "2", "--set", &set], &out);
        out.to_string_lossy().into_owned()
    });
    let text = succeed(&["compare", &wide, &narrow]);
    assert!(text.contains("logits_product") && text.contains("sum_sqnr_db"), "{text}");
    assert!(text.contains("and has an output SQNR of"), "{text}");
    assert!(!text.contains("settings.set"), "{text}");
}

/// Without the section the host computes the layers and says why; integer networks have no such table.
#[test]
fn without_the_section_nothing_changes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("host");
    run("exact-int32-os", &["--samples", "2"], &out);
    assert!(!out.join("aligned.csv").exists());
    let manifest = std::fs::read_to_string(out.join("run.json")).unwrap();
    assert!(manifest.contains("the accelerator has no `float_accumulation`"));
    let yaml = succeed(&["hw", "show", "exact-int32-os"]);
    assert!(!yaml.contains("float_accumulation"), "{yaml}");
    let yaml = succeed(&["hw", "show", "hopper-wgmma-e4m3-promoted"]);
    assert!(yaml.contains("promote_terms: 128") && !yaml.contains("sum_bits"), "{yaml}");
}

/// A fixed-point register of the required bits is exact, and one bit less overflows; the first overflow has its place.
/// Ordinary additions have no required bits.
#[test]
fn fixed_point_registers_and_ordinary_additions_run() {
    let dir = tempfile::tempdir().unwrap();
    let with = |hw: &str, sets: &[String]| {
        let out = dir.path().join(format!("{hw}{}", sets.join("-")));
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        run(hw, &[&sets[..], &["--samples", "2", "--mode", "isolated"]].concat(), &out);
        csv_rows(&out.join("aligned.csv"))
    };
    let exact = with("fpga-fp8-fixed", &[]);
    let mut required = 0;
    for row in &exact {
        assert_eq!(
            (row["wrong"].as_str(), row["cut_terms"].as_str(), row["overflows"].as_str()),
            ("0", "0", "0")
        );
        required = row["required_integer"].parse::<u32>().unwrap().max(required);
    }
    let bits = |bits: u32| with("fpga-fp8-fixed", &[format!("float_accumulation.bits={bits}")]);
    for (own, row) in bits(18 + required).iter().zip(&exact) {
        assert_eq!((&own["overflows"], &own["wrong"]), (&row["overflows"], &row["wrong"]));
    }
    let narrow = bits(17 + required);
    let worst = narrow.iter().find(|row| row["overflows"] != "0").expect("an overflow");
    assert!(worst["overflow_mode"] == "wrap" && worst["wrong"] != "0", "{worst:?}");
    for place in ["sample", "output", "addition", "direction"] {
        assert!(!worst[&format!("first_overflow_{place}")].is_empty(), "{worst:?}");
    }
    let serial: Vec<String> = ["reduce=serial", "terms=1", "fraction_bits=null", "result=float16"]
        .map(|set| format!("float_accumulation.{set}"))
        .into();
    for row in with("hopper-wgmma-e4m3", &serial) {
        assert_eq!((row["reduce"].as_str(), row["fraction_bits"].as_str()), ("serial", "10"));
        assert_eq!((row["required_result"].as_str(), row["unreached"].as_str()), ("", ""));
        assert!(row["cut_terms"] != "0" && row["overflows"].is_empty(), "{row:?}");
    }
}

/// Quantizes the float network to floating-point codes.
fn quantize(settings: &[&str], out: &Path) {
    let (model, images) = (digits("digits_float.onnx"), digits("calibration.npy"));
    let out = out.to_string_lossy();
    succeed(&[&["quantize", &model, "--calibration", &images, "--quiet", "-o", &out], settings].concat());
}

/// With ranges of the float network, the quantizer chooses the codes and scales of the network that another program
/// wrote: every figure of every layer is equal.
#[test]
fn quantized_networks_are_those_of_another_program() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out, other) = (dir.path().join("own.onnx"), dir.path().join("own"), dir.path().join("other"));
    quantize(&["--weights", "e4m3", "--activations", "e4m3", "--mode", "isolated"], &model);
    run("hopper-wgmma-e4m3", &["--samples", "3"], &other);
    let words = [&model, &out].map(|path| path.to_string_lossy().into_owned());
    let images = digits("test_images_float.npy");
    let args =
        ["run", &words[0], "--hw", "hopper-wgmma-e4m3", "--input", &images, "--samples", "3", "--quiet"];
    succeed(&[&args[..], &["-o", &words[1]]].concat());
    let figures = |folder: &Path| {
        let mut rows = csv_rows(&folder.join("aligned.csv"));
        rows.iter_mut()
            .for_each(|row| ["index", "layer", "name"].iter().for_each(|column| drop(row.remove(*column))));
        rows
    };
    assert_eq!(figures(&out), figures(&other));
}

/// Every pair of formats gives a network whose layers all run on the unit.
#[test]
fn every_format_runs_on_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    let images = digits("test_images_float.npy");
    for (weights, activations, hw, dtypes) in [
        ("e5m2", "e4m3", "hopper-wgmma-e4m3", ["e5m2", "e4m3"]),
        ("e4m3fnuz", "e5m2fnuz", "cdna3-mfma-fp8", ["e4m3fnuz", "e5m2fnuz"]),
        ("bfloat16", "bfloat16", "hopper-wgmma-f16", ["bfloat16"; 2]),
        ("e2m1", "e2m1", "blackwell-f8f6f4", ["e2m1"; 2]),
        ("mxfp8", "mxfp8-e5m2", "blackwell-mxf8f6f4", ["e4m3", "e5m2"]),
        ("mxfp4", "mxfp8", "blackwell-mxf8f6f4", ["e2m1", "e4m3"]),
        ("mxfp4", "e4m3", "blackwell-mxf8f6f4", ["e2m1", "e4m3"]),
        ("mxfp4", "mxfp4", "blackwell-mxf4", ["e2m1"; 2]),
        ("nvfp4", "nvfp4", "blackwell-nvf4", ["e2m1"; 2]),
    ] {
        let model = dir.path().join(format!("{weights}-{activations}.onnx"));
        let mut settings = vec!["--weights", weights, "--activations", activations, "--samples", "4"];
        if !activations.starts_with("mx") && !activations.starts_with("bf") {
            settings.extend(["--method", "mse"]);
        }
        quantize(&settings, &model);
        let model = model.to_string_lossy();
        let args = ["run", &model, "--hw", hw, "--input", &images, "--samples", "1", "--quiet", "--json"];
        let json: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
        assert_eq!(json["coverage"]["layers_on_accelerator"], 4, "{weights} x {activations}");
        for row in json["aligned"].as_array().unwrap() {
            let starts = |column: &str, name: &str| row[column].as_str().unwrap().starts_with(name);
            assert!(starts("weights", dtypes[0]) && starts("activations", dtypes[1]), "{row}");
        }
    }
}

/// A unit refuses operands that it does not multiply, and scales that it does not apply.
#[test]
fn operands_of_other_units_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let images = digits("test_images_float.npy");
    for (format, hw, words) in [
        (
            "e4m3fnuz",
            "hopper-wgmma-e4m3",
            "activations of e4m3fnuz, which `hopper-wgmma-e4m3` does not multiply",
        ),
        ("mxfp8", "blackwell-mxf4", "activations of e4m3, which `blackwell-mxf4` does not multiply"),
        ("nvfp4", "blackwell-mxf4", "activations with block scales of ue4m3, which `blackwell-mxf4`"),
        ("nvfp4", "blackwell-mxf8f6f4", "activations with block scales of ue4m3, which `blackwell-mxf8f6f4`"),
    ] {
        let model = dir.path().join(format!("{format}.onnx"));
        quantize(&["--weights", format, "--activations", format, "--samples", "4", "--force"], &model);
        let model = model.to_string_lossy();
        let output = guardbit(&["run", &model, "--hw", hw, "--input", &images, "--samples", "1", "--quiet"]);
        let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && text.contains(words), "{text}");
    }
}

/// Settings that floating-point codes do not have are errors that name them.
#[test]
fn settings_of_integer_codes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images) = (digits("digits_float.onnx"), digits("calibration.npy"));
    let out = dir.path().join("out.onnx");
    for (settings, words) in [
        ("--weights e4m3", "needs floating-point activations too"),
        ("--activations e5m2", "needs floating-point weights too"),
        ("--weights bfloat16 --activations e4m3", "cannot be multiplied"),
        (
            "--weights e4m3 --activations e4m4",
            "activations=e4m4: invalid codes: did you mean `e4m3`? expected",
        ),
        ("--weights bfloat16 --activations bfloat16 --method mse", "have no range to choose"),
        ("--weights mxfp4 --activations e4m3 --weight-method mse", "have no range to choose"),
        ("--weights e4m3 --activations e4m3 --method kl", "chooses ranges of integer codes"),
        (
            "--weights e4m3 --activations e4m3 --method guaranteed --hw fpga-int14-os",
            "chooses ranges of integer codes",
        ),
        ("--weights e4m3 --activations e4m3 --full-range", "has no effect on codes of e4m3"),
        ("--weights e4m3 --activations e4m3 --layer conv:weights=int4", "sets integer codes"),
        (
            "--weights e4m3 --activations e4m3 --mixed bytes=2000 --hw fpga-int14-os",
            "chooses widths of integer codes",
        ),
        ("--weights e4m3 --activations e4m3 --dynamic", "supports only integer codes"),
        ("--weights e4m3 --activations e4m3 --layer conv:weights=e5m2", "set for the whole network"),
    ] {
        let out = out.to_string_lossy();
        let args = ["quantize", &model, "--calibration", &images, "--quiet", "-o", &out];
        let output = guardbit(&[&args[..], &settings.split(' ').collect::<Vec<_>>()].concat());
        let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && text.contains(words), "{settings}: {text}");
        assert!(!Path::new(&*out).exists());
    }
}

/// ONNX Runtime computes equal codes of every layer, with its optimizations disabled.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn onnx_runtime_computes_equal_codes() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (dir.path().join("own.onnx"), dir.path().join("out"));
    let images = digits("test_images_float.npy");
    for format in ["e4m3", "e5m2", "bfloat16", "mxfp8"] {
        quantize(&["--weights", format, "--activations", format, "--force"], &model);
        let words = [&model, &out].map(|path| path.to_string_lossy().into_owned());
        let args =
            ["run", &words[0], "--hw", "exact-int32-os", "--input", &images, "--samples", "20", "--quiet"];
        succeed(&[&args[..], &["--stats", "none", "--dump-tensors", "--force", "-o", &words[1]]].concat());
        let output = Command::new(needed("GUARDBIT_ONNX_PYTHON"))
            .arg(root().join("scripts/oracles/check_floats.py"))
            .args([&words[0], &images, &out.join("tensors.npz").to_string_lossy().into_owned()])
            .output()
            .unwrap();
        let text =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{format}: {text}");
        println!("{format}: {text}");
    }
}

/// A sweep runs numbers of fraction bits together, and its points are those of runs.
#[test]
fn fraction_bits_are_an_axis() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images, labels) =
        (digits("digits_fp8.onnx"), digits("test_images_float.npy"), digits("test_labels.npy"));
    let out = dir.path().join("sweep");
    let axis = "float_accumulation.fraction_bits=1,13";
    let args = [
        "sweep",
        &model,
        "--hw",
        "hopper-wgmma-e4m3",
        "--axis",
        axis,
        "--input",
        &images,
        "--labels",
        &labels,
        "--samples",
        "40",
        "--quiet",
        "-o",
        &out.to_string_lossy(),
    ];
    succeed(&args);
    let points = csv_rows(&out.join("summary.csv"));
    for (point, bits) in points.iter().zip(["1", "13"]) {
        let alone = dir.path().join(bits);
        let set = format!("float_accumulation.fraction_bits={bits}");
        run("hopper-wgmma-e4m3", &["--samples", "40", "--set", &set], &alone);
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(alone.join("run.json")).unwrap()).unwrap();
        let alone = manifest["outcome"]["accuracy"].as_f64().unwrap();
        assert!((point["accuracy"].parse::<f64>().unwrap() - alone).abs() < 1e-6, "{bits} bits");
    }
    assert!(points[0]["accuracy"].parse::<f64>().unwrap() < points[1]["accuracy"].parse::<f64>().unwrap());
}

/// A key that does not fit is an error with its place.
#[test]
fn keys_are_checked() {
    let output =
        guardbit(&["hw", "check", "hopper-wgmma-e4m3", "--set", "float_accumulation.promote_terms=100"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("guardbit::hw::float"), "{text}");
}

/// A second implementation computes the outputs of both networks and the statistics of every layer.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn a_second_implementation_agrees() {
    let dir = tempfile::tempdir().unwrap();
    let samples = dir.path().join("samples.npy");
    let cut = "import sys, numpy; numpy.save(sys.argv[2], numpy.load(sys.argv[1])[7:10])";
    let python = || Command::new(needed("GUARDBIT_ONNX_PYTHON"));
    let images = digits("test_images_float.npy");
    assert!(python().args(["-c", cut, &images, &samples.to_string_lossy()]).status().unwrap().success());
    for (name, terms, bits, result, promoted) in [
        ("hopper", "32", "13", "e8m13", "0"),
        ("promoted", "32", "6", "e8m13", "64"),
        ("narrow", "5", "3", "float32", "0"),
        ("wide", "16", "25", "float32", "0"),
    ] {
        let (out, hw) = (dir.path().join(name), dir.path().join(format!("{name}.yaml")));
        let yaml = format!(
            "schema: 1\nfloat_accumulation: {{terms: {terms}, fraction_bits: {bits}, result: {result}, \
             promote_terms: {promoted}}}\n"
        );
        std::fs::write(&hw, yaml).unwrap();
        let words = [&hw, &samples, &out].map(|path| path.to_string_lossy().into_owned());
        let model = digits("digits_fp8.onnx");
        succeed(&["run", &model, "--hw", &words[0], "--input", &words[1], "--quiet", "-o", &words[2]]);
        let output = python()
            .arg(root().join("scripts/second/float_network.py"))
            .args([&model, &words[1], &words[2], terms, bits, result, promoted])
            .output()
            .unwrap();
        let text =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{name}: {text}");
        println!("{name}: {text}");
    }
}

/// A second implementation computes the outputs of networks with block scales.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn a_second_implementation_agrees_on_block_scales() {
    let dir = tempfile::tempdir().unwrap();
    let samples = dir.path().join("samples.npy");
    let cut = "import sys, numpy; numpy.save(sys.argv[2], numpy.load(sys.argv[1])[7:8])";
    let python = || Command::new(needed("GUARDBIT_ONNX_PYTHON"));
    let images = digits("test_images_float.npy");
    assert!(python().args(["-c", cut, &images, &samples.to_string_lossy()]).status().unwrap().success());
    for (weights, activations, hw, numbers) in [
        ("mxfp8", "mxfp8", "blackwell-mxf8f6f4", ["32", "6", "1", "0"]),
        ("mxfp4", "e4m3", "blackwell-mxf8f6f4", ["32", "6", "1", "0"]),
        ("mxfp4", "mxfp4", "blackwell-mxf4", ["64", "6", "16", "0"]),
        ("nvfp4", "nvfp4", "blackwell-nvf4", ["64", "6", "16", "0"]),
    ] {
        let name = format!("{weights}-{activations}");
        let (model, out) = (dir.path().join(format!("{name}.onnx")), dir.path().join(name));
        quantize(&["--weights", weights, "--activations", activations, "--samples", "16"], &model);
        let words = [&model, &samples, &out].map(|path| path.to_string_lossy().into_owned());
        let set = "float_accumulation.fraction_bits=6";
        succeed(&[
            "run", &words[0], "--hw", hw, "--set", set, "--input", &words[1], "--quiet", "-o", &words[2],
        ]);
        let script = root().join("scripts/second/block_network.py");
        let output = python().arg(script).args(&words).args(numbers).output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{weights} x {activations}: {text}");
    }
}
