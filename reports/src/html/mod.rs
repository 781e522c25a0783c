//! Reports as one self-contained HTML page that a browser opens from disk. Tables and pictures need no script; the
//! script sorts tables, draws plots that answer to the pointer, and opens a panel for a layer or a design.

mod compare;
mod explore;
mod page;
mod plot;
mod quantize;
mod run;
mod size;
mod sweep;
mod table;

use maud::{Markup, html};

pub(crate) use compare::compare;
pub(crate) use explore::explore;
pub(crate) use quantize::quantize;
pub(crate) use run::{accelerator_picture, run};
pub(crate) use size::size;
pub(crate) use sweep::sweep;

use crate::about::About;

fn settings(about: &About) -> Markup {
    html! {
        @if !about.settings.is_empty() {
            h3 { "Settings" }
            dl { @for (name, value) in &about.settings { div { dt { (name) } dd { (value) } } } }
        }
    }
}

/// Returns every key of the accelerators.
fn accelerators(about: &About) -> Markup {
    html! {
        @for (name, yaml) in &about.accelerators {
            details {
                summary { "Accelerator: " (name) }
                pre tabindex="0" { (yaml.trim_end()) }
            }
        }
    }
}

/// Returns terms with their meanings.
fn terms(words: &[(&str, &str)]) -> Markup {
    html! {
        details {
            summary { "Terms" }
            dl.words { @for (word, meaning) in words { div { dt { (word) } dd { (meaning) } } } }
        }
    }
}

fn words(is_float: bool) -> Markup {
    if is_float {
        return terms(&[
            ("term", "a product, or the accumulator that enters an addition"),
            ("cut", "a term that loses bits when it is aligned to the largest exponent of its addition"),
            ("vanished", "a nonzero term of which nothing remains after alignment"),
            ("fraction bits", "the bits of a term that are kept below the largest exponent"),
            ("wrong", "a dot product whose sum is not the exact rational sum, rounded once to float32"),
            ("ulp", "a step of float32 at the exact sum"),
            (
                "required fraction bits",
                "the fraction bits with which every dot product of the samples meets an aim",
            ),
            ("promotion", "adding the accumulator to a float32 register after a number of products"),
            ("SQNR", "signal to quantization noise ratio, against the exact network"),
        ]);
    }
    terms(&[
        ("dot product", "the ordered sum of products that forms one output element"),
        ("event", "an addition, or a narrowing, whose exact result does not fit the accumulator"),
        ("persistent", "a dot product in which some final sum does not fit: no order of additions avoids it"),
        ("transient", "a dot product in which every final sum fits, but some prefix does not"),
        ("wrong", "a dot product whose delivered sum differs from the exact sum"),
        ("harmless", "a wrong dot product whose output code is correct"),
        ("required bits", "the width that holds every final sum, or every prefix, of the samples"),
        ("SQNR", "signal to quantization noise ratio, against the exact network"),
    ])
}
