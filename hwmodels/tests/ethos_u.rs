//! NPU cycles of Ethos-U55 against those that its compiler, ethos-u-vela 5.2.0, estimates for single layers
//! (`--verbose-performance`, Ethos_U55_High_End_Embedded, Shared_Sram, VALID padding, random int8 weights).

use std::fmt::Write;

use guardbit_graph::Window;
use guardbit_hwmodels::load;
use guardbit_hwmodels::timing::{LayerTiming, Widths};

const INT8: Widths = Widths { activation: 8, weight: 8, output: 8 };

/// Layers below this many products have a wider band.
const LARGE: usize = 1_000_000;

struct Row<'a> {
    layer: &'a str,
    window: Window,
    expected: [Option<u64>; 2],
}

fn rows() -> Vec<Row<'static>> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<usize>().unwrap();
        let [size, kernel, stride, from, to] = std::array::from_fn(|i| number(i + 1));
        let out = (size - kernel) / stride + 1;
        let window = Window {
            batch: 1,
            input: [size, size, from],
            output: [out, out, to],
            kernel: [kernel, kernel, from],
            stride: [stride; 2],
            dilation: [1; 2],
            pad: [0; 2],
            groups: 1,
        };
        Row { layer: cells[0], window, expected: [cells[6], cells[7]].map(|cell| cell.parse().ok()) }
    };
    include_str!("reference/vela_npu_cycles.csv").lines().skip(1).map(row).collect()
}

#[test]
fn cycles_are_near_those_of_the_compiler() {
    let mut report = String::new();
    let mut failed = false;
    for row in rows() {
        for (preset, expected) in ["ethos-u55-256", "ethos-u55-32"].into_iter().zip(row.expected) {
            let Some(expected) = expected else { continue };
            let accelerator = load(preset, &[]).unwrap();
            let found = LayerTiming::new(&accelerator, &row.window, INT8).cycles;
            let off = 100.0 * (found as f64 / expected as f64 - 1.0);
            let band = if row.window.dots() * row.window.terms() >= LARGE { 15.0 } else { 35.0 };
            let within = off.abs() <= band;
            failed |= !within;
            let mark = if within { "" } else { "  outside" };
            writeln!(report, "{:9} {preset:13} {expected:8} {found:8} {off:+6.1} %{mark}", row.layer)
                .unwrap();
        }
    }
    assert!(!failed, "\n{report}");
    println!("{report}");
}
