//! Tests what corner cases cover, and whether a change of a sum by one unit changes its code.

use std::collections::BTreeSet;

use crate::common::{UNITS, Unit, bundle};
use guardbit_hwmodels::{Check, Reduce};
use guardbit_num::{Multiplier, Requantizer};
use guardbit_rtl_vectors::manifest::{Arithmetic, BiasAt, CaseGroup, Manifest};

const fn unit(accelerator: &'static str, terms: usize) -> Unit {
    Unit { accelerator, terms, packing: guardbit_rtl_vectors::manifest::Packing::Dense }
}

/// Datapaths with stages between operands and rails.
const STAGES: &[Unit] = &[
    unit("schema: 1\nextends: fpga-int14-os\nbias: {at: preload}\n", 30),
    unit("schema: 1\nextends: fpga-int14-os\nbias: {at: post, bits: 14, overflow: saturate}\n", 30),
    unit("schema: 1\nextends: fpga-int14-os\nproduct: {bits: 12, overflow: saturate}\n", 30),
    unit("schema: 1\nextends: fpga-int14-os\nproduct: {bits: auto, shift: 3, round: half_up}\n", 30),
    unit(
        "schema: 1\nextends: fpga-int14-os\nproduct: {bits: 15, overflow: wrap, shift: 2, round: half_even}\n",
        60,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-ws\naccumulation:\n  - {name: chain, reduce: serial, terms: 8, bits: 14, overflow: saturate, shift: 2, round: half_up}\n  - {name: acc, reduce: serial, terms: all, bits: 13, overflow: saturate}\n",
        96,
    ),
];

/// Datapaths whose bins need a search, or a proof that no operands hit them.
const SEARCHED: &[Unit] = &[
    // A middle level whose rails take two values at the rails of the level below.
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: inner, reduce: serial, terms: 3, bits: 12, overflow: wrap, shift: 3, round: half_even}\n  - {name: middle, reduce: serial, terms: 2, bits: 10, overflow: wrap}\n  - {name: acc, reduce: serial, terms: all, bits: 8, overflow: observe}\nproduct: {bits: 16, overflow: saturate_zero, shift: 4, round: half_up}\nbias: {at: preload}\n",
        35,
    ),
    // A rail behind three levels, two of which stick.
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: inner, reduce: serial, terms: 9, bits: 12, overflow: sticky, check: hand_over}\n  - {name: middle, reduce: serial, terms: 3, bits: 19, overflow: saturate}\n  - {name: acc, reduce: serial, terms: all, bits: 13, overflow: sticky, check: hand_over}\nproduct: {bits: 11, overflow: saturate_zero}\n",
        60,
    ),
    // Trees with fewer products than lanes, with one product, and with a short last run.
    unit(
        "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: tree, reduce: tree, terms: 5, bits: 13, overflow: wrap, check: hand_over, shift: 3, round: half_up}\n  - {name: acc, reduce: serial, terms: all, bits: 22, overflow: saturate_symmetric}\narray: {dot_width: 5}\n",
        3,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: tree, reduce: tree, terms: 5, bits: 12, overflow: sticky}\n  - {name: acc, reduce: serial, terms: all, bits: 9, overflow: observe}\narray: {dot_width: 5}\n",
        1,
    ),
    unit(
        "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: tree, reduce: tree, terms: 7, bits: 19, overflow: saturate_symmetric}\n  - {name: acc, reduce: serial, terms: all, bits: 17, overflow: saturate_zero, check: hand_over}\narray: {dot_width: 7}\n",
        5,
    ),
    // One product: not every number is one.
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, reduce: serial, terms: all, bits: 14, overflow: saturate}\n",
        1,
    ),
    // A run that crosses both rails takes nearly all of its values.
    unit(
        "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: inner, reduce: serial, terms: 2, bits: 9, overflow: saturate_zero}\n  - {name: acc, reduce: serial, terms: all, bits: 19, overflow: saturate, shift: 4, round: half_up}\nproduct: {bits: 16, overflow: saturate_symmetric}\n",
        60,
    ),
];

/// Returns the register and the name of every bin that a datapath has, apart from those of classes.
fn bins_of(manifest: &Manifest) -> BTreeSet<(String, String)> {
    let Arithmetic { product, levels, bias, .. } = &manifest.arithmetic;
    let near = ["max-1", "max+0", "max+1", "min-1", "min+0", "min+1", "0", "-1"];
    let values = near.map(|value| format!("value:{value}")).into_iter();
    let all = values.chain(["overflow:high".into(), "overflow:low".into()]);
    let has_bias = bias.at == BiasAt::POST && bias.register.bits.is_some();
    let others =
        [("product", product.bits.is_some()), ("bias", has_bias)].into_iter().filter(|(_, has)| *has);
    let levels = levels.iter().enumerate().filter(|(_, level)| level.register.bits.is_some());
    let mut bins = BTreeSet::new();
    for name in others.map(|(name, _)| name).chain(levels.clone().map(|(_, level)| level.name.as_str())) {
        bins.extend(all.clone().map(|bin| (name.to_owned(), bin)));
    }
    for (index, level) in levels {
        let mut add = |bin: String| bins.insert((level.name.clone(), bin));
        if level.check == Check::EachAdd {
            for last in ["in", "high", "low"] {
                for prefix in ["in", "high", "low", "both"] {
                    add(format!("final:{last}/prefix:{prefix}"));
                }
            }
        }
        if level.reduce == Reduce::Tree && manifest.interface.lanes > 1 {
            (0..manifest.interface.lanes).for_each(|lane| _ = add(format!("overflow_lane:{lane}")));
        }
        if bias.at == BiasAt::PRELOAD && index + 1 == manifest.arithmetic.levels.len() {
            ["in", "high", "low"].iter().for_each(|side| _ = add(format!("load:{side}")));
        }
    }
    bins
}

/// Every bin of every register is hit, or is proved to be out of reach.
#[test]
fn bins_are_hit_or_out_of_reach() {
    for unit in UNITS.iter().chain(STAGES).chain(SEARCHED) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = bundle(dir.path(), *unit);
        let bins = &manifest.coverage.bins;
        let of_registers = bins.iter().filter(|bin| !bin.level.is_empty());
        let found: BTreeSet<_> = of_registers.map(|bin| (bin.level.clone(), bin.name.clone())).collect();
        assert_eq!(found, bins_of(&manifest), "{}", unit.accelerator);
        let missed: Vec<_> = bins.iter().filter(|b| b.cases == 0 && b.unreachable.is_none()).collect();
        assert!(missed.is_empty(), "{}: {missed:?}", unit.accelerator);
        assert_eq!(manifest.coverage.missed, 0);
        assert!(bins.iter().all(|b| b.cases == 0 || b.unreachable.is_none()), "{}", unit.accelerator);
    }
}

/// The rails of the bias adder have bins, and cases hit them.
#[test]
fn the_bias_adder_has_bins() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = bundle(dir.path(), STAGES[1]);
    let bias = |name: &str| manifest.coverage.bins.iter().find(|b| b.level == "bias" && b.name == name);
    for name in ["value:max+0", "value:min+0", "overflow:high"] {
        assert!(bias(name).is_some(), "{name}");
    }
    assert!(bias("value:max+0").unwrap().cases > 0);
}

/// Returns the corner cases whose multiplier was chosen for them.
fn chosen(manifest: &Manifest) -> Vec<(i128, Requantizer, String)> {
    let own = |class: &str| class.starts_with("requantize") || class == "bound_attained";
    let scheme = manifest.arithmetic.requantize.scheme;
    let cases = manifest.cases.iter().filter(|case| case.group == CaseGroup::Corner && !own(&case.class));
    cases
        .filter_map(|case| {
            // The requantizer's input is the sum alone.
            assert!(case.bias.is_none_or(|bias| bias == 0) && case.input_sum_factor == 0, "{}", case.id);
            let exact = Requantizer::new(scheme, Multiplier::new(case.multiplier).unwrap());
            let levels = &manifest.arithmetic.levels;
            let shift =
                manifest.arithmetic.product.shift + levels.iter().map(|l| l.register.shift).sum::<u32>();
            Some((case.expected.sum?.into(), exact.scaled_up(shift).unwrap(), case.id.clone()))
        })
        .collect()
}

/// A sum that is greater or less by one has another code.
#[test]
fn codes_tell_one_unit_of_the_sum() {
    for unit in UNITS.iter().chain(STAGES) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = bundle(dir.path(), *unit);
        let requantize = &manifest.arithmetic.requantize;
        let all = chosen(&manifest);
        let hidden: Vec<_> = all
            .iter()
            .filter(|(sum, requantizer, _)| {
                let code = |sum: i128| {
                    let code = requantizer.requantize(sum, requantize.zero_point.into());
                    code.clamp(requantize.clamp_min.into(), requantize.clamp_max.into())
                };
                code(*sum) == code(sum - 1) && code(*sum) == code(sum + 1)
            })
            .map(|(sum, _, id)| (sum, id))
            .collect();
        assert!(hidden.is_empty() && all.len() > 50, "{}: {hidden:?}", unit.accelerator);
    }
}
