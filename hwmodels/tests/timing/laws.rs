//! Laws for every layer on every array. `PROPTEST_CASES` sets the number of cases.

use guardbit_graph::Window;
use guardbit_hwmodels::timing::{ArrayCycles, Bound, Doubled, Gemm, LayerTiming};
use guardbit_hwmodels::{
    Accelerator, Array, ArrayKind, Dataflow, Memory, Register, Terms, Timing, TimingConvention,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::common::{accelerators, any_layers, in_step, int8, register, unlimited, windows};

fn timing(accelerator: &Accelerator, window: &Window) -> LayerTiming {
    LayerTiming::new(accelerator, window, int8(window))
}

fn overlapped(accelerator: Accelerator) -> Accelerator {
    Accelerator { timing: Timing { convention: TimingConvention::Overlapped }, ..accelerator }
}

/// Returns the rows and columns that a layer can use.
fn wanted(accelerator: &Accelerator, gemm: Gemm) -> [usize; 2] {
    let array = accelerator.array;
    let chain = match accelerator.datapath.levels[0].terms {
        Terms::Count(terms) if terms > array.dot_width => terms.min(gemm.terms),
        _ => gemm.terms,
    };
    let rows = gemm.terms.div_ceil(chain) * chain.div_ceil(in_step(accelerator));
    let all = gemm.channels * gemm.groups;
    match (accelerator.dataflow, array.kind) {
        (Dataflow::OutputStationary, _) => [gemm.pixels, gemm.channels],
        (Dataflow::WeightStationary, _) => [rows, gemm.channels],
        (Dataflow::InputStationary, _) => [rows, gemm.pixels],
        (Dataflow::Vector, ArrayKind::Outputs) => [1, gemm.pixels * all],
        (Dataflow::Vector, ArrayKind::Channels) => [1, gemm.channels],
        (Dataflow::Vector, ArrayKind::Folded) => [1, all],
        (Dataflow::Vector, ArrayKind::Block) => [gemm.pixels, all],
    }
}

/// Returns the cycles in which an array fills and drains, without those that do not depend on its size.
fn fill_and_drain(accelerator: &Accelerator) -> usize {
    let Array { rows, cols, .. } = accelerator.array;
    match (accelerator.dataflow, accelerator.timing.convention) {
        (Dataflow::Vector, _) => 0,
        // SCALE-Sim omits the drain of output stationary.
        (Dataflow::OutputStationary, TimingConvention::ScalesimV3) => rows + cols,
        _ => 2 * rows + cols,
    }
}

/// Returns one of the memory's figures, by number.
fn figure(memory: &mut Memory, which: usize) -> &mut f64 {
    match which {
        0 => &mut memory.sram_bytes_per_cycle,
        1 => &mut memory.accumulator_bytes_per_cycle,
        2 => &mut memory.dram_bytes_per_cycle,
        3 => &mut memory.activation_kib,
        4 => &mut memory.weight_kib,
        _ => &mut memory.accumulator_kib,
    }
}

/// Returns the cycles of one inference with one resource twice as fast: the array (all memories at half the
/// pace, cycles halved), the ports of the operands, the port of the sums, the external memory.
fn doubled(accelerator: &Accelerator, window: &Window) -> [u64; 4] {
    let with = |edit: &dyn Fn(&mut Memory)| {
        let mut accelerator = accelerator.clone();
        edit(&mut accelerator.memory);
        timing(&accelerator, window).cycles
    };
    let slow = |memory: &mut Memory| {
        (0..3).for_each(|which| *figure(memory, which) /= 2.0);
        memory.dram_latency_cycles *= 2;
    };
    let outside = |memory: &mut Memory| {
        memory.dram_bytes_per_cycle *= 2.0;
        memory.dram_latency_cycles /= 2;
    };
    [
        with(&slow).div_ceil(2),
        with(&|memory| memory.sram_bytes_per_cycle *= 2.0),
        with(&|memory| memory.accumulator_bytes_per_cycle *= 2.0),
        with(&outside),
    ]
}

/// Returns an accelerator whose rates and latency can be halved without rounding.
fn even(accelerator: Accelerator) -> Accelerator {
    let mut even = overlapped(accelerator);
    for which in 0..3 {
        let rate = figure(&mut even.memory, which);
        *rate = (*rate * 4.0).ceil() / 4.0;
    }
    even.memory.dram_latency_cycles = even.memory.dram_latency_cycles.next_multiple_of(2);
    even
}

proptest! {
    /// No resource helps more than the bottleneck when it becomes twice as fast.
    #[test]
    fn nothing_helps_more_than_what_binds(accelerator in accelerators(), window in windows(), burst in 1..40u64) {
        let mut accelerator = even(accelerator);
        accelerator.memory.dram_burst_bytes = burst;
        let cost = timing(&accelerator, &window).cost;
        let bound = Bound::of(&cost);
        let all = doubled(&accelerator, &window);
        let resource = match bound {
            Bound::Compute | Bound::Mapping => 0,
            Bound::ActivationPort | Bound::WeightPort => 1,
            Bound::AccumulatorPort => 2,
            Bound::Dram => 3,
        };
        prop_assert!(all.into_iter().all(|cycles| all[resource] <= cycles), "{bound}: {all:?}");
        prop_assert_eq!(cost.doubled.of(bound), all[resource]);
        let Doubled { array, operand_ports, accumulator_port, dram } = cost.doubled;
        prop_assert_eq!([array, operand_ports, accumulator_port, dram], all);
    }

    /// Compute cycles equal the cycles with ideal memories of equal size: no tile takes fewer.
    #[test]
    fn compute_cycles_are_those_of_memories_that_take_no_time(accelerator in accelerators(), window in windows()) {
        let accelerator = overlapped(accelerator);
        let mut quick = accelerator.clone();
        (0..3).for_each(|which| *figure(&mut quick.memory, which) = 1e12);
        quick.memory.dram_latency_cycles = 0;
        // The first load and the last store take one cycle each.
        let expected = timing(&quick, &window).cycles - 2;
        prop_assert_eq!(timing(&accelerator, &window).cost.compute_cycles, expected);
        // Also the stalls of ports that remain with an ideal external memory.
        let mut ports = accelerator.clone();
        ports.memory.dram_bytes_per_cycle = 1e12;
        ports.memory.dram_latency_cycles = 0;
        let inside = timing(&ports, &window).cycles - 2;
        let cost = timing(&accelerator, &window).cost;
        prop_assert_eq!(cost.compute_cycles + cost.stall_sram_cycles, inside);
    }

    /// Lanes that can hold any outputs are not slower than lanes that hold channels of one pixel, in layers
    /// with more channels.
    #[test]
    fn free_lanes_try_both_orders(accelerator in accelerators(), window in windows()) {
        let mut free = overlapped(accelerator);
        free.dataflow = Dataflow::Vector;
        let cols = free.array.cols.min(window.channels() - 1).max(1);
        free.array = Array { kind: ArrayKind::Outputs, rows: 1, cols, cores: 1, ..free.array };
        let mut folded = free.clone();
        folded.array.kind = ArrayKind::Folded;
        let [found, expected] = [&free, &folded].map(|accelerator| timing(accelerator, &window).cycles);
        prop_assert!(found <= expected, "{found} > {expected}");
    }

    /// Rows and columns that a layer cannot use cost what the closed form states for a larger array, and move
    /// nothing.
    #[test]
    fn idle_rows_and_columns_cost_nothing(
        accelerator in accelerators(), window in windows(), more in (0..40usize, 0..40usize), scalesim in any::<bool>(),
    ) {
        let mut small = overlapped(accelerator);
        small.array.cores = 1;
        if scalesim {
            small.timing.convention = TimingConvention::ScalesimV3;
        }
        let gemm = Gemm::of(&window);
        [small.array.rows, small.array.cols] = wanted(&small, gemm);
        let mut large = small.clone();
        large.array.rows += more.0;
        large.array.cols += more.1;
        let [found, expected] = [&large, &small].map(|accelerator| timing(accelerator, &window));
        let folds = ArrayCycles::new(&small, gemm).folds;
        let times = match small.timing.convention {
            TimingConvention::ScalesimV3 => folds,
            _ if small.memory.double_buffer => 1,
            _ => expected.tile.count,
        };
        let longer = times * (fill_and_drain(&large) - fill_and_drain(&small));
        prop_assert!(found.cycles <= expected.cycles + longer as u64, "{} > {} + {longer}", found.cycles, expected.cycles);
        if scalesim {
            prop_assert_eq!(found.cycles, expected.cycles + longer as u64);
            prop_assert_eq!(found.cost.sram_bytes, expected.cost.sram_bytes);
        }
        let [found, expected] = [large, small].map(|accelerator| timing(&unlimited(accelerator), &window).cycles);
        prop_assert_eq!(found, expected + longer as u64 / if scalesim { 1 } else { times as u64 });
    }

    /// An array several times as long is not slower, except for its fill and drain.
    #[test]
    fn longer_arrays_are_not_slower(
        (accelerator, _) in any_layers(), window in windows(), times in (1..5usize, 1..5usize), chains in any::<bool>(),
    ) {
        let mut small = unlimited(overlapped(accelerator));
        // A level of single products is not a chain.
        let chains = chains && small.array.rows > 1;
        if chains && small.dataflow.moves_sums() {
            let mut chain = small.datapath.levels[0].clone();
            chain.terms = Terms::Count(small.array.rows * small.array.dot_width);
            chain.name = "chain".into();
            small.datapath.levels.insert(0, chain);
        }
        let mut large = small.clone();
        large.array.rows *= times.0;
        large.array.cols *= times.1;
        // A chain that enters the column in several passes fills and drains it in each of them.
        let again = small.dataflow.moves_sums() && !chains;
        let times = if again { ArrayCycles::new(&large, Gemm::of(&window)).folds } else { 1 };
        let longer = (times * (fill_and_drain(&large) - fill_and_drain(&small))) as u64;
        let [found, expected] = [&large, &small].map(|accelerator| timing(accelerator, &window).cycles);
        prop_assert!(found <= expected + longer, "{found} > {expected} + {longer}");
    }

    /// A larger or faster memory never makes a layer slower.
    #[test]
    fn better_memories_never_cost_cycles(
        accelerator in accelerators(), window in windows(), which in 0..6usize, factor in 1.0..4.0f64,
    ) {
        let poor = overlapped(accelerator);
        let mut rich = poor.clone();
        *figure(&mut rich.memory, which) *= factor;
        let [found, expected] = [&rich, &poor].map(|accelerator| timing(accelerator, &window).cycles);
        prop_assert!(found <= expected, "{found} > {expected}");
    }

    #[test]
    fn narrower_sums_never_cost_cycles(accelerator in accelerators(), window in windows(), bits in (2..40u32, 2..40u32)) {
        let with = |bits: u32| {
            let mut accelerator = overlapped(accelerator.clone());
            accelerator.datapath.levels.last_mut().unwrap().register = register(bits);
            timing(&accelerator, &window).cycles
        };
        let (narrow, wide) = (bits.0.min(bits.1), bits.0.max(bits.1));
        prop_assert!(with(narrow) <= with(wide));
    }

    /// Every operand that is read passes at least once, every output and constant once, and every sum of an
    /// array with moving sums twice.
    #[test]
    fn traffic_is_at_least_the_data(
        accelerator in accelerators(),
        window in windows(),
        timing in select(vec![TimingConvention::Overlapped, TimingConvention::ScalesimV3, TimingConvention::EthosU]),
    ) {
        let accelerator = Accelerator { timing: Timing { convention: timing }, ..accelerator };
        let cost = self::timing(&accelerator, &window).cost;
        let read = |axis: usize| window.output[axis] * window.kernel[axis].min(window.stride[axis])
            + window.kernel[axis].saturating_sub(window.stride[axis]);
        let activations = window.batch * read(0) * read(1) * window.input[2];
        let weights = window.terms() * window.channels();
        let sums = if accelerator.dataflow.moves_sums() { 2 * window.dots() } else { 0 };
        let bits = match accelerator.datapath.levels.last().unwrap().register {
            Register::Fixed { format, .. } => format.bits() as usize,
            Register::Auto => 32,
        };
        prop_assert!(cost.sram_bytes >= (activations + weights + window.dots() + sums * bits / 8) as u64);
        let whole = window.batch * window.input.iter().product::<usize>();
        let constants = match timing {
            TimingConvention::Overlapped => 9 * window.channels(),
            // SCALE-Sim counts no constants, Vela 10 bytes per channel.
            TimingConvention::ScalesimV3 => 0,
            TimingConvention::EthosU => 10 * window.channels(),
        };
        prop_assert!(cost.dram_bytes >= (whole + weights + window.dots() + constants) as u64);
        prop_assert_eq!(cost.moved.loaded_constants, 8 * constants as u128);
    }

    #[test]
    fn stalls_are_those_of_the_memories(
        accelerator in accelerators(),
        window in windows(),
        timing in select(vec![TimingConvention::Overlapped, TimingConvention::ScalesimV3, TimingConvention::EthosU]),
    ) {
        let accelerator = Accelerator { timing: Timing { convention: timing }, ..accelerator };
        let LayerTiming { cycles, cost, .. } = self::timing(&accelerator, &window);
        prop_assert_eq!(cost.stall_cycles, cost.stall_sram_cycles + cost.stall_dram_cycles);
        prop_assert_eq!(cycles, cost.compute_cycles + cost.stall_cycles);
        if timing == TimingConvention::Overlapped {
            // Ideal ports cause no stalls.
            let unlimited = unlimited(accelerator.clone());
            let mut ports = accelerator.clone();
            ports.memory.sram_bytes_per_cycle = unlimited.memory.sram_bytes_per_cycle;
            ports.memory.accumulator_bytes_per_cycle = unlimited.memory.accumulator_bytes_per_cycle;
            prop_assert_eq!(self::timing(&ports, &window).cost.stall_sram_cycles, 0);
            // An ideal external memory still takes one cycle for the first load and one for the last store.
            let mut outside = unlimited;
            outside.memory.sram_bytes_per_cycle = accelerator.memory.sram_bytes_per_cycle;
            outside.memory.accumulator_bytes_per_cycle = accelerator.memory.accumulator_bytes_per_cycle;
            prop_assert_eq!(self::timing(&outside, &window).cost.stall_dram_cycles, 2);
            // A port cannot move its data in less time.
            let memory = accelerator.memory;
            let quick = memory.sram_bytes_per_cycle.max(memory.accumulator_bytes_per_cycle);
            let all = cost.sram_bytes as f64 - window.dots() as f64;
            let least = all / (accelerator.array.cores as f64 * 3.0 * quick);
            prop_assert!((cost.compute_cycles + cost.stall_sram_cycles) as f64 >= least.floor());
        }
    }
}
