//! Table of coloured cells, which stays legible where there are too many curves.

use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::figure::{Area, Content, DrawError, WIDTH, text};
use super::style::{GREY, INK};

/// Least and greatest width of the labels, in pixels. Cells next to wider labels would be too narrow to
/// distinguish.
const LABELS: (i32, i32) = (190, 400);
/// Width of a letter of a label, in pixels.
const LETTER: f64 = 6.6;
const NOTES: i32 = 165;
const HEAD: u32 = 22;
const ROW: u32 = 20;
const FOOT: u32 = 30;

/// Coloured cell.
#[derive(Debug, Clone)]
pub struct HeatCell {
    /// Fill colour.
    pub fill: RGBColor,
    /// Text, shown if there is room.
    pub text: String,
    /// Colour of the text.
    pub ink: RGBColor,
}

/// Row of cells; `None` is left blank.
#[derive(Debug, Clone)]
pub struct HeatRow {
    /// Label of the row.
    pub label: String,
    /// One cell per column.
    pub cells: Vec<Option<HeatCell>>,
    /// Note to the right of the cells.
    pub note: String,
    /// Index of the cell before which a line is drawn.
    pub fence: Option<usize>,
}

/// Rows of cells under named columns.
#[derive(Debug, Clone)]
pub struct HeatTable {
    /// Names of the columns; empty names are not drawn.
    pub columns: Vec<String>,
    /// Title of the columns, with their unit.
    pub title: String,
    /// Heading of the notes.
    pub note_title: String,
    /// The rows.
    pub rows: Vec<HeatRow>,
}

impl HeatTable {
    /// Returns the table as a block of a figure.
    pub fn content(self) -> Content<'static> {
        let height = HEAD + ROW * self.rows.len() as u32 + FOOT;
        Content::new(height, move |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        let has_notes = self.rows.iter().any(|row| !row.note.is_empty());
        let labels = self.labels();
        let room = WIDTH as i32 - 40 - labels - if has_notes { NOTES } else { 0 };
        let width = (room / self.columns.len().max(1) as i32).clamp(1, 60);
        let right = labels + width * self.columns.len() as i32;
        for (i, name) in self.columns.iter().enumerate() {
            let middle = labels + width * i as i32 + width / 2;
            text(area, name, 10.5, INK, (HPos::Center, VPos::Center), (middle, HEAD as i32 / 2))?;
        }
        let note_title = if has_notes { &self.note_title } else { "" };
        text(area, note_title, 10.5, GREY, (HPos::Left, VPos::Center), (right + 10, HEAD as i32 / 2))?;
        for (i, row) in self.rows.iter().enumerate() {
            self.draw_row(area, row, (HEAD + ROW * i as u32) as i32, (labels, width))?;
        }
        let foot = (HEAD + ROW * self.rows.len() as u32 + 14) as i32;
        let middle = (labels + right) / 2;
        text(area, &self.title, 11.5, INK, (HPos::Center, VPos::Center), (middle, foot))
    }

    /// Returns the position in pixels where the cells begin, to the right of the longest label.
    fn labels(&self) -> i32 {
        let longest = self.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
        ((longest as f64 * LETTER) as i32 + 12).clamp(LABELS.0, LABELS.1)
    }

    fn draw_row(
        &self,
        area: &Area<'_>,
        row: &HeatRow,
        top: i32,
        (labels, width): (i32, i32),
    ) -> Result<(), DrawError> {
        let height = ROW as i32;
        let middle = top + height / 2;
        text(area, &row.label, 11.0, INK, (HPos::Right, VPos::Center), (labels - 8, middle))?;
        let gap = i32::from(width > 12);
        for (i, cell) in row.cells.iter().enumerate() {
            let left = labels + width * i as i32;
            let Some(cell) = cell else { continue };
            let corners = [(left, top + 1), (left + width - gap, top + height - 1)];
            area.draw(&Rectangle::new(corners, cell.fill.filled()))?;
            if cell.text.chars().count() as i32 * 11 <= 2 * width {
                let at = (left + width / 2, middle);
                text(area, &cell.text, 9.0, cell.ink, (HPos::Center, VPos::Center), at)?;
            }
        }
        if let Some(fence) = row.fence {
            let x = labels + width * fence as i32 - 1;
            area.draw(&Rectangle::new([(x - 1, top - 1), (x + 1, top + height + 1)], INK.filled()))?;
        }
        let right = labels + width * self.columns.len() as i32 + 10;
        text(area, &row.note, 10.5, GREY, (HPos::Left, VPos::Center), (right, middle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_room() {
        let table = |label: &str| {
            let row = HeatRow { label: label.into(), cells: Vec::new(), note: String::new(), fence: None };
            HeatTable {
                columns: Vec::new(),
                title: String::new(),
                note_title: String::new(),
                rows: vec![row],
            }
        };
        assert_eq!(table("#0 conv2d").labels(), LABELS.0);
        // The label has 34 letters of at least 6 pixels.
        assert!(table("#21 depthwise_conv2d_10, runs of 8").labels() >= 34 * 6 + 8);
    }
}
