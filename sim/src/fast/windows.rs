//! The activations of the pixels of a tile, laid out for the kernels.

use super::image::{Geometry, Image};
use super::kernels::{Neighbours, Row, TILE};
use super::prepare::{Block, Reads};

/// Memory for the windows of one tile.
#[derive(Debug, Default)]
pub(super) struct Windows {
    patches: [Vec<i16>; TILE],
    rows: [Vec<Row>; TILE],
}

/// One window per pixel of a tile.
#[derive(Debug, Clone, Copy)]
pub(super) enum Read<'w> {
    Window([&'w [i16]; TILE]),
    Neighbours([Neighbours<'w>; TILE]),
    Lanes([&'w [Row]; TILE]),
}

impl Windows {
    /// What `block` reads at `count` pixels from `pixel` on.
    pub fn read<'w>(
        &'w mut self,
        geometry: &'w Geometry,
        image: &'w Image,
        block: &Block,
        pixel: usize,
        count: usize,
    ) -> Read<'w> {
        let pixels = pixel..pixel + count;
        match &block.reads {
            Reads::Window(first) => {
                let mut windows = [&[][..]; TILE];
                for ((window, buffer), pixel) in windows.iter_mut().zip(&mut self.patches).zip(pixels) {
                    *window = geometry.patch(image, pixel, *first, buffer);
                }
                Read::Window(windows)
            }
            Reads::Neighbours(first) => {
                let mut windows = [geometry.neighbours(image, pixel, *first); TILE];
                for (window, pixel) in windows.iter_mut().zip(pixels) {
                    *window = geometry.neighbours(image, pixel, *first);
                }
                Read::Neighbours(windows)
            }
            Reads::Lanes(channels) => {
                let mut windows = [&[][..]; TILE];
                for ((window, buffer), pixel) in windows.iter_mut().zip(&mut self.rows).zip(pixels) {
                    *window = geometry.lane_patch(image, pixel, channels, buffer);
                }
                Read::Lanes(windows)
            }
        }
    }
}
