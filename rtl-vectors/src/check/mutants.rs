//! Built-in faults: each changes the reference RTL or the expected data, and must be caught by the replay.

use std::fs;
use std::path::{Path, PathBuf};

use super::simulators::{Bench, Ran, replay};
use super::{Divergence, Outcome, Simulator, array_mutants, files};
use crate::VectorError;
use crate::manifest::{LevelInfo, Manifest};
use crate::read::read_manifest;

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutantResult {
    /// Its name.
    pub name: &'static str,
    /// What is changed.
    pub change: &'static str,
    /// The replay's answer: caught if it failed. None where the mutant does not apply to this datapath.
    pub outcome: Option<Outcome>,
}

impl MutantResult {
    /// Whether the replay came to its end and found a difference.
    pub fn caught(&self) -> bool {
        matches!(&self.outcome, Some(Outcome::Fail { first, .. }) if first.kind != "build or run")
    }
}

/// A textual change of one file.
struct Mutant {
    name: &'static str,
    change: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Whether the datapath has what it breaks.
    applies: fn(&Manifest) -> bool,
}

fn always(_: &Manifest) -> bool {
    true
}

fn has_serial(m: &Manifest) -> bool {
    m.arithmetic.levels.iter().any(|l| l.reduce == "serial")
}

fn checks_adds(m: &Manifest) -> bool {
    m.arithmetic
        .levels
        .iter()
        .any(|l| l.stage.bits.is_some() && l.check == "each_add" && l.reduce == "serial")
}

fn has_tree(m: &Manifest) -> bool {
    m.interface.lanes > 1
}

fn mode_is(m: &Manifest, modes: &[&str]) -> bool {
    m.arithmetic.levels.iter().any(|l| l.stage.overflow.as_deref().is_some_and(|o| modes.contains(&o)))
}

/// Whether a sticky serial level takes a value after it can be stuck: the second addition can overflow, or the first
/// one where values are wider than the register. (Behind a tree only the last value of a dot product can be wider.)
fn leaves_rail(m: &Manifest) -> bool {
    let mut values = m.layer.terms;
    let mut port = m.arithmetic.product.port_bits;
    m.arithmetic.levels.iter().any(|level| {
        let run = level.terms.unwrap_or(values).min(values);
        let wide = level.stage.bits.is_some_and(|bits| bits < port) && !has_tree(m);
        values = values.div_ceil(run.max(1));
        port = level.stage.port_bits;
        level.reduce == "serial" && mode(level) == Some("sticky") && run >= if wide { 2 } else { 3 }
    })
}

fn mode(level: &LevelInfo) -> Option<&str> {
    level.stage.overflow.as_deref()
}

fn clamps(m: &Manifest) -> bool {
    mode_is(m, &["saturate", "sticky"])
}

fn multi_level(m: &Manifest) -> bool {
    m.arithmetic.levels.len() > 1
}

fn has_rtl_requantizer(m: &Manifest) -> bool {
    m.arithmetic.requantize.in_rtl
}

fn in_float64(m: &Manifest) -> bool {
    m.arithmetic.requantize.scheme == "float64_away"
}

fn has_post_bias(m: &Manifest) -> bool {
    m.arithmetic.bias.at == "post" && m.arithmetic.requantize.in_rtl
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "wrap_for_saturate",
        change: "the accumulator wraps instead of clamping",
        file: "rtl/gb_fit.sv",
        from: "(MODE == 0) ? wrapped",
        to: "(MODE != 5) ? wrapped",
        applies: |m| mode_is(m, &["saturate", "saturate_symmetric", "saturate_zero", "sticky"]),
    },
    Mutant {
        name: "saturate_for_wrap",
        change: "the accumulator clamps instead of wrapping",
        file: "rtl/gb_fit.sv",
        from: "(MODE == 0) ? wrapped",
        to: "(MODE == 6) ? wrapped",
        applies: |m| mode_is(m, &["wrap"]),
    },
    Mutant {
        name: "one_bit_narrower",
        change: "rails of a register one bit narrower",
        file: "rtl/gb_fit.sv",
        from: "? BITS - 1 : BITS;",
        to: "? BITS - 2 : BITS - 1;",
        applies: |m| m.arithmetic.levels.iter().any(|l| l.stage.bits.is_some()),
    },
    Mutant {
        name: "one_bit_wider",
        change: "rails of a register one bit wider",
        file: "rtl/gb_fit.sv",
        from: "? BITS - 1 : BITS;",
        to: "? BITS : BITS + 1;",
        applies: |m| m.arithmetic.levels.iter().any(|l| l.stage.bits.is_some()),
    },
    Mutant {
        name: "rail_off_by_one",
        change: "the upper rail is one too low",
        file: "rtl/gb_fit.sv",
        from: "(ONE <<< TOP) - ONE;",
        to: "(ONE <<< TOP) - ONE - ONE;",
        applies: clamps,
    },
    Mutant {
        name: "asymmetric_rail",
        change: "the lower rail of symmetric saturation is -2^(bits-1)",
        file: "rtl/gb_fit.sv",
        from: "(MODE == 2) ? -MAX",
        to: "(MODE == 6) ? -MAX",
        applies: |m| mode_is(m, &["saturate_symmetric"]),
    },
    Mutant {
        name: "direction_swapped",
        change: "the clamp goes to the wrong rail",
        file: "rtl/gb_fit.sv",
        from: ": high ? MAX : MIN;",
        to: ": high ? MIN : MAX;",
        applies: |m| mode_is(m, &["saturate", "saturate_symmetric", "sticky"]),
    },
    Mutant {
        name: "dropped_sign_extension",
        change: "an addend is zero-extended",
        file: "rtl/gb_add.sv",
        from: "{{(SUM_W - IN_W) {x[IN_W-1]}}, x};",
        to: "{{(SUM_W - IN_W) {1'b0}}, x};",
        applies: has_serial,
    },
    Mutant {
        name: "not_cleared",
        change: "a run starts from what the register held",
        file: "rtl/gb_level.sv",
        from: "start ? first : acc;",
        to: "acc;",
        applies: has_serial,
    },
    Mutant {
        name: "clear_ignored",
        change: "a clear in the middle of a dot product is ignored",
        file: "rtl/gb_level.sv",
        from: "fresh || clear;",
        to: "fresh;",
        applies: has_serial,
    },
    Mutant {
        name: "sticky_not_cleared",
        change: "the sticky flag survives the next run",
        file: "rtl/gb_level.sv",
        from: "(sticky && !start)",
        to: "sticky",
        applies: checks_adds,
    },
    Mutant {
        name: "sticky_leaves_rail",
        change: "sticky saturation forgets that it is stuck",
        file: "rtl/gb_add.sv",
        from: "held_stuck ? held : fitted;",
        to: "fitted;",
        applies: leaves_rail,
    },
    Mutant {
        name: "bubble_adds",
        change: "a cycle without a beat adds too",
        file: "rtl/gb_dut.sv",
        from: "valid1 <= in_valid;",
        to: "valid1 <= 1'b1;",
        applies: always,
    },
    Mutant {
        name: "latency_off_by_one",
        change: "one more register between products and accumulators",
        file: "rtl/gb_dut.sv",
        from: "    logic valid1, clear1;",
        to: LATE,
        applies: always,
    },
    Mutant {
        name: "products_late",
        change: "products come one cycle after their control",
        file: "rtl/gb_dut.sv",
        from: "product1  <= product;",
        to: "product0 <= product; product1 <= product0;",
        applies: always,
    },
    Mutant {
        name: "unsigned_product",
        change: "activations are multiplied as unsigned",
        file: "rtl/gb_product.sv",
        from: "exact = a * b;",
        to: "exact = $unsigned(a) * b;",
        applies: always,
    },
    Mutant {
        name: "tail_lanes_added",
        change: "unused lanes are added",
        file: "rtl/gb_tree.sv",
        from: "assign used[LEAVES+i] = keep[i];",
        to: "assign used[LEAVES+i] = 1'b1;",
        applies: has_tree,
    },
    Mutant {
        name: "lone_value_fitted",
        change: "the tree's hand-over port is no wider than a node: a lone value is fitted",
        file: "rtl/gb_tree.sv",
        from: ".BITS((HAND_OVER != 0) ? BITS : 0)",
        to: ".BITS(BITS)",
        applies: |m| {
            let level = &m.arithmetic.levels[0];
            let narrower = level.stage.bits.is_some_and(|bits| bits < m.arithmetic.product.port_bits);
            has_tree(m) && level.check == "each_add" && narrower && mode(level) != Some("observe")
        },
    },
    Mutant {
        name: "tree_order",
        change: "the tree pairs lanes at a distance instead of neighbours",
        file: "rtl/gb_tree.sv",
        from: "x[i*IN_W+:IN_W]};",
        to: "x[((i % 2) * (LANES / 2) + i / 2)*IN_W+:IN_W]};",
        applies: has_tree,
    },
    Mutant {
        name: "run_boundary_ignored",
        change: "an inner level starts no new run where one ends",
        file: "rtl/gb_level.sv",
        from: "fresh  <= run_last;",
        to: "fresh  <= 1'b0;",
        applies: |m| {
            m.arithmetic.levels.iter().filter(|l| l.reduce == "serial").count() > 1 && multi_level(m)
        },
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        from: "assign scaled    = adjusted >>> right;",
        to: "assign scaled    = high_half >>> right;",
        applies: |m| m.arithmetic.requantize.scheme == "double",
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        from: "assign scaled   = adjusted >>> shift;",
        to: "assign scaled   = product >>> shift;",
        applies: |m| ["single", "away"].contains(&m.arithmetic.requantize.scheme.as_str()),
    },
    Mutant {
        name: "wrong_tie",
        change: "ties go the other way",
        file: "rtl/gb_requant.sv",
        from: "(high_half[W-1] && right != 0)",
        to: "(1'b0)",
        // Below the zero point ties only show where codes are not clamped there.
        applies: |m| {
            let requantize = &m.arithmetic.requantize;
            requantize.scheme == "double" && requantize.clamp_min < requantize.zero_point
        },
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        from: "(float_product + ((ONE <<< shift) >>> 1)) >> shift;",
        to: "float_product >> shift;",
        applies: in_float64,
    },
    Mutant {
        name: "product_not_rounded",
        change: "the requantizer's product is exact instead of a float64",
        file: "rtl/gb_requant.sv",
        from: "gb_float53 #(.W(W)) u_product (.x(product), .y(float_product));",
        to: "assign float_product = product;",
        applies: in_float64,
    },
    Mutant {
        name: "multiplier_cut",
        change: "the multiplier has 31 bits instead of 53",
        file: "rtl/gb_requant.sv",
        from: "float_x} * wide_mult;",
        to: "float_x} * ((wide_mult >>> 22) <<< 22);",
        applies: in_float64,
    },
    Mutant {
        name: "wrong_tie",
        change: "negative ties go towards zero",
        file: "rtl/gb_requant.sv",
        from: "(float_product + ((ONE <<< shift) >>> 1))",
        to: "(float_product + ((ONE <<< shift) >>> 1) - x[IN_W-1])",
        applies: |m| {
            let requantize = &m.arithmetic.requantize;
            in_float64(m) && requantize.clamp_min < requantize.zero_point
        },
    },
    Mutant {
        name: "zero_point_dropped",
        change: "the output zero point is not added",
        file: "rtl/gb_requant.sv",
        from: "scaled + ZERO_POINT;",
        to: "scaled;",
        applies: |m| has_rtl_requantizer(m) && m.arithmetic.requantize.zero_point != 0,
    },
    Mutant {
        name: "clamp_off_by_one",
        change: "the upper clamp is one too low",
        file: "rtl/gb_requant.sv",
        from: "assign high_end = CLAMP_MAX;",
        to: "assign high_end = CLAMP_MAX - 1;",
        applies: has_rtl_requantizer,
    },
    Mutant {
        name: "bias_dropped",
        change: "the bias is not added",
        file: "rtl/gb_dut.sv",
        from: "with_bias = sum + bias2;",
        to: "with_bias = sum;",
        applies: has_post_bias,
    },
    Mutant {
        name: "vhdl_wrap_for_saturate",
        change: "the accumulator wraps instead of clamping",
        file: "rtl/gb_pkg.vhd",
        from: "when 0 =>",
        to: "when 0 | 1 | 2 | 4 =>",
        applies: |m| mode_is(m, &["saturate", "saturate_symmetric", "sticky"]),
    },
    Mutant {
        name: "vhdl_one_bit_narrower",
        change: "rails of a register one bit narrower",
        file: "rtl/gb_pkg.vhd",
        from: "top := bits - is_signed;",
        to: "top := bits - is_signed - 1;",
        applies: |m| m.arithmetic.levels.iter().any(|l| l.stage.bits.is_some()),
    },
    Mutant {
        name: "vhdl_not_cleared",
        change: "a run starts from what the register held",
        file: "rtl/gb_mac.vhd",
        from: "held     := (others => '0');",
        to: "null;",
        applies: has_serial,
    },
    Mutant {
        name: "vhdl_bubble_adds",
        change: "a cycle without a beat adds too",
        file: "rtl/gb_mac.vhd",
        from: "valid1    <= in_valid and rst_n;",
        to: "valid1    <= rst_n;",
        applies: always,
    },
];

/// A second register in front of the first one.
const LATE: &str = "logic valid1, clear1, valid0, clear0;";

/// Runs every mutant of the bundle in `dir` in `simulator`, then one flipped digit of the expected accumulators with
/// the hash check off.
///
/// # Errors
/// [`VectorError`] if the bundle or the simulator cannot be used.
pub fn mutate(
    dir: &Path,
    simulator: Simulator,
    work: Option<&Path>,
) -> Result<Vec<MutantResult>, VectorError> {
    let manifest = read_manifest(dir)?;
    let mut results = Vec::new();
    for mutant in MUTANTS {
        let in_vhdl = mutant.file.ends_with(".vhd");
        if in_vhdl != (simulator == Simulator::Ghdl) || !(mutant.applies)(&manifest) {
            continue;
        }
        let run = |path: &Path| change(path, mutant);
        let outcome = one(dir, &manifest, simulator, work, mutant.name, &run)?;
        results.push(MutantResult { name: mutant.name, change: mutant.change, outcome: Some(outcome) });
    }
    let flip = |path: &Path| flip_digit(path, &manifest);
    let outcome = one(dir, &manifest, simulator, work, "flipped_digit", &flip)?;
    let change = "one hexadecimal digit of the expected accumulators, hash check off";
    results.push(MutantResult { name: "flipped_digit", change, outcome: Some(outcome) });
    if let Some(info) = manifest.array.as_ref().filter(|_| simulator != Simulator::Ghdl) {
        results.extend(array_mutants::mutate(dir, &manifest, info, simulator, work)?);
    }
    Ok(results)
}

fn one(
    dir: &Path,
    manifest: &Manifest,
    simulator: Simulator,
    work: Option<&Path>,
    name: &str,
    change: &dyn Fn(&Path) -> Result<(), VectorError>,
) -> Result<Outcome, VectorError> {
    let scratch = files::Scratch::new(work, &format!("mutant-{name}"))?;
    files::copy(dir, manifest, scratch.path())?;
    change(scratch.path())?;
    outcome(simulator, Bench::Unit, scratch.path(), manifest)
}

/// The replay's answer to a changed bundle.
pub(super) fn outcome(
    simulator: Simulator,
    bench: Bench,
    work: &Path,
    manifest: &Manifest,
) -> Result<Outcome, VectorError> {
    Ok(match replay(simulator, bench, work, manifest)? {
        Ran::Report(outcome) => outcome,
        Ran::Broken(text) => {
            let first = Divergence { kind: "build or run".into(), details: text, ..Divergence::default() };
            Outcome::Fail { mismatches: 0, first }
        }
    })
}

fn change(work: &Path, mutant: &Mutant) -> Result<(), VectorError> {
    let (path, mut changed) = replaced(work, mutant.name, mutant.file, mutant.from, mutant.to)?;
    if mutant.name == "latency_off_by_one" {
        changed = late(&changed);
    }
    if mutant.name == "products_late" {
        changed = changed.replacen("product, product1;", "product, product0, product1;", 1);
    }
    fs::write(&path, changed).map_err(|source| VectorError::Write { path, source })
}

/// A file's path, and its text with `from`, which occurs once, replaced.
pub(super) fn replaced(
    work: &Path,
    mutant: &str,
    file: &str,
    from: &str,
    to: &str,
) -> Result<(PathBuf, String), VectorError> {
    let path = work.join(file);
    let text = String::from_utf8_lossy(&files::read(&path)?).into_owned();
    match text.matches(from).count() {
        1 => Ok((path, text.replacen(from, to, 1))),
        found => Err(VectorError::Mutant { mutant: mutant.into(), file: file.into(), found }),
    }
}

/// Delays every stage-1 register by one more cycle.
fn late(text: &str) -> String {
    let widths = [
        ("    logic [", "run_last1;", "run_last0, run_last1;"),
        ("    logic [", "keep1;", "keep0, keep1;"),
        ("", "bias1;\n", "bias0, bias1;\n"),
        ("", "mult1;\n", "mult0, mult1;\n"),
        ("", "exp1;\n", "exp0, exp1;\n"),
        ("", "product, product1;", "product, product0, product1;"),
    ];
    let declared = widths.iter().fold(text.to_owned(), |t, (_, from, to)| t.replacen(from, to, 1));
    let moves = [
        ("valid1 <= in_valid;", "valid0 <= in_valid; valid1 <= valid0;"),
        ("clear1 <= in_valid && in_clear;", "clear0 <= in_valid && in_clear; clear1 <= clear0;"),
        ("valid1 <= 1'b0;", "valid0 <= 1'b0; valid1 <= 1'b0;"),
        ("clear1 <= 1'b0;", "clear0 <= 1'b0; clear1 <= 1'b0;"),
        ("run_last1 <= in_run_last;", "run_last0 <= in_run_last; run_last1 <= run_last0;"),
        ("keep1     <= in_keep;", "keep0 <= in_keep; keep1 <= keep0;"),
        ("bias1     <= in_bias;", "bias0 <= in_bias; bias1 <= bias0;"),
        ("mult1     <= in_mult;", "mult0 <= in_mult; mult1 <= mult0;"),
        ("exp1      <= in_exp;", "exp0 <= in_exp; exp1 <= exp0;"),
        ("product1  <= product;", "product0 <= product; product1 <= product0;"),
    ];
    moves.iter().fold(declared, |t, (from, to)| t.replacen(from, to, 1))
}

/// Flips the last digit of a word that is compared.
fn flip_digit(work: &Path, manifest: &Manifest) -> Result<(), VectorError> {
    let level = &manifest.arithmetic.levels[0];
    // The first case starts with a beat that is compared.
    flip_last_digit(work.join(format!("exp_acc_{}.mem", level.name)), 0)
}

/// Flips the last digit of a line.
pub(super) fn flip_last_digit(path: PathBuf, line: usize) -> Result<(), VectorError> {
    let mut text = files::read(&path)?;
    let end = text.split(|&b| b == b'\n').take(line + 1).map(|l| l.len() + 1).sum::<usize>();
    if let Some(digit) = text.get_mut(end.saturating_sub(2)) {
        *digit = if *digit == b'0' { b'1' } else { b'0' };
    }
    fs::write(&path, text).map_err(|source| VectorError::Write { path, source })
}
