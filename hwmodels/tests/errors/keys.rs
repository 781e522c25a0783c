//! Unknown keys, texts that are not accelerator files, and overrides by `--set` and `layers`.

use super::report;

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(report("schema: 1\nbits: 14\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:2:1: unknown key `bits`
      | bits: 14
      | ^^^^
    help: did you mean `bias`? The keys of an accelerator are schema, name, description, extends, clock_mhz, array, dataflow, offload, operands, reduction_order, product, accumulation, bias, requantize, timing, memory, host, packing, float_accumulation, layers
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bit: 14\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:4:5: unknown key `accumulation.acc.bit`
      |     bit: 14
      |     ^^^
    help: did you mean `bits`? The keys of `accumulation.acc` are name, reduce, terms, bits, overflow, signed, check, shift, round, seed
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {wolk: reverse}\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:2:19: unknown key `reduction_order.wolk`
      | reduction_order: {wolk: reverse}
      |                   ^^^^
    help: did you mean `walk`? The keys of `reduction_order` are axes, walk, stride, seed, file, permutations, ic_block
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory:\n  sram: 3\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:3:3: unknown key `memory.sram`
      |   sram: 3
      |   ^^^^
    help: the keys of `memory` are activation_kib, weight_kib, accumulator_kib, residency, double_buffer, sram_bytes_per_cycle, accumulator_bytes_per_cycle, dram_bytes_per_cycle, dram_latency_cycles, dram_burst_bytes, dram_outstanding_bursts
    ");
}

#[test]
fn texts_that_are_no_file() {
    insta::assert_snapshot!(report("", &[]), @r"
    guardbit::hw::schema
    hw.yaml:1:1: the file has no key `schema`
      |
      | ^
    help: begin the file with `schema: 1`, the version of the file format
    ");
    insta::assert_snapshot!(report("- schema: 1\n", &[]), @r"
    guardbit::hw::yaml
    hw.yaml:1:1: the file is a list; it must be a map of keys
      | - schema: 1
      | ^^^^^^^^
    help: begin with `schema: 1`
    ");
    insta::assert_snapshot!(report("schema: 1\nname: \"x\n", &[]), @r"
    guardbit::hw::yaml
    hw.yaml:3:1: not YAML: found unexpected end of stream, while scanning a quoted scalar at line 2 column 7
      |
      | ^
    help: check quotes, brackets and indentation
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {rows: 8, cols: 8\nbias: {bits: 8}\n", &[]), @r#"
    guardbit::hw::array
    hw.yaml:2:24: `array.cols` is "8 bias"; it must be a whole number from 1 to 65536
      | array: {rows: 8, cols: 8
      |                        ^
    help: the size of the array of processing elements
    "#);
    insta::assert_snapshot!(report("schema: 1\nbias: {bits: 8}\nbias: {bits: 9}\n", &[]), @r"
    guardbit::hw::duplicate_key
    hw.yaml:3:7: duplicate key `bias`
      | bias: {bits: 9}
      |       ^
    help: keep one of the two
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {bias.bits: 8, bias.bits: 9}\n", &[]), @r"
    guardbit::hw::duplicate_key
    hw.yaml:3:36: duplicate key `layers.conv1.bias.bits`
      |   conv1: {bias.bits: 8, bias.bits: 9}
      |                                    ^
    help: keep one of the two
    ");
}

#[test]
fn overrides() {
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["accumulation.acc.bits=65"]), @r"
    guardbit::hw::bits
    --set accumulation.acc.bits=65: `accumulation.acc.bits` is 65; it must be `auto` or a whole number from 2 to 64
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["accumulation.acc.bits=wide"]), @r#"
    guardbit::hw::bits
    --set accumulation.acc.bits=wide: `accumulation.acc.bits` is "wide"; it must be `auto` or a whole number from 2 to 64
    help: a width in bits, sign included; `auto` never overflows
    "#);
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.tree.bits=12"]), @r"
    guardbit::hw::unknown_key
    --set accumulation.tree.bits=12: `accumulation` has no level `tree`
    help: the levels are chain, acc
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["accumulation.acc.bit=12"]), @r"
    guardbit::hw::unknown_key
    --set accumulation.acc.bit=12: unknown key `accumulation.acc.bit`
    help: did you mean `bits`? The keys of `accumulation.acc` are name, reduce, terms, bits, overflow, signed, check, shift, round, seed
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["arrray.rows=8"]), @r"
    guardbit::hw::unknown_key
    --set arrray.rows=8: unknown key `arrray`
    help: did you mean `array`? The keys of an accelerator are schema, name, description, extends, clock_mhz, array, dataflow, offload, operands, reduction_order, product, accumulation, bias, requantize, timing, memory, host, packing, float_accumulation, layers
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["dataflow.rows=8"]), @r"
    guardbit::hw::unknown_key
    --set dataflow.rows=8: unknown key `dataflow.rows`: `dataflow` is a single value
    help: `dataflow` must be one of output_stationary, weight_stationary, input_stationary, vector
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["offload.3=conv2d"]), @r"
    guardbit::hw::unknown_key
    --set offload.3=conv2d: unknown key `offload.3`: `offload` is a list without names
    help: give the whole list: `offload=[...]`
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["bias={at: preload, wide: 3}"]), @r"
    guardbit::hw::unknown_key
    --set bias={at: preload, wide: 3}: unknown key `bias.wide`
    help: the keys of `bias` are at, bits, overflow
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\nbias: {at: preload}\n", &["accumulation.acc.reduce=tree"]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `acc`, is a tree, which has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-tree\nbias: {at: post}\n", &["accumulation.acc.reduce=tree", "bias.at=preload"]), @r"
    guardbit::hw::bias
    --set bias.at=preload: `bias.at` is preload, but the last level, `acc`, is a tree, which has no initial value
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.acc.name=chain"]), @r"
    guardbit::hw::level_name
    --set accumulation.acc.name=chain: two levels of `accumulation` have the name `chain`
    help: give every level a different name
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.acc=null"]), @r"
    guardbit::hw::unknown_key
    --set accumulation.acc=null: `accumulation.acc` cannot be removed from its list
    help: give the whole list: `accumulation=[...]`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["accumulation.acc.bits"]), @r"
    guardbit::hw::set
    --set accumulation.acc.bits: `=` is missing
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["accumulation.acc.bits= "]), @r"
    guardbit::hw::set
    --set accumulation.acc.bits= : the value after `=` is missing; `null` restores the default
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["=3"]), @r"
    guardbit::hw::set
    --set =3: the key is incomplete
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["bias={"]), @r"
    guardbit::hw::set
    --set bias={: the value is not YAML: did not find expected node content at line 2 column 1, while parsing a flow node
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["extends=fpga-int14-os"]), @r"
    guardbit::hw::set
    --set extends=fpga-int14-os: `extends` is valid only in a file
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["layers.conv1=3"]), @r"
    guardbit::hw::set
    --set layers.conv1=3: `layers` can only be overridden key by key, e.g. `layers.NAME.bias.bits=20`
    help: write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`
    ");
}

#[test]
fn layers() {
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {accumulation.acc.bits: 99}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:34: layer `conv1`: `accumulation.acc.bits` is 99; it must be `auto` or a whole number from 2 to 64
      |   conv1: {accumulation.acc.bits: 99}
      |                                  ^^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {accumulation.sum.bits: 16}\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:3:34: layer `conv1`: `accumulation` has no level `sum`
      |   conv1: {accumulation.sum.bits: 16}
      |                                  ^^
    help: the levels are acc
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {bias.bits: x}\n", &[]), @r#"
    guardbit::hw::bits
    hw.yaml:3:22: layer `conv1`: `bias.bits` is "x"; it must be `from_model`, `auto` or a whole number from 2 to 64
      |   conv1: {bias.bits: x}
      |                      ^
    help: a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits
    "#);
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {name: x}\n", &[]), @r"
    guardbit::hw::layers
    hw.yaml:3:17: `name` cannot be overridden for the single layer `conv1`
      |   conv1: {name: x}
      |                 ^
    help: set it for the whole accelerator
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: 16\n", &[]), @r"
    guardbit::hw::layers
    hw.yaml:3:10: `layers.conv1` is 16; it must be a map of overrides
      |   conv1: 16
      |          ^^
    help: e.g. `layers: {conv1: {accumulation.acc.bits: 16}}`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["layers.block.1/conv.bias.bits=99"]), @r"
    guardbit::hw::bits
    --set layers.block.1/conv.bias.bits=99: layer `block.1/conv`: `bias.bits` is 99; it must be `from_model`, `auto` or a whole number from 2 to 64
    help: a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits
    ");
}
