//! Parts of networks, and networks without offloaded operations.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{contents, csv_rows, digits, guardbit, int8_arrays, succeed};

/// Returns the tensors that operations of the digits network produce, in order.
fn tensors(model: &str) -> Vec<String> {
    let json: Value = serde_json::from_str(&succeed(&["inspect", model, "--json"])).unwrap();
    json["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["layer"].as_str().unwrap().to_owned())
        .collect()
}

fn identity(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()
}

/// A front part up to a tensor and the remaining part have the codes of the whole network, and their own
/// identities.
#[test]
fn parts_run_like_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let model = digits("digits_int8.tflite");
    let all = tensors(&model);
    let at = all[1].as_str();
    let (whole, front, rest) = (path("whole"), path("front"), path("rest"));
    let hw = ["--hw", "fpga-int14-os"];
    let run = |out: &str, more: &[&str]| succeed(&[&["run", &model][..], &hw, &["-o", out], more].concat());
    run(&whole, &["--random", "3", "--dump-tensors"]);
    let inputs = path("whole/inputs.npz");
    run(&front, &["--input", &inputs, "--to", at]);
    let simulated = |name: &str| {
        let arrays = int8_arrays(&dir.path().join(name));
        arrays
            .into_iter()
            .map(|(name, codes)| (name, codes.into_iter().collect::<Vec<i8>>()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let (everything, made) = (simulated("whole/tensors.npz"), simulated("front/outputs.npz"));
    assert!(
        !made.is_empty() && made.iter().all(|(name, codes)| &everything[name] == codes),
        "{:?}",
        made.keys()
    );
    assert!(
        csv_rows(&dir.path().join("front/layers.csv")).len()
            < csv_rows(&dir.path().join("whole/layers.csv")).len()
    );
    // The input of the remaining part is what its first operation reads in the whole network.
    run(&rest, &["--random", "2", "--from", at]);
    let described: Value = identity(&dir.path().join("rest"));
    assert_eq!(described["model"]["from"], serde_json::json!([at]));
    let hashes: Vec<Value> = ["whole", "front", "rest"]
        .map(|name| identity(&dir.path().join(name))["model"]["sha256"].clone())
        .into();
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);

    let study = path("study.yaml");
    let lines = format!(
        "schema: 1\nmodel: {model}\nhw: fpga-int14-os\nto: \"{at}\"\nrandom: 2\nsweep: {{bits: [12]}}\n"
    );
    fs::write(&study, lines).unwrap();
    let out = path("swept");
    succeed(&["sweep", &study, "-o", &out]);
    let swept = fs::read_to_string(dir.path().join("swept/sweep.csv")).unwrap();
    assert!(swept.lines().count() == csv_rows(&dir.path().join("front/layers.csv")).len() + 1, "{swept}");
    let output = guardbit(&["inspect", &model, "--to", "no such tensor"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("guardbit::cut::unknown_tensor"), "{stderr}");
}

const POOL: &str = "\
schema: 1
inputs: [{name: x, shape: [1, 4, 4, 2], dtype: int8, scale: 0.5}]
nodes: [{op: max_pool2d, inputs: [x], kernel: [2, 2], stride: [2, 2], output: {name: y, dtype: int8, scale: 0.5}}]
outputs: [y]
";

/// A network of which the accelerator runs nothing is interpreted exactly; sizing reports that there are no
/// accumulators.
#[test]
fn a_network_without_an_offloaded_operation_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (model, out) = (path("pool.yaml"), path("out"));
    fs::write(&model, POOL).unwrap();
    let run = guardbit(&[
        "run",
        &model,
        "--hw",
        "fpga-int14-os",
        "--random",
        "3",
        "--format",
        "parquet",
        "-o",
        &out,
    ]);
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success() && stderr.contains("runs all operations exactly"), "{stderr}");
    let read = int8_arrays(&dir.path().join("out/inputs.npz")).remove(0).1;
    let made = int8_arrays(&dir.path().join("out/outputs.npz"));
    assert!(!made.is_empty());
    for (name, codes) in made {
        for (index, &code) in codes.indexed_iter() {
            let (n, h, w, c) = (index[0], 2 * index[1], 2 * index[2], index[3]);
            let window = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]| read[[n, h + i, w + j, c]]);
            assert_eq!(Some(code), window.into_iter().max(), "{name}");
        }
    }
    assert!(csv_rows(&dir.path().join("out/layers.csv")).is_empty());
    assert!(contents(&dir.path().join("out")).contains_key("report.html"));
    for more in [&["size"][..], &["sweep", "--bits", "8"]] {
        let out = path(more[0]);
        let args =
            [&more[..1], &[&model], &more[1..], &["--hw", "fpga-int14-os", "--random", "1", "-o", &out]]
                .concat();
        let output = guardbit(&args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains("no accumulator to vary or size"), "{stderr}");
    }
}
