//! Table and plot of floating-point layers.

use maud::{Markup, html};

use super::super::page::note;
use super::super::plot::{Axis, Kind, Row, Spec};
use super::super::table::{Cell, Column, Table};
use crate::plots::Extremes;
use crate::records::FractionBits;
use crate::tables::AlignedRow;
use crate::{Fraction, RunRecord};

/// Greatest number of rows of the plot.
const ROWS: usize = 200;

/// Returns the table of the floating-point layers, if there are any.
pub(super) fn aligned(run: &RunRecord) -> Markup {
    let lost = ["cut terms", "vanished terms", "most bits cut"];
    let errors = ["wrong sums", "SQNR, sums (dB)", "SQNR, outputs (dB)", "max ulps", "mean ulps"];
    let required = ["required bits, result", "required bits, float32", "required bits, no cut"];
    let unit = ["fraction bits", "products", "per addition", "promoted after"];
    let register = ["bits", "overflows", "required integer bits"];
    let has_register = run.aligned.iter().any(|row| row.overflows.is_some());
    let formats = ["op", "activations", "weights", "result"].map(Column::text);
    let columns = [Column::text("layer")]
        .into_iter()
        .chain(Column::group("lost", &lost))
        .chain(Column::group("errors", &errors))
        .chain(Column::group("required fraction bits", &required))
        .chain(Column::group("accumulator", &unit))
        .chain(Column::group("fixed-point register", &register[..if has_register { 3 } else { 0 }]))
        .chain(formats);
    let row = |row: &AlignedRow| {
        let [activations, weights] = row.formats();
        let mut cells = vec![
            Cell::layer(row.index, &row.name),
            Cell::maybe(row.cut_share, Cell::share),
            Cell::maybe(row.vanished_share, Cell::share),
            Cell::count(row.max_cut_bits),
            Cell::maybe(row.wrong_share, Cell::share),
            Cell::maybe(row.sum_sqnr_db, Cell::decibel),
            Cell::maybe(row.output_sqnr_db, Cell::decibel),
            Cell::count(row.max_ulps),
            Cell::maybe(row.mean_ulps, Cell::number),
            Cell::maybe(row.required_result, |bits| Cell::count(bits.into())),
            Cell::maybe(row.required_float32, |bits| Cell::count(bits.into())),
            Cell::maybe(row.required_exact, |bits| Cell::count(bits.into())),
            Cell::count(row.fraction_bits.into()),
            Cell::count(row.products as u64),
            Cell::count(row.addition as u64),
            Cell::maybe(row.promote_terms, |terms| Cell::count(terms as u64)),
        ];
        if has_register {
            cells.push(Cell::maybe(row.register_bits, |bits| Cell::count(bits.into())));
            cells.push(Cell::maybe(row.overflows, Cell::count));
            cells.push(Cell::maybe(row.required_integer, |bits| Cell::count(bits.into())));
        }
        cells.extend([&row.op, &activations, &weights, &row.result].map(Cell::text));
        cells
    };
    let table = Table::new("Floating-point accumulators", columns).rows(run.aligned.iter().map(row));
    html! {
        @if !run.aligned.is_empty() {
            h3 { "Floating-point accumulators" }
            (table.markup())
            (note(
                "One row per floating-point layer. A sum is wrong if it is not the exact rational sum, rounded once to \
                 float32; an ulp is a step of float32 at the exact sum, so that a sum which cancels to nearly zero may be \
                 many ulps away though its error is small. Outputs are compared with those of the exact network. Required \
                 fraction bits are those of these samples: for the result that 40 bits give, for the exact sum in float32, \
                 and for no term to be cut. Blank: 40 bits do not suffice. All columns are in aligned.csv, and counts by \
                 fraction bits in aligned_bits.csv."
            ))
        }
    }
}

/// Returns the share of the dot products of every layer for which fraction bits are too few.
pub(super) fn fraction_bits(run: &RunRecord, instead: Option<&str>) -> Markup {
    let layers = FractionBits::all(run);
    let range = FractionBits::range(&layers);
    let wrong = |layer: &FractionBits<'_>| layer.layer.wrong_share.map_or(0.0, Fraction::value);
    let layers = Extremes::of(layers, ROWS, wrong);
    let note = layers.left_out("layers", "share of wrong sums");
    let row = |layer: &FractionBits<'_>, view: usize| {
        let share = |bits| layer.beyond(bits, FractionBits::AIMS[view].1).filter(|&share| share > 0.0);
        Row {
            name: layer.label(),
            layer: Some(layer.layer.index),
            values: (range.0..=range.1).map(share).collect(),
            view,
            fence: Some(f64::from(layer.layer.fraction_bits - range.0) + 1.0),
            text: String::new(),
        }
    };
    let views = 0..FractionBits::AIMS.len();
    let spec = Spec {
        kind: Kind::Heat,
        x: Axis::new("dot products").percent().log(true),
        y: Axis::new("fraction bits"),
        names: (range.0..=range.1).map(|bits| bits.to_string()).collect(),
        rows: views.flat_map(|view| layers.shown.iter().map(move |layer| row(layer, view))).collect(),
        views: FractionBits::AIMS.map(|(aim, _)| format!("too few for {aim}")).into(),
        note,
        ..Spec::default()
    };
    spec.figure(
        "Dot products for which fraction bits do not suffice",
        "Share of the dot products for which a number of fraction bits is too small. The bar marks the fraction bits of \
         the accelerator.",
        instead,
    )
}
