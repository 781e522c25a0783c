//! Colour scales for quantities: one hue from pale to dark, so that lightness alone shows the order.

use plotters::style::RGBColor;

/// Colour scale.
#[derive(Debug, Clone, Copy)]
pub struct Ramp([RGBColor; 4]);

/// Number of distinct colours.
const STEPS: f64 = 12.0;

impl Ramp {
    /// Scale for required or achieved quantities.
    pub const BLUE: Self = Self([
        RGBColor(0xE9, 0xF1, 0xF9),
        RGBColor(0x9C, 0xC4, 0xE4),
        RGBColor(0x2E, 0x7E, 0xBC),
        RGBColor(0x0B, 0x31, 0x66),
    ]);
    /// Scale for errors.
    pub const ORANGE: Self = Self([
        RGBColor(0xFD, 0xF1, 0xE4),
        RGBColor(0xF9, 0xC4, 0x8D),
        RGBColor(0xDD, 0x74, 0x1F),
        RGBColor(0x70, 0x26, 0x04),
    ]);

    /// Returns the colour of a share, 0 to 1.
    pub fn color(self, share: f64) -> RGBColor {
        let share = (share.clamp(0.0, 1.0) * STEPS).round() / STEPS;
        let place = share * (self.0.len() - 1) as f64;
        let from = (place.floor() as usize).min(self.0.len() - 2);
        let part = place - from as f64;
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
        let (a, b) = (self.0[from], self.0[from + 1]);
        RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }

    /// Returns a text colour that is legible on [`color`](Self::color).
    pub fn ink(self, share: f64) -> RGBColor {
        if share > 0.55 { RGBColor(255, 255, 255) } else { super::style::INK }
    }
}
