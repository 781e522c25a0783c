use guardbit_graph::DType;
use guardbit_sim::trace::{TraceOperand, trace_observed};
use proptest::prelude::*;

use super::*;
use crate::arithmetic::{arithmetic, one_channel};
use crate::beats::{bias_word, lanes};
use crate::manifest::CaseGroup;
use crate::synthetic::LayerParameters;

/// Accelerators with every kind of bin.
const ACCELERATORS: [&str; 5] = [
    "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, terms: all, bits: 9, overflow: saturate}\nbias: {at: post, bits: 8, overflow: wrap}\n",
    "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: tree, reduce: tree, terms: 6, bits: 9, overflow: wrap, shift: 1, round: floor}\n  - {name: acc, terms: all, bits: 10, overflow: sticky}\narray: {dot_width: 6}\n",
    "schema: 1\nextends: fpga-int14-tree\naccumulation:\n  - {name: tree, reduce: tree, terms: 6, bits: 9, overflow: wrap, check: hand_over}\n  - {name: acc, terms: all, bits: 10, overflow: observe, check: hand_over}\narray: {dot_width: 6}\n",
    "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: inner, terms: 3, bits: 8, overflow: saturate_zero}\n  - {name: middle, terms: 2, bits: 9, overflow: wrap, shift: 2, round: half_up}\n  - {name: acc, terms: all, bits: 8, overflow: saturate}\nbias: {at: preload}\n",
    "schema: 1\nextends: fpga-int14-os\naccumulation:\n  - {name: acc, terms: all, bits: 8, overflow: saturate}\nproduct: {bits: 9, overflow: saturate_zero, shift: 1, round: floor}\n",
];

proptest! {
    /// A dot product hits the bins from which its distance is 0, and none that is proved to be out of reach.
    #[test]
    fn distances_are_those_of_bins(
        hw in 0..ACCELERATORS.len(),
        terms in 1usize..14,
        codes in prop::collection::vec((-20i8..20, -20i8..20), 14),
        used in 1usize..14,
    ) {
        let parameters = LayerParameters {
            terms,
            activation: DType::Int8,
            activation_zero_point: 0,
            weight: DType::Int8,
            weight_zero_point: 0,
        };
        let program = parameters.program(ACCELERATORS[hw]).unwrap();
        let layer = program.mac_layers().next().unwrap();
        let arithmetic = arithmetic(&program.graph, layer).unwrap();
        let lanes = lanes(&layer.datapath, terms);
        let operand = |&(a, w): &(i8, i8)| TraceOperand { activation: a.into(), weight: w.into() };
        let dot = Dot {
            id: "dot".into(),
            group: CaseGroup::Corner,
            class: "law".into(),
            place: None,
            layer: one_channel(layer, 0, None),
            operands: codes.iter().take(terms.min(used)).map(operand).collect(),
            bubble_every: None,
            cut_after: None,
        };
        let bins = Counter::default().table(&arithmetic, terms, lanes).bins;
        let mut aims = Vec::new();
        for bin in &bins {
            let aim = Aim::of_bin(&arithmetic, lanes, &bin.level, &bin.name);
            // Products and loaded biases are not searched for.
            prop_assert!(aim.is_some() || bin.level == PRODUCT || bin.name.starts_with("load:"), "{:?}", bin);
            aims.extend(aim.map(|aim| (bin, aim)));
        }
        let mut seen = Seen::new(&arithmetic, &dot, lanes);
        let mut watches: Vec<_> = aims.iter().map(|(_, aim)| aim.watch()).collect();
        let trace = trace_observed(&dot.layer, 0, &dot.operands, &mut |step| {
            seen.step(step);
            watches.iter_mut().for_each(|watch| watch.step(step));
        });
        watches.iter_mut().for_each(|watch| watch.biased(trace.delivered + bias_word(&dot.layer, &dot.operands)));
        let hit = seen.end(&arithmetic, &trace, &dot).named(&arithmetic);
        for ((bin, _), watch) in aims.iter().zip(&watches) {
            let is_hit = hit.contains(&(bin.level.clone(), bin.name.clone()));
            prop_assert!(!is_hit || bin.unreachable.is_none(), "{bin:?}");
            let distance = watch.miss().map(|miss| miss.distance);
            prop_assert_eq!(distance == Some(0), is_hit, "{:?}: {:?}", bin, distance);
        }
    }
}
