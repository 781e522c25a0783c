//! Faults of the arrays outside the arithmetic.

use super::{Facts, Mutant};
use crate::manifest::ArrayInfo;

const OS: &str = "rtl/gb_os_array.sv";
const OS_PE: &str = "rtl/gb_os_pe.sv";
const WS: &str = "rtl/gb_ws_array.sv";
const WS_PE: &str = "rtl/gb_ws_pe.sv";
const WS_ACC: &str = "rtl/gb_ws_acc.sv";

fn is_output_stationary(f: &Facts) -> bool {
    f.array().is_some_and(crate::array::is_output_stationary)
}

fn is_weight_stationary(f: &Facts) -> bool {
    f.array().is_some_and(|info| !crate::array::is_output_stationary(info))
}

fn never(_: &Facts) -> Option<String> {
    None
}

fn one_row(f: &Facts) -> Option<String> {
    (f.array()?.rows == 1).then(|| "the array has one row".into())
}

fn one_column(f: &Facts) -> Option<String> {
    (f.array()?.cols == 1).then(|| "the array has one column".into())
}

fn one_tile_of_products(f: &Facts) -> Option<String> {
    let info: &ArrayInfo = f.array()?;
    let (terms, rows) = (f.manifest.layer.terms, info.rows);
    (terms <= rows).then(|| format!("the {terms} products of a dot product are one tile of {rows} rows"))
}

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "skew_off_by_one",
        change: "every row's activations come one cycle late",
        file: OS,
        edits: &[(".DEPTH(row)", ".DEPTH(row + 1)")],
        applies: is_output_stationary,
        equivalent: never,
    },
    Mutant {
        name: "columns_not_skewed",
        change: "all columns get their weights in the same cycle",
        file: OS,
        edits: &[(".DEPTH(col)", ".DEPTH(0)")],
        applies: is_output_stationary,
        equivalent: one_column,
    },
    Mutant {
        name: "cycle_late",
        change: "a register more before every row and column",
        file: OS,
        edits: &[(".DEPTH(row)", ".DEPTH(row + 1)"), (".DEPTH(col)", ".DEPTH(col + 1)")],
        applies: is_output_stationary,
        equivalent: never,
    },
    Mutant {
        name: "last_product_missed",
        change: "the drain takes the sum before the last product",
        file: OS_PE,
        edits: &[("drain_out <= sum;", "drain_out <= acc;")],
        applies: is_output_stationary,
        equivalent: never,
    },
    Mutant {
        name: "tile_not_cleared",
        change: "a tile adds to the sums of the previous tile",
        file: OS_PE,
        edits: &[(".clear(valid_in && first_in)", ".clear(1'b0)"), (".run_last(last_in)", ".run_last(1'b0)")],
        applies: is_output_stationary,
        equivalent: never,
    },
    Mutant {
        name: "drain_stands_still",
        change: "sums do not move down the column",
        file: OS_PE,
        edits: &[("else if (drain_shift)", "else if (1'b0)")],
        applies: is_output_stationary,
        equivalent: one_row,
    },
    Mutant {
        name: "drain_one_step_short",
        change: "a column shifts one step less",
        file: OS,
        edits: &[("step < ROW)", "step + 1'b1 < ROW)")],
        applies: is_output_stationary,
        equivalent: one_row,
    },
    Mutant {
        name: "skew_off_by_one",
        change: "the lower rows' activations come one cycle late",
        file: WS,
        edits: &[("(A_W + 2), .DEPTH(row)", "(A_W + 2), .DEPTH((row == 0) ? 0 : row + 1)")],
        applies: is_weight_stationary,
        equivalent: one_row,
    },
    Mutant {
        name: "stale_weight",
        change: "the first pixel of a tile uses the weights of the previous tile",
        file: WS_PE,
        edits: &[
            ("        now       <= w;", "        now       <= (valid_in && first_in) ? next : now;"),
            ("assign w     = (valid_in && first_in) ? next : now;", "assign w     = now;"),
        ],
        applies: is_weight_stationary,
        equivalent: never,
    },
    Mutant {
        name: "weights_off_by_one_row",
        change: "weights stop a row too early",
        file: WS,
        edits: &[("step >= ROW)", "step > ROW)")],
        applies: is_weight_stationary,
        equivalent: never,
    },
    Mutant {
        name: "weights_overtaken",
        change: "rows replace their weights by passing weights too early",
        file: WS,
        edits: &[("load && step >= ROW", "load")],
        applies: is_weight_stationary,
        equivalent: one_row,
    },
    Mutant {
        name: "chain_starts_anew",
        change: "a row does not add to the sum from above",
        file: WS_PE,
        edits: &[(".held(sum_in)", ".held({ACC_W{1'b0}})")],
        applies: is_weight_stationary,
        equivalent: one_row,
    },
    Mutant {
        name: "tile_overwrites",
        change: "the accumulator memory keeps the last tile of products only",
        file: WS_ACC,
        edits: &[("assign held = start ?", "assign held = 1'b1 ?")],
        applies: is_weight_stationary,
        equivalent: one_tile_of_products,
    },
    Mutant {
        name: "pixel_off_by_one",
        change: "a later tile's pixels are added to their neighbours",
        file: WS_ACC,
        edits: &[(
            "assign at   = first ? {AT_W{1'b0}} : count;",
            "assign at   = (first && !start) ? {AT_W{1'b0}} + 1'b1 : first ? {AT_W{1'b0}} : count;",
        )],
        applies: is_weight_stationary,
        equivalent: one_tile_of_products,
    },
    Mutant {
        name: "cycle_late",
        change: "a register more before every row and column",
        file: WS,
        edits: &[
            ("(A_W + 2), .DEPTH(row)", "(A_W + 2), .DEPTH(row + 1)"),
            (".DEPTH(col)", ".DEPTH(col + 1)"),
            (".DEPTH(ROWS - 1 + col)", ".DEPTH(ROWS + col)"),
        ],
        applies: is_weight_stationary,
        equivalent: never,
    },
];
