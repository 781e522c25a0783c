//! Products of two activations through the command line.

use std::path::Path;

use crate::common::{csv_rows, guardbit, needed, root, succeed};

/// Scores of two heads, and their product with another activation.
const NETWORK: &str = "\
schema: 1
inputs:
  - {name: q, shape: [2, 5, 12], dtype: int8, scale: 0.05, zero_point: 3}
  - {name: k, shape: [2, 7, 12], dtype: uint8, scale: 0.04, zero_point: 100}
  - {name: v, shape: [1, 7, 6], dtype: int8, scale: 0.03, zero_point: -20}
nodes:
  - {op: batch_matmul, inputs: [q, k], adj_y: true, output: {name: scores, dtype: uint8, scale: 0.4, zero_point: 128}}
  - {op: batch_matmul, inputs: [scores, v], output: {name: y, dtype: int8, scale: 0.5, zero_point: -2}}
outputs: [y]
";

pub(crate) fn network(dir: &Path) -> String {
    let path = dir.join("attention.yaml");
    std::fs::write(&path, NETWORK).unwrap();
    path.to_string_lossy().into_owned()
}

/// Accelerators, layers and settings: each dataflow that has a design, and both treatments of zero points.
const BUNDLES: [(&str, &str, &[&str]); 5] = [
    ("fpga-int14-os", "scores", &[]),
    ("fpga-int14-os", "y", &["operands.zero_point=fold", "accumulation.acc.bits=18"]),
    ("fpga-int14-ws", "y", &["accumulation.acc.bits=12"]),
    ("fpga-int14-ws", "scores", &["operands.zero_point=fold"]),
    ("fpga-int14-tree", "y", &["accumulation.acc.bits=13"]),
];

fn export(dir: &Path, index: usize) -> String {
    let (hw, layer, sets) = BUNDLES[index];
    let (model, out) = (network(dir), dir.join(format!("bundle{index}")).to_string_lossy().into_owned());
    let mut args =
        vec!["vectors", &model, "--hw", hw, "--layer", layer, "--random", "2", "--cases", "12", "-o", &out];
    // Both edges are shorter than the layers, so that there are several tiles.
    let sets = sets.iter().chain(&["array.rows=4", "array.cols=3"]);
    args.extend(sets.flat_map(|set| ["--set", set]));
    succeed(&args);
    out
}

#[test]
fn bundles_of_two_activations_are_recomputed() {
    let dir = tempfile::tempdir().unwrap();
    for index in 0..BUNDLES.len() {
        let out = export(dir.path(), index);
        let manifest = std::fs::read_to_string(Path::new(&out).join("manifest.json")).unwrap();
        assert!(manifest.contains("\"two_activations\": true"));
        let table = succeed(&["check", &out]);
        assert!(!table.contains(" fail "), "{table}");
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn bundles_of_two_activations_replay() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    for index in 0..BUNDLES.len() {
        let out = export(dir.path(), index);
        for simulator in ["icarus", "verilator"] {
            let table = succeed(&["check", &out, "--simulator", simulator]);
            assert!(table.contains(simulator) && !table.contains(" fail "), "{table}");
        }
    }
}

#[test]
fn a_sum_of_weights_joins_a_bias_behind_the_sum_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (network(dir.path()), dir.path().join("out").to_string_lossy().into_owned());
    let sets = ["--set", "operands.zero_point=fold", "--set", "bias.at=preload"];
    let args = ["vectors", &model, "--hw", "fpga-int14-os", "--layer", "scores", "--random", "1", "-o", &out];
    let output = guardbit(&[&args[..], &sets].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("a sum of weights together with a bias"),
        "{message}"
    );
}

/// Bounds by type and range exist, bounds by weights do not; the witness of the type needs every bit of it.
#[test]
fn two_activations_are_sized() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (network(dir.path()), dir.path().join("size"));
    let text = out.to_string_lossy().into_owned();
    succeed(&["size", &model, "--hw", "exact-int32-os", "--random", "3", "-o", &text]);
    let rows = csv_rows(&out.join("size.csv"));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let bits = |key: &str| row[key].parse::<u32>().unwrap();
        for key in ["bits_weights", "bits_a2q", "bits_a2q_plus"] {
            assert_eq!(row[key], "", "{key}");
        }
        assert!(bits("bits_data_final") <= bits("bits_range") && bits("bits_range") <= bits("bits_type"));
        let witness = out.join(format!("witnesses/{}_acc.npz", row["index"])).to_string_lossy().into_owned();
        let ran = dir.path().join("ran").to_string_lossy().into_owned();
        let args = ["run", &model, "--hw", "exact-int32-os", "--layer", &row["index"], "--input", &witness];
        succeed(&[&args[..], &["--force", "-o", &ran]].concat());
        let required = &csv_rows(&dir.path().join("ran/layers.csv"))[0]["required_final"];
        assert_eq!(required, &row["bits_type"]);
    }
}

/// Points of a sweep equal single runs, whatever both operands come from.
#[test]
fn two_activations_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (network(dir.path()), dir.path().join("sweep"));
    let text = out.to_string_lossy().into_owned();
    let common = ["--hw", "fpga-int14-os", "--random", "2"];
    succeed(&[&["sweep", &model, "--bits", "12,14", "-o", &text], &common[..]].concat());
    let points = csv_rows(&out.join("sweep.csv"));
    for bits in ["12", "14"] {
        let run = dir.path().join(bits);
        let text = run.to_string_lossy().into_owned();
        let set = format!("accumulation.acc.bits={bits}");
        succeed(&[&["run", &model, "--set", &set, "-o", &text], &common[..]].concat());
        let events: u64 =
            csv_rows(&run.join("layers.csv")).iter().map(|row| row["events"].parse::<u64>().unwrap()).sum();
        let of_point = points.iter().filter(|row| row["bits"] == bits);
        let swept: u64 = of_point.map(|row| row["events"].parse::<u64>().unwrap()).sum();
        assert_eq!(swept, events);
        assert!(events > 0);
    }
}

/// Accumulator bits against the length of the context, which the file leaves open.
#[test]
fn products_of_a_longer_context_need_the_bits_of_the_formula() {
    let dir = tempfile::tempdir().unwrap();
    let model = root().join("examples/attention/transformer_uint8.onnx").to_string_lossy().into_owned();
    let sweep = dir.path().join("sweep");
    let text = sweep.to_string_lossy().into_owned();
    let axis = ["--axis", "dim:tokens=8,12,64", "--stats", "full"];
    let common = ["--hw", "exact-int32-os", "--random", "2"];
    succeed(&[&["sweep", &model, "-o", &text], &axis[..], &common].concat());
    let points = csv_rows(&sweep.join("sweep.csv"));
    let manifest = std::fs::read_to_string(sweep.join("sweep.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for (index, length) in [8u64, 12, 64].into_iter().enumerate() {
        assert_eq!(manifest["models"][index]["dim"], serde_json::json!({ "tokens": length }));
        let dim = format!("tokens={length}");
        let size = dir.path().join(&dim);
        let text = size.to_string_lossy().into_owned();
        succeed(&[&["size", &model, "--dim", &dim, "-o", &text], &common[..]].concat());
        let nodes = succeed(&["inspect", &model, "--dim", &dim, "--json"]);
        let nodes: serde_json::Value = serde_json::from_str(&nodes).unwrap();
        let nodes = nodes["operations"].as_array().unwrap();
        let products: Vec<_> = csv_rows(&size.join("size.csv"));
        let products: Vec<_> = products.iter().filter(|row| row["op"] == "batch_matmul").collect();
        // Scores have as many terms as a head has channels; weighted values have as many as there are tokens.
        for (row, terms) in products.iter().zip([8, length]) {
            let index: u64 = row["index"].parse().unwrap();
            let node = nodes.iter().find(|node| node["index"] == index).unwrap();
            let operands = node["node"]["operands"].as_array().unwrap();
            let zero_points: Vec<i128> =
                operands.iter().take(2).map(|one| one["zero_points"][0].as_i64().unwrap().into()).collect();
            let (least, greatest) = extremes(&zero_points, terms.into());
            let formula =
                (1..).find(|bits| least >= -(1i128 << (bits - 1)) && greatest < 1i128 << (bits - 1));
            assert_eq!(row["bits_type"], formula.unwrap().to_string(), "{terms} terms");
            let point = points
                .iter()
                .find(|point| point["dim:tokens"] == length.to_string() && point["layer"] == row["layer"]);
            let point = point.unwrap();
            assert_eq!((&point["terms"], &row["terms"]), (&terms.to_string(), &terms.to_string()));
            assert_eq!(point["exact_required_final"], row["bits_data_final"]);
            assert_eq!(point["exact_required_prefix"], row["bits_data_prefix"]);
            assert!(point["exact_required_prefix"].parse::<u32>().unwrap() <= formula.unwrap());
            // Input that attains the bound.
            let witness =
                size.join(format!("witnesses/{}_acc.npz", row["index"])).to_string_lossy().into_owned();
            let ran = dir.path().join("ran").to_string_lossy().into_owned();
            let args = ["run", &model, "--dim", &dim, "--hw", "exact-int32-os", "--layer", &row["index"]];
            succeed(&[&args[..], &["--input", &witness, "--force", "-o", &ran]].concat());
            let required = &csv_rows(&dir.path().join("ran/layers.csv"))[0]["required_final"];
            assert_eq!(required, &row["bits_type"]);
        }
        assert_eq!(products.len(), 2);
    }
}

/// Returns the minimum and maximum sum of products of two uint8 codes minus their zero points, including 0.
fn extremes(zero_points: &[i128], terms: i128) -> (i128, i128) {
    let ends = |zero_point: i128| [-zero_point, 255 - zero_point];
    let products = ends(zero_points[0]).map(|a| ends(zero_points[1]).map(|b| terms * a * b));
    let all = || products.iter().flatten().copied().chain([0]);
    (all().min().unwrap(), all().max().unwrap())
}
