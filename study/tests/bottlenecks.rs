//! Bottlenecks of a layer, computed by hand: 64 activations, 10 outputs, int8.

use std::path::Path;
use std::sync::Arc;

use guardbit_hwmodels::timing::Bound;
use guardbit_hwmodels::{TimingConvention, load, lower};
use guardbit_reports::{HostRow, NetworkTiming, bottleneck_rows};

const NETWORK: &str = "schema: 1
inputs:
  - {name: x, shape: [1, 64], dtype: int8, scale: 0.1}
constants:
  - {name: w, shape: [10, 64], dtype: int8, scale: 0.1, random: {seed: 1}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: y, dtype: int8, scale: 1}}
  - {op: reshape, inputs: [y], shape: [10], output: {name: z, dtype: int8, scale: 1}}
outputs: [z]
";

/// Checks the cycles of array, ports and external memory, and the bottleneck of the layer.
fn check(sets: &[&str], [ideal, array, ports, outside]: [u64; 4], bound: Bound) {
    let graph = guardbit_frontends::read_yaml(NETWORK, Path::new(""), "net").unwrap();
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    let program = lower(Arc::new(graph), &load("fpga-int14-os", &sets).unwrap()).unwrap();
    let rows = bottleneck_rows(&program);
    let row = &rows[0];
    let found = [row.ideal_cycles, row.compute_cycles, row.sram_cycles, row.dram_cycles];
    assert_eq!((found, row.bound.as_str()), ([ideal, array, ports, outside], bound.name()), "{sets:?}");
    assert_eq!((row.macs, rows.len(), row.share.unwrap().value()), (640, 1, 1.0));
    let timing = NetworkTiming::new(&program);
    assert_eq!((timing.macs, HostRow::counted(&timing.host).as_str()), (640, "reshape 1"));
}

#[test]
fn layers_by_hand() {
    // 640 products on 256 elements: one fold of 64 steps, 30 cycles of skew, 16 of drain. 640 weights pass a
    // port of 16 bytes. 64 activations, 640 weights, and a 4-byte multiplier with its shift come from
    // external memory at 8 bytes a cycle. The total is 301 cycles, 206 with that memory twice as fast, and
    // 246 with the array twice as fast.
    check(&[], [3, 110, 40, 89], Bound::Dram);
    check(&["memory.dram_bytes_per_cycle=1"], [3, 110, 40, 709], Bound::Dram);
    check(&["memory.sram_bytes_per_cycle=1"], [3, 110, 640, 89], Bound::WeightPort);
    // One element: ten folds of 64 steps, one cycle of drain.
    check(&["array.rows=1", "array.cols=1"], [640, 641, 40, 89], Bound::Compute);
    // Loads and stores are sequential: 709 and 10 bytes.
    check(&["memory.double_buffer=false", "memory.dram_bytes_per_cycle=1"], [3, 110, 40, 719], Bound::Dram);
    // SCALE-Sim: ceil(10 / 16) * (64 + 16 + 16 - 2) - 1 cycles, no memories.
    check(&["timing.convention=scalesim_v3"], [3, 93, 0, 0], Bound::Mapping);
}

/// Network of three layers: convolutions and a dense layer.
const NETWORK_OF_THREE: &str = "schema: 1
inputs:
  - {name: x, shape: [1, 12, 12, 3], dtype: int8, scale: 0.1}
constants:
  - {name: a, shape: [16, 3, 3, 3], dtype: int8, scale: 0.1, random: {seed: 1}}
  - {name: b, shape: [8, 1, 1, 16], dtype: int8, scale: 0.1, random: {seed: 2}}
  - {name: c, shape: [10, 1152], dtype: int8, scale: 0.1, random: {seed: 3}}
nodes:
  - {op: conv2d, inputs: [x, a], padding: same, output: {name: y, dtype: int8, scale: 1}}
  - {op: conv2d, inputs: [y, b], output: {name: z, dtype: int8, scale: 1}}
  - {op: reshape, inputs: [z], shape: [1, 1152], output: {name: flat, dtype: int8, scale: 1}}
  - {op: fully_connected, inputs: [flat, c], output: {name: out, dtype: int8, scale: 1}}
outputs: [out]
";

/// Busy cycles are within the layer's cycles. No layer exceeds the roof of the array or, if stalls count, of
/// the external memory.
#[test]
fn nothing_is_above_the_roof() {
    let graph = Arc::new(guardbit_frontends::read_yaml(NETWORK_OF_THREE, Path::new(""), "net").unwrap());
    for preset in guardbit_hwmodels::PRESETS {
        for set in ["clock_mhz=100", "memory.double_buffer=false", "memory.dram_bytes_per_cycle=1"] {
            let Ok(accelerator) = load(preset.name, &[set.to_owned()]) else { continue };
            let program = lower(graph.clone(), &accelerator).unwrap();
            let (rows, timing) = (bottleneck_rows(&program), NetworkTiming::new(&program));
            assert_eq!(rows.len() + timing.host.len(), 4, "{} {set}", preset.name);
            for row in rows {
                let what = format!("{} {set}: {row:?}", preset.name);
                assert!(row.ideal_cycles <= row.compute_cycles && row.compute_cycles <= row.cycles, "{what}");
                assert!(row.dram_cycles <= row.cycles && row.sram_cycles <= row.cycles, "{what}");
                assert!(row.macs <= timing.peak_macs_per_cycle * row.cycles, "{what}");
                if timing.convention != TimingConvention::Overlapped.name() {
                    // Other conventions count latencies, or no memory at all.
                    continue;
                }
                let passes = row.dram_cycles as f64 * timing.dram_bytes_per_cycle;
                let most = row.dram_bytes as f64 * (1.0 + 1e-9) + timing.dram_bytes_per_cycle * 2.0;
                assert!(passes <= most, "{what}");
            }
        }
    }
}
