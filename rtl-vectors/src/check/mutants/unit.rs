//! Faults of the MAC unit outside its registers' rails: control, order and requantization.

use guardbit_hwmodels::Check;
use guardbit_num::Scheme;

use super::{Facts, Mutant};
use crate::manifest::BiasAt;
use crate::reach::rails;

fn always(_: &Facts) -> bool {
    true
}

/// Returns whether the design contains a module of a kind of level.
fn has(f: &Facts, module: &str) -> bool {
    f.levels().iter().any(|l| l.reduce.module() == module)
}

fn has_serial(f: &Facts) -> bool {
    has(f, "gb_level")
}

fn has_tree(f: &Facts) -> bool {
    has(f, "gb_tree") && f.manifest.interface.lanes > 1
}

fn has_rtl_requantizer(f: &Facts) -> bool {
    f.manifest.arithmetic.requantize.in_rtl
}

fn in_float64(f: &Facts) -> bool {
    f.scheme() == Scheme::Float64Away
}

fn has_post_bias(f: &Facts) -> bool {
    f.manifest.arithmetic.bias.at == BiasAt::POST && has_rtl_requantizer(f)
}

fn never(_: &Facts) -> Option<String> {
    None
}

/// Sign extension matters only for negative values.
fn no_negative_values(f: &Facts) -> Option<String> {
    let serial = f.levels().iter().zip(&f.reach.levels).filter(|(l, _)| !l.reduce.takes_run_at_once());
    let least = serial.map(|(_, reach)| reach.input.min).min()?;
    (least >= 0).then(|| "no level gets a negative value".into())
}

fn no_negative_operands(f: &Facts) -> Option<String> {
    let (a, w) = (&f.manifest.arithmetic.activation, &f.manifest.arithmetic.weight);
    (a.min >= 0 && w.min >= 0).then(|| "no operand is negative".into())
}

/// A clear falls into a run only if a dot product has several beats.
fn one_beat(f: &Facts) -> Option<String> {
    let beats = f.manifest.layer.terms.div_ceil(f.manifest.interface.lanes);
    (beats == 1).then(|| "every dot product is one beat, so no clear falls inside a run".into())
}

fn no_serial_overflow(f: &Facts) -> Option<String> {
    let mut serial = f.levels().iter().zip(&f.reach.levels).filter(|(l, _)| !l.reduce.takes_run_at_once());
    let fits = serial.all(|(level, reach)| rails(&level.register).is_none_or(|r| r.contains(reach.result)));
    fits.then(|| "no exact result of a serial level lies outside its rails: the flag is never set".into())
}

fn lone_values_fit(f: &Facts) -> Option<String> {
    let (product, rails) = (f.reach.product_out, rails(&f.levels()[0].register)?);
    rails
        .contains(product)
        .then(|| format!("products lie in {}..={}, which fits a node", product.min, product.max))
}

fn two_lanes(f: &Facts) -> Option<String> {
    (f.manifest.interface.lanes == 2).then(|| "two lanes can be paired in only one way".into())
}

/// The last level's runs end with the dot product, and the next dot product clears them.
fn one_run(f: &Facts) -> Option<String> {
    let inner = f.levels().len() - 1;
    let mut serial =
        f.levels().iter().zip(&f.reach.levels).take(inner).filter(|(l, _)| !l.reduce.takes_run_at_once());
    let single = serial.all(|(_, reach)| reach.runs == 1);
    let terms = f.manifest.layer.terms;
    single.then(|| format!("the {terms} products of a dot product are one run of every inner level"))
}

fn below_zero_clamped(f: &Facts) -> Option<String> {
    f.hides_negative().then(|| "only negative sums differ, and their codes are clamped".into())
}

fn no_bias(f: &Facts) -> Option<String> {
    let bias = &f.manifest.arithmetic.bias;
    (bias.word_min == 0 && bias.word_max == 0).then(|| "every bias of the layer is 0".into())
}

/// Adds a second register in front of the first one.
const LATE: &[(&str, &str)] = &[
    ("    logic valid1, clear1;", "    logic valid1, clear1, valid0, clear0;"),
    ("run_last1;", "run_last0, run_last1;"),
    ("] keep1;", "] keep0, keep1;"),
    ("] bias1;", "] bias0, bias1;"),
    ("] mult1;", "] mult0, mult1;"),
    ("] exp1;", "] exp0, exp1;"),
    ("product, product1;", "product, product0, product1;"),
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

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "dropped_sign_extension",
        change: "an addend is zero-extended",
        file: "rtl/gb_sum.sv",
        edits: &[("{{(SUM_W - IN_W) {x[IN_W-1]}}, x};", "{{(SUM_W - IN_W) {1'b0}}, x};")],
        applies: has_serial,
        equivalent: no_negative_values,
    },
    Mutant {
        name: "not_cleared",
        change: "a run starts from what the register held",
        file: "rtl/gb_level.sv",
        edits: &[("start ? first : acc;", "acc;")],
        applies: has_serial,
        equivalent: never,
    },
    Mutant {
        name: "clear_ignored",
        change: "a clear in the middle of a dot product is ignored",
        file: "rtl/gb_level.sv",
        edits: &[("fresh || clear;", "fresh;")],
        applies: has_serial,
        equivalent: one_beat,
    },
    Mutant {
        name: "sticky_not_cleared",
        change: "the sticky flag survives the next run",
        file: "rtl/gb_level.sv",
        edits: &[("(sticky && !start)", "sticky")],
        applies: has_serial,
        equivalent: no_serial_overflow,
    },
    Mutant {
        name: "bubble_adds",
        change: "a cycle without a beat adds too",
        file: "rtl/gb_unit.sv",
        edits: &[("valid1 <= in_valid;", "valid1 <= 1'b1;")],
        applies: always,
        equivalent: never,
    },
    Mutant {
        name: "latency_off_by_one",
        change: "one more register between products and accumulators",
        file: "rtl/gb_unit.sv",
        edits: LATE,
        applies: always,
        equivalent: never,
    },
    Mutant {
        name: "products_late",
        change: "products come one cycle after their control",
        file: "rtl/gb_unit.sv",
        edits: &[
            ("product1  <= product;", "product0 <= product; product1 <= product0;"),
            ("product, product1;", "product, product0, product1;"),
        ],
        applies: always,
        equivalent: never,
    },
    Mutant {
        name: "unsigned_product",
        change: "activations are multiplied as unsigned",
        file: "rtl/gb_product.sv",
        edits: &[("exact = a * b;", "exact = $unsigned(a) * b;")],
        applies: always,
        equivalent: no_negative_operands,
    },
    Mutant {
        name: "tail_lanes_added",
        change: "unused lanes are added",
        file: "rtl/gb_tree.sv",
        edits: &[("assign used[LEAVES+i] = keep[i];", "assign used[LEAVES+i] = 1'b1;")],
        applies: has_tree,
        equivalent: never,
    },
    Mutant {
        name: "lone_value_fitted",
        change: "the tree's hand-over port is no wider than a node: a lone value is fitted",
        file: "rtl/gb_tree.sv",
        edits: &[(".BITS((HAND_OVER != 0) ? BITS : 0)", ".BITS(BITS)")],
        applies: |f| {
            has_tree(f) && f.levels()[0].check == Check::EachAdd && f.levels()[0].register.bits.is_some()
        },
        equivalent: lone_values_fit,
    },
    Mutant {
        name: "tree_order",
        change: "the tree pairs lanes at a distance instead of neighbours",
        file: "rtl/gb_tree.sv",
        edits: &[("x[i*IN_W+:IN_W]};", "x[((i % 2) * (LANES / 2) + i / 2)*IN_W+:IN_W]};")],
        applies: has_tree,
        equivalent: two_lanes,
    },
    Mutant {
        name: "run_boundary_ignored",
        change: "an inner level does not start a new run after the end of a run",
        file: "rtl/gb_level.sv",
        edits: &[("fresh  <= run_last;", "fresh  <= 1'b0;")],
        applies: |f| f.levels().iter().filter(|l| !l.reduce.takes_run_at_once()).count() > 1,
        equivalent: one_run,
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        edits: &[("assign scaled    = adjusted >>> right;", "assign scaled    = high_half >>> right;")],
        applies: |f| f.scheme() == Scheme::Double,
        equivalent: never,
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        edits: &[("assign scaled   = adjusted >>> shift;", "assign scaled   = product >>> shift;")],
        applies: |f| [Scheme::Single, Scheme::Away].contains(&f.scheme()),
        equivalent: never,
    },
    Mutant {
        name: "wrong_tie",
        change: "ties go the other way",
        file: "rtl/gb_requant.sv",
        edits: &[("(high_half[W-1] && right != 0)", "(1'b0)")],
        applies: |f| f.scheme() == Scheme::Double,
        equivalent: below_zero_clamped,
    },
    Mutant {
        name: "truncation_for_rounding",
        change: "the requantizer cuts bits off instead of rounding",
        file: "rtl/gb_requant.sv",
        edits: &[("(float_product + ((ONE <<< shift) >>> 1)) >> shift;", "float_product >> shift;")],
        applies: in_float64,
        equivalent: never,
    },
    Mutant {
        name: "product_not_rounded",
        change: "the requantizer's product is exact instead of a float64",
        file: "rtl/gb_requant.sv",
        edits: &[(
            "gb_float53 #(.W(W)) u_product (.x(product), .y(float_product));",
            "assign float_product = product;",
        )],
        applies: in_float64,
        equivalent: never,
    },
    Mutant {
        name: "multiplier_cut",
        change: "the multiplier has 31 bits instead of 53",
        file: "rtl/gb_requant.sv",
        edits: &[("float_x} * wide_mult;", "float_x} * ((wide_mult >>> 22) <<< 22);")],
        applies: in_float64,
        equivalent: never,
    },
    Mutant {
        name: "wrong_tie",
        change: "negative ties go towards zero",
        file: "rtl/gb_requant.sv",
        edits: &[(
            "(float_product + ((ONE <<< shift) >>> 1))",
            "(float_product + ((ONE <<< shift) >>> 1) - x[IN_W-1])",
        )],
        applies: in_float64,
        equivalent: below_zero_clamped,
    },
    Mutant {
        name: "zero_point_dropped",
        change: "the output zero point is not added",
        file: "rtl/gb_requant.sv",
        edits: &[("scaled + ZERO;", "scaled;")],
        applies: |f| has_rtl_requantizer(f) && f.manifest.arithmetic.requantize.zero_point != 0,
        equivalent: never,
    },
    Mutant {
        name: "clamp_off_by_one",
        change: "the upper clamp is one too low",
        file: "rtl/gb_requant.sv",
        edits: &[("assign high_end = GREATEST;", "assign high_end = GREATEST - 1;")],
        applies: has_rtl_requantizer,
        equivalent: never,
    },
    Mutant {
        name: "bias_dropped",
        change: "the bias is not added",
        file: "rtl/gb_unit.sv",
        edits: &[("WITH_W'(sum) + WITH_W'(bias2);", "WITH_W'(sum);")],
        applies: has_post_bias,
        equivalent: no_bias,
    },
    Mutant {
        name: "vhdl_not_cleared",
        change: "a run starts from what the register held",
        file: "rtl/gb_mac.vhd",
        edits: &[("held     := (others => '0');", "null;")],
        applies: has_serial,
        equivalent: never,
    },
    Mutant {
        name: "vhdl_bubble_adds",
        change: "a cycle without a beat adds too",
        file: "rtl/gb_mac.vhd",
        edits: &[("valid1    <= in_valid and rst_n;", "valid1    <= rst_n;")],
        applies: always,
        equivalent: never,
    },
];
