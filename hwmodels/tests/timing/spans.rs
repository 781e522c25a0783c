//! Tiles and transfers on the time axis of a layer.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::TimingConvention;
use guardbit_hwmodels::timing::{LayerTiming, Span};
use proptest::prelude::*;
use proptest::sample::select;

use super::common::{accelerators, int8, windows};

fn lengths(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.cycles.end - span.cycles.start).sum()
}

proptest! {
    /// Tiles follow each other without gaps until the layer ends, transfers take their busy cycles, and
    /// nothing overlaps, however many tiles a span holds.
    #[test]
    fn spans_fill_a_layer(
        accelerator in accelerators(),
        window in windows(),
        most in 1..40u64,
        convention in select(vec![TimingConvention::Overlapped, TimingConvention::ScalesimV3, TimingConvention::EthosU]),
    ) {
        let mut accelerator = accelerator;
        accelerator.timing.convention = convention;
        let timing = LayerTiming::new(&accelerator, &window, int8(&window));
        let spans = timing.spans(most);
        prop_assert!(spans.tiles.len() as u64 <= most);
        prop_assert_eq!(spans.tiles[0].tiles.start, 0);
        prop_assert_eq!(spans.tiles.last().unwrap().tiles.end, timing.tiles());
        prop_assert_eq!(spans.tiles.last().unwrap().cycles.end, timing.cycles);
        let first = timing.place(OutputPosition::default(), 0, 0).cycle;
        prop_assert!(spans.tiles[0].cycles.start <= first);
        for pair in spans.tiles.windows(2) {
            prop_assert_eq!(pair[0].cycles.end, pair[1].cycles.start);
            prop_assert_eq!(pair[0].tiles.end, pair[1].tiles.start);
        }
        for list in [&spans.tiles, &spans.loads, &spans.stores] {
            prop_assert!(list.iter().all(|span| span.cycles.start <= span.cycles.end && span.cycles.end <= timing.cycles));
            prop_assert!(list.windows(2).all(|pair| pair[0].cycles.end <= pair[1].cycles.start));
        }
        let [load, store] = [&spans.loads, &spans.stores].map(|list| lengths(list));
        let busy = match convention {
            TimingConvention::ScalesimV3 => 0,
            _ if accelerator.memory.double_buffer || convention == TimingConvention::EthosU => load.max(store),
            _ => load + store,
        };
        prop_assert_eq!(busy, timing.cost.dram_cycles);
    }
}
