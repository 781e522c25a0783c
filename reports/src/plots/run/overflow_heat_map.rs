//! Plot of overflow events over the rows and columns of the array.

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::{EVENTS_NOT_PLACED, NO_EVENTS, left_out, subtitle};
use crate::plots::kit::{
    Area, Content, DrawError, Entry, GREY, INK, Legend, Mark, Ramp, Sheet, cut, figure, letters, si,
};
use crate::plots::{Drawing, Plot};
use crate::{LayerActivity, RunRecord, layer_label};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "overflow_heat_map",
    title: "Overflow events over the array",
    caption: "Overflow events of all samples per processing element, rows downwards, columns to the right. \
              Each panel has its own maximum, which is shown above it.",
    draw,
};

/// Greatest number of including the panel of all layers.
const PANELS: usize = 12;
/// Greatest number of cells along one side of a panel; larger arrays are drawn in blocks.
const CELLS: usize = 32;
const COLUMNS: usize = 4;
const SIDE: i32 = 176;
const LEFT: i32 = 34;
const TOP: i32 = 42;

struct Map {
    label: String,
    rows: usize,
    cols: usize,
    events: Vec<u64>,
}

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    if run.activity.is_empty() {
        return Ok(Drawing::Nothing(EVENTS_NOT_PLACED.into()));
    }
    let mut layers: Vec<&LayerActivity> = run.activity.iter().filter(|layer| layer.events() > 0).collect();
    if layers.is_empty() {
        return Ok(Drawing::Nothing(NO_EVENTS.into()));
    }
    let mut maps: Vec<Map> =
        if layers.len() > 1 { together(&layers).into_iter().collect() } else { Vec::new() };
    let shown = layers.len().min(PANELS - maps.len());
    layers.sort_by_key(|layer| std::cmp::Reverse(layer.events()));
    let mut omitted = layers.split_off(shown);
    layers.sort_by_key(|layer| layer.index);
    omitted.sort_by_key(|layer| layer.index);
    maps.extend(layers.iter().map(|layer| Map {
        label: label(layer),
        rows: layer.rows,
        cols: layer.cols,
        events: layer.heat_map.clone(),
    }));

    let shade = |share: f64, name: &str| Entry::new(Mark::Box(Ramp::ORANGE.color(share)), name);
    let legend = [
        Entry::new(Mark::Box(RGBColor(255, 255, 255)), "no event"),
        shade(0.0, "few"),
        shade(0.5, "half of the panel's maximum"),
        shade(1.0, "the panel's maximum"),
    ];
    let mut content = vec![Legend::new(legend).content()];
    let tallest = maps.iter().map(Map::height).max().unwrap_or(0);
    content.extend(sheet.maps(maps, COLUMNS, (TOP + tallest + 36) as u32, draw_map));
    if !omitted.is_empty() {
        let labels: Vec<String> = omitted.iter().map(|layer| label(layer)).collect();
        content.push(Content::note(left_out("Fewer events, not shown", &labels)));
    }
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content)?))
}

/// Returns one map of all layers, if they all run on arrays of equal size.
fn together(layers: &[&LayerActivity]) -> Option<Map> {
    let (rows, cols) = (layers[0].rows, layers[0].cols);
    if layers.iter().any(|layer| (layer.rows, layer.cols) != (rows, cols)) {
        return None;
    }
    let mut events = vec![0; rows * cols];
    for layer in layers {
        events.iter_mut().zip(&layer.heat_map).for_each(|(sum, count)| *sum += count);
    }
    Some(Map { label: "all layers".into(), rows, cols, events })
}

impl Map {
    /// Returns the height of the cells in pixels.
    fn height(&self) -> i32 {
        let rows = self.rows.div_ceil(block(self.rows));
        side(rows) * rows as i32
    }
}

/// Returns the number of elements that share a cell along one side.
fn block(count: usize) -> usize {
    count.div_ceil(CELLS)
}

/// Returns the size in pixels of one of `count` cells.
fn side(count: usize) -> i32 {
    (SIDE / count as i32).clamp(1, 44)
}

fn draw_map(area: &Area<'_>, map: &Map) -> Result<(), DrawError> {
    let (block_rows, block_cols) = (block(map.rows), block(map.cols));
    let (rows, cols) = (map.rows.div_ceil(block_rows), map.cols.div_ceil(block_cols));
    let mut cells = vec![0; rows * cols];
    for (i, count) in map.events.iter().enumerate() {
        cells[i / map.cols / block_rows * cols + i % map.cols / block_cols] += count;
    }
    let most = cells.iter().copied().max().unwrap_or(0).max(1);
    let per = if block_rows * block_cols > 1 {
        format!("block of {block_rows}x{block_cols}")
    } else {
        "element".into()
    };
    let left = (HPos::Left, VPos::Center);
    let label = cut(&map.label, letters(area.size().0 - f64::from(LEFT), 12.5));
    area.text(&label, 12.5, INK, left, (LEFT, 12))?;
    area.text(&format!("max {} per {per}", si(most as f64)), 10.5, GREY, left, (LEFT, 28))?;

    let (width, height) = (side(cols), side(rows));
    let corner = |row: usize, col: usize| (LEFT + col as i32 * width, TOP + row as i32 * height);
    for row in 0..rows {
        // Adjacent cells of one colour become one rectangle, which keeps files of large arrays small.
        let color = |col: usize| {
            let count = cells[row * cols + col];
            (count > 0).then(|| Ramp::ORANGE.color(count as f64 / most as f64))
        };
        let mut col = 0;
        while col < cols {
            let mut end = col + 1;
            while end < cols && color(end) == color(col) {
                end += 1;
            }
            if let Some(color) = color(col) {
                area.fill([corner(row, col), corner(row + 1, end)], color)?;
            }
            col = end;
        }
    }
    let end = corner(rows, cols);
    area.frame([(LEFT, TOP), end], GREY)?;
    draw_axes(area, map, end)
}

fn draw_axes(area: &Area<'_>, map: &Map, end: (i32, i32)) -> Result<(), DrawError> {
    let right = (HPos::Right, VPos::Center);
    let last = |count: usize| (count - 1).to_string();
    area.text("0", 10.0, INK, right, (LEFT - 4, TOP + 6))?;
    if map.rows > 1 {
        area.text(&last(map.rows), 10.0, INK, right, (LEFT - 4, end.1.max(TOP + 20) - 6))?;
    }
    let below = end.1 + 12;
    let middle = (LEFT + end.0) / 2;
    area.text("0", 10.0, INK, (HPos::Left, VPos::Center), (LEFT, below))?;
    area.text("column", 10.0, GREY, (HPos::Center, VPos::Center), (middle, below))?;
    if map.cols > 1 {
        area.text(&last(map.cols), 10.0, INK, right, (end.0, below))?;
    }
    if end.1 - TOP > 60 {
        area.text("row", 10.0, GREY, right, (LEFT - 4, (TOP + end.1) / 2))?;
    }
    Ok(())
}

fn label(layer: &LayerActivity) -> String {
    layer_label(layer.index, &layer.name)
}
