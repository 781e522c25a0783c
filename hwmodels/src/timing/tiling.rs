//! Order in which the folds of a group are walked: tile by tile.
//!
//! A tile is the part of a layer that the SRAMs hold at a time. Within a tile, folds walk the terms first,
//! then the pixels, then the channels. Tiles walk the terms first too, so that a tile's sums are complete
//! before the next pixels or channels begin, and a dot product keeps its order.

use super::sizes::times;

/// Order of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileOrder {
    /// All pixels of some channels, then the next channels: weights stay, activations are read again.
    ChannelsOuter,
    /// All channels of some pixels, then the next pixels: activations stay, weights are read again.
    PixelsOuter,
}

impl TileOrder {
    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChannelsOuter => "channels_outer",
            Self::PixelsOuter => "pixels_outer",
        }
    }
}

/// Folds of a group and their grouping into tiles. Sizes are along pixels, channels and terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Number of folds.
    pub grid: [usize; 3],
    /// Folds of a tile; tiles at the edges may have fewer.
    pub tile: [usize; 3],
    pub order: TileOrder,
}

impl Tiling {
    /// Returns the number of folds of a group.
    pub fn folds(&self) -> usize {
        times(self.grid)
    }

    /// Returns the number of tiles of a group.
    pub fn tiles(&self) -> usize {
        times(std::array::from_fn::<_, 3, _>(|axis| self.grid[axis].div_ceil(self.tile[axis])))
    }

    /// Returns how many folds precede the fold at `at`.
    pub fn index(&self, at: [usize; 3]) -> usize {
        if self.tile == [1; 3] {
            // Fast path for the common case; this function is called for every event.
            return match self.order {
                TileOrder::ChannelsOuter => (at[1] * self.grid[0] + at[0]) * self.grid[2] + at[2],
                TileOrder::PixelsOuter => (at[0] * self.grid[1] + at[1]) * self.grid[2] + at[2],
            };
        }
        let start: [usize; 3] = std::array::from_fn(|axis| at[axis] / self.tile[axis] * self.tile[axis]);
        let size: [usize; 3] = std::array::from_fn(|axis| self.tile[axis].min(self.grid[axis] - start[axis]));
        let inside: [usize; 3] = std::array::from_fn(|axis| at[axis] - start[axis]);
        let [slow, fast] = match self.order {
            TileOrder::ChannelsOuter => [1, 0],
            TileOrder::PixelsOuter => [0, 1],
        };
        let before = start[slow] * self.grid[fast] * self.grid[2]
            + size[slow] * (start[fast] * self.grid[2] + size[fast] * start[2]);
        before + (inside[1] * size[0] + inside[0]) * size[2] + inside[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every fold occurs once, the folds of a tile are consecutive, and terms never go back.
    #[test]
    fn folds_are_walked_tile_by_tile() {
        for order in [TileOrder::ChannelsOuter, TileOrder::PixelsOuter] {
            for (grid, tile) in [
                ([5, 3, 4], [2, 2, 3]),
                ([1, 7, 2], [1, 3, 1]),
                ([4, 4, 1], [4, 4, 1]),
                ([3, 2, 4], [1, 1, 1]),
            ] {
                let tiling = Tiling { grid, tile, order };
                let mut walked = vec![None; tiling.folds()];
                for p in 0..grid[0] {
                    for c in 0..grid[1] {
                        for t in 0..grid[2] {
                            let index = tiling.index([p, c, t]);
                            assert!(t == 0 || index > tiling.index([p, c, t - 1]));
                            assert_eq!(walked[index].replace([p / tile[0], c / tile[1], t / tile[2]]), None);
                        }
                    }
                }
                walked.dedup();
                assert_eq!(walked.len(), tiling.tiles());
            }
        }
    }
}
