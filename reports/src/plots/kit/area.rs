//! Part of a sheet, in pixels.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::figure::DrawError;
use super::sheet::Style;
use super::style::font;
use super::svg::{Kind, Shape, Svg, grid, pixels};

/// Part of a sheet. All positions and lengths are in pixels, from its left and upper edge.
pub struct Area<'a> {
    pub(super) drawn: DrawingArea<Svg<'a>, Shift>,
    /// Look of the sheet.
    pub style: Style,
}

impl<'a> Area<'a> {
    /// Returns the width and the height.
    pub fn size(&self) -> (f64, f64) {
        let (width, height) = self.drawn.dim_in_pixel();
        (pixels(width as i32), pixels(height as i32))
    }

    /// Returns the part above a height, and the rest.
    pub fn split_vertically(&self, height: u32) -> (Self, Self) {
        let (above, below) = self.drawn.split_vertically(grid(f64::from(height)));
        (self.part(above), self.part(below))
    }

    /// Returns parts of equal width, side by side.
    pub fn columns(&self, count: usize) -> Vec<Self> {
        self.drawn.split_evenly((1, count)).into_iter().map(|part| self.part(part)).collect()
    }

    /// Returns the part within a margin on all sides.
    pub fn within(&self, margin: u32) -> Self {
        let margin = grid(f64::from(margin));
        self.part(self.drawn.margin(margin, margin, margin, margin))
    }

    /// Writes text with letters of `size` pixels.
    pub fn text(
        &self,
        text: &str,
        size: f64,
        color: RGBColor,
        anchor: (HPos, VPos),
        (x, y): (impl Into<f64>, impl Into<f64>),
    ) -> Result<(), DrawError> {
        if !text.is_empty() {
            let font = font(size.max(self.style.least_text), color, anchor);
            self.drawn.draw_text(text, &font, (grid(x.into()), grid(y.into())))?;
        }
        Ok(())
    }

    /// Draws a line through points.
    pub fn line(
        &self,
        points: impl IntoIterator<Item = (f64, f64)>,
        color: RGBColor,
        width: f64,
        dash: Option<(f64, f64)>,
    ) -> Result<(), DrawError> {
        let points: Vec<(f64, f64)> = points.into_iter().collect();
        if points.len() < 2 {
            return Ok(());
        }
        self.shape(points, Kind::Line { color, width, dash })
    }

    /// Draws a filled rectangle between two corners.
    pub fn fill(
        &self,
        corners: [(impl Into<f64>, impl Into<f64>); 2],
        color: RGBColor,
    ) -> Result<(), DrawError> {
        self.shape(corners.map(|(x, y)| (x.into(), y.into())), Kind::Box { fill: Some(color), stroke: None })
    }

    /// Draws the outline of a rectangle between two corners.
    pub fn frame(
        &self,
        corners: [(impl Into<f64>, impl Into<f64>); 2],
        color: RGBColor,
    ) -> Result<(), DrawError> {
        self.shape(corners.map(|(x, y)| (x.into(), y.into())), Kind::Box { fill: None, stroke: Some(color) })
    }

    /// Draws a filled area between points.
    pub fn polygon<const N: usize>(&self, points: [(f64, f64); N], color: RGBColor) -> Result<(), DrawError> {
        self.shape(points, Kind::Fill(color))
    }

    /// Draws a filled circle.
    pub fn circle(&self, middle: (f64, f64), radius: f64, color: RGBColor) -> Result<(), DrawError> {
        self.shape([middle], Kind::Circle { color, radius })
    }

    fn shape(&self, points: impl IntoIterator<Item = (f64, f64)>, kind: Kind) -> Result<(), DrawError> {
        let points = points.into_iter().map(|(x, y)| (grid(x), grid(y))).collect();
        Ok(self.drawn.draw(&Shape { points, kind })?)
    }

    fn part(&self, drawn: DrawingArea<Svg<'a>, Shift>) -> Self {
        Self { drawn, style: self.style }
    }
}
