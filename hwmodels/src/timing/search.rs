//! The tiles of a layer: those that fit the SRAMs and take the fewest cycles.
//!
//! Tiles are whole folds: 1, 2, 3, 4, 6, 8, 12, ... of them along each axis, up to all. What streams through a
//! stationary operand is cut into as few parts as the SRAMs allow, since each part pays for loading the array again. A
//! fold that does not fit is loaded in slices of its terms, where sums stay in place. Of equally fast tiles the one that
//! moves the fewest bytes is taken, then the first: the smallest. Where nothing fits, a tile is one fold, uncut.

use super::Schedule;
use super::mapping::{Cut, Mapping};
use super::overlapped;
use super::tiling::TileOrder;
use super::traffic::{Footprint, Tile, Traffic};
use crate::{ArrayKind, Dataflow, Memory};

/// A mapping with its tile and what follows from it.
pub(super) struct Choice {
    pub mapping: Mapping,
    pub tile: Tile,
    pub traffic: Traffic,
    pub schedule: Schedule,
}

/// The best tiles of a layer.
pub(super) fn search(mapping: &Mapping, footprint: &Footprint<'_>, memory: &Memory) -> Choice {
    let choose = |mapping: Mapping, tile: Tile| {
        let traffic = footprint.traffic(&mapping, &tile);
        let schedule = overlapped::schedule(&mapping.fold(), &traffic, memory);
        Choice { mapping, tile, traffic, schedule }
    };
    let mut best: Option<Choice> = None;
    for (mapping, tile) in candidates(mapping, footprint) {
        let found = choose(mapping, tile);
        let rank = |choice: &Choice| (choice.schedule.cycles, choice.traffic.load + choice.traffic.store);
        if best.as_ref().is_none_or(|best| rank(&found) < rank(best)) {
            best = Some(found);
        }
    }
    best.unwrap_or_else(|| choose(*mapping, footprint.tile(mapping, usize::MAX)))
}

/// The smallest tile that there can be.
pub(super) fn smallest(mapping: &Mapping, footprint: &Footprint<'_>) -> Tile {
    let one = mapping.cut(Cut { parts: mapping.streamed(), ..Cut::NONE });
    let terms = if mapping.stays_in_place() { mapping.layer().array.dot_width } else { usize::MAX };
    footprint.tile(&one, terms)
}

/// Every tile that fits, the smallest first.
fn candidates(mapping: &Mapping, footprint: &Footprint<'_>) -> Vec<(Mapping, Tile)> {
    let grid = mapping.pass().grid;
    let outputs_only =
        mapping.dataflow() == Dataflow::Vector && mapping.layer().array.kind == ArrayKind::Outputs;
    let orders: &[TileOrder] = if outputs_only {
        &[TileOrder::PixelsOuter]
    } else {
        &[TileOrder::ChannelsOuter, TileOrder::PixelsOuter]
    };
    let parts = series(mapping.streamed());
    let mut found = Vec::new();
    for pixels in series(grid[0]) {
        for channels in series(grid[1]) {
            for terms in series(grid[2]) {
                let tile = [pixels, channels, terms];
                let uncut = |parts| mapping.cut(Cut { parts, tile, order: orders[0] });
                let fits = |&parts: &usize| footprint.tile(&uncut(parts), usize::MAX).fits();
                let Some(&parts) = parts.iter().find(|parts| fits(parts)) else { continue };
                found.extend(orders.iter().map(|&order| {
                    let mapping = mapping.cut(Cut { parts, tile, order });
                    (mapping, footprint.tile(&mapping, usize::MAX))
                }));
            }
        }
    }
    if found.is_empty() && mapping.stays_in_place() {
        let one = mapping.cut(Cut { order: orders[0], ..Cut::NONE });
        let (all, dot_width) = (mapping.layer().gemm.terms, mapping.layer().array.dot_width);
        let slice = |parts: usize| all.div_ceil(parts).next_multiple_of(dot_width);
        let slices = series(all).into_iter().map(|parts| footprint.tile(&one, slice(parts)));
        found.extend(slices.filter(Tile::fits).take(1).map(|tile| (one, tile)));
    }
    found
}

/// 1, 2, 3, 4, 6, 8, 12, ... up to `last`, which is always there.
fn series(last: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1usize), |power| power.checked_mul(2));
    let steps = powers.flat_map(|power| if power == 1 { [1, 1] } else { [power, power / 2 * 3] });
    let mut values: Vec<usize> = steps.take_while(|&value| value < last).collect();
    values.push(last.max(1));
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn sizes_that_are_tried() {
        assert_eq!(series(0), [1]);
        assert_eq!(series(1), [1]);
        assert_eq!(series(6), [1, 2, 3, 4, 6]);
        assert_eq!(series(50), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 50]);
    }
}
