//! The accuracy of dynamic quantization.

use guardbit_quantize::{Config, Plan, dynamic_outputs};
use guardbit_reports::Fraction;

use super::reals;
use crate::StudyError;
use crate::labels::Labels;
use crate::subject::Subject;

/// Samples that run side by side.
const BATCH: usize = 256;

/// The share of the samples of a float network that are classified as labelled where every sample has scales of its own;
/// none without labels.
pub(super) fn accuracy(float: &Subject, config: &Config) -> Result<Option<Fraction>, StudyError> {
    let labels = float.labels.as_ref().and_then(Labels::classes);
    let (Some(labels), Some(output)) = (labels, float.outputs.classes()) else { return Ok(None) };
    let plan = Plan::new(&float.graph, config)?;
    let place = float.graph.outputs().iter().position(|&id| id == output).unwrap_or(0);
    let mut samples = float.samples.reader();
    let (mut right, mut done) = (0, 0);
    while done < float.samples.count() {
        let count = BATCH.min(float.samples.count() - done);
        let batch: Vec<_> = samples.read(count)?.into_iter().map(reals).collect();
        for (outputs, label) in dynamic_outputs(&plan, config, &batch)?.iter().zip(&labels[done..]) {
            right += u64::from(top1(&outputs[place]) == Some(*label));
        }
        done += count;
    }
    Ok(Fraction::of(right, done as u64))
}

/// Index of the greatest value; ties go to the lowest index.
fn top1(values: &[f32]) -> Option<usize> {
    let best = values.iter().enumerate().rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map(|(index, _)| index)
}
