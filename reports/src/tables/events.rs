//! `events.csv`: the first overflow events of every layer.

use guardbit_hwmodels::{MacLayer, Program};
use guardbit_sim::{Event, LayerStats};
use serde::{Deserialize, Serialize};

use super::{Row, mac_layers};

/// A row of `events.csv`: one addition, or one narrowing, whose exact result did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Index of the sample.
    pub sample: usize,
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Name of the level.
    pub level: String,
    /// Image of the output element.
    pub out_n: usize,
    /// Row of the output element.
    pub out_h: usize,
    /// Column of the output element.
    pub out_w: usize,
    /// Channel of the output element.
    pub out_c: usize,
    /// Index of the run within the dot product.
    pub run: usize,
    /// The last product, in the order of addition, that the sum contains.
    pub k: usize,
    /// What the accumulator held.
    pub held: i128,
    /// What was added.
    pub addend: i128,
    /// Their exact sum, which did not fit.
    pub exact: i128,
    /// `high` or `low`: the rail that was crossed.
    pub direction: String,
    /// Cycle, from the layer's start within one inference.
    pub cycle: u64,
    /// Row of the processing element.
    pub pe_row: usize,
    /// Column of the processing element.
    pub pe_col: usize,
    /// Short name of the layer.
    pub name: String,
}

impl Row for EventRow {
    const FILE: &'static str = "events.csv";
    const COLUMNS: &'static [&'static str] = &[
        "sample",
        "index",
        "layer",
        "level",
        "out_n",
        "out_h",
        "out_w",
        "out_c",
        "run",
        "k",
        "held",
        "addend",
        "exact",
        "direction",
        "cycle",
        "pe_row",
        "pe_col",
        "name",
    ];
}

/// The events that were kept, sorted over all layers by sample, cycle, output element, level and k; events
/// that agree in all of these, by layer and run.
pub fn event_rows(program: &Program, layers: &[Option<LayerStats>]) -> Vec<EventRow> {
    let all = mac_layers(program, layers);
    let mut events: Vec<(&MacLayer, &Event)> =
        all.flat_map(|(layer, counts)| counts.events.iter().map(move |event| (layer, event))).collect();
    events.sort_by_key(|(layer, event)| {
        let (sample, cycle, out, level, k, run) = event.order();
        (sample, cycle, out, level, k, layer.node, run)
    });
    events.into_iter().map(|(layer, event)| row(layer, event)).collect()
}

fn row(layer: &MacLayer, event: &Event) -> EventRow {
    EventRow {
        sample: event.sample,
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        level: layer.datapath.levels[event.level].name.clone(),
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
    }
}
