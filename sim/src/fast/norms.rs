//! Dot products that fit by the norms of their operands: no sum of some of their products is greater than the norm of
//! the activations times that of the weights (Cauchy and Schwarz). A window has one norm for all output channels.

use guardbit_hwmodels::MacLayer;

use super::image::Image;
use super::kernels::LANES;
use super::prepare::{Block, Narrow};
use super::simd::Kernels;

/// How the squared norms of a layer's windows are made.
#[derive(Debug)]
pub(super) struct Norms {
    /// Cells from the first position of a window to each of its positions, in positions.
    taps: Vec<usize>,
    /// Operands of a position.
    channels: usize,
    /// Whether no operand is negative.
    non_negative: bool,
}

/// How many times the worst case may leave the register's range: real windows of ResNet-8 mostly fit up to there.
const WORTH_WHILE: i64 = 8;

/// Products for which a window's norm is worth while, of all output channels together.
const PRODUCTS: usize = 256;

/// Sums of the squared weights of a block, lane by lane: of negative ones, and of positive ones.
pub(super) type SquaredWeights = [[u64; LANES]; 2];

impl Norms {
    /// For windows in an image `cols` positions wide, of bytes that stand for operands from `origin` on. `None` where
    /// windows read some channels alone, 32 bits may not hold the squares, or few dot products have a window in common.
    pub fn new(layer: &MacLayer, cols: usize, origin: i32) -> Option<Self> {
        let window = &layer.dots.window;
        let [rows, kernel_cols, channels] = window.kernel;
        let greatest =
            u64::from(origin.unsigned_abs()).max(u64::from(origin.wrapping_add(255).unsigned_abs()));
        let fits = (window.terms() as u64).checked_mul(greatest * greatest)? <= u64::from(u32::MAX);
        let enough = window.terms() * window.channels().div_ceil(LANES) >= PRODUCTS;
        if window.groups != 1 || channels != window.input[2] || !fits || !enough {
            return None;
        }
        let [down, right] = window.dilation;
        let tap = |row: usize| (0..kernel_cols).map(move |col| row * down * cols + col * right);
        Some(Self { taps: (0..rows).flat_map(tap).collect(), channels, non_negative: origin >= 0 })
    }

    /// The squared norms of the windows with these corners, from left to right and from top to bottom all windows of a
    /// layer.
    pub fn of_windows(&self, image: &Image<'_>, kernels: Kernels, corners: &[usize]) -> Vec<u32> {
        let mut positions = Vec::with_capacity(image.bytes().len() / self.channels.max(1));
        kernels.squares(image.bytes(), image.origin(), self.channels, &mut positions);
        let of_window = |corner: &usize| {
            let positions = &positions[corner / self.channels..];
            self.taps.iter().map(|&tap| positions[tap]).sum()
        };
        corners.iter().map(of_window).collect()
    }

    /// The greatest squared norm of a window none of whose prefixes can leave the register in `block`; 0 where it is
    /// not worth while to look for such windows, because none could, or hardly any that are not small.
    pub fn limit(&self, block: &Block, narrow: &Narrow) -> u64 {
        let worst = |&(min, max): &(i64, i64)| narrow.keeps(min / WORTH_WHILE, max / WORTH_WHILE);
        if block.is_certain(narrow) || !block.bounds[..block.count].iter().all(worst) {
            return 0;
        }
        let [negative, positive] = &block.squares;
        let of_lane = |lane: usize| {
            let start = i64::from(block.start[lane]);
            let [below, above] = [start - i64::from(narrow.rails.low), i64::from(narrow.rails.high) - start]
                .map(i64::unsigned_abs);
            let (down, up) = match self.non_negative {
                true => (negative[lane], positive[lane]),
                false => (negative[lane] + positive[lane], negative[lane] + positive[lane]),
            };
            most(below, down).min(most(above, up))
        };
        (0..block.count).map(of_lane).min().unwrap_or(0)
    }
}

/// The greatest `x` for which `x * square` is no more than `room * room`.
fn most(room: u64, square: u64) -> u64 {
    let most = (u128::from(room) * u128::from(room)).checked_div(square.into());
    most.map_or(u64::MAX, |most| u64::try_from(most).unwrap_or(u64::MAX))
}

/// See [`SquaredWeights`].
pub(super) fn squared_weights(rows: &[[i16; LANES]]) -> SquaredWeights {
    let mut squares = [[0; LANES]; 2];
    for row in rows {
        for (lane, &w) in row.iter().enumerate() {
            squares[usize::from(w > 0)][lane] += u64::from(w.unsigned_abs()).pow(2);
        }
    }
    squares
}
