//! Colours, fonts, lines and markers.
//!
//! The colours are those of Okabe and Ito, "Color Universal Design" (2008), which people with any kind of
//! colour vision can distinguish. No plot relies on colour alone: lines also differ in marker or dash.

use guardbit_num::Overflow;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::svg::{BOUNDING, grid};

const BLACK: RGBColor = RGBColor(0, 0, 0);
/// Orange.
pub const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);
const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
/// Blue.
pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// Vermillion.
pub const VERMILLION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);

/// Colour of text and frames.
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of points in the background, from which other points stand out.
pub const SILVER: RGBColor = RGBColor(0xB4, 0xB4, 0xB4);
/// Colour of notes and reference lines.
pub const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);
/// Colour of grids.
pub const PALE: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

/// Shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
}

/// Look of a series.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Colour of line and marker.
    pub color: RGBColor,
    /// Shape of the markers.
    pub marker: Marker,
    /// Length of the dashes and of the gaps between them in pixels; `None` for a solid line.
    pub dash: Option<(f64, f64)>,
}

/// Looks of series that have no fixed look.
const LOOKS: [Look; 8] = [
    Look { color: BLUE, marker: Marker::Circle, dash: None },
    Look { color: VERMILLION, marker: Marker::Square, dash: None },
    Look { color: GREEN, marker: Marker::Triangle, dash: None },
    Look { color: PURPLE, marker: Marker::Diamond, dash: None },
    Look { color: ORANGE, marker: Marker::Cross, dash: None },
    Look { color: SKY, marker: Marker::Plus, dash: None },
    Look { color: BLACK, marker: Marker::Circle, dash: Some((6.0, 4.0)) },
    Look { color: BLUE, marker: Marker::Square, dash: Some((2.0, 3.0)) },
];

/// Returns the look of the series with the given index.
pub fn category_look(index: usize) -> Look {
    LOOKS[index % LOOKS.len()]
}

/// Looks of the overflow modes, in the order of their list; the last one is for unknown modes. Dashes let a
/// curve below show through.
const MODE_LOOKS: [Look; 8] = [
    Look { color: BLUE, marker: Marker::Circle, dash: None },
    Look { color: VERMILLION, marker: Marker::Square, dash: Some((9.0, 4.0)) },
    Look { color: ORANGE, marker: Marker::Diamond, dash: Some((6.0, 5.0)) },
    Look { color: PURPLE, marker: Marker::Triangle, dash: Some((4.0, 4.0)) },
    Look { color: GREEN, marker: Marker::Cross, dash: Some((3.0, 5.0)) },
    Look { color: SKY, marker: Marker::Plus, dash: Some((2.0, 4.0)) },
    Look { color: BLACK, marker: Marker::Circle, dash: None },
    Look { color: GREY, marker: Marker::Square, dash: Some((9.0, 2.0)) },
];

/// Returns the look of an overflow mode, which is equal in all plots.
pub fn mode_look(mode: &str) -> Look {
    let last = MODE_LOOKS.len() - 1;
    let at = Overflow::ALL.iter().position(|known| known.name() == mode);
    MODE_LOOKS[at.map_or(last, |at| at.min(last))]
}

/// Returns a text style with letters of `size` pixels, positioned by `anchor`.
pub fn font(size: f64, color: RGBColor, anchor: (HPos, VPos)) -> TextStyle<'static> {
    let family = FontFamily::Name("DejaVu Sans, Verdana, sans-serif");
    let font = FontDesc::new(family, f64::from(grid(size)) * BOUNDING, FontStyle::Normal);
    TextStyle { font, color: color.to_backend_color(), pos: Pos::new(anchor.0, anchor.1) }
}

/// Returns the style of a line of one pixel.
pub fn thin(color: RGBColor) -> ShapeStyle {
    color.stroke_width(grid(1.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unknown modes, and any future mode, must not look like a known mode.
    #[test]
    fn modes_look_different() {
        let text = |mode: &str| format!("{:?}", mode_look(mode));
        let names = Overflow::ALL.map(Overflow::name);
        for (index, mode) in names.into_iter().enumerate() {
            assert!(names[..index].iter().all(|other| text(other) != text(mode)), "{mode}");
        }
        assert!(["wrap", "saturate"].iter().all(|mode| text(mode) != text("no mode")));
    }
}
