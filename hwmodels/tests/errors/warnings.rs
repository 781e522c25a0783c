//! Values that can be simulated but are unusual.

use super::report;

#[test]
fn doubtful_values() {
    insta::assert_snapshot!(report("schema: 1\nproduct: {bits: 20}\naccumulation: [{name: acc, bits: 18}]\n", &[]), @r"
    guardbit::hw::product_wider_than_accumulator
    hw.yaml:3:34: a product has 20 bits, but `acc` has 18: a single product may overflow it
      | accumulation: [{name: acc, bits: 18}]
      |                                  ^^
    help: use narrower operands, a `product.shift` or a wider accumulator
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &[]), @r"
    guardbit::hw::product_wider_than_accumulator
    preset fpga-int14-os: a product of int8 codes has 16 bits, but `acc` has 14: a single product may overflow it
    help: use narrower operands, a `product.shift` or a wider accumulator
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {dot_width: 8}\n", &["accumulation.tree.bits=18"]), @r"
    guardbit::hw::tree_too_narrow
    --set accumulation.tree.bits=18: the sum of 8 products of 16 bits needs 19 bits, but `tree` has 18
    help: an adder tree usually holds its sum: write `bits: auto`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: a, bits: 20}\n  - {name: b, bits: 20}\n", &[]), @r"
    guardbit::hw::inner_all
    hw.yaml:3:5: `a` adds all values, so each level after it has a single term
      |   - {name: a, bits: 20}
      |     ^
    help: give the length of its runs, e.g. `terms: rows`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: a, overflow: wrap}\n", &[]), @r"
    guardbit::hw::overflow_without_bits
    hw.yaml:3:25: `accumulation.a` has an overflow mode, but never overflows because its width is auto
      |   - {name: a, overflow: wrap}
      |                         ^^^^
    help: give a width, e.g. `bits: 14`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {stride: 4}\n", &[]), @r"
    guardbit::hw::unused_stride
    hw.yaml:2:27: `reduction_order.stride` is given, but the walk is not stride
      | reduction_order: {stride: 4}
      |                           ^
    help: write `walk: stride`, or leave out `stride`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {walk: sorted, seed: 4}\n", &[]), @r"
    guardbit::hw::unused_seed
    hw.yaml:2:39: `reduction_order.seed` is given, but the walk is not random
      | reduction_order: {walk: sorted, seed: 4}
      |                                       ^
    help: write `walk: random`, or leave out `seed`
    ");
    insta::assert_snapshot!(report("schema: 1\nproduct: {shift: 1, round: half_up, seed: 4}\n", &[]), @r"
    guardbit::hw::unused_seed
    hw.yaml:2:43: `product` has a seed, but no stochastic rounding
      | product: {shift: 1, round: half_up, seed: 4}
      |                                           ^
    help: write `round: stochastic`, or leave out the seed
    ");
    insta::assert_snapshot!(report("schema: 1\noffload: []\n", &[]), @r"
    guardbit::hw::nothing_offloaded
    hw.yaml:2:10: `offload` is empty, so every operation runs on the host
      | offload: []
      |          ^
    help: leave out `offload` to run all multiply-accumulate operations on the accelerator
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: exact-int32-os\n", &[]), @"fine");
}

#[test]
fn ports_that_cannot_feed_the_array() {
    insta::assert_snapshot!(report("schema: 1\narray: {rows: 32}\nmemory: {sram_bytes_per_cycle: 16}\n", &[]), @r"
    guardbit::hw::port_too_slow
    hw.yaml:3:32: the array needs 32 bytes of int8 activations per cycle, but `memory.sram_bytes_per_cycle` is 16: layers that fill the array stall
      | memory: {sram_bytes_per_cycle: 16}
      |                                ^^
    help: write `memory: {sram_bytes_per_cycle: 32}`, unless the port of the device is this narrow
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: nvdla-small\n", &["array.cols=1024"]), @r"
    guardbit::hw::port_too_slow
    --set array.cols=1024: the array needs 512 bytes of int8 weights per cycle, but `memory.sram_bytes_per_cycle` is 8: layers that fill the array stall
    help: write `memory: {sram_bytes_per_cycle: 512}`, unless the port of the device is this narrow
    ");
    let sums = "schema: 1\ndataflow: weight_stationary\narray: {cols: 24}\nmemory: {accumulator_bytes_per_cycle: 64}\n";
    insta::assert_snapshot!(report(sums, &[]), @r"
    guardbit::hw::port_too_slow
    hw.yaml:4:39: the array needs 192 bytes of sums per cycle, reads plus writes, but `memory.accumulator_bytes_per_cycle` is 64: layers that fill the array stall
      | memory: {accumulator_bytes_per_cycle: 64}
      |                                       ^^
    help: write `memory: {accumulator_bytes_per_cycle: 192}`, unless the port of the device is this narrow
    ");
    // Default ports grow with the array.
    let large = ["array.rows=32", "array.cols=64", "array.dot_width=2"].map(str::to_owned);
    for hw in ["exact-int32-os", "fpga-int14-os"] {
        let quiet = report(
            &format!("schema: 1\nextends: {hw}\nproduct: {{shift: 2}}\n"),
            &large.each_ref().map(|s| s.as_str()),
        );
        assert_eq!(quiet, "fine", "{hw}");
    }
    // SCALE-Sim does not count stalls.
    insta::assert_snapshot!(report("schema: 1\narray: {rows: 32}\nmemory: {sram_bytes_per_cycle: 16}\ntiming: {convention: scalesim_v3}\n", &[]), @"fine");
}

#[test]
fn runs_that_leave_multipliers_idle() {
    let tree = |terms: &str| {
        let text = format!(
            "schema: 1\ndataflow: vector\narray: {{rows: 1, cols: 8, dot_width: 8}}\nmemory: {{sram_bytes_per_cycle: 64}}\n\
             accumulation:\n  - {{name: tree, reduce: tree, terms: {terms}}}\n  - {{name: acc}}\n"
        );
        report(&text, &[])
    };
    insta::assert_snapshot!(tree("5"), @r"
    guardbit::hw::runs_leave_multipliers_idle
    hw.yaml:6:39: the runs of `tree` do not fill `dot_width`: in each cycle, only 5 of the 8 multipliers of a processing element work
      |   - {name: tree, reduce: tree, terms: 5}
      |                                       ^
    help: write `terms: dot_width` for `tree`, or choose a `dot_width` that its runs fill
    ");
    for fills in ["dot_width", "4", "16", "12"] {
        assert_eq!(tree(fills), "fine", "{fills}");
    }
}

#[test]
fn float_additions_that_share_a_cycle() {
    let with = |terms: u32| {
        report(
            &format!("schema: 1\nextends: hopper-wgmma-e4m3\nfloat_accumulation: {{terms: {terms}}}\n"),
            &[],
        )
    };
    insta::assert_snapshot!(with(16), @r"
    guardbit::hw::several_float_additions_per_cycle
    hw.yaml:3:29: a floating-point addition takes 16 products, but a processing element takes 32 per cycle: cycles are those of 2 additions, one after another, in a cycle
      | float_accumulation: {terms: 16}
      |                             ^^
    help: write `array: {dot_width: 16}`, unless the unit adds several times per cycle
    ");
    for fine in [32, 64] {
        assert_eq!(with(fine), "fine", "{fine}");
    }
}

#[test]
fn a_width_that_a_preload_does_not_use() {
    let bias = |keys: &str| report(&format!("schema: 1\nbias: {{{keys}}}\n"), &[]);
    insta::assert_snapshot!(bias("at: preload, bits: 20"), @r"
    guardbit::hw::bias_bits_unused
    hw.yaml:2:27: `bias.bits` has no effect: a preloaded bias is fitted to the last level, `acc`
      | bias: {at: preload, bits: 20}
      |                           ^^
    help: leave out `bias.bits`, write `bias: {at: post}`, or set the width of `acc`
    ");
    for used in [
        "at: preload",
        "at: preload, bits: from_model",
        "at: post, bits: 20",
        "at: post_requantize, bits: 20",
    ] {
        assert_eq!(bias(used), "fine", "{used}");
    }
}

#[test]
fn chains_that_leave_rows_idle() {
    let chain = |terms: &str| {
        let text = format!(
            "schema: 1\ndataflow: weight_stationary\narray: {{rows: 32}}\n\
             memory: {{sram_bytes_per_cycle: 32, accumulator_bytes_per_cycle: 256}}\n\
             accumulation:\n  - {{name: chain, terms: {terms}}}\n  - {{name: acc}}\n"
        );
        report(&text, &[])
    };
    insta::assert_snapshot!(chain("12"), @r"
    guardbit::hw::chain_leaves_rows_idle
    hw.yaml:6:26: chains of `chain` have 12 products and end within a column: only 24 of 32 rows can work
      |   - {name: chain, terms: 12}
      |                          ^^
    help: write `terms: rows`, or choose a number of rows that the chains fill
    ");
    insta::assert_snapshot!(chain("48"), @r"
    guardbit::hw::chain_leaves_rows_idle
    hw.yaml:6:26: chains of `chain` have 48 products and end within a column: only 16 of 32 rows can work in the last pass of a chain
      |   - {name: chain, terms: 48}
      |                          ^^
    help: write `terms: rows`, or choose a number of rows that the chains fill
    ");
    for fills in ["rows", "64"] {
        assert_eq!(chain(fills), "fine");
    }
    // Four chains of 8 in a column hand over four sums where one chain of 32 hands over one.
    insta::assert_snapshot!(chain("8"), @r"
    guardbit::hw::port_too_slow
    hw.yaml:4:65: the array needs 512 bytes of sums per cycle, reads plus writes, but `memory.accumulator_bytes_per_cycle` is 256: layers that fill the array stall
      | memory: {sram_bytes_per_cycle: 32, accumulator_bytes_per_cycle: 256}
      |                                                                 ^^^
    help: write `memory: {accumulator_bytes_per_cycle: 512}`, unless the port of the device is this narrow
    ");
}
