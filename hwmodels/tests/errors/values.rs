//! Values that a key cannot have.

use super::report;

#[test]
fn values_of_the_wrong_type() {
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 3.5}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 3.5; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 3.5}
      |                       ^^^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bits: x\n", &[]), @r#"
    guardbit::hw::bits
    hw.yaml:4:11: `accumulation.acc.bits` is "x"; it must be `auto` or a whole number from 2 to 64
      |     bits: x
      |           ^
    help: a width in bits, sign included; `auto` never overflows
    "#);
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bits: \"14\"\n", &[]), @r#"
    guardbit::hw::bits
    hw.yaml:4:11: `accumulation.acc.bits` is "14"; it must be `auto` or a whole number from 2 to 64
      |     bits: "14"
      |           ^^^^
    help: a width in bits, sign included; `auto` never overflows
    "#);
    insta::assert_snapshot!(report("schema: 1\nproduct: {bits: [8]}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:2:17: `product.bits` is a list; it must be `auto` or a whole number from 2 to 64
      | product: {bits: [8]}
      |                 ^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {rows: 4.5}\n", &[]), @r"
    guardbit::hw::array
    hw.yaml:2:15: `array.rows` is 4.5; it must be a whole number from 1 to 65536
      | array: {rows: 4.5}
      |               ^^^
    help: the size of the array of processing elements
    ");
    insta::assert_snapshot!(report("schema: 1\narray: 16\n", &[]), @r"
    guardbit::hw::value
    hw.yaml:2:8: `array` is 16; it must be a map of keys
      | array: 16
      |        ^^
    help: `guardbit hw schema` prints every key with its type
    ");
    insta::assert_snapshot!(report("schema: 1\nclock_mhz: fast\n", &[]), @r#"
    guardbit::hw::clock
    hw.yaml:2:12: `clock_mhz` is "fast"; it must be a number from 0.000001 to 1000000000
      | clock_mhz: fast
      |            ^^^^
    help: the clock in MHz
    "#);
    insta::assert_snapshot!(report("schema: 1\nmemory: {double_buffer: \"no\"}\n", &[]), @r#"
    guardbit::hw::switch
    hw.yaml:2:25: `memory.double_buffer` is "no"; it must be true or false
      | memory: {double_buffer: "no"}
      |                         ^^^^
    help: write true or false, without quotes
    "#);
    // Booleans of YAML 1.1, such as `yes`, are texts.
    insta::assert_snapshot!(report("schema: 1\nmemory: {double_buffer: yes}\n", &[]), @r#"
    guardbit::hw::switch
    hw.yaml:2:25: `memory.double_buffer` is "yes"; it must be true or false
      | memory: {double_buffer: yes}
      |                         ^^^
    help: write true or false, without quotes
    "#);
    for (text, message) in [
        (
            "schema: 1\narray: {rows: 99999999999999999999}\n",
            "`array.rows` is 99999999999999999999; it must be ",
        ),
        ("schema: 99999999999999999999\n", "`schema` is 99999999999999999999; it must be 1\n"),
        (
            "schema: 1\nbias: {bits: -99999999999999999999}\n",
            "`bias.bits` is -99999999999999999999; it must be ",
        ),
    ] {
        let report = report(text, &[]);
        assert!(report.contains(message), "{report}");
    }
    insta::assert_snapshot!(report("schema: 1\nname: [a]\n", &[]), @r"
    guardbit::hw::name
    hw.yaml:2:7: `name` is a list; it must be 1 to 100 letters, digits, blanks and - _ . + , ( ) / : #, a letter, a digit or _ first
      | name: [a]
      |       ^
    help: the name appears in reports, tables and comments of generated RTL
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: 3\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:18: `reduction_order` is 3; it must be kh, kw and ic, each once, or a map with axes and walk
      | reduction_order: 3
      |                  ^
    help: list the slowest axis first, e.g. `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: {bits: 14}\n", &[]), @r"
    guardbit::hw::accumulation
    hw.yaml:2:15: `accumulation` is a map; it must be a list of 1 to 16 levels, innermost first
      | accumulation: {bits: 14}
      |               ^
    help: e.g. `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: some}, {name: b}]\n", &[]), @r#"
    guardbit::hw::terms
    hw.yaml:2:33: `accumulation.a.terms` is "some"; it must be rows, cols, dot_width, all or a whole number from 1 to 268435456
      | accumulation: [{name: a, terms: some}, {name: b}]
      |                                 ^^^^
    help: the number of values from the previous level in one run; the last level has `all`
    "#);
}

#[test]
fn names_that_are_none() {
    insta::assert_snapshot!(report("schema: 1\ndataflow: systolic\n", &[]), @r"
    guardbit::hw::dataflow
    hw.yaml:2:11: `dataflow`: unknown dataflow `systolic`; it must be one of output_stationary, weight_stationary, input_stationary, vector
      | dataflow: systolic
      |           ^^^^^^^^
    help: the operand that stays in the array
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bits: 14\n    overflow: clip\n", &[]), @r"
    guardbit::hw::overflow
    hw.yaml:5:15: `accumulation.acc.overflow`: unknown overflow mode `clip`; it must be one of wrap, saturate, saturate_symmetric, saturate_zero, sticky, observe, trap
      |     overflow: clip
      |               ^^^^
    help: what happens to a value that does not fit
    ");
    insta::assert_snapshot!(report("schema: 1\nproduct: {shift: 2, round: up}\n", &[]), @r"
    guardbit::hw::round
    hw.yaml:2:28: `product.round`: unknown rounding `up`; it must be one of floor, toward_zero, half_up, half_down, half_away, half_to_zero, half_even, half_odd, stochastic
      | product: {shift: 2, round: up}
      |                            ^^
    help: the rounding of the dropped bits
    ");
    insta::assert_snapshot!(report("schema: 1\noffload: [conv2d, softmax]\n", &[]), @r"
    guardbit::hw::offload
    hw.yaml:2:19: `offload[1]`: an accelerator cannot run `softmax`; it must be one of conv2d, depthwise_conv2d, transpose_conv2d, fully_connected, batch_matmul, avg_pool2d, mean, sum
      | offload: [conv2d, softmax]
      |                   ^^^^^^^
    help: operations that are not listed run exactly on the host
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: [kh, kw, oc]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:27: `reduction_order[2]`: unknown axis `oc`; it must be one of kh, kw, ic
      | reduction_order: [kh, kw, oc]
      |                           ^^
    help: list the slowest axis first, e.g. `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nrequantize: {scheme: tflite}\n", &[]), @r"
    guardbit::hw::scheme
    hw.yaml:2:22: `requantize.scheme`: unknown requantization scheme `tflite`; it must be from_model or one of double (D), single (S), away (A), even (E), float32_upward (V32), float64_upward (V64), float64_away (F64), tosa_double (T), tosa_scale16 (T16), q48 (Q48), float32_nearest (V32N), float64_nearest (V64N)
      | requantize: {scheme: tflite}
      |                      ^^^^^^
    help: `from_model` uses the scheme of the model's runtime
    ");
    insta::assert_snapshot!(report("schema: 1\nbias: {at: before}\n", &[]), @r"
    guardbit::hw::bias
    hw.yaml:2:12: `bias.at`: unknown place of the bias `before`; it must be one of post, preload, post_requantize
      | bias: {at: before}
      |            ^^^^^^
    help: where the bias is added: `post` is after the last level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: tpu\n", &[]), @r"
    guardbit::hw::unknown_preset
    hw.yaml:2:10: `tpu` is not a preset, and the file `tpu` does not exist
      | extends: tpu
      |          ^^^
    help: name a file, relative to this one, or a preset; the presets are exact-int32-os, fpga-int14-os, fpga-int14-os-wrap, fpga-int14-ws, fpga-int14-tree, inner14-outer24, ethos-u55-256, ethos-u55-32, nvdla-small, nvdla-large, gemmini-16, tpu-v1, vta-default, finn-mvau, dsp48e2-int8x2, eyeriss-v1, esp32s3-qacc, x86-avx2-vpmaddubsw, fbgemm-acc16, arm-smlal, cmsis-nn-s16, intel-gna, hopper-wgmma-e4m3, hopper-wgmma-e4m3-promoted, hopper-wgmma-f16, ada-mma-e4m3, blackwell-f8f6f4, blackwell-mxf8f6f4, blackwell-mxf4, blackwell-nvf4, ampere-mma-f16, volta-mma-f16, cdna1-mfma-f16, cdna2-mfma-f16, cdna3-mfma-f16, cdna3-mfma-fp8, fpga-fp8-fixed
    ");
}

#[test]
fn values_out_of_range() {
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 0}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 0; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 0}
      |                       ^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 1}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 1; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 1}
      |                       ^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 65}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 65; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 65}
      |                       ^^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: -3}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is -3; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: -3}
      |                       ^^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(report("schema: 1\nbias: {bits: 18446744073709551615}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:2:14: `bias.bits` is 18446744073709551615; it must be `from_model`, `auto` or a whole number from 2 to 64
      | bias: {bits: 18446744073709551615}
      |              ^^^^^^^^^^^^^^^^^^^^
    help: a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits
    ");
    insta::assert_snapshot!(report("schema: 1\nproduct:\n  shift: 32\n", &[]), @r"
    guardbit::hw::shift
    hw.yaml:3:10: `product.shift` is 32; it must be a whole number from 0 to 31
      |   shift: 32
      |          ^^
    help: the number of low bits to drop
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {rows: 0}\n", &[]), @r"
    guardbit::hw::array
    hw.yaml:2:15: `array.rows` is 0; it must be a whole number from 1 to 65536
      | array: {rows: 0}
      |               ^
    help: the size of the array of processing elements
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {cols: 65537}\n", &[]), @r"
    guardbit::hw::array
    hw.yaml:2:15: `array.cols` is 65537; it must be a whole number from 1 to 65536
      | array: {cols: 65537}
      |               ^^^^^
    help: the size of the array of processing elements
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: 0}, {name: b}]\n", &[]), @r"
    guardbit::hw::terms
    hw.yaml:2:33: `accumulation.a.terms` is 0; it must be rows, cols, dot_width, all or a whole number from 1 to 268435456
      | accumulation: [{name: a, terms: 0}, {name: b}]
      |                                 ^
    help: the number of values from the previous level in one run; the last level has `all`
    ");
    insta::assert_snapshot!(report("schema: 1\nclock_mhz: .inf\n", &[]), @r"
    guardbit::hw::clock
    hw.yaml:2:12: `clock_mhz` is inf; it must be a number from 0.000001 to 1000000000
      | clock_mhz: .inf
      |            ^^^^
    help: the clock in MHz
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory:\n  weight_kib: 0\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:3:15: `memory.weight_kib` is 0; it must be a number from 0.000001 to 1000000000
      |   weight_kib: 0
      |               ^
    help: sizes are in KiB, rates in bytes per cycle
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_burst_bytes: 0}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:28: `memory.dram_burst_bytes` is 0; it must be a whole number from 1 to 65536
      | memory: {dram_burst_bytes: 0}
      |                            ^
    help: transfers to and from external memory are rounded up to whole bursts
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_outstanding_bursts: 65537}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:35: `memory.dram_outstanding_bursts` is 65537; it must be a whole number from 0 to 65536
      | memory: {dram_outstanding_bursts: 65537}
      |                                   ^^^^^
    help: the maximum number of bursts in flight; 0: no limit
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_latency_cycles: -1}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:31: `memory.dram_latency_cycles` is -1; it must be a whole number from 0 to 1000000000
      | memory: {dram_latency_cycles: -1}
      |                               ^^
    help: the cycles before the first byte from external memory
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {walk: stride, stride: 0}\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:41: `reduction_order.stride` is 0; it must be a whole number from 1 to 65536
      | reduction_order: {walk: stride, stride: 0}
      |                                         ^
    help: the distance n of `walk: stride`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: the sum}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:23: `accumulation.the sum.name` is `the sum`; it must be made of at most 64 letters, digits, `_` and `-`, different for every level
      | accumulation: [{name: the sum}]
      |                       ^^^^^^^
    help: overrides and reports refer to a level by its name
    ");
    insta::assert_snapshot!(report("schema: 2\n", &[]), @r"
    guardbit::hw::schema
    hw.yaml:1:9: `schema` is 2; it must be 1
      | schema: 2
      |         ^
    help: the version of the file format: write `schema: 1`
    ");
}

#[test]
fn values_that_do_not_go_together() {
    insta::assert_snapshot!(report("name: x\n", &[]), @r"
    guardbit::hw::schema
    hw.yaml:1:1: the file has no key `schema`
      | name: x
      | ^^^^
    help: begin the file with `schema: 1`, the version of the file format
    ");
    // A preset defines its own values, not those of a file that extends it.
    insta::assert_snapshot!(report("extends: fpga-int14-os\nname: a\n", &[]), @r"
    guardbit::hw::schema
    hw.yaml:1:1: the file has no key `schema`
      | extends: fpga-int14-os
      | ^^^^^^^
    help: begin the file with `schema: 1`, the version of the file format
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: []\n", &[]), @r"
    guardbit::hw::accumulation
    hw.yaml:2:15: `accumulation` has no levels
      | accumulation: []
      |               ^
    help: give at least one level, e.g. `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`, or leave out the key
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{bits: 3}, {bits: 4}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:16: `accumulation[0].name` is missing; it must be made of at most 64 letters, digits, `_` and `-`, different for every level
      | accumulation: [{bits: 3}, {bits: 4}]
      |                ^
    help: overrides and reports refer to a level by its name
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: rows}, {name: a}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:47: two levels of `accumulation` have the name `a`
      | accumulation: [{name: a, terms: rows}, {name: a}]
      |                                               ^
    help: give every level a different name
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: bias}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:23: a level of `accumulation` has the reserved name `bias`
      | accumulation: [{name: bias}]
      |                       ^^^^
    help: choose another name: in tables, `product` and `bias` stand for the product register and the bias adder
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: 2}, {name: b, terms: 3}]\n", &[]), @r"
    guardbit::hw::terms
    hw.yaml:2:54: the last level, `b`, must have `terms: all`: its result is the sum of the dot product
      | accumulation: [{name: a, terms: 2}, {name: b, terms: 3}]
      |                                                      ^
    help: write `terms: all`, or add a level with `terms: all` after it
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: t, reduce: tree}]\nbias: {at: preload}\n", &[]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `t`, is a tree, which has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\nbias: {at: preload}\naccumulation:\n  - name: t\n    reduce: tree\n", &[]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `t`, is a tree, which has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: [kh, kw]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:18: `reduction_order` is [kh, kw]; it must name kh, kw and ic, each once
      | reduction_order: [kh, kw]
      |                  ^
    help: list the slowest axis first, e.g. `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order:\n  axes: [kh, kh, ic]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:3:9: `reduction_order` is [kh, kh, ic]; it must name kh, kw and ic, each once
      |   axes: [kh, kh, ic]
      |         ^
    help: list the slowest axis first, e.g. `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {walk: stride}\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:25: `reduction_order.walk` is stride, but `reduction_order.stride` is missing
      | reduction_order: {walk: stride}
      |                         ^^^^^^
    help: give the distance, e.g. `{walk: stride, stride: 4}`
    ");
    insta::assert_snapshot!(report("schema: 1\nproduct: {shift: 31}\naccumulation: [{name: a, terms: 4, shift: 31}, {name: b, shift: 2}]\n", &[]), @r"
    guardbit::hw::shift
    hw.yaml:3:43: the shifts drop 64 bits in total; expected at most 62
      | accumulation: [{name: a, terms: 4, shift: 31}, {name: b, shift: 2}]
      |                                           ^^
    help: lower the `shift` of the product or of a level
    ");
}

#[test]
fn mappings_of_groups() {
    insta::assert_snapshot!(report("schema: 1\narray: {depthwise: own_inputs}\ndataflow: weight_stationary\n", &[]), @r"
    guardbit::hw::depthwise
    hw.yaml:2:20: `array.depthwise` is own_inputs, but with this `dataflow` the columns of the array share their activations
      | array: {depthwise: own_inputs}
      |                    ^^^^^^^^^^
    help: block_diagonal is for systolic arrays, own_inputs for output_stationary and vector; serial and by_kind work with every dataflow
    ");
    insta::assert_snapshot!(report("schema: 1\narray: {depthwise: block_diagonal}\ndataflow: vector\n", &[]), @r"
    guardbit::hw::depthwise
    hw.yaml:2:20: `array.depthwise` is block_diagonal, but a vector engine cannot use a block-diagonal matrix
      | array: {depthwise: block_diagonal}
      |                    ^^^^^^^^^^^^^^
    help: block_diagonal is for systolic arrays, own_inputs for output_stationary and vector; serial and by_kind work with every dataflow
    ");
    insta::assert_snapshot!(
        report("schema: 1\narray: {kind: block, depthwise: serial}\ndataflow: vector\ntiming: {convention: ethos_u}\n", &[]),
        @r"
    guardbit::hw::depthwise
    hw.yaml:2:33: `array.depthwise` is serial, but `timing.convention: ethos_u` uses its own mapping
      | array: {kind: block, depthwise: serial}
      |                                 ^^^^^^
    help: leave out `array.depthwise`
    "
    );
}

#[test]
fn rates_that_are_no_rates() {
    let port = |rate: &str| report(&format!("schema: 1\nmemory: {{sram_bytes_per_cycle: {rate}}}\n"), &[]);
    insta::assert_snapshot!(port("4 * row"), @r"
    guardbit::hw::memory
    hw.yaml:2:32: `memory.sram_bytes_per_cycle` is `4 * row`, which uses the unknown variable `row`; the variables here are: rows, cols, dot_width, cores
      | memory: {sram_bytes_per_cycle: 4 * row}
      |                                ^^^^^^^
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
    insta::assert_snapshot!(port("rows -"), @r"
    guardbit::hw::memory
    hw.yaml:2:32: `memory.sram_bytes_per_cycle` is `rows -`, which has the end at character 7; expected a number, a name or a bracket
      | memory: {sram_bytes_per_cycle: rows -}
      |                                ^^^^^^
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
    insta::assert_snapshot!(port("rows - cols"), @r"
    guardbit::hw::memory
    hw.yaml:2:32: `memory.sram_bytes_per_cycle` is `rows - cols`, here 0; it must be a number from 0.000001 to 1000000000, or a formula of rows, cols, dot_width and cores, e.g. `4 * cols`
      | memory: {sram_bytes_per_cycle: rows - cols}
      |                                ^^^^^^^^^^^
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
    insta::assert_snapshot!(port("1 / (rows - 16)"), @r"
    guardbit::hw::memory
    hw.yaml:2:32: `memory.sram_bytes_per_cycle` is `1 / (rows - 16)`, here undefined; it must be a number from 0.000001 to 1000000000, or a formula of rows, cols, dot_width and cores, e.g. `4 * cols`
      | memory: {sram_bytes_per_cycle: 1 / (rows - 16)}
      |                                ^^^^^^^^^^^^^^^
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
    insta::assert_snapshot!(port("[1]"), @r"
    guardbit::hw::memory
    hw.yaml:2:32: `memory.sram_bytes_per_cycle` is a list; it must be a number from 0.000001 to 1000000000, or a formula of rows, cols, dot_width and cores, e.g. `4 * cols`
      | memory: {sram_bytes_per_cycle: [1]}
      |                                ^
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["memory.dram_bytes_per_cycle=cols * 1e9"]), @r"
    guardbit::hw::memory
    --set memory.dram_bytes_per_cycle=cols * 1e9: `memory.dram_bytes_per_cycle` is `cols * 1e9`, here 16000000000; it must be a number from 0.000001 to 1000000000, or a formula of rows, cols, dot_width and cores, e.g. `4 * cols`
    help: rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor
    ");
}

#[test]
fn accumulation_of_floating_point_products() {
    let with = |keys: &str| report(&format!("schema: 1\nfloat_accumulation: {{{keys}}}\n"), &[]);
    insta::assert_snapshot!(with("fraction_bits: 41"), @r"
    guardbit::hw::float
    hw.yaml:2:37: `float_accumulation.fraction_bits` is 41; it must be a whole number from 0 to 40
      | float_accumulation: {fraction_bits: 41}
      |                                     ^^
    help: the bits kept below the largest exponent
    ");
    insta::assert_snapshot!(with("result: e4m3fn"), @r"
    guardbit::hw::float
    hw.yaml:2:30: `float_accumulation.result`: unknown format of an accumulator `e4m3fn`; it must be one of float16, bfloat16, tf32, e8m13, float32, fixed
      | float_accumulation: {result: e4m3fn}
      |                              ^^^^^^
    help: the format of the accumulator
    ");
    insta::assert_snapshot!(with("terms: 32, promote_terms: 100"), @r"
    guardbit::hw::float
    hw.yaml:2:48: `float_accumulation.promote_terms` is 100; it must be a multiple of `terms`, 32
      | float_accumulation: {terms: 32, promote_terms: 100}
      |                                                ^^^
    help: the accumulator is promoted after whole additions, e.g. `terms: 32, promote_terms: 128`
    ");
    insta::assert_snapshot!(with("reach: 25"), @r"
    guardbit::hw::float
    hw.yaml:2:29: `float_accumulation.reach` has no effect: the accumulator is one more term
      | float_accumulation: {reach: 25}
      |                             ^^
    help: leave out the key, or write `incoming: apart`
    ");
    insta::assert_snapshot!(with("incoming: apart, sum_bits: 20"), @r"
    guardbit::hw::float
    hw.yaml:2:49: `float_accumulation.accumulator_bits` is 24; it must be at most `sum_bits`, 20
      | float_accumulation: {incoming: apart, sum_bits: 20}
      |                                                 ^^
    help: lower `accumulator_bits`, or raise `sum_bits`
    ");
    let sorted = "schema: 1\nreduction_order: {walk: sorted}\nfloat_accumulation: {}\n";
    insta::assert_snapshot!(report(sorted, &[]), @r"
    guardbit::hw::float
    hw.yaml:2:25: `reduction_order.walk` sorts integer products, but `float_accumulation` adds floating-point ones
      | reduction_order: {walk: sorted}
      |                         ^^^^^^
    help: choose a walk that does not depend on the products, or leave out `float_accumulation`
    ");
}

#[test]
fn fixed_point_registers_and_ordinary_additions() {
    let with = |keys: &str| report(&format!("schema: 1\nfloat_accumulation: {{{keys}}}\n"), &[]);
    insta::assert_snapshot!(with("result: fixed, bits: 65"), @r"
    guardbit::hw::bits
    hw.yaml:2:43: `float_accumulation.bits` is 65; it must be `auto` or a whole number from 2 to 64
      | float_accumulation: {result: fixed, bits: 65}
      |                                           ^^
    help: a width in bits, sign included; `auto` never overflows
    ");
    insta::assert_snapshot!(with("result: fixed, bits: 8, overflow: trap"), @r"
    guardbit::hw::float
    hw.yaml:2:56: `float_accumulation.overflow` is trap, which floating-point layers do not have
      | float_accumulation: {result: fixed, bits: 8, overflow: trap}
      |                                                        ^^^^
    help: write `overflow: observe`: `aligned.csv` counts overflows and gives the first one
    ");
    insta::assert_snapshot!(with("bits: 8"), @r"
    guardbit::hw::float
    hw.yaml:2:28: `float_accumulation.bits` has no effect with `result: float32`
      | float_accumulation: {bits: 8}
      |                            ^
    help: leave out the key, or write `result: fixed`
    ");
    insta::assert_snapshot!(with("result: fixed, result_round: floor"), @r"
    guardbit::hw::float
    hw.yaml:2:51: `float_accumulation.result_round` has no effect with `result: fixed`
      | float_accumulation: {result: fixed, result_round: floor}
      |                                                   ^^^^^
    help: leave out the key (null removes that of a preset), or choose a floating-point `result`, e.g. float32
    ");
    insta::assert_snapshot!(with("result: fixed, incoming: apart"), @r"
    guardbit::hw::float
    hw.yaml:2:47: `float_accumulation.incoming` has no effect with `result: fixed`
      | float_accumulation: {result: fixed, incoming: apart}
      |                                               ^^^^^
    help: leave out the key (null removes that of a preset), or choose a floating-point `result`, e.g. float32
    ");
    insta::assert_snapshot!(with("result: fixed, block_scales: per_term"), @r"
    guardbit::hw::float
    hw.yaml:2:51: `float_accumulation.block_scales` has no effect with `result: fixed`
      | float_accumulation: {result: fixed, block_scales: per_term}
      |                                                   ^^^^^^^^
    help: leave out the key (null removes that of a preset), or choose a floating-point `result`, e.g. float32
    ");
    insta::assert_snapshot!(with("result: fixed, reduce: serial"), @r"
    guardbit::hw::float
    hw.yaml:2:45: `float_accumulation.reduce` is serial, which adds floating-point numbers, but `result` is fixed
      | float_accumulation: {result: fixed, reduce: serial}
      |                                             ^^^^^^
    help: leave out `reduce`; `terms: 1` adds one product after another to a fixed-point register
    ");
    insta::assert_snapshot!(with("reduce: serial, fraction_bits: 8"), @r"
    guardbit::hw::float
    hw.yaml:2:53: `float_accumulation.fraction_bits` has no effect with `reduce: serial`
      | float_accumulation: {reduce: serial, fraction_bits: 8}
      |                                                     ^
    help: leave out the key (null removes that of a preset), or write `reduce: aligned`
    ");
    insta::assert_snapshot!(with("reduce: serial, terms: 4"), @r"
    guardbit::hw::float
    hw.yaml:2:45: `float_accumulation.terms` is 4; it must be 1 with `reduce: serial`
      | float_accumulation: {reduce: serial, terms: 4}
      |                                             ^
    help: write `terms: 1`, or `reduce: pairwise`
    ");
    insta::assert_snapshot!(with("reduce: pairwise, terms: 12"), @r"
    guardbit::hw::float
    hw.yaml:2:47: `float_accumulation.terms` is 12; it must be a power of two from 2 with `reduce: pairwise`
      | float_accumulation: {reduce: pairwise, terms: 12}
      |                                               ^^
    help: a tree adds neighbours, e.g. `terms: 4`; `reduce: serial` adds one product after another
    ");
    insta::assert_snapshot!(with("fused: true"), @r"
    guardbit::hw::float
    hw.yaml:2:29: `float_accumulation.fused` has no effect with `reduce: aligned`
      | float_accumulation: {fused: true}
      |                             ^^^^
    help: leave out the key, or write `reduce: serial` or `reduce: pairwise`
    ");
    insta::assert_snapshot!(with("reduce: tree"), @r"
    guardbit::hw::float
    hw.yaml:2:30: `float_accumulation.reduce`: unknown addition of products `tree`; it must be one of aligned, serial, pairwise
      | float_accumulation: {reduce: tree}
      |                              ^^^^
    help: how the products of an addition are added
    ");
}

#[test]
fn operands_and_block_scales() {
    let with = |keys: &str| report(&format!("schema: 1\nfloat_accumulation: {{{keys}}}\n"), &[]);
    insta::assert_snapshot!(with("operands: []"), @r"
    guardbit::hw::float
    hw.yaml:2:32: `float_accumulation.operands` is an empty list; it must be a list of at least one of e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m2, e2m3, e2m1, float16, bfloat16
      | float_accumulation: {operands: []}
      |                                ^
    help: the formats of operands that the unit multiplies, e.g. `[e4m3, e5m2]`
    ");
    insta::assert_snapshot!(with("operands: [e4m4]"), @r"
    guardbit::hw::float
    hw.yaml:2:33: `float_accumulation.operands[0]`: unknown format of operands `e4m4`; it must be one of e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m2, e2m3, e2m1, float16, bfloat16
      | float_accumulation: {operands: [e4m4]}
      |                                 ^^^^
    help: the formats of operands that the unit multiplies, e.g. `[e4m3, e5m2]`
    ");
    insta::assert_snapshot!(with("group_terms: 8, block_scales: per_term"), @r"
    guardbit::hw::float
    hw.yaml:2:35: `float_accumulation.group_terms` has no effect with `block_scales: per_term`
      | float_accumulation: {group_terms: 8, block_scales: per_term}
      |                                   ^
    help: leave out the key, or write `block_scales: per_group`
    ");
    insta::assert_snapshot!(with("scale_format: ue4m3"), @r"
    guardbit::hw::float
    hw.yaml:2:36: `float_accumulation.scale_format` has no effect with `block_scales: none`
      | float_accumulation: {scale_format: ue4m3}
      |                                    ^^^^^
    help: leave out the key, or write `block_scales: per_group`
    ");
    insta::assert_snapshot!(with("block_scales: per_term, scale_format: any"), @r"
    guardbit::hw::float
    hw.yaml:2:60: `float_accumulation.block_scales: per_term` adds exponents; `scale_format` must be ue8m0
      | float_accumulation: {block_scales: per_term, scale_format: any}
      |                                                            ^^^
    help: leave out `scale_format`, or write `block_scales: per_group`
    ");
    insta::assert_snapshot!(with("block_scales: per_group, operands: [e2m1], terms: 24"), @r"
    guardbit::hw::float
    hw.yaml:2:72: `float_accumulation.terms` is 24; it must be a multiple of `group_terms`, 16
      | float_accumulation: {block_scales: per_group, operands: [e2m1], terms: 24}
      |                                                                        ^^
    help: an addition takes whole groups, e.g. `terms: 64, group_terms: 16`
    ");
    insta::assert_snapshot!(with("block_scales: per_group"), @r"
    guardbit::hw::float
    hw.yaml:2:36: `float_accumulation.block_scales: per_group` adds products of 4-bit operands exactly, but `operands` has e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m2, e2m3, float16, bfloat16
      | float_accumulation: {block_scales: per_group}
      |                                    ^^^^^^^^^
    help: write `operands: [e2m1]`
    ");
}
