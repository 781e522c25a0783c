//! Plot of the codes that differ in every layer under another scheme: with the layer alone changed, and with
//! all layers before it changed too.

use crate::numbers::counted;
use crate::plots::kit::{
    Area, Axis, Content, DrawError, Entry, Legend, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::{SchemeRow, SchemesRecord};

pub(super) const PLOT: Plot<SchemesRecord> = Plot {
    name: "schemes",
    title: "Effect of another requantization scheme on every operation",
    caption: "Share of the codes of every operation that differ from those under the network's own scheme, \
              on a logarithmic axis. Above: each operation reads the same codes. Middle: all earlier \
              operations use the other scheme too. Below: the greatest difference in that case. Points on \
              the line 0 do not differ.",
    draw,
};

const HEIGHT: u32 = 250;

/// Panel: its title, the title of its axis, and the value of a row.
type Panel = (&'static str, &'static str, fn(&SchemeRow) -> f64);

const SHARES: [Panel; 2] = [
    ("each operation alone", "codes that differ", |row| row.differ_alone as f64 / row.codes.max(1) as f64),
    ("through the network", "codes that differ", |row| row.differ as f64 / row.codes.max(1) as f64),
];

const DISTANCE: Panel = ("through the network", "greatest difference (codes)", |row| f64::from(row.greatest));

fn draw(record: &SchemesRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let last = record.rows.iter().map(|row| row.index).max();
    let Some(last) = last.filter(|_| !record.schemes.is_empty()) else {
        return Ok(Drawing::Nothing("No operation of the network requantizes.".into()));
    };
    let x = Axis::new("operation, by its index", Scale::whole(0, last as u32, 40));
    let shares = SHARES.iter().flat_map(|(.., value)| record.rows.iter().map(value));
    let share = Scale::log_share(shares);
    let distance = Scale::from_zero(record.rows.iter().map(DISTANCE.2).fold(1.0, f64::max));
    let entry = |(index, scheme): (usize, &String)| Entry::new(Mark::Series(category_look(index)), scheme);
    let legend = Legend::new(record.schemes.iter().enumerate().map(entry)).content();
    let panel = |what: Panel, scale: &Scale| {
        let y = Axis::new(what.1, scale.clone());
        let x = x.clone();
        Content::panel(HEIGHT, move |area| curves(area, record, what, (&x, &y)))
    };
    let content = [legend, panel(SHARES[0], &share), panel(SHARES[1], &share), panel(DISTANCE, &distance)];
    let subtitle = format!("{}, {}", record.model, counted(record.samples as u64, "sample"));
    Ok(Drawing::Figure(figure(sheet, &subtitle, &content)?))
}

fn curves(
    area: &Area<'_>,
    record: &SchemesRecord,
    (title, _, value): Panel,
    (x, y): (&Axis, &Axis),
) -> Result<(), DrawError> {
    let mut panel = chart(area, title, "", x, y)?;
    for (index, scheme) in record.schemes.iter().enumerate() {
        let rows = record.rows.iter().filter(|row| row.scheme == *scheme);
        let points: Vec<_> = rows.map(|row| (row.index as f64, value(row))).collect();
        panel.line(&points, category_look(index))?;
    }
    Ok(())
}
