//! `classes.csv`: results per class.

use super::table::table;
use crate::{Fraction, Interval, Predictions};

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
