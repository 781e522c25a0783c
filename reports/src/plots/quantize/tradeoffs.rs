//! Plot of the trade-off of mixed widths: bytes against signal-to-noise ratio.

use super::subtitle;
use crate::QuantizeRecord;
use crate::plots::kit::{
    Axis, Content, DrawError, Entry, GREY, Legend, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::TradeOffRow;

pub(super) const PLOT: Plot<QuantizeRecord> = Plot {
    name: "tradeoffs",
    title: "Mixed widths: bytes against signal to noise ratio",
    caption: "Networks on the Pareto front of bytes of weights, signal to noise ratio of the outputs on \
              the accelerator, agreement with the float network and accumulator width. One curve per width \
              of an accumulator that no input makes overflow. The dashed line is the ratio of the network \
              that was written.",
    draw,
};

/// Greatest number of curves.
const CURVES: usize = 7;

fn draw(record: &QuantizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let front: Vec<&TradeOffRow> =
        record.tradeoffs.iter().filter(|row| row.pareto && row.sqnr_db.value().is_finite()).collect();
    if front.is_empty() {
        return Ok(Drawing::Nothing("Mixed widths were not searched: this plot needs --mixed.".into()));
    }
    let mut widths: Vec<u32> = front.iter().map(|row| row.accumulator_bits).collect();
    widths.sort_unstable();
    widths.dedup();
    let shown = &widths[..widths.len().min(CURVES)];
    let entry = |(i, bits): (usize, &u32)| {
        Entry::new(Mark::Series(category_look(i)), format!("accumulator of {bits} bits"))
    };
    let chosen = record.tradeoffs.iter().find(|row| row.chosen).map(|row| row.sqnr_db.value());
    let mut entries: Vec<Entry> = shown.iter().enumerate().map(entry).collect();
    entries.extend(chosen.map(|_| Entry::new(Mark::Dashes(GREY), "written")));
    let x = Axis::new("bytes of weights and biases", scale(front.iter().map(|row| row.bytes as f64)));
    let y = Axis::new("SQNR (dB)", scale(front.iter().map(|row| row.sqnr_db.value())));
    let panel = Content::panel(420, |area| {
        let mut chart = chart(area, "", "", &x, &y)?;
        if let Some(chosen) = chosen.filter(|sqnr| sqnr.is_finite()) {
            chart.level(chosen, GREY)?;
        }
        for (i, bits) in shown.iter().enumerate() {
            let of_width = front.iter().filter(|row| row.accumulator_bits == *bits);
            let mut curve: Vec<(f64, f64)> =
                of_width.map(|row| (row.bytes as f64, row.sqnr_db.value())).collect();
            curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            chart.line(&curve, category_look(i))?;
        }
        Ok(())
    });
    Ok(Drawing::Figure(figure(sheet, &subtitle(record), &[Legend::new(entries).content(), panel])?))
}

/// Returns a scale from the least to the greatest value.
fn scale(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    Scale::between(low, high)
}
