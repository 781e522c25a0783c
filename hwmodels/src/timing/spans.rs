//! Tiles and transfers of a layer on its time axis, for timelines.

use std::ops::Range;

use super::LayerTiming;
use super::schedule::Schedule;
use super::tiling::{TileOrder, Tiling};

/// Part of a layer's time that belongs to some consecutive tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Indices of the tiles, in the order of execution over all groups.
    pub tiles: Range<u64>,
    /// Cycles, from the start of the layer.
    pub cycles: Range<u64>,
}

/// Spans of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spans {
    /// Tiles, from the start of each to the start of the next.
    pub tiles: Vec<Span>,
    /// Transfers from external memory for these tiles. Their lengths sum to the busy cycles of loads. The
    /// model knows the total of a layer; an equal share counts for every tile.
    pub loads: Vec<Span>,
    /// Transfers to external memory, likewise.
    pub stores: Vec<Span>,
}

impl LayerTiming {
    /// Returns the number of tiles over all groups.
    pub fn tiles(&self) -> u64 {
        let groups = self.mapping.folds().groups as u64;
        groups.saturating_mul(self.tiling.tiles() as u64)
    }

    /// Returns the spans of tiles and transfers, at most `most` of each kind: if there are more tiles, a span
    /// holds several. No two spans of a kind overlap.
    pub fn spans(&self, most: u64) -> Spans {
        let tiles = self.tiles();
        if tiles == 0 || self.cycles == 0 {
            return Spans::default();
        }
        let each = tiles.div_ceil(most.max(1));
        let starts = (0..tiles.div_ceil(each)).map(|index| index * each);
        let spans: Vec<Span> = starts
            .map(|first| {
                let next = first.saturating_add(each).min(tiles);
                let end = if next == tiles { self.cycles } else { self.tile_start(next) };
                Span { tiles: first..next, cycles: self.tile_start(first)..end }
            })
            .collect();
        let Schedule { gap, transfers: [load, store], .. } = self.schedule;
        let share = |all: u64, tiles: &Range<u64>| self.share(all, tiles.end) - self.share(all, tiles.start);
        // Buffers that are filled while the array works load during the tile before.
        let load_from = |index: usize| match (gap, index) {
            (0, 1..) => spans[index - 1].cycles.start,
            _ => spans[index].cycles.start.saturating_sub(share(load, &spans[index].tiles)),
        };
        // Between two tiles there is room for a store and a load; afterwards only for the store.
        let store_from = |index: usize| {
            let next = spans.get(index + 1).filter(|_| gap > 0).map_or(0, |next| share(load, &next.tiles));
            let room =
                if gap > 0 || index + 1 == spans.len() { share(store, &spans[index].tiles) } else { 0 };
            spans[index].cycles.end.saturating_sub(next.saturating_add(room))
        };
        Spans {
            loads: self.transfers(&spans, load, load_from),
            stores: self.transfers(&spans, store, store_from),
            tiles: spans,
        }
    }

    /// Returns the part of `all` that the first `tiles` tiles take, rounded down.
    fn share(&self, all: u64, tiles: u64) -> u64 {
        let of_all = u128::from(all) * u128::from(tiles) / u128::from(self.tiles().max(1));
        u64::try_from(of_all).unwrap_or(u64::MAX)
    }

    /// Returns transfers that take `all` cycles, each as close to the cycle `from` as its neighbours permit.
    fn transfers(&self, spans: &[Span], all: u64, from: impl Fn(usize) -> u64) -> Vec<Span> {
        let mut free = 0;
        let one = |(index, span): (usize, &Span)| {
            let [before, after] = [span.tiles.start, span.tiles.end].map(|tiles| self.share(all, tiles));
            // What is still to come needs its time, too.
            let latest = self.cycles.saturating_sub(all - before);
            let start = from(index).min(latest).max(free);
            free = start + (after - before);
            Span { tiles: span.tiles.clone(), cycles: start..free }
        };
        if all == 0 { Vec::new() } else { spans.iter().enumerate().map(one).collect() }
    }

    /// Returns the cycle in which the first addition of a tile can happen.
    fn tile_start(&self, tile: u64) -> u64 {
        let of_group = self.tiling.tiles().max(1) as u64;
        let Schedule { lead, fold, of_tile, gap, group, last, .. } = self.schedule;
        let index = self.tiling.first_fold((tile % of_group) as usize) as u64;
        let gaps = if gap == 0 { 0 } else { index / of_tile * gap };
        let in_group = (index * fold).saturating_add(gaps).min(last);
        lead.saturating_add((tile / of_group).saturating_mul(group)).saturating_add(in_group).min(self.cycles)
    }
}

impl Tiling {
    /// Returns how many folds precede the tile at `index`.
    fn first_fold(&self, index: usize) -> usize {
        let parts: [usize; 3] = std::array::from_fn(|axis| self.grid[axis].div_ceil(self.tile[axis]));
        let fast = match self.order {
            TileOrder::ChannelsOuter => 0,
            TileOrder::PixelsOuter => 1,
        };
        let mut at = [0; 3];
        at[2] = index % parts[2];
        at[fast] = index / parts[2] % parts[fast];
        at[1 - fast] = index / parts[2] / parts[fast];
        self.index(std::array::from_fn(|axis| at[axis] * self.tile[axis]))
    }
}
