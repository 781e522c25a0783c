//! Required bits of the sums of a level.

use guardbit_hwmodels::Program;
use guardbit_sim::{LayerStats, StatsLevel};
use serde::{Deserialize, Serialize};

use crate::Width;
use crate::tables::{mac_layers, register};

/// Number of dot products of one level by the bits that their sums require.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelHistogram {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Name of the operation.
    pub op: String,
    /// Name of the level.
    pub level: String,
    /// Width of the level.
    pub bits: Width,
    /// Overflow mode of the level; `None` if it cannot overflow.
    pub overflow: Option<String>,
    /// Counts by the bits of the final sums: entry `b` counts the dot products that require `b` bits.
    /// Trailing zeros are left out.
    pub required_final: Vec<u64>,
    /// Counts by the bits of the prefixes. Trailing zeros are left out.
    pub required_prefix: Vec<u64>,
}

impl LevelHistogram {
    /// Returns the histograms of every level; empty unless prefixes were counted.
    pub fn all(program: &Program, layers: &[Option<LayerStats>], stats: StatsLevel) -> Vec<Self> {
        if !stats.counts_prefixes() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (layer, counts) in mac_layers(program, layers) {
            for (level, seen) in layer.datapath.levels.iter().zip(&counts.levels) {
                let (bits, overflow) = register(level.register);
                all.push(Self {
                    index: layer.node.index(),
                    layer: layer.name.clone(),
                    name: layer.short_name.clone(),
                    op: layer.op.to_owned(),
                    level: level.name.clone(),
                    bits,
                    overflow,
                    required_final: trimmed(&seen.required_final),
                    required_prefix: trimmed(&seen.required_prefix),
                });
            }
        }
        all
    }

    /// Returns the number of dot products counted.
    pub fn dots(&self) -> u64 {
        self.required_final.iter().sum()
    }
}

fn trimmed(counts: &[u64]) -> Vec<u64> {
    let end = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    counts[..end].to_vec()
}
