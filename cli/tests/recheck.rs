//! Bundles recomputed by `scripts/second/recheck_bundle.py`, which was written only from `docs/reference/bundle-format.md` and
//! `docs/reference/bundle-array.md`.
//!
//! `GUARDBIT_ORACLE_PYTHON` names a Python with NumPy; see `scripts/test`.

use std::fs;
use std::path::Path;
use std::process::Command;

use guardbit_num::Scheme;

use guardbit_testing::is_full;

use crate::common::{digits, guardbit, needed, root, shared_model, succeed};

const FORMATS: &str = "dec,npy,bin,mif,coe,axis";

/// Returns whether the script finds no difference, and its output.
fn recheck(python: &str, bundle: &Path) -> (bool, String) {
    let script = root().join("scripts/second/recheck_bundle.py");
    let output = Command::new(python).arg(script).arg(bundle).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

fn export(dir: &Path, model: &str, hw: &str, layer: &str, more: &[&str]) -> std::process::Output {
    let (images, out) = (digits("test_images.npy"), dir.to_string_lossy());
    let mut args = vec!["vectors", model, "--hw", hw, "--layer", layer, "--cases", "8", "--formats", FORMATS];
    args.extend(["-o", &out]);
    // The samples of the shared networks are not needed: any codes will do.
    let input = if model.contains("digits") { ["--input", &images] } else { ["--random", "1"] };
    args.extend(input);
    args.extend(more);
    guardbit(&args)
}

fn check(python: &str, dir: &Path, model: &str, hw: &str, layer: &str, more: &[&str]) {
    let output = export(dir, model, hw, layer, more);
    let name = format!("{hw} {layer} {}", more.join(" "));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let (passed, text) = recheck(python, dir);
    assert!(passed && text.contains(" 0 differ"), "{name}: {text}");
    eprintln!("{name}: {}", text.lines().next().unwrap_or_default().rsplit(": ").next().unwrap_or_default());
}

/// The excerpts on the page about the format belong to the bundle of the page about verification.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn the_page_shows_how_many_values_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    let (model, images, out) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), bundle.to_string_lossy());
    succeed(&["vectors", &model, "--hw", "fpga-int14-os", "--layer", "0", "--input", &images, "-o", &out]);
    let (passed, text) = recheck(&python, &bundle);
    let printed = text.lines().next().unwrap_or_default().rsplit(": ").next().unwrap_or_default();
    let page = fs::read_to_string(root().join("docs/reference/bundle-format.md")).unwrap();
    assert!(passed && page.contains(&format!("bundle: {printed}\n")), "{text}");
}

/// Presets that cannot be exported, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("nvdla-large", "a tree over 64 products"),
    ("blackwell-mxf4", "a tree over 64 products"),
    ("blackwell-nvf4", "a tree over 64 products"),
    ("dsp48e2-int8x2", "lanes share adders"),
    ("cmsis-nn-s16", "acc64 needs 64 bits"),
    ("intel-gna", "buffer needs 64 bits"),
];

/// Presets that leave depthwise convolutions to the host.
const WITHOUT_DEPTHWISE: &[&str] = &["x86-avx2-vpmaddubsw", "fbgemm-acc16", "arm-smlal"];

/// Every preset that can be exported, on a convolution, a depthwise and a fully connected layer.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn bundles_of_every_preset_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let listed: serde_json::Value = serde_json::from_str(&succeed(&["hw", "list", "--json"])).unwrap();
    let presets: Vec<&str> = listed.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert!(presets.len() > 10);
    const LAYERS: [&str; 3] = ["0", "1", "5"];
    for (index, hw) in presets.into_iter().enumerate() {
        // One layer in turn, or all of them.
        for &layer in if is_full() { &LAYERS[..] } else { &LAYERS[index % 3..][..1] } {
            let layer = if layer == "1" && WITHOUT_DEPTHWISE.contains(&hw) { "0" } else { layer };
            let out = dir.path().join(format!("{hw}{layer}"));
            let model = digits("digits_int8.tflite");
            match REFUSED.iter().find(|(name, _)| *name == hw) {
                None => check(&python, &out, &model, hw, layer, &[]),
                Some((_, reason)) => {
                    let error = String::from_utf8(export(&out, &model, hw, layer, &[]).stderr).unwrap();
                    let words =
                        error.replace(['|', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
                    assert!(words.contains(reason), "{hw}: {error}");
                }
            }
        }
    }
}

/// Units of floating-point layers: formats of the operands, accelerator, layer, and changed keys.
const FLOATS: [(&str, &str, &str, &str); 10] = [
    ("e4m3", "hopper-wgmma-e4m3", "conv", ""),
    ("e4m3", "hopper-wgmma-e4m3-promoted", "logits_product", ""),
    ("e4m3", "ada-mma-e4m3", "depthwise", "terms=8 align_round=floor promote_terms=64 negative_zero=true"),
    ("e5m2", "blackwell-f8f6f4", "pointwise", "result=float16 align_round=half_even fraction_bits=6"),
    ("e4m3fnuz", "cdna3-mfma-fp8", "logits_product", ""),
    ("bfloat16", "cdna3-mfma-f16", "pointwise", ""),
    ("bfloat16", "ampere-mma-f16", "logits_product", "result=bfloat16 result_round=half_even"),
    ("mxfp8", "blackwell-mxf8f6f4", "depthwise", "terms=8 promote_terms=32"),
    ("mxfp4", "blackwell-mxf4", "logits_product", "result=float16 fraction_bits=9 terms=32"),
    ("nvfp4", "blackwell-nvf4", "logits_product", ""),
];

/// Units of every kind, recomputed from the description of their bundles; a word that changes is found.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn bundles_of_floating_point_layers_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let recheck = |bundle: &str| {
        let script = root().join("scripts/second/recheck_float_bundle.py");
        let output = Command::new(&python).arg(script).arg(bundle).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (model, images) = (digits("digits_float.onnx"), digits("test_images_float.npy"));
    for (index, (format, hw, layer, sets)) in FLOATS.into_iter().enumerate() {
        let (network, bundle) = (path(&format!("{format}.onnx")), path(&format!("bundle_{index}")));
        if !Path::new(&network).exists() {
            let calibration = digits("calibration.npy");
            let args = ["quantize", &model, "--calibration", &calibration, "--quiet", "-o", &network];
            succeed(&[&args[..], &["--weights", format, "--activations", format]].concat());
        }
        let sets: Vec<String> =
            sets.split_whitespace().map(|set| format!("float_accumulation.{set}")).collect();
        let args = ["vectors", &network, "--hw", hw, "--layer", layer, "--input", &images, "--samples", "1"];
        let sets = sets.iter().flat_map(|set| ["--set", set.as_str()]);
        let args: Vec<&str> = args.into_iter().chain(["--cases", "6", "-o", &bundle]).chain(sets).collect();
        succeed(&args);
        let (passed, text) = recheck(&bundle);
        assert!(passed && text.contains(" 0 differ"), "{hw} {layer}: {text}");
    }
    let file = dir.path().join("bundle_0/exp_acc.dec");
    let words = fs::read_to_string(&file).unwrap();
    let (first, rest) = words.split_once('\n').unwrap();
    fs::write(&file, format!("{}\n{rest}", first.parse::<u32>().unwrap() ^ 1)).unwrap();
    let (passed, text) = recheck(&path("bundle_0"));
    assert!(!passed && text.contains(" 1 differ"), "{text}");
}

macro_rules! set {
    ($($key:literal),*) => { &[$("--set", $key),*] };
}

/// Parts of the datapath that no preset uses.
const DATAPATHS: &[(&str, &str, &[&str])] = &[
    (
        "fpga-int14-os",
        "2",
        set!["bias.at=preload", "accumulation.acc.bits=9", "accumulation.acc.overflow=sticky"],
    ),
    (
        "fpga-int14-os",
        "0",
        set!["bias.at=preload", "accumulation.acc.bits=12", "accumulation.acc.overflow=wrap"],
    ),
    (
        "fpga-int14-os",
        "2",
        set![
            "bias.at=preload",
            "accumulation.acc.check=hand_over",
            "product.shift=2",
            "product.round=half_even"
        ],
    ),
    (
        "inner14-outer24",
        "2",
        set![
            "bias.at=preload",
            "accumulation.inner.shift=3",
            "accumulation.inner.round=half_odd",
            "accumulation.outer.bits=10"
        ],
    ),
    (
        "fpga-int14-os",
        "2",
        set!["bias.at=post_requantize", "bias.bits=6", "bias.overflow=saturate_symmetric"],
    ),
    (
        "fpga-int14-os",
        "2",
        set![
            "accumulation.acc.shift=3",
            "accumulation.acc.round=half_away",
            "bias.bits=10",
            "bias.overflow=wrap"
        ],
    ),
    (
        "fpga-int14-os",
        "2",
        set!["product.bits=12", "product.overflow=wrap", "product.shift=4", "product.round=half_down"],
    ),
    (
        "fpga-int14-os",
        "5",
        set!["product.bits=10", "product.overflow=saturate_zero", "product.round=toward_zero"],
    ),
    (
        "fpga-int14-tree",
        "5",
        set![
            "accumulation.tree.check=hand_over",
            "accumulation.tree.shift=1",
            "accumulation.tree.round=half_up"
        ],
    ),
    (
        "fpga-int14-tree",
        "0",
        set!["array.dot_width=13", "bias.at=preload", "accumulation.acc.check=hand_over"],
    ),
    (
        "fpga-int14-tree",
        "2",
        set![
            "array.dot_width=5",
            "accumulation.tree.bits=9",
            "accumulation.tree.round=half_to_zero",
            "accumulation.tree.shift=2"
        ],
    ),
    (
        "fpga-int14-ws",
        "5",
        set!["accumulation.chain.check=hand_over", "accumulation.chain.shift=2", "accumulation.acc.bits=11"],
    ),
    (
        "fpga-int14-ws",
        "2",
        set!["array.rows=5", "array.cols=3", "accumulation.chain.bits=10", "product.shift=1"],
    ),
    ("fpga-int14-os", "2", set!["operands.zero_point=fold", "accumulation.acc.signed=false"]),
    (
        "fpga-int14-os",
        "2",
        set!["accumulation.acc.signed=false", "accumulation.acc.overflow=wrap", "accumulation.acc.shift=1"],
    ),
];

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn bundles_of_every_datapath_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    for (index, (hw, layer, more)) in DATAPATHS.iter().enumerate() {
        check(&python, &dir.path().join(format!("d{index}")), &model, hw, layer, more);
    }
    let modes = ["wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe", "trap"];
    for overflow in modes.into_iter().step_by(if is_full() { 1 } else { 3 }) {
        let set = |key: &str| format!("{key}.overflow={overflow}");
        let keys = ["product", "accumulation.tree", "accumulation.acc", "bias"].map(set);
        let mut more =
            vec!["--set", "product.bits=13", "--set", "accumulation.tree.bits=12", "--set", "bias.bits=16"];
        more.extend(keys.iter().flat_map(|key| ["--set", key]));
        check(&python, &dir.path().join(format!("tree{overflow}")), &model, "fpga-int14-tree", "5", &more);
        let keys = ["accumulation.chain", "accumulation.acc"].map(set);
        let mut more = vec!["--byte-slots"];
        more.extend(keys.iter().flat_map(|key| ["--set", key]));
        check(&python, &dir.path().join(format!("ws{overflow}")), &model, "fpga-int14-ws", "5", &more);
    }
}

#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn bundles_of_every_scheme_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let wide = dir.path().join("wide.yaml");
    for (turn, scheme) in Scheme::ALL.iter().map(|scheme| scheme.name()).enumerate() {
        let more = ["--requantize", scheme, "--set", "product.shift=1", "--set", "accumulation.acc.bits=20"];
        check(&python, &dir.path().join(scheme), &model, "fpga-int14-os", "2", &more);
        let more = ["--requantize", scheme, "--set", "bias.at=post_requantize"];
        check(&python, &dir.path().join(format!("{scheme}_b")), &model, "fpga-int14-os", "0", &more);
        // Multipliers that leave nothing, and multipliers that leave 16 and 32 bits.
        for (index, scale) in ["1e+12", "1.0", "0.1", "1e-9"].into_iter().enumerate() {
            if !is_full() && index != turn % 4 {
                continue;
            }
            fs::write(&wide, large_sums(scheme, scale)).unwrap();
            let out = dir.path().join(format!("{scheme}_{index}"));
            check(&python, &out, &wide.to_string_lossy(), "exact-int32-os", "0", &[]);
        }
    }
}

/// Returns a layer with sums of up to 32 bits and a 16-bit output with this scale.
fn large_sums(scheme: &str, scale: &str) -> String {
    format!(
        "schema: 1
inputs: [{{name: x, shape: [1, 64], dtype: int16, scale: 1.0}}]
constants:
  - {{name: w, shape: [2, 64], dtype: int8, scale: 1.0, random: {{seed: 3, min: 50}}}}
  - {{name: b, shape: [2], dtype: int32, values: [2000000000, -5]}}
nodes:
  - {{op: fully_connected, inputs: [x, w, b], output: {{name: y, dtype: int16, scale: {scale}}}, requantize: {scheme}}}
outputs: [y]
"
    )
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn bundles_of_real_networks_are_recomputed() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let (Some(resnet), Some(wake)) =
        (shared_model("resnet8_cifar10_int8.tflite"), shared_model("vww_mobilenet_v1_025_int8.tflite"))
    else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (&resnet, "fpga-int14-os", "0"),
        (&resnet, "fpga-int14-ws", "14"),
        (&resnet, "nvdla-small", "6"),
        (&wake, "fpga-int14-tree", "3"),
        (&wake, "gemmini-16", "2"),
        (&wake, "ethos-u55-256", "29"),
    ];
    for (index, (model, hw, layer)) in cases.into_iter().enumerate() {
        check(&python, &dir.path().join(index.to_string()), model, hw, layer, &[]);
    }
}

/// A changed digit in any expected file, and a changed contract, are found.
#[test]
#[ignore = "needs GUARDBIT_ORACLE_PYTHON, see scripts/test"]
fn planted_faults_are_found() {
    let python = needed("GUARDBIT_ORACLE_PYTHON");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    let more = ["--set", "bias.at=post", "--set", "accumulation.chain.shift=1"];
    assert!(export(&bundle, &digits("digits_int8.tflite"), "fpga-int14-ws", "5", &more).status.success());
    assert!(recheck(&python, &bundle).0);
    let found = |file: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let intact = fs::read(bundle.join(file)).unwrap();
        let mut changed = intact.clone();
        change(&mut changed);
        assert!(changed != intact, "{file}");
        fs::write(bundle.join(file), &changed).unwrap();
        let (passed, text) = recheck(&python, &bundle);
        assert!(!passed, "{file}: {text}");
        fs::write(bundle.join(file), intact).unwrap();
    };
    for (index, name) in [
        "exp_acc_chain",
        "exp_acc_acc",
        "exp_flags",
        "exp_sum",
        "exp_out",
        "exp_wide",
        "mask",
        "ctrl",
        "stim_a",
        "stim_bias",
        "stim_mult",
        "array/exp_sum",
        "array/exp_mask",
        "array/stim_w",
    ]
    .into_iter()
    .enumerate()
    {
        const FORMATS: [&str; 4] = ["mem", "bin", "dec", "coe"];
        // One format in turn, or all of them.
        for &extension in if is_full() { &FORMATS[..] } else { &FORMATS[index % 4..][..1] } {
            // Lowest bit of the last value.
            found(&format!("{name}.{extension}"), &|bytes| match extension {
                "bin" => *bytes.last_mut().unwrap() ^= 1,
                _ => {
                    let at = bytes.iter().rposition(u8::is_ascii_hexdigit).unwrap();
                    bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
                }
            });
        }
    }
    for (from, to) in [
        ("\"overflow\": \"saturate\"", "\"overflow\": \"wrap\""),
        ("\"round\": \"floor\"", "\"round\": \"half_up\""),
        ("\"at\": \"post\"", "\"at\": \"none\""),
        ("\"scheme\": \"float64_away\"", "\"scheme\": \"even\""),
        ("\"word_order\": \"pixels\"", "\"word_order\": \"bottom_row_first\""),
    ] {
        found("manifest.json", &|bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = text.replacen(from, to, if from.contains("round") { 3 } else { 1 }).into_bytes();
        });
    }
}
