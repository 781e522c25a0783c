//! Keys of an accelerator, section by section, with one row each. The rows define what serde reads, the JSON
//! schema, the checks with their errors, the checked types, `hw show`, `--set` and
//! `docs/accelerator_keys.md`.
//!
//! A row is `key: TYPE = (DEFAULT) in RANGE, CODE, HINT, MEANING;` for a key that is a field of the checked
//! type (a [`Key`]). A key that has a meaning only together with others is
//! `key: as (FILE_TYPE), CODE, HINT, MEANING;`: the combined value is one of the fields before the rows, and
//! `load/check.rs` computes it. CODE and HINT belong to the key's errors.

mod key;
mod page;
mod section;

pub(crate) use key::{DECIMALS, FileValue, Key, MAX_TERMS};
pub use page::keys_text;
pub(crate) use section::KeyRow;

use guardbit_num::{Overflow, Scheme};

use serde_yaml::Value;

use crate::accelerator::{
    ArrayKind, Axis, BiasPlace, Check, Dataflow, Datapath, Depthwise, Fixup, OutputFit, PackingKind,
    Register, Residency, ShiftRounding, Terms, TimingConvention, ZeroPoint,
};
use crate::file::{
    BiasBits, Bits, Entries, Integer, Name, Number, OpName, OrderFile, PermutationsFile, PortFile, RoundKind,
    TermsFile,
};
use crate::load::{MAX_DESCRIPTION, MAX_LEVEL_NAME, MAX_NAME};
use crate::lower::OPERATIONS;
use crate::order::{MOST_NUMBERS, Walk, WalkKind};
use crate::{LayerOverrides, Reduce};
use section::sections;

fn accelerator_name() -> String {
    format!("1 to {MAX_NAME} letters, digits, blanks and - _ . + , ( ) / : #, a letter, a digit or _ first")
}

fn description() -> String {
    format!("text of up to {MAX_DESCRIPTION} characters, all of them printed")
}

fn level_name() -> String {
    format!("made of at most {MAX_LEVEL_NAME} letters, digits, `_` and `-`, different for every level")
}

fn permutations() -> String {
    format!(
        "a list of whole numbers, or such lists by layer name or number of products, {MOST_NUMBERS} numbers at most"
    )
}

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
        /// Complete accelerators for single layers, by layer name or index, with the overrides applied.
        layers: LayerOverrides,
    } {
        schema: as (Integer) in 1..=1, "guardbit::hw::schema", "the version of the file format: write `schema: 1`",
            "Version of this file format: 1. Every file states it.";
        name: as (String) is (accelerator_name()), "guardbit::hw::name",
            "the name stands in reports, tables and the comments of generated RTL",
            "Name of the accelerator. Default: the name of the file.";
        description: as (String) is (description()), "guardbit::hw::text", "a line for lists; put numbers in quotes",
            "One line for lists.";
        #[schemars(schema_with = "crate::schema::bases")]
        extends: as (String) is ("text".into()), "guardbit::hw::text", "put numbers in quotes",
            "Preset or file (relative to this one) to start from: maps merge key by key, lists replace the whole list there.";
        clock_mhz: f64 = (300.0), "guardbit::hw::clock", "the clock in MHz",
            "Clock in MHz, 0.000001..=1000000000. Default: 300.";
        array: struct (ArrayFile), "", "", "The array of processing elements.";
        dataflow: Dataflow = (Dataflow::OutputStationary), "guardbit::hw::dataflow", "which operand stays in the array",
            "Which operand stays in the array; decides when and where things happen, and the accumulation levels if \
             `accumulation` is missing. Default: output_stationary.";
        #[serde(default, deserialize_with = "crate::file::short")]
        offload: as (Vec<OpName>) is (operations()), "guardbit::hw::offload",
            "what is not listed runs on the host, exactly",
            "Operations that the accelerator runs; the host runs the others exactly. Default: all multiply-accumulate operations.";
        operands: struct (OperandsFile), "", "", "How operands reach the multiplier.";
        reduction_order: struct (OrderFile), "", "",
            "In which order the products of a dot product are added: axes, slowest first, or a map with `walk`. \
             Default: [kh, kw, ic].";
        product: struct (ProductFile), "", "", "The multiplier's output.";
        #[schemars(length(min = 1, max = 16))]
        #[serde(default, deserialize_with = "crate::file::short")]
        accumulation: struct (Vec<LevelFile>), "", "",
            "Accumulation levels, innermost first, 16 at most; the last one takes `all`. Default: derived from the dataflow, \
             all of them wide enough for everything.";
        bias: struct (BiasFile), "", "", "The bias adder.";
        requantize: struct (RequantizeFile), "", "", "From sums to output codes.";
        timing: struct (TimingFile), "", "", "How cycles are counted.";
        memory: struct (MemoryFile), "", "", "Memories beside the array.";
        host: struct (HostFile), "", "", "The processor that runs what the accelerator does not.";
        packing: struct (PackingFile), "", "", "Lanes that share one adder.";
        #[schemars(with = "Option<std::collections::BTreeMap<String, std::collections::BTreeMap<String, serde_json::Value>>>")]
        layers: struct (Entries<Entries<Value>>), "", "",
            "Overrides for single layers, by name or index: dotted keys with their values, as `accumulation.acc.bits: 16`.";
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
        axes: as (Vec<Name<Axis>>), "guardbit::hw::order", "the slowest axis comes first, as `[kh, kw, ic]`",
            "The axes, slowest first, each once. Default: [kh, kw, ic].";
        walk: as (Name<WalkKind>), "guardbit::hw::order", "how the products are walked",
            "forward. reverse. stride: i, i+n, i+2n, ... for i = 0..n. random: a permutation by `seed`. file: permutations from \
             `file`. For each dot product by itself: sorted (by product, ascending), sign_paired (largest positive, largest \
             negative, and so on), greedy (the sign that brings the sum so far towards 0). Default: forward.";
        stride: as (Integer) in 1..=65536, "guardbit::hw::order", "the distance of a walk of kind `stride`",
            "The n of a strided walk, 1..=65536.";
        seed: as (Integer) in 0..=2_147_483_647, "guardbit::hw::order", "the seed of a walk of kind `random`",
            "The seed of a random walk, 0..=2147483647: the same seed and number of products give the same permutation. Default: 0.";
        file: as (String) is ("the path of a file".into()), "guardbit::hw::order",
            "a JSON or YAML file with the permutations of a walk of kind `file`",
            "JSON or YAML file (relative to this one) with the permutations of a walk of kind file: a list, or lists by layer \
             name or number of products. The k-th number says which product of the flattened axes is added as the k-th.";
        permutations: as (PermutationsFile) is (permutations()), "guardbit::hw::order",
            "each of 0, 1, 2, ... once: which product of the flattened axes is added as the k-th",
            "The contents of `file`, in its place.";
        ic_block: Option<usize> = (None) in 0..=65536, "guardbit::hw::order",
            "the length of the blocks into which the input channels are cut; 0 cuts none",
            "Cuts the input channels into blocks of this length, 0..=65536, which are slower than every axis. Default: 0, \
             no blocks.";
    }

    /// Size of the array of processing elements: at most 1048576 of them in all cores.
    #[derive(Copy, Eq)]
    "array" => ArrayFile, Array {} {
        rows: usize = (16) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Rows, 1..=65536. Default: 16.";
        cols: usize = (16) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Columns, 1..=65536. Default: 16.";
        dot_width: usize = (1) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Products that one processing element adds in one step, 1..=65536. Default: 1.";
        kind: ArrayKind = (ArrayKind::Outputs), "guardbit::hw::array", "what the lanes of a vector engine hold",
            "What the lanes of a vector engine hold. outputs: any outputs, in the order of the output tensor. channels: \
             channels of one pixel, groups one after the other. folded: channels of one pixel, of all groups. block: rows \
             hold pixels of a small rectangle, columns hold channels. Default: outputs.";
        cores: usize = (1) in 1..=64, "guardbit::hw::array", "arrays that share the output channels",
            "Arrays of this size that share the output channels, 1..=64. Default: 1.";
        stripe: usize = (1) in 1..=65536, "guardbit::hw::array", "the size of the array of processing elements",
            "Least number of pixels for which an array of channels keeps its weights, 1..=65536. Default: 1.";
        depthwise: Depthwise = (Depthwise::ByKind), "guardbit::hw::depthwise", "how the groups of a convolution lie on the array",
            "How the groups of depthwise and other grouped convolutions lie on the array; values do not depend on it. by_kind: side \
             by side in vector engines but those of kind channels, else one after the other. serial: one after the other. \
             block_diagonal: as many as there is room for, as one matrix with weights of 0 off its diagonal; not for vector \
             engines. own_inputs: side by side, every lane or column with activations of its own; for output_stationary and \
             vector. Default: by_kind.";
    }

    /// How operands reach the multiplier.
    #[derive(Copy, Eq)]
    "operands" => OperandsFile, Operands {} {
        zero_point: ZeroPoint = (ZeroPoint::Subtract), "guardbit::hw::zero_point",
            "`subtract` takes zero points off before the multiplier, `fold` after",
            "subtract: the multiplier sees codes less their zero points. fold: it sees raw codes, and constants join the \
             bias. Default: subtract.";
    }

    /// The multiplier's output: fitted, then shifted right.
    #[derive(Copy, Eq)]
    "product" => ProductFile, Product {
        /// Width.
        register: Register,
        /// How low bits are dropped.
        round: ShiftRounding,
    } {
        bits: as (Bits), "guardbit::hw::bits",
            "a width in bits, sign included; `auto` is wide enough for everything",
            "Width, 2..=64, or auto: exact. Default: auto.";
        overflow: as (Name<Overflow>), "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a product that does not fit. Default: saturate.";
        signed: as (bool), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the top bit is a sign. Default: true.";
        shift: u32 = (0) in 0..=31, "guardbit::hw::shift", "the number of low bits to drop",
            "Low bits dropped, 0..=31. Default: 0.";
        round: as (Name<RoundKind>), "guardbit::hw::round", "how low bits are dropped",
            "How they are dropped; stochastic is up with the probability of the part dropped. Default: floor.";
        seed: as (Integer) in 0..=2_147_483_647, "guardbit::hw::round", "the seed of stochastic rounding",
            "The seed of stochastic rounding, 0..=2147483647. Default: 0.";
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
        name: as (String) is (level_name()), "guardbit::hw::level_name", "overrides and reports call a level by its name",
            "Name, unique among the levels. Default: acc for a single level, else required.";
        reduce: Reduce = (Reduce::Serial), "guardbit::hw::reduce",
            "how the values of a run become one",
            "How a run is reduced. Default: serial.";
        terms: as (TermsFile), "guardbit::hw::terms",
            "how many values of the level before make one run; the last level takes `all`",
            "Length of a run: a number, rows, cols, dot_width or all. Default: all. The last level takes all.";
        bits: as (Bits), "guardbit::hw::bits",
            "a width in bits, sign included; `auto` is wide enough for everything",
            "Width of the accumulator, 2..=64, or auto: never overflows. Default: auto.";
        overflow: as (Name<Overflow>), "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a sum that does not fit. Default: saturate.";
        signed: as (bool), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the top bit is a sign. Default: true.";
        check: Check = (Check::EachAdd), "guardbit::hw::check",
            "`each_add` looks for overflow at every addition, `hand_over` when the result leaves the level",
            "Where overflow is looked for: each_add, or hand_over (exact inside, fitted once). Default: each_add.";
        shift: u32 = (0) in 0..=31, "guardbit::hw::shift", "the number of low bits to drop",
            "Low bits dropped when the result is handed on, 0..=31. Default: 0.";
        round: as (Name<RoundKind>), "guardbit::hw::round", "how low bits are dropped",
            "How they are dropped; stochastic is up with the probability of the part dropped. Default: floor.";
        seed: as (Integer) in 0..=2_147_483_647, "guardbit::hw::round", "the seed of stochastic rounding",
            "The seed of stochastic rounding, 0..=2147483647. Default: 0.";
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
            "post: after the last level. preload: initial value of the last level. post_requantize: scaled on its own. \
             Default: post.";
        bits: as (BiasBits), "guardbit::hw::bits",
            "a width in bits, sign included; `from_model` is 32, and 64 for biases of 64 bits",
            "Width of the adder, 2..=64, or auto. from_model: 32, and 64 in layers whose bias has 64 bits in the model. \
             Default: from_model.";
        overflow: as (Name<Overflow>), "guardbit::hw::overflow", "what happens to a value that does not fit",
            "What happens to a sum that does not fit. Default: saturate.";
    }

    /// From sums to output codes.
    #[derive(Copy, Eq)]
    "requantize" => RequantizeFile, Requantization {} {
        scheme: Option<Scheme> = (None), "guardbit::hw::scheme", "`from_model` does what the model's runtime does",
            "from_model keeps what the model's runtime does; a scheme replaces it. Default: from_model.";
        output: OutputFit = (OutputFit::Saturate), "guardbit::hw::output",
            "what happens to a result that does not fit the output's codes",
            "What happens to a result that does not fit the output's codes, in the exact run too. saturate: clamped. \
             saturate_symmetric: clamped to a restricted range, -127 to 127 for int8. wrap: its low bits are kept; a fused \
             activation clips before. Default: saturate.";
    }

    /// How cycles are counted.
    #[derive(Copy, Eq)]
    "timing" => TimingFile, Timing {} {
        convention: TimingConvention = (TimingConvention::Overlapped), "guardbit::hw::timing", "how cycles are counted",
            "overlapped: tiles follow each other without draining the array, memory stalls count. scalesim_v3: as SCALE-Sim \
             3.0.0 counts compute cycles. ethos_u: as Arm's compiler for Ethos-U55 estimates NPU cycles, with an array of \
             kind block. Default: overlapped.";
    }

    /// Memories beside the array.
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
            "SRAM for activations in KiB, 0.000001..=1000000000; six decimals count. Default: 256.";
        weight_kib: f64 = (256.0), "guardbit::hw::memory", "sizes are in KiB, rates in bytes per cycle",
            "SRAM for weights in KiB, 0.000001..=1000000000; six decimals count. Default: 256.";
        accumulator_kib: f64 = (64.0), "guardbit::hw::memory", "sizes are in KiB, rates in bytes per cycle",
            "SRAM for sums in KiB, 0.000001..=1000000000; six decimals count. Default: 64.";
        residency: Residency = (Residency::None), "guardbit::hw::memory",
            "which activations stay on the chip between layers",
            "Which activations stay in their SRAM between the layer that makes them and those that read them. none: every layer \
             reads from outside and stores there. fit: those that fit beside what every layer in between needs. Default: none.";
        double_buffer: bool = (true), "guardbit::hw::switch", "write true or false, without quotes",
            "Whether the next tile loads while one computes. Default: true.";
        sram_bytes_per_cycle: as (PortFile), "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle between the SRAM of activations and the array, and as many between that of weights and it, \
             0.000001..=1000000000; six decimals count. A formula grows with the array. Default: max(16, rows, cols) * dot_width.";
        accumulator_bytes_per_cycle: as (PortFile), "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle between the SRAM for sums and the array, written and read, 0.000001..=1000000000; six decimals \
             count. A formula grows with the array. Default: 8 * max(16, cols): a sum of 32 bits per column, written and read.";
        dram_bytes_per_cycle: as (PortFile), "guardbit::hw::memory",
            "rates are in bytes per cycle; a formula has + - * / ( ), min, max, ceil and floor",
            "Bytes per cycle from outside, 0.000001..=1000000000; six decimals count. A formula grows with the array. Default: 8.";
        dram_latency_cycles: u64 = (100) in 0..=1000000000, "guardbit::hw::memory",
            "the cycles before the first byte from outside",
            "Cycles before the first byte from outside, 0..=1000000000. Default: 100.";
        dram_burst_bytes: u64 = (1) in 1..=65536, "guardbit::hw::memory",
            "transfers from and to the outside are rounded up to whole bursts",
            "Bytes of a burst, 1..=65536: every transfer from and to the outside is rounded up to whole bursts. Default: 1.";
        dram_outstanding_bursts: Option<u64> = (None) in 0..=65536, "guardbit::hw::memory",
            "the bursts that can be on their way at a time; 0 is no limit",
            "Bursts that can be on their way at a time, each for dram_latency_cycles, 0..=65536; 0: no limit. Default: 0.";
    }

    // The default is Arm's Cortex-M55, whose vector unit processes 64 bits per cycle ("dual beat").
    /// The processor that runs what the accelerator does not.
    #[derive(Copy)]
    "host" => HostFile, Processor {
        /// Clock in MHz; `None`: that of the accelerator.
        clock_mhz: Option<f64>,
    } {
        lanes: usize = (2) in 1..=65536, "guardbit::hw::host", "elements of 32 bits on which the host works side by side",
            "Elements of 32 bits that it works on side by side, 1..=65536. Default: 2.";
        ops_per_cycle: f64 = (1.0), "guardbit::hw::host", "the operations of a lane per cycle of the host",
            "Operations per lane and cycle: additions, comparisons, multiplications with or without an addition, shifts, loads \
             from a table; 0.000001..=1000000000, six decimals count. Default: 1.";
        bytes_per_cycle: f64 = (8.0), "guardbit::hw::host", "the bytes that the host reads and writes per cycle",
            "Bytes that it reads and writes per cycle, together, 0.000001..=1000000000; six decimals count. Default: 8.";
        clock_mhz: as (Number), "guardbit::hw::host", "the clock of the host in MHz",
            "Clock in MHz, 0.000001..=1000000000. Default: that of the accelerator.";
    }

    /// Lanes that share one adder.
    #[derive(Copy, Eq)]
    "packing" => PackingFile, PackingKeys {} {
        kind: PackingKind = (PackingKind::None), "guardbit::hw::packing", "lanes that share one adder",
            "none: every lane has its own. dsp48e2_int8x2: two output channels share the 48-bit adder of a DSP48E2, 18 bits \
             for the first of them; the innermost level is that adder. Default: none.";
        fixup: Fixup = (Fixup::Lut), "guardbit::hw::packing",
            "what is done about the borrow that a negative low lane takes from the high lane",
            "Of dsp48e2_int8x2. none: a negative low lane takes 1 from the high lane. lut: the low lane's sign is added to \
             the high lane when the lanes leave the adder. Default: lut.";
    }
}
