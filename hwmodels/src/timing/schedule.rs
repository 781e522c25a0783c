//! Start times of folds, and cycles of a layer.

/// Start times of a layer's folds, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Schedule {
    /// Cycles before the first fold.
    pub lead: u64,
    /// Cycles from one fold to the next, on average and rounded down.
    pub fold: u64,
    /// Folds of a tile.
    pub of_tile: u64,
    /// Additional cycles between two tiles.
    pub gap: u64,
    /// Cycles from the first fold of a group to the first fold of the next group.
    pub group: u64,
    /// Last cycle of a group in which an addition can be placed, relative to the group's start.
    pub last: u64,
    /// Cycles of the whole layer with ideal memories.
    pub compute: u64,
    /// Cycles of the whole layer with an ideal external memory.
    pub inside: u64,
    /// Busy cycles of the SRAM ports and of the external memory.
    pub busy: [u64; 2],
    /// Cycles in which the external memory loads, and in which it stores.
    pub transfers: [u64; 2],
    /// Cycles of the whole layer.
    pub cycles: u64,
}
