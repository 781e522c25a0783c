//! Faults of the arrays outside the arithmetic.

use super::facts::Facts;
use super::mutant::{Mutant, mutants};
use crate::manifest::ArrayInfo;

fn is_output_stationary(f: &Facts) -> bool {
    f.array().is_some_and(crate::array::is_output_stationary)
}

fn is_weight_stationary(f: &Facts) -> bool {
    f.array().is_some_and(|info| !crate::array::is_output_stationary(info))
}

/// Without a product in the last row of an array, nothing depends on the weight there, and a simulator may start with any.
fn has_full_column(f: &Facts) -> bool {
    is_weight_stationary(f) && f.array().is_some_and(|info| f.manifest.layer.terms >= info.rows)
}

fn never(_: &Facts) -> Option<String> {
    None
}

fn one_row(f: &Facts) -> Option<String> {
    (f.array()?.rows == 1).then(|| "the array has one row".into())
}

fn two_rows(f: &Facts) -> Option<String> {
    let rows = f.array()?.rows;
    (rows <= 2).then(|| {
        format!("a column of {rows} rows has drained by the time that its second row has its next sum")
    })
}

fn one_column(f: &Facts) -> Option<String> {
    (f.array()?.cols == 1).then(|| "the array has one column".into())
}

fn one_tile_of_products(f: &Facts) -> Option<String> {
    let info: &ArrayInfo = f.array()?;
    let (terms, rows) = (f.manifest.layer.terms, info.rows);
    (terms <= rows).then(|| format!("the {terms} products of a dot product are one tile of {rows} rows"))
}

pub(super) const MUTANTS: &[Mutant] = mutants! {
    "gb_os_array/skew_off_by_one": "every row's activations come one cycle late",
        is_output_stationary, never;
    "gb_os_array/columns_not_skewed": "all columns get their weights in the same cycle",
        is_output_stationary, one_column;
    "gb_os_array/cycle_late": "a register more before every row and column",
        is_output_stationary, never;
    "gb_os_pe/last_product_missed": "the drain takes the sum before the last product",
        is_output_stationary, never;
    "gb_os_pe/tile_not_cleared": "a tile adds to the sums of the previous tile",
        is_output_stationary, never;
    "gb_os_pe/drain_stands_still": "sums do not move down the column",
        is_output_stationary, one_row;
    "gb_os_array/drain_one_step_short": "a column shifts one step less",
        is_output_stationary, one_row;
    "gb_os_array/drain_stays_open": "all rows shift until the column has drained",
        is_output_stationary, two_rows;
    "gb_ws_array/skew_off_by_one": "the lower rows' activations come one cycle late",
        is_weight_stationary, one_row;
    "gb_ws_pe/stale_weight": "the first pixel of a tile uses the weights of the previous tile",
        is_weight_stationary, never;
    "gb_ws_array/weights_off_by_one_row": "weights stop a row too early",
        has_full_column, never;
    "gb_ws_array/weights_overtaken": "rows replace their weights by passing weights too early",
        is_weight_stationary, one_row;
    "gb_ws_pe/chain_starts_anew": "a row does not add to the sum from above",
        is_weight_stationary, one_row;
    "gb_ws_acc/tile_overwrites": "the accumulator memory keeps the last tile of products only",
        is_weight_stationary, one_tile_of_products;
    "gb_ws_acc/pixel_off_by_one": "a later tile's pixels are added to their neighbours",
        is_weight_stationary, one_tile_of_products;
    "gb_arrays/vhdl_tile_not_cleared": "a tile adds to the sums of the previous tile",
        is_output_stationary, never;
    "gb_arrays/vhdl_stale_weight": "the first pixel of a tile uses the weights of the previous tile",
        is_weight_stationary, never;
    "gb_arrays/vhdl_tile_overwrites": "the accumulator memory keeps the last tile of products only",
        is_weight_stationary, one_tile_of_products;
    "gb_ws_array/cycle_late": "a register more before every row and column",
        is_weight_stationary, never;
};
