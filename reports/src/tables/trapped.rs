//! Points of a sweep that a trapped overflow ended.

use super::SummaryRow;
use crate::PointRecord;

/// Returns one sentence for every point that a trapped overflow ended.
pub fn trapped_text(points: &[PointRecord]) -> Vec<String> {
    let rows: Vec<&SummaryRow> = points.iter().map(|point| &point.summary).collect();
    let alone = rows.windows(2).all(|pair| (&pair[0].model, &pair[0].hw) == (&pair[1].model, &pair[1].hw));
    let sentence = |point: &PointRecord| {
        let row = &point.summary;
        let trapped = row.trapped.as_ref()?;
        let whose = if alone { String::new() } else { format!("{} on {}, ", row.model, row.hw) };
        let others = point.others().into_iter().map(|one| format!("{} {}, ", one.key, one.value));
        let whose = whose + &others.collect::<String>();
        let register = row.bits.map_or(String::new(), |bits| format!("{bits} bits {}: ", row.overflow));
        Some(format!("{whose}{register}{trapped}"))
    };
    points.iter().filter_map(sentence).collect()
}
