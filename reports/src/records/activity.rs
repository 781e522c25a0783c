//! Time and place of a layer's overflow events.

use guardbit_hwmodels::Program;
use guardbit_sim::{LayerStats, StatsLevel};
use serde::{Deserialize, Serialize};

use crate::tables::mac_layers;

/// Time and place of a layer's overflow events, over all samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerActivity {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Name of the operation.
    pub op: String,
    /// Cycles of one inference.
    pub cycles: u64,
    /// Events per interval; the intervals divide the cycles into equal parts.
    pub timeline: Vec<u64>,
    /// Rows of the array.
    pub rows: usize,
    /// Columns of the array.
    pub cols: usize,
    /// Events per processing element, row by row.
    pub heat_map: Vec<u64>,
}

impl LayerActivity {
    /// Returns the activity of every accelerated layer; empty unless everything was counted.
    pub fn all(program: &Program, layers: &[Option<LayerStats>], stats: StatsLevel) -> Vec<Self> {
        if stats != StatsLevel::Full {
            return Vec::new();
        }
        let activity = |(layer, counts): (&guardbit_hwmodels::MacLayer, &LayerStats)| Self {
            index: layer.node.index(),
            layer: layer.name.clone(),
            name: layer.short_name.clone(),
            op: layer.op.to_owned(),
            cycles: layer.timing.cycles,
            timeline: counts.timeline.clone(),
            rows: layer.timing.array.rows,
            cols: layer.timing.array.cols,
            heat_map: counts.heat_map.clone(),
        };
        mac_layers(program, layers).map(activity).collect()
    }

    /// Returns the number of events of the layer.
    pub fn events(&self) -> u64 {
        self.timeline.iter().sum()
    }
}
