//! Bundles of test vectors: exported, rechecked, and replayed in real simulators.
//!
//! The simulators run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs them and sets it).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use guardbit_testing::is_full;

use crate::common::{digits, guardbit, needed, shared_model, succeed};

const RESNET: &str = "resnet8_cifar10_int8.tflite";
const KEYWORDS: &str = "kws_dscnn_int8.tflite";

/// Exports a bundle to `dir`.
fn export(dir: &Path, model: &str, hw: &str, layer: &str, more: &[&str]) -> String {
    let out = dir.to_string_lossy();
    let mut args =
        vec!["vectors", model, "--hw", hw, "--layer", layer, "--random", "1", "--cases", "8", "-o", &out];
    args.extend(more);
    succeed(&args);
    out.into_owned()
}

/// Returns every file of a folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(contents(&entry.path())),
            false => drop(all.insert(entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
    all
}

/// Datapaths of every kind: accelerator, layer of the digits network, settings.
const DATAPATHS: &[(&str, &str, &[&str])] = &[
    ("fpga-int14-os", "0", &[]),
    ("fpga-int14-os", "5", &["--set", "accumulation.acc.overflow=wrap"]),
    (
        "fpga-int14-os",
        "2",
        &["--set", "accumulation.acc.overflow=sticky", "--set", "accumulation.acc.bits=12"],
    ),
    ("fpga-int14-os", "1", &["--set", "accumulation.acc.overflow=saturate_symmetric", "--byte-slots"]),
    ("fpga-int14-os", "2", &["--set", "accumulation.acc.overflow=saturate_zero", "--requantize", "single"]),
    ("fpga-int14-os", "2", &["--set", "accumulation.acc.overflow=observe", "--requantize", "away"]),
    ("fpga-int14-os", "2", &["--set", "accumulation.acc.check=hand_over"]),
    ("fpga-int14-os", "2", &["--set", "bias.at=preload", "--set", "accumulation.acc.bits=20"]),
    ("fpga-int14-os", "2", &["--set", "operands.zero_point=fold", "--set", "accumulation.acc.signed=false"]),
    (
        "fpga-int14-os",
        "2",
        &[
            "--set",
            "product.bits=12",
            "--set",
            "product.overflow=saturate",
            "--set",
            "product.shift=2",
            "--set",
            "product.round=half_even",
        ],
    ),
    (
        "fpga-int14-os",
        "2",
        &["--set", "accumulation.acc.shift=3", "--set", "accumulation.acc.round=half_away"],
    ),
    ("fpga-int14-tree", "0", &["--byte-slots"]),
    (
        "fpga-int14-tree",
        "5",
        &["--set", "accumulation.tree.check=hand_over", "--set", "accumulation.tree.shift=1"],
    ),
    (
        "fpga-int14-tree",
        "2",
        &["--set", "accumulation.tree.overflow=wrap", "--set", "accumulation.acc.overflow=sticky"],
    ),
    ("fpga-int14-ws", "5", &["--set", "accumulation.chain.overflow=sticky"]),
    (
        "inner14-outer24",
        "5",
        &["--set", "accumulation.inner.check=hand_over", "--set", "accumulation.inner.shift=2"],
    ),
    ("exact-int32-os", "2", &["--set", "accumulation.acc.bits=auto"]),
    ("fpga-int14-os", "0", &["--set", "reduction_order.walk=random", "--set", "reduction_order.seed=3"]),
    (
        "fpga-int14-ws",
        "2",
        &[
            "--set",
            "layers.2.reduction_order.walk=file",
            "--set",
            "layers.2.reduction_order.permutations=[15,1,2,3,4,14,6,7,8,9,10,11,12,13,5,0]",
        ],
    ),
    ("fpga-int14-os", "5", &["--set", "reduction_order.walk=sorted"]),
    ("inner14-outer24", "2", &["--set", "reduction_order.walk=sign_paired"]),
    (
        "fpga-int14-tree",
        "2",
        &[
            "--set",
            "reduction_order.walk=greedy",
            "--set",
            "bias.at=preload",
            "--set",
            "accumulation.acc.bits=16",
        ],
    ),
];

#[test]
fn bundles_are_reproducible_and_recomputed() {
    let dir = tempfile::tempdir().unwrap();
    for (index, (hw, layer, more)) in DATAPATHS.iter().enumerate() {
        let [first, second] = ["a", "b"].map(|name| dir.path().join(format!("{name}{index}")));
        export(&first, &digits("digits_int8.tflite"), hw, layer, more);
        export(&second, &digits("digits_int8.tflite"), hw, layer, more);
        let before = contents(&first);
        let names = |c: &BTreeMap<PathBuf, Vec<u8>>| c.values().cloned().collect::<Vec<_>>();
        assert!(names(&before) == names(&contents(&second)), "{hw} {layer} {more:?}");
        let table = succeed(&["check", &first.to_string_lossy(), "--simulator", "none"]);
        let passed = table.contains("reference engine ") && !table.contains("FAIL");
        assert!(passed, "{hw} {layer} {more:?}: {table}");
        assert!(before == contents(&first), "check writes nothing");
    }
}

/// The manifest of a bundle lists the settings of its export, and `check` accepts them.
#[test]
fn settings_of_a_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    let more = ["--set", "array.rows=8", "--byte-slots", "--formats", "npy", "--requantize", "single"];
    export(&bundle, &digits("digits_int8.tflite"), "fpga-int14-os", "2", &more);
    let manifest = fs::read_to_string(bundle.join("manifest.json")).unwrap();
    let said: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let expected = serde_json::json!({
        "layer": "2", "cases": 8, "formats": ["npy"], "waves": [], "byte_slots": true, "mode": "propagated",
        "set": ["array.rows=8", "requantize.scheme=single"],
    });
    assert_eq!(said["settings"], expected);
    succeed(&["check", &bundle.to_string_lossy()]);
}

/// Orders in a bundle: its operands follow the order, a permutation from a file belongs only to its layer,
/// and an order of single dot products leaves no operands to share.
#[test]
fn orders_of_a_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = |bundle: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(bundle.join("manifest.json")).unwrap()).unwrap()
    };
    let model = digits("digits_int8.tflite");
    let exported = |name: &str, more: &[&str]| {
        let bundle = dir.path().join(name);
        export(&bundle, &model, "fpga-int14-os", "2", more);
        bundle
    };
    let sorted = exported("sorted", &["--set", "reduction_order.walk=sorted"]);
    let said = manifest(&sorted);
    assert_eq!(said["arithmetic"]["reduction_order"], "kh kw ic, sorted by product");
    let absent = said["array_absent"].as_str().unwrap();
    assert!(said["array"].is_null() && absent.contains("an order of its own"), "{absent}");
    let hw = dir.path().join("hw.yaml");
    let text = "schema: 1\nextends: fpga-int14-os\nreduction_order:\n  walk: file\n  permutations: {pointwise_1: \
                [15, 1, 2, 3, 4, 14, 6, 7, 8, 9, 10, 11, 12, 13, 5, 0], '9': [8, 7, 6, 5, 4, 3, 2, 1, 0], '288': []}\n";
    let all: Vec<String> = (0..288).map(|i| i.to_string()).collect();
    fs::write(&hw, text.replace("[]", &format!("[{}]", all.join(", ")))).unwrap();
    let given = dir.path().join("given");
    export(&given, &model, &hw.to_string_lossy(), "2", &[]);
    let complete = fs::read_to_string(given.join("accelerator.yaml")).unwrap();
    assert!(complete.contains("\"16\":") && !complete.contains("\"288\":"), "{complete}");
    let refused = |sets: &[&str]| {
        let out = dir.path().join("refused");
        let args = ["vectors", &model, "--hw", "fpga-int14-os", "--layer", "2", "--random", "1"];
        let output = guardbit(&[&args, sets, &["-o", &out.to_string_lossy()]].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused(&["--set", "product.round=stochastic", "--set", "product.shift=2"]);
    assert!(error.contains("stochastic rounding"), "{error}");
}

#[test]
fn changed_files_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    let path = export(&bundle, &digits("digits_int8.tflite"), "fpga-int14-os", "0", &[]);
    for file in ["exp_acc_acc.mem", "stim_a.mem", "mask.mem", "rtl/gb_fit.sv", "manifest.schema.json"] {
        let intact = fs::read(bundle.join(file)).unwrap();
        let mut changed = intact.clone();
        changed[0] ^= 1;
        fs::write(bundle.join(file), &changed).unwrap();
        for simulator in ["none", "icarus"] {
            let output = guardbit(&["check", &path, "--simulator", simulator]);
            assert_eq!(output.status.code(), Some(1), "{file}, {simulator}");
        }
        fs::write(bundle.join(file), &intact).unwrap();
    }
    let manifest = fs::read_to_string(bundle.join("manifest.json")).unwrap();
    let expect = |text: String, code: i32| {
        fs::write(bundle.join("manifest.json"), text).unwrap();
        assert_eq!(guardbit(&["check", &path]).status.code(), Some(code));
    };
    expect(manifest.replace("\"overflow\": \"saturate\"", "\"overflow\": \"wrap\""), 1);
    expect(manifest.replace("\"lanes\": 1", "\"lanes\": 1, \"more\": 2"), 1);
    expect(manifest.replace("\"reduce\": \"serial\"", "\"reduce\": \"any\""), 1);
    let table = String::from_utf8(guardbit(&["check", &path]).stdout).unwrap();
    assert!(table.contains("FAIL") && table.contains("at /arithmetic/levels/0/reduce: \"any\""), "{table}");
    expect(manifest.replace("\"schema\": 4", "\"schema\": 9"), 2);
    expect("{".into(), 2);
    expect(manifest, 0);
    for file in ["GNUmakefile", "rtl/more.sv", "more.py", "build/tb-icarus/tb.vvp"] {
        let path = bundle.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let output = guardbit(&["check", &bundle.to_string_lossy()]);
        let table = String::from_utf8(output.stdout).unwrap();
        let first = if file.starts_with("build") { "build/" } else { file };
        let said = format!("{first}: the manifest does not list it; delete it, or move it out of the bundle");
        assert!(output.status.code() == Some(1) && table.contains(&said), "{file}: {table}");
        fs::remove_file(&path).unwrap();
    }
    fs::remove_dir_all(bundle.join("build")).unwrap();
    assert_eq!(guardbit(&["check", &path]).status.code(), Some(0));
}

#[test]
fn waves_and_streams_are_part_of_the_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, first, second] = ["plain", "a", "b"].map(|name| dir.path().join(name));
    let more = ["--waves", "vcd,fst", "--formats", "axis"];
    export(&plain, &digits("digits_int8.tflite"), "fpga-int14-ws", "0", &[]);
    assert!(!plain.join("waves").exists());
    for bundle in [&first, &second] {
        let path = export(bundle, &digits("digits_int8.tflite"), "fpga-int14-ws", "0", &more);
        succeed(&["check", &path]);
        for file in ["waves/vectors.vcd", "waves/vectors.fst", "stim_a.axis", "exp_out.axis"] {
            assert!(bundle.join(file).is_file(), "{file}");
        }
    }
    let bytes = |dir| contents(dir).into_values().collect::<Vec<_>>();
    assert!(bytes(&first) == bytes(&second));
    fs::write(first.join("waves/vectors.fst"), "").unwrap();
    assert_eq!(guardbit(&["check", &first.to_string_lossy()]).status.code(), Some(1));
}

#[test]
fn words_follow_the_portable_rule() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(
        &bundle,
        &digits("digits_int8.tflite"),
        "fpga-int14-os",
        "0",
        &["--formats", "dec,npy,bin,mif,coe,axis"],
    );
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(bundle.join("manifest.json")).unwrap()).unwrap();
    for file in manifest["files"].as_array().unwrap().iter().filter(|f| !f["digits"].is_null()) {
        let text = fs::read_to_string(bundle.join(file["path"].as_str().unwrap())).unwrap();
        let (bits, digits) = (file["bits"].as_u64().unwrap(), file["digits"].as_u64().unwrap());
        assert_eq!(digits, bits.div_ceil(4));
        assert_eq!(text.lines().count() as u64, file["words"].as_u64().unwrap());
        for line in text.lines() {
            assert!(line.len() as u64 == digits && line.bytes().all(|b| b"0123456789abcdef".contains(&b)));
            let top = u64::from_str_radix(&line[..1], 16).unwrap();
            assert!(bits % 4 == 0 || top >> (bits % 4) == 0, "unused top bits are zero");
        }
    }
    // int14: -1 is 3fff in .mem and -1 in .dec.
    let mem = fs::read_to_string(bundle.join("exp_acc_acc.mem")).unwrap();
    let dec = fs::read_to_string(bundle.join("exp_acc_acc.dec")).unwrap();
    for (word, value) in mem.lines().zip(dec.lines()) {
        let raw = i64::from_str_radix(word, 16).unwrap();
        assert_eq!(if raw >= 8192 { raw - 16384 } else { raw }, value.parse::<i64>().unwrap());
    }
}

/// Replays a bundle in `simulator`; nothing may differ.
fn replay(bundle: &str, simulator: &str) {
    let table = succeed(&["check", bundle, "--simulator", simulator]);
    assert!(table.contains(&format!("{simulator} ")) && table.contains(" pass "), "{table}");
}

/// Replays every datapath, the first of each accelerator on its whole array, and others on a smaller one that is not
/// square: nearly all of a run goes to the elements of the array, which are all alike.
fn replay_every_datapath(simulator: &str) {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let small = ["--set", "array.rows=4", "--set", "array.cols=6"];
    for (index, (hw, layer, more)) in DATAPATHS.iter().enumerate() {
        let is_first = DATAPATHS[..index].iter().all(|(earlier, ..)| earlier != hw);
        let more = [*more, if is_first { &[] } else { &small }].concat();
        let out = dir.path().join(index.to_string());
        replay(&export(&out, &digits("digits_int8.tflite"), hw, layer, &more), simulator);
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn every_datapath_replays_in_icarus() {
    replay_every_datapath("icarus");
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn every_datapath_replays_in_ghdl() {
    replay_every_datapath("ghdl");
}

/// `GUARDBIT_COCOTB_BIN` names the folder of cocotb 1.9's programs.
#[test]
#[ignore = "needs GUARDBIT_COCOTB_BIN, see scripts/test"]
fn the_cocotb_test_passes() {
    let bin = needed("GUARDBIT_COCOTB_BIN");
    let dir = tempfile::tempdir().unwrap();
    let bundle = dir.path().join("bundle");
    export(&bundle, &digits("digits_int8.tflite"), "fpga-int14-tree", "0", &[]);
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let make = |digit: bool| {
        if digit {
            let file = bundle.join("exp_acc_acc.mem");
            let mut text = fs::read(&file).unwrap();
            text[3] = if text[3] == b'0' { b'1' } else { b'0' };
            fs::write(&file, text).unwrap();
        }
        let ran = Command::new("make")
            .args(["cocotb", "SIM=icarus"])
            .current_dir(&bundle)
            .env("PATH", &path)
            .output();
        String::from_utf8_lossy(&ran.unwrap().stdout).into_owned()
    };
    let text = make(false);
    assert!(text.contains("PASS=2 FAIL=0"), "{text}");
    let changed = make(true);
    assert!(!changed.contains("PASS=2"), "a flipped digit is found: {changed}");
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_SIMULATORS, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_networks_replay() {
    needed("GUARDBIT_SIMULATORS");
    let (Some(resnet), Some(keywords)) = (shared_model(RESNET), shared_model(KEYWORDS)) else { return };
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (&resnet, "fpga-int14-os", "2", "12", "icarus"),
        (&resnet, "fpga-int14-ws", "14", "16", "icarus"),
        (&resnet, "fpga-int14-tree", "6", "14", "verilator"),
        (&keywords, "fpga-int14-os", "1", "14", "verilator"),
        (&keywords, "fpga-int14-tree", "11", "20", "icarus"),
        (&keywords, "fpga-int14-ws", "2", "14", "icarus"),
    ];
    for (index, (model, hw, layer, bits, simulator)) in cases.into_iter().enumerate() {
        let set = format!("accumulation.acc.bits={bits}");
        let bundle = export(&dir.path().join(index.to_string()), model, hw, layer, &["--set", &set]);
        replay(&bundle, simulator);
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn every_mutant_is_caught() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("fpga-int14-os", "0", "accumulation.acc.overflow=saturate"),
        ("fpga-int14-os", "5", "accumulation.acc.overflow=wrap"),
        ("fpga-int14-tree", "0", "accumulation.acc.overflow=sticky"),
        ("fpga-int14-ws", "5", "accumulation.acc.overflow=saturate_symmetric"),
    ];
    // The modes on arrays are also those of `rtl_grid`.
    let cases = if is_full() { &cases[..] } else { &cases[2..3] };
    let vhdl = dir.path().join("vhdl");
    let bundle = export(&vhdl, &digits("digits_int8.tflite"), "fpga-int14-os", "0", &[]);
    let table = succeed(&["check", &bundle, "--simulator", "ghdl", "--mutate"]);
    eprintln!("{table}");
    for (index, &(hw, layer, set)) in cases.iter().enumerate() {
        let out = dir.path().join(index.to_string());
        let bundle = export(&out, &digits("digits_int8.tflite"), hw, layer, &["--set", set]);
        let table = succeed(&["check", &bundle, "--simulator", "icarus", "--mutate"]);
        eprintln!("{hw} {layer} {set}\n{table}");
        assert!(table.contains("flipped_digit") && !table.contains(" NO "), "{table}");
    }
}

/// The cycles of a bundle are those of its layer alone, and are rechecked as such; no array design has groups
/// side by side.
#[test]
fn bundles_are_of_layers_alone() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = |name: &str, sets: &[&str]| -> serde_json::Value {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let path = dir.path().join(name);
        let out = export(&path, &digits("digits_int8.tflite"), "fpga-int14-os", "1", &sets);
        succeed(&["check", &out]);
        serde_json::from_slice(&fs::read(path.join("manifest.json")).unwrap()).unwrap()
    };
    let plain = manifest("plain", &[]);
    let fit = manifest("fit", &["memory.residency=fit"]);
    assert_eq!(plain["timing"], fit["timing"]);
    let diagonal = manifest("diagonal", &["array.depthwise=block_diagonal"]);
    assert!(diagonal["timing"]["cycles"].as_u64() < plain["timing"]["cycles"].as_u64());
    let absent = diagonal["array_absent"].as_str().unwrap();
    assert!(absent.contains("`array.depthwise` is block_diagonal"), "{absent}");
    assert!(plain["array_absent"].is_null());
}
