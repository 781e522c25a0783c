//! Results of one run.

use guardbit_hwmodels::Program;
use guardbit_hwmodels::cost::CostModel;
use guardbit_sim::{FloatStats, LayerStats, Options, Settled, StatsLevel};
use serde::Serialize;

use super::{
    CostRecord, CoverageRecord, DesignRecord, LayerActivity, LevelHistogram, NetworkTiming, SumHistogram,
};
use crate::tables::{
    AlignedBitsRow, AlignedRow, BottleneckRow, ChannelRow, ClassRow, CostRow, EventRow, LayerRow,
    aligned_bits_rows, aligned_rows, bottleneck_rows, channel_rows, event_rows, layer_rows,
};
use crate::{ScoreFigures, Verdict};

/// All results of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRecord {
    /// Name of the model in the report.
    pub model: String,
    /// Name of the accelerator in the report.
    pub hw: String,
    /// Input of each layer: `isolated` or `propagated`.
    pub mode: String,
    /// Level of statistics.
    pub stats: String,
    /// Results of the network as a whole.
    pub outcome: ScoreFigures,
    /// Time of one inference.
    pub timing: NetworkTiming,
    /// Part of the network that the accelerator runs.
    pub coverage: CoverageRecord,
    /// Rows of `layers.csv`.
    pub layers: Vec<LayerRow>,
    /// Rows of `channels.csv`.
    pub channels: Vec<ChannelRow>,
    /// Rows of `classes.csv`; empty if nothing is classified.
    pub classes: Vec<ClassRow>,
    /// Rows of `events.csv`.
    pub events: Vec<EventRow>,
    /// Required bits per level; empty unless everything was counted.
    pub histograms: Vec<LevelHistogram>,
    /// Time and place of events; empty unless everything was counted.
    pub activity: Vec<LayerActivity>,
    /// Rows of `bottlenecks.csv`.
    pub bottlenecks: Vec<BottleneckRow>,
    /// Cost of the network by every requested model.
    pub costs: Vec<CostRecord>,
    /// Rows of `costs.csv`.
    pub cost_rows: Vec<CostRow>,
    /// Rows of `aligned.csv`; empty unless the accelerator runs layers of floating-point codes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aligned: Vec<AlignedRow>,
    /// Rows of `aligned_bits.csv`; empty unless everything was counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aligned_bits: Vec<AlignedBitsRow>,
    /// Distributions of sums; empty unless requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<SumHistogram>,
    /// How the dot products were computed, which depends on the engine and not on the accelerator.
    #[serde(skip)]
    pub settled: Settled,
    /// The accelerator and what layers take on it, for pages.
    #[serde(skip)]
    pub design: DesignRecord,
}

impl RunRecord {
    /// Returns the record of a run. `layers` holds the statistics per node, `unlimited` those described at
    /// [`layer_rows`].
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
            histograms: LevelHistogram::all(program, layers, stats),
            activity: LayerActivity::all(program, layers, stats),
            bottlenecks: bottleneck_rows(program),
            costs: Vec::new(),
            cost_rows: Vec::new(),
            aligned: Vec::new(),
            aligned_bits: Vec::new(),
            sums: Vec::new(),
            settled: Settled::default(),
            design: DesignRecord::new(program),
        }
    }

    /// Returns the record with the layers of floating-point codes. `floats` holds their statistics per node.
    pub fn with_floats(
        mut self,
        program: &Program,
        floats: &[Option<FloatStats>],
        level: StatsLevel,
    ) -> Self {
        self.aligned = aligned_rows(program, floats, level);
        self.aligned_bits = aligned_bits_rows(program, floats);
        self
    }

    /// Returns the index, the name and the output SQNR in dB of every layer of the accelerator, in order of execution.
    pub(crate) fn output_sqnr(&self) -> Vec<(usize, &str, f64)> {
        let integer =
            self.layers.iter().filter_map(|row| Some((row.index, row.name.as_str(), row.sqnr_db?.value())));
        let float = self
            .aligned
            .iter()
            .filter_map(|row| Some((row.index, row.name.as_str(), row.output_sqnr_db?.value())));
        let mut all: Vec<_> = integer.chain(float).collect();
        all.sort_by_key(|(index, ..)| *index);
        all
    }

    /// Returns whether the accelerator runs floating-point layers alone.
    pub fn is_float(&self) -> bool {
        self.layers.is_empty() && !self.aligned.is_empty()
    }

    /// Returns the word for an element of an output: codes if the accelerator runs layers of integer codes.
    pub fn output_word(&self) -> &'static str {
        if self.layers.is_empty() { "output" } else { "output code" }
    }

    /// Returns the record with the cost of `program` by each of `models`.
    pub fn with_costs(mut self, program: &Program, models: &[CostModel]) -> Self {
        for model in models {
            let (record, rows) = CostRecord::of(program, model);
            self.costs.push(record);
            self.cost_rows.extend(rows);
        }
        self
    }
}
