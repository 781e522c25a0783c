//! Runs a network on an accelerator with 14-bit accumulators and prints the effects of overflow: `cargo run
//! --release -p guardbit --example library`.

use guardbit::{Accelerator, Error, Network};

fn main() -> Result<(), Error> {
    let digits = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits");
    let network = Network::load(format!("{digits}/digits_int8.tflite"))?;
    let accelerator = Accelerator::preset("fpga-int14-os")?.set("accumulation.acc.overflow", "wrap")?;
    let samples = network.read_samples(format!("{digits}/test_images.npy"))?;
    let run = network.on(accelerator)?.run(&samples)?;

    for layer in run.layers() {
        let acc = layer.level("acc")?;
        println!(
            "{:<16} {:>6} overflows in {:>8} additions",
            layer.short_name(),
            acc.events(),
            acc.additions()
        );
    }
    for output in run.outputs() {
        println!(
            "{} of {} samples have a wrong {}",
            output.differing().count(),
            run.samples(),
            output.name()
        );
    }
    Ok(())
}
