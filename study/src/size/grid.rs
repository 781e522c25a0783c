//! Two-level accumulation: inner width, run length, outer width.

use std::ops::RangeInclusive;
use std::str::FromStr;

use guardbit_hwmodels::bounds::TwoLevels;
use guardbit_hwmodels::bounds::closed_form::outer_bits;
use guardbit_hwmodels::{MacLayer, Program};
use guardbit_num::{MAX_BITS, MIN_BITS};
use guardbit_reports::{Fraction, SizeGridRow};
use rayon::prelude::*;

use super::cost::two_levels;
use super::grid_errors::LayerDots;
use super::sizing::Sizing;
use crate::StudyError;

/// Length of the shortest run.
const FIRST_TILE: usize = 8;
/// Extent of the grid of two-level accumulators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grid {
    /// No grid.
    None,
    /// Runs of 8, 32, 128, ... products, widths from 2 bits below the proved ones, and about 256 dot products
    /// per layer.
    Coarse,
    /// Runs of 8, 16, 32, ... products, widths from 4 bits below the proved ones, and about 1024 dot products
    /// per layer.
    #[default]
    Full,
}

impl Grid {
    /// All extents.
    pub const ALL: [Self; 3] = [Self::None, Self::Coarse, Self::Full];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Coarse => "coarse",
            Self::Full => "full",
        }
    }

    /// Returns the factor from one run length to the next.
    fn factor(self) -> usize {
        if self == Self::Coarse { 4 } else { 2 }
    }

    /// Returns the lowest width of the grid for the proved width `bits`.
    fn below(self, bits: u32) -> u32 {
        bits.saturating_sub(if self == Self::Coarse { 2 } else { 4 }).max(MIN_BITS)
    }

    /// Returns the number of dot products evaluated per layer.
    fn dots(self) -> usize {
        if self == Self::Coarse { 256 } else { 1024 }
    }
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|grid| grid.name() == name);
        found.ok_or_else(|| format!("invalid grid `{name}`: expected none, coarse or full"))
    }
}

/// Returns the grid of every layer whose dot products can be split. Inner widths range from slightly below
/// the least proved width of all run lengths to the greatest. Outer widths start slightly below the width
/// that the inner sums require.
pub(super) fn rows(sizing: &Sizing<'_>) -> Result<Vec<SizeGridRow>, StudyError> {
    let (program, grid) = (sizing.program, sizing.request.grid);
    if grid == Grid::None {
        return Ok(Vec::new());
    }
    let dots = LayerDots::all(sizing, grid.dots())?;
    let layers: Vec<(&MacLayer, &Option<LayerDots>)> = program.mac_layers().zip(&dots).collect();
    Ok(layers
        .into_par_iter()
        .flat_map_iter(|(layer, dots)| layer_rows(program, grid, layer, dots.as_ref()))
        .collect())
}

fn layer_rows(program: &Program, grid: Grid, layer: &MacLayer, dots: Option<&LayerDots>) -> Vec<SizeGridRow> {
    let terms = layer.order.len();
    let tiles = std::iter::successors(Some(FIRST_TILE), |tile| tile.checked_mul(grid.factor()))
        .take_while(|&tile| tile < terms);
    let needs: Vec<(usize, TwoLevels)> =
        tiles.map(|tile| (tile, TwoLevels::new(&program.graph, layer, tile))).collect();
    let widths = || needs.iter().map(|(_, need)| need.inner_bits);
    let (Some(least), Some(most)) = (widths().min(), widths().max()) else { return Vec::new() };
    let inner = grid.below(least)..=most;
    let points =
        |(tile, need): &(usize, TwoLevels)| rows_of_tile(grid, layer, dots, *tile, need, inner.clone());
    let mut rows: Vec<SizeGridRow> = needs.iter().flat_map(points).collect();
    let legal: Vec<SizeGridRow> = rows.iter().filter(|row| row.legal).cloned().collect();
    rows.iter_mut().for_each(|row| row.pareto = row.legal && !legal.iter().any(|other| beats(other, row)));
    rows
}

/// Returns the inner and outer widths for one run length.
fn rows_of_tile(
    grid: Grid,
    layer: &MacLayer,
    dots: Option<&LayerDots>,
    tile: usize,
    need: &TwoLevels,
    inner: RangeInclusive<u32>,
) -> Vec<SizeGridRow> {
    let terms = layer.order.len();
    let is_safe = |inner: u32| inner >= need.inner_bits;
    let outer = |inner: u32| {
        // An inner accumulator that is too narrow hands on less than the exact sum.
        let enough = if is_safe(inner) {
            need.outer_bits
        } else {
            need.outer_bits.min(outer_bits(inner, terms, tile))
        };
        (grid.below(enough)..=enough).collect::<Vec<u32>>()
    };
    let widths: Vec<(u32, Vec<u32>)> = inner.map(|inner| (inner, outer(inner))).collect();
    let wrong = dots.map(|dots| {
        let narrow = |inner: u32| (!is_safe(inner) && inner <= MAX_BITS).then_some(inner);
        let widths: Vec<_> = widths.iter().map(|(inner, outer)| (narrow(*inner), outer.clone())).collect();
        dots.wrong(tile, &widths)
    });
    let row = |place: [usize; 2]| {
        let (inner, outer) = (widths[place[0]].0, widths[place[0]].1[place[1]]);
        let cost = two_levels(inner, outer, need.tiles, layer.dots.window.dots());
        let wrong = wrong.as_ref().map(|wrong| wrong[place[0]][place[1]]);
        SizeGridRow {
            index: layer.node.index(),
            layer: layer.name.clone(),
            name: layer.short_name.clone(),
            terms,
            tile,
            tiles: need.tiles,
            inner_bits: inner,
            outer_bits: outer,
            legal: is_safe(inner) && outer >= need.outer_bits,
            pareto: false,
            adder_bits: cost.adder_bits,
            register_bits: cost.register_bits,
            psum_bytes: cost.psum_bytes,
            dots: dots.map(LayerDots::count),
            wrong,
            error_rate: wrong.zip(dots).and_then(|(wrong, dots)| Fraction::of(wrong, dots.count())),
        }
    };
    let places = widths.iter().enumerate().flat_map(|(i, (_, outer))| (0..outer.len()).map(move |j| [i, j]));
    places.map(row).collect()
}

/// Returns whether `a` is legal and dominates `b`: better in one respect and worse in none.
fn beats(a: &SizeGridRow, b: &SizeGridRow) -> bool {
    let respects = |row: &SizeGridRow| [row.inner_bits as usize, row.outer_bits as usize, row.tiles];
    let (a_values, b_values) = (respects(a), respects(b));
    a.legal && a_values != b_values && a_values.iter().zip(b_values).all(|(&a, b)| a <= b)
}
