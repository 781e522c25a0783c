//! Values that can be simulated but are odd.

use super::report;

#[test]
fn doubtful_values() {
    insta::assert_snapshot!(report("schema: 1\nproduct: {bits: 20}\naccumulation: [{name: acc, bits: 18}]\n", &[]), @r"
    guardbit::hw::product_wider_than_accumulator
    hw.yaml:3:34: a product has 20 bits, `acc` only 18: one product may overflow it
      | accumulation: [{name: acc, bits: 18}]
      |                                  ^^
    help: narrower operands, a `product.shift` or a wider accumulator avoid it
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &[]), @r"
    guardbit::hw::product_wider_than_accumulator
    preset fpga-int14-os: a product of int8 codes has 16 bits, `acc` only 14: one product may overflow it
    help: narrower operands, a `product.shift` or a wider accumulator avoid it
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {dot_width: 8}\n", &["accumulation.tree.bits=18"]), @r"
    guardbit::hw::tree_too_narrow
    --set accumulation.tree.bits=18: the sum of 8 products of 16 bits needs 19 bits, `tree` has 18
    help: an adder tree is usually as wide as its sum: `bits: auto`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: a, bits: 20}\n  - {name: b, bits: 20}\n", &[]), @r"
    guardbit::hw::inner_all
    hw.yaml:3:5: `a` takes all, so that every level behind it has a single term
      |   - {name: a, bits: 20}
      |     ^
    help: give the length of its runs, as `terms: rows`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: a, overflow: wrap}\n", &[]), @r"
    guardbit::hw::overflow_without_bits
    hw.yaml:3:25: `accumulation.a` has an overflow mode, but its width is auto: it never overflows
      |   - {name: a, overflow: wrap}
      |                         ^^^^
    help: give a width, as `bits: 14`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {stride: 4}\n", &[]), @r"
    guardbit::hw::unused_stride
    hw.yaml:2:27: `reduction_order.stride` is given, but the walk is not stride
      | reduction_order: {stride: 4}
      |                           ^
    help: write `walk: stride`, or leave the stride out
    ");
    insta::assert_snapshot!(report("schema: 1\noffload: []\n", &[]), @r"
    guardbit::hw::nothing_offloaded
    hw.yaml:2:10: `offload` is empty: everything runs on the host
      | offload: []
      |          ^
    help: leave `offload` out for the multiply-accumulate operations
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: exact-int32-os\n", &[]), @"fine");
}
