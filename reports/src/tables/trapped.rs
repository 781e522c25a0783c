//! Points of a sweep that a trapped overflow ended.

use super::SummaryRow;

/// One sentence for every point that a trapped overflow ended.
pub fn trapped_text(rows: &[SummaryRow]) -> Vec<String> {
    let alone = rows.windows(2).all(|pair| (&pair[0].model, &pair[0].hw) == (&pair[1].model, &pair[1].hw));
    let sentence = |row: &SummaryRow| {
        let trapped = row.trapped.as_ref()?;
        let whose = if alone { String::new() } else { format!("{} on {}, ", row.model, row.hw) };
        Some(format!("{whose}{} bits {}: {trapped}", row.bits, row.overflow))
    };
    rows.iter().filter_map(sentence).collect()
}
