//! Bytes of biases and requantization constants, computed by hand.

use std::sync::Arc;

use guardbit_graph::ops::Conv2d;
use guardbit_graph::{DType, GraphBuilder, OutputSpec, Quantization, TensorType};
use guardbit_hwmodels::{Program, from_yaml, lower};

/// Constants of a layer in addition to its weights.
#[derive(Clone, Copy)]
struct Stored {
    bias: Option<DType>,
    /// Scale of the weights of the first channel, and of all others.
    scales: [f32; 2],
    /// Zero point of the activations.
    zero_point: i32,
}

const PLAIN: Stored = Stored { bias: None, scales: [0.5; 2], zero_point: 0 };

/// Returns a 1x1 convolution of 4x4 pixels from 4 to 8 channels: 64 bytes of activations, 32 of weights, 128
/// of outputs.
fn layer(stored: Stored, keys: &str) -> Program {
    let Stored { bias, scales: [first, others], zero_point } = stored;
    let scales = (0..8).map(|channel| if channel == 0 { first } else { others }).collect();
    let scales = Some(Quantization::per_axis(scales, vec![0; 8], 0).unwrap());
    let constant =
        |shape: &[usize], dtype| TensorType { shape: shape.into(), dtype, quantization: scales.clone() };
    let mut builder = GraphBuilder::new("layer");
    let activations = TensorType::quantized(&[1, 4, 4, 4], DType::Int8, 1.0, zero_point).unwrap();
    let x = builder.input("x", activations).unwrap();
    let w = builder.constant("w", constant(&[8, 1, 1, 4], DType::Int8), vec![1; 32]).unwrap();
    let b = bias.map(|dtype| match dtype {
        DType::Int64 => builder.wide_constant("b", constant(&[8], dtype), vec![3; 8]).unwrap(),
        _ => builder.constant("b", constant(&[8], dtype), vec![3; 8]).unwrap(),
    });
    let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
    let y = builder.node(Conv2d::default(), &[Some(x), Some(w), b], output).unwrap();
    let graph = builder.finish(vec![y]).unwrap();
    lower(Arc::new(graph), &from_yaml(&format!("schema: 1\n{keys}"), "test", &[]).unwrap()).unwrap()
}

fn dram_bytes(stored: Stored, keys: &str) -> u64 {
    layer(stored, keys).mac_layers().next().unwrap().timing.cost.dram_bytes
}

#[test]
fn biases_and_multipliers_are_loaded_once() {
    let data = 64 + 32 + 128;
    let check = |stored: Stored, keys: &str, constants: u64| {
        assert_eq!(dram_bytes(stored, keys), data + constants, "{keys}");
    };
    let biased = Stored { bias: Some(DType::Int32), ..PLAIN };
    let of_channels = Stored { scales: [0.25, 0.5], ..biased };
    // A multiplier of 4 bytes and a shift of 1 byte, for the layer or for each of 8 channels; a bias has 4
    // bytes.
    check(PLAIN, "", 5);
    check(biased, "", 8 * 4 + 5);
    check(of_channels, "", 8 * (4 + 5));
    check(Stored { bias: Some(DType::Int64), ..of_channels }, "", 8 * (8 + 5));
    // A scale of 1 takes no bytes.
    check(Stored { scales: [1.0; 2], ..biased }, "", 8 * 4);
    // Other schemes: 2 bytes and a shift, a float32, a float64.
    check(of_channels, "requantize: {scheme: q48}\n", 8 * (4 + 2 + 1));
    check(of_channels, "requantize: {scheme: even}\n", 8 * (4 + 4));
    check(of_channels, "requantize: {scheme: float64_away}\n", 8 * (4 + 8));
    // Folded zero points form a bias; the place where it is added and the width of the adder change nothing.
    let shifted = Stored { zero_point: 3, ..PLAIN };
    check(shifted, "operands: {zero_point: fold}\n", 8 * 4 + 5);
    check(shifted, "", 5);
    check(
        of_channels,
        "bias: {at: preload}\naccumulation: [{name: acc, terms: all, bits: 14}]\n",
        8 * (4 + 5),
    );
    // Bursts are rounded up.
    check(of_channels, "memory: {dram_burst_bytes: 32}\n", 96);
    // SCALE-Sim counts no constants; Vela writes records of 10 bytes.
    check(of_channels, "timing: {convention: scalesim_v3}\n", 0);
    let block = "dataflow: vector\narray: {rows: 4, cols: 8, dot_width: 8, kind: block}\n";
    check(of_channels, &format!("{block}timing: {{convention: ethos_u}}\n"), 8 * 10);
}

/// Weights stay if they fit next to the constants of their layer; otherwise they are loaded again for every
/// stretch of pixels.
#[test]
fn constants_take_room_beside_the_weights() {
    let stored = Stored { bias: Some(DType::Int32), scales: [0.25, 0.5], zero_point: 0 };
    let bytes = |stored: Stored, weight_bytes: f64| {
        // Sums of two of the 16 pixels, and activations of four, at a time.
        let keys = format!(
            "array: {{rows: 2, cols: 2}}\nmemory: {{double_buffer: false, activation_kib: {}, weight_kib: {}, \
             accumulator_kib: {}}}\n",
            16.0 / 1024.0,
            weight_bytes / 1024.0,
            16.0 / 1024.0
        );
        dram_bytes(stored, &keys)
    };
    let constants = 8 * (4 + 5);
    let once = 64 + 32 + 128 + constants;
    assert_eq!(bytes(stored, 32.0 + constants as f64), once);
    assert!(bytes(stored, 31.0 + constants as f64) > once);
    // Without biases, and with one multiplier, they fit a smaller memory.
    assert_eq!(bytes(PLAIN, 32.0 + 5.0), 64 + 32 + 128 + 5);
    assert!(bytes(PLAIN, 31.0 + 5.0) > 64 + 32 + 128 + 5);
}

/// Returns the weight operands of a 1x1 convolution with these zero points, and whether they share the memory of the
/// network's codes.
fn operands(zero_points: [i32; 2], codes: [i32; 4], keys: &str) -> (Vec<i32>, bool) {
    let ty = |shape: &[usize], scales: Quantization| TensorType {
        shape: shape.into(),
        dtype: DType::Int8,
        quantization: Some(scales),
    };
    let mut builder = GraphBuilder::new("layer");
    let x = builder.input("x", ty(&[1, 1, 1, 2], Quantization::per_tensor(1.0, 0).unwrap())).unwrap();
    let scales = Quantization::per_axis(vec![0.5, 0.25], zero_points.to_vec(), 0).unwrap();
    let w = builder.constant("w", ty(&[2, 1, 1, 2], scales), codes.to_vec()).unwrap();
    let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
    let y = builder.node(Conv2d::default(), &[Some(x), Some(w), None], output).unwrap();
    let graph = builder.finish(vec![y]).unwrap();
    let accelerator = from_yaml(&format!("schema: 1\n{keys}"), "test", &[]).unwrap();
    let program = lower(Arc::new(graph), &accelerator).unwrap();
    let weights = &program.mac_layers().next().unwrap().weights;
    let own = program.graph.tensor(w).codes().unwrap();
    (weights.values().to_vec(), weights.values().is_shared_with(own))
}

#[test]
fn weights_share_the_memory_of_equal_codes() {
    let codes = [1, -2, 3, 100];
    assert_eq!(operands([0, 0], codes, ""), (codes.to_vec(), true));
    // Subtracted zero points make other operands, folded ones do not.
    assert_eq!(operands([0, 2], codes, ""), (vec![1, -2, 1, 98], false));
    assert_eq!(operands([0, 2], codes, "operands: {zero_point: fold}\n"), (codes.to_vec(), true));
}
