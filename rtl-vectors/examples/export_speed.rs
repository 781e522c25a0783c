//! How long it takes to export accumulator words: `cargo run --release -p guardbit-rtl-vectors --example export_speed`.
//!
//! The layer is a 3x3 convolution of 64 channels with full-range random codes, on the presets of the three kinds of
//! accelerator; the bundle stays in memory. Prints words of `exp_acc_*` and seconds, the best of three.

use std::sync::Arc;
use std::time::Instant;

use guardbit_graph::{
    Activation, DType, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization, Requantize,
    TensorType, ops::Conv2d,
};
use guardbit_hwmodels::{Program, lower};
use guardbit_num::Scheme;
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
        let request =
            Request { source, packing: Packing::Dense, formats: vec![Format::Dec], waves: Vec::new() };
        let node = program.mac_layers().next().ok_or("no layer")?.node;
        let mut best = f64::INFINITY;
        let (mut words, mut bytes) = (0, 0);
        for _ in 0..3 {
            let start = Instant::now();
            let bundle = export(&program, node, std::slice::from_ref(&input), &request)?;
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
    let ty = |shape: &[usize]| -> Result<TensorType, AnyError> {
        let quantization = Some(Quantization::per_tensor(0.01, 0)?);
        Ok(TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization })
    };
    let op = Conv2d {
        stride: [1; 2],
        dilation: [1; 2],
        padding: Padding::Same,
        activation: Activation::None,
        requantize: Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 },
    };
    let mut builder = GraphBuilder::new("layer");
    let x = builder.input("x", ty(&SHAPE)?)?;
    let w = builder.constant("w", ty(&[64, 3, 3, 64])?, codes(64 * 9 * 64))?;
    let out = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization: ty(&[1])?.quantization };
    let y = builder.node(op, &[Some(x), Some(w)], out)?;
    let program = lower(Arc::new(builder.finish(vec![y])?), &guardbit_hwmodels::load(hw, &[])?)?;
    Ok((program, codes(SHAPE.iter().product())))
}
