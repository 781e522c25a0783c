//! Adjacent depthwise windows, which kernels may read together: their number is as many as are read together,
//! and one more or less. Tests the end of a row, the end of the channels, and kernels and strides up to those
//! that are no longer read together.

use std::fmt::Debug;

use crate::common::{
    REQUANTIZE, accelerator, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::ops::DepthwiseConv2d;
use guardbit_graph::{Activation, DType, Graph, Padding};
use guardbit_hwmodels::Terms;
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Isa, Options, StatsLevel};

/// Rows and columns of a kernel, stride and dilation.
type Windows = ([usize; 2], usize, usize);

#[test]
fn windows_of_every_kind() {
    let kernels = [[1, 1], [1, 4], [4, 1], [2, 2], [3, 3], [4, 4], [5, 3], [3, 5], [1, 9]];
    for kernel in kernels {
        for stride in 1..=6 {
            check((kernel, stride, 1), [11, 23, 17], 1, DType::Int8, -128);
        }
        check((kernel, 1, 2), [11, 23, 17], 1, DType::Int8, -128);
        check((kernel, 2, 3), [17, 33, 5], 1, DType::Int8, 3);
    }
    // More products than lanes of 16 bits can add at once.
    for kernel in [[8, 16], [3, 43], [17, 16]] {
        check((kernel, 1, 1), [18, 20, 17], 1, DType::Int8, -128);
        check((kernel, 1, 1), [18, 20, 17], 1, DType::Int8, 127);
    }
}

#[test]
fn rows_of_every_length() {
    for cols in 1..=20 {
        check(([3, 3], 1, 1), [4, cols, 16], 1, DType::UInt8, 0);
        check(([3, 3], 2, 1), [5, 2 * cols, 33], 1, DType::Int8, 7);
    }
}

#[test]
fn operands_of_either_sign_and_shared_channels() {
    for (dtype, zero_point) in
        [(DType::Int8, -128), (DType::Int8, 0), (DType::Int8, 127), (DType::UInt8, 131)]
    {
        for multiplier in [1, 2, 16] {
            check(([3, 3], 1, 1), [5, 13, 18], multiplier, dtype, zero_point);
        }
    }
}

/// The upper two rows of a window cancel the lower ones: the sum is the bias, and only one prefix is next to
/// the rails.
#[test]
fn prefixes_alone() {
    for (dtype, activation, zero_point) in
        [(DType::Int8, -128, 0), (DType::Int8, 127, 0), (DType::UInt8, 255, 0), (DType::Int8, 0, 100)]
    {
        let (rows, cols, channels, weight) = (4, 11, 16, 64);
        let weights = [vec![weight; 4 * channels], vec![-weight; 4 * channels]].concat();
        let x = quantized(&[1, rows, cols, channels], dtype, 1.0, zero_point);
        let w = quantized(&[1, 4, 2, channels], DType::Int8, 1.0, 0);
        let graph =
            one_layer(convolution(1, 1), x, Some((w, weights)), None, output("y", DType::Int8, 64.0, 0));
        let sample = vec![activation; rows * cols * channels];
        let peak = 4 * weight * (activation - zero_point);
        let width = peak.unsigned_abs().ilog2() + 1;
        let mut overflows = [false; 3];
        for (bits, overflows) in (width - 1..).zip(&mut overflows) {
            *overflows = check_register(&graph, &sample, bits, StatsLevel::Events, &(dtype, activation));
        }
        // One bit of a signed register is the sign: of the two powers of two only the negative one fits.
        let fits = peak < 0 && peak.unsigned_abs().is_power_of_two();
        assert_eq!(overflows, [true, !fits, false], "{dtype} {activation}");
    }
}

/// Registers that many, some and none of the windows overflow.
fn check(windows: Windows, input: [usize; 3], multiplier: usize, dtype: DType, zero_point: i32) {
    let (graph, sample) = layer(windows, input, multiplier, (dtype, zero_point));
    let registers =
        [(13, StatsLevel::Events), (16, StatsLevel::Events), (16, StatsLevel::None), (24, StatsLevel::None)];
    for (bits, stats) in registers {
        check_register(&graph, &sample, bits, stats, &(windows, input, multiplier, dtype, zero_point));
    }
}

/// Compares every body with the reference. Returns whether something overflows.
fn check_register(graph: &Graph, sample: &[i32], bits: u32, stats: StatsLevel, case: &impl Debug) -> bool {
    let level = serial("acc", Terms::All, register(bits, Overflow::Saturate));
    let program = program(graph, &accelerator(datapath(vec![level])));
    let with = |engine, isa| {
        let options = Options { engine, isa, stats, ..Options::default() };
        run(&program, &[sample.to_vec()], options).unwrap()
    };
    let reference = with(Engine::Reference, None);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let fast = with(Engine::Fast, Some(isa));
        assert_eq!(reference.tensors, fast.tensors, "{case:?} {bits} {stats:?} {isa:?}");
        assert_eq!(reference.stats, fast.stats, "{case:?} {bits} {stats:?} {isa:?}");
    }
    reference.stats.levels[0].channels.iter().any(|channel| channel.events() > 0)
}

/// Returns a layer whose weights are small in every other channel.
fn layer(
    (kernel, stride, dilation): Windows,
    [rows, cols, channels]: [usize; 3],
    multiplier: usize,
    (dtype, zero_point): (DType, i32),
) -> (Graph, Vec<i32>) {
    let [kernel_rows, kernel_cols] = kernel;
    let outputs = channels * multiplier;
    let mut numbers = Numbers(1);
    let weights = (0..kernel_rows * kernel_cols * outputs).map(|i| match i % outputs % 2 {
        0 => numbers.next(-127..=127),
        _ => numbers.next(-20..=20),
    });
    let weights = weights.collect();
    let x = quantized(&[1, rows, cols, channels], dtype, 1.0, zero_point);
    let w = quantized(&[1, kernel_rows, kernel_cols, outputs], DType::Int8, 1.0, 0);
    let bias = (0..outputs).map(|_| numbers.next(-2000..=2000)).collect();
    let y = output("y", DType::Int8, 512.0, 0);
    let sample = (0..rows * cols * channels).map(|_| numbers.next(dtype.min()..=dtype.max())).collect();
    (one_layer(convolution(stride, dilation), x, Some((w, weights)), Some(bias), y), sample)
}

fn convolution(stride: usize, dilation: usize) -> DepthwiseConv2d {
    DepthwiseConv2d {
        stride: [stride; 2],
        dilation: [dilation; 2],
        padding: Padding::Same,
        activation: Activation::None,
        requantize: REQUANTIZE,
    }
}

/// Pseudo-random numbers, equal in every run.
struct Numbers(u64);

impl Numbers {
    /// Knuth's generator of 64 bits (MMIX); its upper half is used.
    fn next(&mut self, range: std::ops::RangeInclusive<i32>) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let span = (range.end() - range.start() + 1) as u64;
        range.start() + ((self.0 >> 32) % span) as i32
    }
}
