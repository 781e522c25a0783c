//! Activations of a tile's windows, laid out for kernels of 16-bit operands.

use super::blocks::{Block, Reads};
use super::image::{Geometry, Image};
use super::kernels::{Neighbours, Row, TILE};
use super::pairs::StepList;

/// Memory for the windows of one tile.
#[derive(Debug, Default)]
pub(super) struct Windows {
    shared: [Vec<i16>; TILE],
    rows: [Vec<Row>; TILE],
    /// First pixel and first input channel of the windows in `shared`.
    held: Option<(usize, usize)>,
    /// Products that are stepped of pairs of windows, by the pixel of the first one.
    lists: [StepList; TILE],
    /// Windows for which each list was made.
    listed: [Option<(usize, usize)>; TILE],
}

/// Windows of the pixels of a tile.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::large_enum_variant,
    reason = "it lives on the stack, and a box would have to be made per tile"
)]
pub(super) enum Read<'w> {
    Window([&'w [i16]; TILE]),
    Neighbours([Neighbours<'w>; TILE]),
    Lanes([&'w [Row]; TILE]),
}

/// Runs an expression on the windows of a [`Read`], whatever their type.
macro_rules! on_windows {
    ($read:expr, $x:ident => $work:expr) => {
        match $read {
            $crate::fast::windows::Read::Window($x) => $work,
            $crate::fast::windows::Read::Neighbours($x) => $work,
            $crate::fast::windows::Read::Lanes($x) => $work,
        }
    };
}
pub(super) use on_windows;

impl Windows {
    /// Clears all windows, because another image follows.
    pub fn clear(&mut self) {
        self.held = None;
        self.listed = [None; TILE];
    }

    /// Returns the products that are stepped of pairs of windows that begin at some pixels of a tile.
    /// `windows` holds the tile's first pixel and the first input channel; `list` makes a list.
    pub fn lists(
        &mut self,
        windows: (usize, usize),
        pixels: impl Iterator<Item = usize>,
        list: impl Fn(usize, &mut StepList),
    ) -> &[StepList; TILE] {
        for at in pixels {
            if self.listed[at].replace(windows) != Some(windows) {
                list(at, &mut self.lists[at]);
            }
        }
        &self.lists
    }

    /// Returns the activations of `block` in the windows with these corners, the first of which is that of
    /// `pixel`.
    pub fn read<'w>(
        &'w mut self,
        (geometry, image): (&'w Geometry, &'w Image<'_>),
        block: &Block,
        pixel: usize,
        corners: &[usize],
    ) -> Read<'w> {
        match &block.reads {
            &Reads::Window(first) => {
                let held = self.held.replace((pixel, first)) == Some((pixel, first));
                let mut windows = [&[][..]; TILE];
                for ((window, buffer), &corner) in windows.iter_mut().zip(&mut self.shared).zip(corners) {
                    *window = match held {
                        true => geometry.held_window(image, corner + first, buffer),
                        false => geometry.window(image, corner + first, buffer),
                    };
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
                    *window = geometry.lane_window(image, corner, channels, buffer);
                }
                Read::Lanes(windows)
            }
        }
    }
}
