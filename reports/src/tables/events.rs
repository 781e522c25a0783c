//! `events.csv`: the first overflow events of every layer.

use super::mac_layers;
use super::table::table;
use guardbit_hwmodels::{MacLayer, Program};
use guardbit_sim::{Event, LayerStats};

table! {
    "events.csv"
    /// One addition, or one narrowing, whose exact result did not fit: the first ones of every layer.
    EventRow {
        /// Index of the sample.
        sample: usize,
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level; `product` for the product register, `bias` for the bias adder or a preloaded
        /// bias.
        level: String,
        /// Image of the output element.
        out_n: usize,
        /// Row of the output element.
        out_h: usize,
        /// Column of the output element.
        out_w: usize,
        /// Channel of the output element.
        out_c: usize,
        /// Index of the run within the dot product; for a product event, the run of the innermost level.
        run: usize,
        /// The last product, in the order of addition, that the sum contains; 0 for a preloaded bias.
        k: usize,
        /// Value of the accumulator before the addition; for the bias adder, the sum of the last level; 0 for
        /// a product and for a bias that is fitted by itself.
        held: i128,
        /// Value that was added: the product for `product`, the bias for `bias`.
        addend: i128,
        /// Exact sum of `held` and `addend`, which did not fit.
        exact: i128,
        /// `high` or `low`: the rail that was crossed.
        direction: String,
        /// Cycle, from the layer's start within one inference.
        cycle: u64,
        /// Row of the processing element.
        pe_row: usize,
        /// Column of the processing element.
        pe_col: usize,
        /// Value of the register afterwards: `exact` after the overflow mode, before any shift.
        stored: i128,
        /// Short name of the layer.
        name: String,
    }
}

/// Returns the stored events, sorted over all layers by sample, cycle, output element, register and k. Ties
/// are sorted by layer and run.
pub fn event_rows(program: &Program, layers: &[Option<LayerStats>]) -> Vec<EventRow> {
    let all = mac_layers(program, layers);
    let mut events: Vec<(&MacLayer, &Event)> =
        all.flat_map(|(layer, counts)| counts.events.iter().map(move |event| (layer, event))).collect();
    events.sort_by_key(|(layer, event)| {
        let (sample, cycle, out, stage, k, sequence) = event.order();
        (sample, cycle, out, stage, k, layer.node, sequence)
    });
    events.into_iter().map(|(layer, event)| row(layer, event)).collect()
}

fn row(layer: &MacLayer, event: &Event) -> EventRow {
    EventRow {
        sample: event.sample,
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        level: event.stage.name(layer).to_owned(),
        out_n: event.out.n,
        out_h: event.out.h,
        out_w: event.out.w,
        out_c: event.out.c,
        run: event.run,
        k: event.k,
        held: event.held,
        addend: event.addend,
        exact: event.exact(),
        direction: event.direction.name().to_owned(),
        cycle: event.place.cycle,
        pe_row: event.place.row,
        pe_col: event.place.col,
        stored: event.stored,
    }
}
