//! `guardbit vectors` and `guardbit check` of floating-point layers.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{digits, guardbit, succeed};

/// Exports a layer of the FP8 network.
fn export(hw: &str, layer: &str, more: &[&str], out: &Path) -> Vec<String> {
    let (model, images) = (digits("digits_fp8.onnx"), digits("test_images_float.npy"));
    let out = out.to_string_lossy();
    let args = [
        "vectors",
        &model,
        "--hw",
        hw,
        "--layer",
        layer,
        "--input",
        &images,
        "--samples",
        "2",
        "--cases",
        "12",
        "--quiet",
        "-o",
        &out,
    ];
    // Units of other formats compute these codes as well.
    let operands = ["--set", "float_accumulation.operands=[e4m3]"];
    args.iter().chain(&operands).chain(more).map(|word| (*word).to_owned()).collect()
}

fn exported(hw: &str, layer: &str, more: &[&str], out: &Path) -> String {
    let args = export(hw, layer, more, out);
    succeed(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the message of a command that is refused.
fn refused(args: &[&str]) -> String {
    let output = guardbit(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn manifest(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap()
}

/// Layers of every preset are exported with real and corner cases, alike each time, and pass the check.
#[test]
fn layers_of_tensor_cores_are_exported() {
    let dir = tempfile::tempdir().unwrap();
    for (hw, layer) in [
        ("hopper-wgmma-e4m3-promoted", "logits_product"),
        ("cdna3-mfma-fp8", "pointwise"),
        ("ada-mma-e4m3", "depthwise"),
    ] {
        let out = dir.path().join(hw);
        let text = exported(hw, layer, &["--formats", "dec,npy,bin,mif,coe"], &out);
        assert!(text.contains("real") && text.contains("corner") && text.contains("bins hit"), "{text}");
        let again = dir.path().join(format!("{hw}-again"));
        exported(hw, layer, &["--formats", "dec,npy,bin,mif,coe"], &again);
        assert_eq!(
            fs::read(out.join("manifest.json")).unwrap(),
            fs::read(again.join("manifest.json")).unwrap()
        );
        let manifest = manifest(&out);
        assert_eq!(manifest["kind"], "float");
        let cases = manifest["cases"].as_array().unwrap();
        assert_eq!(cases.iter().filter(|case| case["group"] == "real").count(), 12);
        assert_eq!(manifest["compared"]["total"].as_u64().unwrap() > 0, hw.ends_with("promoted"));
        let text = succeed(&["check", &out.to_string_lossy(), "--simulator", "none", "--quiet"]);
        assert!(text.contains("reference engine") && !text.contains("FAIL"), "{text}");
        fs::write(out.join("exp_sum.mem"), "0\n").unwrap();
        let output = guardbit(&["check", &out.to_string_lossy(), "--simulator", "none", "--quiet"]);
        assert_eq!(output.status.code(), Some(1));
    }
}

/// What is for integer layers only is refused, and nothing is written.
#[test]
fn what_is_not_supported_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for (more, said) in [
        (&["--formats", "axis"][..], "AXI4-Stream transfers"),
        (&["--waves", "vcd"], "waveforms"),
        (&["--set", "float_accumulation.terms=128"], "additions of 128 products (at most 64)"),
        (&["--set", "float_accumulation.result=fixed"], "`float_accumulation.result: fixed`"),
    ] {
        let args = export("hopper-wgmma-e4m3", "logits_product", more, &out);
        let text = refused(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(text.contains(said), "{more:?}: {text}");
        assert!(!out.exists(), "{more:?}");
    }
    let (model, folder) = (digits("digits_fp8.onnx"), out.to_string_lossy());
    let whole =
        ["vectors", &model, "--hw", "hopper-wgmma-e4m3", "--layer", "logits_product", "--random", "1"];
    let text = refused(&[&whole[..], &["--whole", "--quiet", "-o", &folder]].concat());
    assert!(text.contains("expected a layer of integer") && !out.exists(), "{text}");
    exported("hopper-wgmma-e4m3", "logits_product", &[], &out);
    let design = dir.path().join("mine.sv");
    fs::write(&design, "module my_dut; endmodule\n").unwrap();
    let text = refused(&["check", &folder, "--dut", &design.to_string_lossy(), "--quiet"]);
    assert!(text.contains("takes no --dut") && text.contains("DUT=FILE"), "{text}");
}

/// Both simulators replay the bundle, and every fault in the reference design is caught or proved harmless.
#[test]
fn simulators_replay_the_bundle() {
    if std::env::var_os("GUARDBIT_SIMULATORS").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let narrow = ["--set", "float_accumulation.terms=4", "--set", "float_accumulation.promote_terms=8"];
    for (hw, layer, more, mutate) in [
        ("hopper-wgmma-e4m3-promoted", "logits_product", &narrow[..], true),
        ("cdna3-mfma-fp8", "depthwise", &[], false),
    ] {
        let out = dir.path().join(hw);
        exported(hw, layer, more, &out);
        let folder = out.to_string_lossy();
        let text = succeed(&["check", &folder, "--simulator", "all", "--quiet"]);
        for said in ["icarus, stress", "verilator, stress", "ghdl", "not applicable: "] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let output = guardbit(&["check", &folder, "--simulator", "ghdl", "--quiet"]);
        assert_eq!(output.status.code(), Some(1), "VHDL has no such unit");
        if mutate {
            let text = succeed(&["check", &folder, "--simulator", "icarus", "--mutate", "--quiet"]);
            assert!(text.contains("mutants caught") && !text.contains("MISSED"), "{text}");
        }
    }
}

/// Layers with scales of blocks of both kinds of units: every bin is reached or unreachable, simulators replay the bundles, and
/// every fault is caught or proved harmless.
#[test]
fn layers_with_scales_of_blocks_are_exported() {
    let dir = tempfile::tempdir().unwrap();
    let images = digits("test_images_float.npy");
    let calibration = digits("calibration.npy");
    let has_simulators = std::env::var_os("GUARDBIT_SIMULATORS").is_some();
    let narrow = ["--set", "float_accumulation.terms=4"];
    for (codes, hw, layer, more, mutate) in [
        ("mxfp8", "blackwell-mxf8f6f4", "pointwise", &narrow[..], true),
        ("mxfp8", "blackwell-mxf8f6f4", "depthwise", &[], false),
        ("mxfp4", "blackwell-mxf4", "logits_product", &[], false),
        ("nvfp4", "blackwell-nvf4", "logits_product", &[], false),
    ] {
        let name = format!("{hw}-{layer}");
        let (model, out) = (dir.path().join(format!("{name}.onnx")), dir.path().join(&name));
        let (model, out) = (model.to_string_lossy(), out.to_string_lossy());
        let source = digits("digits_float.onnx");
        let settings =
            ["--weights", codes, "--activations", codes, "--calibration", &calibration, "--samples", "4"];
        succeed(&[&["quantize", &source, "--quiet", "-o", &model], &settings[..]].concat());
        let export = ["vectors", &model, "--hw", hw, "--layer", layer, "--input", &images, "--samples", "2"];
        let files = ["--cases", "12", "--formats", "dec", "--quiet", "-o", &out];
        succeed(&[&export[..], more, &files].concat());
        let manifest = manifest(Path::new(&*out));
        let group = manifest["arithmetic"]["scales"]["group_terms"].as_u64();
        assert_eq!(group, (codes != "mxfp8").then_some(16), "{name}");
        let bins = manifest["coverage"].as_array().unwrap();
        // Scales of ue4m3 lead to few accumulators that lose bits, and none is drawn.
        let rare = ["accumulator_at_f+2", "accumulator_cut"].map(Value::from);
        let is_rare = |bin: &Value| hw == "blackwell-nvf4" && rare.contains(&bin["name"]);
        let is_missed =
            |bin: &&Value| bin["cases"] == json!([0, 0]) && bin["unreachable"].is_null() && !is_rare(bin);
        let missed: Vec<_> = bins.iter().filter(is_missed).collect();
        assert!(missed.is_empty(), "{name}: {missed:?}");
        let text = succeed(&["check", &out, "--simulator", "none", "--quiet"]);
        assert!(text.contains("reference engine") && !text.contains("FAIL"), "{name}: {text}");
        if !has_simulators {
            continue;
        }
        for simulator in ["icarus", "verilator"] {
            let text = succeed(&["check", &out, "--simulator", simulator, "--quiet"]);
            assert!(text.contains(&format!("{simulator}, stress")), "{name}: {text}");
        }
        if mutate {
            let text = succeed(&["check", &out, "--simulator", "icarus", "--mutate", "--quiet"]);
            assert!(text.contains("mutants caught") && !text.contains("MISSED"), "{name}: {text}");
        }
    }
}
