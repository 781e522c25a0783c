//! Plot of overflow events over the cycles of every layer.

use super::{EVENTS_NOT_PLACED, NO_EVENTS, left_out, subtitle};
use crate::numbers::number;
use crate::plots::kit::{
    Area, Axis, Content, DrawError, Extremes, HeatCell, HeatRow, HeatTable, Ramp, Scale, Sheet, VERMILLION,
    chart, columns, figure, si,
};
use crate::plots::{Drawing, Plot};
use crate::{LayerActivity, RunRecord, layer_label};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "overflow_timeline",
    title: "Overflow events over cycles",
    caption: "Overflow events of all samples within one inference of a layer, per 64th part of the layer's \
              cycles. Cycles are those of the timing model, counted from the layer's start.",
    draw,
};

/// Greatest number of layers that get a panel each.
const PANELS: usize = 12;
/// Greatest number of layers in a table.
const ROWS: usize = 120;

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    if run.activity.is_empty() {
        return Ok(Drawing::Nothing(EVENTS_NOT_PLACED.into()));
    }
    let (layers, quiet): (Vec<&LayerActivity>, Vec<_>) =
        run.activity.iter().partition(|layer| layer.events() > 0);
    if layers.is_empty() {
        return Ok(Drawing::Nothing(NO_EVENTS.into()));
    }
    let mut content = if layers.len() <= PANELS {
        let columns = columns(layers.len());
        sheet.panels(&layers, columns, 200, |area, layer| bars(area, layer))
    } else {
        let layers = Extremes::of(layers, ROWS, |layer| layer.events() as f64);
        std::iter::once(table(&layers.shown)).chain(layers.note("layers with events", "events")).collect()
    };
    if !quiet.is_empty() {
        let labels: Vec<String> = quiet.iter().map(|layer| label(layer)).collect();
        content.push(Content::note(left_out("Without an event", &labels)));
    }
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content)?))
}

fn bars(area: &Area<'_>, layer: &LayerActivity) -> Result<(), DrawError> {
    let most = layer.timeline.iter().copied().max().unwrap_or(0) as f64;
    let x = Axis::new("cycle", Scale::from_zero(layer.cycles as f64).without_margin());
    let y = Axis::new("overflow events", Scale::from_zero(most));
    let events = format!(
        "{} {} in {} {}",
        si(layer.events() as f64),
        number(layer.events(), "event", "events"),
        si(layer.cycles as f64),
        number(layer.cycles, "cycle", "cycles"),
    );
    let panel = chart(area, &label(layer), &events, &x, &y)?;
    let width = layer.cycles as f64 / layer.timeline.len() as f64;
    for (i, &count) in layer.timeline.iter().enumerate().filter(|(_, count)| **count > 0) {
        let left = i as f64 * width;
        panel.bar((left, 0.0), (left + width, panel.height(count as f64)), VERMILLION, None)?;
    }
    Ok(())
}

fn table(layers: &[&LayerActivity]) -> Content<'static> {
    let row = |layer: &&LayerActivity| {
        let most = layer.timeline.iter().copied().max().unwrap_or(1) as f64;
        let cell = |&count: &u64| {
            let depth = (count as f64 / most).sqrt();
            let fill = Ramp::ORANGE.color(depth);
            (count > 0).then(|| HeatCell { fill, ink: fill, text: String::new() })
        };
        HeatRow {
            label: label(layer),
            cells: layer.timeline.iter().map(cell).collect(),
            note: format!(
                "{} in {} {}",
                si(layer.events() as f64),
                si(layer.cycles as f64),
                number(layer.cycles, "cycle", "cycles"),
            ),
            fence: None,
        }
    };
    let parts = layers[0].timeline.len();
    let name =
        |i: usize| if i.is_multiple_of(parts / 4) { format!("{} %", i * 100 / parts) } else { String::new() };
    let table = HeatTable {
        columns: (0..parts).map(name).collect(),
        title: "part of the layer's cycles; the darker, the more events, each layer against its own maximum"
            .into(),
        note_title: "events".into(),
        rows: layers.iter().map(row).collect(),
    };
    table.content()
}

fn label(layer: &LayerActivity) -> String {
    layer_label(layer.index, &layer.name)
}
