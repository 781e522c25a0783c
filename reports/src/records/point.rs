//! Results of one point of a sweep.

use guardbit_hwmodels::{InferenceCycles, Program};
use guardbit_sim::{FloatStats, LayerStats, Mode, Options, SimError, StatsLevel};
use serde::{Deserialize, Serialize};

use super::{CoverageRecord, LevelHistogram};
use crate::tables::{
    AlignedRow, ClassRow, LayerRow, Parameter, SummaryRow, SweepPoint, aligned_rows, layer_rows, short_key,
};
use crate::{Decibel, Outcomes, Verdict};

/// Results that a sweep keeps of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct PointRecord {
    /// Row of `summary.csv`.
    pub summary: SummaryRow,
    /// Values of the axes of the sweep, in order; empty without axes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Rows of `layers.csv`.
    pub layers: Vec<LayerRow>,
    /// Rows of `aligned.csv`; empty unless the accelerator runs floating-point layers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aligned: Vec<AlignedRow>,
    /// Required bits per level; empty unless everything was counted.
    pub histograms: Vec<LevelHistogram>,
    /// Rows of `classes.csv`; empty if nothing is classified.
    pub classes: Vec<ClassRow>,
    /// Whether each sample is right; `None` if nothing is classified.
    pub outcomes: Option<Outcomes>,
    /// Identifier of the samples. Points with equal identifiers are compared sample by sample.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub samples: String,
    /// Part of the network that the accelerator runs.
    pub coverage: CoverageRecord,
}

/// Form in which a file stores the record.
#[derive(Deserialize)]
struct Stored {
    summary: SummaryRow,
    #[serde(default)]
    parameters: Vec<Parameter>,
    layers: Vec<LayerRow>,
    #[serde(default)]
    aligned: Vec<AlignedRow>,
    histograms: Vec<LevelHistogram>,
    classes: Vec<ClassRow>,
    outcomes: Option<Outcomes>,
    #[serde(default)]
    samples: String,
    #[serde(default)]
    coverage: CoverageRecord,
}

/// JSON has no infinite numbers: the number of codes that differ restores them.
impl From<Stored> for PointRecord {
    fn from(stored: Stored) -> Self {
        let Stored {
            mut summary,
            parameters,
            mut layers,
            mut aligned,
            histograms,
            classes,
            outcomes,
            samples,
            coverage,
        } = stored;
        if let Some(mismatch) = summary.output_mismatch.filter(|_| summary.mode == Mode::Propagated.name()) {
            summary.output_sqnr_db.get_or_insert(Decibel::infinite(mismatch));
        }
        for row in &mut layers {
            if let Some(mismatch) = row.output_mismatch {
                row.sqnr_db.get_or_insert(Decibel::infinite(mismatch));
            }
        }
        aligned.iter_mut().for_each(AlignedRow::restore);
        Self { summary, parameters, layers, aligned, histograms, classes, outcomes, samples, coverage }
    }
}

impl PointRecord {
    /// Returns the record of a point. `layers` holds the statistics per node, `unlimited` those described at
    /// [`layer_rows`].
    pub fn new(
        point: &SweepPoint,
        program: &Program,
        layers: &[Option<LayerStats>],
        unlimited: &[Option<LayerStats>],
        options: &Options,
        verdict: &Verdict,
    ) -> Self {
        let rows = layer_rows(program, layers, unlimited, options.stats);
        let Verdict { score, predictions, classes } = verdict;
        Self {
            summary: SummaryRow::new(point, options.mode, score, &rows, InferenceCycles::of(program)),
            parameters: point.parameters.clone(),
            histograms: LevelHistogram::all(program, layers, options.stats),
            layers: rows,
            aligned: Vec::new(),
            classes: ClassRow::all(predictions, *classes),
            outcomes: predictions.outcomes(),
            samples: point.samples.clone(),
            coverage: CoverageRecord::new(program),
        }
    }

    /// Returns the record with the floating-point layers. `floats` holds their statistics per node.
    pub fn with_floats(
        mut self,
        program: &Program,
        floats: &[Option<FloatStats>],
        level: StatsLevel,
    ) -> Self {
        self.aligned = aligned_rows(program, floats, level);
        if !self.aligned.is_empty() {
            let wrong = self.aligned.iter().map(|row| row.wrong).sum::<u64>();
            self.summary.wrong = Some(self.summary.wrong.unwrap_or(0) + wrong);
            self.summary.cycles = Some(InferenceCycles::of(program).accelerator);
        }
        self
    }

    /// Returns the record of a point that `error` ended: only its row of `summary.csv`.
    pub fn stopped(point: &SweepPoint, program: &Program, options: &Options, error: &SimError) -> Self {
        let summary = SummaryRow::stopped(point, options.mode, program, error);
        Self {
            summary,
            parameters: point.parameters.clone(),
            layers: Vec::new(),
            aligned: Vec::new(),
            histograms: Vec::new(),
            classes: Vec::new(),
            outcomes: None,
            samples: point.samples.clone(),
            coverage: CoverageRecord::new(program),
        }
    }

    /// Returns the axes other than the register of the swept level.
    pub(crate) fn others(&self) -> Vec<&Parameter> {
        let level = format!("accumulation.{}.", self.summary.level);
        let own =
            |key: &str| key.strip_prefix(&level).is_some_and(|rest| ["bits", "overflow"].contains(&rest));
        let told = |key: &str| ["model", "hw"].contains(&key);
        self.parameters.iter().filter(|one| !own(&one.key) && !told(&one.key)).collect()
    }

    /// Returns the settings of all axes, e.g. `chain.bits 17, acc.bits 18`.
    pub(crate) fn settings(&self) -> String {
        let settings = self.parameters.iter().map(|one| format!("{} {}", short_key(&one.key), one.value));
        settings.collect::<Vec<_>>().join(", ")
    }

    /// Returns the bits of all registers that are varied together.
    pub(crate) fn varied_bits(&self) -> u32 {
        let others = self.others().into_iter().filter(|one| one.key.ends_with(".bits"));
        others.filter_map(|one| one.value.parse::<u32>().ok()).sum::<u32>() + self.summary.width()
    }

    /// Returns whether the accelerators of all points run floating-point layers alone.
    pub(crate) fn are_float(points: &[Self]) -> bool {
        points.iter().any(|point| !point.aligned.is_empty())
            && points.iter().all(|point| point.layers.is_empty())
    }

    /// Returns whether the point ran to its end, without a trapped overflow.
    pub fn is_whole(&self) -> bool {
        self.summary.trapped.is_none()
    }
}
