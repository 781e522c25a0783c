//! Dot products that do not fit, against width, pooled over the layers.

use super::{NO_LAYERS, subtitle};
use crate::plots::kit::{Axis, Content, DrawError, Entry, Legend, Mark, Scale, category_look, chart, figure};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeRateRow;
use crate::{Fraction, SizeRecord};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "out_of_range",
    title: "Dot products that do not fit a width",
    caption: "Share of all dot products of all layers whose final sum, or some prefix of whose sum, lies outside the width, on \
              a logarithmic axis. On exact activations and without a bias that is added later.",
    draw,
};

/// A curve: its name, and its share at a width.
type Series = (&'static str, fn(&SizeRateRow) -> Option<Fraction>);

fn draw(size: &SizeRecord, title: &'static str) -> Result<Drawing, DrawError> {
    let (Some(first), Some(last)) = (size.rates.first(), size.rates.last()) else {
        return Ok(Drawing::Nothing(NO_LAYERS.into()));
    };
    let series: [Series; 2] = [
        ("final sums: persistent", |row| row.rate_final),
        ("prefixes: persistent or transient", |row| row.rate_prefix),
    ];
    let shares = size.rates.iter().flat_map(|row| series.iter().filter_map(|(_, rate)| rate(row)));
    let x = Axis::new("bits", Scale::whole(first.bits, last.bits, 40));
    let y = Axis::new("dot products that do not fit", Scale::log_share(shares.map(Fraction::value)));
    let entry = |(i, (name, _)): (usize, &(&str, _))| Entry::new(Mark::Series(category_look(i)), *name);
    let legend = Legend::new(series.iter().enumerate().map(entry)).content();
    let curves = Content::new(320, |area| {
        let mut panel = chart(area, ("", ""), &x, &y)?;
        // The first below the second: prefixes are never fewer.
        for (i, (_, rate)) in series.iter().enumerate().rev() {
            let point = |row: &SizeRateRow| Some((f64::from(row.bits), rate(row)?.value()));
            let points: Vec<(f64, f64)> = size.rates.iter().filter_map(point).collect();
            panel.line(&points, category_look(i))?;
        }
        Ok(())
    });
    Ok(Drawing::Figure(figure(title, &subtitle(size), &[legend, curves])?))
}
