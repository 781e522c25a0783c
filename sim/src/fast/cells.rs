//! Windows that are read in place, as operands of 16 bits.

/// Distances of each product's cell from the first one of its window.
#[derive(Debug)]
pub(crate) struct CellOffsets {
    offsets: Box<[u32]>,
    /// Greatest distance.
    reach: usize,
}

/// Windows of a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedWindows<'a> {
    pub cells: &'a [i16],
    /// First cell of each window.
    pub corners: &'a [usize],
    pub offsets: &'a CellOffsets,
    /// Whether lane `l` reads the `l`-th cell from a product's cell on; otherwise all lanes read that cell.
    pub own: bool,
}

impl CellOffsets {
    /// Returns the offsets; `None` if one of them exceeds 32 bits.
    pub fn new(offsets: &[usize]) -> Option<Self> {
        let narrow = offsets.iter().map(|&offset| u32::try_from(offset).ok());
        let reach = offsets.iter().copied().max().unwrap_or(0);
        Some(Self { offsets: narrow.collect::<Option<_>>()?, reach })
    }

    /// Returns all distances, in the order of addition.
    pub fn all(&self) -> &[u32] {
        &self.offsets
    }

    /// Returns the greatest distance.
    pub fn reach(&self) -> usize {
        self.reach
    }
}
