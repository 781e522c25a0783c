//! Tests of weights with a scale per block of the contracted axis, against ONNX Runtime and exact results
//! (`scripts/oracles/onnx_blocks.py`).

use std::collections::BTreeMap;

use guardbit_frontends::{Frontend, onnx::Onnx};
use serde_json::Value;

use super::oracle::{PYTHON, cases, elements, interpreted, layers, output};

/// The results for all cases of one kind.
#[derive(Debug, Default)]
struct Row {
    networks: usize,
    values: usize,
    /// Number of values that differ from ONNX Runtime's, and of compared sums.
    different: usize,
    sums: usize,
    wrong: Vec<String>,
}

/// Each network has the expected layers, and its blocks have NumPy's sums. Its results differ from the exact ones and
/// from ONNX Runtime's only by float32 roundings.
#[test]
#[ignore = "needs GUARDBIT_ONNX_PYTHON"]
fn products_of_blocks_are_those_of_onnx_runtime() {
    let (folder, cases) = cases(PYTHON, "blocks");
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for case in &cases {
        let row = rows.entry(case["op"].as_str().unwrap().to_owned()).or_default();
        let path = folder.path().join(format!("{}.onnx", case["name"].as_str().unwrap()));
        row.networks += 1;
        if let Err(problem) = check(&path, case, row) {
            row.wrong.push(format!("{}: {problem}", case["name"]));
        }
    }
    for (kind, Row { networks, values, different, sums, .. }) in &rows {
        println!("{kind}: {networks} networks, {values} values, {different} differ, {sums} sums");
    }
    assert!(cases.len() >= 400 && rows.values().all(|row| row.values > 0));
    let wrong: Vec<_> = rows.values().flat_map(|row| &row.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn check(path: &std::path::Path, case: &Value, row: &mut Row) -> Result<(), String> {
    let graph = Onnx.read(path, "net").map_err(|error| error.message())?;
    let layers = layers(&graph);
    if layers.len() as u64 != case["layers"].as_u64().unwrap() {
        return Err(format!("{} layers", layers.len()));
    }
    let tensors = interpreted(&graph, case);
    let numbers = |name: &str| -> Vec<f64> {
        case[name].as_array().into_iter().flatten().map(|value| value.as_f64().unwrap()).collect()
    };
    let sums = numbers("sums");
    if let ([layer], false) = (layers.as_slice(), sums.is_empty()) {
        let made = &tensors[graph.node(*layer).output.index()];
        row.sums += made.len();
        if !made.iter().map(|&sum| f64::from(sum)).eq(sums) {
            return Err("sums of blocks differ".into());
        }
    }
    let &[id] = graph.outputs() else { return Err("has not one output".into()) };
    let runtime = &case["outputs"][0];
    let made = output(graph.tensor(id), &tensors[id.index()], runtime);
    let runtime = elements(runtime);
    row.values += made.len();
    row.different += made.iter().zip(&runtime).filter(|(made, wanted)| made != wanted).count();
    for (wanted, of, near) in
        [(numbers("exact"), "exact", "near_exact"), (runtime, "runtime's", "near_runtime")]
    {
        let near = numbers(near);
        assert!(made.len() == wanted.len() && made.len() == near.len());
        let pairs = || made.iter().zip(&wanted).map(|(made, wanted)| (made - wanted).abs());
        if let Some(at) =
            pairs().zip(&near).position(|(distance, &near)| distance.is_nan() || distance > near)
        {
            return Err(format!(
                "value {at}: {} is not the {of} {} within {}",
                made[at], wanted[at], near[at]
            ));
        }
    }
    Ok(())
}
