//! `classes.csv`: results per class.

use serde::Serialize;

use super::table::table;
use super::{Column, Row};
use crate::{Fraction, Interval, PointRecord, Predictions};

table! {
    "classes.csv"
    /// One class that is the label or the result of some sample.
    ClassRow {
        /// The class: an index into the output.
        class: usize,
        /// Samples with this label; blank without labels.
        labelled: Option<u64>,
        /// Samples with this label that the exact network classifies correctly; blank without labels.
        right_exact: Option<u64>,
        /// Samples with this label that the narrow hardware classifies correctly; blank without labels and in
        /// isolated mode.
        right: Option<u64>,
        /// Share of the samples with this label that the exact network classifies correctly (recall).
        accuracy_exact: Option<Fraction> = right_exact / labelled,
        /// Share of the samples with this label that the narrow hardware classifies correctly (recall).
        accuracy: Option<Fraction> = right / labelled,
        /// Lower end of Wilson's interval of 95 % of `accuracy`.
        accuracy_low: Option<Fraction>,
        /// Upper end of Wilson's interval of 95 % of `accuracy`.
        accuracy_high: Option<Fraction>,
        /// Samples to which the exact network assigns this class, whatever their label.
        predicted_exact: u64,
        /// Samples to which the narrow hardware assigns this class, whatever their label; blank in isolated
        /// mode.
        predicted: Option<u64>,
        /// Samples to which both networks assign this class; blank in isolated mode.
        agreeing: Option<u64>,
    }
}

impl ClassRow {
    /// Returns the rows of those among `count` classes that occur.
    pub fn all(predictions: &Predictions, count: usize) -> Vec<Self> {
        let Some(classes) = &predictions.classes else { return Vec::new() };
        let tally = |counted: &dyn Fn(usize) -> Option<i32>| {
            let mut counts = vec![0u64; count];
            for class in (0..classes.exact.len()).filter_map(counted) {
                if let Some(count) = usize::try_from(class).ok().and_then(|class| counts.get_mut(class)) {
                    *count += 1;
                }
            }
            counts
        };
        let both = |a: &[i32], b: &[i32]| tally(&|i| (a[i] == b[i]).then_some(a[i]));
        let of = |values: &[i32]| tally(&|i| Some(values[i]));
        let (exact, simulated) = (classes.exact.as_slice(), classes.simulated.as_deref());
        let labels = predictions.labels.as_deref();
        let labelled = labels.map(of);
        let right_exact = labels.map(|labels| both(labels, exact));
        let right = labels.zip(simulated).map(|(labels, simulated)| both(labels, simulated));
        let (predicted_exact, predicted) = (of(exact), simulated.map(of));
        let agreeing = simulated.map(|simulated| both(exact, simulated));
        let row = |class: usize| {
            let at = |counts: &Option<Vec<u64>>| counts.as_ref().map(|counts| counts[class]);
            let share = |part: Option<u64>| Fraction::of(part?, at(&labelled)?);
            let interval = at(&right).zip(at(&labelled)).and_then(|(part, of)| Interval::of(part, of));
            Self {
                class,
                labelled: at(&labelled),
                right_exact: at(&right_exact),
                right: at(&right),
                accuracy_exact: share(at(&right_exact)),
                accuracy: share(at(&right)),
                accuracy_low: interval.map(|interval| interval.low),
                accuracy_high: interval.map(|interval| interval.high),
                predicted_exact: predicted_exact[class],
                predicted: at(&predicted),
                agreeing: at(&agreeing),
            }
        };
        let occurs = |row: &Self| {
            [row.labelled, Some(row.predicted_exact), row.predicted]
                .into_iter()
                .flatten()
                .any(|count| count > 0)
        };
        (0..count).map(row).filter(occurs).collect()
    }
}

/// Row of the `classes.csv` of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepClassRow {
    /// Row of `summary.csv`, from 0.
    pub point: usize,
    /// Row of the point's own table, whose columns follow.
    pub class: ClassRow,
}

impl Row for SweepClassRow {
    const FILE: &'static str = ClassRow::FILE;
    const ABOUT: &'static str = "A class at one point: the columns of a run's `classes.csv` after `point`.";
    const COLUMNS: &'static [Column] = &COLUMNS;
}

const COLUMNS: [Column; 1 + ClassRow::COLUMNS.len()] = {
    let point = Column::new::<usize>("point", "The point: row of `summary.csv`, from 0.");
    let mut all = [point; 1 + ClassRow::COLUMNS.len()];
    let mut i = 1;
    while i < all.len() {
        all[i] = ClassRow::COLUMNS[i - 1];
        i += 1;
    }
    all
};

/// Returns the rows of every point, in the order of the points.
pub fn sweep_class_rows(points: &[PointRecord]) -> Vec<SweepClassRow> {
    let of = |(point, record): (usize, &PointRecord)| {
        record.classes.iter().map(|class| SweepClassRow { point, class: class.clone() }).collect::<Vec<_>>()
    };
    points.iter().enumerate().flat_map(of).collect()
}
