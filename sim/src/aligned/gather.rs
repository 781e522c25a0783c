//! Places of the activations that a window reads.

use guardbit_graph::{FloatDots, KernelPosition, OutputPosition};

/// Cells of a window in the order of addition, as channels of the pixels that the window covers.
#[derive(Debug)]
pub(super) struct Gather {
    /// The first channel of each covered pixel.
    pixels: Vec<KernelPosition>,
    /// Covered pixel and channel of each cell.
    cells: Vec<(usize, usize)>,
    /// Per addition, its cells.
    additions: Vec<Vec<Run>>,
}

/// Cells in the order of addition that are successive channels of one covered pixel.
#[derive(Debug)]
pub(super) struct Run {
    pub pixel: usize,
    /// The first channel.
    pub channel: usize,
    /// The first cell.
    pub cell: usize,
    /// Number of channels.
    pub count: usize,
}

impl Gather {
    /// Prepares the window of a layer with a number of products per addition.
    pub fn new(cells: &[KernelPosition], terms: usize) -> Self {
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
        let cells: Vec<_> = cells.iter().map(&mut place).collect();
        let mut additions = Vec::new();
        for (cells, first) in cells.chunks(terms).zip((0..).step_by(terms)) {
            let mut runs: Vec<Run> = Vec::new();
            for (&(pixel, channel), cell) in cells.iter().zip(first..) {
                match runs.last_mut() {
                    Some(run) if (run.pixel, run.channel + run.count) == (pixel, channel) => run.count += 1,
                    _ => runs.push(Run { pixel, channel, cell, count: 1 }),
                }
            }
            additions.push(runs);
        }
        if additions.is_empty() {
            additions.push(Vec::new());
        }
        Self { pixels, cells, additions }
    }

    /// Returns the cells of each addition. There is at least one addition.
    pub fn additions(&self) -> &[Vec<Run>] {
        &self.additions
    }

    /// Returns the place of the first channel of each covered pixel for the window at `out`; `None` for padding.
    pub fn places(&self, dots: &FloatDots, out: OutputPosition, places: &mut Vec<Option<usize>>) {
        places.clear();
        places.extend(self.pixels.iter().map(|&pixel| dots.activation(out, pixel)));
    }

    /// Returns the place of a cell.
    pub fn cell(&self, places: &[Option<usize>], k: usize) -> Option<usize> {
        let (pixel, channel) = self.cells[k];
        places[pixel].map(|first| first + channel)
    }
}
