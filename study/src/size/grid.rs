//! Two-level accumulation: inner width, length of a run, outer width.

use guardbit_hwmodels::bounds::TwoLevels;
use guardbit_hwmodels::bounds::closed_form::outer_bits;
use guardbit_hwmodels::{MacLayer, Program};
use guardbit_reports::SizeGridRow;

use super::cost::two_levels;

/// Lengths of runs: powers of two from here.
const FIRST_TILE: usize = 8;

/// The grid of every layer whose dot products can be split.
pub(super) fn rows(program: &Program) -> Vec<SizeGridRow> {
    program.mac_layers().flat_map(|layer| layer_rows(program, layer)).collect()
}

fn layer_rows(program: &Program, layer: &MacLayer) -> Vec<SizeGridRow> {
    let terms = layer.order.len();
    let tiles =
        std::iter::successors(Some(FIRST_TILE), |tile| tile.checked_mul(2)).take_while(|&tile| tile < terms);
    let needs: Vec<(usize, TwoLevels)> =
        tiles.map(|tile| (tile, TwoLevels::new(&program.graph, layer, tile))).collect();
    let widths = || needs.iter().map(|(_, need)| need.inner_bits);
    let (Some(least), Some(most)) = (widths().min(), widths().max()) else { return Vec::new() };
    let mut rows: Vec<SizeGridRow> = needs
        .iter()
        .flat_map(|(tile, need)| (least..=most).map(move |inner| row(layer, *tile, need, inner)))
        .collect();
    let front: Vec<bool> =
        rows.iter().map(|row| row.legal && !rows.iter().any(|other| beats(other, row))).collect();
    rows.iter_mut().zip(front).for_each(|(row, front)| row.pareto = front);
    rows
}

fn row(layer: &MacLayer, tile: usize, need: &TwoLevels, inner: u32) -> SizeGridRow {
    let terms = layer.order.len();
    let legal = inner >= need.inner_bits;
    // An inner accumulator that is too narrow hands on less than it should.
    let outer = if legal { need.outer_bits } else { need.outer_bits.min(outer_bits(inner, terms, tile)) };
    let cost = two_levels(inner, outer, need.tiles, layer.dots.window.dots());
    SizeGridRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        terms,
        tile,
        tiles: need.tiles,
        inner_bits: inner,
        outer_bits: outer,
        legal,
        pareto: false,
        adder_bits: cost.adder_bits,
        register_bits: cost.register_bits,
        psum_bytes: cost.psum_bytes,
    }
}

/// Whether `a` is legal and better than `b` in one respect and worse in none.
fn beats(a: &SizeGridRow, b: &SizeGridRow) -> bool {
    let respects = |row: &SizeGridRow| [row.inner_bits as usize, row.outer_bits as usize, row.tiles];
    let (a_values, b_values) = (respects(a), respects(b));
    a.legal && a_values != b_values && a_values.iter().zip(b_values).all(|(&a, b)| a <= b)
}
