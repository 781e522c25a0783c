//! Compares cycles of Ethos-U55 with those that its compiler, ethos-u-vela 5.2.0, estimates for the layers of
//! whole networks. `scripts/goldens/make_vela_networks.py` wrote `reference/vela_networks.csv`.

use std::fmt::Write;

use guardbit_graph::Window;
use guardbit_hwmodels::load;
use guardbit_hwmodels::timing::{LayerTiming, Widths};

const INT8: Widths = Widths { activation: 8, weight: 8, output: 8, constants: 0 };

/// Layer with the compiler's cycles for 256 and 32 MACs.
struct Row {
    network: &'static str,
    layer: &'static str,
    window: Window,
    expected: [u64; 2],
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("reference/vela_networks.csv").lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| cells[header.iter().position(|column| *column == name).unwrap()];
        let number = |name: &str| cell(name).parse::<usize>().unwrap();
        let groups = number("groups");
        let kernel = [number("kernel_h"), number("kernel_w"), number("in_c") / groups];
        let window = Window {
            batch: 1,
            input: ["in_h", "in_w", "in_c"].map(number),
            output: ["out_h", "out_w", "out_c"].map(number),
            kernel,
            stride: ["stride_h", "stride_w"].map(number),
            dilation: [1; 2],
            pad: ["pad_top", "pad_left"].map(number),
            groups,
        };
        let expected = ["u55_256_cycles", "u55_32_cycles"].map(|name| number(name) as u64);
        Row { network: cell("network"), layer: cell("layer"), window, expected }
    };
    lines.map(row).collect()
}

/// Of 91 layers, 83 (256 MACs) and 85 (32 MACs) are within 15 %, and the sum of each network is within 10 %.
#[test]
fn cycles_are_near_those_of_the_compiler() {
    for (index, preset, near) in [(0, "ethos-u55-256", 83), (1, "ethos-u55-32", 85)] {
        let accelerator = load(preset, &[]).unwrap();
        let mut report = String::new();
        let mut networks: Vec<(&str, u64, u64)> = Vec::new();
        let mut within = 0;
        for Row { network, layer, window, expected } in rows() {
            let (expected, found) = (expected[index], LayerTiming::new(&accelerator, &window, INT8).cycles);
            let off = 100.0 * (found as f64 / expected as f64 - 1.0);
            within += usize::from(off.abs() <= 15.0);
            if off.abs() > 15.0 {
                writeln!(report, "{network} {layer}: {expected} {found} {off:+.1} %").unwrap();
            }
            match networks.iter_mut().find(|one| one.0 == network) {
                Some(one) => (one.1, one.2) = (one.1 + expected, one.2 + found),
                None => networks.push((network, expected, found)),
            }
        }
        for (network, expected, found) in networks {
            let off = 100.0 * (found as f64 / expected as f64 - 1.0);
            writeln!(report, "{network}: {expected} {found} {off:+.1} %").unwrap();
            assert!(off.abs() <= 10.0, "{preset}\n{report}");
        }
        println!("{preset}: {within} of 91 within 15 %\n{report}");
        assert_eq!(within, near, "{preset}\n{report}");
    }
}

/// No layer is faster than its weights come from flash: 1280 x 1001 compressed weights at a byte per cycle.
#[test]
fn weights_take_their_time() {
    let window = rows().into_iter().find(|row| row.window.output == [1, 1, 1001]).unwrap().window;
    let cycles =
        |set: &str| LayerTiming::new(&load("ethos-u55-256", &[set.into()]).unwrap(), &window, INT8).cycles;
    let bytes = 0.9 * 1_281_280.0 + 10.0 * 1001.0;
    assert_eq!(cycles("memory.dram_bytes_per_cycle=1"), bytes as u64 + 64);
    assert_eq!(cycles("memory.dram_bytes_per_cycle=4"), (bytes / 4.0) as u64 + 64);
}
