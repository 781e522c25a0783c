//! HTML report of a sizing.

use maud::{Markup, html};

use super::page::{Front, Page, Section, marked};
use super::plot::{Axis, Kind, Point, Row, Series, Spec, picture, svg_of};
use super::table::{Cell, Column, Table, layer};
use super::{accelerators, settings, terms};
use crate::about::About;
use crate::findings::size_answer;
use crate::numbers::{counted, grouped, number, percentage};
use crate::plots::{Drawn, Extremes};
use crate::tables::{SizeBitsRow, SizeFloatRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};
use crate::{Decibel, DesignLevel, Fraction, SizeRecord, Width, WitnessRecord, layer_label};

/// Greatest number of rows of a plot.
const ROWS: usize = 200;

/// Returns the page.
pub(crate) fn size(about: &About, size: &SizeRecord, drawn: &[Drawn<SizeRecord>]) -> String {
    let sections = vec![
        Section::new(
            "width",
            "How wide must it be?",
            [
                findings(size),
                fraction_bits(size),
                widths(size),
                levels(size),
                grid(size),
                picture(drawn, "two_levels"),
            ],
        ),
        Section::new(
            "overflow",
            "What overflows if it is narrower?",
            [
                out_of_range(size, svg_of(drawn, "out_of_range")),
                picture(drawn, "two_level_errors"),
                rates(size),
                witnesses(size),
            ],
        ),
        Section::new("cost", "What does it cost?", [cost(size)]),
        Section::new("what", "What was run?", [settings(about), accelerators(about), words()]),
    ];
    Page {
        title: format!("Accumulator widths: {} on {}", size.model, size.hw),
        subtitle: format!("guardbit size · {}", counted(size.recommended.samples, "sample")),
        about,
        front: Front {
            answer: size_answer(size),
            figures: figures(size),
            picture: match size.layers.is_empty() {
                true => fraction_bits_plot(size),
                false => widths_plot(size, svg_of(drawn, "widths")),
            },
            worst: worst(size),
        },
        sections,
        data: Markup::default(),
    }
    .document()
}

/// Returns the key figures: every level's width in the layer that needs most.
fn figures(size: &SizeRecord) -> Vec<(&'static str, String, String)> {
    let mut all = Vec::new();
    let mut add = |name, width: fn(&SizeLevelRow) -> Option<Width>, remark: &str| {
        let bits = most(size, width);
        all.extend((!bits.is_empty()).then(|| (name, bits, remark.to_owned())));
    };
    add("Any weights", |row| Some(Width::Bits(row.bits_type)), "of these types");
    add("Any input", |row| Some(Width::Bits(row.bits_range)), "of these weights, proved");
    add("Samples, saturating", |row| Some(Width::Bits(row.bits_data_prefix)), "prefixes");
    add("Samples, wrapping", |row| Some(Width::Bits(row.bits_data_final)), "final sums");
    if let Some(budget) = &size.budget {
        let remark = format!("in the layer that needs most, within {budget}");
        add("Recommended", |row| Some(row.bits_recommended), &remark);
        let design = bits_of(&size.design);
        all.extend(
            (!design.is_empty()).then(|| ("One design for all layers", design, "see the remarks".to_owned())),
        );
    }
    if let Some(bits) = size.recommended_fraction_bits() {
        let within =
            size.budget.as_ref().map_or("the most that a layer requires".into(), |b| format!("within {b}"));
        all.push(("Fraction bits", bits.to_string(), within));
    }
    let outcome = &size.recommended;
    if let (Some(accuracy), Some(exact)) = (outcome.accuracy, outcome.accuracy_exact) {
        all.push(("Accuracy, recommended", percentage(accuracy), format!("exact: {}", percentage(exact))));
    }
    all
}

/// Returns the greatest width of every level over the layers, e.g. `chain 19, acc 22 bits`.
fn most(size: &SizeRecord, width: impl Fn(&SizeLevelRow) -> Option<Width>) -> String {
    let widest = |level: &DesignLevel| {
        let own = size.levels.iter().filter(|row| row.level == level.level);
        let bits = own.filter_map(&width).max()?;
        Some(DesignLevel { level: level.level.clone(), bits })
    };
    bits_of(&size.design.iter().filter_map(widest).collect::<Vec<_>>())
}

/// Returns widths of levels; that of a single one without its name.
fn bits_of(levels: &[DesignLevel]) -> String {
    match levels {
        [] => String::new(),
        [level] => format!("{} bits", level.bits),
        levels => format!("{} bits", design(levels)),
    }
}

/// Returns the layers that need the most bits.
fn worst(size: &SizeRecord) -> (&'static str, Vec<Markup>) {
    let mut rows: Vec<&SizeRow> = size.layers.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.bits_data_prefix, row.bits_range)));
    let item = |row: &&SizeRow| {
        html! {
            (layer(row.index, &row.name)) " (" (row.op) "): " (row.bits_range) " bits for any input, "
            (row.bits_data_prefix) " bits for the prefixes of these samples, of " (row.terms) " products; "
            "recommended: " (row.bits_recommended) "."
        }
    };
    ("Layers that need the most bits", rows.iter().take(3).map(item).collect())
}

/// Method: its name, and the width it finds for a layer.
type Method = (&'static str, fn(&SizeRow) -> Option<u32>);

const METHODS: [Method; 7] = [
    ("prefixes of the samples", |row| Some(row.bits_data_prefix)),
    ("by type", |row| Some(row.bits_type)),
    ("within the budget", |row| row.bits_budget),
    ("A2Q", |row| row.bits_a2q),
    ("final sums of the samples", |row| Some(row.bits_data_final)),
    ("ranges through the network", |row| Some(row.bits_range)),
    ("by weights", |row| row.bits_weights),
];

/// Returns the widths of every layer by every method.
fn widths_plot(size: &SizeRecord, instead: Option<&str>) -> Markup {
    let used: Vec<Method> =
        METHODS.into_iter().filter(|(_, width)| size.layers.iter().any(|row| width(row).is_some())).collect();
    let layers =
        Extremes::of(size.layers.iter().collect(), ROWS, |row: &&SizeRow| f64::from(row.bits_data_prefix));
    let note = layers.left_out("layers", "bits of the prefixes");
    let row = |row: &&SizeRow| Row {
        name: layer_label(row.index, &row.name),
        layer: Some(row.index),
        values: used.iter().map(|(_, width)| width(row).map(f64::from)).collect(),
        ..Row::default()
    };
    let spec = Spec {
        kind: Kind::Dots,
        x: Axis::new("bits"),
        names: used.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rows: layers.shown.iter().map(row).collect(),
        note,
        ..Spec::default()
    };
    spec.figure(
        "Accumulator width that each layer needs",
        "Widths by types, weights and ranges are proved for every input; widths by the samples hold their \
         final sums (wrapping) or their prefixes (saturating).",
        instead,
    )
}

/// Function that returns a share of a row.
type Rate = fn(&SizeRateRow) -> Option<Fraction>;

/// Returns the share of dot products that do not fit, against the width.
fn out_of_range(size: &SizeRecord, instead: Option<&str>) -> Markup {
    let levels: Vec<&[SizeRateRow]> = size.rates.chunk_by(|a, b| a.level == b.level).collect();
    let kinds: [(&str, Rate); 2] =
        [("final sums: persistent", |row| row.rate_final), ("prefixes", |row| row.rate_prefix)];
    let series = |(rows, (name, rate)): (&[SizeRateRow], (&str, Rate))| Series {
        name: if levels.len() > 1 { format!("{}, {name}", rows[0].level) } else { name.to_owned() },
        points: rows
            .iter()
            .map(|row| Point {
                x: f64::from(row.bits),
                y: rate(row).map(Fraction::value),
                ..Point::default()
            })
            .collect(),
        ..Series::default()
    };
    let spec = Spec {
        kind: Kind::Lines,
        x: Axis::new("bits"),
        y: Axis::new("dot products that do not fit").percent().log(true),
        series: levels.iter().flat_map(|rows| kinds.map(|kind| (*rows, kind))).map(series).collect(),
        ..Spec::default()
    };
    spec.figure(
        "Dot products that do not fit a width",
        "Share of all dot products of all layers, on exact activations and without a bias that is added later.",
        instead,
    )
}

fn findings(size: &SizeRecord) -> Markup {
    let bits = |width: fn(&SizeLevelRow) -> u32| most(size, |row| Some(Width::Bits(width(row))));
    let outcome = &size.recommended;
    let alone = most(size, |row| row.bits_budget.map(Width::Bits));
    html! {
            ul {
                @if !size.levels.is_empty() {
                    li { "For any weights of these types: " (bits(|row| row.bits_type)) " for every layer." }
                    li { "For these weights and any input: " (bits(|row| row.bits_range)) ", proved for any order of additions." }
                    li {
                        "For these samples: " (bits(|row| row.bits_data_final)) " if sums wrap, "
                        (bits(|row| row.bits_data_prefix)) " if they saturate."
                    }
                }
                @if let Some(budget) = size.budget.as_ref().filter(|_| !alone.is_empty()) {
                    li { "Within " (budget) ", each level of each layer by itself: at most " (alone) "." }
                }
                @if !size.design.is_empty() {
                    li { "One design for " (size.coverage.sized()) ": " (design(&size.design)) "." }
                }
                @if let Some(bits) = size.recommended_fraction_bits() {
                    li { "Layers of floating-point codes: " (bits) " fraction bits." }
                }
                @for sentence in size.coverage.sentences() { li { (marked(&sentence)) "." } }
                li {
                    "With the widths of recommended.yaml, " (counted(outcome.output_mismatch, "output code"))
                    " of these samples " (number(outcome.output_mismatch, "differs", "differ")) " from the exact network"
                    @if let (Some(narrow), Some(exact)) = (outcome.accuracy, outcome.accuracy_exact) {
                        "; accuracy " (percentage(narrow)) ", exact " (percentage(exact))
                    }
                    "."
                }
                @for remark in &size.remarks { li { (marked(remark)) "." } }
            }
    }
}

/// Returns the widths of a design, e.g. `chain 19, acc 23`.
fn design(levels: &[DesignLevel]) -> String {
    let levels: Vec<String> = levels.iter().map(|level| format!("{} {}", level.level, level.bits)).collect();
    levels.join(", ")
}

/// Returns the SQNR of the outputs against the fraction bits.
fn fraction_bits_plot(size: &SizeRecord) -> Markup {
    let point = |row: &SizeBitsRow| Point {
        x: f64::from(row.fraction_bits),
        y: row.output_sqnr_db.map(Decibel::value).filter(|sqnr| sqnr.is_finite()),
        ..Point::default()
    };
    let points = size.fraction_bits.iter().map(point).collect();
    let spec = Spec {
        kind: Kind::Lines,
        x: Axis::new("fraction bits"),
        y: Axis::new("output SQNR (dB)"),
        series: vec![Series { name: "all samples".to_owned(), points, ..Series::default() }],
        ..Spec::default()
    };
    spec.figure(
        "Error of the outputs against fraction bits",
        "SQNR of the outputs against those of the exact network, with the same fraction bits in every layer.",
        None,
    )
}

/// Returns the results by fraction bits, and what each layer of floating-point codes requires.
fn fraction_bits(size: &SizeRecord) -> Markup {
    let row = |row: &SizeBitsRow| {
        vec![
            Cell::text(row.fraction_bits),
            Cell::maybe(row.accuracy, Cell::share),
            Cell::maybe(row.top1_agreement, Cell::share),
            Cell::count(row.output_mismatch),
            Cell::maybe(row.output_sqnr_db, Cell::decibel),
            Cell::maybe(row.lut, Cell::count),
            Cell::maybe(row.ff, Cell::count),
            Cell::text(match (row.recommended, row.within_budget) {
                (true, _) => "recommended",
                (false, Some(false)) => "exceeds the budget",
                _ => "",
            }),
        ]
    };
    let names = ["fraction bits", "accuracy", "same class", "wrong outputs", "output SQNR (dB)", "LUT", "FF"];
    let mut heads = columns(&[], &names);
    heads.push(Column::text("result"));
    let bits = Table::new("Fraction bits", heads).rows(size.fraction_bits.iter().map(row));
    let row = |row: &SizeFloatRow| {
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.activations),
            Cell::text(&row.weights),
            Cell::count(row.products as u64),
            Cell::text(row.fraction_bits),
            Cell::maybe(row.required_exact, Cell::text),
            Cell::maybe(row.required_result, Cell::text),
        ]
    };
    let names = ["products", "bits now", "for exact terms", "for the same sums"];
    let layers =
        Table::new("Layers of floating-point codes", columns(&["layer", "activations", "weights"], &names))
            .rows(size.float_layers.iter().map(row));
    html! {
        @if !bits.is_empty() {
            h3 { "Fraction bits" }
            (bits.markup())
            p.note {
                "All layers of floating-point codes have the same number of fraction bits, and integer accumulators are \
                 wide enough for everything."
                @if let Some(tool) = &size.area { " LUT and FF are those of one unit: " (tool) "." }
            }
            h3 { "Layers of floating-point codes" }
            (layers.markup())
            p.note {
                "Fraction bits with which no term of these samples loses a bit, and with which every sum is that of an \
                 accumulator with 40 of them."
            }
        }
    }
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
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.op),
            Cell::count(row.terms as u64),
            Cell::count(row.channels as u64),
            Cell::text(row.bits_type),
            Cell::maybe(row.bits_a2q_type, Cell::text),
            Cell::maybe(row.bits_a2q, Cell::text),
            Cell::maybe(row.bits_a2q_plus, Cell::text),
            Cell::maybe(row.bits_weights, Cell::text),
            Cell::text(row.bits_range),
            Cell::text(row.bits_data_final),
            Cell::text(row.bits_data_prefix),
            Cell::maybe(row.bits_budget, Cell::text),
            Cell::text(row.bits_recommended),
        ]
    };
    let table = Table::new("Widths", columns(&["layer", "op"], &names)).rows(size.layers.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Widths" }
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
            Cell::layer(row.index, &row.name),
            Cell::text(&row.level),
            Cell::text(row.bits),
            Cell::text(row.bits_type),
            Cell::maybe(row.bits_weights, Cell::text),
            Cell::text(row.bits_range),
            Cell::text(row.bits_data_final),
            Cell::text(row.bits_data_prefix),
            Cell::maybe(row.bits_budget, Cell::text),
            Cell::text(row.bits_recommended),
        ]
    };
    let table = Table::new("Levels", columns(&["layer", "level"], &names)).rows(size.levels.iter().map(row));
    html! {
        @if size.levels.len() > size.layers.len() {
            h3 { "Levels" } (table.markup())
        }
    }
}

fn rates(size: &SizeRecord) -> Markup {
    let row = |row: &SizeRateRow| {
        vec![
            Cell::text(&row.level),
            Cell::text(row.bits),
            Cell::count(row.out_of_range_final),
            Cell::maybe(row.rate_final, Cell::share),
            Cell::count(row.transient),
            Cell::maybe(row.rate_transient, Cell::share),
        ]
    };
    let names = ["bits", "persistent", "share", "transient", "share"];
    let table =
        Table::new("All dot products together", columns(&["level"], &names)).rows(size.rates.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "All dot products together" }
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
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(row.bits_recommended),
            Cell::count(row.adder_bits),
            Cell::count(row.register_bits),
            Cell::count(row.psum_bytes),
            Cell::maybe(row.lut, Cell::count),
            Cell::maybe(row.ff, Cell::count),
        ]
    };
    let table = Table::new("Cost at the recommended widths", columns(&["layer"], &names))
        .rows(size.layers.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Cost at the recommended widths" }
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
            Cell::layer(row.index, &row.name),
            Cell::count(row.tile as u64),
            Cell::count(row.tiles as u64),
            Cell::text(row.inner_bits),
            Cell::text(row.outer_bits),
            Cell::count(row.adder_bits),
            Cell::count(row.register_bits),
            Cell::count(row.psum_bytes),
        ]
    };
    let front = size.grid.iter().filter(|row| row.pareto);
    let table = Table::new("Two levels: the Pareto front", columns(&["layer"], &names)).rows(front.map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Two levels: the Pareto front" }
            (table.markup())
                p.note {
                    "Points that cannot overflow for any input, on the Pareto front of inner bits, outer \
                     bits and tiles. All points, and points up to some bits narrower, are in size_grid.csv, \
                     with the share of wrong sums among at most " (grouped(dots)) " dot products of each layer, evenly spread over the samples."
                }
        }
    }
}

fn witnesses(size: &SizeRecord) -> Markup {
    let row = |row: &WitnessRecord| {
        let [n, h, w, c] = row.out;
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.level),
            Cell::text(format!("[{n}, {h}, {w}, {c}]")),
            Cell::text(row.run),
            Cell::text(row.sum),
            Cell::text(row.bits),
            Cell::text(if row.attained { "the bound" } else { "the greatest sum that padding allows" }),
            Cell::text(&row.file),
        ]
    };
    let mut columns =
        ["layer", "level", "output [n, h, w, c]"].map(Column::text).into_iter().collect::<Vec<_>>();
    columns.extend(["run", "sum", "bits"].map(Column::number));
    columns.extend(["attains", "file"].map(Column::text));
    let table = Table::new("Witnesses", columns).rows(size.witnesses.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Witnesses" }
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
    let texts = texts.iter().map(|name| Column::text(*name));
    texts.chain(numbers.iter().map(|name| Column::number(*name))).collect()
}

fn words() -> Markup {
    terms(&[
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
    ])
}
