//! Faults of the arrays: in what surrounds the arithmetic, which the faults of the unit cover.

use std::fs;
use std::path::Path;

use super::mutants::{MutantResult, flip_last_digit, outcome, replaced};
use super::simulators::Bench;
use super::{Simulator, files};
use crate::VectorError;
use crate::array::is_output_stationary;
use crate::manifest::{ArrayInfo, Manifest};

/// A textual change of one file, in one or more places.
struct ArrayMutant {
    name: &'static str,
    change: &'static str,
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// Whether these tiles can show it.
    applies: fn(&ArrayInfo) -> bool,
}

const OS: &str = "rtl/gb_os_array.sv";
const OS_PE: &str = "rtl/gb_os_pe.sv";
const WS: &str = "rtl/gb_ws_array.sv";
const WS_PE: &str = "rtl/gb_ws_pe.sv";
const WS_ACC: &str = "rtl/gb_ws_acc.sv";

fn has_rows(info: &ArrayInfo) -> bool {
    info.rows > 1
}

fn has_tiles_of_products(info: &ArrayInfo) -> bool {
    info.tiles.iter().any(|tile| tile.first_term > 0)
}

const MUTANTS: &[ArrayMutant] = &[
    ArrayMutant {
        name: "skew_off_by_one",
        change: "every row's activations come one cycle late",
        file: OS,
        edits: &[(".DEPTH(row)", ".DEPTH(row + 1)")],
        applies: |_| true,
    },
    ArrayMutant {
        name: "columns_not_skewed",
        change: "all columns get their weights in the same cycle",
        file: OS,
        edits: &[(".DEPTH(col)", ".DEPTH(0)")],
        applies: |info| info.cols > 1 && info.tiles.iter().any(|tile| tile.channels > 1),
    },
    ArrayMutant {
        name: "cycle_late",
        change: "a register more before every row and column",
        file: OS,
        edits: &[(".DEPTH(row)", ".DEPTH(row + 1)"), (".DEPTH(col)", ".DEPTH(col + 1)")],
        applies: |_| true,
    },
    ArrayMutant {
        name: "last_product_missed",
        change: "the drain takes the sum before the last product",
        file: OS_PE,
        edits: &[("drain_out <= sum;", "drain_out <= acc;")],
        applies: |_| true,
    },
    ArrayMutant {
        name: "tile_not_cleared",
        change: "a tile adds to the sums of the one before",
        file: OS_PE,
        edits: &[(".clear(valid_in && first_in)", ".clear(1'b0)"), (".run_last(last_in)", ".run_last(1'b0)")],
        applies: |info| info.tiles.len() > 1,
    },
    ArrayMutant {
        name: "drain_stands_still",
        change: "sums do not move down the column",
        file: OS_PE,
        edits: &[("else if (drain_shift)", "else if (1'b0)")],
        applies: has_rows,
    },
    ArrayMutant {
        name: "drain_one_step_short",
        change: "a column shifts one step less",
        file: OS,
        edits: &[("step < row)", "step + 1 < row)")],
        applies: has_rows,
    },
    ArrayMutant {
        name: "skew_off_by_one",
        change: "the lower rows' activations come one cycle late",
        file: WS,
        edits: &[("(A_W + 2), .DEPTH(row)", "(A_W + 2), .DEPTH((row == 0) ? 0 : row + 1)")],
        applies: has_rows,
    },
    ArrayMutant {
        name: "stale_weight",
        change: "a tile's first pixel still meets the weights before",
        file: WS_PE,
        edits: &[
            ("        now       <= w;", "        now       <= (valid_in && first_in) ? next : now;"),
            ("assign w     = (valid_in && first_in) ? next : now;", "assign w     = now;"),
        ],
        applies: |_| true,
    },
    ArrayMutant {
        name: "weights_off_by_one_row",
        change: "weights stop a row too early",
        file: WS,
        edits: &[("step >= row)", "step > row)")],
        applies: |_| true,
    },
    ArrayMutant {
        name: "weights_overtaken",
        change: "rows take weights that only pass while they still need their own",
        file: WS,
        edits: &[("load && step >= row", "load")],
        applies: |info| has_rows(info) && info.tiles.len() > 1 && info.cycles.period == info.rows,
    },
    ArrayMutant {
        name: "chain_starts_anew",
        change: "a row does not add to what comes from above",
        file: WS_PE,
        edits: &[(".held(sum_in)", ".held({ACC_W{1'b0}})")],
        applies: has_rows,
    },
    ArrayMutant {
        name: "tile_overwrites",
        change: "the accumulator memory keeps the last tile of products only",
        file: WS_ACC,
        edits: &[("assign held = start ?", "assign held = 1'b1 ?")],
        applies: has_tiles_of_products,
    },
    ArrayMutant {
        name: "pixel_off_by_one",
        change: "a later tile's pixels are added to their neighbours",
        file: WS_ACC,
        edits: &[(
            "assign at   = first ? {AT_W{1'b0}} : count;",
            "assign at   = (first && !start) ? {AT_W{1'b0}} + 1'b1 : first ? {AT_W{1'b0}} : count;",
        )],
        applies: |info| has_tiles_of_products(info) && info.pixels > 2,
    },
    ArrayMutant {
        name: "cycle_late",
        change: "a register more before every row and column",
        file: WS,
        edits: &[
            ("(A_W + 2), .DEPTH(row)", "(A_W + 2), .DEPTH(row + 1)"),
            (".DEPTH(col)", ".DEPTH(col + 1)"),
            (".DEPTH(ROWS - 1 + col)", ".DEPTH(ROWS + col)"),
        ],
        applies: |_| true,
    },
];

/// Runs every mutant of the array, then one flipped digit of its expected sums with the hash check off.
pub(super) fn mutate(
    dir: &Path,
    manifest: &Manifest,
    info: &ArrayInfo,
    simulator: Simulator,
    work: Option<&Path>,
) -> Result<Vec<MutantResult>, VectorError> {
    let run = |name: &'static str, change: &'static str, edit: &dyn Fn(&Path) -> Result<(), VectorError>| {
        let scratch = files::Scratch::new(work, &format!("mutant-array-{name}"))?;
        files::copy(dir, manifest, scratch.path())?;
        edit(scratch.path())?;
        let outcome = Some(outcome(simulator, Bench::Array, scratch.path(), manifest)?);
        Ok::<_, VectorError>(MutantResult { name, change, outcome })
    };
    let here = |mutant: &&ArrayMutant| {
        mutant.file.starts_with("rtl/gb_os") == is_output_stationary(info) && (mutant.applies)(info)
    };
    let mut results = Vec::new();
    for mutant in MUTANTS.iter().filter(here) {
        results.push(run(mutant.name, mutant.change, &|path| change(path, mutant))?);
    }
    // The first word with a sum of an output in column 0, which is every line's last digit.
    let line = (0..info.words).find(|&word| info.output(word, 0).is_some()).unwrap_or(0);
    let flip = |path: &Path| flip_last_digit(path.join("array/exp_sum.mem"), line);
    results.push(run("flipped_sum", "one hexadecimal digit of the array's sums, hash check off", &flip)?);
    Ok(results)
}

fn change(work: &Path, mutant: &ArrayMutant) -> Result<(), VectorError> {
    for (from, to) in mutant.edits {
        let (path, text) = replaced(work, mutant.name, mutant.file, from, to)?;
        fs::write(&path, text).map_err(|source| VectorError::Write { path, source })?;
    }
    Ok(())
}
