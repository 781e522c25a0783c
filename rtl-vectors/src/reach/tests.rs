use guardbit_graph::DType;
use guardbit_hwmodels::Reduce;
use guardbit_sim::trace::{StepKind, TraceOperand, trace};
use proptest::prelude::*;

use super::*;
use crate::arithmetic::arithmetic;
use crate::synthetic::LayerParameters;

const CHECKS: [&str; 2] = ["each_add", "hand_over"];

/// Generates datapaths of one to three levels, the innermost one of any kind, as YAML.
fn accelerators() -> impl Strategy<Value = String> {
    let level = || (6u32..=20, 0..Overflow::ALL.len(), 0..CHECKS.len(), 0u32..3);
    (level(), prop::option::of((level(), 2usize..5)), level(), 0..Reduce::ALL.len(), any::<bool>(), 2usize..9, prop::option::of((8u32..18, 0..Overflow::ALL.len())), 0u32..3)
        .prop_map(|(inner, middle, outer, kind, two, run, product, shift)| {
            let one = |name: &str, reduce: &str, terms: String, level: (u32, usize, usize, u32)| {
                let (bits, mode, check, shift) = level;
                format!(
                    "  - {{name: {name}, reduce: {reduce}, terms: {terms}, bits: {bits}, overflow: {}, check: {}, \
                     shift: {shift}, round: half_even}}\n",
                    Overflow::ALL[mode], CHECKS[check]
                )
            };
            let mut text = "schema: 1\nextends: fpga-int14-os\naccumulation:\n".to_owned();
            let kind = Reduce::ALL[kind];
            if two || kind.takes_run_at_once() {
                text += &one("inner", kind.name(), run.to_string(), inner);
                if let Some((middle, runs)) = middle {
                    text += &one("middle", "serial", runs.to_string(), middle);
                }
            }
            text += &one("acc", "serial", "all".into(), outer);
            let product = match product {
                Some((bits, mode)) => format!("bits: {bits}, overflow: {}", Overflow::ALL[mode]),
                None => "bits: auto".into(),
            };
            text + &format!("product: {{{product}, shift: {shift}, round: floor}}\n")
        })
}

proptest! {
    /// No exact result of any register lies outside its computed reach.
    #[test]
    fn nothing_lies_outside(
        hw in accelerators(),
        terms in 1usize..40,
        parts in prop::collection::vec((0i32..6, any::<i8>(), any::<i8>(), 1usize..41), 40),
        used in 1usize..40,
    ) {
        let parameters = LayerParameters {
            terms,
            activation: DType::Int8,
            activation_zero_point: -3,
            weight: DType::Int8,
            weight_zero_point: 0,
        };
        let program = parameters.program(&hw).unwrap();
        let layer = program.mac_layers().next().unwrap();
        let arithmetic = arithmetic(&program.graph, layer).unwrap();
        let reach = Reach::new(&arithmetic, terms);
        // Sets of long sums take long.
        let sets = if terms < 4 { Sets::new(&arithmetic, terms) } else { Sets::default() };
        // Most bounds are attained by one extreme pair from the first product to the last.
        let operand = |(kind, a, w): (i32, i8, i8)| {
            let (a, w) = match kind {
                0 => (127, 127),
                1 => (-128, 127),
                2 => (127, -128),
                3 => (-128, -128),
                _ => (a, w),
            };
            TraceOperand { activation: i128::from(a) + 3, weight: i128::from(w) }
        };
        let operands: Vec<_> = parts
            .iter()
            .flat_map(|&(kind, a, w, count)| std::iter::repeat_n(operand((kind, a, w)), if kind < 4 { count } else { 1 }))
            .take(terms.min(used))
            .collect();
        let run = trace(layer, 0, &operands);
        for step in &run.steps {
            let level = &arithmetic.levels[step.level];
            let seen = &reach.levels[step.level];
            let is_fitted = (step.kind == StepKind::HandOver) == (level.check == Check::HandOver);
            if is_fitted {
                let is_known = sets.levels.get(step.level).is_none_or(|set| set.contains(step.result));
                prop_assert!(is_known, "{step:?}\n{hw}");
                prop_assert!(seen.result.min <= step.result && step.result <= seen.result.max, "{step:?} {seen:?}\n{hw}");
            }
            if step.kind == StepKind::HandOver {
                prop_assert!(seen.out.min <= step.value && step.value <= seen.out.max, "{step:?} {seen:?}\n{hw}");
            }
            if step.kind == StepKind::Add {
                prop_assert!(seen.prefix.min <= step.unbounded && step.unbounded <= seen.prefix.max, "{step:?} {seen:?}\n{hw}");
            }
        }
        let adds: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Add).collect();
        for pair in adds.windows(2) {
            let goes_on = (pair[0].level, pair[0].run) == (pair[1].level, pair[1].run) && pair[0].overflow.is_some();
            prop_assert!(!goes_on || reach.levels[pair[0].level].goes_on, "{pair:?}\n{hw}");
        }
        for (level, seen) in reach.levels.iter().enumerate() {
            let runs = run.steps.iter().filter(|s| s.level == level && s.kind == StepKind::HandOver).count();
            prop_assert!(runs <= seen.runs);
        }
        let bias = reach.bias.unwrap_or(Range { min: i128::MIN, max: i128::MAX });
        prop_assert!(bias.min <= run.delivered && run.delivered <= bias.max);
    }
}

/// Bounds are no wider than necessary: extremes attain them.
#[test]
fn extremes_attain_the_reach() {
    for (hw, terms) in [("fpga-int14-os", 7), ("fpga-int14-ws", 70), ("inner14-outer24", 150)] {
        let parameters = LayerParameters {
            terms,
            activation: DType::Int8,
            activation_zero_point: 0,
            weight: DType::Int8,
            weight_zero_point: 0,
        };
        let program = parameters.program(hw).unwrap();
        let layer = program.mac_layers().next().unwrap();
        let arithmetic = arithmetic(&program.graph, layer).unwrap();
        let reach = Reach::new(&arithmetic, terms);
        for weight in [-128, 127] {
            let run = trace(layer, 0, &vec![TraceOperand { activation: -128, weight }; terms]);
            for (level, seen) in reach.levels.iter().enumerate() {
                let steps = run.steps.iter().filter(|s| s.level == level && s.kind != StepKind::HandOver);
                let results = steps.map(|s| s.result);
                match weight {
                    -128 => assert_eq!(results.max(), Some(seen.result.max), "{hw} {level}"),
                    _ => assert_eq!(results.min(), Some(seen.result.min), "{hw} {level}"),
                }
            }
        }
    }
}

/// A tree's results fit the accumulator after it, but a single value in the last run may not. What matters is
/// whether anything follows that value.
#[test]
fn lone_values_come_last() {
    for (terms, goes_on) in [(8, false), (9, false), (16, false), (17, true)] {
        let parameters = LayerParameters {
            terms,
            activation: DType::Int8,
            activation_zero_point: -128,
            weight: DType::Int8,
            weight_zero_point: 0,
        };
        let program = parameters.program("fpga-int14-tree").unwrap();
        let layer = program.mac_layers().next().unwrap();
        let arithmetic = arithmetic(&program.graph, layer).unwrap();
        let found = Reach::new(&arithmetic, terms).levels[1].goes_on;
        assert_eq!(found, goes_on, "{terms} terms");
    }
}
