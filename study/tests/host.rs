//! Time of host operations: computed by hand, and laws of accelerator and host together.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use guardbit_hwmodels::{InferenceCycles, Program, load, lower};
use guardbit_reports::{HostRow, NetworkTiming};
use proptest::prelude::*;

/// Returns a program for images `[1, 4, 4, 8]`, all int8 unless a node states otherwise.
fn program(nodes: &str, outputs: &str, sets: &[&str]) -> Program {
    let network = format!(
        "schema: 1
inputs:
  - {{name: x, shape: [1, 4, 4, 8], dtype: int8, scale: 0.1}}
constants:
  - {{name: w, shape: [8, 1, 1, 8], dtype: int8, scale: 0.1, random: {{seed: 1}}}}
nodes:
{nodes}outputs: [{outputs}]
"
    );
    let graph = guardbit_frontends::read_yaml(&network, Path::new(""), "net").unwrap();
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    lower(Arc::new(graph), &load("fpga-int14-os", &sets).unwrap()).unwrap()
}

const OUT: &str = "output: {name: y, dtype: int8, scale: 0.1}";

/// Checks operations, bytes, cycles and bottleneck of a node that produces `y`.
fn check(node: &str, sets: &[&str], expected: (u64, u64, u64, &str)) {
    let rows = HostRow::all(&program(&format!("  - {{{node}}}\n"), "y", sets));
    let found = (rows[0].operations, rows[0].bytes, rows[0].cycles, rows[0].bound.as_str());
    assert_eq!(found, expected, "{node} {sets:?}");
}

#[test]
fn operations_by_hand() {
    // 128 elements of 14 operations, two per cycle; 3 * 128 bytes, eight per cycle.
    let add = format!("op: add, inputs: [x, x], {OUT}");
    check(&add, &[], (1792, 384, 896, "lanes"));
    check(&add, &["host.lanes=1"], (1792, 384, 1792, "lanes"));
    check(&add, &["host.ops_per_cycle=0.3"], (1792, 384, 2987, "lanes"));
    check(&add, &["host.lanes=1024"], (1792, 384, 48, "memory"));
    check(&add, &["host.lanes=1024", "host.bytes_per_cycle=0.7"], (1792, 384, 549, "memory"));
    // 896 cycles at a third of the accelerator's clock, which is the host's default clock.
    check(&add, &["clock_mhz=300", "host.clock_mhz=100"], (1792, 384, 2688, "lanes"));
    check(&add, &["clock_mhz=300", "host.clock_mhz=700"], (1792, 384, 384, "lanes"));
    check(&add, &["clock_mhz=100"], (1792, 384, 896, "lanes"));
    // Copies need no arithmetic, and a reshape needs nothing.
    let transpose = format!("op: transpose, inputs: [x], permutation: [0, 2, 1, 3], {OUT}");
    check(&transpose, &[], (0, 256, 32, "memory"));
    check(&format!("op: reshape, inputs: [x], shape: [128], {OUT}"), &[], (0, 0, 0, "nothing"));
    // 32 outputs with windows of 4 cells: 4 comparisons and 2 limits each.
    let pool = format!("op: max_pool2d, inputs: [x], kernel: [2, 2], stride: [2, 2], padding: valid, {OUT}");
    check(&pool, &[], (192, 160, 96, "lanes"));
    // 128 outputs of 8 products, a bias and 5 operations each; 128 + 64 + 128 bytes.
    let conv = format!("op: conv2d, inputs: [x, w], {OUT}");
    check(&conv, &["offload=[]"], (128 * 14, 320, 896, "lanes"));
    // Two evaluations of gemmlowp's exponential.
    let softmax = "op: softmax, inputs: [x], beta: 1, output: {name: y, dtype: int8, scale: 0.00390625, zero_point: -128}";
    check(softmax, &[], (128 * 90, 256, 5760, "lanes"));
}

/// A convolution and an addition of the input in parallel, then their sum: the first addition on the host is
/// hidden.
#[test]
fn branches_overlap() {
    let branches = "  - {op: conv2d, inputs: [x, w], output: {name: a, dtype: int8, scale: 0.1}}
  - {op: add, inputs: [x, x], output: {name: b, dtype: int8, scale: 0.1}}
  - {op: add, inputs: [a, b], output: {name: c, dtype: int8, scale: 0.1}}
";
    let program = program(branches, "c", &[]);
    let cycles = InferenceCycles::of(&program);
    let conv = cycles.accelerator;
    assert_eq!((cycles.host, cycles.total()), (1792, conv + 1792));
    assert_eq!(cycles.overlapped, conv.max(896) + 896);
    let timing = NetworkTiming::new(&program);
    assert_eq!((timing.host_cycles, timing.overlapped_cycles), (1792, cycles.overlapped));
    let us = |cycles: u64| cycles as f64 / program.accelerator.clock_mhz;
    assert!((timing.latency_us - us(conv + 1792)).abs() < 1e-6);
    assert!((timing.host_us + timing.accelerator_us - timing.latency_us).abs() < 2e-6);
    assert!((timing.overlapped_us - us(cycles.overlapped)).abs() < 1e-6);
}

/// Generates a network of convolutions, additions and reshapes: each node's kind, and the earlier tensors
/// that it reads.
fn nodes() -> impl Strategy<Value = (String, usize)> {
    let node = (0..3usize, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    prop::collection::vec(node, 1..12).prop_map(|nodes| {
        let mut text = String::new();
        let name = |index: usize| if index == 0 { "x".to_owned() } else { format!("t{index}") };
        for (made, (kind, first, second)) in nodes.iter().enumerate() {
            let [first, second] = [first, second].map(|index| name(index.index(made + 1)));
            let of = match kind {
                0 => format!("op: conv2d, inputs: [{first}, w]"),
                1 => format!("op: add, inputs: [{first}, {second}]"),
                _ => format!("op: reshape, inputs: [{first}], shape: [1, 4, 4, 8]"),
            };
            writeln!(text, "  - {{{of}, output: {{name: t{}, dtype: int8, scale: 0.1}}}}", made + 1).unwrap();
        }
        (text, nodes.len())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(64)))]

    /// Both sides together take at least the longer time and at most the sum. A faster host never takes
    /// longer, and the accelerator's time does not depend on it.
    #[test]
    fn sides_together((nodes, count) in nodes(), lanes in 1..64usize) {
        let every: Vec<String> = (1..=count).map(|index| format!("t{index}")).collect();
        let of = |sets: &[&str]| InferenceCycles::of(&program(&nodes, &every.join(", "), sets));
        let (lanes, faster) = (format!("host.lanes={lanes}"), format!("host.lanes={}", 2 * lanes));
        let (slow, fast) = (of(&[&lanes]), of(&[&faster]));
        for cycles in [slow, fast] {
            prop_assert!(cycles.accelerator.max(cycles.host) <= cycles.overlapped);
            prop_assert!(cycles.overlapped <= cycles.total());
        }
        prop_assert!(fast.host <= slow.host && fast.overlapped <= slow.overlapped);
        prop_assert_eq!(fast.accelerator, slow.accelerator);
    }
}

/// Work whose time would saturate is refused by name.
#[test]
fn too_slow_a_host() {
    let network = "schema: 1
inputs:
  - {name: x, shape: [1, 4, 4, 8], dtype: int8, scale: 0.1}
nodes:
  - {op: add, inputs: [x, x], output: {name: y, dtype: int8, scale: 0.1}}
outputs: [y]
";
    let graph = Arc::new(guardbit_frontends::read_yaml(network, Path::new(""), "net").unwrap());
    let slow = ["clock_mhz=1e9", "host.clock_mhz=1e-6", "host.bytes_per_cycle=1e-6"].map(str::to_owned);
    let error = lower(graph, &load("fpga-int14-os", &slow).unwrap()).unwrap_err();
    assert_eq!(error.code(), "guardbit::lower::too_many_cycles");
    assert_eq!(
        error.to_string(),
        "layer `y` takes more than 2^53 cycles of the accelerator's clock on the host"
    );
}
