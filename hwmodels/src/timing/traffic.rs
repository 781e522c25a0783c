//! Data that a layer moves, and the part of it that the SRAMs hold at a time.
//!
//! An operand that fits its SRAM as a whole is loaded once. Otherwise tiles decide: data shared with the
//! previous tile stays, and all other data is loaded again. Neighbouring stretches of pixels overlap if
//! windows do. Slices of the terms are counted as if no two products of a slice read the same activation,
//! capped at all activations that the stretch reads. Sums stay in their memory until they are complete: they
//! never spill.
//!
//! Biases and requantization constants of the layer are loaded once. While the layer runs they stay in the
//! SRAM of weights, and tiles share the remaining space.
//!
//! If the weights are activations, both operands are in the SRAM of activations and count as activations.
//! Each is loaded once if the SRAM holds both as a whole.

use guardbit_graph::Window;

use super::cost::Moved;
use super::ethos_u;
use super::gemm::Widths;
use super::mapping::Mapping;
use super::rate::{BYTE, bits_of_kib};
use super::sizes::{product, times};
use super::tiling::{TileOrder, Tiling};
use crate::{Accelerator, Memory, TimingConvention};

/// Data that a layer moves, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Bits loaded from external memory in the whole layer, in whole bursts.
    pub load: u128,
    /// Bits stored to external memory in the whole layer: every stored output once, in whole bursts.
    pub store: u128,
    /// Bits between the SRAMs and the array of one core in the whole layer: activations, weights, sums in
    /// both directions.
    pub reads: [u128; 3],
    /// Bits moved along each path in the whole layer, for the arrays of all cores.
    pub moved: Moved,
    /// Number of tiles that are loaded, and of tiles that hold complete sums.
    pub tiles: [u64; 2],
}

/// Part of a layer that the SRAMs hold at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tile {
    /// Output pixels.
    pub pixels: usize,
    /// Output channels of one core. They belong to one group, unless an engine runs groups side by side.
    pub channels: usize,
    /// Products per dot product.
    pub terms: usize,
    /// Order of the tiles.
    pub order: TileOrder,
    /// Number of tiles of the layer, for one core.
    pub count: usize,
    /// Bytes of activations, weights and sums; for an operand that fits as a whole, at most its size.
    pub bytes: [f64; 3],
    /// Bytes available for one tile: half of each memory with double buffering.
    pub room: [f64; 3],
    /// Bits of activations, weights and sums, corresponding to `bytes`.
    pub(super) bits: [u128; 3],
    pub(super) room_bits: [u128; 3],
}

/// Activations of a layer that move between the chip and external memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside {
    /// Whether the input is loaded; otherwise all of it is in the SRAM already.
    pub loads: bool,
    /// Whether the output is stored.
    pub stores: bool,
}

impl Outside {
    /// A layer on its own: loads its input and stores its output.
    pub const ALL: Self = Self { loads: true, stores: true };
}

impl Tile {
    /// Returns whether each memory holds its part.
    pub fn fits(&self) -> bool {
        self.bits.iter().zip(self.room_bits).all(|(bits, room)| *bits <= room)
    }
}

/// Layer as its memories see it. Amounts are in bits.
pub(super) struct Footprint<'a> {
    window: &'a Window,
    memory: &'a Memory,
    widths: Widths,
    outside: Outside,
    /// Whether the weights are activations.
    two_activations: bool,
    sum_bits: u32,
    /// Bits of all activations that are loaded, and of all weights.
    whole: [u128; 2],
    /// Biases and requantization constants.
    constants: u128,
    room: [u128; 3],
    /// Space limit for tiles: the available room, or the smallest tile if it is larger.
    limit: [u128; 3],
}

impl<'a> Footprint<'a> {
    pub fn new(accelerator: &'a Accelerator, window: &'a Window, widths: Widths) -> Self {
        let memory = &accelerator.memory;
        let parts = if memory.double_buffer { 2 } else { 1 };
        let constants = match accelerator.timing.convention {
            TimingConvention::Overlapped => widths.constants.into(),
            TimingConvention::ScalesimV3 => 0,
            TimingConvention::EthosU => ethos_u::constants(window, widths),
        };
        let room = [
            bits_of_kib(memory.activation_kib, parts),
            bits_of_kib(memory.weight_kib, 1).saturating_sub(constants) / parts,
            bits_of_kib(memory.accumulator_kib, parts),
        ];
        let [rows, cols, channels] = window.input;
        let inputs = product([window.batch, rows, cols, channels]);
        let weights = product([window.terms(), window.channels()]);
        Self {
            window,
            memory,
            widths,
            outside: Outside::ALL,
            two_activations: false,
            sum_bits: accelerator.datapath.sum_bits(),
            whole: [bits(inputs, widths.activation), bits(weights, widths.weight)],
            constants,
            room,
            limit: room,
        }
    }

    /// Returns the footprint with activations that stay on the chip. Activations that are not loaded take no
    /// room from tiles.
    pub fn within(self, outside: Outside) -> Self {
        let [activations, weights] = self.whole;
        Self { outside, whole: [if outside.loads { activations } else { 0 }, weights], ..self }
    }

    /// Returns the footprint of a layer whose weights are activations.
    pub fn of_two_activations(self) -> Self {
        Self { two_activations: true, ..self }
    }

    /// Returns the bits of the activation SRAM that a tile occupies. An operand that is loaded once is
    /// present as a whole. Double buffering doubles the space.
    pub fn buffer(&self, tile: &Tile) -> u128 {
        let held = if self.stays(0) { self.shared(self.whole)[0] } else { tile.bits[0] };
        held.saturating_mul(if self.memory.double_buffer { 2 } else { 1 })
    }

    /// Returns the footprint with memories that hold at least `smallest`, the smallest tile.
    pub fn holding(self, smallest: &Tile) -> Self {
        let limit = std::array::from_fn(|part| self.room[part].max(smallest.bits[part]));
        Self { limit, ..self }
    }

    /// Returns the output pixels per line of the image.
    pub fn line(&self) -> usize {
        self.window.output[1].max(1)
    }

    /// Returns whether the memories hold a tile.
    pub fn holds(&self, tile: &Tile) -> bool {
        tile.bits.iter().zip(self.limit).all(|(bits, limit)| *bits <= limit)
    }

    /// Returns whether all activations, or all weights, stay in their SRAM.
    fn stays(&self, operand: usize) -> bool {
        let memory = if self.two_activations { 0 } else { operand };
        self.shared(self.whole)[memory] <= self.limit[memory]
    }

    /// Maps amounts per operand (activations, weights) to amounts per SRAM.
    fn shared(&self, [activations, weights]: [u128; 2]) -> [u128; 2] {
        if self.two_activations { [activations.saturating_add(weights), 0] } else { [activations, weights] }
    }

    /// Returns a tile of a mapping; `terms` is at most the number of products that one tile holds.
    pub fn tile(&self, mapping: &Mapping, terms: usize) -> Tile {
        let (gemm, array, tiling) = (mapping.layer().gemm, mapping.layer().array, mapping.tiling());
        let serial = mapping.serial_groups();
        let beside = gemm.groups.div_ceil(serial.max(1)).max(1);
        let all_channels = (gemm.channels * beside).max(1);
        let unit = mapping.pass().unit;
        let free = mapping.is_free();
        let (pixels, channels) = if free {
            let outputs = times([tiling.tile[0], array.rows, array.cols]);
            (outputs.div_ceil(all_channels), outputs)
        } else {
            (times([tiling.tile[0], unit[0]]), times([tiling.tile[1], unit[1]]))
        };
        let pixels = pixels.clamp(1, gemm.pixels.max(1));
        let channels = channels.clamp(1, all_channels);
        let terms = terms.min(times([tiling.tile[2], unit[2]])).clamp(1, gemm.terms.max(1));

        let split_groups = gemm.groups < self.window.groups;
        // Number of groups that one tile touches, on all cores.
        let groups = channels.div_ceil(gemm.channels.max(1)).min(beside);
        let groups = if split_groups { times([groups, array.cores]) } else { groups };
        let read = self.area(pixels).saturating_mul(gemm.depth as u64).min(product([pixels, terms]));
        let sums = if mapping.stays_in_place() { mapping.used() } else { times([pixels, channels]) };
        let activations = bits(read.saturating_mul(groups as u64), self.widths.activation).min(self.whole[0]);
        let weights = bits(product([terms, channels, array.cores]), self.widths.weight).min(self.whole[1]);
        // Slices of the terms may be finer than folds.
        let whole_terms = Tiling { tile: [tiling.tile[0], tiling.tile[1], tiling.grid[2].max(1)], ..tiling };
        let [activations, weights] = self.shared([activations, weights]);
        let held = [activations, weights, bits(product([sums, array.cores]), self.sum_bits)];
        Tile {
            pixels,
            channels,
            terms,
            order: if free { TileOrder::PixelsOuter } else { tiling.order },
            count: times([whole_terms.tiles(), gemm.terms.div_ceil(terms).max(1), serial]),
            bytes: held.map(bytes),
            room: self.room.map(bytes),
            bits: held,
            room_bits: self.room,
        }
    }

    /// Returns the data that the tiles of a mapping move.
    pub fn traffic(&self, mapping: &Mapping, tile: &Tile) -> Traffic {
        let gemm = mapping.layer().gemm;
        let beside = gemm.groups.div_ceil(mapping.serial_groups().max(1)).max(1);
        let parts = |all: usize, of_tile: usize| all.max(1).div_ceil(of_tile);
        let pixels = parts(gemm.pixels, tile.pixels);
        // Passes of the array may have fewer terms than fit.
        let tiling = mapping.tiling();
        let terms = parts(gemm.terms, tile.terms).max(parts(tiling.grid[2], tiling.tile[2]));
        let channels = parts(times([gemm.channels, beside]), tile.channels);
        // Groups side by side read their own activations, so no stretch of channels reads those of another.
        let again = if beside > 1 { 1 } else { channels };
        let [activations, weights] = match tile.order {
            TileOrder::ChannelsOuter => {
                [if pixels == 1 && terms == 1 { 1 } else { again }, if terms == 1 { 1 } else { pixels }]
            }
            TileOrder::PixelsOuter => {
                [if terms == 1 { 1 } else { again }, if channels == 1 && terms == 1 { 1 } else { pixels }]
            }
        };
        let groups = mapping.serial_groups();
        let load = |operand: usize, once: u128, again: usize, pieces: [usize; 2]| {
            if self.stays(operand) {
                self.bursts(self.whole[operand], 1)
            } else {
                let transfers = product([again, pieces[0], pieces[1], groups]);
                self.bursts(once.saturating_mul(again as u128), transfers)
            }
        };
        let pass = self.sweep(tile, pixels, terms);
        let outputs = bits(self.window.dots() as u64, self.widths.output);
        let of = |elements: [u64; 3]| {
            let [activations, weights, sums] = elements;
            let operands = [bits(activations, self.widths.activation), bits(weights, self.widths.weight)];
            let [activations, weights] = self.shared(operands);
            [activations, weights, bits(sums, self.sum_bits)]
        };
        let all =
            [load(0, pass, activations, [pixels, terms]), load(1, self.whole[1], weights, [channels, terms])];
        let stored = if self.outside.stores { outputs } else { 0 };
        let store = self.bursts(stored, product([pixels, channels, groups]));
        let [activations, weights, sums] = of(mapping.reads_of_all());
        let [loaded_activations, loaded_weights] = self.shared(all);
        let moved = Moved {
            activations,
            weights,
            sums,
            outputs,
            loaded_activations,
            loaded_weights,
            loaded_constants: self.bursts(self.constants, 1),
            stored: store,
        };
        Traffic {
            load: moved.loaded(),
            store,
            reads: of(mapping.reads()),
            moved,
            tiles: [product([pixels, channels, terms, groups]), product([pixels, channels, groups])],
        }
    }

    /// Returns the bits of activations that all stretches of pixels and slices of terms read, each once.
    fn sweep(&self, tile: &Tile, pixels: usize, terms: usize) -> u128 {
        let window = self.window;
        let stretch = |of: usize| {
            let shared = self.area(of).saturating_mul(product([window.input[2], terms]));
            // Activations that the products read, in all groups.
            shared.min(product([of, window.terms(), window.groups.max(1)]))
        };
        let all = times([window.batch, window.output[0], window.output[1]]);
        let others = pixels.saturating_sub(1);
        let last = all.saturating_sub(times([others, tile.pixels]));
        let elements = stretch(tile.pixels).saturating_mul(others as u64).saturating_add(stretch(last));
        bits(elements, self.widths.activation).max(self.whole[0])
    }

    /// Returns the maximum number of input cells that `pixels` consecutive outputs read, at any position.
    fn area(&self, pixels: usize) -> u64 {
        let window = self.window;
        let [rows, cols] = [times([window.batch, window.input[0]]), window.input[1]];
        let all = product([rows, cols]);
        let [lines, width] = [times([window.batch, window.output[0]]), window.output[1].max(1)];
        if pixels >= times([lines, width]) {
            return all;
        }
        let own = product([pixels, window.kernel[0], window.kernel[1]]);
        let (lines_read, width_read) = if pixels.is_multiple_of(width) {
            (pixels / width, width)
        } else if pixels < width && width.is_multiple_of(pixels.max(1)) {
            (1, pixels)
        } else {
            ((pixels + width - 2) / width + 1, width)
        };
        let reach = |axis: usize, outputs: usize| {
            let steps = product([outputs.saturating_sub(1), window.stride[axis]]);
            let cells = product([window.kernel[axis].saturating_sub(1), window.dilation[axis]]);
            steps.saturating_add(cells).saturating_add(1)
        };
        let cells = reach(0, lines_read.min(lines)).saturating_mul(reach(1, width_read).min(cols as u64));
        cells.min(own).min(all)
    }

    /// Returns `bits` bits split into `transfers` transfers, each rounded up to whole bursts.
    fn bursts(&self, bits: u128, transfers: u64) -> u128 {
        if self.memory.dram_burst_bytes <= 1 || bits == 0 {
            return bits;
        }
        let burst = u128::from(self.memory.dram_burst_bytes) * BYTE;
        let all = burst.saturating_mul(transfers.max(1).into());
        bits.div_ceil(all).saturating_mul(all)
    }
}

fn bits(elements: u64, width: u32) -> u128 {
    u128::from(elements) * u128::from(width)
}

/// Converts bits to bytes for messages.
fn bytes(bits: u128) -> f64 {
    bits as f64 / BYTE as f64
}
