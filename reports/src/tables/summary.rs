//! `summary.csv`: one row per point of a sweep.

use guardbit_hwmodels::{InferenceCycles, Program};
use guardbit_sim::{Mode, SimError};

use super::kept;
use super::layers::{LayerRow, sum};
use super::sweep_point::SweepPoint;
use super::table::table;
use crate::{Decibel, Fraction, Interval, Score, ScoreFigures};

table! {
    "summary.csv"
    /// One point of the sweep.
    #[derive(Default)]
    SummaryRow {
        /// Width of the swept level; blank if no level is swept.
        bits: Option<u32>,
        /// Overflow mode of the swept level; blank if no level is swept.
        overflow: String,
        /// Name of the swept level; blank if no level is swept.
        level: String,
        /// What each layer read: `propagated` or `isolated`.
        mode: String,
        /// Samples that were run; if an overflow was trapped, the samples before it.
        samples: u64,
        /// Share of samples whose top-1 class is that of the exact network; blank if no output holds one
        /// score per class.
        top1_agreement: Option<Fraction> = agreeing / samples,
        /// Accuracy of the exact network.
        accuracy_exact: Option<Fraction> = right_exact / samples,
        /// Accuracy on the narrow hardware.
        accuracy: Option<Fraction> = right / samples,
        /// Output codes that differ from the exact network.
        output_mismatch: Option<u64>,
        /// SQNR of the network's output against the exact network; `null` in JSON if infinite.
        output_sqnr_db: Option<Decibel>,
        /// Overflow events at the swept level, summed over the layers; if no level is swept, summed over all
        /// levels.
        events: Option<u64>,
        /// Persistent dot products at the swept level, summed over the layers; if no level is swept, summed
        /// over all levels.
        persistent: Option<u64>,
        /// Transient dot products at the swept level, summed over the layers; if no level is swept, summed
        /// over all levels.
        transient: Option<u64>,
        /// Wrong dot products, summed over the layers.
        wrong: Option<u64>,
        /// Cycles of one inference on the accelerator, summed over the layers.
        cycles: Option<u64>,
        /// The model.
        model: String,
        /// The accelerator.
        hw: String,
        /// Layers whose register at the swept level differs from the point's, with their register: `5: 20
        /// bits saturate`.
        not_swept: Option<String>,
        /// The overflow that was trapped and ended the point, in which case nothing else was counted; blank
        /// if none was trapped.
        trapped: Option<String>,
        /// Lower end of Wilson's interval of 95 % of `accuracy`.
        accuracy_low: Option<Fraction>,
        /// Upper end of Wilson's interval of 95 % of `accuracy`.
        accuracy_high: Option<Fraction>,
        /// Lower end of Wilson's interval of 95 % of `accuracy_exact`.
        accuracy_exact_low: Option<Fraction>,
        /// Upper end of Wilson's interval of 95 % of `accuracy_exact`.
        accuracy_exact_high: Option<Fraction>,
        /// Lower end of Wilson's interval of 95 % of `top1_agreement`.
        agreement_low: Option<Fraction>,
        /// Upper end of Wilson's interval of 95 % of `top1_agreement`.
        agreement_high: Option<Fraction>,
        /// Samples that the exact network classifies as labelled and the narrow hardware does not.
        lost: Option<u64>,
        /// Samples that the narrow hardware classifies as labelled and the exact network does not.
        gained: Option<u64>,
        /// McNemar's p value of `lost` against `gained`, two-sided: the probability of such a difference if
        /// both were equally accurate.
        mcnemar_p: Option<f64>,
        /// Method of the p value: `exact` (binomial, for fewer than 25 samples lost or gained) or `chi2`
        /// (with continuity correction).
        mcnemar_test: Option<String>,
        /// How the output is scored: `classify`, `regress` or `detect`; blank if it is only compared with the
        /// exact network.
        task: Option<String>,
        /// Mean squared error of the real values of the compared outputs against the exact network's.
        output_mse: Option<f64> ["square of the output's"],
        /// Mean squared error of the exact network's values against their labels; only for the task
        /// `regress`.
        mse_exact: Option<f64> ["square of the output's"],
        /// Mean squared error of the narrow hardware's values against their labels; only for the task
        /// `regress`.
        mse: Option<f64> ["square of the output's"],
        /// Area under the ROC curve of the exact network's scores; only for the task `detect`.
        auc_exact: Option<Fraction>,
        /// Area under the ROC curve of the narrow hardware's scores; only for the task `detect`.
        auc: Option<Fraction>,
        /// Samples whose top-1 class is that of the exact network.
        agreeing: Option<u64>,
        /// Samples that the exact network classifies as labelled.
        right_exact: Option<u64>,
        /// Samples that the narrow hardware classifies as labelled.
        right: Option<u64>,
        /// Cycles of the host in one inference, in the accelerator's clock.
        host_cycles: Option<u64>,
        /// Cycles of one inference if host and accelerator work at the same time, except where one waits for
        /// a result of the other.
        overlapped_cycles: Option<u64>,
        /// Mean cross entropy of the exact network's scores with the labels, whose exponential is the
        /// perplexity; blank without labels of classes, or if a score is NaN or infinite.
        cross_entropy_exact: Option<f64> ["nats"],
        /// Mean cross entropy of the narrow hardware's scores with the labels. Outputs of a softmax count as
        /// probabilities, of at least half a step; others are its inputs.
        cross_entropy: Option<f64> ["nats"],
    }
}

impl SummaryRow {
    /// Returns the row of one point, computed from its rows of `layers.csv`.
    pub fn new(
        point: &SweepPoint,
        mode: Mode,
        score: &Score,
        layers: &[LayerRow],
        inference: InferenceCycles,
    ) -> Self {
        let swept: Vec<&LayerRow> =
            layers.iter().filter(|row| point.level.is_empty() || row.level == point.level).collect();
        let figures = ScoreFigures::from(score);
        let low = |interval: Option<Interval>| interval.map(|interval| interval.low);
        let high = |interval: Option<Interval>| interval.map(|interval| interval.high);
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
            not_swept: kept::cell(point, layers),
            trapped: None,
            accuracy_low: low(figures.accuracy_interval),
            accuracy_high: high(figures.accuracy_interval),
            accuracy_exact_low: low(figures.accuracy_exact_interval),
            accuracy_exact_high: high(figures.accuracy_exact_interval),
            agreement_low: low(figures.agreement_interval),
            agreement_high: high(figures.agreement_interval),
            lost: figures.lost,
            gained: figures.gained,
            mcnemar_p: figures.mcnemar_p,
            mcnemar_test: figures.mcnemar_test.map(|test| test.name().to_owned()),
            task: figures.task.map(|task| task.name().to_owned()),
            output_mse: figures.output_mse,
            mse_exact: figures.mse_exact,
            mse: figures.mse,
            auc_exact: figures.auc_exact,
            auc: figures.auc,
            agreeing: figures.agreeing,
            right_exact: figures.right_exact,
            right: figures.right,
            host_cycles: Some(inference.host),
            overlapped_cycles: Some(inference.overlapped),
            cross_entropy_exact: figures.cross_entropy_exact,
            cross_entropy: figures.cross_entropy,
        }
    }

    /// Returns the row of a point that `error` ended.
    pub fn stopped(point: &SweepPoint, mode: Mode, program: &Program, error: &SimError) -> Self {
        let inference = InferenceCycles::of(program);
        Self {
            bits: point.bits,
            overflow: point.overflow.clone(),
            level: point.level.clone(),
            mode: mode.name().to_owned(),
            samples: match error {
                SimError::Trap { sample, .. } => *sample as u64,
                _ => 0,
            },
            cycles: Some(inference.accelerator),
            host_cycles: Some(inference.host),
            overlapped_cycles: Some(inference.overlapped),
            model: point.model.clone(),
            hw: point.hw.clone(),
            trapped: Some(error.to_string()),
            ..Self::default()
        }
    }

    /// Returns the width of the swept level, or 0 if no level is swept.
    pub(crate) fn width(&self) -> u32 {
        self.bits.unwrap_or(0)
    }

    /// Returns the point that this row describes.
    pub fn point(&self) -> SweepPoint {
        SweepPoint {
            model: self.model.clone(),
            hw: self.hw.clone(),
            bits: self.bits,
            overflow: self.overflow.clone(),
            level: self.level.clone(),
            parameters: Vec::new(),
            samples: String::new(),
        }
    }
}
