use guardbit_graph::DType;
use guardbit_hwmodels::{Reduce, from_yaml};
use guardbit_num::Overflow;
use proptest::prelude::*;

use super::*;
use crate::LayerParameters;

/// Generates accelerators of one or two levels, many of which are equal in effect.
fn accelerators() -> impl Strategy<Value = String> {
    let level = || {
        let bits = prop::sample::select(vec![5u32, 7, 8, 9, 10, 11, 12, 20]);
        (
            bits,
            prop::sample::select(&Overflow::ALL[..]),
            any::<bool>(),
            prop::sample::select(vec![0, 0, 0, 1]),
        )
    };
    let walks = vec!["forward", "forward", "reverse", "sorted", "sign_paired", "greedy", "greedy"];
    let inner = prop::option::weighted(0.3, (level(), prop::sample::select(&Reduce::ALL[..]), 2usize..5));
    let bias = (prop::sample::select(vec!["post", "preload", "preload", "post_requantize"]), level());
    (inner, level(), prop::sample::select(walks), bias, any::<bool>()).prop_filter_map(
        "levels that are no accelerator",
        |(inner, outer, walk, (place, adder), fold)| {
            let one = |(bits, overflow, hand_over, shift): (u32, Overflow, bool, u32)| {
                let check = if hand_over { "hand_over" } else { "each_add" };
                format!(
                    "bits: {bits}, overflow: {overflow}, check: {check}, shift: {shift}, round: half_even"
                )
            };
            let mut text = "schema: 1\nextends: fpga-int14-os\naccumulation:\n".to_owned();
            if let Some((level, reduce, terms)) = inner {
                text += &format!(
                    "  - {{name: inner, reduce: {}, terms: {terms}, {}}}\n",
                    reduce.name(),
                    one(level)
                );
            }
            text += &format!("  - {{name: acc, terms: all, {}}}\n", one(outer));
            text += &format!("bias: {{at: {place}, bits: {}, overflow: {}}}\n", adder.0 * 2, adder.1);
            text += &format!("reduction_order: {{walk: {walk}}}\n");
            text += &format!("operands: {{zero_point: {}}}\n", if fold { "fold" } else { "subtract" });
            from_yaml(&text, "hw.yaml", &[]).is_ok().then_some(text)
        },
    )
}

fn loaded(texts: &[String]) -> Vec<Accelerator> {
    texts.iter().map(|text| from_yaml(text, "hw.yaml", &[]).unwrap()).collect()
}

fn search(terms: usize, zero_points: [i32; 2], bias_bits: u32) -> Search {
    let layer = LayerParameters {
        terms,
        activation: DType::UInt4,
        activation_zero_point: zero_points[0],
        weight: DType::Int4,
        weight_zero_point: zero_points[1],
    };
    Search { layer, bias_bits, seed: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Accelerators that are proved equal return equal sums for every input, and for every short one if they are proved
    /// equal for those.
    #[test]
    fn proofs_hold(
        texts in prop::collection::vec(accelerators(), 10),
        terms in 1usize..14,
        zero_points in prop::sample::select(vec![[0, 0], [8, 0], [3, -2]]),
        bias_bits in prop::sample::select(vec![0u32, 4, 8, 12]),
        short in 0usize..6,
    ) {
        let (all, search) = (loaded(&texts), search(terms, zero_points, bias_bits));
        let programs: Vec<_> = all.iter().map(|one| search.lower(one, &[TestInput::empty()]).unwrap()).collect();
        let datapaths: Vec<_> = programs.iter().map(|program| &only_layer(program).unwrap().datapath).collect();
        let pool = inputs::pool(&datapaths, &search);
        let sums: Vec<_> = all.iter().map(|one| search.sums_of(one, &pool).unwrap()).collect();
        for most in [terms, short.min(terms)] {
            let keys: Vec<_> = all.iter().map(|one| search.key(one, most)).collect();
            for (first, second) in (0..all.len()).flat_map(|at| (0..at).map(move |other| (at, other))) {
                if keys[first].is_none() || keys[first] != keys[second] {
                    continue;
                }
                for (at, input) in pool.iter().enumerate().filter(|(_, input)| input.products.len() <= most) {
                    prop_assert_eq!(
                        sums[first][at], sums[second][at],
                        "{:?}\n{}\n{}", input, texts[first], texts[second]
                    );
                }
            }
        }
    }

    /// Two accelerators are of different classes exactly if their sums in the table differ.
    #[test]
    fn rows_differ(texts in prop::collection::vec(accelerators(), 2..12), terms in 1usize..10) {
        let (all, search) = (loaded(&texts), search(terms, [8, 0], 12));
        let found = discriminate(&all, &search, &mut |_, _| ()).unwrap();
        let mut members: Vec<_> = found.classes.iter().flat_map(|class| class.members.clone()).collect();
        members.sort_unstable();
        prop_assert_eq!(members, (0..all.len()).collect::<Vec<_>>());
        for (at, class) in found.classes.iter().enumerate() {
            prop_assert!(found.classes[..at].iter().all(|other| other.sums != class.sums));
            for &member in &class.members {
                prop_assert_eq!(&search.sums_of(&all[member], &found.inputs).unwrap(), &class.sums);
            }
            let observed: Vec<_> = class.sums.iter().map(|&sum| Some(sum)).collect();
            prop_assert_eq!(found.matches(&observed), [class]);
        }
    }
}

/// Settings with the fewest products that tell two accelerators apart, and whether these are proved to be the fewest.
#[test]
fn shortest_inputs() {
    let of = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(ToString::to_string).collect();
        guardbit_hwmodels::load("fpga-int14-os", &sets).unwrap()
    };
    let search = Search {
        layer: LayerParameters {
            activation: DType::Int8,
            weight: DType::Int8,
            ..search(64, [0, 0], 0).layer
        },
        bias_bits: 0,
        seed: 0,
    };
    let cases: [(&[&str], &[&str], usize); 4] = [
        (&["accumulation.acc.bits=14"], &["accumulation.acc.bits=15"], 1),
        (&["accumulation.acc.bits=16"], &["accumulation.acc.bits=17"], 2),
        (&["accumulation.acc.bits=20"], &["accumulation.acc.bits=32"], 32),
        (&["accumulation.acc.bits=18", "accumulation.acc.overflow=wrap"], &["accumulation.acc.bits=18"], 8),
    ];
    for (first, second, products) in cases {
        let found = discriminate(&[of(first), of(second)], &search, &mut |_, _| ()).unwrap();
        assert_eq!(found.inputs[0].products.len(), products, "{first:?} {second:?}");
        assert_eq!(found.is_shortest, Some(true), "{first:?} {second:?}");
    }
    let found = discriminate(&[of(&["accumulation.acc.bits=22"]), of(&[])], &search, &mut |_, _| ()).unwrap();
    assert_eq!(found.classes.len(), 2);
    let wide = ["accumulation.acc.bits=22", "accumulation.acc.bits=30"].map(|set| of(&[set]));
    let found = discriminate(&wide, &search, &mut |_, _| ()).unwrap();
    assert!(found.inputs.is_empty() && found.classes[0].is_proved, "64 products never leave 22 bits");
}

/// Requests that cannot be carried out say why.
#[test]
fn bad_requests_are_errors() {
    let preset = |name: &str| guardbit_hwmodels::load(name, &[]).unwrap();
    let two = [preset("fpga-int14-os"), preset("exact-int32-os")];
    let fails = |candidates: &[Accelerator], change: fn(&mut Search), text: &str| {
        let mut search = search(4, [0, 0], 8);
        change(&mut search);
        let error = discriminate(candidates, &search, &mut |_, _| ()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    fails(&two[..1], |_| (), "1 accelerator(s) to tell apart; expected 2 to 20000");
    fails(&two, |search| search.layer.terms = 0, "0 products; expected 1 to 16384");
    fails(&two, |search| search.bias_bits = 33, "a bias of 33 bits");
    fails(&two, |search| search.layer.activation_zero_point = 16, "the zero point 16 of the activation");
    fails(&[preset("dsp48e2-int8x2"), two[0].clone()], |_| (), "share an adder");
}
