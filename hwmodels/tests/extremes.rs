//! Timing of extreme layers on extreme accelerators never panics, wraps or takes excessive time.

use guardbit_graph::{OutputPosition, Window};
use guardbit_hwmodels::timing::{ArrayCycles, Gemm, LayerTiming, MAX_CYCLES, Widths};
use guardbit_hwmodels::{
    Accelerator, Array, ArrayKind, Dataflow, Depthwise, Level, Memory, Register, Residency, Terms,
    TimingConvention, load,
};
use guardbit_num::{Format, Overflow};
use proptest::prelude::*;
use proptest::sample::select;

/// Generates a size of at most 2^`bits`: the least, the greatest, or any.
fn size(bits: u32) -> impl Strategy<Value = usize> {
    let most = 1usize << bits;
    prop_oneof![Just(1), Just(most), Just(most.saturating_sub(1).max(1)), 1..=most]
}

/// Generates sizes whose product is at most 2^28, occasionally 0.
fn sizes<const N: usize>() -> impl Strategy<Value = [usize; N]> {
    let shares = prop::collection::vec(0..29u32, N);
    let parts = shares.prop_map(|mut shares| {
        let mut left = 28u32;
        for share in &mut shares {
            *share = (*share).min(left);
            left -= *share;
        }
        shares
    });
    let odd = prop::collection::vec(any::<bool>(), N);
    let empty = prop::option::weighted(0.05, 0..N);
    (parts, odd, empty).prop_map(|(parts, odd, empty)| {
        let mut sizes = std::array::from_fn(|axis| match (parts[axis], odd[axis]) {
            (0, _) => 1,
            (bits, true) => (1usize << bits) - 1,
            (bits, false) => 1usize << bits,
        });
        if let Some(axis) = empty {
            sizes[axis] = 0;
        }
        sizes
    })
}

/// Generates windows that a graph may have: tensors of at most 2^28 elements, steps of at most 2^20.
fn windows() -> impl Strategy<Value = Window> {
    let step = || prop_oneof![Just(1usize), Just(2), Just(1 << 20), 1..=(1usize << 20)];
    (sizes::<4>(), sizes::<3>(), sizes::<3>(), [step(), step(), step(), step()], any::<bool>()).prop_map(
        |([batch, rows, cols, channels], input, kernel, [a, b, c, d], grouped)| {
            let of_channel = kernel.iter().product::<usize>().max(1);
            let channels = channels.min((1 << 28) / of_channel);
            let groups = if grouped { channels.max(1) } else { 1 };
            Window {
                batch,
                input,
                output: [rows, cols, channels],
                kernel,
                stride: [a, b],
                dilation: [c, d],
                pad: [0, 0],
                groups,
            }
        },
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    let number = || prop_oneof![Just(0.000001), Just(1e9), 0.000001..1e9f64, 0.1..100.0f64];
    let latency = prop_oneof![Just(0u64), Just(1_000_000_000), 0..1000u64];
    let bursts = prop_oneof![Just(None), Just(Some(1)), Just(Some(65536u64))];
    let burst = prop_oneof![Just(1u64), Just(65536), 1..=65536u64];
    ([number(), number(), number()], [number(), number(), number()], any::<bool>(), latency, burst, bursts)
        .prop_map(|(kib, rates, double_buffer, latency, burst, bursts)| Memory {
            activation_kib: kib[0],
            weight_kib: kib[1],
            accumulator_kib: kib[2],
            residency: Residency::None,
            double_buffer,
            sram_bytes_per_cycle: rates[0],
            accumulator_bytes_per_cycle: rates[1],
            dram_bytes_per_cycle: rates[2],
            dram_latency_cycles: latency,
            dram_burst_bytes: burst,
            dram_outstanding_bursts: bursts,
        })
}

fn accelerators() -> impl Strategy<Value = Accelerator> {
    let kinds = [ArrayKind::Outputs, ArrayKind::Channels, ArrayKind::Folded, ArrayKind::Block];
    let dataflows =
        [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::Vector];
    let conventions = [TimingConvention::Overlapped, TimingConvention::ScalesimV3, TimingConvention::EthosU];
    let array = (size(16), size(20), size(16), select(kinds.to_vec()), size(6), size(16));
    let terms = prop::option::of(prop::collection::vec(size(28), 0..3));
    (array, select(dataflows.to_vec()), select(conventions.to_vec()), memory(), terms).prop_map(
        |((rows, cols, dot_width, kind, cores, stripe), dataflow, timing, memory, terms)| {
            let cols = cols.min((1 << 20) / rows).clamp(1, 1 << 16);
            let cores = cores.min((1 << 20) / (rows * cols)).max(1);
            let mut accelerator = load("exact-int32-os", &[]).unwrap();
            let all = accelerator.datapath.levels[0].clone();
            let register = Register::Fixed { format: Format::signed(64).unwrap(), overflow: Overflow::Wrap };
            let inner = terms.into_iter().flatten();
            let inner = inner.map(|terms| Level { terms: Terms::Count(terms), register, ..all.clone() });
            accelerator.datapath.levels = inner.chain([all.clone()]).collect();
            let depthwise = Depthwise::ALL[stripe % Depthwise::ALL.len()];
            let array = Array { kind, cores, stripe, depthwise, ..Array::new(rows, cols, dot_width) };
            Accelerator {
                array,
                dataflow,
                timing: guardbit_hwmodels::Timing { convention: timing },
                memory,
                ..accelerator
            }
        },
    )
}

proptest! {
    /// The last additions are the most likely to be placed wrongly.
    #[test]
    fn every_layer_has_its_cycles((accelerator, window) in (accelerators(), windows()), bits in select(vec![4u32, 8, 16])) {
        let widths = Widths { activation: bits, weight: bits, output: bits, constants: 72 * window.channels() as u64 };
        let timing = LayerTiming::new(&accelerator, &window, widths);
        let cost = timing.cost;
        prop_assert_eq!(timing.cycles, cost.compute_cycles.saturating_add(cost.stall_cycles));
        ArrayCycles::new(&accelerator, Gemm::of(&window));
        if timing.cycles > MAX_CYCLES || window.dots() == 0 || window.terms() == 0 {
            return Ok(());
        }
        // SCALE-Sim counts one cycle too few.
        if accelerator.timing.convention == TimingConvention::Overlapped {
            prop_assert!(cost.macs <= cost.capacity, "{:?}", cost);
        }
        for index in [0, window.dots() / 2, window.dots() - 1] {
            let out: OutputPosition = window.output_position(index);
            for k in [0, window.terms() / 2, window.terms() - 1] {
                for level in 0..accelerator.datapath.levels.len() {
                    let place = timing.place(out, k, level);
                    prop_assert!(place.cycle <= timing.cycles.saturating_sub(1), "{:?} of {}", place, timing.cycles);
                    prop_assert!(place.row < timing.array.rows && place.col < timing.array.cols);
                }
            }
        }
    }
}
