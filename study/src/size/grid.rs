//! Two-level accumulation: inner width, length of a run, outer width.

use std::ops::RangeInclusive;

use guardbit_hwmodels::bounds::TwoLevels;
use guardbit_hwmodels::bounds::closed_form::outer_bits;
use guardbit_hwmodels::{MacLayer, Program};
use guardbit_num::{MAX_BITS, MIN_BITS};
use guardbit_reports::{Fraction, SizeGridRow};
use rayon::prelude::*;

use super::Sizing;
use super::cost::two_levels;
use super::grid_errors::LayerDots;
use crate::StudyError;

/// Lengths of runs: powers of two from here.
const FIRST_TILE: usize = 8;
/// How many bits below what is proved the grid goes, in both widths.
const BELOW: u32 = 4;

/// The grid of every layer whose dot products can be split: inner widths from a little below the least that is proved
/// for some length to the most, and outer widths from a little below what the inner sums then need.
pub(super) fn rows(sizing: &Sizing<'_>) -> Result<Vec<SizeGridRow>, StudyError> {
    let program = sizing.program;
    let dots = LayerDots::all(sizing)?;
    let layers: Vec<(&MacLayer, &Option<LayerDots>)> = program.mac_layers().zip(&dots).collect();
    Ok(layers
        .into_par_iter()
        .flat_map_iter(|(layer, dots)| layer_rows(program, layer, dots.as_ref()))
        .collect())
}

fn layer_rows(program: &Program, layer: &MacLayer, dots: Option<&LayerDots>) -> Vec<SizeGridRow> {
    let terms = layer.order.len();
    let tiles =
        std::iter::successors(Some(FIRST_TILE), |tile| tile.checked_mul(2)).take_while(|&tile| tile < terms);
    let needs: Vec<(usize, TwoLevels)> =
        tiles.map(|tile| (tile, TwoLevels::new(&program.graph, layer, tile))).collect();
    let widths = || needs.iter().map(|(_, need)| need.inner_bits);
    let (Some(least), Some(most)) = (widths().min(), widths().max()) else { return Vec::new() };
    let inner = below(least)..=most;
    let points = |(tile, need): &(usize, TwoLevels)| rows_of_tile(layer, dots, *tile, need, inner.clone());
    let mut rows: Vec<SizeGridRow> = needs.iter().flat_map(points).collect();
    let legal: Vec<SizeGridRow> = rows.iter().filter(|row| row.legal).cloned().collect();
    rows.iter_mut().for_each(|row| row.pareto = row.legal && !legal.iter().any(|other| beats(other, row)));
    rows
}

/// The inner and outer widths of one length of run.
fn rows_of_tile(
    layer: &MacLayer,
    dots: Option<&LayerDots>,
    tile: usize,
    need: &TwoLevels,
    inner: RangeInclusive<u32>,
) -> Vec<SizeGridRow> {
    let terms = layer.order.len();
    let is_safe = |inner: u32| inner >= need.inner_bits;
    let outer = |inner: u32| {
        // An inner accumulator that is too narrow hands on less than it should.
        let enough = if is_safe(inner) {
            need.outer_bits
        } else {
            need.outer_bits.min(outer_bits(inner, terms, tile))
        };
        (below(enough)..=enough).collect::<Vec<u32>>()
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

fn below(bits: u32) -> u32 {
    bits.saturating_sub(BELOW).max(MIN_BITS)
}

/// Whether `a` is legal and better than `b` in one respect and worse in none.
fn beats(a: &SizeGridRow, b: &SizeGridRow) -> bool {
    let respects = |row: &SizeGridRow| [row.inner_bits as usize, row.outer_bits as usize, row.tiles];
    let (a_values, b_values) = (respects(a), respects(b));
    a.legal && a_values != b_values && a_values.iter().zip(b_values).all(|(&a, b)| a <= b)
}
