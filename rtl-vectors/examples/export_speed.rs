//! Measures how long the export of accumulator words takes:
//! `cargo run --release -p guardbit-rtl-vectors --example export_speed`.
//!
//! The layer is a 3x3 convolution of 64 channels with full-range random codes, on presets of the three kinds
//! of accelerators; the bundle stays in memory. Prints the number of words of `exp_acc_*` and the time in
//! seconds, the best of three runs.

use std::sync::Arc;
use std::time::Instant;

use guardbit_graph::{DType, Graph, Operand, OutputSpec, Padding, TensorType, ops::Conv2d};
use guardbit_hwmodels::{Program, lower};
use guardbit_rtl_vectors::manifest::{Packing, Source};
use guardbit_rtl_vectors::{Format, Request, export};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

type AnyError = Box<dyn std::error::Error>;

const SHAPE: [usize; 4] = [1, 16, 16, 64];

fn main() -> Result<(), AnyError> {
    for hw in ["fpga-int14-os", "fpga-int14-ws", "fpga-int14-tree"] {
        let (program, input) = layer(hw)?;
        let source = Source {
            model: "random".into(),
            model_sha256: String::new(),
            accelerator: hw.into(),
            accelerator_sha256: String::new(),
            input: "random".into(),
            seed: 0,
            cases: 1800,
        };
        let request = Request {
            source,
            settings: Default::default(),
            packing: Packing::Dense,
            formats: vec![Format::Dec],
            waves: Vec::new(),
        };
        let node = program.mac_layers().next().ok_or("no layer")?.node;
        let mut best = f64::INFINITY;
        let (mut words, mut bytes) = (0, 0);
        for _ in 0..3 {
            let start = Instant::now();
            let bundle = export(&program, node, &[(&input).into()], &request)?;
            best = best.min(start.elapsed().as_secs_f64());
            let is_acc = |path: &str| path.starts_with("exp_acc_") && path.ends_with(".mem");
            words = bundle.manifest.files.iter().filter(|f| is_acc(&f.path)).filter_map(|f| f.words).sum();
            bytes = bundle.files.iter().map(|(_, bytes)| bytes.len()).sum();
        }
        let million = best * 1e6 / words as f64;
        println!(
            "{hw:<16} {words:>8} accumulator words, {bytes:>9} bytes: {best:.3} s, {million:.3} s per million"
        );
    }
    Ok(())
}

fn layer(hw: &str) -> Result<(Program, Vec<i32>), AnyError> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut codes = |count: usize| (0..count).map(|_| i32::from(random.next_u64() as i8)).collect::<Vec<_>>();
    let ty = |shape: &[usize]| TensorType::quantized(shape, DType::Int8, 0.01, 0);
    let op = Conv2d { padding: Padding::Same, ..Conv2d::default() };
    let operands =
        [Operand::input("x", ty(&SHAPE)?), Operand::constant("w", ty(&[64, 3, 3, 64])?, codes(64 * 9 * 64))];
    let graph = Graph::of_op("layer", op, operands, OutputSpec::quantized("y", DType::Int8, 0.01, 0)?)?;
    let program = lower(Arc::new(graph), &guardbit_hwmodels::load(hw, &[])?)?;
    Ok((program, codes(SHAPE.iter().product())))
}
