//! Accelerators and layers for tests of timing.

use guardbit_graph::Window;
use guardbit_hwmodels::timing::Widths;
use guardbit_hwmodels::{
    Accelerator, Array, ArrayKind, Dataflow, Register, Terms, Timing, TimingConvention, load,
};
use guardbit_num::{Format, Overflow};
use proptest::prelude::*;

pub const INT8: Widths = Widths { activation: 8, weight: 8, output: 8, constants: 0 };

/// Returns 8-bit codes, and per output channel a bias of 32 bits, a multiplier of 32 and a shift of 8.
pub fn int8(window: &Window) -> Widths {
    Widths { constants: 72 * window.channels() as u64, ..INT8 }
}

/// Returns a window of `groups` matrix products of `pixels x terms` by `terms x channels`.
pub fn window(pixels: usize, terms: usize, channels: usize, groups: usize) -> Window {
    Window {
        batch: 1,
        input: [1, pixels, terms * groups],
        output: [1, pixels, channels * groups],
        kernel: [1, 1, terms],
        stride: [1, 1],
        dilation: [1, 1],
        pad: [0, 0],
        groups,
    }
}

pub fn accelerator(dataflow: Dataflow, array: Array, timing: TimingConvention) -> Accelerator {
    let preset = load("exact-int32-os", &[]).unwrap();
    Accelerator { dataflow, array, timing: Timing { convention: timing }, ..preset }
}

/// Returns the accelerator with a memory that never causes stalls.
pub fn unlimited(mut accelerator: Accelerator) -> Accelerator {
    accelerator.memory.sram_bytes_per_cycle = 1e12;
    accelerator.memory.accumulator_bytes_per_cycle = 1e12;
    accelerator.memory.dram_bytes_per_cycle = 1e12;
    accelerator.memory.dram_latency_cycles = 0;
    accelerator.memory.double_buffer = true;
    accelerator.memory.activation_kib = 1e9;
    accelerator.memory.weight_kib = 1e9;
    accelerator.memory.accumulator_kib = 1e9;
    accelerator.memory.dram_outstanding_bursts = None;
    accelerator
}

/// Generates sizes of the SRAMs, some too small for a whole layer.
pub fn srams() -> impl Strategy<Value = [f64; 3]> {
    let kib = || prop_oneof![Just(64.0), 0.004..0.2f64];
    [kib(), kib(), kib()]
}

/// Generates a layer with a real window.
pub fn windows() -> impl Strategy<Value = Window> {
    let image = (1..9usize, 1..9usize, 1..3usize);
    let kernel = (1..4usize, 1..4usize, 1..9usize, 1..3usize);
    (image, kernel, 1..17usize, 1..4usize).prop_map(
        |((rows, cols, batch), (kh, kw, ic, stride), channels, groups)| {
            let input = |out: usize, kernel: usize| (out - 1) * stride + kernel;
            Window {
                batch,
                input: [input(rows, kh), input(cols, kw), ic * groups],
                output: [rows, cols, channels * groups],
                kernel: [kh, kw, ic],
                stride: [stride; 2],
                dilation: [1; 2],
                pad: [0; 2],
                groups,
            }
        },
    )
}

/// Generates an accelerator and a layer small enough to place every addition.
pub fn layers() -> impl Strategy<Value = (Accelerator, Window)> {
    let dataflow = prop_oneof![
        Just(Dataflow::OutputStationary),
        Just(Dataflow::WeightStationary),
        Just(Dataflow::InputStationary),
        Just(Dataflow::Vector),
    ];
    let timing = prop_oneof![Just(TimingConvention::Overlapped), Just(TimingConvention::ScalesimV3)];
    let array = (1..5usize, 1..5usize, 1..4usize);
    let array = array.prop_map(|(rows, cols, dot_width)| Array::new(rows, cols, dot_width));
    let memory = (0.5..20.0, 0.5..20.0, 0..50u64, any::<bool>());
    let memory = (memory, srams());
    let sizes = (1..9usize, 1..12usize, 1..7usize, 1..4usize);
    (dataflow, timing, array, memory, sizes).prop_map(|(dataflow, timing, array, (memory, kib), sizes)| {
        let mut accelerator = accelerator(dataflow, array, timing);
        accelerator.memory.sram_bytes_per_cycle = memory.0;
        accelerator.memory.dram_bytes_per_cycle = memory.1;
        accelerator.memory.dram_latency_cycles = memory.2;
        accelerator.memory.double_buffer = memory.3;
        accelerator.memory.activation_kib = kib[0];
        accelerator.memory.weight_kib = kib[1];
        accelerator.memory.accumulator_kib = kib[2];
        (accelerator, window(sizes.0, sizes.1, sizes.2, sizes.3))
    })
}

/// Generates layers on every kind of array, with several cores, stripes, and every convention.
pub fn any_layers() -> impl Strategy<Value = (Accelerator, Window)> {
    let kinds = [ArrayKind::Outputs, ArrayKind::Channels, ArrayKind::Folded, ArrayKind::Block];
    let kind = prop::sample::select(kinds.to_vec());
    (layers(), kind, 1..4usize, 1..5usize, any::<bool>()).prop_map(
        |((mut accelerator, window), kind, cores, stripe, ethos_u)| {
            accelerator.array = Array { kind, cores, stripe, ..accelerator.array };
            if ethos_u {
                accelerator.timing.convention = TimingConvention::EthosU;
            }
            (accelerator, window)
        },
    )
}

/// Generates accelerators with sums of all widths, a narrow port for them, and chains of all lengths.
pub fn accelerators() -> impl Strategy<Value = Accelerator> {
    let chain = prop_oneof![Just(None), (1..12usize).prop_map(Some)];
    (any_layers(), 2..40u32, 0.5..40.0, chain).prop_map(|((mut accelerator, _), bits, rate, chain)| {
        accelerator.memory.accumulator_bytes_per_cycle = rate;
        accelerator.datapath.levels[0].register = register(bits);
        if let Some(terms) = chain {
            let mut inner = accelerator.datapath.levels[0].clone();
            inner.terms = Terms::Count(terms);
            inner.name = "inner".into();
            accelerator.datapath.levels.insert(0, inner);
        }
        accelerator
    })
}

/// Returns the products that a processing element takes per step: whole runs of an inner level that are at
/// most `dot_width` long.
pub fn in_step(accelerator: &Accelerator) -> usize {
    let dot_width = accelerator.array.dot_width;
    match accelerator.datapath.levels[0].terms {
        Terms::Count(terms) if terms <= dot_width => dot_width / terms * terms,
        _ => dot_width,
    }
}

pub fn register(bits: u32) -> Register {
    Register::Fixed { format: Format::new(bits, true).unwrap(), overflow: Overflow::Saturate }
}
