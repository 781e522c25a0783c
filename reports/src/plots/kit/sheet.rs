//! Size and look of figures: for a screen, a paper or slides.

use std::fmt;
use std::str::FromStr;

use super::area::Area;
use super::figure::{Content, DrawError, panels};

/// Width of a plot for a screen, in pixels.
const SCREEN: u32 = 960;
/// Letters of the labels along axes, in pixels. Other texts are in proportion.
const LABEL: f64 = 11.0;
/// Pixels of a millimetre and of a point: both as in CSS, where an inch has 96 pixels.
const MM: f64 = 96.0 / 25.4;
const POINT: f64 = 96.0 / 72.0;
/// Least and greatest width and height of a figure, in millimetres.
const SIZES: std::ops::RangeInclusive<f64> = 30.0..=1000.0;
/// Smallest and largest labels, in points.
const FONTS: std::ops::RangeInclusive<f64> = 4.0..=60.0;
/// Least width of a figure in letters of its labels: narrower panels have no room between their axes.
const LEAST_LETTERS: f64 = 15.0;

/// Where plots are shown: their size, letters, title and files follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Medium {
    /// Report, README or web page: 960 pixels wide, with a title.
    #[default]
    Screen,
    /// Column of a paper: 85 mm, labels of 8 pt, no title, and PDF files.
    Paper,
    /// Slide of 16:9: 240 mm, labels of 16 pt, with a title.
    Slides,
}

impl Medium {
    /// Every medium.
    pub const ALL: [Self; 3] = [Self::Screen, Self::Paper, Self::Slides];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Paper => "paper",
            Self::Slides => "slides",
        }
    }
}

impl FromStr for Medium {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|medium| medium.name() == text);
        found.ok_or_else(|| format!("invalid style `{text}`: expected one of {all}"))
    }
}

/// Width of a figure, and its height if that does not follow from its content, in micrometres.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlotSize {
    width: u32,
    height: Option<u32>,
}

impl FromStr for PlotSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid size `{text}`: expected a width, or WIDTHxHEIGHT, of {} to {} mm, e.g. 85mm, 3.3in or 85x60mm",
                SIZES.start(),
                SIZES.end()
            )
        };
        let (number, unit) = text
            .strip_suffix("mm")
            .map_or_else(|| text.strip_suffix("in").map(|rest| (rest, 25.4)), |rest| Some((rest, 1.0)))
            .ok_or_else(wrong)?;
        // The first unit may be left out.
        let length = |text: &str| {
            let text = text.trim().trim_end_matches("mm").trim_end_matches("in");
            let length = text.parse::<f64>().ok().map(|length| length * unit);
            length.filter(|length| SIZES.contains(length)).map(|length| (length * 1000.0).round() as u32)
        };
        let (width, height) = match number.split_once('x') {
            Some((width, height)) => (width, Some(length(height).ok_or_else(wrong)?)),
            None => (number, None),
        };
        Ok(Self { width: length(width).ok_or_else(wrong)?, height })
    }
}

impl fmt::Display for PlotSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mm = |length: u32| f64::from(length) / 1000.0;
        match self.height {
            Some(height) => write!(f, "{}x{}mm", mm(self.width), mm(height)),
            None => write!(f, "{}mm", mm(self.width)),
        }
    }
}

/// Size of the labels along axes, in hundredths of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlotFont(u32);

impl FromStr for PlotFont {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let points = text.strip_suffix("pt").and_then(|points| points.trim().parse::<f64>().ok());
        let points = points.filter(|points| FONTS.contains(points)).ok_or_else(|| {
            format!("invalid font size `{text}`: expected {} to {} pt, e.g. 8pt", FONTS.start(), FONTS.end())
        })?;
        Ok(Self((points * 100.0).round() as u32))
    }
}

impl fmt::Display for PlotFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}pt", f64::from(self.0) / 100.0)
    }
}

/// Style of plots as requested; what is absent follows from the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlotStyle {
    /// Where plots are shown.
    pub medium: Medium,
    /// Their size.
    pub size: Option<PlotSize>,
    /// Letters of the labels along axes.
    pub font: Option<PlotFont>,
    /// Whether they have a title.
    pub title: Option<bool>,
}

impl PlotStyle {
    /// Returns the resolution of PNG files in dots per inch.
    pub fn dpi(&self) -> u32 {
        match self.medium {
            Medium::Screen | Medium::Slides => 192,
            Medium::Paper => 600,
        }
    }

    /// Returns whether there are PDF files.
    pub fn has_pdf(&self) -> bool {
        self.medium == Medium::Paper
    }

    /// Returns why no plot can have this style, if so: the letters are too large for the width.
    pub fn problem(&self) -> Option<String> {
        let style = Style::of(self);
        let letters = f64::from(style.width) / LABEL;
        (letters < LEAST_LETTERS).then(|| {
            format!(
                "labels of {} are too large for a plot of {}: expected a width of at least {LEAST_LETTERS} letters",
                self.font_or_default(),
                self.size_or_default().map_or("this width".into(), |size| size.to_string())
            )
        })
    }

    fn size_or_default(&self) -> Option<PlotSize> {
        let of_medium = match self.medium {
            Medium::Screen => None,
            Medium::Paper => Some(PlotSize { width: 85_000, height: None }),
            Medium::Slides => Some(PlotSize { width: 240_000, height: None }),
        };
        self.size.or(of_medium)
    }

    fn font_or_default(&self) -> PlotFont {
        self.font.unwrap_or(match self.medium {
            Medium::Screen => PlotFont((LABEL / POINT * 100.0) as u32),
            Medium::Paper => PlotFont(800),
            Medium::Slides => PlotFont(1600),
        })
    }
}

/// Look of a sheet, in pixels of its drawing. A figure with larger letters has fewer pixels, and is shown
/// larger.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Width of the figure.
    pub width: u32,
    /// Height of the figure; it otherwise follows from the content.
    pub height: Option<u32>,
    /// Smallest letters.
    pub least_text: f64,
    /// Heights of panels as a share of those on a screen.
    pub panels: f64,
    /// Whether the title is shown.
    pub has_title: bool,
    /// Size of a pixel as shown, in millimetres; `None` for a pixel of the screen.
    pixel: Option<f64>,
}

impl Style {
    /// Returns the look for a style.
    pub fn of(style: &PlotStyle) -> Self {
        // Letters of labels have a fixed number of pixels, from which the size of a pixel follows.
        let font = f64::from(style.font_or_default().0) / 100.0;
        let pixel = font * POINT / MM / LABEL;
        let size = style.size_or_default();
        let shown = size.map_or(f64::from(SCREEN) / MM, |size| f64::from(size.width) / 1000.0);
        // Whole pixels have exactly the width that was asked for.
        let width = (shown / pixel).round().max(1.0);
        let pixel = shown / width;
        let pixels = |length: u32| (f64::from(length) / 1000.0 / pixel).round() as u32;
        let is_screen = style.medium == Medium::Screen;
        let is_plain = is_screen && style.size.is_none() && style.font.is_none();
        Self {
            width: width as u32,
            height: size.and_then(|size| size.height).map(pixels),
            least_text: if is_screen { 0.0 } else { 10.0 },
            panels: if is_screen { 1.0 } else { 0.7 },
            has_title: style.title.unwrap_or(style.medium != Medium::Paper),
            pixel: (!is_plain).then_some(pixel),
        }
    }

    /// Returns the width and the height of the shown document, with their unit.
    pub fn shown(&self, height: u32) -> (String, String) {
        let length = |pixels: u32| match self.pixel {
            Some(size) => format!("{}mm", (f64::from(pixels) * size * 100.0).round() / 100.0),
            None => pixels.to_string(),
        };
        (length(self.width), length(height))
    }
}

/// Sheet on which a figure is drawn: its title and its look.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    /// Heading: the quantity that the figure shows.
    pub title: &'static str,
    /// Look.
    pub style: Style,
}

impl Sheet {
    /// Returns blocks of equal panels, at most `columns` side by side, that fill the width of a figure.
    pub fn panels<'a, T: 'a>(
        self,
        items: impl IntoIterator<Item = T>,
        columns: usize,
        height: u32,
        draw: impl Fn(&Area<'_>, &T) -> Result<(), DrawError> + 'a,
    ) -> Vec<Content<'a>> {
        panels(items, self.columns(columns, 270), (height, true), draw)
    }

    /// Returns blocks like [`panels`](Self::panels) whose height in pixels is fixed.
    pub fn maps<'a, T: 'a>(
        self,
        items: impl IntoIterator<Item = T>,
        columns: usize,
        height: u32,
        draw: impl Fn(&Area<'_>, &T) -> Result<(), DrawError> + 'a,
    ) -> Vec<Content<'a>> {
        panels(items, self.columns(columns, 220), (height, false), draw)
    }

    /// Returns the number of columns of panels with at least `least` pixels, at most `wanted`.
    fn columns(self, wanted: usize, least: u32) -> usize {
        wanted.min((self.style.width / least).max(1) as usize)
    }
}

/// Returns how many letters of `size` pixels fit into a width.
pub fn letters(width: f64, size: f64) -> usize {
    (width / (size * 0.6)).max(1.0) as usize
}

/// Returns `text`, cut to a number of letters.
pub fn cut(text: &str, letters: usize) -> String {
    match text.chars().count() <= letters {
        true => text.to_owned(),
        false => text.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns `text` in lines of at most a number of letters, broken between words.
pub fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("at least one line");
        if line.is_empty() {
            *line = cut(word, letters);
        } else if line.chars().count() + 1 + word.chars().count() <= letters {
            *line = format!("{line} {word}");
        } else {
            lines.push(cut(word, letters));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_fonts_are_read() {
        let size = |text: &str| text.parse::<PlotSize>().map(|size| size.to_string());
        for (text, expected) in
            [("85mm", "85mm"), ("85x60mm", "85x60mm"), ("85mmx60.5mm", "85x60.5mm"), ("3.5in", "88.9mm")]
        {
            assert_eq!(size(text).as_deref(), Ok(expected));
        }
        for text in
            ["", "85", "mm", "-85mm", "85x", "x60mm", "1e9mm", "NaNmm", "85xinfmm", "29mm", "85x60xmm"]
        {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!("7.5pt".parse::<PlotFont>().map(|font| font.to_string()).as_deref(), Ok("7.5pt"));
        for text in ["", "8", "0pt", "61pt", "NaNpt"] {
            assert!(text.parse::<PlotFont>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_screen_has_the_pixels_of_its_drawing() {
        let style = Style::of(&PlotStyle::default());
        assert_eq!((style.width, style.shown(340)), (960, ("960".into(), "340".into())));
    }

    /// No text of a drawing is smaller than the least letters, and these have 7 points on paper.
    #[test]
    fn letters_on_paper_have_at_least_7_points() {
        let style = Style::of(&PlotStyle { medium: Medium::Paper, ..PlotStyle::default() });
        assert_eq!(style.shown(0).0, "85mm");
        assert!(style.least_text * style.pixel.unwrap() * MM / POINT >= 7.0);
    }
}
