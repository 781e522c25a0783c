//! Studies of `examples/studies`: every axis that users ask for, with its result.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Row, csv_rows, root, succeed};

/// Runs a study and checks its table: `points` rows, `axes` at its end, and at least `different` distinct
/// accuracies or agreements.
fn check(name: &str, points: usize, axes: &[&str], different: usize) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let study = root().join("examples/studies").join(name);
    let (study, out) = (study.to_string_lossy(), dir.path().join("out"));
    succeed(&["sweep", &study, "--quiet", "-o", &out.to_string_lossy()]);
    let header = fs::read_to_string(out.join("summary.csv")).unwrap();
    let header: Vec<&str> = header.lines().next().unwrap().split(',').collect();
    assert_eq!(header[header.len() - axes.len()..], *axes, "{name}");
    let rows = csv_rows(&out.join("summary.csv"));
    assert_eq!(rows.len(), points, "{name}");
    let figures: BTreeSet<String> =
        rows.iter().map(|row| format!("{} {}", row["top1_agreement"], row["output_sqnr_db"])).collect();
    assert!(figures.len() >= different, "{name}: {} different figures", figures.len());
    assert!(rows.iter().all(|row| !row["top1_agreement"].is_empty()), "{name}");
    let drawn = |plot: &str| fs::metadata(out.join(Path::new("plots").join(plot))).unwrap().len();
    assert!(drawn("axes.svg") > 2000, "{name}");
    // If nothing is drawn, the stated reason is right.
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(!report.contains("No point ran to its end"), "{name}");
    let by_width = rows.iter().any(|row| !row["bits"].is_empty());
    // Floating-point layers have no level.
    let has_levels = !out.join("aligned.csv").exists();
    assert_eq!(report.contains("No width of a level is swept"), has_levels && !by_width, "{name}");
    rows
}

/// A level's index is equivalent to its name.
#[test]
fn a_level_by_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = |level: &str| {
        let (model, out) = (root().join("examples/digits/digits_int8.tflite"), dir.path().join(level));
        let axis = format!("accumulation.{level}.bits=14..=16");
        let model = model.to_string_lossy();
        let args = ["sweep", &model, "--hw", "fpga-int14-os", "--random", "2", "--quiet", "--axis", &axis];
        succeed(&[&args[..], &["-o", &out.to_string_lossy()]].concat());
        ["summary.csv", "sweep.csv", "plots/accuracy.svg"]
            .map(|name| fs::read_to_string(out.join(name)).unwrap())
    };
    let by_name = sweep("acc");
    assert!(by_name[0].contains(",accumulation.acc.bits\n"), "{}", by_name[0]);
    assert_eq!(sweep("0"), by_name);
}

/// With greedy order, partial sums do not overflow if each product fits, in 16 bits; no other order is as
/// good.
#[test]
fn bits_by_order() {
    let rows = check("bits_by_order.yaml", 48, &["reduction_order.walk", "accumulation.acc.bits"], 20);
    let transients = |walk: &str| -> u64 {
        let own = rows.iter().filter(|row| row["reduction_order.walk"] == walk);
        let wide = own.filter(|row| row["accumulation.acc.bits"].parse::<u32>().unwrap() >= 16);
        wide.map(|row| row["transient"].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(transients("greedy"), 0);
    assert!(
        ["forward", "reverse", "random", "sorted", "sign_paired"].iter().all(|walk| transients(walk) > 0)
    );
}

#[test]
fn bits_by_chain() {
    check("bits_by_chain.yaml", 30, &["accumulation.inner.terms", "accumulation.inner.bits"], 25);
}

#[test]
fn inner_by_outer() {
    check("inner_by_outer.yaml", 21, &["accumulation.inner.bits", "accumulation.outer.bits"], 12);
}

#[test]
fn sensitivity() {
    let layers = ["conv_1", "depthwise_1", "pointwise_1", "fully_connected"];
    let keys = layers.map(|layer| format!("layers.{layer}.accumulation.acc.bits"));
    let keys: Vec<&str> =
        std::iter::once("accumulation.acc.overflow").chain(keys.iter().map(String::as_str)).collect();
    check("sensitivity.yaml", 16, &keys, 12);
}

#[test]
fn bits_per_layer() {
    let keys = ["conv_1", "depthwise_1", "fully_connected"]
        .map(|layer| format!("layers.{layer}.accumulation.acc.bits"));
    check("bits_per_layer.yaml", 27, &keys.each_ref().map(String::as_str), 15);
}

#[test]
fn adc() {
    let keys = ["accumulation.column.terms", "accumulation.column.bits", "accumulation.column.shift"];
    check("adc.yaml", 18, &keys, 12);
}

/// Up to 16 fraction bits, below the precision of float32, promotion and more bits never lose SQNR here.
#[test]
fn fp8_accumulator() {
    let axes = ["float_accumulation.fraction_bits", "float_accumulation.promote_terms"];
    let rows = check("fp8_accumulator.yaml", 27, &axes, 20);
    let sqnr = |row: &Row| row["output_sqnr_db"].parse::<f64>().unwrap();
    let bits = |row: &Row| row["float_accumulation.fraction_bits"].parse::<u32>().unwrap();
    let rows: Vec<Row> = rows.into_iter().filter(|row| bits(row) <= 16).collect();
    assert!(rows.len() > 12);
    for (at, row) in rows.iter().enumerate() {
        let others =
            rows.iter().enumerate().filter(|(other, _)| *other == at + 3 || *other == at + 1 && at % 3 < 2);
        others.for_each(|(_, other)| assert!(sqnr(other) >= sqnr(row), "{other:?} after {row:?}"));
    }
}

#[test]
fn seeds() {
    check("seeds.yaml", 20, &["seed"], 18);
}

/// Sweeps every preset in the folder of presets.
#[test]
fn presets() {
    let count = fs::read_dir(root().join("hwmodels/presets")).unwrap().count();
    check("presets.yaml", count, &["axis.hw"], 6);
}

/// Every study has its line in the list of the folder.
#[test]
fn the_list_is_complete() {
    let folder = root().join("examples/studies");
    let list = fs::read_to_string(folder.join("README.md")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name == "README.md" || list.contains(&format!("`{name}`")), "{name}");
    }
}
