//! Runs a network on an accelerator with 14-bit accumulators and prints the effects of overflow: `cargo run
//! --release -p guardbit --example library`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use guardbit::frontends::random_codes;
use guardbit::sim::{Options, Simulation};
use guardbit::{frontends, hwmodels};

fn main() -> Result<(), Box<dyn Error>> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/digits_int8.tflite");
    let graph = Arc::new(frontends::load(&model)?);
    let accelerator = hwmodels::load("fpga-int14-os", &["accumulation.acc.overflow=wrap".into()])?;
    let program = hwmodels::lower(Arc::clone(&graph), &accelerator)?;

    let mut simulation = Simulation::new(&program, Options::default());
    let samples: Vec<_> = (0..16).map(|seed| vec![random_codes(seed, -128..=127, 8 * 8)]).collect();
    let tensors = simulation.run_batch(&samples)?;

    for (layer, stats) in program.mac_layers().zip(simulation.finish().iter().flatten()) {
        let acc = stats.levels[0].total();
        println!("{:<16} {:>6} overflows in {:>7} additions", layer.short_name, acc.events(), acc.adds);
    }
    let output = graph.outputs()[0].index();
    let wrong = tensors.iter().filter(|tensors| tensors.exact[output] != tensors.simulated[output]);
    println!("{} of {} outputs differ from the exact network's", wrong.count(), tensors.len());
    Ok(())
}
