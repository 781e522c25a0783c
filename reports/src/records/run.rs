//! One run.

use guardbit_hwmodels::Program;
use guardbit_sim::{LayerStats, Options};
use serde::Serialize;

use super::{LayerActivity, LevelHistogram, NetworkTiming};
use crate::tables::{ChannelRow, EventRow, LayerRow, channel_rows, event_rows, layer_rows};
use crate::{Score, ScoreFigures};

/// All that is reported of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRecord {
    /// The model, as it is called in the report.
    pub model: String,
    /// The accelerator, as it is called in the report.
    pub hw: String,
    /// What each layer read.
    pub mode: String,
    /// How much was counted.
    pub stats: String,
    /// What the network as a whole did.
    pub outcome: ScoreFigures,
    /// How long one inference takes.
    pub timing: NetworkTiming,
    /// `layers.csv`.
    pub layers: Vec<LayerRow>,
    /// `channels.csv`.
    pub channels: Vec<ChannelRow>,
    /// `events.csv`.
    pub events: Vec<EventRow>,
    /// Required bits per level; empty unless everything was counted.
    pub histograms: Vec<LevelHistogram>,
    /// When and where events happened; empty unless everything was counted.
    pub activity: Vec<LayerActivity>,
}

impl RunRecord {
    /// The record of a run. `layers` are the statistics per node, `unlimited` those of [`layer_rows`].
    pub fn new(
        model: &str,
        hw: &str,
        program: &Program,
        layers: &[Option<LayerStats>],
        unlimited: &[Option<LayerStats>],
        options: &Options,
        score: &Score,
    ) -> Self {
        let stats = options.stats;
        Self {
            model: model.to_owned(),
            hw: hw.to_owned(),
            mode: options.mode.name().to_owned(),
            stats: stats.name().to_owned(),
            outcome: score.into(),
            timing: NetworkTiming::new(program),
            layers: layer_rows(program, layers, unlimited, stats),
            channels: channel_rows(program, layers, stats),
            events: event_rows(program, layers),
            histograms: LevelHistogram::all(program, layers, stats),
            activity: LayerActivity::all(program, layers, stats),
        }
    }
}
