//! Layers that a sweep does not change: those with a register of their own at the swept level.

use super::kept::kept;
use super::{LayerRow, SweepPoint};
use crate::{PointRecord, Width, layer_label};

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
