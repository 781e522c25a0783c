//! Figures that `ARITHMETIC_VERSION` stands for: a change of any of them is a reminder to raise it.

use std::path::Path;
use std::sync::Arc;

use guardbit_hwmodels::{load, lower};
use guardbit_reports::{layer_rows, write_csv};
use guardbit_sim::{ARITHMETIC_VERSION, Mode, Options, Simulation, StatsLevel};

const PRESETS: [&str; 7] = [
    "fpga-int14-os",
    "fpga-int14-ws",
    "inner14-outer24",
    "ethos-u55-32",
    "gemmini-16",
    "vta-default",
    "dsp48e2-int8x2",
];

/// Returns all counts for a few random samples of the digits network.
fn figures() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let graph = Arc::new(guardbit_frontends::load(&root.join("examples/digits/digits_int8.tflite")).unwrap());
    let samples: Vec<_> =
        (0..3).map(|seed| vec![guardbit_frontends::random_codes(seed, -128..=127, 64)]).collect();
    let mut text = format!("arithmetic {ARITHMETIC_VERSION}\n");
    for preset in PRESETS {
        for mode in Mode::ALL {
            let program = lower(Arc::clone(&graph), &load(preset, &[]).unwrap()).unwrap();
            let mut simulation = Simulation::new(&program, Options { mode, ..Options::default() });
            simulation.run_batch(&samples).unwrap();
            let layers = simulation.finish();
            let rows = layer_rows(&program, &layers, &layers, StatsLevel::Full);
            text += &format!(
                "\n{preset} {}\n{}",
                mode.name(),
                String::from_utf8(write_csv(&rows).unwrap()).unwrap()
            );
        }
    }
    text
}

/// `scripts/renew` renews the file.
#[test]
fn figures_change_with_the_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arithmetic.txt");
    let found = figures();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "figures differ from {}, first {differs:?}: raise ARITHMETIC_VERSION if stored results would be others now \
         (a new column alone makes none), then run scripts/renew",
        path.display()
    );
}
