//! Legends, above what they explain and never over it.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::chart::marker;
use super::figure::{Area, Content, DrawError, WIDTH, text};
use super::style::{INK, Look, thin};

const LINE: u32 = 20;
const MARK: i32 = 30;
const LETTER: f64 = 6.9;

/// What stands before the name.
#[derive(Debug, Clone, Copy)]
pub enum Mark {
    /// A series.
    Series(Look),
    /// A filled box.
    Box(RGBColor),
    /// A dashed line.
    Dashes(RGBColor),
}

/// A name with its mark.
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
    /// A legend of `entries`.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let room = WIDTH as i32 - 40;
        let mut lines: Vec<Vec<(i32, Entry)>> = Vec::new();
        let mut x = room;
        for entry in entries {
            let width = MARK + 22 + (entry.name.chars().count() as f64 * LETTER) as i32;
            if x + width > room {
                lines.push(Vec::new());
                x = 0;
            }
            lines.last_mut().expect("a line was begun").push((x, entry));
            x += width;
        }
        Self { lines }
    }

    /// The legend as a block of a figure.
    pub fn content(self) -> Content<'static> {
        let height = LINE * self.lines.len() as u32 + 6;
        Content::new(height, move |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        for (i, line) in self.lines.iter().enumerate() {
            let y = (i as u32 * LINE + LINE / 2) as i32;
            for (x, entry) in line {
                draw_mark(area, entry.mark, *x, y)?;
                text(area, &entry.name, 11.5, INK, (HPos::Left, VPos::Center), (x + MARK, y))?;
            }
        }
        Ok(())
    }
}

impl Entry {
    /// A name with its mark.
    pub fn new(mark: Mark, name: impl Into<String>) -> Self {
        Self { mark, name: name.into() }
    }
}

fn draw_mark(area: &Area<'_>, mark: Mark, x: i32, y: i32) -> Result<(), DrawError> {
    let line = |from: i32, to: i32, color: RGBColor| {
        area.draw(&PathElement::new(vec![(x + from, y), (x + to, y)], color.stroke_width(2)))
    };
    match mark {
        Mark::Series(look) => {
            match look.dash {
                None => line(0, 24, look.color)?,
                Some(_) => {
                    line(0, 8, look.color)?;
                    line(16, 24, look.color)?;
                }
            }
            marker(area, look, (x + 12, y))?;
        }
        Mark::Box(color) => {
            let corners = [(x + 4, y - 6), (x + 20, y + 6)];
            area.draw(&Rectangle::new(corners, color.filled()))?;
            area.draw(&Rectangle::new(corners, thin(super::style::GREY)))?;
        }
        Mark::Dashes(color) => {
            line(0, 6, color)?;
            line(9, 15, color)?;
            line(18, 24, color)?;
        }
    }
    Ok(())
}
