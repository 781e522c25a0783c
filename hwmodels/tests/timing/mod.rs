//! Tests of cycles and places.

mod busy;
mod chains;
mod common;
mod groups;
mod laws;
mod spans;
mod walk;

use std::collections::BTreeMap;

use guardbit_graph::{OutputPosition, Window};
use guardbit_hwmodels::timing::{LayerTiming, Tile, TileOrder};
use guardbit_hwmodels::{Accelerator, Array, ArrayKind, Dataflow, Timing, TimingConvention};
use proptest::prelude::*;

use self::common::{INT8, accelerator, accelerators, any_layers, int8, layers, unlimited, window, windows};

/// SCALE-Sim 3.0.0 on a 32x32 array: M, K, N, then cycles of output, weight and input stationary. Rows marked
/// "ran" are the tool's own output; the others follow from its formulas.
const SCALESIM: &[([usize; 3], [u64; 3])] = &[
    ([32, 32, 32], [93, 125, 125]),                  // ran
    ([64, 64, 64], [503, 631, 631]),                 // ran
    ([196, 64, 128], [3527, 2319, 3107]),            // ran
    ([100, 70, 50], [1055, 1163, 1727]),             // ran
    ([196, 288, 32], [2449, 2609, 7937]),            // ran
    ([64, 144, 48], [823, 1579, 1419]),              // ran
    ([12100, 147, 64], [158_421, 121_939, 299_409]), // ResNet-18 Conv1
    ([2916, 576, 64], [117_391, 108_359, 261_647]),  // ResNet-18 Conv2_1a
    ([784, 576, 128], [63_799, 63_215, 99_899]),     // ran: ResNet-18 Conv3_1a
    ([676, 1152, 128], [106_831, 110_879, 175_823]), // ResNet-18 Conv3_1b
    ([841, 64, 128], [13_607, 7479, 11_987]),        // ran: ResNet-18 Conv3_s
    ([144, 2304, 256], [94_639, 137_087, 125_999]),  // ResNet-18 Conv4_1b
    ([64, 256, 512], [10_175, 20_223, 9695]),        // ran: ResNet-18 Conv5_s
    ([1, 512, 1000], [18_367, 48_639, 17_503]),      // ran: ResNet-18 FC
];

#[test]
fn compute_cycles_are_those_of_scalesim() {
    let array = Array::new(32, 32, 1);
    let dataflows = [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary];
    for &([m, k, n], expected) in SCALESIM {
        for (dataflow, expected) in dataflows.into_iter().zip(expected) {
            let accelerator = accelerator(dataflow, array, TimingConvention::ScalesimV3);
            let found = LayerTiming::new(&accelerator, &window(m, k, n, 1), INT8).cycles;
            assert_eq!(found, expected, "{dataflow} {m}x{k}x{n}");
        }
    }
}

/// Random shapes, counted by the tool itself: `scripts/goldens/make_scalesim_cycles.py`.
#[test]
fn random_shapes_take_the_cycles_of_scalesim() {
    let rows: Vec<Vec<u64>> = include_str!("../reference/scalesim_cycles.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert!(rows.len() >= 60);
    let dataflows = [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary];
    for row in rows {
        let [rows, cols, m, k, n] = std::array::from_fn(|i| row[i] as usize);
        for (dataflow, &expected) in dataflows.into_iter().zip(&row[5..]) {
            let array = Array::new(rows, cols, 1);
            let accelerator = accelerator(dataflow, array, TimingConvention::ScalesimV3);
            let found = LayerTiming::new(&accelerator, &window(m, k, n, 1), INT8).cycles;
            assert_eq!(found, expected, "{rows}x{cols} {dataflow} {m}x{k}x{n}");
        }
    }
}

#[test]
fn groups_are_matrix_products_one_after_the_other() {
    let array = Array::new(4, 4, 1);
    let accelerator = accelerator(Dataflow::OutputStationary, array, TimingConvention::ScalesimV3);
    let one = LayerTiming::new(&accelerator, &window(10, 9, 1, 1), INT8);
    let eight = LayerTiming::new(&accelerator, &window(10, 9, 1, 8), INT8);
    assert_eq!(eight.cycles, 8 * one.cycles);
    let out = |c| OutputPosition { n: 0, h: 0, w: 9, c };
    let (first, last) = (one.place(out(0), 3, 0), eight.place(out(7), 3, 0));
    assert_eq!(last.cycle, 7 * one.cycles + first.cycle);
}

/// Returns `cycles` of a layer of 10 pixels, 9 terms and 6 channels on an array of 4 rows and 3 columns.
fn small_layer(dataflow: Dataflow, edit: impl Fn(&mut Accelerator)) -> u64 {
    let array = Array::new(4, 3, 1);
    let mut accelerator = unlimited(accelerator(dataflow, array, TimingConvention::Overlapped));
    edit(&mut accelerator);
    LayerTiming::new(&accelerator, &window(10, 9, 6, 1), INT8).cycles
}

#[test]
fn folds_overlap() {
    // An ideal memory still takes one cycle for the first load and one for the last store.
    let memory = 2;
    // 3 * 2 folds of 9 steps, filled (4 + 3 - 2) and drained (4) once.
    assert_eq!(small_layer(Dataflow::OutputStationary, |_| ()), 6 * 9 + 5 + 4 + memory);
    // 3 * 2 folds of 10 pixels, weights loaded (4) and filled (5) once.
    assert_eq!(small_layer(Dataflow::WeightStationary, |_| ()), 6 * 10 + 4 + 5 + memory);
    // 3 * 4 folds of 6 channels.
    assert_eq!(small_layer(Dataflow::InputStationary, |_| ()), 12 * 6 + 4 + 5 + memory);
    // 60 outputs in 12 lanes, 9 cycles each.
    assert_eq!(small_layer(Dataflow::Vector, |_| ()), 5 * 9 + memory);
}

/// The example layer of `docs/reference/memory.md`, whose figures are those of the model.
#[test]
fn a_layer_by_hand() {
    let page = include_str!("../../../docs/reference/memory.md");
    let accelerator = guardbit_hwmodels::load("fpga-int14-os", &[]).unwrap();
    let window = window(32, 64, 32, 1);
    let LayerTiming { cycles, cost, tile, .. } = LayerTiming::new(&accelerator, &window, int8(&window));
    let [activations, weights, outputs] =
        [cost.moved.activations, cost.moved.weights, cost.moved.outputs].map(|bits| bits / 8);
    let lines = [
        format!(
            "activation port: 32 * 64 * 2 = {activations} bytes, weight port: 32 * 64 * 2 = {weights} bytes, sram = 4096 / 16 = {}",
            cost.sram_cycles
        ),
        format!(
            "load = (2048 + 2048 + 32 * 9) / 8 = {}, store = {outputs} / 8 = 128; T = S = {}",
            cost.dram_cycles, tile.count
        ),
        format!("cycles = 100 + 137 + max(192, 411, 96) + 110 + 32 = {cycles}"),
        format!(
            "compute cycles = 192 + 110 = {}, stalls for the external memory {}",
            cost.compute_cycles, cost.stall_dram_cycles
        ),
        format!(
            "with an external memory twice as fast: 50 + 69 + max(192, 205, 48) + 110 + 16 = {}",
            cost.doubled.dram
        ),
    ];
    for line in lines {
        assert!(page.lines().any(|of_page| of_page == line), "{line}");
    }
}

/// A convolution of 3x3 windows over 8x8 pixels, 64 to 64 channels (ResNet-8), whose weights do not fit half
/// of the SRAM. Lanes that can hold any outputs hold channels of one pixel, so that weights are loaded once
/// and not for every pixel.
#[test]
fn free_lanes_go_by_channel_where_weights_do_not_fit() {
    let image = [8, 8, 64];
    let window =
        Window { input: image, output: image, kernel: [3, 3, 64], pad: [1; 2], ..window(64, 576, 64, 1) };
    let timing = |kind: &str| {
        let text = format!(
            "schema: 1\nclock_mhz: 800\narray: {{rows: 1, cols: 32, dot_width: 8, kind: {kind}}}\ndataflow: vector\naccumulation:\n  \
             - {{name: tree, reduce: tree, terms: dot_width, bits: auto}}\n  - {{name: acc, terms: all, bits: 20}}\n\
             memory: {{activation_kib: 64, weight_kib: 64, sram_bytes_per_cycle: 256}}\n"
        );
        let accelerator = guardbit_hwmodels::from_yaml(&text, "hw.yaml", &[]).unwrap();
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        (timing.cycles, timing.cost.dram_bytes)
    };
    assert_eq!(timing("outputs"), timing("folded"));
    // Each activation, weight and output moves once.
    assert_eq!(timing("outputs").1, 64 * 64 + 576 * 64 + 64 * 64);
}

#[test]
fn memory_stalls_count() {
    let slow_load = |a: &mut Accelerator| a.memory.dram_bytes_per_cycle = 1.0;
    // 90 activations and 54 weights are 24 bytes per fold, 60 outputs are 10: loads are the limit.
    let last = 9 + 5 + 4;
    assert_eq!(small_layer(Dataflow::OutputStationary, slow_load), 24 + 5 * 24 + last + 10);
    let serial = |a: &mut Accelerator| {
        slow_load(a);
        a.memory.double_buffer = false;
    };
    // Nothing overlaps, so one tile of all folds fills and drains the array once.
    assert_eq!(small_layer(Dataflow::OutputStationary, serial), 6 * 24 + 5 * 9 + last + 6 * 10);
    // 10 * 9 activations for 2 rows of channels through a port of 1 byte per cycle: idle rows read nothing.
    let slow_port = |a: &mut Accelerator| a.memory.sram_bytes_per_cycle = 1.0;
    assert_eq!(small_layer(Dataflow::OutputStationary, slow_port), 1 + 2 * 90 + 1);
    // Half of 0.1 KiB does not hold the 90 activations, but holds the 36 of a row of pixels until all
    // channels are done.
    let small = |a: &mut Accelerator| {
        slow_load(a);
        a.memory.activation_kib = 0.1;
    };
    assert_eq!(small_layer(Dataflow::OutputStationary, small), 24 + 5 * 24 + last + 10);
    // It does not hold the 54 weights either, so the activations are loaded twice.
    let smaller = |a: &mut Accelerator| {
        small(a);
        a.memory.weight_kib = 0.1;
    };
    assert_eq!(small_layer(Dataflow::OutputStationary, smaller), 39 + 5 * 39 + last + 10);
    let latency = |a: &mut Accelerator| a.memory.dram_latency_cycles = 100;
    let quick = small_layer(Dataflow::OutputStationary, |_| ());
    assert_eq!(small_layer(Dataflow::OutputStationary, latency), quick + 100);
}

/// Returns the bytes loaded from external memory for a matrix product, found by walking its tiles: a part of
/// an operand is loaded unless it is the part that was loaded last, or the whole operand stays.
fn walked_load(window: &Window, tile: &Tile) -> f64 {
    let sizes = [window.output[1], window.channels(), window.terms()];
    let tiles = [tile.pixels, tile.channels, tile.terms];
    let parts: [usize; 3] = std::array::from_fn(|axis| sizes[axis].div_ceil(tiles[axis]));
    let length = |axis: usize, part: usize| tiles[axis].min(sizes[axis] - part * tiles[axis]);
    let (slow, fast) = if tile.order == TileOrder::ChannelsOuter { (1, 0) } else { (0, 1) };
    let mut loaded = [0; 2];
    let mut held = [None; 2];
    for outer in 0..parts[slow] {
        for inner in 0..parts[fast] {
            for term in 0..parts[2] {
                let mut at = [0; 2];
                (at[slow], at[fast]) = (outer, inner);
                for operand in 0..2 {
                    if held[operand].replace((at[operand], term)) != Some((at[operand], term)) {
                        loaded[operand] += length(operand, at[operand]) * length(2, term);
                    }
                }
            }
        }
    }
    let whole = [sizes[0] * sizes[2], sizes[1] * sizes[2]];
    let once = |operand: usize| whole[operand] as f64 <= tile.room[operand];
    (0..2).map(|operand| if once(operand) { whole[operand] } else { loaded[operand] } as f64).sum()
}

/// Transfers are whole bursts, and the number of outstanding bursts is limited.
#[test]
fn bursts_and_the_latency_they_pay() {
    let cost = |edit: &dyn Fn(&mut Accelerator)| {
        let array = Array::new(4, 3, 1);
        let mut accelerator =
            unlimited(accelerator(Dataflow::OutputStationary, array, TimingConvention::Overlapped));
        edit(&mut accelerator);
        let timing = LayerTiming::new(&accelerator, &window(10, 9, 6, 1), INT8);
        (timing.cost.dram_bytes, timing.cycles)
    };
    // 90 activations, 54 weights, 60 outputs.
    assert_eq!(cost(&|_| ()).0, 90 + 54 + 60);
    assert_eq!(cost(&|a| a.memory.dram_burst_bytes = 16).0, 96 + 64 + 64);
    // 2 bursts of 16 bytes in 64 cycles are one byte in 2 cycles: 160 bytes in, 16 bytes of a tile's outputs
    // back.
    let bound = |a: &mut Accelerator| {
        a.memory.dram_burst_bytes = 16;
        a.memory.dram_latency_cycles = 64;
        a.memory.dram_outstanding_bursts = Some(2);
    };
    let (load, last, store) = (2 * 160, 9 + 5 + 4, 2 * 16);
    assert_eq!(cost(&bound).1, 64 + load + last + store);
}

/// Cycles of published closed forms: FINN's `(MH/PE) * (MW/SIMD) * pixels`, and NVDLA's one atomic operation
/// per cycle with stripes of at least 16 pixels.
#[test]
fn folded_and_striped_cycles() {
    let compute = |kind, stripe, pixels| {
        let array = Array { kind, stripe, ..Array::new(1, 8, 4) };
        let accelerator = accelerator(Dataflow::Vector, array, TimingConvention::Overlapped);
        LayerTiming::new(&accelerator, &window(pixels, 10, 20, 1), INT8).cost.compute_cycles
    };
    // 20 channels on 8 lanes are 3 folds; 10 products by 4 are 3 steps.
    assert_eq!(compute(ArrayKind::Folded, 1, 50), 3 * 3 * 50);
    assert_eq!(compute(ArrayKind::Channels, 16, 50), 3 * 3 * 50);
    assert_eq!(compute(ArrayKind::Channels, 16, 5), 3 * 3 * 16);
}

#[test]
fn cores_share_the_channels() {
    let compute = |cores| {
        let array = Array { cores, ..Array::new(4, 4, 1) };
        let accelerator = accelerator(Dataflow::OutputStationary, array, TimingConvention::ScalesimV3);
        let timing = LayerTiming::new(&accelerator, &window(10, 9, 16, 1), INT8);
        (timing.cycles, timing.array.rows, timing.cost.stall_cycles)
    };
    // 3 * 4 folds of 9 + 4 + 4 - 2 cycles, then half of them.
    assert_eq!(compute(1), (12 * 15 - 1, 4, 0));
    assert_eq!(compute(2), (6 * 15 - 1, 8, 0));
}

/// Generates layers whose timing states that their ways are alike, many of them with dot products in several
/// passes and tiles.
fn alike_ways() -> impl Strategy<Value = (LayerTiming, Window)> {
    let passes = (any::<bool>(), any::<bool>(), [0.004..0.06f64, 0.004..0.06f64, 0.004..0.06f64]);
    (accelerators(), any_layers(), passes).prop_filter_map(
        "ways differ",
        |(mut accelerator, (_, window), passes)| {
            // Additions of SCALE-Sim's last cycle of a matrix product are placed in the previous one.
            if accelerator.timing.convention == TimingConvention::ScalesimV3 {
                accelerator.timing.convention = TimingConvention::Overlapped;
            }
            if let (true, weights, kib) = passes {
                accelerator.timing.convention = TimingConvention::Overlapped;
                accelerator.dataflow =
                    if weights { Dataflow::WeightStationary } else { Dataflow::InputStationary };
                accelerator.array =
                    Array::new(accelerator.array.rows.min(2), accelerator.array.cols.min(2), 1);
                [
                    accelerator.memory.activation_kib,
                    accelerator.memory.weight_kib,
                    accelerator.memory.accumulator_kib,
                ] = kib;
            }
            let timing = LayerTiming::new(&accelerator, &window, INT8);
            timing.ways_are_alike().then_some((timing, window))
        },
    )
}

proptest! {
    #[test]
    fn places_obey_the_laws((accelerator, window) in any_layers()) {
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        let Array { rows, cols, dot_width, .. } = timing.array;
        let mut taken = BTreeMap::new();
        for index in 0..window.dots() {
            let out = window.output_position(index);
            let mut before = [0; 3];
            for k in 0..window.terms() {
                let mut inner = 0;
                for (level, before) in before.iter_mut().enumerate() {
                    let place = timing.place(out, k, level);
                    prop_assert!(place.row < rows && place.col < cols);
                    prop_assert!(place.cycle <= timing.cycles.saturating_sub(1));
                    prop_assert!(place.cycle >= *before, "an addition precedes the one before it");
                    prop_assert!(place.cycle >= inner, "an outer level precedes an inner one");
                    (*before, inner) = (place.cycle, place.cycle);
                }
                let owner = (index, k / dot_width);
                let other = taken.insert(timing.place(out, k, 0), owner);
                if accelerator.timing.convention == TimingConvention::Overlapped {
                    prop_assert!(other.is_none_or(|other| other == owner), "two steps in one place");
                }
            }
        }
    }

    #[test]
    fn tiles_fit_and_move_what_they_must((accelerator, _) in any_layers(), window in windows(), burst in 1..40u64) {
        let mut accelerator = Accelerator { timing: Timing { convention: TimingConvention::Overlapped }, ..accelerator };
        accelerator.memory.dram_burst_bytes = burst;
        let LayerTiming { cycles, cost, fit, tile, array, .. } = LayerTiming::new(&accelerator, &window, INT8);
        let could = fit.least_bytes.iter().zip(fit.room_bytes).all(|(least, room)| *least <= room);
        prop_assert_eq!(tile.fits(), could, "{:?} {:?}", tile, fit);
        let [inputs, outputs] = [window.batch * window.input.iter().product::<usize>(), window.dots()];
        let weights = window.terms() * window.channels();
        prop_assert!(cost.dram_bytes >= (inputs + weights + outputs) as u64);
        prop_assert_eq!(cost.dram_bytes % burst, 0);
        prop_assert!(cost.compute_cycles >= cost.macs.div_ceil((array.rows * array.cols * array.dot_width) as u64));
        prop_assert_eq!(cycles, cost.compute_cycles + cost.stall_cycles);
        let load = cost.dram_bytes as f64 - (outputs as u64 * burst) as f64;
        let memory = &accelerator.memory;
        let bound = memory.dram_outstanding_bursts.map_or(f64::INFINITY, |bursts| {
            bursts as f64 * memory.dram_burst_bytes as f64 / memory.dram_latency_cycles as f64
        });
        prop_assert!(cycles as f64 >= load / memory.dram_bytes_per_cycle.min(bound));
    }

    #[test]
    fn traffic_is_that_of_the_tiles((accelerator, window) in layers()) {
        let mut accelerator = Accelerator { timing: Timing { convention: TimingConvention::Overlapped }, ..accelerator };
        if accelerator.dataflow == Dataflow::Vector {
            accelerator.array.kind = ArrayKind::Block;
        }
        let window = self::window(window.output[1], window.terms(), window.channels(), 1);
        let LayerTiming { cost, tile, .. } = LayerTiming::new(&accelerator, &window, int8(&window));
        let once = window.dots() + 9 * window.channels();
        prop_assert_eq!(cost.dram_bytes as f64, walked_load(&window, &tile) + once as f64);
    }

    #[test]
    fn alike_ways_differ_in_their_beginning((timing, window) in alike_ways()) {
        let way = |index: usize| {
            let out = window.output_position(index);
            let from = timing.place(out, 0, 0);
            (0..window.terms())
                .map(|k| timing.place(out, k, 0))
                .map(|to| (to.cycle - from.cycle, to.row as i64 - from.row as i64, to.col as i64 - from.col as i64))
                .collect::<Vec<_>>()
        };
        for index in 1..window.dots() {
            prop_assert_eq!(way(index), way(0));
        }
    }

    #[test]
    fn places_follow_the_dataflow((accelerator, window) in layers()) {
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        let Array { rows, cols, dot_width, .. } = accelerator.array;
        for index in 0..window.dots() {
            let out = window.output_position(index);
            let channel = out.c % (window.channels() / window.groups);
            for k in 0..window.terms() {
                let (row_of_k, lane) = (k / dot_width % rows, index % (rows * cols));
                let expected = match accelerator.dataflow {
                    Dataflow::OutputStationary => [(out.w % rows, channel % cols); 2],
                    Dataflow::WeightStationary => [(row_of_k, channel % cols), (rows - 1, channel % cols)],
                    Dataflow::InputStationary => [(row_of_k, out.w % cols), (rows - 1, out.w % cols)],
                    Dataflow::Vector => [(lane / cols, lane % cols); 2],
                };
                // Lanes that can hold any outputs may hold channels of one pixel.
                let by_channel = out.c % (rows * cols);
                let by_channel = (by_channel / cols, by_channel % cols);
                for (level, expected) in expected.into_iter().enumerate() {
                    let place = timing.place(out, k, level);
                    let place = (place.row, place.col);
                    prop_assert!(place == expected || accelerator.dataflow == Dataflow::Vector && place == by_channel);
                }
            }
        }
    }

    #[test]
    fn overlapping_never_costs_more_than_the_last_drain((accelerator, window) in layers()) {
        let accelerator = unlimited(Accelerator { timing: Timing { convention: TimingConvention::Overlapped }, ..accelerator });
        let overlapped = LayerTiming::new(&accelerator, &window, INT8).cycles;
        let plain = Accelerator { timing: Timing { convention: TimingConvention::ScalesimV3 }, ..accelerator };
        let drained = LayerTiming::new(&plain, &window, INT8).cycles;
        let memory = 2;
        prop_assert!(overlapped <= drained + window.groups as u64 + plain.array.rows as u64 + memory);
    }
}
