//! Proofs by norms that dot products fit: no sum of some of their products exceeds the norm of the
//! activations times that of the weights (Cauchy and Schwarz). A window has one norm for all output channels.

use guardbit_hwmodels::MacLayer;

use super::image::Image;
use super::kernels::LANES;
use super::prepare::{Narrow, SumBlock};
use super::simd::Kernels;
use super::span::Span;

/// Method by which the squared norms of a layer's windows are computed.
#[derive(Debug)]
pub(super) struct Norms {
    /// Distances in positions from the first position of a window to each of its positions.
    taps: Vec<usize>,
    /// Number of operands of a position.
    channels: usize,
    /// Whether no operand is negative.
    non_negative: bool,
}

/// Factor by which the worst case may exceed the register's range. Real windows of ResNet-8 mostly fit up to
/// this factor.
const WORTH_WHILE: i64 = 8;

/// Least number of products, over all output channels, for which a window's norm is worth computing.
const PRODUCTS: usize = 256;

/// Sums of the squared weights of a block, lane by lane: of the negative weights, and of the positive ones.
pub(super) type SquaredWeights = [[u64; LANES]; 2];

impl Norms {
    /// Prepares norms for windows in an image `cols` positions wide, whose bytes stand for operands from
    /// `origin` on. Returns `None` if windows read only some channels, if 32 bits may not hold the squares,
    /// or if few dot products share a window.
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

    /// Returns the squared norms of the windows with these corners, which must be all windows of a layer,
    /// from left to right and from top to bottom.
    pub fn of_windows(&self, image: &Image<'_>, kernels: Kernels, corners: &[usize]) -> Vec<u32> {
        let mut positions = Vec::with_capacity(image.bytes().len() / self.channels.max(1));
        kernels.squares(image.bytes(), image.origin(), self.channels, &mut positions);
        let of_window = |corner: &usize| {
            let positions = &positions[corner / self.channels..];
            self.taps.iter().map(|&tap| positions[tap]).sum()
        };
        corners.iter().map(of_window).collect()
    }

    /// Returns the greatest squared norm of a window none of whose prefixes can leave the register in
    /// `block`. Returns 0 if searching for such windows is not worth the time, because none, or only a few
    /// small ones, are to be expected.
    pub fn limit(&self, block: &SumBlock, narrow: &Narrow) -> u64 {
        let worst =
            |sums: &Span| narrow.keeps(Span::new(sums.least / WORTH_WHILE, sums.greatest / WORTH_WHILE));
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

/// Returns the greatest `x` for which `x * square` is at most `room * room`.
fn most(room: u64, square: u64) -> u64 {
    let most = (u128::from(room) * u128::from(room)).checked_div(square.into());
    most.map_or(u64::MAX, |most| u64::try_from(most).unwrap_or(u64::MAX))
}

/// Returns the sums of squares, see [`SquaredWeights`], of weights of magnitudes up to `most`.
pub(super) fn squared_weights(rows: &[[i16; LANES]], most: i64) -> SquaredWeights {
    let mut squares = [[0; LANES]; 2];
    // Sums of these many squares fit 31 bits; a single one is at most 2^30.
    let count = i64::from(i32::MAX) / (most * most).max(1);
    for rows in rows.chunks(count as usize) {
        let mut part = [[0i32; LANES]; 2];
        for row in rows {
            for (lane, &weight) in row.iter().enumerate() {
                let [negative, positive] = [weight.min(0), weight.max(0)].map(i32::from);
                part[0][lane] += negative * negative;
                part[1][lane] += positive * positive;
            }
        }
        for (sum, part) in squares.iter_mut().flatten().zip(part.into_iter().flatten()) {
            *sum += part as u64;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of squares are exact for the greatest weights and for long rows.
    #[test]
    fn squares_do_not_overflow() {
        for (least, greatest, most) in [(i16::MIN, i16::MAX, 1 << 15), (-127, 126, 127), (0, 0, 0)] {
            let mut row = [greatest; LANES];
            row[0] = least;
            let squares = squared_weights(&vec![row; 200_000], most);
            let expected = [least, greatest].map(|weight| 200_000 * i64::from(weight).pow(2) as u64);
            assert_eq!([squares[0][0], squares[1][1]], expected);
            assert_eq!([squares[1][0], squares[0][1]], [0; 2]);
        }
    }
}
