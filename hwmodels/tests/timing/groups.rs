//! Mapping of groups onto arrays.

use std::collections::BTreeMap;

use guardbit_graph::{OutputPosition, Window};
use guardbit_hwmodels::timing::{Bound, LayerTiming};
use guardbit_hwmodels::{
    Accelerator, Array, Dataflow, Depthwise, Reduce, Terms, Timing, TimingConvention, check_yaml,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::common::{INT8, any_layers, in_step, unlimited, window, windows};

/// Returns whether the mapping exists.
fn is_there(dataflow: Dataflow, depthwise: Depthwise) -> bool {
    match depthwise {
        Depthwise::ByKind | Depthwise::Serial => true,
        Depthwise::BlockDiagonal => dataflow != Dataflow::Vector,
        Depthwise::OwnInputs => !dataflow.moves_sums(),
    }
}

fn hardware(text: &str) -> Accelerator {
    let all = "memory: {accumulator_bytes_per_cycle: 1000, sram_bytes_per_cycle: 1000}";
    unlimited(check_yaml(&format!("schema: 1\n{text}\n{all}\n"), "hw.yaml", &[]).0.unwrap())
}

/// Checks the compute cycles of 8 groups of one channel with `terms` products each.
fn check(text: &str, pixels: usize, terms: usize, expected: u64) {
    let cost = LayerTiming::new(&hardware(text), &window(pixels, terms, 1, 8), INT8).cost;
    assert_eq!(cost.compute_cycles, expected, "{text}");
}

#[test]
fn block_diagonals_where_weights_stay() {
    let with = |mapping: &str, chain: &str| {
        format!(
            "dataflow: weight_stationary\narray: {{rows: 32, cols: 4, depthwise: {mapping}}}\n\
             accumulation: [{{name: chain, {chain}}}, {{name: acc}}]"
        )
    };
    // 100 pixels stream through each fold; with fill and drain, the last one takes 32 + 100 + 32 + 4 - 2 =
    // 166.
    let folds = |count: u64| (count - 1) * 100 + 166;
    check(&with("serial", "terms: rows"), 100, 9, folds(8));
    check(&with("by_kind", "terms: rows"), 100, 9, folds(8));
    // 3 x 9 rows in a chain of 32: 3, 3 and 2 groups.
    check(&with("block_diagonal", "terms: rows"), 100, 9, folds(3));
    // A chain of 12 holds one group, and 32 rows hold two such chains, or three chains of 9.
    check(&with("block_diagonal", "terms: 12"), 100, 9, folds(4));
    check(&with("block_diagonal", "terms: 9"), 100, 9, folds(3));
    // 9 products take three chains of 4, which are 12 rows.
    check(&with("block_diagonal", "terms: 4"), 100, 9, folds(4));
    // A tree would pair products differently, so each holds one group.
    check(&with("block_diagonal", "terms: rows, reduce: tree"), 100, 9, folds(8));
    check(&with("block_diagonal", "terms: 12, reduce: tree"), 100, 9, folds(4));
    // 20 products take two chains of 12; 40 products do not fit one pass.
    check(&with("block_diagonal", "terms: 12"), 100, 20, folds(8));
    check(&with("block_diagonal", "terms: all"), 100, 40, folds(16));
    // The columns are the limit: 16 rows hold 16 groups of one product, and 4 columns hold 4.
    check(&with("block_diagonal", "terms: rows"), 100, 1, folds(2));
}

#[test]
fn groups_side_by_side_where_sums_stay() {
    let with = |mapping: &str| format!("array: {{rows: 16, cols: 16, depthwise: {mapping}}}");
    // A fold has 9 steps and 16 rows of sums to drain; filling takes 30.
    check(&with("serial"), 16, 9, 7 * 16 + 9 + 30 + 16);
    // 8 groups in turn: one fold of 72 steps.
    check(&with("block_diagonal"), 16, 9, 72 + 30 + 16);
    check(&with("own_inputs"), 16, 9, 9 + 30 + 16);
    // The run of the last level includes zeros of the other groups, so it cannot be a tree.
    let tree =
        "array: {rows: 16, cols: 16, depthwise: block_diagonal}\naccumulation: [{name: acc, reduce: tree}]";
    check(tree, 16, 9, 7 * 16 + 9 + 30 + 16);
}

/// Returns row, column and cycle of the first product of a group, relative to the first group.
fn begins(text: &str, group: usize) -> (usize, usize, u64) {
    let timing = LayerTiming::new(&hardware(text), &window(16, 9, 1, 8), INT8);
    let place = |c| timing.place(OutputPosition { n: 0, h: 0, w: 0, c }, 0, 0);
    let (first, own) = (place(0), place(group));
    (own.row, own.col, own.cycle - first.cycle)
}

#[test]
fn groups_begin_behind_those_before() {
    let with = |dataflow: &str, mapping: &str| {
        format!("dataflow: {dataflow}\narray: {{rows: 32, cols: 16, depthwise: {mapping}}}")
    };
    // Column 3 is 3 cycles later; before its 9 products, the products of 3 groups stream.
    assert_eq!(begins(&with("output_stationary", "block_diagonal"), 3), (0, 3, 3 * 9 + 3));
    assert_eq!(begins(&with("output_stationary", "own_inputs"), 3), (0, 3, 3));
    // 9 rows and 2 x 9 rows below, 1 and 2 columns to the side: 3, 3 and 2 groups at a time.
    assert_eq!(begins(&with("weight_stationary", "block_diagonal"), 1), (9, 1, 9 + 1));
    assert_eq!(begins(&with("weight_stationary", "block_diagonal"), 2), (18, 2, 18 + 2));
    // The channel of group 2 streams 2 cycles after that of group 0.
    assert_eq!(begins(&with("input_stationary", "block_diagonal"), 2), (18, 0, 18 + 2));
}

#[test]
fn groups_on_vector_engines() {
    let with = |kind: &str, mapping: &str| {
        format!("dataflow: vector\narray: {{rows: 1, cols: 8, kind: {kind}, depthwise: {mapping}}}")
    };
    // 8 lanes, 4 pixels of 8 channels in groups of one: 4 folds of 9 steps, or a fold per pixel, or per
    // channel of it.
    for (kind, by_kind, serial) in
        [("outputs", 4, 8), ("folded", 4, 32), ("channels", 32, 32), ("block", 4, 32)]
    {
        check(&with(kind, "by_kind"), 4, 9, by_kind * 9);
        check(&with(kind, "serial"), 4, 9, serial * 9);
        check(&with(kind, "own_inputs"), 4, 9, 4 * 9);
    }
}

/// A layer that fills a ninth of the rows and one column is limited by its mapping.
#[test]
fn bottlenecks_follow() {
    let with = |mapping: &str| {
        let array = format!("array: {{rows: 16, cols: 16, depthwise: {mapping}}}");
        let cost = LayerTiming::new(&hardware(&array), &window(1600, 9, 1, 16), INT8).cost;
        (Bound::of(&cost), (cost.utilization() * 100.0).round())
    };
    assert_eq!(with("serial"), (Bound::Mapping, 4.0));
    assert_eq!(with("block_diagonal"), (Bound::Mapping, 6.0));
    assert_eq!(with("own_inputs"), (Bound::Compute, 55.0));
}

#[test]
fn mappings_that_are_not_there() {
    let problem = |text: &str| {
        let problem = check_yaml(&format!("schema: 1\n{text}\n"), "hw.yaml", &[]).0.unwrap_err();
        format!("{problem:?}")
    };
    for text in [
        "dataflow: vector\narray: {depthwise: block_diagonal}",
        "dataflow: weight_stationary\narray: {depthwise: own_inputs}",
        "dataflow: vector\narray: {kind: block, depthwise: serial}\ntiming: {convention: ethos_u}",
    ] {
        assert!(problem(text).contains("guardbit::hw::depthwise"), "{text}: {}", problem(text));
    }
}

/// Generates arrays with a mapping, and chains of all lengths, and a layer of several groups.
fn mapped() -> impl Strategy<Value = (Accelerator, Window)> {
    let chain = prop::option::of((1..12usize, any::<bool>()));
    let mapping = select(Depthwise::ALL.to_vec());
    (any_layers(), windows(), chain, mapping, 1..24usize, 1..10usize).prop_filter_map(
        "no such mapping",
        |((mut accelerator, _), window, chain, depthwise, rows, cols)| {
            if accelerator.timing.convention == TimingConvention::EthosU {
                accelerator.timing.convention = TimingConvention::Overlapped;
            }
            accelerator.array = Array { rows, cols, depthwise, ..accelerator.array };
            if let Some((terms, tree)) = chain {
                let mut level = accelerator.datapath.levels[0].clone();
                level.terms = Terms::Count(terms);
                level.reduce = if tree { Reduce::Tree } else { Reduce::Serial };
                accelerator.datapath.levels.insert(0, level);
            }
            is_there(accelerator.dataflow, depthwise).then_some((accelerator, window))
        },
    )
}

proptest! {
    // Laws of one dataflow reject the others, for any number of cases.
    #![proptest_config({
        let config = ProptestConfig::default();
        ProptestConfig { max_global_rejects: config.cases.max(1024).saturating_mul(64), ..config }
    })]

    /// No two steps share a processing element and a cycle. Additions come in order, inner ones first.
    #[test]
    fn places_of_groups((accelerator, window) in mapped()) {
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        let (Array { rows, cols, .. }, dot_width) = (timing.array, in_step(&accelerator));
        // If sums move, a step is one step of a chain.
        let run = match accelerator.datapath.levels[0].terms {
            Terms::Count(terms) if accelerator.dataflow.moves_sums() && terms > dot_width => terms,
            _ => usize::MAX,
        };
        let mut taken = BTreeMap::new();
        for index in 0..window.dots() {
            let out = window.output_position(index);
            let mut before = 0;
            for k in 0..window.terms() {
                let [inner, outer] = [0, 2].map(|level| timing.place(out, k, level));
                prop_assert!(inner.row < rows && inner.col < cols && outer.row < rows && outer.col < cols);
                prop_assert!(outer.cycle <= timing.cycles.saturating_sub(1) && inner.cycle <= outer.cycle);
                prop_assert!(inner.cycle >= before || !timing.keeps_order());
                before = inner.cycle;
                let owner = (index, k / run, k % run / dot_width);
                let other = taken.insert(inner, owner);
                if accelerator.timing.convention == TimingConvention::Overlapped {
                    prop_assert!(other.is_none_or(|other| other == owner), "two steps in one place");
                }
            }
        }
    }

    /// A chain of the hardware adds no two runs of a dot product, and no run lies in two chains. A chain that
    /// is a tree adds no zeros of other groups.
    #[test]
    fn chains_hold_whole_runs(
        (accelerator, window) in mapped(), weights in any::<bool>(), terms in 1..12usize, tree in any::<bool>(),
    ) {
        let mut accelerator = accelerator;
        accelerator.dataflow = if weights { Dataflow::WeightStationary } else { Dataflow::InputStationary };
        accelerator.array = Array { depthwise: Depthwise::BlockDiagonal, cores: 1, ..accelerator.array };
        accelerator.timing = Timing { convention: TimingConvention::Overlapped };
        let mut chain = accelerator.datapath.levels.last().unwrap().clone();
        let acc = chain.clone();
        let dot_width = accelerator.array.dot_width;
        // A level with as many products as a processing element takes is not a chain.
        let terms = terms + dot_width;
        (chain.terms, chain.reduce) = (Terms::Count(terms), if tree { Reduce::Tree } else { Reduce::Serial });
        accelerator.datapath.levels = vec![chain, acc];
        let timing = LayerTiming::new(&accelerator, &window, INT8);
        let length = terms.div_ceil(dot_width);
        prop_assume!(length <= accelerator.array.rows && window.terms().div_ceil(terms) * length <= accelerator.array.rows);
        // Chains of the column that contain each run, per group.
        let of_group = window.channels() / window.groups;
        let mut users = BTreeMap::new();
        for group in 0..window.groups {
            let out = window.output_position(group * of_group);
            let mut runs = BTreeMap::new();
            for k in 0..window.terms() {
                let place = timing.place(out, k, 0);
                let run = runs.entry(k / terms).or_insert(place.row / length);
                prop_assert_eq!(*run, place.row / length, "a run lies in one chain");
            }
            let chains: std::collections::BTreeSet<_> = runs.values().collect();
            prop_assert_eq!(chains.len(), runs.len(), "a chain adds one run");
            let first = timing.place(out, 0, 0);
            users.entry((first.col, first.row / length)).or_insert_with(Vec::new).push((group, first.row));
        }
        if tree {
            // Each group begins where its tree does.
            prop_assert!(users.values().flatten().all(|(_, row)| row % length == 0));
        }
    }

    /// With ideal memories, lanes with their own inputs are never slower than groups one after the other.
    #[test]
    fn own_inputs_cost_no_cycles((accelerator, window) in mapped()) {
        prop_assume!(!accelerator.dataflow.moves_sums());
        let with = |depthwise| {
            let mut accelerator = unlimited(accelerator.clone());
            accelerator.array.depthwise = depthwise;
            // SCALE-Sim omits one cycle per matrix product.
            accelerator.timing.convention = TimingConvention::Overlapped;
            LayerTiming::new(&accelerator, &window, INT8).cycles
        };
        prop_assert!(with(Depthwise::OwnInputs) <= with(Depthwise::Serial));
    }

    /// Zeros are generated on the chip: every mapping moves equal amounts of weights, activations and sums
    /// through the ports of an array whose columns hold a group.
    #[test]
    fn zeros_are_not_moved((accelerator, window) in mapped()) {
        let mut accelerator = unlimited(accelerator);
        accelerator.dataflow = Dataflow::WeightStationary;
        accelerator.array.cols = accelerator.array.cols.max(window.channels() / window.groups);
        let with = |depthwise| {
            let mut accelerator = accelerator.clone();
            accelerator.array.depthwise = depthwise;
            let cost = LayerTiming::new(&accelerator, &window, INT8).cost;
            (cost.sram_bytes, cost.dram_bytes, cost.macs)
        };
        prop_assert_eq!(with(Depthwise::BlockDiagonal), with(Depthwise::Serial));
    }
}

proptest! {
    /// A product of two activations equals the grouped layer with as many groups as images: with ideal
    /// memory, equal additions happen in equal places. Both operands are activations, in one SRAM and behind
    /// one port, so the product is never faster than with a second SRAM of equal size.
    #[test]
    fn two_activations_are_groups_that_share_a_memory(
        (accelerator, grouped) in any_layers().prop_filter("an estimate of its own", |(accelerator, _)| {
            accelerator.timing.convention != TimingConvention::EthosU
        }),
    ) {
        let [_, pixels, _] = grouped.input;
        let (terms, channels) = (grouped.terms(), grouped.channels() / grouped.groups);
        let images = Window {
            batch: grouped.groups,
            input: [1, pixels, terms],
            output: [1, pixels, channels],
            ..Window::dense(1, terms, channels)
        };
        let two = |accelerator: &Accelerator| LayerTiming::of(accelerator, &images, INT8, true);
        let moved = two(&accelerator).cost.moved;
        prop_assert_eq!([moved.weights, moved.loaded_weights], [0, 0]);
        let operands = images.batch * terms * (pixels + channels) * 8;
        prop_assert!(moved.loaded_activations >= operands as u128);
        let mut alike = accelerator.clone();
        alike.memory.weight_kib = alike.memory.activation_kib;
        prop_assert!(two(&accelerator).cycles >= LayerTiming::new(&alike, &grouped, INT8).cycles);

        let free = unlimited(accelerator);
        let (two, grouped_timing) = (two(&free), LayerTiming::new(&free, &grouped, INT8));
        let [a, b] = [two.cost.moved, grouped_timing.cost.moved];
        prop_assert_eq!([a.inside(), a.outside()], [b.inside(), b.outside()]);
        prop_assert_eq!([two.cycles, two.cost.compute_cycles], [grouped_timing.cycles, grouped_timing.cost.compute_cycles]);
        for index in 0..images.dots() {
            let out = images.output_position(index);
            let there = OutputPosition { n: 0, c: out.n * channels + out.c, ..out };
            for k in 0..terms {
                prop_assert_eq!(two.place(out, k, 0), grouped_timing.place(there, k, 0));
            }
        }
    }
}
