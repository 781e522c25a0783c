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
    /// What `block` reads in the windows with these corners.
    pub fn read<'w>(
        &'w mut self,
        geometry: &'w Geometry,
        image: &'w Image,
        block: &Block,
        corners: &[usize],
    ) -> Read<'w> {
        match &block.reads {
            Reads::Window(first) => {
                let mut windows = [&[][..]; TILE];
                for ((window, buffer), &corner) in windows.iter_mut().zip(&mut self.patches).zip(corners) {
                    *window = geometry.patch(image, corner + first, buffer);
                }
                Read::Window(windows)
            }
            Reads::Neighbours(first) => {
                let mut windows = [geometry.neighbours(image, corners[0] + first); TILE];
                for (window, corner) in windows.iter_mut().zip(corners) {
                    *window = geometry.neighbours(image, corner + first);
                }
                Read::Neighbours(windows)
            }
            Reads::Lanes(channels) => {
                let mut windows = [&[][..]; TILE];
                for ((window, buffer), &corner) in windows.iter_mut().zip(&mut self.rows).zip(corners) {
                    *window = geometry.lane_patch(image, corner, channels, buffer);
                }
                Read::Lanes(windows)
            }
        }
    }
}
