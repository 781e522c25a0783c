//! Sheet on which a plot is drawn: a heading, then blocks of content below each other, at a fixed width.

use std::fmt;
use std::rc::Rc;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::style::{GREY, INK, font};
use crate::legal::legal;

/// Width of every plot in pixels.
pub const WIDTH: u32 = 960;
/// Greatest height of a plot in pixels. Content beyond it is left out, with a note. Plots select their
/// content so that it fits; this limit applies to all plots regardless.
pub const MOST_HEIGHT: u32 = 4000;
const MARGIN: u32 = 14;
const TITLE: u32 = 30;
const SUBTITLE: u32 = 20;

/// Part of a sheet.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Reason why a plot could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawError(String);

type Draw<'a> = dyn Fn(&Area<'_>) -> Result<(), DrawError> + 'a;

/// Block of a figure over its whole width.
pub struct Content<'a> {
    height: u32,
    draw: Box<Draw<'a>>,
}

impl<'a> Content<'a> {
    /// Creates a block of the given height in pixels.
    pub fn new(height: u32, draw: impl Fn(&Area<'_>) -> Result<(), DrawError> + 'a) -> Self {
        Self { height, draw: Box::new(draw) }
    }

    /// Creates a line of small text.
    pub fn note(note: impl Into<String>) -> Self {
        let note = note.into();
        Self::new(20, move |area| text(area, &note, 11.0, GREY, (HPos::Left, VPos::Center), (0, 10)))
    }

    /// Creates a heading for the following blocks.
    pub fn heading(heading: impl Into<String>) -> Self {
        let heading = heading.into();
        Self::new(28, move |area| text(area, &heading, 13.5, INK, (HPos::Left, VPos::Center), (0, 16)))
    }

    /// Creates an empty block.
    pub fn gap(height: u32) -> Self {
        Self::new(height, |_| Ok(()))
    }
}

/// Returns the SVG document of a figure.
pub fn figure(title: &str, subtitle: &str, content: &[Content<'_>]) -> Result<String, DrawError> {
    let head = TITLE + if subtitle.is_empty() { 4 } else { SUBTITLE };
    let (content, cut) = fitting(content, MOST_HEIGHT - 2 * MARGIN - head);
    let content: Vec<&Content<'_>> = content.iter().chain(&cut).collect();
    let height = 2 * MARGIN + head + content.iter().map(|block| block.height).sum::<u32>();
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&RGBColor(255, 255, 255))?;
        let sheet = root.margin(MARGIN, MARGIN, MARGIN, MARGIN);
        let left = (HPos::Left, VPos::Center);
        text(&sheet, title, 17.0, INK, left, (0, 10))?;
        text(&sheet, subtitle, 12.0, GREY, left, (0, 32))?;
        let (_, mut rest) = sheet.split_vertically(head);
        for block in content {
            let (area, below) = rest.split_vertically(block.height);
            (block.draw)(&area)?;
            rest = below;
        }
        root.present()?;
    }
    Ok(legal(svg))
}

/// Returns the blocks that fit into `room` pixels, and a note on the number of other blocks, if any.
fn fitting<'a, 'b>(content: &'b [Content<'a>], room: u32) -> (&'b [Content<'a>], Option<Content<'static>>) {
    let mut left = room;
    let fits = |block: &Content<'_>| {
        let fits = block.height <= left;
        left = left.saturating_sub(block.height);
        fits
    };
    if content.iter().all(fits) {
        return (content, None);
    }
    let note =
        |more: usize| Content::note(format!("Not shown: {more} of {} parts do not fit.", content.len()));
    let mut left = room - note(0).height;
    let count = content.iter().take_while(|block| {
        let fits = block.height <= left;
        left = left.saturating_sub(block.height);
        fits
    });
    let count = count.count();
    (&content[..count], Some(note(content.len() - count)))
}

/// Returns a figure that explains why it shows nothing.
pub fn notice(title: &str, why: &str) -> Result<String, DrawError> {
    figure(title, "", &[Content::gap(16), Content::note(why), Content::gap(8)])
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
    height: u32,
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
        Some(Content::new(height, move |area| {
            let areas = area.split_evenly((1, columns));
            areas.iter().zip(&items).try_for_each(|(area, item)| draw(area, item))
        }))
    };
    std::iter::from_fn(row).collect()
}

/// Writes text at a position in pixels.
pub fn text(
    area: &Area<'_>,
    text: &str,
    size: f64,
    color: RGBColor,
    anchor: (HPos, VPos),
    at: (i32, i32),
) -> Result<(), DrawError> {
    if !text.is_empty() {
        area.draw_text(text, &font(size, color, anchor), at)?;
    }
    Ok(())
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
