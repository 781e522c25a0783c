//! One run.

use guardbit_hwmodels::Program;
use guardbit_hwmodels::cost::CostModel;
use guardbit_sim::{LayerStats, Options};
use serde::Serialize;

use super::{CostRecord, CoverageRecord, LayerActivity, LevelHistogram, NetworkTiming, SumHistogram};
use crate::tables::{
    BottleneckRow, ChannelRow, ClassRow, CostRow, EventRow, LayerRow, SampleRow, bottleneck_rows,
    channel_rows, event_rows, layer_rows,
};
use crate::{ScoreFigures, Verdict};

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
    /// What the accelerator runs of the network.
    pub coverage: CoverageRecord,
    /// `layers.csv`.
    pub layers: Vec<LayerRow>,
    /// `channels.csv`.
    pub channels: Vec<ChannelRow>,
    /// `classes.csv`; empty where nothing is classified.
    pub classes: Vec<ClassRow>,
    /// `events.csv`.
    pub events: Vec<EventRow>,
    /// `samples.csv`; empty unless events are counted.
    pub samples: Vec<SampleRow>,
    /// Required bits per level; empty unless everything was counted.
    pub histograms: Vec<LevelHistogram>,
    /// When and where events happened; empty unless everything was counted.
    pub activity: Vec<LayerActivity>,
    /// `bottlenecks.csv`.
    pub bottlenecks: Vec<BottleneckRow>,
    /// What the network costs, by every model that was asked.
    pub costs: Vec<CostRecord>,
    /// `costs.csv`.
    pub cost_rows: Vec<CostRow>,
    /// How sums are distributed; empty unless that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<SumHistogram>,
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
        verdict: &Verdict,
    ) -> Self {
        let stats = options.stats;
        Self {
            model: model.to_owned(),
            hw: hw.to_owned(),
            mode: options.mode.name().to_owned(),
            stats: stats.name().to_owned(),
            outcome: (&verdict.score).into(),
            timing: NetworkTiming::new(program),
            coverage: CoverageRecord::new(program),
            layers: layer_rows(program, layers, unlimited, stats),
            channels: channel_rows(program, layers, stats),
            classes: ClassRow::all(&verdict.predictions, verdict.classes),
            events: event_rows(program, layers),
            samples: Vec::new(),
            histograms: LevelHistogram::all(program, layers, stats),
            activity: LayerActivity::all(program, layers, stats),
            bottlenecks: bottleneck_rows(program),
            costs: Vec::new(),
            cost_rows: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The same with what `program` costs by some models.
    pub fn with_costs(mut self, program: &Program, models: &[CostModel]) -> Self {
        for model in models {
            let (record, rows) = CostRecord::of(program, model);
            self.costs.push(record);
            self.cost_rows.extend(rows);
        }
        self
    }
}
