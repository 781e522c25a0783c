//! Meaning of files, presets and overrides.

use guardbit_hwmodels::{
    Accelerator, Axis, BiasPlace, Dataflow, MAC_OPERATIONS, PRESETS, Reduce, Register, Resource, Terms, Walk,
    check, from_yaml, keys_text, load, schema,
};
use guardbit_num::{Format, Overflow};

fn file(text: &str) -> Accelerator {
    with_sets(text, &[])
}

fn with_sets(text: &str, sets: &[&str]) -> Accelerator {
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    from_yaml(&format!("schema: 1\n{text}\n"), "dir/hw.yaml", &sets).unwrap()
}

/// Returns name, reduction, terms and width of every level.
fn levels(accelerator: &Accelerator) -> Vec<(&str, Reduce, Terms, Option<u32>)> {
    let bits = |register| match register {
        Register::Auto => None,
        Register::Fixed { format, .. } => Some(Format::bits(format)),
    };
    let levels = accelerator.datapath.levels.iter();
    levels.map(|l| (l.name.as_str(), l.reduce, l.terms, bits(l.register))).collect()
}

#[test]
fn a_minimal_file_has_the_defaults_of_the_manual() {
    let accelerator = file("");
    assert_eq!(accelerator.name, "hw");
    assert_eq!(accelerator.clock_mhz, 300.0);
    assert_eq!(accelerator.dataflow, Dataflow::OutputStationary);
    assert_eq!(accelerator.offload, *MAC_OPERATIONS);
    assert_eq!(levels(&accelerator), [("acc", Reduce::Serial, Terms::All, None)]);
    assert_eq!(accelerator.datapath.bias.at, BiasPlace::Post);
    let wide = Register::Fixed { format: Format::signed(32).unwrap(), overflow: Overflow::Saturate };
    assert_eq!(accelerator.datapath.bias.register, wide);
}

#[test]
fn the_preset_of_the_manual_is_the_default_with_14_bits() {
    let preset = load("fpga-int14-os", &[]).unwrap();
    let mut expected = with_sets("name: fpga-int14-os", &["accumulation.acc.bits=14", "bias.bits=32"]);
    expected.description = preset.description.clone();
    assert_eq!(preset, expected);
}

#[test]
fn levels_follow_from_the_dataflow() {
    let (serial, tree, all) = (Reduce::Serial, Reduce::Tree, Terms::All);
    let acc = ("acc", serial, all, None);
    assert_eq!(levels(&file("dataflow: vector")), [acc]);
    let chain = ("chain", serial, Terms::Count(8), None);
    assert_eq!(levels(&file("dataflow: weight_stationary\narray: {rows: 8}")), [chain, acc]);
    assert_eq!(levels(&file("dataflow: input_stationary\narray: {rows: 8}")), [chain, acc]);
    let tree = ("tree", tree, Terms::Count(4), None);
    assert_eq!(levels(&file("dataflow: vector\narray: {dot_width: 4}")), [tree, acc]);
    let deep = "dataflow: weight_stationary\narray: {dot_width: 4, rows: 8}";
    assert_eq!(levels(&file(deep)), [tree, chain, acc]);
    // Overrides of the dataflow come before the derivation, those of levels after it.
    let sets = ["accumulation.chain.bits=20", "dataflow=weight_stationary", "array.rows=8"];
    assert_eq!(levels(&with_sets("", &sets)), [("chain", serial, Terms::Count(8), Some(20)), acc]);
    // Levels that the file defines stay, whatever the dataflow.
    let sets = ["dataflow=weight_stationary"];
    assert_eq!(levels(&with_sets("accumulation: [{bits: 9}]", &sets)), [("acc", serial, all, Some(9))]);
}

#[test]
fn symbolic_terms_follow_the_array() {
    let text = "extends: fpga-int14-ws\narray: {rows: 4}";
    assert_eq!(file(text).datapath.levels[0].terms, Terms::Count(4));
    assert_eq!(with_sets(text, &["array.rows=5"]).datapath.levels[0].terms, Terms::Count(5));
    let sets = ["accumulation.chain.terms=cols", "array.cols=3"];
    assert_eq!(with_sets(text, &sets).datapath.levels[0].terms, Terms::Count(3));
}

/// Rates are numbers, or formulas of the size of their array, wherever that size is set.
#[test]
fn ports_follow_the_array() {
    let rates = |accelerator: &Accelerator| {
        let memory = accelerator.memory;
        [memory.sram_bytes_per_cycle, memory.accumulator_bytes_per_cycle, memory.dram_bytes_per_cycle]
    };
    assert_eq!(rates(&file("")), [16.0, 128.0, 8.0]);
    assert_eq!(rates(&file("array: {rows: 2, cols: 4}")), [16.0, 128.0, 8.0]);
    assert_eq!(rates(&file("array: {rows: 32, cols: 24, dot_width: 2}")), [64.0, 192.0, 8.0]);
    let text = "array: {rows: 6}\nmemory: {sram_bytes_per_cycle: rows, accumulator_bytes_per_cycle: 4 * cols / 3, \
                dram_bytes_per_cycle: \"min(cores + 1, 0.5)\"}\n\
                layers: {conv: {array.rows: 10}, other: {memory.sram_bytes_per_cycle: 2 * dot_width}}";
    let accelerator = with_sets(text, &["array.cols=30"]);
    assert_eq!(rates(&accelerator), [6.0, 40.0, 0.5]);
    let of = |name: &str| accelerator.layers[name].memory.sram_bytes_per_cycle;
    assert_eq!([of("conv"), of("other")], [10.0, 2.0]);
    assert_eq!(
        rates(&with_sets(text, &["memory.sram_bytes_per_cycle=rows * cols"])),
        [96.0, 64.0 / 3.0, 0.5]
    );
    // The printed file has the values of the formulas.
    let resolved = from_yaml(&accelerator.resolved_yaml(), "hw.yaml", &["array.rows=12".into()]).unwrap();
    assert_eq!(rates(&resolved), [6.0, 40.0, 0.5]);
}

/// Exactly one resource is doubled, in all layers.
#[test]
fn one_thing_is_doubled() {
    let text = "extends: fpga-int14-ws\nlayers: {conv: {array.rows: 4}}";
    let accelerator = file(text);
    for resource in Resource::ALL {
        let key = resource.key();
        let twice = resource.of(&accelerator) * 2.0;
        let doubled = resource.doubled(&accelerator).unwrap();
        let ports = [Resource::OperandPorts, Resource::AccumulatorPort];
        let kept: Vec<String> = ports
            .iter()
            .filter(|port| **port != resource)
            .map(|port| format!("{}={}", port.key(), port.of(&accelerator)))
            .collect();
        let mut sets: Vec<&str> = kept.iter().map(String::as_str).collect();
        let set = format!("{key}={twice}");
        sets.push(&set);
        if resource == Resource::Clock {
            sets.extend(["memory.dram_bytes_per_cycle=4", "memory.dram_latency_cycles=200"]);
        }
        let by_hand = with_sets("extends: fpga-int14-ws", &sets);
        let common =
            |accelerator: &Accelerator| Accelerator { layers: Default::default(), ..accelerator.clone() };
        assert_eq!(common(&doubled), common(&by_hand), "{key}");
        assert_eq!(
            resource.of(&doubled.layers["conv"]),
            2.0 * resource.of(&accelerator.layers["conv"]),
            "{key}"
        );
    }
    let rows = Resource::Rows.doubled(&accelerator).unwrap();
    let chain = |accelerator: &Accelerator| accelerator.datapath.levels[0].terms;
    assert_eq!([chain(&rows), chain(&rows.layers["conv"])], [Terms::Count(32), Terms::Count(8)]);
    for (key, resource) in [("array.rows=65536", Resource::Rows), ("clock_mhz=1e9", Resource::Clock)] {
        assert_eq!(resource.doubled(&with_sets("", &[key])), None, "{key}");
    }
}

#[test]
fn extending_merges_maps_and_replaces_lists() {
    let base = load("fpga-int14-ws", &[]).unwrap();
    let accelerator = file("extends: fpga-int14-ws\narray: {cols: 8}\naccumulation: [{name: sum, bits: 10}]");
    assert_eq!((accelerator.array.rows, accelerator.array.cols), (16, 8));
    assert_eq!(accelerator.dataflow, base.dataflow);
    assert_eq!(levels(&accelerator), [("sum", Reduce::Serial, Terms::All, Some(10))]);
    // Name and description of a preset are not inherited.
    assert_eq!((accelerator.name.as_str(), accelerator.description.as_str()), ("hw", ""));
    let ops = file("extends: fpga-int14-os\noffload: [mean]").offload;
    assert_eq!(ops, ["mean"]);
}

#[test]
fn orders_are_lists_or_maps() {
    let order = |text: &str| file(&format!("reduction_order: {text}")).datapath.order;
    let axes = [Axis::Kh, Axis::Kw, Axis::Ic];
    let given = [Axis::Ic, Axis::Kw, Axis::Kh];
    assert_eq!((order("[ic, kw, kh]").axes, order("[ic, kw, kh]").walk), (given, Walk::Forward));
    assert_eq!((order("{walk: reverse}").axes, order("{walk: reverse}").walk), (axes, Walk::Reverse));
    let strided = order("{walk: stride, stride: 3, axes: [ic, kw, kh]}");
    assert_eq!((strided.axes, strided.walk), (given, Walk::Stride(3)));
    let sets = ["reduction_order.walk=reverse"];
    let both = with_sets("reduction_order: [ic, kw, kh]", &sets).datapath.order;
    assert_eq!((both.axes, both.walk), (given, Walk::Reverse));
    // A list replaces the whole order.
    let sets = ["reduction_order.walk=reverse", "reduction_order=[ic, kw, kh]"];
    assert_eq!(with_sets("", &sets).datapath.order.walk, Walk::Forward);
}

#[test]
fn overrides_merge_maps_and_go_back_to_defaults() {
    let text = "extends: fpga-int14-os";
    let sets = ["bias={at: preload}", "accumulation.acc={bits: 9}", "memory.weight_kib=1.5"];
    let accelerator = with_sets(text, &sets);
    assert_eq!(accelerator.datapath.bias.at, BiasPlace::Preload);
    assert_eq!(accelerator.memory.weight_kib, 1.5);
    let narrow = Register::Fixed { format: Format::signed(9).unwrap(), overflow: Overflow::Saturate };
    assert_eq!(accelerator.datapath.levels[0].register, narrow);
    assert_eq!(levels(&with_sets(text, &["accumulation.0.bits=9"]))[0].3, Some(9));
    assert_eq!(levels(&with_sets(text, &["accumulation.acc.bits=null"]))[0].3, None);
    assert_eq!(
        levels(&with_sets(text, &["accumulation.acc.bits=9", "accumulation.acc.bits=8"]))[0].3,
        Some(8)
    );
}

#[test]
fn layers_are_complete_accelerators() {
    let text = "extends: fpga-int14-ws\nlayers:\n  a/b: {accumulation.acc.bits: 16}\n  3: {array.rows: 4}";
    let accelerator = with_sets(text, &["accumulation.acc.bits=12", "layers.x.y.bias.at=preload"]);
    assert_eq!(accelerator.layers.keys().collect::<Vec<_>>(), ["a/b", "3", "x.y"]);
    assert_eq!(levels(&accelerator)[1].3, Some(12));
    let layer = |name: &str| &accelerator.layers[name];
    // The override of one layer takes precedence over that of all layers.
    assert_eq!(levels(layer("a/b"))[1].3, Some(16));
    assert_eq!(
        levels(layer("3")),
        [("chain", Reduce::Serial, Terms::Count(4), Some(14)), ("acc", Reduce::Serial, Terms::All, Some(12)),]
    );
    assert_eq!(layer("x.y").datapath.bias.at, BiasPlace::Preload);
    assert!(accelerator.layers.values().all(|layer| layer.layers.is_empty() && layer.name == "hw"));
}

#[test]
fn presets_say_what_they_are() {
    for preset in PRESETS {
        let accelerator = load(preset.name, &[]).unwrap();
        assert_eq!(accelerator.name, preset.name);
        assert!(!accelerator.description.is_empty());
    }
    let wrap = load("fpga-int14-os-wrap", &[]).unwrap();
    let Register::Fixed { overflow, .. } = wrap.datapath.levels[0].register else { panic!("{wrap:?}") };
    assert_eq!(overflow, Overflow::Wrap);
    let (result, warnings) = check("exact-int32-os", &[]);
    assert!(result.is_ok() && warnings.is_empty());
}

#[test]
fn what_is_no_preset_is_a_path() {
    let error = |hw: &str| load(hw, &[]).unwrap_err();
    assert_eq!(error("fpga-int15-os").code(), "guardbit::hw::unknown_preset");
    assert_eq!(error("fpga-int15-os").to_string(), "`fpga-int15-os` is neither a preset nor a file");
    assert!(error("nowhere/hw.yaml").help().contains("exact-int32-os"));
    assert_eq!(error("src").code(), "guardbit::hw::read");
    let path = "presets/fpga-int14-os.yaml";
    assert_eq!(load(path, &[]).unwrap(), load("fpga-int14-os", &[]).unwrap());
}

/// `scripts/renew` renews the files.
#[test]
fn files_made_from_the_keys_are_current() {
    for (file, text) in
        [("accelerator.schema.json", schema()), ("../docs/reference/accelerator_keys.md", keys_text())]
    {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "scripts/renew renews {file}");
    }
}

/// Creates files in a folder and returns the path of the first one.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let first = dir.path().join(files[0].0).to_string_lossy().into_owned();
    (dir, first)
}

/// A path is relative to the file that contains it; maps merge, lists replace, names are not inherited.
#[test]
fn files_extend_files() {
    let (_dir, path) = folder(&[
        ("mine/top.yaml", "schema: 1\nextends: ../shared/middle.yaml\nmemory: {weight_kib: 7}\n"),
        (
            "shared/middle.yaml",
            "schema: 1\nextends: more/base.yaml\nname: middle\ndescription: in between\nmemory: {activation_kib: 5}\n",
        ),
        (
            "shared/more/base.yaml",
            "schema: 1\nextends: fpga-int14-ws\nclock_mhz: 123\nmemory: {weight_kib: 6}\n",
        ),
    ]);
    let accelerator = load(&path, &[]).unwrap();
    assert_eq!((accelerator.name.as_str(), accelerator.description.as_str()), ("top", ""));
    assert_eq!(accelerator.clock_mhz, 123.0);
    assert_eq!((accelerator.memory.weight_kib, accelerator.memory.activation_kib), (7.0, 5.0));
    let preset = load("fpga-int14-ws", &[]).unwrap();
    assert_eq!(levels(&accelerator), levels(&preset));
}

/// An error in a file that is extended is shown at its place in that file.
#[test]
fn errors_are_placed_in_the_file_that_holds_them() {
    let message = |files: &[(&str, &str)]| {
        let (dir, path) = folder(files);
        let error = load(&path, &[]).unwrap_err();
        let text = error.to_string().replace(&format!("{}/", dir.path().display()), "");
        (error.code(), text)
    };
    let top = ("top.yaml", "schema: 1\nextends: base.yaml\n");
    let (code, text) = message(&[top, ("base.yaml", "schema: 1\narray: {rows: 0}\n")]);
    assert!(text.starts_with("base.yaml:2:15: `array.rows` is 0"), "{code} {text}");
    let (code, text) = message(&[top, ("base.yaml", "schema: 1\nextends: top.yaml\n")]);
    assert_eq!(code, "guardbit::hw::extends_cycle");
    assert_eq!(text, "base.yaml:2:10: `top.yaml` extends this file, directly or through others");
    let (code, _) = message(&[("top.yaml", "schema: 1\nextends: ./top.yaml\n")]);
    assert_eq!(code, "guardbit::hw::extends_cycle");
    let (code, text) = message(&[top]);
    assert_eq!(code, "guardbit::hw::unknown_preset");
    assert_eq!(text, "top.yaml:2:10: `base.yaml` is not a preset, and the file `base.yaml` does not exist");
}

/// By default, operations that multiply by weights run on the accelerator.
#[test]
fn five_operations_run_on_an_accelerator() {
    let named = "offload: [conv2d, depthwise_conv2d, transpose_conv2d, fully_connected, batch_matmul]";
    let accelerator = from_yaml(&format!("schema: 1\n{named}\n"), "hw.yaml", &[]).unwrap();
    assert_eq!(accelerator, from_yaml("schema: 1\n", "hw.yaml", &[]).unwrap());
    assert!(accelerator.commented_yaml().contains("batch_matmul"));
}
