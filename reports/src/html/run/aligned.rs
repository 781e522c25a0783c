//! Table of the layers of floating-point codes.

use maud::{Markup, html};

use super::super::page::note;
use super::super::table::{Cell, Column, Table};
use crate::RunRecord;
use crate::tables::AlignedRow;

/// Returns the table of the layers of floating-point codes, if there are any.
pub(super) fn aligned(run: &RunRecord) -> Markup {
    let text = ["layer", "op", "activations", "weights", "result"].map(Column::text);
    let unit = ["products", "per addition", "fraction bits", "promoted after"];
    let lost = ["cut terms", "vanished terms", "most bits cut"];
    let errors = ["wrong sums", "max ulps", "mean ulps", "SQNR, sums (dB)", "SQNR, outputs (dB)"];
    let required = ["no bit lost", "equal result", "exact float32"];
    let columns = text
        .into_iter()
        .chain(Column::group("accumulator", &unit))
        .chain(Column::group("lost", &lost))
        .chain(Column::group("errors", &errors))
        .chain(Column::group("required fraction bits", &required));
    let row = |row: &AlignedRow| {
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.op),
            Cell::text(&row.activations),
            Cell::text(&row.weights),
            Cell::text(&row.result),
            Cell::count(row.products as u64),
            Cell::count(row.addition as u64),
            Cell::count(row.fraction_bits.into()),
            Cell::maybe(row.promote_terms, |terms| Cell::count(terms as u64)),
            Cell::maybe(row.cut_share, Cell::share),
            Cell::maybe(row.vanished_share, Cell::share),
            Cell::count(row.max_cut_bits),
            Cell::maybe(row.wrong_share, Cell::share),
            Cell::count(row.max_ulps),
            Cell::maybe(row.mean_ulps, Cell::number),
            Cell::decibel(row.sum_sqnr_db),
            Cell::decibel(row.output_sqnr_db),
            Cell::maybe(row.required_exact, |bits| Cell::count(bits.into())),
            Cell::maybe(row.required_result, |bits| Cell::count(bits.into())),
            Cell::maybe(row.required_float32, |bits| Cell::count(bits.into())),
        ]
    };
    let table = Table::new("Floating-point accumulators", columns).rows(run.aligned.iter().map(row));
    html! {
        @if !run.aligned.is_empty() {
            h3 { "Floating-point accumulators" }
            (table.markup())
            (note(
                "One row per layer of floating-point codes. A term is a product, or the accumulator that enters an \
                 addition; it is cut if it loses bits when it is aligned, and vanishes if nothing of it remains. Errors \
                 of sums are those against the exact rational sum, rounded once to float32; outputs are compared with \
                 those of the exact network. Required fraction bits are those of these samples: for no term to lose a \
                 bit, for the result that 40 bits give, and for the exact sum. Blank: 40 bits do not suffice. All \
                 columns are in aligned.csv, and histograms in aligned_bits.csv."
            ))
        }
    }
}
