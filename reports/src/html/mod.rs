//! Reports as one self-contained HTML page, without scripts or other files, suitable for print.

mod explore;
mod quantize;
mod run;
mod size;
mod sweep;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use explore::explore;
pub(crate) use quantize::quantize;
pub(crate) use run::run;
pub(crate) use size::size;
pub(crate) use sweep::sweep;

use crate::about::About;
use crate::legal::legal;
use crate::numbers::counted;
use crate::plots::{Drawing, Drawn};

const STYLE: &str = include_str!("style.css");

/// Table whose cells are text.
struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// Heading of a column.
struct Column {
    name: String,
    is_text: bool,
}

impl Column {
    fn text(name: &str) -> Self {
        Self { name: name.to_owned(), is_text: true }
    }

    fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_text: false }
    }
}

/// Greatest number of rows of a table in a page. CSV files contain all rows.
const MOST_ROWS: usize = 2000;

impl Table {
    fn markup(&self) -> Markup {
        let more = self.rows.len().saturating_sub(MOST_ROWS);
        html! {
            div.table {
                table {
                    thead { tr { @for column in &self.columns {
                        th class=[column.is_text.then_some("text")] { (column.name) }
                    } } }
                    tbody { @for row in self.rows.iter().take(MOST_ROWS) { tr {
                        @for (cell, column) in row.iter().zip(&self.columns) {
                            td class=[column.is_text.then_some("text")] { (cell) }
                        }
                    } } }
                }
            }
            @if more > 0 { p.note { (counted(more as u64, "more row")) ": the CSV files have them." } }
        }
    }
}

fn page(title: &str, subtitle: &str, about: &About, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (title) } p { (subtitle) } }
                main { (body) }
                footer { "Made by guardbit " (about.version) "." }
            }
        }
    };
    legal(page.into_string())
}

fn settings(about: &About) -> Markup {
    html! {
        section {
            h2 { "What was run" }
            dl { @for (name, value) in &about.settings { div { dt { (name) } dd { (value) } } } }
        }
    }
}

/// Returns a section with every key of the accelerators.
fn accelerators(about: &About) -> Markup {
    html! {
        @for (name, yaml) in &about.accelerators {
            section {
                h2 { "Accelerator: " (name) }
                pre { (yaml.trim_end()) }
            }
        }
    }
}

fn plots<S: ?Sized>(drawn: &[Drawn<S>]) -> Markup {
    html! {
        section {
            h2 { "Plots" }
            @for Drawn { plot, drawing, svg } in drawn {
                figure {
                    @match drawing {
                        Drawing::Figure(_) => {
                            (PreEscaped(svg))
                            figcaption { (plot.caption) }
                        }
                        Drawing::Nothing(why) => { p.nothing { strong { (plot.title) ": " } (why) } }
                    }
                }
            }
        }
    }
}

fn words() -> Markup {
    let words = [
        ("dot product", "the ordered sum of products that makes one output element"),
        ("event", "an addition, or a narrowing, whose exact result does not fit the accumulator"),
        ("persistent", "a dot product with a final sum that does not fit: no order of additions avoids it"),
        ("transient", "a dot product whose final sums fit, but some prefix does not"),
        ("wrong", "a dot product whose delivered sum is not the exact one"),
        ("harmless", "wrong, yet the output code is the right one"),
        (
            "required bits",
            "the width that holds every final sum, or every prefix, of the samples that were run",
        ),
        ("SQNR", "signal to quantization noise ratio, against the same network with wide accumulators"),
    ];
    html! {
        section {
            h2 { "Words" }
            dl.words { @for (word, meaning) in words { div { dt { (word) } dd { (meaning) } } } }
        }
    }
}
