//! Compares the figures of the library's front door with the tables of the command.

use std::collections::BTreeMap;

use guardbit::num::Direction;
use guardbit::{Accelerator, Level, Network};

use crate::common::{guardbit, root};

/// Figure of a level in the library.
type Figure = fn(&Level<'_>) -> i128;

/// Column of `layers.csv` and its figure in the library.
const LEVEL_COLUMNS: [(&str, Figure); 8] = [
    ("adds", |level| level.additions().into()),
    ("events", |level| level.events().into()),
    ("events_high", |level| level.total().events_high.into()),
    ("persistent", |level| level.total().persistent.into()),
    ("transient", |level| level.total().transient.into()),
    ("min_prefix", |level| level.total().min_prefix),
    ("required_final", |level| level.total().required_final.into()),
    ("required_prefix", |level| level.total().required_prefix.into()),
];

/// Rows of a table, by column.
fn rows(text: &[u8]) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text).deserialize().map(Result::unwrap).collect()
}

#[test]
fn figures_of_the_library_are_those_of_the_command() {
    let model = root().join("examples/digits/digits_int8.tflite");
    let model = model.to_str().unwrap();
    // Two levels, some of whose additions overflow, and a layer with a width of its own.
    let (hw, key) = ("inner14-outer24", "layers.conv_1.accumulation.inner.bits");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let output = guardbit(&[
        "run",
        model,
        "--hw",
        hw,
        "--set",
        "accumulation.inner.bits=11",
        "--set",
        &format!("{key}=10"),
        "--random",
        "8",
        "--seed",
        "3",
        "--events",
        "50",
        "-o",
        out.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let network = Network::load(model).unwrap();
    let accelerator = Accelerator::preset(hw).unwrap().set("accumulation.inner.bits", 11).unwrap();
    let lowered = network.on(accelerator.set(key, 10).unwrap()).unwrap().listed_events(50);
    let run = lowered.run(&network.random_samples(8, 3)).unwrap();

    let mut events = 0;
    let table = rows(&std::fs::read(out.join("layers.csv")).unwrap());
    for row in &table {
        let layer = run.layer(&row["layer"]).unwrap();
        let level = layer.level(&row["level"]).unwrap();
        for (column, figure) in LEVEL_COLUMNS {
            assert_eq!(
                row[column],
                figure(&level).to_string(),
                "{column} of {} {}",
                layer.short_name(),
                level.name()
            );
        }
        // Figures of the whole layer stand in the row of its last level.
        if !row["wrong"].is_empty() {
            assert_eq!(row["wrong"], layer.total().wrong.to_string());
            assert_eq!(row["output_mismatch"], layer.total().output_mismatch.to_string());
            assert_eq!(row["cycles"], layer.spec().timing.cycles.to_string());
        }
        events += level.events();
    }
    assert_eq!(table.len(), run.layers().map(|layer| layer.levels().count()).sum::<usize>());
    assert!(events > 100, "{events} events");

    let listed = rows(&std::fs::read(out.join("events.csv")).unwrap());
    for layer in run.layers() {
        let of_layer: Vec<_> = listed
            .iter()
            .filter(|row| run.layer(&row["layer"]).unwrap().short_name() == layer.short_name())
            .collect();
        assert_eq!(of_layer.len(), layer.events().len(), "{}", layer.short_name());
        for (row, event) in of_layer.iter().zip(layer.events()) {
            let high = if event.direction == Direction::High { "high" } else { "low" };
            let found = [event.exact().to_string(), event.place.cycle.to_string(), high.into()];
            assert_eq!(
                [&row["exact"], &row["cycle"], &row["direction"]],
                found.each_ref(),
                "{}",
                layer.short_name()
            );
        }
    }
}

#[test]
fn errors_name_what_exists() {
    let network = Network::load(root().join("examples/digits/digits_int8.tflite")).unwrap();
    let preset = Accelerator::preset("fpga-int14-os").unwrap();
    let run = network.on(preset.clone()).unwrap().run(&network.random_samples(1, 0)).unwrap();
    let layer = run.layer("conv_1").unwrap();
    let cases = [
        (run.layer("conv1").unwrap_err(), "guardbit::layer", "`conv_1`"),
        (run.layer("flatten_1").unwrap_err(), "guardbit::layer", ""),
        (layer.level("inner").unwrap_err(), "guardbit::level", "`acc`"),
        (run.tensor("logits").unwrap_err(), "guardbit::tensor", "`StatefulPartitionedCall_1:0`"),
        (
            Accelerator::preset("fpga-int15-os").unwrap_err(),
            "guardbit::hw::unknown_preset",
            "`fpga-int14-os`",
        ),
        (preset.set("accumulation.acc.bit", 12).unwrap_err(), "guardbit::hw", "bits"),
        (network.samples(&[vec![vec![0; 63]]]).unwrap_err(), "guardbit::sim", ""),
        (network.samples(&[vec![vec![500; 64]]]).unwrap_err(), "guardbit::sim", ""),
        (network.samples(&[Vec::<Vec<i32>>::new()]).unwrap_err(), "guardbit::sim", ""),
    ];
    for (error, code, help) in cases {
        assert!(error.code().starts_with(code), "{}: {error}", error.code());
        assert!(error.help().contains(help), "{error}: {:?}", error.help());
    }
}

/// Documents show the example that runs on the library's front page.
#[test]
fn documents_show_the_example_of_the_front_page() {
    // The example of the crate's page runs in the folder of the crate.
    let page = std::fs::read_to_string(root().join("library/src/lib.rs"))
        .unwrap()
        .replace("\"../examples", "\"examples");
    for path in ["README.md", "docs/how-to/library.md"] {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let shown = text.split_once("```rust\n").unwrap().1.split_once("```").unwrap().0;
        for line in shown.lines().filter(|line| !line.is_empty()) {
            assert!(page.contains(&format!("//! {line}\n")), "{path}: {line}");
        }
    }
}
