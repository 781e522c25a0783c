//! NPU cycles of a layer as estimated by Arm's compiler for Ethos-U55 (ethos-u-vela 5.2.0).
//!
//! The array has kind `block`. `rows` pixels by `cols` channels with `dot_width` products each form a
//! micro-block, which the hardware computes at once. The layer is cut into blocks of outputs that fit the
//! shared RAM (`accumulator_kib`) together with the activations they need. A block takes
//!
//! ```text
//! dpu    = ceil(C / ifm depth) * sum over windows of up to 8x8 (max(4 * cols, 4 * Uxy) * window * Uz + delay)
//! out    = max(64 / MACs * elements, 10 * depth * latency / 256)
//! cmd    = (activation transfer + output transfer + dpu + out) / 4
//! op     = max(dpu, out, cmd) * blocks + the other of dpu and out
//! ```
//!
//! Here U is the number of micro-blocks per block and axis. With few input channels, four cells of the window
//! share a step ("part kernel"), and `window` is `ceil(cells / 4) * ceil(ifm depth / 8)`. A depthwise layer
//! takes `4 * Uxy * ceil(cells / 4) * Uz`. The operation, the SRAM and the flash work in parallel, and the
//! slowest of them sets the time of the layer:
//!
//! ```text
//! cycles = max(op, sram bytes / sram_bytes_per_cycle, weight bytes / dram_bytes_per_cycle + latency)
//! ```
//!
//! Weights are read again for every block of pixels. They come from the flash if that takes no longer than
//! the operation, and always in fully connected layers. Otherwise they are copied once from the flash into a
//! buffer in the SRAM and read from there. SRAM bytes are the activations of every block (including halos and
//! repetitions), the outputs, and the buffered weights. Depths are rounded up to 16, and blocks one pixel
//! wide use half of a burst. The compiler takes the block with the least traffic, unless the block with the
//! fewest cycles saves at least a tenth.
//!
//! Simplifications (measured in `docs/reference/time.md`): compressed weights take 0.9 of their bytes, plus 10
//! bytes of bias and scale per channel. Activations stay in the SRAM. No layer waits for the weights of its
//! first block, which arrive during the previous layer.

use guardbit_graph::Window;

use super::gemm::Widths;
use super::mapping::Folds;
use super::schedule::Schedule;
use super::sizes::times;
use crate::{Accelerator, Array, Memory};

/// Latency in cycles and burst in bytes of the SRAM in the compiler's system configuration
/// `Ethos_U55_High_End_Embedded`.
const SRAM_LATENCY: f64 = 32.0;
const SRAM_BURST: usize = 32;
/// Channels stored together in the SRAM: a brick of NHCWB16. The depth of a block is a multiple of it.
const BRICK: usize = 16;
/// Maximum channels of an image, which is stored in the SRAM pixel by pixel.
const IMAGE_DEPTH: usize = 4;
/// Largest block of outputs: rows, columns, channels.
const MAX_BLOCK: [usize; 3] = [32, 64, 128];
/// Bytes of a channel's bias and scale: 40 bits of bias, 32 of scale, 8 with the shift.
const SCALE_BYTES: u32 = 10;
/// Cycle ratio below which the faster block is taken. Fitted to the compiler's figures.
const WORTH: f64 = 0.9;
/// Ratio of compressed weight bytes to code bytes. In trained layers it is 0.72 to 0.98; depthwise layers are
/// not compressed.
const COMPRESSED: f64 = 0.9;

/// Returns the bits of a layer's biases and scales, which are transferred with its weights.
pub(super) fn constants(window: &Window, widths: Widths) -> u128 {
    let per_channel = if widths.weight == 0 { 0 } else { 8 * u128::from(SCALE_BYTES) };
    per_channel * window.channels() as u128
}

pub(super) fn schedule(
    folds: &Folds,
    window: &Window,
    widths: Widths,
    accelerator: &Accelerator,
) -> Schedule {
    let layer = Layer::new(window, widths, accelerator);
    let least = folds.all().saturating_mul(folds.span() as u64);
    let Times { operation, sram, flash } = layer.times();
    let compute = (operation as u64).max(least);
    let inside = (sram as u64).max(compute);
    let cycles = (flash as u64).max(inside);
    let fold = cycles.checked_div(folds.all()).unwrap_or(0);
    let group = (folds.count as u64).saturating_mul(fold);
    let busy = [sram as u64, flash as u64];
    Schedule {
        lead: 0,
        fold,
        of_tile: 1,
        gap: 0,
        group,
        last: u64::MAX,
        compute,
        inside,
        busy,
        // Activations stay in the SRAM.
        transfers: [flash as u64, 0],
        cycles,
    }
}

/// Layer as the compiler sees it. Sizes are `[rows, columns, channels]`.
struct Layer<'a> {
    array: Array,
    memory: &'a Memory,
    input: [usize; 3],
    output: [usize; 3],
    /// Size of the dilated window.
    kernel: [usize; 2],
    stride: [usize; 2],
    depthwise: bool,
    /// Whether each output is one dot product without a window; such weights are not buffered.
    fully_connected: bool,
    part_kernel: bool,
    activation_bytes: usize,
    /// Bytes of weights loaded from external memory, including biases and scales.
    weight_bytes: f64,
    /// Columns and rows of the micro-block.
    unit: [usize; 3],
}

/// Block of outputs and the activations that it needs.
#[derive(Clone, Copy)]
struct Block {
    output: [usize; 3],
    input: [usize; 3],
}

impl<'a> Layer<'a> {
    fn new(window: &Window, widths: Widths, accelerator: &'a Accelerator) -> Self {
        let array = accelerator.array;
        let unit_rows = if array.rows >= 4 { 2 } else { 1 };
        let kernel = [window.kernel[0], window.kernel[1]];
        let depthwise = window.groups > 1;
        let depth = window.input[2];
        let cells = kernel[0] * kernel[1];
        let rounded = |value: usize, to: usize| value.next_multiple_of(to) as f64;
        let by_depth = depth as f64 / rounded(depth, 32);
        let by_part = (depth * cells) as f64 / (rounded(depth, 8) * rounded(cells, 4));
        let fully_connected = window.output[..2] == [1, 1] && cells == 1;
        let codes = times([window.terms(), window.channels()]) as f64 * f64::from(widths.weight) / 8.0;
        let scales = constants(window, widths) as f64 / 8.0;
        let weight_bytes = if depthwise { codes + scales } else { COMPRESSED * codes + scales };
        let dilated = |axis: usize| window.kernel[axis].saturating_sub(1) * window.dilation[axis] + 1;
        Self {
            array,
            memory: &accelerator.memory,
            input: at_least_one(window.input),
            output: at_least_one([
                times([window.batch, window.output[0]]),
                window.output[1],
                window.channels(),
            ]),
            kernel: [dilated(0), dilated(1)],
            stride: window.stride,
            depthwise,
            fully_connected,
            part_kernel: !fully_connected && (depth <= 8 || by_part > by_depth),
            activation_bytes: (widths.activation as usize).div_ceil(8),
            weight_bytes,
            unit: [unit_rows, (array.rows / unit_rows).max(1), array.cols],
        }
    }

    /// Returns the block with the least traffic per output among the blocks that fit the shared RAM, and the
    /// block with the fewest cycles.
    fn blocks(&self) -> [Block; 2] {
        let limit = |axis: usize| self.output[axis].min(MAX_BLOCK[axis]).next_multiple_of(self.unit[axis]);
        let first = self.block(self.unit);
        let (mut lean, mut fast) = ((f64::INFINITY, f64::INFINITY, first), (f64::INFINITY, first));
        for depth in self.depths(limit(2)) {
            for rows in (self.unit[0]..=limit(0)).step_by(self.unit[0]) {
                for cols in (self.unit[1]..=limit(1)).step_by(self.unit[1]) {
                    let block = self.block([rows, cols, depth]);
                    if !self.fits(block) {
                        continue;
                    }
                    let cycles = self.operation(block, self.output[2]);
                    if cycles < fast.0 {
                        fast = (cycles, block);
                    }
                    let (traffic, cover) = (self.traffic(block), self.coverage(block));
                    // A tie goes to the block that covers more of a small input.
                    if traffic < lean.0 {
                        lean = (traffic, f64::INFINITY, block);
                    } else if traffic == lean.0 && cover <= lean.1 && rows <= 4 && cols <= 4 {
                        lean = (traffic, cover, block);
                    }
                }
            }
        }
        [lean.2, fast.1]
    }

    fn depths(&self, limit: usize) -> Vec<usize> {
        let round = |depth: usize| {
            if depth < self.output[2] { depth.next_multiple_of(BRICK) } else { depth }
        };
        let mut depths = Vec::new();
        let mut depth = round(self.unit[2].max(limit.min(BRICK)));
        while depth <= limit {
            depths.push(depth);
            depth = round(depth + self.unit[2]);
        }
        depths
    }

    fn block(&self, output: [usize; 3]) -> Block {
        let reach = |axis: usize| {
            let window = self.kernel[axis].min(8);
            ((output[axis] - 1) * self.stride[axis] + window).next_multiple_of(self.unit[axis])
        };
        let depth = if self.depthwise {
            output[2]
        } else {
            let most = if self.part_kernel || self.activation_bytes > 1 { 16 } else { 32 };
            self.input[2].min(most).next_multiple_of(8)
        };
        Block { output, input: [reach(0), reach(1), depth] }
    }

    /// Returns whether a block fits the shared RAM. Activations and sums take banks of 1 KiB, twice each. Two
    /// more banks hold outputs, and two are reserved in the larger configurations.
    fn fits(&self, block: Block) -> bool {
        let (granule, total) = {
            let macs = self.array.rows * self.array.cols * self.array.dot_width;
            let granule = if macs >= 256 {
                8
            } else if macs >= 128 {
                4
            } else {
                2
            };
            let total = self.memory.accumulator_kib as usize;
            (granule, if total > 16 { total - 2 } else { total })
        };
        let banks = |bytes: usize, granule: usize| (bytes.div_ceil(1024) * 2).next_multiple_of(granule);
        let [rows, cols, depth] = block.input;
        let input = times([rows, cols, (depth * self.activation_bytes).next_multiple_of(8)]);
        let [mut rows, cols, depth] = block.output;
        if self.flat() {
            rows = 1;
        }
        let sum_bytes = if self.activation_bytes > 1 { 5 } else { 4 };
        let sums = times([rows, cols, depth.next_multiple_of(8), sum_bytes]);
        banks(input, granule).saturating_add(banks(sums, 2 * granule)) <= total.saturating_sub(2)
    }

    /// Returns whether the output is one row of pixels on micro-blocks of two rows.
    fn flat(&self) -> bool {
        self.output[0] == 1 && self.kernel[0] == 1 && self.unit[0] == 2
    }

    /// Returns the elements of activations and weights fetched per output.
    fn traffic(&self, block: Block) -> f64 {
        let part = |axis: usize| self.output[axis] as f64 / block.output[axis] as f64;
        let whole = |axis: usize| self.output[axis].div_ceil(block.output[axis]) as f64;
        let depth = self.input[2] as f64;
        let cells = if self.fully_connected { 0 } else { times(self.kernel) } as f64;
        let repeats = times([self.kernel[0].div_ceil(8), self.kernel[1].div_ceil(8)]) as f64;
        let mut weights = cells * depth * whole(0) * whole(1);
        let mut inputs = times([block.input[0], block.input[1]]) as f64 * depth * repeats * part(0) * part(1);
        if !self.depthwise {
            weights *= block.output[2] as f64 * part(2);
            inputs *= whole(2);
        }
        let cost = (inputs + weights) / times(self.output) as f64;
        let [rows, cols, depth] = block.input;
        let twice = times([2, rows, cols, depth]);
        if times(self.input) < twice { cost / 2.0 } else { cost }
    }

    fn coverage(&self, block: Block) -> f64 {
        let covered: usize = (0..2).map(|axis| self.input[axis].min(block.input[axis])).product();
        (self.input[0] * self.input[1]) as f64 / covered as f64
    }

    /// Returns the cycles of the first `depth` output channels, with all weights available.
    fn operation(&self, block: Block, depth: usize) -> f64 {
        let output = [self.output[0], self.output[1], depth];
        let mut block_out: [usize; 3] = std::array::from_fn(|axis| output[axis].min(block.output[axis]));
        let input: [usize; 3] = std::array::from_fn(|axis| self.input[axis].min(block.input[axis]));
        let mut unit = self.unit;
        if self.flat() && output[1].is_multiple_of(2) && !self.part_kernel {
            (unit, block_out[0]) = ([1, 4, unit[2]], 1);
        }
        let units: [usize; 3] = std::array::from_fn(|axis| block_out[axis].div_ceil(unit[axis]));
        let dpu = self.dot_products(units, input[2]);
        let elements = block_out.iter().product::<usize>() as f64;
        let macs = (self.array.rows * self.array.cols * self.array.dot_width) as f64;
        let latency =
            if self.fully_connected { self.memory.dram_latency_cycles as f64 } else { SRAM_LATENCY };
        let out = (64.0 / macs * elements).ceil().max(10.0 * block_out[2] as f64 * latency / 256.0);
        let transfer = |size: [usize; 3], cols: usize| {
            let bytes = times(size) as f64 * self.activation_bytes as f64;
            SRAM_LATENCY + bytes * self.burst_share(BRICK * cols) / self.memory.sram_bytes_per_cycle
        };
        let command =
            (transfer(input, block.input[1]) + transfer(block_out, block.output[1]) + dpu + out) / 4.0;
        let blocks: usize = (0..3).map(|axis| output[axis].div_ceil(block_out[axis])).product();
        let (dpu, out) = (dpu.max(command), out.max(command));
        dpu.max(out) * blocks as f64 + dpu.min(out)
    }

    /// Returns the cycles of the dot products of one block.
    fn dot_products(&self, units: [usize; 3], input_depth: usize) -> f64 {
        let pixels = units[0] * units[1];
        let pace = (4 * self.array.cols).max(4 * pixels);
        let wide = if self.activation_bytes > 1 { 2 } else { 1 };
        let chunks = input_depth.div_ceil(8);
        let window = |cells: usize| {
            let (window, steps) = if self.depthwise {
                (pace.max(4 * pixels * wide) * cells.div_ceil(4) * units[2], cells.div_ceil(4))
            } else if self.part_kernel {
                let steps = (cells * wide).div_ceil(4);
                (pace * steps * chunks * units[2], steps)
            } else {
                (pace * cells * units[2], cells)
            };
            window + self.delay(units, steps) * if self.part_kernel && !self.depthwise { chunks } else { 1 }
        };
        let mut cycles = 0usize;
        for (rows, of_rows) in pieces(self.kernel[0]) {
            for (cols, of_cols) in pieces(self.kernel[1]) {
                cycles = cycles.saturating_add(times([of_rows, of_cols, window(rows * cols)]));
            }
        }
        let passes = if self.depthwise { 1 } else { self.input[2].div_ceil(input_depth.max(1)) };
        times([cycles, passes]) as f64
    }

    /// Returns the cycles in which a single micro-block waits for its own sums.
    fn delay(&self, units: [usize; 3], steps: usize) -> usize {
        let pause = if self.array.cols < 8 { 3 } else { 2 };
        match units {
            [1, 1, 1] => pause * steps,
            [1, 1, depth] => pause * steps.saturating_sub(1) * depth,
            _ => 0,
        }
    }

    /// Returns the time of a block transfer relative to one in whole bursts, if `elements` elements are
    /// contiguous.
    fn burst_share(&self, elements: usize) -> f64 {
        let together = elements.saturating_mul(self.activation_bytes).clamp(1, SRAM_BURST);
        SRAM_BURST as f64 / together as f64
    }

    /// Returns the cycles of operation, SRAM and flash with these blocks.
    fn times_of(&self, block: Block) -> Times {
        let operation = self.operation(block, self.output[2]);
        let count =
            |axis: usize| self.output[axis].div_ceil(self.output[axis].min(block.output[axis]).max(1));
        let pixels = times([count(0), count(1)]) as f64;
        let passes = if self.depthwise { 1 } else { count(2) };
        let repeats = times([self.kernel[0].div_ceil(8), self.kernel[1].div_ceil(8), passes]) as f64;
        let depth = self.input[2];
        // Contiguous data: the pixels of a brick, or the channels of a pixel.
        let (depth, together) = if depth <= IMAGE_DEPTH {
            (depth, block.input[2])
        } else {
            (depth.next_multiple_of(BRICK), BRICK * block.input[1])
        };
        let read =
            times([self.input[0].min(block.input[0]), self.input[1].min(block.input[1]), depth]) as f64;
        let read = read * pixels * repeats * self.burst_share(together);
        let [rows, cols, channels] = self.output;
        let written = times([rows, cols, channels.next_multiple_of(BRICK)]) as f64;
        let written = written * self.burst_share(BRICK * block.output[1]);
        let mut sram = (read + written) * self.activation_bytes as f64;
        let again = self.weight_bytes * pixels;
        let flash_rate = self.memory.dram_bytes_per_cycle;
        let outside = if self.fully_connected || again / flash_rate <= operation {
            again
        } else {
            sram += again;
            self.weight_bytes
        };
        let latency = if outside > 0.0 { self.memory.dram_latency_cycles as f64 } else { 0.0 };
        Times {
            operation,
            sram: sram / self.memory.sram_bytes_per_cycle,
            flash: outside / flash_rate + latency,
        }
    }

    /// Returns the cycles with the blocks that the compiler takes.
    fn times(&self) -> Times {
        let [lean, fast] = self.blocks().map(|block| self.times_of(block));
        let inside = |times: &Times| times.operation.max(times.sram);
        if !self.fully_connected && inside(&fast) < WORTH * inside(&lean) { fast } else { lean }
    }
}

/// Cycles of the resources that work in parallel.
struct Times {
    /// Cycles of the array.
    operation: f64,
    /// Cycles of the SRAM.
    sram: f64,
    /// Cycles of the external memory.
    flash: f64,
}

/// Returns the sizes of the pieces of at most 8 into which a size is cut, each with its count.
fn pieces(size: usize) -> impl Iterator<Item = (usize, usize)> {
    [(8, size / 8), (size % 8, 1)].into_iter().filter(|&(length, count)| length > 0 && count > 0)
}

/// Replaces 0 by 1: an empty axis counts as one.
fn at_least_one(sizes: [usize; 3]) -> [usize; 3] {
    sizes.map(|size| size.max(1))
}
