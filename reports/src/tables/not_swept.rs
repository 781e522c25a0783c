//! Layers that a sweep does not change: those with a register of their own at the swept level.

use super::{LayerRow, SweepPoint};
use crate::{PointRecord, Width, layer_label};

/// Layer that is not swept.
struct Kept<'a> {
    /// Last row of the layer.
    layer: &'a LayerRow,
    /// Row of the layer's swept level, if it has that level.
    level: Option<&'a LayerRow>,
}

/// Returns the layers whose register at the swept level differs from that of `point`.
fn kept<'a>(point: &SweepPoint, rows: &'a [LayerRow]) -> impl Iterator<Item = Kept<'a>> {
    let (bits, overflow) = (point.bits.map(Width::Bits), point.overflow.clone());
    let name = point.level.clone();
    let layer = move |rows: &'a [LayerRow]| {
        let level = rows.iter().find(|row| row.level == name);
        let swept = level
            .is_some_and(|row| Some(row.bits) == bits && row.overflow.as_deref() == Some(overflow.as_str()));
        let layer = rows.last().filter(|_| bits.is_some() && !swept)?;
        Some(Kept { layer, level })
    };
    rows.chunk_by(|a, b| a.index == b.index).filter_map(layer)
}

/// Returns the cell of `summary.csv`.
pub(super) fn cell(point: &SweepPoint, rows: &[LayerRow]) -> Option<String> {
    let text = |kept: Kept<'_>| {
        let register = match kept.level {
            None => format!("no level {}", point.level),
            Some(row) => match (row.bits, &row.overflow) {
                (Width::Bits(bits), Some(overflow)) => format!("{bits} bits {overflow}"),
                (bits, _) => bits.to_string(),
            },
        };
        format!("{}: {register}", kept.layer.index)
    };
    let cells: Vec<String> = kept(point, rows).map(text).collect();
    (!cells.is_empty()).then(|| cells.join("; "))
}

/// Returns one sentence for every layer that is not swept at some point.
pub fn not_swept_text(points: &[PointRecord]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let subject = |record: &PointRecord| (record.summary.model.clone(), record.summary.hw.clone());
    let alone = points.windows(2).all(|pair| subject(&pair[0]) == subject(&pair[1]));
    for record in points {
        let point = record.summary.point();
        for kept in kept(&point, &record.layers) {
            let label = layer_label(kept.layer.index, &kept.layer.name);
            let whose = if alone { String::new() } else { format!("{} on {}: ", point.model, point.hw) };
            let sentence = format!("{whose}layer {label} {}", what(&point, kept.level));
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
    }
    sentences
}

/// Describes the register that a layer has instead of the swept register.
fn what(point: &SweepPoint, level: Option<&LayerRow>) -> String {
    let name = &point.level;
    match level {
        None => format!("has no level {name}, so it is not swept"),
        Some(LayerRow { bits: Width::Auto, .. }) => format!("keeps its own level {name} of any width"),
        Some(LayerRow { bits, overflow, .. }) if Some(*bits) == point.bits.map(Width::Bits) => {
            format!("keeps its own overflow mode {} at level {name}", overflow.as_deref().unwrap_or_default())
        }
        Some(LayerRow { bits, .. }) => format!("keeps its own {bits} bits at level {name}"),
    }
}
