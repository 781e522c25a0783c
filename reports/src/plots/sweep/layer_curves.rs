//! Plot of a figure per layer against width: curves for a few layers, tables for many.

use plotters::style::RGBColor;

use super::group::{Group, Groups};
use crate::PointRecord;
use crate::plots::kit::{
    Area, Axis, Content, DrawError, Entry, Extremes, HeatCell, HeatRow, HeatTable, Legend, Mark, Scale,
    Sheet, category_look, chart, columns,
};
use crate::tables::LayerRow;

/// Greatest number of layers that get a curve each.
const CURVES: usize = 7;
/// Greatest number of rows of a table.
const ROWS: usize = 60;
/// Greatest number of groups of layers, which take more room than curves of whole networks.
const GROUPS: usize = 4;

/// Figure to draw.
pub(super) struct Figure {
    /// Title of the y axis.
    pub axis: &'static str,
    /// Title of a table's columns, before the name of the level.
    pub table: &'static str,
    /// Value of one of a layer's rows; `None` if that row has none.
    pub value: fn(&LayerRow, &PointRecord) -> Option<f64>,
    /// Axis of these values.
    pub scale: fn(&[f64]) -> Scale,
    /// Measure of how bad a value is.
    pub badness: fn(f64) -> f64,
    /// Table cell: fill, colour of the text, text.
    pub cell: fn(f64, &Scale) -> (RGBColor, RGBColor, String),
    /// Legend of the colours of a table.
    pub legend: fn(&Scale) -> Vec<Entry>,
}

/// Values of the layers in one overflow mode.
struct Mode<'a> {
    group: &'a Group<'a>,
    name: &'a str,
    /// Label and values by width of every layer.
    layers: Vec<(String, Vec<(u32, f64)>)>,
}

/// Returns the values of every layer of every group as blocks of a figure.
pub(super) fn content<'a>(sheet: Sheet, groups: &'a Groups<'a>, figure: &'a Figure) -> Vec<Content<'a>> {
    let mut content = Vec::new();
    // The first groups are not the worst: they are listed in their original order.
    let of_many = groups.shown.iter().any(|group| group.layers().len() > CURVES);
    let most = if of_many { GROUPS } else { groups.shown.len() };
    let chosen = Extremes {
        all: groups.all,
        ..Extremes::of(groups.shown.iter().collect(), most, |group| group.badness())
    };
    for group in &chosen.shown {
        if !group.heading.is_empty() {
            content.push(Content::heading(&group.heading));
        }
        let modes: Vec<Mode<'_>> = group.modes.iter().map(|name| Mode::new(group, name, figure)).collect();
        let values: Vec<f64> = modes
            .iter()
            .flat_map(|mode| &mode.layers)
            .flat_map(|(_, curve)| curve.iter().map(|(_, value)| *value))
            .collect();
        let scale = (figure.scale)(&values);
        if group.layers().len() <= CURVES {
            content.extend(curves(sheet, modes, figure, scale));
        } else {
            content.push(Legend::new((figure.legend)(&scale)).content());
            for mode in &modes {
                content.push(Content::heading(format!("overflow: {}", mode.name)));
                content.extend(table(mode, figure, &scale));
            }
        }
    }
    content.extend(chosen.others_note());
    content
}

impl<'a> Mode<'a> {
    fn new(group: &'a Group<'a>, name: &'a str, figure: &Figure) -> Self {
        let points = group.of_mode(name);
        let curve = |index: usize| {
            let value = |point: &&PointRecord| {
                let rows = point.layers.iter().filter(|row| row.index == index);
                let value = rows.filter_map(|row| (figure.value)(row, point)).next_back()?;
                Some((point.summary.width(), value))
            };
            points.iter().filter_map(value).collect()
        };
        let layers = group.layers().into_iter().map(|(index, label)| (label, curve(index))).collect();
        Self { group, name, layers }
    }
}

fn curves<'a>(sheet: Sheet, modes: Vec<Mode<'a>>, figure: &'a Figure, scale: Scale) -> Vec<Content<'a>> {
    let entry = |(i, (label, _)): (usize, &(String, _))| Entry::new(Mark::Series(category_look(i)), label);
    let mut content = Vec::new();
    if let Some(mode) = modes.first() {
        content.push(Legend::new(mode.layers.iter().enumerate().map(entry)).content());
    }
    let columns = columns(modes.len());
    content
        .extend(sheet.panels(modes, columns, 310, move |area, mode| draw_curves(area, mode, figure, &scale)));
    content
}

fn draw_curves(area: &Area<'_>, mode: &Mode<'_>, figure: &Figure, scale: &Scale) -> Result<(), DrawError> {
    let y = Axis::new(figure.axis, scale.clone());
    let x = mode.group.width_axis(12);
    let mut chart = chart(area, &format!("overflow: {}", mode.name), "", &x, &y)?;
    for (i, (_, curve)) in mode.layers.iter().enumerate() {
        let curve: Vec<(f64, f64)> = curve.iter().map(|&(bits, value)| (f64::from(bits), value)).collect();
        chart.line(&curve, category_look(i))?;
    }
    Ok(())
}

fn table(mode: &Mode<'_>, figure: &Figure, scale: &Scale) -> Vec<Content<'static>> {
    let points = mode.group.of_mode(mode.name);
    let widths: Vec<u32> = points.iter().map(|point| point.summary.width()).collect();
    let badness = |(_, curve): &&(String, Vec<(u32, f64)>)| {
        curve.iter().map(|(_, value)| (figure.badness)(*value)).sum::<f64>() / curve.len().max(1) as f64
    };
    let rows = if mode.group.layers().len() > ROWS { ROWS } else { mode.layers.len() };
    let layers = Extremes::of(mode.layers.iter().collect(), rows, badness);
    let row = |(label, curve): &(String, Vec<(u32, f64)>)| {
        let cell = |width: &u32| {
            let (_, value) = curve.iter().find(|(bits, _)| bits == width)?;
            let (fill, ink, text) = (figure.cell)(*value, scale);
            Some(HeatCell { fill, ink, text })
        };
        HeatRow {
            label: label.clone(),
            cells: widths.iter().map(cell).collect(),
            note: String::new(),
            fence: None,
        }
    };
    let table = HeatTable {
        columns: widths.iter().map(u32::to_string).collect(),
        title: format!("{}, by width of level {} (bits)", figure.table, points[0].summary.level),
        note_title: String::new(),
        rows: layers.shown.iter().map(|layer| row(layer)).collect(),
    };
    let by = format!("{}, over the widths", figure.axis);
    std::iter::once(table.content()).chain(layers.note("layers", &by)).collect()
}
