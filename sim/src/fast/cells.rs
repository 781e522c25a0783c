//! Windows that are read where they lie, as operands of 16 bits.

/// Distance of each product's cell from the first one of its window.
#[derive(Debug)]
pub(crate) struct CellOffsets {
    offsets: Box<[u32]>,
    /// The greatest of them.
    reach: usize,
}

/// Windows of a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedWindows<'a> {
    pub cells: &'a [i16],
    /// First cell of each.
    pub corners: &'a [usize],
    pub offsets: &'a CellOffsets,
    /// Whether lane `l` reads cell `l` from a product's cell on; else all lanes read that one.
    pub own: bool,
}

impl CellOffsets {
    /// `None` if one is beyond 32 bits.
    pub fn new(offsets: &[usize]) -> Option<Self> {
        let narrow = offsets.iter().map(|&offset| u32::try_from(offset).ok());
        let reach = offsets.iter().copied().max().unwrap_or(0);
        Some(Self { offsets: narrow.collect::<Option<_>>()?, reach })
    }

    /// All of them, in the order of addition.
    pub fn all(&self) -> &[u32] {
        &self.offsets
    }

    /// The greatest one.
    pub fn reach(&self) -> usize {
        self.reach
    }
}
