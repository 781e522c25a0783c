//! Plot of the share of dot products that do not fit, against width, pooled over the layers.

use super::{NO_LAYERS, subtitle};
use crate::plots::kit::{Axis, DrawError, Entry, Legend, Mark, Scale, Sheet, category_look, chart, figure};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeRateRow;
use crate::{Fraction, SizeRecord};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "out_of_range",
    title: "Dot products that do not fit a width",
    caption: "Share of all dot products of all layers with a final sum of the level that lies outside the width (persistent), \
              with a prefix that does (persistent or transient), and with a prefix but no final sum (transient), on a \
              logarithmic axis; one panel per level. On exact activations and without a bias that is added later.",
    draw,
};

/// Curve: its name, and its share at a width.
type Series = (&'static str, fn(&SizeRateRow) -> Option<Fraction>);

const SERIES: [Series; 3] = [
    ("final sums: persistent", |row| row.rate_final),
    ("prefixes: persistent or transient", |row| row.rate_prefix),
    ("transient", |row| row.rate_transient),
];

fn draw(size: &SizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let bits = size.rates.iter().map(|row| row.bits);
    let (Some(low), Some(high)) = (bits.clone().min(), bits.max()) else {
        return Ok(Drawing::Nothing(NO_LAYERS.into()));
    };
    let levels: Vec<&[SizeRateRow]> = size.rates.chunk_by(|a, b| a.level == b.level).collect();
    let several = levels.len() > 1;
    let shares = size.rates.iter().flat_map(|row| SERIES.iter().filter_map(|(_, rate)| rate(row)));
    // All panels share the axes, so that levels can be compared.
    let x = Axis::new("accumulator width (bits)", Scale::whole(low, high, if several { 20 } else { 40 }));
    let y = Axis::new("dot products that do not fit", Scale::log_share(shares.map(Fraction::value)));
    let entry = |(i, (name, _)): (usize, &Series)| Entry::new(Mark::Series(category_look(i)), *name);
    let mut content = vec![Legend::new(SERIES.iter().enumerate().map(entry)).content()];

    content.extend(sheet.panels(levels, if several { 2 } else { 1 }, 320, move |area, rows| {
        let name = if several { rows[0].level.as_str() } else { "" };
        let mut panel = chart(area, name, "", &x, &y)?;
        // Draw the first curve last: the second is never below it.
        for (i, (_, rate)) in SERIES.iter().enumerate().rev() {
            let point = |row: &SizeRateRow| Some((f64::from(row.bits), rate(row)?.value()));
            let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
            panel.line(&points, category_look(i))?;
        }
        Ok(())
    }));
    Ok(Drawing::Figure(figure(sheet, &subtitle(size), &content)?))
}
