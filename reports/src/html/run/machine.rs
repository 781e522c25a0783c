//! Drawing of the accelerator: array, levels, memories, ports and clock.

use guardbit_hwmodels::Accelerator;
use maud::{Markup, html};

use crate::numbers::figure;
use crate::{DesignRecord, LevelDesign, RunRecord};

/// Sizes of the drawing in pixels.
const WIDTH: usize = 760;
const BOX: usize = 150;

/// Look of a drawing outside of a page.
const STYLE: &str = "svg{background:#fff;font-family:system-ui,sans-serif;font-size:12px}rect{fill:#f4f6f8;stroke:#50575f}\
                     rect.array{fill:none;stroke:#0072b2;stroke-width:2}line{stroke:#50575f;stroke-width:2}\
                     text.name{font-weight:600}text.small{font-size:11px;fill:#50575f}";

/// Returns the drawing with a description in words.
pub(super) fn drawing(run: &RunRecord) -> Markup {
    let design = &run.design;
    if design.rows == 0 {
        return html! {};
    }
    let text = in_words(design);
    html! {
        figure.machine {
            figcaption { strong { "The accelerator" } span { (text) } }
            (svg(design, &text, None))
        }
    }
}

/// Returns the drawing of an accelerator as an SVG document, and its description in words.
pub(crate) fn picture(accelerator: &Accelerator) -> (String, String) {
    let design = DesignRecord::of(accelerator);
    let text = in_words(&design);
    (svg(&design, &text, Some(STYLE)).into_string() + "\n", text)
}

fn svg(design: &DesignRecord, text: &str, style: Option<&str>) -> Markup {
    let levels = levels(design, 0);
    let height = 232.max(96 + 34 * levels.len());
    let names = ["activations", "weights", "sums"];
    let middle = 60 + 3 * 52 / 2;
    let array = array(design);
    html! {
            svg xmlns=[style.map(|_| "http://www.w3.org/2000/svg")]
                viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(text) {
                @if let Some(style) = style { style { (style) } }
                (part(4, middle - 34, 110, 68, &["external memory", &rate(design.dram_bytes)]))
                @for (at, name) in names.iter().enumerate() {
                    @let y = 40 + 58 * at;
                    (part(190, y, BOX, 46, &[&format!("SRAM, {name}"), &format!("{} KiB", figure(design.sram_kib[at]))]))
                    (wire(340, y + 23, 450, y + 23, &rate(design.port_bytes[at])))
                }
                (wire(114, middle, 190, middle, ""))
                rect.array x="450" y="24" width="300" height=(height - 34) rx="6" {}
                text.name x="600" y="46" text-anchor="middle" { (array) }
                text x="600" y="64" text-anchor="middle" {
                    (design.dataflow.replace('_', " ")) ", " (figure(design.clock_mhz)) " MHz"
                }
                @for (at, level) in levels.iter().enumerate() {
                    (part(470, 76 + 34 * at, 260, 28, &[level]))
                }
            }
    }
}

fn array(design: &DesignRecord) -> String {
    let lanes =
        if design.dot_width > 1 { format!(" x {} products", design.dot_width) } else { String::new() };
    let cores = if design.cores > 1 { format!("{} arrays of ", design.cores) } else { String::new() };
    format!("{cores}{} x {} elements{lanes}", design.rows, design.cols)
}

/// Returns the levels and, in few words or (`1`) in more, the accumulation of floating-point products.
fn levels(design: &DesignRecord, words: usize) -> Vec<String> {
    let float = design.float.as_ref().map(|float| float[words].clone());
    design.levels.iter().map(level).chain(float).collect()
}

fn level(level: &LevelDesign) -> String {
    let terms = level.terms.map_or("all".to_owned(), |terms| terms.to_string());
    let mode = level.overflow.as_ref().map_or(String::new(), |mode| format!(", {mode}"));
    format!("{}: {} of {terms}, {} bits{mode}", level.name, level.reduce, level.bits)
        .replace("auto bits", "never overflows")
}

fn rate(bytes: f64) -> String {
    format!("{} B/cycle", figure(bytes))
}

fn in_words(design: &DesignRecord) -> String {
    let array = array(design);
    let levels = levels(design, 1);
    let [activations, weights, sums] = design.sram_kib.map(figure);
    let [operands, _, accumulators] = design.port_bytes.map(figure);
    let tiles = if design.double_buffer {
        "The next tile is loaded while the current one is computed."
    } else {
        "Tiles are loaded and computed one after the other."
    };
    format!(
        "{array}, {}, at {} MHz. Levels: {}. SRAMs of {activations} KiB for activations, {weights} KiB for weights \
         and {sums} KiB for sums, with ports of {operands}, {operands} and {accumulators} bytes per cycle. External \
         memory of {} bytes per cycle, after {} cycles. {tiles} The host has {} lanes.",
        design.dataflow.replace('_', " "),
        figure(design.clock_mhz),
        levels.join("; "),
        figure(design.dram_bytes),
        design.dram_latency,
        design.host_lanes,
    )
}

/// Returns a box with lines of text.
fn part(x: usize, y: usize, width: usize, height: usize, lines: &[&str]) -> Markup {
    let top = y + height / 2 + 4 - 8 * (lines.len() - 1);
    html! {
        rect x=(x) y=(y) width=(width) height=(height) rx="4" {}
        @for (at, line) in lines.iter().enumerate() {
            text x=(x + width / 2) y=(top + 16 * at) text-anchor="middle" { (line) }
        }
    }
}

fn wire(x1: usize, y1: usize, x2: usize, y2: usize, text: &str) -> Markup {
    html! {
        line x1=(x1) y1=(y1) x2=(x2) y2=(y2) {}
        @if !text.is_empty() { text.small x=((x1 + x2) / 2) y=(y1 - 5) text-anchor="middle" { (text) } }
    }
}
