//! Searches the tiles of a layer: tiles that fit the SRAMs and take the fewest cycles.
//!
//! Along each axis a layer is cut into 1, 2, 3, ... equal parts of whole folds. From 48 parts on, the number
//! grows in steps of an eighth, or in larger steps if there would be too many combinations. Pixels are also
//! cut into whole lines of the image, because such parts share less with their neighbours. The stream through
//! a stationary operand is one fold as long as the tile. If sums stay in place, a single fold may be loaded
//! in slices of its terms. All combinations are tried, in both orders. Lanes that can hold any outputs hold
//! them in the order of the tensor (all channels of some pixels before the next pixels) or hold channels of
//! one pixel, in both orders. Among equally fast tiles the one that moves the fewest bytes wins, then the
//! first, which is the largest.
//!
//! The set of candidates does not depend on the memories, and no tile takes more cycles if they are larger or
//! faster. Therefore the best tile does not either. If even the smallest tile does not fit, memories count as
//! if they just held it.

use super::Doubled;
use super::mapping::{Cut, Mapping};
use super::overlapped::{Faster, Parts};
use super::schedule::Schedule;
use super::sizes::times;
use super::tiling::TileOrder;
use super::traffic::{Footprint, Tile, Traffic};
use crate::{Dataflow, Memory};

/// Numbers of parts up to which every number is tried: the first entry, unless it makes too many
/// combinations.
const DENSE: [usize; 4] = [48, 24, 12, LEAST_DENSE];
const LEAST_DENSE: usize = 6;

/// Maximum number of combinations of sizes along the three axes, if it can be reached.
const COMBINATIONS: usize = 1 << 17;

/// Mapping with its tile and the resulting schedule.
pub(super) struct Choice {
    pub mapping: Mapping,
    pub tile: Tile,
    pub traffic: Traffic,
    /// Schedule, including the compute cycles and the cycles with an ideal external memory, each for the
    /// tiles that are best in that case.
    pub schedule: Schedule,
    /// Busy cycles of the ports of activations, weights and sums.
    pub ports: [u64; 3],
    /// Cycles when one resource is twice as fast, each with the tiles that are best in that case.
    pub doubled: Doubled,
}

/// Returns the best tiles of a layer among the tiles that move at most `most` bits from and to external
/// memory. `footprint` has room for the smallest tile.
pub(super) fn search(mapping: &Mapping, footprint: &Footprint<'_>, memory: &Memory, most: u128) -> Choice {
    struct Found {
        mapping: Mapping,
        tile: Tile,
        traffic: Traffic,
        parts: Parts,
        rank: (u64, u128),
    }
    let found = |(mapping, tile): (Mapping, Tile)| {
        let traffic = footprint.traffic(&mapping, &tile);
        let parts = Parts::new(&mapping.folds(), &traffic, memory);
        let rank = (parts.cycles(), traffic.moved.outside());
        Found { mapping, tile, traffic, parts, rank }
    };
    let mut best: Option<(Found, Faster)> = None;
    candidates(mapping, footprint, |candidate| {
        let found = found(candidate);
        if found.rank.1 > most {
            return;
        }
        let faster = found.parts.faster();
        best = Some(match best.take() {
            None => (found, faster),
            Some((best, least)) => (if found.rank < best.rank { found } else { best }, least.least(faster)),
        });
    });
    let (Found { mapping, tile, traffic, parts, .. }, least) = best.unwrap_or_else(|| {
        let whole = found((*mapping, footprint.tile(mapping, usize::MAX)));
        let faster = whole.parts.faster();
        (whole, faster)
    });
    let schedule = Schedule { compute: least.compute, inside: least.inside, ..parts.schedule() };
    Choice { mapping, tile, traffic, schedule, ports: parts.ports(), doubled: least.doubled }
}

/// Returns the smallest possible tile.
pub(super) fn smallest(mapping: &Mapping, footprint: &Footprint<'_>) -> Tile {
    let one = mapping.cut(Cut { stream: 1, ..Cut::NONE });
    let terms = if mapping.stays_in_place() { mapping.layer().array.dot_width } else { usize::MAX };
    footprint.tile(&one, terms)
}

/// Which cuts are tried.
#[derive(Clone, Copy)]
struct Cuts {
    /// Number of parts up to which every number is tried.
    dense: usize,
    /// Whether channels go one after another.
    by_channel: bool,
}

/// Passes every tile that fits to `each`. They are not collected, because there may be many.
fn candidates(mapping: &Mapping, footprint: &Footprint<'_>, mut each: impl FnMut((Mapping, Tile))) {
    let dense = density(mapping);
    let of = |by_channel| Cuts { dense, by_channel };
    tiles(mapping, footprint, of(false), &mut each);
    slices(mapping, footprint, of(false), &mut each);
    if mapping.can_go_by_channel() {
        tiles(mapping, footprint, of(true), &mut each);
        slices(mapping, footprint, of(true), &mut each);
    }
}

/// Passes every tile of whole folds to a closure.
fn tiles(
    mapping: &Mapping,
    footprint: &Footprint<'_>,
    Cuts { dense, by_channel }: Cuts,
    each: &mut impl FnMut((Mapping, Tile)),
) {
    let sizes = |all| sizes(all, dense);
    let streams = match mapping.dataflow() {
        Dataflow::WeightStationary => with_lines(sizes(mapping.streamed()), footprint.line(), 1),
        _ => sizes(mapping.streamed()),
    };
    for stream in streams {
        let streamed = mapping.cut(Cut { stream, by_channel, ..Cut::NONE });
        let grid = streamed.pass().grid;
        let whole = streamed.pass().unit[0];
        let [pixels, channels] = match mapping.dataflow() {
            Dataflow::WeightStationary => [vec![1], sizes(grid[1])],
            Dataflow::InputStationary => [sizes(grid[0]), vec![1]],
            Dataflow::OutputStationary | Dataflow::Vector => {
                [with_lines(sizes(grid[0]), footprint.line(), whole), sizes(grid[1])]
            }
        };
        let terms = sizes(grid[2]);
        for &pixels in &pixels {
            for &channels in &channels {
                for &terms in &terms {
                    let tile = [pixels, channels, terms];
                    let cut = |order| mapping.cut(Cut { stream, tile, order, by_channel });
                    let held = footprint.tile(&cut(TileOrder::ChannelsOuter), usize::MAX);
                    if !footprint.holds(&held) {
                        continue;
                    }
                    for &order in orders(&streamed) {
                        each((cut(order), Tile { order, ..held }));
                    }
                }
            }
        }
    }
}

/// Passes every single fold in slices of its terms to a closure.
fn slices(
    mapping: &Mapping,
    footprint: &Footprint<'_>,
    Cuts { dense, by_channel }: Cuts,
    each: &mut impl FnMut((Mapping, Tile)),
) {
    if !mapping.stays_in_place() {
        return;
    }
    let dot_width = mapping.layer().array.dot_width;
    let cut = |order| mapping.cut(Cut { order, by_channel, ..Cut::NONE });
    for steps in sizes(mapping.layer().steps(), dense) {
        let held = footprint.tile(&cut(TileOrder::ChannelsOuter), times([steps, dot_width]));
        if footprint.holds(&held) {
            let orders = orders(&cut(TileOrder::ChannelsOuter));
            orders.iter().for_each(|&order| each((cut(order), Tile { order, ..held })));
        }
    }
}

/// Returns the number of parts up to which every number is tried: the largest that keeps the combinations few
/// enough.
fn density(mapping: &Mapping) -> usize {
    let [pixels, channels, terms] = mapping.cut(Cut { stream: 1, ..Cut::NONE }).pass().grid;
    let axes = match mapping.dataflow() {
        Dataflow::WeightStationary => [mapping.streamed(), channels, terms],
        Dataflow::InputStationary => [mapping.streamed(), pixels, terms],
        Dataflow::OutputStationary | Dataflow::Vector => [pixels, channels, terms],
    };
    let few =
        |&dense: &usize| axes.iter().map(|&all| sizes(all, dense).len()).product::<usize>() <= COMBINATIONS;
    DENSE.into_iter().find(few).unwrap_or(DENSE[DENSE.len() - 1])
}

/// Returns the orders to try. Lanes that hold outputs in the order of the tensor take all channels of some
/// pixels before the next pixels.
fn orders(mapping: &Mapping) -> &'static [TileOrder] {
    if mapping.is_free() {
        &[TileOrder::PixelsOuter]
    } else {
        &[TileOrder::ChannelsOuter, TileOrder::PixelsOuter]
    }
}

/// Returns the sizes of 1, 2, 3, ... equal parts of `all`, largest first; the last one is 1. From `dense`
/// parts on, the number of parts grows by a fraction of itself.
fn sizes(all: usize, dense: usize) -> Vec<usize> {
    let all = all.max(1);
    let next = |&parts: &usize| {
        let more = if parts < dense { 1 } else { parts / (dense / LEAST_DENSE) };
        (parts < all).then(|| parts.saturating_add(more).min(all))
    };
    let mut sizes: Vec<usize> =
        std::iter::successors(Some(1), next).map(|parts| all.div_ceil(parts)).collect();
    sizes.dedup();
    sizes
}

/// Adds to `sizes` each size rounded up to whole lines of `line` pixels, where `unit` pixels form one unit of
/// size.
fn with_lines(mut sizes: Vec<usize>, line: usize, unit: usize) -> Vec<usize> {
    let most = sizes.first().copied().unwrap_or(1);
    // Number of units that make up whole lines.
    let lines = line / gcd(line, unit);
    let whole: Vec<usize> =
        sizes.iter().map(|size| size.next_multiple_of(lines)).filter(|&size| size < most).collect();
    sizes.extend(whole);
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use guardbit_graph::Window;
    use proptest::prelude::*;

    use super::*;
    use crate::timing::{Gemm, Widths};
    use crate::{Accelerator, Array};

    #[test]
    fn sizes_that_are_tried() {
        assert_eq!(sizes(0, 48), [1]);
        assert_eq!(sizes(1, 48), [1]);
        assert_eq!(sizes(6, 48), [6, 3, 2, 1]);
        assert_eq!(sizes(50, 48), [50, 25, 17, 13, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        assert!(sizes(1 << 28, 48).len() < 220);
        assert_eq!(sizes(50, 6), [50, 25, 17, 13, 10, 9, 5, 3, 2, 1]);
        assert!(sizes(1 << 28, 6).len() < 34);
        assert_eq!(with_lines(sizes(6, 48), 4, 1), [6, 4, 3, 2, 1]);
        assert_eq!(with_lines(sizes(9, 48), 4, 2), [9, 6, 5, 4, 3, 2, 1]);
    }

    /// Returns the cycles of the best of all tiles, in every size, with one fold per stream.
    fn best(mapping: &Mapping, footprint: &Footprint<'_>, memory: &Memory) -> u64 {
        let mut least = u64::MAX;
        for stream in 1..=mapping.streamed() {
            for by_channel in [false, true].into_iter().take(1 + usize::from(mapping.can_go_by_channel())) {
                let [pixels, channels, terms] =
                    mapping.cut(Cut { stream, by_channel, ..Cut::NONE }).pass().grid;
                for at in 0..pixels * channels * terms {
                    let tile = [at % pixels + 1, at / pixels % channels + 1, at / pixels / channels + 1];
                    let streams = match mapping.dataflow() {
                        Dataflow::WeightStationary => tile[0],
                        Dataflow::InputStationary => tile[1],
                        Dataflow::OutputStationary | Dataflow::Vector => 1,
                    };
                    if streams > 1 {
                        continue;
                    }
                    for &order in orders(&mapping.cut(Cut { by_channel, ..Cut::NONE })) {
                        let mapping = mapping.cut(Cut { stream, tile, order, by_channel });
                        let sliced = mapping.stays_in_place() && tile == [1; 3];
                        let slices = if sliced { mapping.layer().steps() } else { 0 };
                        let slices = (1..=slices).map(|steps| steps * mapping.layer().array.dot_width);
                        for terms in slices.chain([usize::MAX]) {
                            let held = footprint.tile(&mapping, terms);
                            if footprint.holds(&held) {
                                let traffic = footprint.traffic(&mapping, &held);
                                least = least.min(Parts::new(&mapping.folds(), &traffic, memory).cycles());
                            }
                        }
                    }
                }
            }
        }
        least
    }

    proptest! {
        /// No tile of any other size takes fewer cycles than the search's result.
        #[test]
        fn no_other_tile_is_faster(
            dataflow in proptest::sample::select(vec![
                Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::Vector,
            ]),
            array in (1..5usize, 1..5usize, 1..3usize),
            sizes in (1..24usize, 1..20usize, 1..12usize, 1..3usize),
            kib in (0.01..0.4f64, 0.01..0.4f64, 0.01..0.4f64),
            rates in (0.5..20.0f64, 0.5..20.0f64, 0.5..20.0f64),
            double_buffer in any::<bool>(),
        ) {
            let preset = crate::load("exact-int32-os", &[]).unwrap();
            let memory = Memory {
                activation_kib: kib.0,
                weight_kib: kib.1,
                accumulator_kib: kib.2,
                sram_bytes_per_cycle: rates.0,
                accumulator_bytes_per_cycle: rates.1,
                dram_bytes_per_cycle: rates.2,
                double_buffer,
                ..preset.memory
            };
            let accelerator = Accelerator { dataflow, array: Array::new(array.0, array.1, array.2), memory, ..preset };
            let (pixels, terms, channels, groups) = sizes;
            let window = Window {
                batch: 1,
                input: [1, pixels, terms * groups],
                output: [1, pixels, channels * groups],
                kernel: [1, 1, terms],
                stride: [1; 2],
                dilation: [1; 2],
                pad: [0; 2],
                groups,
            };
            let mapping = Mapping::new(&accelerator, Gemm::of(&window));
            let constants = 72 * (channels * groups) as u64;
            let widths = Widths { activation: 8, weight: 8, output: 8, constants };
            let footprint = Footprint::new(&accelerator, &window, widths);
            let smallest = smallest(&mapping, &footprint);
            let footprint = footprint.holding(&smallest);
            let found = search(&mapping, &footprint, &memory, u128::MAX).schedule.cycles;
            prop_assert_eq!(found, best(&mapping, &footprint, &memory));
        }
    }
}
