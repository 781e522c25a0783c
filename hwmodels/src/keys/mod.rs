//! Keys of an accelerator, section by section, with one row each. The rows define what serde reads, the JSON
//! schema, the checks with their errors, the checked types, `hw show`, `--set` and
//! `docs/reference/accelerator_keys.md`.
//!
//! A row is `key: TYPE = (DEFAULT) in RANGE, CODE, HINT, MEANING;` for a key that is a field of the checked
//! type (a [`Key`]). A key that has a meaning only together with others is
//! `key: as (FILE_TYPE) or "DEFAULT", CODE, HINT, MEANING;`: the combined value is one of the fields before the
//! rows, and `load/check.rs` computes it. CODE and HINT belong to the key's errors. Range and default are
//! appended to MEANING.

mod key;
mod page;
mod section;

pub(crate) use key::{DECIMALS, FileValue, Key, MAX_TERMS};
pub use page::keys_text;
pub(crate) use section::KeyRow;

use guardbit_num::{FloatFormat, Overflow, Rounding, Scheme};

use serde_yaml::Value;

use crate::accelerator::{
    ArrayKind, Axis, BiasPlace, BlockScaling, Check, Dataflow, Datapath, Depthwise, Fixup, FloatIncoming,
    FloatReduce, FloatResult, OutputFit, PackingKind, Register, Residency, ScaleFormat, ShiftRounding,
    Subnormals, Terms, TimingConvention, ZeroPoint,
};
use crate::file::{
    BiasBits, Bits, Entries, Integer, Name, Number, OpName, OrderFile, PermutationsFile, PortFile, RoundKind,
    TermsFile,
};
use crate::formats::OperandFormats;
use crate::load::{MAX_DESCRIPTION, MAX_LEVEL_NAME, MAX_NAME};
use crate::operations::OPERATIONS;
use crate::order::{MOST_NUMBERS, Walk, WalkKind};
use crate::{LayerOverrides, Reduce};
use section::sections;

fn accelerator_name() -> String {
    format!("1 to {MAX_NAME} letters, digits, blanks and - _ . + , ( ) / : #, a letter, a digit or _ first")
}

fn description() -> String {
    format!("text of up to {MAX_DESCRIPTION} printable characters")
}

fn level_name() -> String {
    format!("made of at most {MAX_LEVEL_NAME} letters, digits, `_` and `-`, different for every level")
}

fn permutations() -> String {
    format!(
        "a list of whole numbers, or a map of such lists by layer name or number of products, with at most \
         {MOST_NUMBERS} numbers in all"
    )
}

/// Format of accumulators.
const FLOAT32: FloatFormat = FloatFormat::FLOAT32;

fn operations() -> String {
    format!("a list of {}", OPERATIONS.join(", "))
}

sections! {
    /// An accelerator that runs quantized networks on narrow accumulators.
    #[file(schemars(title = "guardbit accelerator", extend("required" = ["schema"])))]
    "" => AcceleratorFile, Accelerator {
        /// Name.
        name: String,
        /// One line for lists.
        description: String,
        /// The array of processing elements.
        array: Array,
        /// Names of the operations that the accelerator runs; the host runs the others exactly.
        offload: Vec<String>,
        /// What decides values.
        datapath: Datapath,
        /// How cycles are counted.
        timing: Timing,
        /// Memories.
        memory: Memory,
        /// The processor beside it.
        host: Processor,
        /// Lanes that share one adder.
        packing: PackingKeys,
        /// Accumulation of floating-point products; `None` if the host computes them.
        float: Option<FloatAccumulation>,
        /// Complete accelerators for single layers, by layer name or index, with the overrides applied.
        layers: LayerOverrides,
    } {
        schema: as (Integer) in 1..=1, "guardbit::hw::schema", "the version of the file format: write `schema: 1`",
            "Version of this file format: 1. Required in every file.";
        name: as (String) is (accelerator_name()), "guardbit::hw::name",
            "the name appears in reports, tables and comments of generated RTL",
            "Name of the accelerator. By default the name of the file.";
        description: as (String) is (description()), "guardbit::hw::text",
            "one line of text, shown in lists; put numbers in quotes",
            "Description in one line, shown in lists.";
        #[schemars(schema_with = "crate::schema::bases")]
        extends: as (String) is ("text".into()), "guardbit::hw::text", "put numbers in quotes",
            "Preset, or file relative to this one, to start from. Maps merge key by key; a list replaces the \
             whole inherited list.";
        clock_mhz: f64 = (300.0), "guardbit::hw::clock", "the clock in MHz",
            "Clock in MHz.";
        array: struct (ArrayFile), "", "", "The array of processing elements.";
        dataflow: Dataflow = (Dataflow::OutputStationary), "guardbit::hw::dataflow", "the operand that stays in the array",
            "Operand that stays in the array. Decides time and place of every addition, and the accumulation levels \
             if `accumulation` is missing.";
        #[serde(default, deserialize_with = "crate::file::short")]
        offload: as (Vec<OpName>) is (operations()), "guardbit::hw::offload",
            "operations that are not listed run exactly on the host",
            "Operations that the accelerator runs; the host runs the others exactly. By default all \
             multiply-accumulate operations.";
        operands: struct (OperandsFile), "", "", "How operands reach the multiplier.";
        reduction_order: struct (OrderFile), "", "",
            "Order in which the products of a dot product are added: axes, slowest first, or a map with `walk`. By \
             default [kh, kw, ic].";
        product: struct (ProductFile), "", "", "The multiplier's output.";
        #[schemars(length(min = 1, max = 16))]
        #[serde(default, deserialize_with = "crate::file::short")]
        accumulation: struct (Vec<LevelFile>), "", "",
            "Accumulation levels, innermost first, at most 16; the last one has `terms: all`. By default derived \
             from the dataflow, with widths that never overflow.";
        bias: struct (BiasFile), "", "", "The bias adder.";
        requantize: struct (RequantizeFile), "", "", "Conversion of sums to output codes.";
        timing: struct (TimingFile), "", "", "How cycles are counted.";
        memory: struct (MemoryFile), "", "", "Memories of the accelerator.";
        host: struct (HostFile), "", "", "Processor that runs the operations that the accelerator does not \
                                          run.";
        packing: struct (PackingFile), "", "", "Lanes that share one adder.";
        float_accumulation: struct (FloatFile), "", "",
            "Accumulation of floating-point products, as matrix units add them. Without it, the host computes layers \
             whose operands are floating-point codes.";
        #[schemars(with = "Option<std::collections::BTreeMap<String, std::collections::BTreeMap<String, serde_json::Value>>>")]
        layers: struct (Entries<Entries<Value>>), "", "",
            "Overrides for single layers, by name or index: dotted keys with their values, e.g. \
             `accumulation.acc.bits: 16`.";
    }

    /// The order in which the products of a dot product are added.
    #[derive(Eq)]
    "reduction_order" => OrderMap, ReductionOrder {
        /// The axes, slowest first.
        axes: [Axis; 3],
        /// How the flattened axes are walked.
        walk: Walk,
    } {
        #[schemars(length(equal = 3))]
        #[serde(default, deserialize_with = "crate::file::short")]
        axes: as (Vec<Name<Axis>>) or "[kh, kw, ic]", "guardbit::hw::order", "list the slowest axis first, e.g. `[kh, kw, ic]`",
            "The axes, slowest first, each once.";
        walk: as (Name<WalkKind>) or "forward", "guardbit::hw::order", "the order in which the products are visited",
            "Order in which the flattened products are visited. forward: from the first. reverse: from the last. \
             stride: i, i+n, i+2n, ... for i = 0..n. random: a permutation drawn with `seed`. file: permutations \
             from `file`. By the products of each dot product: sorted (ascending), sign_paired (largest positive, \
             largest negative, and so on), greedy (a product whose sign moves the running sum towards 0).";
        stride: as (Integer) in 1..=65536, "guardbit::hw::order", "the distance n of `walk: stride`",
            "Distance n of the walk `stride`.";
        seed: as (Integer) in 0..=2_147_483_647 or "0", "guardbit::hw::order", "the seed of `walk: random`",
            "Seed of the walk `random`: the same seed and number of products give the same permutation.";
        file: as (String) is ("the path of a file".into()), "guardbit::hw::order",
            "a JSON or YAML file with the permutations of `walk: file`",
            "JSON or YAML file (relative to this one) with the permutations of the walk `file`: a list, or \
             lists by layer name or number of products. The k-th number is the index, along the flattened \
             axes, of the product that is added k-th.";
        permutations: as (PermutationsFile) is (permutations()), "guardbit::hw::order",
            "each of 0, 1, 2, ... once: the k-th number is the index of the product that is added k-th",
            "Contents of `file`, given here instead.";
        ic_block: Option<usize> = (None) in 0..=65536, "guardbit::hw::order",
            "the length of the blocks into which the input channels are cut; 0: no blocks",
            "Length of the blocks into which the input channels are cut. The block index is slower than every axis; \
             0: no blocks.";
    }

    /// Size of the array of processing elements: at most 1048576 of them in all cores.
    #[derive(Copy, Eq)]
    "array" => ArrayFile, Array {} {
        rows: usize = (16) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Rows.";
        cols: usize = (16) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Columns.";
        dot_width: usize = (1) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Products that one processing element adds in one step.";
        kind: ArrayKind = (ArrayKind::Outputs), "guardbit::hw::array",
            "the outputs that the lanes of a vector engine compute at a time",
            "Outputs that the lanes of a vector engine compute at a time. outputs: any outputs, in the order of the \
             output tensor. channels: channels of one pixel, one group after the other. folded: channels of one \
             pixel, of all groups. block: rows take pixels of a small rectangle, columns take channels.";
        cores: usize = (1) in 1..=64, "guardbit::hw::array",
            "the number of arrays that share the output channels",
            "Number of arrays of this size, which share the output channels.";
        stripe: usize = (1) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Minimum number of pixels for which an array of kind channels keeps its weights.";
        depthwise: Depthwise = (Depthwise::ByKind), "guardbit::hw::depthwise",
            "the mapping of the groups of a convolution to the array",
            "Mapping of the groups of depthwise and other grouped convolutions to the array; it does not change \
             values. by_kind: side by side in vector engines except those of kind channels, otherwise one after the \
             other. serial: one after the other. block_diagonal: as many groups as fit, as one matrix with weights \
             of 0 off its diagonal; not for vector engines. own_inputs: side by side, each lane or column with its \
             own activations; for output_stationary and vector.";
    }

    /// How operands reach the multiplier.
    #[derive(Copy, Eq)]
    "operands" => OperandsFile, Operands {} {
        zero_point: ZeroPoint = (ZeroPoint::Subtract), "guardbit::hw::zero_point",
            "`subtract` removes zero points before the multiplier, `fold` after it",
            "Where zero points are removed. subtract: before the multiplier, which reads codes minus their zero \
             points. fold: after it; the multiplier reads raw codes, and constants are added to the bias.";
    }

    /// The multiplier's output: fitted, then shifted right.
    #[derive(Copy, Eq)]
    "product" => ProductFile, Product {
        /// Width.
        register: Register,
        /// How low bits are dropped.
        round: ShiftRounding,
    } {
        bits: as (Bits) or "auto", "guardbit::hw::bits",
            "a width in bits, sign included; `auto` never overflows",
            "Width, or auto: exact.";
        overflow: as (Name<Overflow>) or "saturate", "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a product that does not fit.";
        signed: as (bool) or "true", "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the top bit is a sign.";
        shift: u32 = (0) in 0..=31, "guardbit::hw::shift", "the number of low bits to drop",
            "Low bits dropped.";
        round: as (Name<RoundKind>) or "floor", "guardbit::hw::round", "the rounding of the dropped bits",
            "Rounding of the dropped bits; stochastic rounds up with the probability of the dropped fraction.";
        seed: as (Integer) in 0..=2_147_483_647 or "0", "guardbit::hw::round", "the seed of stochastic rounding",
            "The seed of stochastic rounding.";
    }

    /// One accumulation level.
    "accumulation.*" => LevelFile, Level {
        /// Name, unique in its datapath.
        name: String,
        /// Length of a run.
        terms: Terms,
        /// Width of the accumulator.
        register: Register,
        /// How low bits are dropped when the result is handed on.
        round: ShiftRounding,
    } {
        name: as (String) is (level_name()), "guardbit::hw::level_name",
            "overrides and reports refer to a level by its name",
            "Name, unique among the levels. By default acc for a single level, otherwise required.";
        reduce: Reduce = (Reduce::Serial), "guardbit::hw::reduce",
            "how a level adds the values of a run",
            "How a run is reduced.";
        terms: as (TermsFile) or "all", "guardbit::hw::terms",
            "the number of values from the previous level in one run; the last level has `all`",
            "Length of a run: a number, rows, cols, dot_width or all. The last level must have all.";
        bits: as (Bits) or "auto", "guardbit::hw::bits",
            "a width in bits, sign included; `auto` never overflows",
            "Width of the accumulator, or auto: never overflows.";
        overflow: as (Name<Overflow>) or "saturate", "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a sum that does not fit.";
        signed: as (bool) or "true", "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the top bit is a sign.";
        check: Check = (Check::EachAdd), "guardbit::hw::check",
            "`each_add` checks every addition for overflow, `hand_over` checks the result when it leaves the \
             level",
            "Where overflow is checked: each_add (at every addition), or hand_over (exact inside, fitted once when \
             the result leaves the level).";
        shift: u32 = (0) in 0..=31, "guardbit::hw::shift", "the number of low bits to drop",
            "Low bits dropped when the result is handed on.";
        round: as (Name<RoundKind>) or "floor", "guardbit::hw::round", "the rounding of the dropped bits",
            "Rounding of the dropped bits; stochastic rounds up with the probability of the dropped fraction.";
        seed: as (Integer) in 0..=2_147_483_647 or "0", "guardbit::hw::round", "the seed of stochastic rounding",
            "The seed of stochastic rounding.";
    }

    /// The bias adder.
    #[derive(Copy, Eq)]
    "bias" => BiasFile, Bias {
        /// Width of its adder (of the scaled bias, if added after requantization). Unused by a preload.
        register: Register,
        /// Whether the adder is as wide as the model's own: 64 bits instead of 32 for biases of 64.
        from_model: bool,
    } {
        at: BiasPlace = (BiasPlace::Post), "guardbit::hw::bias",
            "where the bias is added: `post` is after the last level",
            "Where the bias is added. post: after the last level. preload: as the initial value of the last level. \
             post_requantize: scaled by itself and added to the scaled sum.";
        bits: as (BiasBits) or "from_model", "guardbit::hw::bits",
            "a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits",
            "Width of the adder, or auto. from_model: 32, and 64 in layers whose bias has 64 bits in the model.";
        overflow: as (Name<Overflow>) or "saturate", "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a sum that does not fit.";
    }

    /// Conversion of sums to output codes.
    #[derive(Copy, Eq)]
    "requantize" => RequantizeFile, Requantization {} {
        scheme: Option<Scheme> = (None), "guardbit::hw::scheme",
            "`from_model` uses the scheme of the model's runtime",
            "Requantization scheme. from_model: the scheme of the model's runtime.";
        output: OutputFit = (OutputFit::Saturate), "guardbit::hw::output",
            "what happens to a result that does not fit the output's codes",
            "What happens to a result that does not fit the output's codes, in the exact run too. saturate: clamped. \
             saturate_symmetric: clamped to a restricted range, -127 to 127 for int8. wrap: its low bits are kept; a \
             fused activation clips before.";
    }

    /// How cycles are counted.
    #[derive(Copy, Eq)]
    "timing" => TimingFile, Timing {} {
        convention: TimingConvention = (TimingConvention::Overlapped), "guardbit::hw::timing", "how cycles are counted",
            "Timing convention. overlapped: tiles follow each other without draining the array; memory stalls are \
             counted. scalesim_v3: compute cycles as in SCALE-Sim 3.0.0. ethos_u: NPU cycles as estimated by Arm's \
             compiler for Ethos-U55; needs an array of kind block.";
    }

    /// Memories of the accelerator.
    #[derive(Copy)]
    "memory" => MemoryFile, Memory {
        /// Bytes per cycle between the SRAM of activations and the array, and as many between that of weights and it.
        sram_bytes_per_cycle: f64,
        /// Bytes per cycle between the SRAM for sums and the array, written and read.
        accumulator_bytes_per_cycle: f64,
        /// Bytes per cycle from outside.
        dram_bytes_per_cycle: f64,
    } {
        activation_kib: f64 = (256.0), "guardbit::hw::memory", "sizes are in KiB, rates in bytes per cycle",
            "SRAM for activations in KiB.";
        weight_kib: f64 = (256.0), "guardbit::hw::memory", "sizes are in KiB, rates in bytes per cycle",
            "SRAM for weights in KiB.";
        accumulator_kib: f64 = (64.0), "guardbit::hw::memory", "sizes are in KiB, rates in bytes per cycle",
            "SRAM for sums in KiB.";
        residency: Residency = (Residency::None), "guardbit::hw::memory",
            "the activations that stay on the chip between layers",
            "Activations that stay in their SRAM from the layer that produces them to the layers that read them. \
             none: every layer reads from external memory and stores there. fit: those that fit in addition to what \
             the layers in between need.";
        double_buffer: bool = (true), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the next tile is loaded while the current one is computed.";
        sram_bytes_per_cycle: as (PortFile), "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle between the activation SRAM and the array, and between the weight SRAM and the array. A \
             formula scales with the array. By default max(16, rows, cols) * dot_width.";
        accumulator_bytes_per_cycle: as (PortFile), "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle between the SRAM for sums and the array, reads plus writes. A formula scales with the \
             array. By default 8 * max(16, cols): a sum of 32 bits per column, read and written.";
        dram_bytes_per_cycle: as (PortFile) or "8", "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle of the external memory. A formula scales with the array.";
        dram_latency_cycles: u64 = (100) in 0..=1000000000, "guardbit::hw::memory",
            "the cycles before the first byte from external memory",
            "Cycles before the first byte from external memory.";
        dram_burst_bytes: u64 = (1) in 1..=65536, "guardbit::hw::memory",
            "transfers to and from external memory are rounded up to whole bursts",
            "Bytes per burst. Every transfer to and from external memory is rounded up to whole bursts.";
        dram_outstanding_bursts: Option<u64> = (None) in 0..=65536, "guardbit::hw::memory",
            "the maximum number of bursts in flight; 0: no limit",
            "Maximum number of bursts in flight, each for dram_latency_cycles; 0: no limit.";
    }

    // The default is Arm's Cortex-M55, whose vector unit processes 64 bits per cycle ("dual beat").
    /// Processor that runs the operations that the accelerator does not run.
    #[derive(Copy)]
    "host" => HostFile, Processor {
        /// Clock in MHz; `None`: that of the accelerator.
        clock_mhz: Option<f64>,
    } {
        lanes: usize = (2) in 1..=65536, "guardbit::hw::host",
            "the number of 32-bit elements that the host processes in parallel",
            "Number of 32-bit elements that the host processes in parallel.";
        ops_per_cycle: f64 = (1.0), "guardbit::hw::host", "operations per lane and cycle of the host",
            "Operations per lane and cycle: additions, comparisons, multiplications with or without an addition, \
             shifts, loads from a table.";
        bytes_per_cycle: f64 = (8.0), "guardbit::hw::host", "the bytes that the host reads and writes per cycle",
            "Bytes that the host reads and writes per cycle, in total.";
        clock_mhz: as (Number), "guardbit::hw::host", "the clock of the host in MHz",
            "Clock in MHz. By default that of the accelerator.";
    }

    /// Accumulation of floating-point products: terms are aligned to the largest exponent among them, cut, and added as
    /// integers.
    #[derive(Copy, Eq)]
    "float_accumulation" => FloatFile, FloatAccumulation {
        /// Width and overflow mode of the register of `result: fixed`.
        register: Register,
    } {
        #[serde(default, deserialize_with = "crate::file::short")]
        operands: OperandFormats = (OperandFormats::all()), "guardbit::hw::float",
            "the formats of operands that the unit multiplies, e.g. `[e4m3, e5m2]`",
            "Formats of operands that the unit multiplies. A layer with other operands is an error.";
        reduce: FloatReduce = (FloatReduce::Aligned), "guardbit::hw::float", "how the products of an addition are added",
            "How products are added. aligned: as integers, cut below the largest exponent (or to the last bit of \
             `result: fixed`). serial: by ordinary floating-point additions to the accumulator, one product after another. \
             pairwise: `terms` products by a binary tree of ordinary additions of neighbours, and then their sum to the \
             accumulator; missing products are +0. Ordinary additions round to `result` by `result_round`; a magnitude \
             beyond the largest becomes infinity.";
        fused: bool = (false), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether a product is exact in its first addition, as in a fused multiply-add. Otherwise it is rounded to \
             `result` by `result_round` before. Only with `reduce: serial` and `pairwise`.";
        subnormals: Subnormals = (Subnormals::Keep), "guardbit::hw::float", "`keep` or `flush`",
            "Subnormal operands, products and sums. keep: as any other number. flush: operands become +0, rounded products \
             and sums zero of their sign. Only with `reduce: serial` and `pairwise`.";
        block_scales: BlockScaling = (BlockScaling::None), "guardbit::hw::float",
            "how the scales of blocks of operands enter the products",
            "How the scales of blocks of operands enter the sum. none: not at all; the host computes layers with block \
             scales. per_term: the exponents of both scales are added to that of each product. per_group: products with \
             the same scales are added exactly, `group_terms` at a time, and their sum times the scales is one term.";
        scale_format: ScaleFormat = (ScaleFormat::Ue8m0), "guardbit::hw::float", "the format of the scales of blocks",
            "Format of the scales of blocks. ue8m0: powers of two, as of OCP MX. ue4m3: as of NVFP4. any: both. Only with \
             `block_scales`; `per_term` takes ue8m0 only.";
        group_terms: usize = (16) in 1..=1024, "guardbit::hw::float", "the number of products of a group",
            "Products of a group. A group with fewer takes as much room. Only with `block_scales: per_group`.";
        terms: usize = (32) in 1..=1024, "guardbit::hw::float", "the number of products of one addition",
            "Products of one addition. The last addition of a dot product may have fewer. A power of two with `reduce: \
             pairwise`, and always 1 with `reduce: serial`.";
        fraction_bits: u32 = (25) in 0..=40, "guardbit::hw::float", "the bits kept below the largest exponent",
            "Bits kept of each term below the largest exponent of an addition. With `result: fixed`, bits of the register \
             below the binary point: products are cut to multiples of 2^-fraction_bits.";
        align_round: Rounding = (Rounding::TowardZero), "guardbit::hw::float", "the rounding of a term to its bits",
            "Rounding of a term to its bits.";
        incoming: FloatIncoming = (FloatIncoming::Term), "guardbit::hw::float",
            "`term` aligns the accumulator with the products, `apart` adds it after them",
            "How the accumulator enters an addition. term: as one more term. apart: after the products; their sum and \
             the accumulator are aligned to the larger exponent, and both are cut toward minus infinity.";
        interleaved: bool = (false), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether even and odd products are added separately first. Only with `incoming: apart`.";
        sum_bits: u32 = (31) in 1..=40, "guardbit::hw::float", "the bits kept of the sum of the products",
            "Bits kept of the sum of the products below the larger exponent. Only with `incoming: apart`.";
        accumulator_bits: u32 = (24) in 1..=40, "guardbit::hw::float", "the bits kept of the accumulator",
            "Bits kept of the accumulator below the larger exponent, at most `sum_bits`. Only with `incoming: apart`.";
        reach: Option<usize> = (None) in 0..=300, "guardbit::hw::float",
            "the distance of exponents beyond which the accumulator is dropped; 0: no limit",
            "Largest distance of the accumulator's exponent below the larger exponent at which it still counts; 0: no \
             limit. Only with `incoming: apart`.";
        result: FloatResult = (FloatResult::Float(FLOAT32)), "guardbit::hw::float", "the format of the accumulator",
            "Format of the result of an addition, which is the accumulator. fixed: a two's complement register with a \
             fixed binary point (Kulisch). Products are cut to its last bit and added to it; no exponents are aligned. At \
             the end its value becomes a float32, to nearest even.";
        bits: as (Bits) or "auto", "guardbit::hw::bits", "a width in bits, sign included; `auto` never overflows",
            "Width of the register, sign and fraction bits included, or auto: never overflows. Only with `result: fixed`.";
        overflow: as (Name<Overflow>) or "saturate", "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a sum that does not fit the register, at every addition. Only with `result: fixed` and \
             `bits`.";
        result_round: Rounding = (Rounding::TowardZero), "guardbit::hw::float", "the rounding of the result",
            "Rounding of the sum to the format of the result.";
        negative_zero: bool = (false), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether a negative sum that rounds to zero is -0.";
        promote_terms: Option<usize> = (None) in 0..=268435456, "guardbit::hw::float",
            "the number of products after which the accumulator is promoted; 0: never",
            "Products after which the accumulator is added to a float32 sum, to nearest even, and starts again at zero; \
             0: never. A multiple of `terms`.";
    }

    /// Lanes that share one adder.
    #[derive(Copy, Eq)]
    "packing" => PackingFile, PackingKeys {} {
        kind: PackingKind = (PackingKind::None), "guardbit::hw::packing", "the lanes that share one adder",
            "none: every lane has its own adder. dsp48e2_int8x2: two output channels share the 48-bit adder of a \
             DSP48E2, with 18 bits for the first channel; the innermost level is that adder.";
        fixup: Fixup = (Fixup::Lut), "guardbit::hw::packing",
            "the correction of the borrow that a negative low lane takes from the high lane",
            "Correction of the borrow in dsp48e2_int8x2. none: a negative low lane takes 1 from the high lane. lut: \
             the low lane's sign is added to the high lane when the lanes leave the adder.";
    }
}
