//! Codes of the activations that a window reads.

use guardbit_graph::{FloatDots, KernelPosition, OutputPosition};

/// Cells of a window in the order of addition, as channels of the pixels that the window covers.
#[derive(Debug)]
pub(super) struct Gather {
    /// The first channel of each covered pixel.
    pixels: Vec<KernelPosition>,
    /// Covered pixel and channel of each cell.
    cells: Vec<(usize, usize)>,
}

impl Gather {
    pub fn new(cells: &[KernelPosition]) -> Self {
        let mut pixels: Vec<KernelPosition> = Vec::new();
        let mut place = |cell: &KernelPosition| {
            let first = KernelPosition { c: 0, ..*cell };
            let known = pixels.iter().position(|pixel| *pixel == first);
            let pixel = known.unwrap_or_else(|| {
                pixels.push(first);
                pixels.len() - 1
            });
            (pixel, cell.c)
        };
        let cells = cells.iter().map(&mut place).collect();
        Self { pixels, cells }
    }

    /// Returns the place of the first channel of each covered pixel for the window at `out`; `None` for padding.
    pub fn places(&self, dots: &FloatDots, out: OutputPosition, places: &mut Vec<Option<usize>>) {
        places.clear();
        places.extend(self.pixels.iter().map(|&pixel| dots.activation(out, pixel)));
    }

    /// Returns the place of each cell in the order of addition.
    pub fn cells<'a>(&'a self, places: &'a [Option<usize>]) -> impl Iterator<Item = Option<usize>> + 'a {
        self.cells.iter().map(|&(pixel, channel)| places[pixel].map(|first| first + channel))
    }

    /// Returns the place of a cell.
    pub fn cell(&self, places: &[Option<usize>], k: usize) -> Option<usize> {
        let (pixel, channel) = self.cells[k];
        places[pixel].map(|first| first + channel)
    }
}
