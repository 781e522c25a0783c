//! What a layer moves, and what of it the SRAMs hold at a time.
//!
//! An operand that fits its SRAM as a whole is loaded once. Otherwise tiles decide: what a tile shares with the one
//! before it stays, everything else is loaded again. Neighbouring stretches of pixels overlap where windows do;
//! slices of the terms are taken as if no two products of a slice read the same activation, if that is less than all
//! that the stretch reads. Sums stay in their memory until they are complete: they never spill.

use guardbit_graph::Window;

use super::gemm::Widths;
use super::mapping::{Mapping, product};
use super::tiling::{TileOrder, Tiling};
use crate::{Accelerator, ArrayKind, Dataflow, Memory};

/// Bytes that a layer moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Traffic {
    /// From outside, in the whole layer, in whole bursts.
    pub load: f64,
    /// To the outside, in the whole layer: every output once, in whole bursts.
    pub store: f64,
    /// Between the SRAMs and the array of one core, in the whole layer: activations, weights, sums in both directions.
    pub reads: [f64; 3],
    /// Between the SRAMs and the arrays of all cores, in the whole layer, outputs included.
    pub sram: f64,
    /// Tiles that are loaded, and tiles that hold complete sums.
    pub tiles: [u64; 2],
}

/// What the SRAMs hold at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tile {
    /// Output pixels.
    pub pixels: usize,
    /// Output channels, of one group and one core unless an engine takes groups side by side.
    pub channels: usize,
    /// Products per dot product.
    pub terms: usize,
    /// Which tile comes next.
    pub order: TileOrder,
    /// Tiles of the layer, of one core.
    pub count: usize,
    /// Bytes of activations, weights and sums; of an operand that fits as a whole, at most those.
    pub bytes: [f64; 3],
    /// Bytes that there are for one tile: half of each memory with double buffering.
    pub room: [f64; 3],
}

impl Tile {
    /// Whether each memory holds its part.
    pub fn fits(&self) -> bool {
        self.bytes.iter().zip(self.room).all(|(bytes, room)| *bytes <= room)
    }
}

/// A layer as its memories see it.
pub(super) struct Footprint<'a> {
    window: &'a Window,
    memory: &'a Memory,
    widths: Widths,
    sum_bits: u32,
    /// All activations and all weights, in bytes.
    whole: [f64; 2],
    room: [f64; 3],
    /// What tiles have to fit: the room, or the smallest tile where that is larger.
    limit: [f64; 3],
}

impl<'a> Footprint<'a> {
    pub fn new(accelerator: &'a Accelerator, window: &'a Window, widths: Widths) -> Self {
        let memory = &accelerator.memory;
        let usable = if memory.double_buffer { 512.0 } else { 1024.0 };
        let room = [memory.activation_kib, memory.weight_kib, memory.accumulator_kib].map(|kib| kib * usable);
        Self {
            window,
            memory,
            widths,
            sum_bits: accelerator.datapath.sum_bits(),
            whole: [
                bytes(window.batch * window.input.iter().product::<usize>(), widths.activation),
                bytes(window.terms() * window.channels(), widths.weight),
            ],
            room,
            limit: room,
        }
    }

    /// The same with memories that hold this tile, the smallest one.
    pub fn holding(self, smallest: &Tile) -> Self {
        let limit = std::array::from_fn(|part| self.room[part].max(smallest.bytes[part]));
        Self { limit, ..self }
    }

    /// Output pixels of a line of the image.
    pub fn line(&self) -> usize {
        self.window.output[1].max(1)
    }

    /// Whether the memories hold a tile.
    pub fn holds(&self, tile: &Tile) -> bool {
        tile.bytes.iter().zip(self.limit).all(|(bytes, limit)| *bytes <= limit)
    }

    /// Whether all activations, or all weights, stay in their SRAM.
    fn stays(&self, operand: usize) -> bool {
        self.whole[operand] <= self.limit[operand]
    }

    /// A tile of a mapping; `terms` are at most as many products as one tile holds.
    pub fn tile(&self, mapping: &Mapping, terms: usize) -> Tile {
        let (gemm, array, tiling) = (mapping.layer().gemm, mapping.layer().array, mapping.tiling());
        let serial = mapping.serial_groups();
        let beside = gemm.groups.div_ceil(serial.max(1)).max(1);
        let all_channels = (gemm.channels * beside).max(1);
        let unit = mapping.pass().unit;
        let free = mapping.dataflow() == Dataflow::Vector && array.kind == ArrayKind::Outputs;
        let (pixels, channels) = if free {
            let outputs = tiling.tile[0] * array.rows * array.cols;
            (outputs.div_ceil(all_channels), outputs)
        } else {
            (tiling.tile[0] * unit[0], tiling.tile[1] * unit[1])
        };
        let pixels = pixels.clamp(1, gemm.pixels.max(1));
        let channels = channels.clamp(1, all_channels);
        let terms = terms.min(tiling.tile[2] * unit[2]).clamp(1, gemm.terms.max(1));

        let split_groups = gemm.groups < self.window.groups;
        let cores = array.cores as f64;
        // Groups that one tile touches, on all cores.
        let groups = channels.div_ceil(gemm.channels.max(1)).min(beside) as f64;
        let groups = if split_groups { groups * cores } else { groups };
        let depth = gemm.depth as f64;
        let read = (self.area(pixels) * depth).min((pixels * terms) as f64);
        let sums = if mapping.stays_in_place() { mapping.used() } else { pixels * channels };
        let of = |elements: f64, bits: u32| elements * f64::from(bits) / 8.0;
        let activations = of(read * groups, self.widths.activation).min(self.whole[0]);
        let weights = of((terms * channels) as f64 * cores, self.widths.weight).min(self.whole[1]);
        Tile {
            pixels,
            channels,
            terms,
            order: if free { TileOrder::PixelsOuter } else { tiling.order },
            // Slices of the terms may be finer than folds.
            count: Tiling { tile: [tiling.tile[0], tiling.tile[1], tiling.grid[2].max(1)], ..tiling }.tiles()
                * gemm.terms.div_ceil(terms).max(1)
                * serial,
            bytes: [activations, weights, of(sums as f64 * cores, self.sum_bits)],
            room: self.room,
        }
    }

    /// What the tiles of a mapping move.
    pub fn traffic(&self, mapping: &Mapping, tile: &Tile) -> Traffic {
        let gemm = mapping.layer().gemm;
        let beside = gemm.groups.div_ceil(mapping.serial_groups().max(1)).max(1);
        let parts = |all: usize, of_tile: usize| all.max(1).div_ceil(of_tile);
        let pixels = parts(gemm.pixels, tile.pixels);
        // Passes of the array may have fewer terms than there is room for.
        let tiling = mapping.tiling();
        let terms = parts(gemm.terms, tile.terms).max(parts(tiling.grid[2], tiling.tile[2]));
        let channels = parts(gemm.channels * beside, tile.channels);
        // Groups side by side read activations of their own: no stretch of channels reads those of another.
        let again = if beside > 1 { 1 } else { channels };
        let [activations, weights] = match tile.order {
            TileOrder::ChannelsOuter => {
                [if pixels * terms == 1 { 1 } else { again }, if terms == 1 { 1 } else { pixels }]
            }
            TileOrder::PixelsOuter => {
                [if terms == 1 { 1 } else { again }, if channels * terms == 1 { 1 } else { pixels }]
            }
        };
        let groups = mapping.serial_groups();
        let load = |operand: usize, once: f64, times: usize, pieces: usize| {
            if self.stays(operand) {
                self.bursts(self.whole[operand], 1)
            } else {
                self.bursts(once * times as f64, times * pieces * groups)
            }
        };
        let pass = self.sweep(tile, pixels, terms);
        let outputs = bytes(self.window.dots(), self.widths.output);
        let of = |elements: [u64; 3]| {
            let [activations, weights, sums] = elements;
            let of = |elements: u64, bits: u32| elements as f64 * f64::from(bits) / 8.0;
            [
                of(activations, self.widths.activation),
                of(weights, self.widths.weight),
                of(sums, self.sum_bits),
            ]
        };
        Traffic {
            load: load(0, pass, activations, pixels * terms)
                + load(1, self.whole[1], weights, channels * terms),
            store: self.bursts(outputs, pixels * channels * groups),
            reads: of(mapping.reads()),
            sram: of(mapping.reads_of_all()).iter().sum::<f64>() + outputs,
            tiles: [product([pixels, channels, terms, groups]), product([pixels, channels, groups])],
        }
    }

    /// Bytes of activations that all stretches of pixels and slices of terms read, each once.
    fn sweep(&self, tile: &Tile, pixels: usize, terms: usize) -> f64 {
        let window = self.window;
        let stretch = |of: usize| {
            let shared = self.area(of) * (window.input[2] * terms) as f64;
            // What the products read, in all groups.
            let own = (of * window.terms() * window.groups.max(1)) as f64;
            shared.min(own)
        };
        let all = window.batch * window.output[0] * window.output[1];
        let last = all - (pixels - 1) * tile.pixels;
        let elements = (pixels - 1) as f64 * stretch(tile.pixels) + stretch(last);
        (elements * f64::from(self.widths.activation) / 8.0).max(self.whole[0])
    }

    /// Cells of the input that `pixels` outputs in a row, at any place, read at most.
    fn area(&self, pixels: usize) -> f64 {
        let window = self.window;
        let all = window.batch * window.input[0] * window.input[1];
        let [rows, cols] = [window.batch * window.output[0], window.output[1].max(1)];
        if pixels >= rows * cols {
            return all as f64;
        }
        let reach = |axis: usize, outputs: usize| {
            (outputs - 1) * window.stride[axis] + (window.kernel[axis] - 1) * window.dilation[axis] + 1
        };
        let own = pixels * window.kernel[0] * window.kernel[1];
        let (lines, width) = if pixels.is_multiple_of(cols) {
            (pixels / cols, cols)
        } else if pixels < cols && cols.is_multiple_of(pixels) {
            (1, pixels)
        } else {
            ((pixels + cols - 2) / cols + 1, cols)
        };
        let cells = reach(0, lines.min(rows)) * reach(1, width).min(window.input[1]);
        cells.min(own).min(all) as f64
    }

    /// So many bytes in so many transfers, each rounded up to whole bursts.
    fn bursts(&self, bytes: f64, transfers: usize) -> f64 {
        let burst = self.memory.dram_burst_bytes as f64;
        if burst <= 1.0 || bytes == 0.0 {
            return bytes;
        }
        let transfers = transfers.max(1) as f64;
        (bytes / transfers / burst).ceil() * burst * transfers
    }
}

fn bytes(elements: usize, bits: u32) -> f64 {
    elements as f64 * f64::from(bits) / 8.0
}
