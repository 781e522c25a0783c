//! Chains that are shorter or longer than a column.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::timing::{LayerTiming, Widths};
use guardbit_hwmodels::{Accelerator, Dataflow, Timing, TimingConvention, check_yaml};

use super::common::{INT8, unlimited, window};

/// Returns a weight-stationary array whose columns add chains of the given length.
fn chained(rows: usize, dot_width: usize, levels: &str) -> Accelerator {
    let text = format!(
        "schema: 1\ndataflow: weight_stationary\narray: {{rows: {rows}, cols: 4, dot_width: {dot_width}}}\n\
         accumulation: [{levels}]\nmemory: {{accumulator_bytes_per_cycle: 1000, sram_bytes_per_cycle: 1000}}\n"
    );
    check_yaml(&text, "hw.yaml", &[]).0.unwrap()
}

/// Returns row and pass of every product of the first dot product; the third level represents all outer ones.
fn rows(accelerator: &Accelerator, terms: usize) -> Vec<(usize, usize)> {
    let accelerator = unlimited(accelerator.clone());
    let timing = LayerTiming::new(&accelerator, &window(100, terms, 4, 1), INT8);
    let out = OutputPosition { n: 0, h: 0, w: 0, c: 0 };
    let level = accelerator.datapath.levels.len() - 2;
    let first = timing.place(out, 0, 0).cycle;
    let place = |k| timing.place(out, k, level);
    (0..terms).map(place).map(|place| ((place.cycle - first) as usize / 100, place.row)).collect()
}

/// Checks the passes and rows that these chains take, one list of rows per pass.
fn check(rows_of_array: usize, chain: &str, terms: usize, expected: &[usize]) {
    let levels = format!("{{name: chain, terms: {chain}}}, {{name: acc}}");
    let expected: Vec<(usize, usize)> =
        expected.iter().enumerate().flat_map(|(pass, &used)| (0..used).map(move |row| (pass, row))).collect();
    assert_eq!(
        rows(&chained(rows_of_array, 1, &levels), terms),
        expected,
        "chains of {chain} on {rows_of_array} rows"
    );
}

#[test]
fn a_chain_ends_where_its_pass_ends() {
    // Two chains of 12 fit 32 rows; the third one does not begin in the last 8 of them.
    check(32, "12", 40, &[24, 16]);
    check(32, "rows", 80, &[32, 32, 16]);
    check(32, "8", 40, &[32, 8]);
    // A chain of 48 takes two passes, and the next chain begins with its own pass.
    check(32, "48", 100, &[32, 16, 32, 16, 4]);
    check(32, "64", 100, &[32, 32, 32, 4]);
    check(32, "all", 80, &[32, 32, 16]);
    // A dot product may be shorter than a chain.
    check(32, "rows", 9, &[9]);
}

/// Within a chain the cycle never decreases; within a dot product it does not if the timing states so.
#[test]
fn chains_keep_their_order() {
    let mut kept = [0; 2];
    for (rows, chain, terms, pixels) in iproduct([4, 16], [1, 3, 4, 5, 16, 20], [1, 9, 18, 40], [1, 3, 17]) {
        let levels = format!("{{name: chain, terms: {chain}}}, {{name: acc}}");
        let timing =
            LayerTiming::new(&unlimited(chained(rows, 1, &levels)), &window(pixels, terms, 4, 1), INT8);
        let out = OutputPosition { n: 0, h: 0, w: 0, c: 0 };
        let cycle = |k, level| timing.place(out, k, level).cycle;
        let falls: Vec<usize> = (1..terms).filter(|&k| cycle(k, 0) < cycle(k - 1, 0)).collect();
        assert!(
            falls.iter().all(|k| k % chain == 0),
            "{rows} rows, chains of {chain}, {terms} terms: {falls:?}"
        );
        assert!((1..terms).all(|k| cycle(k, 1) >= cycle(k - 1, 1)), "chains are handed on in order");
        assert!(falls.is_empty() || !timing.keeps_order(), "{rows} rows, chains of {chain}, {terms} terms");
        kept[usize::from(timing.keeps_order())] += 1;
    }
    assert!(kept[0] > 10 && kept[1] > 50, "{kept:?}");
}

/// Returns every combination of one element of each list.
fn iproduct<const A: usize, const B: usize, const C: usize, const D: usize>(
    a: [usize; A],
    b: [usize; B],
    c: [usize; C],
    d: [usize; D],
) -> Vec<(usize, usize, usize, usize)> {
    let three = a.into_iter().flat_map(|a| b.into_iter().flat_map(move |b| c.map(|c| (a, b, c))));
    three.flat_map(|(a, b, c)| d.map(|d| (a, b, c, d))).collect()
}

/// Additions of a chain of trees happen in the rows, additions of the accumulator below them.
#[test]
fn the_chain_behind_a_tree_moves_through_the_rows() {
    // On 4 rows: chains as long as a column, chains of which a pass holds two, and chains that take two
    // passes.
    for (chain, rows_of_trees) in [
        ("rows", [0, 1, 2, 3, 0, 1, 2, 3]),
        ("3", [0, 1, 2, 0, 1, 2, 0, 1]),
        ("2", [0, 1, 2, 3, 0, 1, 2, 3]),
        ("6", [0, 1, 2, 3, 0, 1, 0, 1]),
    ] {
        let levels = format!(
            "{{name: tree, reduce: tree, terms: dot_width}}, {{name: chain, terms: {chain}}}, {{name: acc}}"
        );
        let timing = LayerTiming::new(&chained(4, 8, &levels), &window(10, 64, 4, 1), INT8);
        let out = OutputPosition { n: 0, h: 0, w: 0, c: 0 };
        let rows = |level| [7, 15, 23, 31, 39, 47, 55, 63].map(|k| timing.place(out, k, level).row);
        for level in 0..2 {
            assert_eq!(rows(level), rows_of_trees, "chains of {chain} trees, level {level}");
        }
        assert_eq!(rows(2), [3; 8], "chains of {chain} trees");
    }
}

/// Cycles and traffic of MobileNetV2's first depthwise layer: 112x112 pixels, 32 channels, 3x3.
#[test]
fn a_depthwise_layer_costs_the_same_on_longer_arrays() {
    let levels = "{name: chain, terms: rows}, {name: acc, bits: 32}";
    let depthwise = window(112 * 112, 9, 1, 32);
    let cost = |rows: usize| LayerTiming::new(&chained(rows, 1, levels), &depthwise, INT8);
    let [small, middle, large] = [16, 32, 64].map(cost);
    assert_eq!([middle.cycles - small.cycles, large.cycles - small.cycles], [2 * 16, 2 * 48]);
    assert_eq!(small.cost.sram_bytes, large.cost.sram_bytes);
    // With 16 bytes per cycle, 9 used rows need 9.
    let slow = |rows: usize| {
        let mut accelerator = chained(rows, 1, levels);
        accelerator.memory.sram_bytes_per_cycle = 16.0;
        LayerTiming::new(&accelerator, &depthwise, INT8).cost.stall_sram_cycles
    };
    assert_eq!([16, 32, 64].map(slow), [0; 3]);
}

/// 100 pixels, 40 terms, 6 channels on 16 rows: 3 passes write and read each sum, in 20 bits.
#[test]
fn sums_that_wait_in_their_memory_are_traffic() {
    let bytes = |bits: u32| {
        let levels = format!("{{name: chain, terms: rows}}, {{name: acc, bits: {bits}}}");
        let accelerator = Accelerator {
            timing: Timing { convention: TimingConvention::ScalesimV3 },
            ..chained(16, 1, &levels)
        };
        LayerTiming::new(&accelerator, &window(100, 40, 6, 1), INT8).cost.sram_bytes
    };
    let (operands, outputs) = (2 * 100 * 40 + 40 * 6, 100 * 6);
    assert_eq!(bytes(20), operands + outputs + 2 * 3 * 600 * 20 / 8);
    assert_eq!(bytes(32), operands + outputs + 2 * 3 * 600 * 32 / 8);
    // 4 columns of 32 bits, written and read, are 32 bytes per cycle.
    let stalls = |rate: f64| {
        let mut accelerator = unlimited(chained(16, 1, "{name: chain, terms: rows}, {name: acc, bits: 32}"));
        accelerator.memory.accumulator_bytes_per_cycle = rate;
        LayerTiming::new(&accelerator, &window(1000, 16, 4, 1), INT8).cost.stall_sram_cycles
    };
    assert_eq!(stalls(32.0), 0);
    // 1000 pixels take 2000 cycles, 38 of which the array takes to fill and drain.
    assert_eq!(stalls(16.0), 2000 - (1000 + 2 * 16 + 4 - 2));
}

/// Layers on one core that do not divide its work evenly.
#[test]
fn cores_read_what_they_compute() {
    let mut accelerator = chained(16, 1, "{name: chain, terms: rows}, {name: acc, bits: 32}");
    accelerator.timing.convention = TimingConvention::ScalesimV3;
    accelerator.dataflow = Dataflow::OutputStationary;
    accelerator.array.cores = 2;
    let widths = Widths { activation: 8, weight: 8, output: 8, constants: 0 };
    // 5 channels in 2 columns of 4 on 2 cores: 3 and 2. Each core reads all activations, and its own weights
    // 7 times.
    let cost = LayerTiming::new(&accelerator, &window(100, 10, 5, 1), widths).cost;
    assert_eq!(cost.sram_bytes, 2 * 1000 + 7 * 50 + 500);
}
