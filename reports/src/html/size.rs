//! HTML report of a sizing.

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings};
use crate::about::About;
use crate::numbers::{counted, grouped, number, percentage};
use crate::plots::Drawn;
use crate::tables::{SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};
use crate::{DesignLevel, SizeRecord, WitnessRecord, layer_label};

/// Returns the page.
pub(crate) fn size(about: &About, size: &SizeRecord, drawn: &[Drawn<SizeRecord>]) -> String {
    let title = format!("Accumulator widths: {} on {}", size.model, size.hw);
    let subtitle = format!("guardbit size · {}", counted(size.recommended.samples, "sample"));
    let body = html! {
        (findings(size))
        (settings(about))
        (widths(size))
        (levels(size))
        (rates(size))
        (cost(size))
        (grid(size))
        (witnesses(size))
        (plots(drawn))
        (accelerators(about))
        (words())
    };
    page(&title, &subtitle, about, &body)
}

fn findings(size: &SizeRecord) -> Markup {
    let widest = |width: fn(&SizeRow) -> u32| size.layers.iter().map(width).max().unwrap_or(0);
    let outcome = &size.recommended;
    html! {
        section {
            h2 { "Results" }
            ul {
                li { "For any weights of these types: " (widest(|row| row.bits_type)) " bits for every layer." }
                li { "For these weights and any input: " (widest(|row| row.bits_range)) " bits, proved for any order of additions." }
                li {
                    "For these samples: " (widest(|row| row.bits_data_final)) " bits if sums wrap, "
                    (widest(|row| row.bits_data_prefix)) " bits if they saturate."
                }
                @if let (Some(budget), Some(bits)) =
                    (&size.budget, size.layers.iter().filter_map(|row| row.bits_budget).max()) {
                    li { "Within " (budget) ", each level by itself: at most " (bits) " bits at the last one." }
                }
                li { "One design for " (size.coverage.sized()) ": " (design(&size.design)) "." }
                @for sentence in size.coverage.sentences() { li { (sentence) "." } }
                li {
                    "With the widths of recommended.yaml, " (counted(outcome.output_mismatch, "output code"))
                    " of these samples " (number(outcome.output_mismatch, "differs", "differ")) " from the exact network"
                    @if let (Some(narrow), Some(exact)) = (outcome.accuracy, outcome.accuracy_exact) {
                        "; accuracy " (percentage(narrow)) ", exact " (percentage(exact))
                    }
                    "."
                }
                @for remark in &size.remarks { li { (remark) "." } }
            }
        }
    }
}

/// Returns the widths of a design, e.g. `chain 19, acc 23`.
fn design(levels: &[DesignLevel]) -> String {
    let levels: Vec<String> = levels.iter().map(|level| format!("{} {}", level.level, level.bits)).collect();
    levels.join(", ")
}

fn widths(size: &SizeRecord) -> Markup {
    let names = [
        "terms",
        "channels",
        "type",
        "A2Q, types",
        "A2Q",
        "A2Q+",
        "weights",
        "ranges",
        "data, final",
        "data, prefix",
        "budget",
        "recommended",
    ];
    let row = |row: &SizeRow| {
        let bits = |bits: Option<u32>| bits.map_or(String::new(), |bits| bits.to_string());
        vec![
            layer_label(row.index, &row.name),
            row.op.clone(),
            grouped(row.terms as u64),
            grouped(row.channels as u64),
            row.bits_type.to_string(),
            bits(row.bits_a2q_type),
            bits(row.bits_a2q),
            bits(row.bits_a2q_plus),
            bits(row.bits_weights),
            row.bits_range.to_string(),
            row.bits_data_final.to_string(),
            row.bits_data_prefix.to_string(),
            bits(row.bits_budget),
            row.bits_recommended.to_string(),
        ]
    };
    let table =
        Table { columns: columns(&["layer", "op"], &names), rows: size.layers.iter().map(row).collect() };
    html! {
        section {
            h2 { "Widths" }
            (table.markup())
            p.note {
                "Bits of the level that sums the whole dot product, the largest over the layer's channels. \
                 A2Q+ only if the weights of every channel sum to 0. The bias is included only if it is \
                 preloaded. Channels are in size_channels.csv."
            }
        }
    }
}

fn levels(size: &SizeRecord) -> Markup {
    let names =
        ["bits now", "type", "weights", "ranges", "data, final", "data, prefix", "budget", "recommended"];
    let row = |row: &SizeLevelRow| {
        vec![
            layer_label(row.index, &row.name),
            row.level.clone(),
            row.bits.to_string(),
            row.bits_type.to_string(),
            row.bits_weights.map_or(String::new(), |bits| bits.to_string()),
            row.bits_range.to_string(),
            row.bits_data_final.to_string(),
            row.bits_data_prefix.to_string(),
            row.bits_budget.map_or(String::new(), |bits| bits.to_string()),
            row.bits_recommended.to_string(),
        ]
    };
    let table =
        Table { columns: columns(&["layer", "level"], &names), rows: size.levels.iter().map(row).collect() };
    html! {
        @if size.levels.len() > size.layers.len() {
            section { h2 { "Levels" } (table.markup()) }
        }
    }
}

fn rates(size: &SizeRecord) -> Markup {
    let share = |share: Option<crate::Fraction>| share.map_or(String::new(), percentage);
    let row = |row: &SizeRateRow| {
        vec![
            row.level.clone(),
            row.bits.to_string(),
            grouped(row.out_of_range_final),
            share(row.rate_final),
            grouped(row.transient),
            share(row.rate_transient),
        ]
    };
    let names = ["bits", "persistent", "share", "transient", "share"];
    let table = Table { columns: columns(&["level"], &names), rows: size.rates.iter().map(row).collect() };
    html! {
        section {
            h2 { "All dot products together" }
            (table.markup())
            p.note {
                "Of " (grouped(size.rates.first().map_or(0, |row| row.dots)))
                " dot products over all layers and samples, on exact activations, without a bias that is \
                 added later. Persistent: some final sum of the level does not fit. Transient: some prefix \
                 does not fit, but every final sum fits."
            }
        }
    }
}

fn cost(size: &SizeRecord) -> Markup {
    let names = ["recommended", "adder bits", "register bits", "bytes of sums moved", "LUT", "FF"];
    let row = |row: &SizeRow| {
        let count = |count: Option<u64>| count.map_or(String::new(), grouped);
        vec![
            layer_label(row.index, &row.name),
            row.bits_recommended.to_string(),
            grouped(row.adder_bits),
            grouped(row.register_bits),
            grouped(row.psum_bytes),
            count(row.lut),
            count(row.ff),
        ]
    };
    let table = Table { columns: columns(&["layer"], &names), rows: size.layers.iter().map(row).collect() };
    html! {
        section {
            h2 { "Cost at the recommended widths" }
            (table.markup())
            p.note {
                "Adders, registers, LUTs and flip-flops are those of one accumulator with all its levels. \
                 Bytes are transferred between accumulators and the memory for their sums in one \
                 inference."
                @if let Some(tool) = &size.area { " LUT and FF: " (tool) "." }
            }
        }
    }
}

fn grid(size: &SizeRecord) -> Markup {
    let names =
        ["tile", "tiles", "inner bits", "outer bits", "adder bits", "register bits", "bytes of sums moved"];
    let dots = size.grid.iter().filter_map(|row| row.dots).max().unwrap_or(0);
    let row = |row: &SizeGridRow| {
        vec![
            layer_label(row.index, &row.name),
            grouped(row.tile as u64),
            grouped(row.tiles as u64),
            row.inner_bits.to_string(),
            row.outer_bits.to_string(),
            grouped(row.adder_bits),
            grouped(row.register_bits),
            grouped(row.psum_bytes),
        ]
    };
    let front = size.grid.iter().filter(|row| row.pareto);
    let table = Table { columns: columns(&["layer"], &names), rows: front.map(row).collect() };
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { "Two levels: the Pareto front" }
                (table.markup())
                p.note {
                    "Points that cannot overflow for any input, on the Pareto front of inner bits, outer \
                     bits and tiles. All points, and points up to some bits narrower, are in size_grid.csv, \
                     with the share of wrong sums among at most " (grouped(dots)) " dot products of each layer, evenly spread over the samples."
                }
            }
        }
    }
}

fn witnesses(size: &SizeRecord) -> Markup {
    let row = |row: &WitnessRecord| {
        let [n, h, w, c] = row.out;
        vec![
            layer_label(row.index, &row.name),
            row.level.clone(),
            format!("[{n}, {h}, {w}, {c}]"),
            row.run.to_string(),
            row.sum.to_string(),
            row.bits.to_string(),
            if row.attained { "the bound".into() } else { "the greatest sum that padding allows".into() },
            row.file.clone(),
        ]
    };
    let mut columns =
        ["layer", "level", "output [n, h, w, c]"].map(Column::text).into_iter().collect::<Vec<_>>();
    columns.extend(["run", "sum", "bits"].map(Column::number));
    columns.extend(["attains", "file"].map(Column::text));
    let table = Table { columns, rows: size.witnesses.iter().map(row).collect() };
    html! {
        section {
            h2 { "Witnesses" }
            (table.markup())
            p.note {
                "Inputs of single layers that drive one run of one level to its extreme. With one bit less \
                 than the bound by weights, that sum overflows. " code { "guardbit run MODEL --hw HW --layer INDEX --input FILE -o DIR" }
                " replays such an input."
            }
        }
    }
}

fn columns(texts: &[&str], numbers: &[&str]) -> Vec<Column> {
    let texts = texts.iter().map(|name| Column::text(name));
    texts.chain(numbers.iter().map(|name| Column::number(*name))).collect()
}

fn words() -> Markup {
    let words = [
        ("by type", "holds every sum of any activations and any weights of the layer's dtypes"),
        (
            "by weights",
            "holds every sum of any activations of the layer's dtype with the real weights; exact per \
             channel",
        ),
        (
            "by ranges",
            "as by weights, but with the codes that can reach the layer; valid if no earlier layer \
             overflows, which its own width by ranges ensures",
        ),
        (
            "A2Q",
            "closed form from the sum of the weights' magnitudes (Colbert et al., 2023): never below the width by weights",
        ),
        ("A2Q+", "closed form for channels whose weights sum to 0 (Colbert et al., 2024)"),
        ("data, final", "holds every final sum of the samples: enough if sums wrap"),
        (
            "data, prefix",
            "holds every prefix of the samples in the hardware's order: required if sums saturate",
        ),
        (
            "budget",
            "smallest width from which on the layer's error on the samples stays within the budget, with \
             every other level wide enough; the recommended widths keep the budget together",
        ),
        (
            "inner, outer",
            "two-level accumulation: runs of products in a narrow register, the sums of the runs in a wider \
             register",
        ),
    ];
    html! {
        section {
            h2 { "Terms" }
            dl.words { @for (word, meaning) in words { div { dt { (word) } dd { (meaning) } } } }
        }
    }
}
