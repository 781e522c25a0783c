//! Bad and doubtful accelerator files: what is said about them, and where.

use guardbit_hwmodels::{Origin, PRESETS, Problem, check_yaml};
use proptest::prelude::*;
use proptest::sample::select;

/// Code, message, the line at fault with the value underlined, and help.
fn rendered(problem: &Problem) -> String {
    let mut lines = vec![problem.code().to_owned(), problem.to_string()];
    if let Origin::File(place) = problem.origin() {
        let line = place.text.lines().nth(place.line - 1).unwrap_or_default();
        lines.push(format!("  | {line}"));
        lines.push(format!(
            "  | {:indent$}{}",
            "",
            "^".repeat(place.span.len().max(1)),
            indent = place.column - 1
        ));
    }
    lines.extend(problem.help().map(|help| format!("help: {help}")));
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// What is said about a file with these overrides: an error, or warnings.
fn report(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
    match check_yaml(text, "hw.yaml", &sets) {
        (Err(error), _) => rendered(&error),
        (Ok(_), warnings) if warnings.is_empty() => "fine".into(),
        (Ok(_), warnings) => warnings.iter().map(rendered).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn values_of_the_wrong_type() {
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 3.5}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 3.5; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 3.5}
      |                       ^^^
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bits: x\n", &[]), @r#"
    guardbit::hw::bits
    hw.yaml:4:11: `accumulation.acc.bits` is "x"; it must be `auto` or a whole number from 2 to 64
      |     bits: x
      |           ^
    help: a width in bits, sign included; `auto` is wide enough for everything
    "#);
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bits: \"14\"\n", &[]), @r#"
    guardbit::hw::bits
    hw.yaml:4:11: `accumulation.acc.bits` is "14"; it must be `auto` or a whole number from 2 to 64
      |     bits: "14"
      |           ^^^^
    help: a width in bits, sign included; `auto` is wide enough for everything
    "#);
    insta::assert_snapshot!(report("schema: 1\nproduct: {bits: [8]}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:2:17: `product.bits` is a list; it must be `auto` or a whole number from 2 to 64
      | product: {bits: [8]}
      |                 ^
    help: a width in bits, sign included; `auto` is wide enough for everything
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
    hw.yaml:2:12: `clock_mhz` is "fast"; it must be a number above 0
      | clock_mhz: fast
      |            ^^^^
    help: the clock in MHz
    "#);
    insta::assert_snapshot!(report("schema: 1\nmemory: {double_buffer: \"no\"}\n", &[]), @r#"
    guardbit::hw::switch
    hw.yaml:2:25: `memory.double_buffer` is "no"; it must be true or false
      | memory: {double_buffer: "no"}
      |                         ^^^^
    help: write it without quotes
    "#);
    insta::assert_snapshot!(report("schema: 1\nname: [a]\n", &[]), @r"
    guardbit::hw::text
    hw.yaml:2:7: `name` is a list; it must be text
      | name: [a]
      |       ^
    help: put numbers in quotes
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: 3\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:18: `reduction_order` is 3; it must be kh, kw and ic, each once, or a map of axes, walk, stride and ic_block
      | reduction_order: 3
      |                  ^
    help: the slowest axis comes first, as `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: {bits: 14}\n", &[]), @r"
    guardbit::hw::accumulation
    hw.yaml:2:15: `accumulation` is a map; it must be a list of one level at least, innermost first
      | accumulation: {bits: 14}
      |               ^
    help: as `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: some}, {name: b}]\n", &[]), @r#"
    guardbit::hw::terms
    hw.yaml:2:33: `accumulation.a.terms` is "some"; it must be rows, cols, dot_width, all or a whole number from 1 to 268435456
      | accumulation: [{name: a, terms: some}, {name: b}]
      |                                 ^^^^
    help: how many values of the level before make one run; the last level takes `all`
    "#);
}

#[test]
fn names_that_are_none() {
    insta::assert_snapshot!(report("schema: 1\ndataflow: systolic\n", &[]), @r"
    guardbit::hw::dataflow
    hw.yaml:2:11: `dataflow`: unknown dataflow `systolic`; it must be one of output_stationary, weight_stationary, input_stationary, vector
      | dataflow: systolic
      |           ^^^^^^^^
    help: which operand stays in the array
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
    hw.yaml:2:28: `product.round`: unknown rounding `up`; it must be one of floor, toward_zero, half_up, half_down, half_away, half_to_zero, half_even, half_odd
      | product: {shift: 2, round: up}
      |                            ^^
    help: how low bits are dropped
    ");
    insta::assert_snapshot!(report("schema: 1\noffload: [conv2d, softmax]\n", &[]), @r"
    guardbit::hw::offload
    hw.yaml:2:19: `offload[1]`: an accelerator cannot run `softmax`; it must be one of conv2d, depthwise_conv2d, transpose_conv2d, fully_connected, batch_matmul, avg_pool2d, mean, sum
      | offload: [conv2d, softmax]
      |                   ^^^^^^^
    help: what is not listed runs on the host, exactly
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: [kh, kw, oc]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:27: `reduction_order[2]`: unknown axis `oc`; it must be one of kh, kw, ic
      | reduction_order: [kh, kw, oc]
      |                           ^^
    help: the slowest axis comes first, as `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nrequantize: {scheme: tflite}\n", &[]), @r"
    guardbit::hw::scheme
    hw.yaml:2:22: `requantize.scheme`: unknown requantization scheme `tflite`; it must be from_model or one of double (D), single (S), away (A), even (E), float32_upward (V32), float64_upward (V64), float64_away (F64), tosa_double (T), tosa_scale16 (T16), q48 (Q48)
      | requantize: {scheme: tflite}
      |                      ^^^^^^
    help: `from_model` does what the model's runtime does
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
    hw.yaml:2:10: there is no preset `tpu`
      | extends: tpu
      |          ^^^
    help: the presets are exact-int32-os, fpga-int14-os, fpga-int14-os-wrap, fpga-int14-ws, fpga-int14-tree, inner14-outer24, ethos-u55-256, ethos-u55-32, nvdla-small, nvdla-large, gemmini-16, tpu-v1, vta-default, finn-mvau, dsp48e2-int8x2, eyeriss-v1, esp32s3-qacc
    ");
}

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(report("schema: 1\nbits: 14\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:2:1: there is no key `bits`
      | bits: 14
      | ^^^^
    help: the keys of an accelerator are schema, name, description, extends, clock_mhz, array, dataflow, offload, operands, reduction_order, product, accumulation, bias, requantize, timing, memory, packing, layers
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - name: acc\n    bit: 14\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:4:5: there is no key `accumulation.acc.bit`
      |     bit: 14
      |     ^^^
    help: the keys of `accumulation.acc` are name, reduce, terms, bits, overflow, signed, check, shift, round
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {wolk: reverse}\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:2:19: there is no key `reduction_order.wolk`
      | reduction_order: {wolk: reverse}
      |                   ^^^^
    help: the keys of `reduction_order` are axes, walk, stride, ic_block
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory:\n  sram: 3\n", &[]), @r"
    guardbit::hw::unknown_key
    hw.yaml:3:3: there is no key `memory.sram`
      |   sram: 3
      |   ^^^^
    help: the keys of `memory` are activation_kib, weight_kib, accumulator_kib, double_buffer, sram_bytes_per_cycle, dram_bytes_per_cycle, dram_latency_cycles, dram_burst_bytes, dram_outstanding_bursts
    ");
}

#[test]
fn values_out_of_range() {
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 0}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 0; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 0}
      |                       ^
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 1}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 1; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 1}
      |                       ^
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: 65}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is 65; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: 65}
      |                       ^^
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation:\n  - {name: acc, bits: -3}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:23: `accumulation.acc.bits` is -3; it must be `auto` or a whole number from 2 to 64
      |   - {name: acc, bits: -3}
      |                       ^^
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\nbias: {bits: 18446744073709551615}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:2:14: `bias.bits` is 18446744073709551615; it must be `auto` or a whole number from 2 to 64
      | bias: {bits: 18446744073709551615}
      |              ^^^^^^^^^^^^^^^^^^^^
    help: a width in bits, sign included; `auto` is wide enough for everything
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
    help: how many values of the level before make one run; the last level takes `all`
    ");
    insta::assert_snapshot!(report("schema: 1\nclock_mhz: .inf\n", &[]), @r"
    guardbit::hw::clock
    hw.yaml:2:12: `clock_mhz` is inf; it must be a number above 0
      | clock_mhz: .inf
      |            ^^^^
    help: the clock in MHz
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory:\n  weight_kib: 0\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:3:15: `memory.weight_kib` is 0; it must be a number above 0
      |   weight_kib: 0
      |               ^
    help: sizes are in KiB, rates in bytes per cycle
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_burst_bytes: 0}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:28: `memory.dram_burst_bytes` is 0; it must be a whole number from 1 to 65536
      | memory: {dram_burst_bytes: 0}
      |                            ^
    help: transfers from and to the outside are rounded up to whole bursts
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_outstanding_bursts: 65537}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:35: `memory.dram_outstanding_bursts` is 65537; it must be a whole number from 0 to 65536
      | memory: {dram_outstanding_bursts: 65537}
      |                                   ^^^^^
    help: the bursts that can be on their way at a time; 0 is no limit
    ");
    insta::assert_snapshot!(report("schema: 1\nmemory: {dram_latency_cycles: -1}\n", &[]), @r"
    guardbit::hw::memory
    hw.yaml:2:31: `memory.dram_latency_cycles` is -1; it must be a whole number from 0 to 1000000000
      | memory: {dram_latency_cycles: -1}
      |                               ^^
    help: the cycles before the first byte from outside
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {walk: stride, stride: 0}\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:41: `reduction_order.stride` is 0; it must be a whole number from 1 to 65536
      | reduction_order: {walk: stride, stride: 0}
      |                                         ^
    help: the distance of a walk of kind `stride`
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: the sum}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:23: `accumulation.the sum.name` is `the sum`; it must be made of letters, digits, `_` and `-`, different for every level
      | accumulation: [{name: the sum}]
      |                       ^^^^^^^
    help: overrides and reports call a level by its name
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
    hw.yaml:1:1: the file does not say its `schema`
      | name: x
      | ^^^^
    help: begin the file with `schema: 1`, the version of the file format
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: []\n", &[]), @r"
    guardbit::hw::accumulation
    hw.yaml:2:15: `accumulation` has no level
      | accumulation: []
      |               ^
    help: give one level at least, as `[{name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}]`, or leave the key out
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{bits: 3}, {bits: 4}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:16: there is no `accumulation[0].name`; it must be made of letters, digits, `_` and `-`, different for every level
      | accumulation: [{bits: 3}, {bits: 4}]
      |                ^
    help: overrides and reports call a level by its name
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: rows}, {name: a}]\n", &[]), @r"
    guardbit::hw::level_name
    hw.yaml:2:47: two levels of `accumulation` are called `a`
      | accumulation: [{name: a, terms: rows}, {name: a}]
      |                                               ^
    help: give every level a name of its own
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: a, terms: 2}, {name: b, terms: 3}]\n", &[]), @r"
    guardbit::hw::terms
    hw.yaml:2:54: the last level, `b`, must take all: what it hands on is the sum
      | accumulation: [{name: a, terms: 2}, {name: b, terms: 3}]
      |                                                      ^
    help: write `terms: all`, or add a level behind it that does
    ");
    insta::assert_snapshot!(report("schema: 1\naccumulation: [{name: t, reduce: tree}]\nbias: {at: preload}\n", &[]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `t`, is a tree: it has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\nbias: {at: preload}\naccumulation:\n  - name: t\n    reduce: tree\n", &[]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `t`, is a tree: it has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: [kh, kw]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:18: `reduction_order` is [kh, kw]; it must name kh, kw and ic, each once
      | reduction_order: [kh, kw]
      |                  ^
    help: the slowest axis comes first, as `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order:\n  axes: [kh, kh, ic]\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:3:9: `reduction_order` is [kh, kh, ic]; it must name kh, kw and ic, each once
      |   axes: [kh, kh, ic]
      |         ^
    help: the slowest axis comes first, as `[kh, kw, ic]`
    ");
    insta::assert_snapshot!(report("schema: 1\nreduction_order: {walk: stride}\n", &[]), @r"
    guardbit::hw::order
    hw.yaml:2:25: `reduction_order.walk` is stride, but there is no `reduction_order.stride`
      | reduction_order: {walk: stride}
      |                         ^^^^^^
    help: give the distance, as `{walk: stride, stride: 4}`
    ");
    insta::assert_snapshot!(report("schema: 1\nproduct: {shift: 31}\naccumulation: [{name: a, terms: 4, shift: 31}, {name: b, shift: 2}]\n", &[]), @r"
    guardbit::hw::shift
    hw.yaml:3:43: the shifts drop 64 bits together; 62 are the most
      | accumulation: [{name: a, terms: 4, shift: 31}, {name: b, shift: 2}]
      |                                           ^^
    help: lower the `shift` of the product or of a level
    ");
}

#[test]
fn texts_that_are_no_file() {
    insta::assert_snapshot!(report("", &[]), @r"
    guardbit::hw::schema
    hw.yaml:1:1: the file does not say its `schema`
      |
      | ^
    help: begin the file with `schema: 1`, the version of the file format
    ");
    insta::assert_snapshot!(report("- schema: 1\n", &[]), @r"
    guardbit::hw::yaml
    hw.yaml:1:1: the file is not a map of keys
      | - schema: 1
      | ^^^^^^^^
    help: begin with `schema: 1`
    ");
    insta::assert_snapshot!(report("schema: 1\nname: \"x\n", &[]), @r"
    guardbit::hw::yaml
    hw.yaml:3:1: found unexpected end of stream at line 3 column 1, while scanning a quoted scalar at line 2 column 7
      |
      | ^
    help: the text is not YAML
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
    hw.yaml:3:7: `bias` stands twice
      | bias: {bits: 9}
      |       ^
    help: keep one of the two
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {bias.bits: 8, bias.bits: 9}\n", &[]), @r"
    guardbit::hw::duplicate_key
    hw.yaml:3:36: `layers.conv1.bias.bits` stands twice
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
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["accumulation.acc.bits=wide"]), @r#"
    guardbit::hw::bits
    --set accumulation.acc.bits=wide: `accumulation.acc.bits` is "wide"; it must be `auto` or a whole number from 2 to 64
    help: a width in bits, sign included; `auto` is wide enough for everything
    "#);
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.tree.bits=12"]), @r"
    guardbit::hw::unknown_key
    --set accumulation.tree.bits=12: `accumulation` has no level `tree`
    help: the levels are chain, acc
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["accumulation.acc.bit=12"]), @r"
    guardbit::hw::unknown_key
    --set accumulation.acc.bit=12: there is no key `accumulation.acc.bit`
    help: the keys of `accumulation.acc` are name, reduce, terms, bits, overflow, signed, check, shift, round
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["arrray.rows=8"]), @r"
    guardbit::hw::unknown_key
    --set arrray.rows=8: there is no key `arrray`
    help: the keys of an accelerator are schema, name, description, extends, clock_mhz, array, dataflow, offload, operands, reduction_order, product, accumulation, bias, requantize, timing, memory, packing, layers
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["dataflow.rows=8"]), @r"
    guardbit::hw::unknown_key
    --set dataflow.rows=8: `dataflow` is a value: there is no `dataflow.rows`
    help: `dataflow` is one of output_stationary, weight_stationary, input_stationary, vector
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["offload.3=conv2d"]), @r"
    guardbit::hw::unknown_key
    --set offload.3=conv2d: `offload` is a list without names: there is no `offload.3`
    help: give the whole list, as `offload=[...]`
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\n", &["bias={at: preload, wide: 3}"]), @r"
    guardbit::hw::unknown_key
    --set bias={at: preload, wide: 3}: there is no key `bias.wide`
    help: the keys of `bias` are at, bits, overflow
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-os\nbias: {at: preload}\n", &["accumulation.acc.reduce=tree"]), @r"
    guardbit::hw::bias
    hw.yaml:3:12: `bias.at` is preload, but the last level, `acc`, is a tree: it has no initial value
      | bias: {at: preload}
      |            ^^^^^^^
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-tree\nbias: {at: post}\n", &["accumulation.acc.reduce=tree", "bias.at=preload"]), @r"
    guardbit::hw::bias
    --set bias.at=preload: `bias.at` is preload, but the last level, `acc`, is a tree: it has no initial value
    help: write `bias: {at: post}`, or end with a serial level
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.acc.name=chain"]), @r"
    guardbit::hw::level_name
    --set accumulation.acc.name=chain: two levels of `accumulation` are called `chain`
    help: give every level a name of its own
    ");
    insta::assert_snapshot!(report("schema: 1\nextends: fpga-int14-ws\n", &["accumulation.acc="]), @r"
    guardbit::hw::unknown_key
    --set accumulation.acc=: `accumulation.acc` cannot be taken out of its list
    help: give the whole list, as `accumulation=[...]`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["accumulation.acc.bits"]), @r"
    guardbit::hw::set
    --set accumulation.acc.bits: there is no `=`
    help: write an override as KEY=VALUE, as `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["=3"]), @r"
    guardbit::hw::set
    --set =3: the key is not complete
    help: write an override as KEY=VALUE, as `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["bias={"]), @r"
    guardbit::hw::set
    --set bias={: the value is not YAML: did not find expected node content at line 2 column 1, while parsing a flow node
    help: write an override as KEY=VALUE, as `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["extends=fpga-int14-os"]), @r"
    guardbit::hw::set
    --set extends=fpga-int14-os: `extends` can only stand in a file
    help: write an override as KEY=VALUE, as `accumulation.acc.bits=12`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["layers.conv1=3"]), @r"
    guardbit::hw::set
    --set layers.conv1=3: `layers` is overridden key by key, as `layers.NAME.bias.bits=20`
    help: write an override as KEY=VALUE, as `accumulation.acc.bits=12`
    ");
}

#[test]
fn layers() {
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {accumulation.acc.bits: 99}\n", &[]), @r"
    guardbit::hw::bits
    hw.yaml:3:34: layer `conv1`: `accumulation.acc.bits` is 99; it must be `auto` or a whole number from 2 to 64
      |   conv1: {accumulation.acc.bits: 99}
      |                                  ^^
    help: a width in bits, sign included; `auto` is wide enough for everything
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
    hw.yaml:3:22: layer `conv1`: `bias.bits` is "x"; it must be `auto` or a whole number from 2 to 64
      |   conv1: {bias.bits: x}
      |                      ^
    help: a width in bits, sign included; `auto` is wide enough for everything
    "#);
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: {name: x}\n", &[]), @r"
    guardbit::hw::layers
    hw.yaml:3:17: layer `conv1` cannot have a `name` of its own
      |   conv1: {name: x}
      |                 ^
    help: it belongs to the whole accelerator
    ");
    insta::assert_snapshot!(report("schema: 1\nlayers:\n  conv1: 16\n", &[]), @r"
    guardbit::hw::layers
    hw.yaml:3:10: `layers.conv1` is 16; it must be a map of overrides
      |   conv1: 16
      |          ^^
    help: as `layers: {conv1: {accumulation.acc.bits: 16}}`
    ");
    insta::assert_snapshot!(report("schema: 1\n", &["layers.block.1/conv.bias.bits=99"]), @r"
    guardbit::hw::bits
    --set layers.block.1/conv.bias.bits=99: layer `block.1/conv`: `bias.bits` is 99; it must be `auto` or a whole number from 2 to 64
    help: a width in bits, sign included; `auto` is wide enough for everything
    ");
}

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

/// A preset with pieces of it replaced.
fn mangled() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "",
        " ",
        "\n",
        "\n  ",
        ":",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\"",
        "'",
        "#",
        "&a",
        "*a",
        "<<",
        "!x",
        "14",
        "-1",
        "1e400",
        "0x1F",
        "~",
        "é",
        "漢字",
        "accumulation",
        "acc",
        "terms",
        "\t",
        "\r\n",
        "\u{feff}",
        "|",
    ]);
    let edit = (any::<prop::sample::Index>(), 0..12usize, piece);
    (select(PRESETS), prop::collection::vec(edit, 1..4)).prop_map(|(preset, edits)| {
        let mut chars: Vec<char> = preset.text.chars().collect();
        for (at, length, piece) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + length).min(chars.len());
            chars.splice(start..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn every_text_gives_an_accelerator_or_an_error_with_a_place(text in mangled()) {
        if let (Err(error), _) = check_yaml(&text, "hw.yaml", &[]) {
            prop_assert!(!error.code().is_empty() && !error.message().is_empty());
            prop_assert!(error.help().is_some());
            if let Origin::File(place) = error.origin() {
                prop_assert!(place.text.get(place.span.clone()).is_some());
            }
        }
    }

    #[test]
    fn every_override_gives_an_accelerator_or_an_error(
        key in prop::collection::vec(select(vec![
            "accumulation", "acc", "chain", "bits", "terms", "array", "rows", "layers", "conv1", "bias", "at", "0",
            "reduction_order", "axes", "walk", "offload", "name", "", "memory", "x y",
        ]), 1..5),
        value in select(vec!["", "3", "-3", "1.5", "x", "[]", "{}", "[1, {a: 2}]", "{bits: 3}", "~", "all", "[", "reverse"]),
        preset in select(PRESETS),
    ) {
        let set = format!("{}={value}", key.join("."));
        let text = format!("schema: 1\nextends: {}\n", preset.name);
        if let (Err(error), _) = check_yaml(&text, "hw.yaml", std::slice::from_ref(&set)) {
            prop_assert_eq!(error.origin(), &Origin::Set(set));
        }
    }
}
