//! Table of coloured cells, which stays legible where there are too many curves.

use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::area::Area;
use super::figure::{Content, DrawError};
use super::sheet::{cut, letters, wrapped};
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
/// Least width of a figure with notes next to its cells, in pixels.
const WITH_NOTES: i32 = 600;

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
        let (rows, title) = (self.rows.len() as u32, self.title.clone());
        let foot =
            move |width: u32| 15 * (wrapped(&title, letters(f64::from(width) - 40.0, 11.5)).len() as u32 - 1);
        Content::of_height(
            move |style| HEAD + ROW * rows + FOOT + foot(style.width),
            move |area| self.draw(area),
        )
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawError> {
        let sheet = area.style.width as i32;
        let has_notes = sheet >= WITH_NOTES && self.rows.iter().any(|row| !row.note.is_empty());
        let labels = self.labels(sheet);
        let room = sheet - 40 - labels - if has_notes { NOTES } else { 0 };
        let count = self.columns.len().max(1) as i32;
        // Narrow cells have a fraction of a pixel.
        let width = if room >= count {
            f64::from((room / count).min(60))
        } else {
            f64::from(room) / f64::from(count)
        };
        let place = |column: usize| f64::from(labels) + width * column as f64;
        let right = place(self.columns.len());
        let longest = self.columns.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let named = self.columns.iter().filter(|name| !name.is_empty()).count().max(1);
        let apart = width * (self.columns.len() as f64 / named as f64);
        let step = ((longest * 6.5 + 4.0) / apart).ceil().max(1.0) as usize;
        let names = self.columns.iter().enumerate().filter(|(_, name)| !name.is_empty()).step_by(step);
        for (i, name) in names {
            let middle = place(i) + width / 2.0;
            area.text(name, 10.5, INK, (HPos::Center, VPos::Center), (middle, HEAD / 2))?;
        }
        if has_notes {
            let at = (right + 10.0, HEAD / 2);
            area.text(&self.note_title, 10.5, GREY, (HPos::Left, VPos::Center), at)?;
        }
        for (i, row) in self.rows.iter().enumerate() {
            self.draw_row(area, row, HEAD + ROW * i as u32, (labels, width), has_notes)?;
        }
        let foot = HEAD + ROW * self.rows.len() as u32 + 14;
        // A title that is wider than the cells is in the middle of the sheet.
        let lines = wrapped(&self.title, letters(f64::from(sheet) - 40.0, 11.5));
        let wide = 11.5 * 0.6 * lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64;
        let middle = (f64::from(labels) + right) / 2.0;
        let (least, most) = (wide / 2.0, f64::from(sheet) - 28.0 - wide / 2.0);
        let middle = if least <= most { middle.clamp(least, most) } else { middle };
        for (i, line) in lines.iter().enumerate() {
            let at = (middle, foot + 15 * i as u32);
            area.text(line, 11.5, INK, (HPos::Center, VPos::Center), at)?;
        }
        Ok(())
    }

    /// Returns the position in pixels where the cells begin, to the right of the longest label.
    fn labels(&self, sheet: i32) -> i32 {
        let longest = self.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
        let most = LABELS.1.min(sheet * 2 / 5);
        ((longest as f64 * LETTER) as i32 + 12).clamp(LABELS.0.min(most), most)
    }

    fn draw_row(
        &self,
        area: &Area<'_>,
        row: &HeatRow,
        top: u32,
        (labels, width): (i32, f64),
        has_note: bool,
    ) -> Result<(), DrawError> {
        let (top, height) = (f64::from(top), f64::from(ROW));
        let middle = top + height / 2.0;
        let place = |column: usize| f64::from(labels) + width * column as f64;
        let label = cut(&row.label, (f64::from(labels - 8) / LETTER) as usize + 2);
        area.text(&label, 11.0, INK, (HPos::Right, VPos::Center), (labels - 8, middle))?;
        let gap = if width > 12.0 { 1.0 } else { 0.0 };
        for (i, cell) in row.cells.iter().enumerate() {
            let left = place(i);
            let Some(cell) = cell else { continue };
            area.fill([(left, top + 1.0), (left + width - gap, top + height - 1.0)], cell.fill)?;
            if cell.text.chars().count() as f64 * 5.5 <= width {
                let at = (left + width / 2.0, middle);
                area.text(&cell.text, 9.0, cell.ink, (HPos::Center, VPos::Center), at)?;
            }
        }
        if let Some(fence) = row.fence {
            let x = place(fence) - 1.0;
            area.fill([(x - 1.0, top - 1.0), (x + 1.0, top + height + 1.0)], INK)?;
        }
        if has_note {
            let at = (place(self.columns.len()) + 10.0, middle);
            area.text(&row.note, 10.5, GREY, (HPos::Left, VPos::Center), at)?;
        }
        Ok(())
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
        assert_eq!(table("#0 conv2d").labels(960), LABELS.0);
        // The label has 34 letters of at least 6 pixels.
        assert!(table("#21 depthwise_conv2d_10, runs of 8").labels(960) >= 34 * 6 + 8);
    }
}
