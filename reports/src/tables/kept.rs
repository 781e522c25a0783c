//! Layers that keep a register of their own at the swept level.

use super::layers::LayerRow;
use super::sweep_point::SweepPoint;
use crate::Width;

/// Layer that is not swept.
pub(super) struct Kept<'a> {
    /// Last row of the layer.
    pub layer: &'a LayerRow,
    /// Row of the layer's swept level, if it has that level.
    pub level: Option<&'a LayerRow>,
}

/// Returns the layers whose register at the swept level differs from that of `point`.
pub(super) fn kept<'a>(point: &SweepPoint, rows: &'a [LayerRow]) -> impl Iterator<Item = Kept<'a>> {
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
