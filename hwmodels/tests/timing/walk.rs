//! Folds in the order of time.

use std::collections::BTreeSet;

use guardbit_graph::Window;
use guardbit_hwmodels::timing::LayerTiming;
use guardbit_hwmodels::{ArrayKind, Dataflow};
use proptest::prelude::*;

use super::common::{accelerators, int8, windows};

proptest! {
    /// Folds hold every product of every output once, in the order of addition, on their own core and tile, and all
    /// additions of a fold happen in its cycles.
    #[test]
    fn folds_hold_every_product_once(
        accelerator in accelerators(),
        window in windows(),
        two_activations in any::<bool>(),
    ) {
        let two_activations = two_activations && window.groups == 1;
        let timing = LayerTiming::of(&accelerator, &window, int8(&window), two_activations);
        let levels = accelerator.datapath.levels.len();
        let Some(folds) = timing.walk(levels) else {
            let kind = accelerator.array.kind;
            prop_assert!(accelerator.dataflow == Dataflow::Vector && kind != ArrayKind::Block);
            return Ok(());
        };
        let mut next = vec![0; window.dots()];
        let index = |pixel, channel| {
            let out = timing.output(pixel, channel);
            let Window { output: [rows, cols, channels], .. } = window;
            ((out.n * rows + out.h) * cols + out.w) * channels + out.c
        };
        let mut tiles = BTreeSet::new();
        for fold in &folds {
            prop_assert!(tiles.last().is_none_or(|&last| last <= fold.tile));
            tiles.insert(fold.tile);
            prop_assert!(fold.cycles.end <= timing.cycles.max(1) && !fold.terms.is_empty());
            let rows = accelerator.array.rows;
            for pixel in fold.pixels.clone() {
                for channel in fold.channels.clone() {
                    prop_assert_eq!(std::mem::replace(&mut next[index(pixel, channel)], fold.terms.end), fold.terms.start);
                    for k in fold.terms.clone() {
                        let place = timing.place(timing.output(pixel, channel), k, 0);
                        prop_assert!(fold.cycles.contains(&place.cycle), "{:?} {:?}", fold, place);
                        prop_assert_eq!(place.row / rows, fold.core);
                    }
                }
            }
        }
        prop_assert!(next.iter().all(|&terms| terms == window.terms()));
        prop_assert_eq!(tiles.len() as u64, timing.tiles());
        prop_assert!(folds.iter().filter(|fold| fold.core == 0).count() as u64 <= timing.fold_count());
    }
}
