//! Legends, placed above the content they explain and never over it.

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::area::Area;
use super::chart::marker;
use super::figure::{Content, DrawError};
use super::sheet::{Style, cut};
use super::style::{GREY, INK, Look};

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
    entries: Vec<Entry>,
}

impl Legend {
    /// Creates a legend of `entries`.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self { entries: entries.into_iter().collect() }
    }

    /// Returns the legend as a block of a figure.
    pub fn content(self) -> Content<'static> {
        let drawn = self.clone();
        Content::of_height(
            move |style| LINE * self.lines(style).len() as u32 + 6,
            move |area| drawn.draw(area),
        )
    }

    /// Arranges the entries in lines: each with its place in pixels, and its name as far as it fits.
    fn lines(&self, style: &Style) -> Vec<Vec<(i32, Mark, String)>> {
        let room = style.width as i32 - 40;
        let mut lines: Vec<Vec<(i32, Mark, String)>> = Vec::new();
        let mut x = room;
        for Entry { mark, name } in &self.entries {
            let rest = room - mark.width() - GAP;
            let name = cut(name, (f64::from(rest) / LETTER) as usize);
            let width = mark.width() + GAP + 24 + (name.chars().count() as f64 * LETTER) as i32;
            if x + width > room && x > 0 {
                lines.push(Vec::new());
                x = 0;
            }
            lines.last_mut().expect("a line was begun").push((x, *mark, name));
            x += width;
        }
        lines
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        for (i, line) in self.lines(&area.style).into_iter().enumerate() {
            let y = (i as u32 * LINE + LINE / 2) as i32;
            for (x, mark, name) in line {
                draw_mark(area, mark, x, y)?;
                let at = (x + mark.width() + GAP, y);
                area.text(&name, 11.5, INK, (HPos::Left, VPos::Center), at)?;
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
    let middle = (f64::from(x + STROKE / 2), f64::from(y));
    let stroke =
        |color, dash| area.line([x, x + STROKE].map(|x| (f64::from(x), f64::from(y))), color, 2.0, dash);
    match mark {
        Mark::Series(look) => {
            stroke(look.color, look.dash)?;
            marker(area, look, middle)
        }
        Mark::Marker(look) => marker(area, look, middle),
        Mark::Line(color) => stroke(color, None),
        Mark::Box(color) => {
            let corners = [(x, y - 6), (x + BOX, y + 6)];
            area.fill(corners, color)?;
            area.frame(corners, GREY)
        }
        Mark::Dashes(color) => stroke(color, Some((5.0, 3.0))),
    }
}
