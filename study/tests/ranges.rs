//! Every numeric accelerator key at, around and far beyond the limits of its range: it is refused, or the
//! network runs with equal results on all engines.

use std::path::Path;
use std::sync::Arc;

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{LayerBounds, network_sums};
use guardbit_hwmodels::{Accelerator, HwError, Program, from_yaml, lower, schema};
use guardbit_sim::{Engine, Mode, Options, Simulation};
use serde_json::Value;

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 5, 4, 3], dtype: int8, scale: 0.1, zero_point: -3}
constants:
  - {name: w, shape: [6, 3, 3, 3], dtype: int8, scale: 0.1, random: {seed: 1}}
  - {name: b, shape: [6], dtype: int32, values: [1, -2000, 3, 4, 5, 70000]}
  - {name: d, shape: [1, 2, 2, 6], dtype: int8, scale: 0.1, random: {seed: 2}}
  - {name: f, shape: [4, 72], dtype: int8, scale: 0.1, random: {seed: 3}}
nodes:
  - {op: conv2d, inputs: [x, w, b], padding: same, output: {name: c, dtype: int8, scale: 3.0, zero_point: 4}}
  - {op: depthwise_conv2d, inputs: [c, d], output: {name: e, dtype: int8, scale: 1.0}}
  - {op: reshape, inputs: [e], shape: [1, 72], output: {name: r, dtype: int8, scale: 1.0}}
  - {op: fully_connected, inputs: [r, f], output: {name: y, dtype: int8, scale: 9.0}}
outputs: [y]
";

/// Accelerators in which the keys have an effect, with the names of their first and last levels.
const BASES: &[(&str, &str, &str)] = &[
    ("fpga-int14-os", "acc", "acc"),
    ("fpga-int14-ws", "chain", "acc"),
    ("fpga-int14-tree", "tree", "acc"),
    ("nvdla-small", "", ""),
    ("ethos-u55-256", "", ""),
];

/// Numeric key with the limits of its range.
#[derive(Debug)]
struct Key {
    path: String,
    least: f64,
    greatest: f64,
    is_whole: bool,
}

/// Returns all numeric keys of the schema.
fn keys() -> Vec<Key> {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let mut keys = Vec::new();
    collect(&schema, &schema, "", &mut keys);
    keys
}

fn collect(schema: &Value, node: &Value, path: &str, keys: &mut Vec<Key>) {
    if let Some(name) = node["$ref"].as_str() {
        return collect(schema, &schema["$defs"][name.rsplit('/').next().unwrap()], path, keys);
    }
    for choice in ["oneOf", "anyOf"].iter().filter_map(|key| node[key].as_array()).flatten() {
        collect(schema, choice, path, keys);
    }
    for (name, property) in node["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect(schema, property, &path, keys);
    }
    if node["items"].is_object() {
        collect(schema, &node["items"], &format!("{path}.*"), keys);
    }
    let is_whole = node["type"] == "integer";
    if is_whole || node["type"] == "number" {
        let end = |key: &str| node[key].as_f64().unwrap_or_else(|| panic!("`{path}` has no {key}"));
        let (least, greatest) = (end("minimum"), end("maximum"));
        keys.push(Key { path: path.into(), least, greatest, is_whole });
    }
}

impl Key {
    /// Returns values to try, and whether they are in range.
    fn values(&self) -> Vec<(String, bool)> {
        let step = if self.is_whole { 1.0 } else { 1e-7 };
        let near = [self.least, self.greatest, self.least - step, self.greatest + 1.0, 0.0, -1.0];
        let far = [31, 32, 63, 64].map(|power| 2f64.powi(power));
        let numbers = near.into_iter().chain(far);
        let text = |value: f64| if self.is_whole { format!("{value:.0}") } else { format!("{value:?}") };
        let numbers = numbers.map(|value| (text(value), (self.least..=self.greatest).contains(&value)));
        let odd = [
            "1e308",
            "-1e308",
            "1e-320",
            ".nan",
            ".inf",
            "-.inf",
            "18446744073709551615",
            "0x7fffffffffffffff",
        ];
        numbers.chain(odd.map(|value| (value.into(), false))).collect()
    }

    /// Returns overrides for the key in an accelerator with these levels, including settings that it
    /// requires; `None` if it has no effect.
    fn sets(&self, first: &str, last: &str, value: &str) -> Option<Vec<String>> {
        let level = match self.path.as_str() {
            "schema" => return None,
            // One number of a list has no effect alone: see `order::what_is_no_permutation`.
            "reduction_order.permutations.*" => return None,
            // The last level takes all terms.
            "accumulation.*.terms" if first == last => return None,
            "accumulation.*.terms" => first,
            path if path.starts_with("accumulation.") => last,
            _ => "",
        };
        if level.is_empty() && self.path.starts_with("accumulation.") {
            return None;
        }
        let mut sets = vec![format!("{}={value}", self.path.replace('*', level))];
        match self.path.as_str() {
            "reduction_order.stride" => sets.push("reduction_order.walk=stride".into()),
            "reduction_order.seed" => sets.push("reduction_order.walk=random".into()),
            "float_accumulation.promote_terms" => sets.push("float_accumulation.terms=1".into()),
            "float_accumulation.group_terms" => {
                sets.push("float_accumulation.block_scales=per_group".into());
                sets.push("float_accumulation.operands=[e2m1]".into());
                sets.push(format!("float_accumulation.terms={value}"));
            }
            "float_accumulation.bits" => sets.push("float_accumulation.result=fixed".into()),
            "float_accumulation.accumulator_bits" | "float_accumulation.reach" => {
                sets.push("float_accumulation.incoming=apart".into());
                sets.push("float_accumulation.sum_bits=40".into());
            }
            "float_accumulation.sum_bits" => {
                sets.push("float_accumulation.incoming=apart".into());
                sets.push("float_accumulation.accumulator_bits=1".into());
            }
            _ => {}
        }
        Some(sets)
    }
}

fn accelerator(base: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    from_yaml(&format!("schema: 1\nextends: {base}\n"), "hw.yaml", sets)
}

/// Runs a program on every engine, in both modes.
fn run(program: &Program, what: &str) {
    let samples: Vec<Vec<Vec<i32>>> =
        (0..2).map(|s| vec![(0..60).map(|i| (i * 37 + s * 11) % 256 - 128).collect()]).collect();
    for mode in [Mode::Propagated, Mode::Isolated] {
        let run = |engine| {
            let mut simulation = Simulation::new(program, Options { engine, mode, ..Options::default() });
            let tensors = simulation.run_batch(&samples);
            tensors.map(|tensors| (format!("{tensors:?}"), format!("{:?}", simulation.finish())))
        };
        let reference = run(Engine::Reference);
        assert_eq!(run(Engine::Fast), reference, "{what}");
        assert_eq!(run(Engine::Fast), reference, "{what}");
    }
}

fn check(graph: &Arc<Graph>, base: &str, sets: &[String], in_range: bool) {
    let what = format!("{base} {sets:?}");
    let accelerator = match accelerator(base, sets) {
        Ok(accelerator) => accelerator,
        Err(error) => {
            assert!(!in_range, "{what}: {error}");
            assert!(error.message().len() < 500 && !error.help().is_empty(), "{what}: {error}");
            return;
        }
    };
    assert!(in_range, "{what} is accepted");
    let program = match lower(Arc::clone(graph), &accelerator) {
        Ok(program) => program,
        // A multiplier can restore only a limited number of bits.
        Err(error) => {
            assert!(what.contains("shift"), "{what}: {error}");
            return;
        }
    };
    for layer in program.mac_layers() {
        let (window, timing) = (&layer.dots.window, &layer.timing);
        assert!(timing.cycles > 0, "{what}");
        for index in 0..window.dots() {
            let place = timing.place(window.output_position(index), layer.order.len() - 1, 0);
            assert!(place.cycle < timing.cycles, "{what}: {place:?} of {}", timing.cycles);
            assert!(place.row < timing.array.rows && place.col < timing.array.cols, "{what}");
        }
        LayerBounds::new(graph, layer);
    }
    network_sums(&program);
    run(&program, &what);
}

#[test]
fn every_number_is_refused_or_right() {
    let graph = Arc::new(guardbit_frontends::read_yaml(NETWORK, Path::new("."), "net.yaml").unwrap());
    let keys = keys();
    let paths: Vec<&str> = keys.iter().map(|key| key.path.as_str()).collect();
    for known in ["clock_mhz", "array.rows", "accumulation.*.bits", "bias.bits", "memory.dram_burst_bytes"] {
        assert!(paths.contains(&known), "{known} is not among {paths:?}");
    }
    for key in &keys {
        for (base, first, last) in BASES {
            for (value, in_range) in key.values() {
                if let Some(sets) = key.sets(first, last, &value) {
                    check(&graph, base, &sets, in_range);
                }
            }
        }
    }
}
