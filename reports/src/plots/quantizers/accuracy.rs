//! Plot of accuracy against width, one curve per quantizer.

use crate::figures::Fraction;
use crate::numbers::{counted, percentage};
use crate::plots::kit::{
    Area, Axis, DrawError, Entry, GREY, Legend, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::{QuantizerRow, QuantizersRecord};

pub(super) const PLOT: Plot<QuantizersRecord> = Plot {
    name: "quantizers",
    title: "Accuracy of a quantized network against the width of its accumulators",
    caption: "Share of samples whose top-1 class is the label, one curve per way of quantizing, on accumulators of the same \
              width in every layer; the dashed line is the float network.",
    draw,
};

fn draw(record: &QuantizersRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let widths = record.rows.iter().map(|row| row.bits);
    let (Some(low), Some(high)) = (widths.clone().min(), widths.max()) else {
        return Ok(Drawing::Nothing("Nothing was quantized.".into()));
    };
    let quantizers = distinct(record.rows.iter().map(|row| &row.quantizer));
    let shown = distinct(record.rows.iter().map(|row| &row.panel));
    let curves = quantizers.iter().enumerate();
    let curves = curves.map(|(index, name)| Entry::new(Mark::Series(category_look(index)), *name));
    let float = Entry::new(Mark::Dashes(GREY), "float network");
    let mut content = vec![Legend::new(curves.chain([float])).content()];
    let columns = shown.len().min(2);
    let x = Axis::new("accumulator width (bits)", Scale::whole(low, high, 20));
    content
        .extend(sheet.panels(shown, columns, 340, move |area, panel| {
            draw_panel(area, record, panel, &quantizers, &x)
        }));
    let float = Fraction::of(record.float_right, record.samples);
    let float = float.map_or(String::new(), |share| format!(", float network: {}", percentage(share)));
    let subtitle = format!("{}, {}{float}", record.model, counted(record.samples, "sample"));
    Ok(Drawing::Figure(figure(sheet, &subtitle, &content)?))
}

fn draw_panel(
    area: &Area<'_>,
    record: &QuantizersRecord,
    panel: &str,
    quantizers: &[&String],
    x: &Axis,
) -> Result<(), DrawError> {
    let share = |right| Fraction::of(right, record.samples).map(Fraction::value);
    let all = record.rows.iter().map(|row| row.right).chain([record.float_right]);
    let y = Axis::new("top-1 accuracy", Scale::percent_from(all.filter_map(share).fold(1.0, f64::min)));
    let mut chart = chart(area, panel, "", x, &y)?;
    if let Some(float) = share(record.float_right) {
        chart.level(float, GREY)?;
    }
    for (index, quantizer) in quantizers.iter().enumerate() {
        let of_curve = |row: &&QuantizerRow| row.panel == panel && row.quantizer == **quantizer;
        let rows = record.rows.iter().filter(of_curve);
        let points: Vec<_> = rows.filter_map(|row| Some((f64::from(row.bits), share(row.right)?))).collect();
        chart.line(&points, category_look(index))?;
    }
    Ok(())
}

/// Returns every name once, in the order of first occurrence.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
