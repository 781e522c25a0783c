//! Legends, placed above the content they explain and never over it.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::chart::marker;
use super::figure::{Area, Content, DrawError, WIDTH, text};
use super::style::{GREY, INK, Look, thin};

const LINE: u32 = 20;
const GAP: i32 = 8;
/// Length of a mark's line, in pixels.
const STROKE: i32 = 34;
/// Width of a mark's box, in pixels.
const BOX: i32 = 18;
const LETTER: f64 = 6.9;

/// Mark in front of a name.
#[derive(Debug, Clone, Copy)]
pub enum Mark {
    /// Line and marker of a series.
    Series(Look),
    /// Marker of a series that is drawn without lines.
    Marker(Look),
    /// Thin line.
    Line(RGBColor),
    /// Filled box.
    Box(RGBColor),
    /// Dashed line.
    Dashes(RGBColor),
}

/// Name with its mark.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The mark.
    pub mark: Mark,
    /// The name.
    pub name: String,
}

/// Names with marks, in as many lines as they need.
#[derive(Debug, Clone, Default)]
pub struct Legend {
    lines: Vec<Vec<(i32, Entry)>>,
}

impl Legend {
    /// Arranges `entries` in lines.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let room = WIDTH as i32 - 40;
        let mut lines: Vec<Vec<(i32, Entry)>> = Vec::new();
        let mut x = room;
        for entry in entries {
            let width = entry.mark.width() + GAP + 24 + (entry.name.chars().count() as f64 * LETTER) as i32;
            if x + width > room {
                lines.push(Vec::new());
                x = 0;
            }
            lines.last_mut().expect("a line was begun").push((x, entry));
            x += width;
        }
        Self { lines }
    }

    /// Returns the legend as a block of a figure.
    pub fn content(self) -> Content<'static> {
        let height = LINE * self.lines.len() as u32 + 6;
        Content::new(height, move |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        for (i, line) in self.lines.iter().enumerate() {
            let y = (i as u32 * LINE + LINE / 2) as i32;
            for (x, entry) in line {
                draw_mark(area, entry.mark, *x, y)?;
                text(
                    area,
                    &entry.name,
                    11.5,
                    INK,
                    (HPos::Left, VPos::Center),
                    (x + entry.mark.width() + GAP, y),
                )?;
            }
        }
        Ok(())
    }
}

impl Mark {
    fn width(self) -> i32 {
        match self {
            Self::Series(_) | Self::Marker(_) | Self::Line(_) | Self::Dashes(_) => STROKE,
            Self::Box(_) => BOX,
        }
    }
}

impl Entry {
    /// Creates a name with its mark.
    pub fn new(mark: Mark, name: impl Into<String>) -> Self {
        Self { mark, name: name.into() }
    }
}

fn draw_mark(area: &Area<'_>, mark: Mark, x: i32, y: i32) -> Result<(), DrawError> {
    match mark {
        Mark::Series(look) => {
            draw_stroke(area, (x, y), look.color, look.dash)?;
            marker(area, look, (x + STROKE / 2, y))?;
        }
        Mark::Marker(look) => marker(area, look, (x + STROKE / 2, y))?,
        Mark::Line(color) => draw_stroke(area, (x, y), color, None)?,
        Mark::Box(color) => {
            let corners = [(x, y - 6), (x + BOX, y + 6)];
            area.draw(&Rectangle::new(corners, color.filled()))?;
            area.draw(&Rectangle::new(corners, thin(GREY)))?;
        }
        Mark::Dashes(color) => draw_stroke(area, (x, y), color, Some((5, 3)))?,
    }
    Ok(())
}

fn draw_stroke(
    area: &Area<'_>,
    (x, y): (i32, i32),
    color: RGBColor,
    dash: Option<(i32, i32)>,
) -> Result<(), DrawError> {
    let (dash, gap) = dash.unwrap_or((STROKE, 1));
    let mut start = 0;
    while start < STROKE {
        let end = (start + dash).min(STROKE);
        area.draw(&PathElement::new(vec![(x + start, y), (x + end, y)], color.stroke_width(2)))?;
        start = end + gap;
    }
    Ok(())
}
