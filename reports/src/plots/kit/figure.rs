//! Figure: a heading, then blocks of content below each other.

use std::fmt;
use std::rc::Rc;

use plotters::drawing::IntoDrawingArea;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::area::Area;
use super::sheet::{Sheet, Style, letters, wrapped};
use super::style::{GREY, INK};
use super::svg::Svg;
use crate::legal::legal;

/// Greatest height of a plot in pixels. Content beyond it is left out, with a note. Plots select their
/// content so that it fits; this limit applies to all plots regardless.
pub const MOST_HEIGHT: u32 = 4000;
const MARGIN: u32 = 14;
/// Least height of a panel that is made lower to fit the height of a figure, in pixels.
const LEAST_PANEL: u32 = 130;

/// Reason why a plot could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawError(String);

type Height<'a> = dyn Fn(&Style) -> u32 + 'a;
type Draw<'a> = dyn Fn(&Area<'_>) -> Result<(), DrawError> + 'a;

/// Block of a figure over its whole width.
pub struct Content<'a> {
    height: Box<Height<'a>>,
    /// Whether the height can differ: that of panels with axes.
    stretches: bool,
    draw: Box<Draw<'a>>,
}

impl<'a> Content<'a> {
    /// Creates a block of the given height in pixels.
    pub fn new(height: u32, draw: impl Fn(&Area<'_>) -> Result<(), DrawError> + 'a) -> Self {
        Self::of_height(move |_| height, draw)
    }

    /// Creates a block whose height in pixels follows from the look of the sheet.
    pub fn of_height(
        height: impl Fn(&Style) -> u32 + 'a,
        draw: impl Fn(&Area<'_>) -> Result<(), DrawError> + 'a,
    ) -> Self {
        Self { height: Box::new(height), stretches: false, draw: Box::new(draw) }
    }

    /// Creates a block of panels, whose height in pixels is that on a screen.
    pub fn panel(height: u32, draw: impl Fn(&Area<'_>) -> Result<(), DrawError> + 'a) -> Self {
        let height = move |style: &Style| (f64::from(height) * style.panels).round() as u32;
        Self { stretches: true, ..Self::of_height(height, draw) }
    }

    /// Creates a line of small text, or several.
    pub fn note(note: impl Into<String>) -> Self {
        Self::words(note.into(), 11.0, GREY, (15, 5))
    }

    /// Creates a heading for the following blocks.
    pub fn heading(heading: impl Into<String>) -> Self {
        Self::words(heading.into(), 13.5, INK, (18, 10))
    }

    /// Creates lines of text. `line` is the height of a line, and `gap` the room around all lines.
    fn words(text: String, size: f64, color: RGBColor, (line, gap): (u32, u32)) -> Self {
        let lines = move |style: &Style| {
            wrapped(&text, letters(f64::from(style.width - 2 * MARGIN), size.max(style.least_text)))
        };
        let drawn = lines.clone();
        Self::of_height(
            move |style| line * lines(style).len() as u32 + gap,
            move |area| {
                for (at, text) in drawn(&area.style).iter().enumerate() {
                    let y = line * at as u32 + line / 2 + gap / 2;
                    area.text(text, size, color, (HPos::Left, VPos::Center), (0, y))?;
                }
                Ok(())
            },
        )
    }

    /// Creates an empty block.
    pub fn gap(height: u32) -> Self {
        Self::new(height, |_| Ok(()))
    }
}

/// Returns the SVG document of a figure.
pub fn figure(sheet: Sheet, subtitle: &str, content: &[Content<'_>]) -> Result<String, DrawError> {
    let style = sheet.style;
    let title = if style.has_title { sheet.title } else { "" };
    let head = [(title, 17.0, INK, (22, 8)), (subtitle, 12.0, GREY, (16, 4))].into_iter();
    let head = head.filter(|(text, ..)| !text.is_empty() && style.has_title);
    let head: Vec<Content<'_>> =
        head.map(|(text, size, color, line)| Content::words(text.to_owned(), size, color, line)).collect();
    let blocks: Vec<&Content<'_>> = head.iter().chain(content).collect();
    let room = style.height.unwrap_or(MOST_HEIGHT).saturating_sub(2 * MARGIN);
    let heights = heights(&blocks, &style, style.height.is_some().then_some(room));
    let count = fitting(&heights, room);
    let cut = (count < blocks.len()).then(|| {
        let more = blocks.len() - count;
        Content::note(format!("Not shown: {more} of {} parts do not fit.", content.len()))
    });
    let note = cut.iter().map(|note| (note, (note.height)(&style)));
    let shown: Vec<(&Content<'_>, u32)> = blocks.into_iter().zip(heights).take(count).chain(note).collect();
    let height = 2 * MARGIN + shown.iter().map(|(_, height)| height).sum::<u32>();
    let height = style.height.unwrap_or(height);
    let mut svg = String::new();
    {
        let drawn = Svg::begin(&mut svg, (style.width, height), &style.shown(height)).into_drawing_area();
        drawn.fill(&RGBColor(255, 255, 255))?;
        let root = Area { drawn, style };
        let mut rest = root.within(MARGIN);
        for (block, height) in shown {
            let (area, below) = rest.split_vertically(height);
            (block.draw)(&area)?;
            rest = below;
        }
        root.drawn.present()?;
    }
    Ok(legal(svg))
}

/// Returns the heights of blocks. If they are to fill `room`, panels become higher or lower.
fn heights(blocks: &[&Content<'_>], style: &Style, room: Option<u32>) -> Vec<u32> {
    let own: Vec<u32> = blocks.iter().map(|block| (block.height)(style)).collect();
    let sum = |stretches: bool| -> u32 {
        let some = blocks.iter().zip(&own).filter(|(block, _)| block.stretches == stretches);
        some.map(|(_, height)| height).sum()
    };
    let (fixed, panels) = (sum(false), sum(true));
    let Some(room) = room.filter(|_| panels > 0) else { return own };
    let share = f64::from(room.saturating_sub(fixed)) / f64::from(panels);
    let fitted = |(block, height): (&&Content<'_>, u32)| match block.stretches {
        true => ((f64::from(height) * share) as u32).max(LEAST_PANEL.min(height)),
        false => height,
    };
    blocks.iter().zip(own).map(fitted).collect()
}

/// Returns the number of blocks that fit into `room` pixels, together with a note if others do not.
fn fitting(heights: &[u32], room: u32) -> usize {
    const NOTE: u32 = 35;
    let within = |room: u32| {
        let mut left = Some(room);
        heights
            .iter()
            .take_while(|height| {
                left = left.and_then(|left| left.checked_sub(**height));
                left.is_some()
            })
            .count()
    };
    if within(room) == heights.len() { heights.len() } else { within(room.saturating_sub(NOTE)) }
}

/// Returns a figure that explains why it shows nothing.
pub fn notice(sheet: Sheet, why: &str) -> Result<String, DrawError> {
    figure(sheet, "", &[Content::gap(16), Content::note(why), Content::gap(8)])
}

/// Returns the number of columns in which `count` panels are arranged.
pub fn columns(count: usize) -> usize {
    match count {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Returns blocks of equal panels, `columns` side by side, that fill the width of a figure.
pub fn panels<'a, T: 'a>(
    items: impl IntoIterator<Item = T>,
    columns: usize,
    (height, stretches): (u32, bool),
    draw: impl Fn(&Area<'_>, &T) -> Result<(), DrawError> + 'a,
) -> Vec<Content<'a>> {
    let draw = Rc::new(draw);
    let mut items = items.into_iter();
    let row = || {
        let items: Vec<T> = items.by_ref().take(columns).collect();
        if items.is_empty() {
            return None;
        }
        let draw = Rc::clone(&draw);
        let row = move |area: &Area<'_>| {
            let areas = area.columns(columns);
            areas.iter().zip(&items).try_for_each(|(area, item)| draw(area, item))
        };
        Some(if stretches { Content::panel(height, row) } else { Content::new(height, row) })
    };
    std::iter::from_fn(row).collect()
}

impl DrawError {
    /// Creates an error with a message.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for DrawError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}
