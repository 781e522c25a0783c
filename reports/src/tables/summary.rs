//! `summary.csv`: one row per point of a sweep.

use guardbit_hwmodels::Program;
use guardbit_sim::{Mode, SimError};
use serde::{Deserialize, Serialize};

use super::table::table;
use super::{LayerRow, not_swept, sum};
use crate::{Decibel, Fraction, Score, ScoreFigures};

/// What tells one point of a sweep from the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SweepPoint {
    /// The model, as it is called in the tables.
    pub model: String,
    /// The accelerator, as it is called in the tables.
    pub hw: String,
    /// Width of the swept level.
    pub bits: u32,
    /// Overflow mode of the swept level, by its name in files.
    pub overflow: String,
    /// Name of the swept level.
    pub level: String,
}

table! {
    "summary.csv"
    /// A row of `summary.csv`.
    #[derive(Default)]
    SummaryRow {
        /// Width of the swept level.
        bits: u32,
        /// Overflow mode of the swept level.
        overflow: String,
        /// Name of the swept level.
        level: String,
        /// What each layer read.
        mode: String,
        /// Samples run; of a point in which an overflow was trapped those before it.
        samples: u64,
        /// Samples whose top-1 class is that of the exact network; `None` where no output holds one score per class.
        top1_agreement: Option<Fraction>,
        /// Accuracy of the exact network.
        accuracy_exact: Option<Fraction>,
        /// Accuracy on the narrow hardware.
        accuracy: Option<Fraction>,
        /// Output codes that differ from the exact network.
        output_mismatch: Option<u64>,
        /// Of the network's output against the exact one; in JSON also `null` where it is infinite.
        output_sqnr_db: Option<Decibel>,
        /// Overflow events at the swept level, over the layers.
        events: Option<u64>,
        /// Persistent dot products at the swept level, over the layers.
        persistent: Option<u64>,
        /// Transient dot products at the swept level, over the layers.
        transient: Option<u64>,
        /// Wrong dot products, over the layers.
        wrong: Option<u64>,
        /// Cycles of one inference, over the layers.
        cycles: Option<u64>,
        /// The model.
        model: String,
        /// The accelerator.
        hw: String,
        /// Layers whose register at the swept level is not that of the point, with what they have: `5: 20 bits saturate`.
        not_swept: Option<String>,
        /// The overflow that was trapped: it ended the point, and nothing else was counted; blank where none was.
        trapped: Option<String>,
    }
}

impl SummaryRow {
    /// The row of one point, from its rows of `layers.csv`.
    pub fn new(point: &SweepPoint, mode: Mode, score: &Score, layers: &[LayerRow]) -> Self {
        let swept: Vec<&LayerRow> = layers.iter().filter(|row| row.level == point.level).collect();
        let figures = ScoreFigures::from(score);
        let at_level = |value: fn(&LayerRow) -> Option<u64>| sum(swept.iter().copied(), value);
        Self {
            bits: point.bits,
            overflow: point.overflow.clone(),
            level: point.level.clone(),
            mode: mode.name().to_owned(),
            samples: figures.samples,
            top1_agreement: figures.top1_agreement,
            accuracy_exact: figures.accuracy_exact,
            accuracy: figures.accuracy,
            output_mismatch: Some(figures.output_mismatch),
            output_sqnr_db: figures.output_sqnr_db,
            events: at_level(|row| row.events),
            persistent: at_level(|row| row.persistent),
            transient: at_level(|row| row.transient),
            wrong: sum(layers, |row| row.wrong),
            cycles: sum(layers, |row| row.cycles),
            model: point.model.clone(),
            hw: point.hw.clone(),
            not_swept: not_swept::cell(point, layers),
            trapped: None,
        }
    }

    /// The row of a point that `error` ended.
    pub fn stopped(point: &SweepPoint, mode: Mode, program: &Program, error: &SimError) -> Self {
        Self {
            bits: point.bits,
            overflow: point.overflow.clone(),
            level: point.level.clone(),
            mode: mode.name().to_owned(),
            samples: match error {
                SimError::Trap { sample, .. } => *sample as u64,
                _ => 0,
            },
            cycles: Some(program.mac_layers().map(|layer| layer.timing.cycles).sum()),
            model: point.model.clone(),
            hw: point.hw.clone(),
            trapped: Some(error.to_string()),
            ..Self::default()
        }
    }

    /// The point that this row tells of.
    pub fn point(&self) -> SweepPoint {
        SweepPoint {
            model: self.model.clone(),
            hw: self.hw.clone(),
            bits: self.bits,
            overflow: self.overflow.clone(),
            level: self.level.clone(),
        }
    }
}
