//! Plot of the fraction bits that dot products of floating-point layers require.

use super::subtitle;
use crate::plots::kit::{
    Area, Axis, DrawError, Entry, Extremes, INK, Legend, Mark, Scale, Sheet, category_look, chart, columns,
    figure,
};
use crate::plots::{Drawing, Plot};
use crate::records::{Aim, FractionBits};
use crate::{Fraction, RunRecord};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "fraction_bits",
    title: "Dot products for which fraction bits do not suffice",
    caption: "Share of the dot products of each floating-point layer for which a number of fraction bits is too small, \
              on a logarithmic axis: to deliver the result of an accumulator with 40 of them, to deliver the exact \
              sum rounded once to float32, and to cut no term. The dashed line marks the fraction bits of the \
              accelerator.",
    draw,
};

/// Reason shown if the required bits were not counted.
const NOT_COUNTED: &str = "Not counted: this plot needs --stats values or full.";

/// Greatest number of curves that can be distinguished.
const CURVES: usize = 8;

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let layers = FractionBits::all(run);
    if layers.is_empty() {
        return Ok(Drawing::Nothing(NOT_COUNTED.into()));
    }
    let range = FractionBits::range(&layers);
    let wrong = |layer: &FractionBits<'_>| layer.layer.wrong_share.map_or(0.0, Fraction::value);
    let layers = Extremes::of(layers, CURVES, wrong);
    let note = layers.note("layers", "share of wrong sums");
    let layers = &layers.shown;
    let entry =
        |(i, layer): (usize, &FractionBits<'_>)| Entry::new(Mark::Series(category_look(i)), layer.label());
    let available = Entry::new(Mark::Dashes(INK), "fraction bits of the accelerator");
    // Nothing is known of an aim that no layer counts.
    let counted = |(_, count): &&Aim| layers.iter().any(|layer| layer.beyond(0, *count).is_some());
    let aims: Vec<&Aim> = FractionBits::AIMS.iter().filter(counted).collect();
    let curves = |aim: &Aim| -> Vec<Vec<(f64, f64)>> {
        layers.iter().map(|layer| layer.curve(range, aim.1)).collect()
    };
    let columns = columns(aims.len());
    let x = Axis::new("fraction bits", Scale::whole(range.0, range.1, if columns == 3 { 12 } else { 20 }));
    let shares = aims.iter().flat_map(|aim| curves(aim)).flatten().map(|(_, share)| share);
    let y = Axis::new("share of dot products", Scale::log_share(shares));
    let panel = |area: &Area<'_>, aim: &&Aim| -> Result<(), DrawError> {
        let mut panel = chart(area, &format!("too few for {}", aim.0), "", &x, &y)?;
        let mut available: Vec<u32> = layers.iter().map(|layer| layer.layer.fraction_bits).collect();
        available.sort_unstable();
        available.dedup();
        for bits in available {
            panel.upright(f64::from(bits), INK)?;
        }
        for (i, curve) in curves(aim).iter().enumerate() {
            panel.line(curve, category_look(i))?;
        }
        Ok(())
    };
    let mut content = vec![Legend::new(layers.iter().enumerate().map(entry).chain([available])).content()];
    content.extend(sheet.panels(aims, columns, 300, panel));
    content.extend(note);
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content)?))
}
