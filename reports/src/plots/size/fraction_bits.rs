//! Plot of accuracy and error against fraction bits.

use super::subtitle;
use crate::plots::kit::{
    Area, Axis, DrawError, Entry, GREY, INK, Legend, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeBitsRow;
use crate::{Decibel, Fraction, SizeRecord};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "fraction_bits",
    title: "Accuracy and error against fraction bits",
    caption: "Every layer of floating-point codes has the same number of fraction bits. Accuracy: share of samples whose \
              top-1 class is the label; the dashed horizontal line is the exact network. Agreement: share of samples whose \
              top-1 class is that of the exact network. SQNR: that of the outputs, against those of the exact network. The \
              dashed upright line marks the recommended number.",
    draw,
};

/// Panel: its title, and its value of a row.
type Panel = (&'static str, fn(&SizeBitsRow) -> Option<f64>);

const PANELS: [Panel; 3] = [
    ("top-1 accuracy", |row| row.accuracy.map(Fraction::value)),
    ("top-1 agreement", |row| row.top1_agreement.map(Fraction::value)),
    (SQNR, |row| row.output_sqnr_db.map(Decibel::value)),
];
const SQNR: &str = "output SQNR (dB)";

fn draw(size: &SizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let rows = &size.fraction_bits;
    let bits = || rows.iter().map(|row| row.fraction_bits);
    let (Some(low), Some(high)) = (bits().min(), bits().max()) else {
        return Ok(Drawing::Nothing("No accumulator of floating-point codes was sized.".into()));
    };
    let curve = |value: fn(&SizeBitsRow) -> Option<f64>| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((f64::from(row.fraction_bits), value(row)?))).collect()
    };
    let has_class = rows.iter().any(|row| row.accuracy.is_some());
    // Agreement says what accuracy says, without labels.
    let shown = PANELS
        .into_iter()
        .enumerate()
        .filter(|(at, (_, value))| !curve(*value).is_empty() && (*at != 1 || !has_class));
    let shown: Vec<Panel> = shown.map(|(_, panel)| panel).collect();
    let exact = size.recommended.accuracy_exact.map(Fraction::value);
    let entries = exact.map(|_| Entry::new(Mark::Dashes(GREY), "accuracy of the exact network"));
    let recommended = size.recommended_fraction_bits();
    let entries =
        entries.into_iter().chain(recommended.map(|_| Entry::new(Mark::Dashes(INK), "recommended")));
    let legend = Legend::new(entries).content();
    let x = Axis::new("fraction bits", Scale::whole(low, high, 20));
    let panel = |area: &Area<'_>, (title, value): &Panel| -> Result<(), DrawError> {
        let points = curve(*value);
        let values = points.iter().map(|(_, value)| *value);
        let scale = match *title {
            SQNR => Scale::decibel(values),
            _ => Scale::percent_from(values.chain(exact).fold(1.0, f64::min)),
        };
        let y = Axis::new(*title, scale);
        let mut panel = chart(area, title, "", &x, &y)?;
        if let Some(bits) = recommended {
            panel.upright(f64::from(bits), INK)?;
        }
        if let Some(exact) = exact.filter(|_| *title == PANELS[0].0) {
            panel.level(exact, GREY)?;
        }
        let places: Vec<(f64, f64)> = points.iter().map(|&(bits, value)| (bits, y.scale.at(value))).collect();
        panel.line(&places, category_look(0))?;
        panel.points(&places, category_look(0))
    };
    let columns = shown.len().min(2);
    let mut content = vec![legend];
    content.extend(sheet.panels(shown, columns, 340, panel));
    Ok(Drawing::Figure(figure(sheet, &subtitle(size), &content)?))
}
