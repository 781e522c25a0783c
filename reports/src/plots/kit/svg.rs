//! SVG documents with decimals and real dashes, as a backend of plotters.
//!
//! plotters places everything at whole positions. The grid of these positions is finer than a pixel, and
//! documents have the positions in pixels, with decimals.

use std::convert::Infallible;
use std::fmt::Write as _;

use plotters::element::{Drawable, PointCollection};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

/// Size of the bounding box of letters, which plotters expects, as a multiple of that of the letters.
pub const BOUNDING: f64 = 1.24;

/// Positions per pixel.
const GRID: i32 = 100;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// Returns the position on the grid of a number of pixels.
pub fn grid(pixels: f64) -> i32 {
    (pixels * f64::from(GRID)).round() as i32
}

/// Returns the number of pixels of a position on the grid.
pub fn pixels(grid: i32) -> f64 {
    f64::from(grid) / f64::from(GRID)
}

/// Document that is being drawn.
pub struct Svg<'a> {
    document: &'a mut String,
    size: (u32, u32),
    is_open: bool,
}

impl<'a> Svg<'a> {
    /// Begins a document of `size` pixels, which is shown at `shown`: a width and a height with their unit.
    pub fn begin(document: &'a mut String, size: (u32, u32), shown: &(String, String)) -> Self {
        let ((width, height), (shown_width, shown_height)) = (size, shown);
        let _ = writeln!(
            document,
            "<svg width=\"{shown_width}\" height=\"{shown_height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">"
        );
        Self { document, size: (width * GRID as u32, height * GRID as u32), is_open: true }
    }

    fn points(&mut self, points: impl IntoIterator<Item = BackendCoord>) {
        for (at, (x, y)) in points.into_iter().enumerate() {
            let gap = if at == 0 { "" } else { " " };
            let _ = write!(self.document, "{gap}{},{}", Pixels(x), Pixels(y));
        }
    }

    fn shape(&mut self, kind: &Kind, points: impl Iterator<Item = BackendCoord>) {
        match *kind {
            Kind::Line { color, width, dash } => {
                let _ = write!(
                    self.document,
                    "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"",
                    Color(color)
                );
                if let Some((dash, gap)) = dash {
                    let _ = write!(self.document, " stroke-dasharray=\"{dash},{gap}\"");
                }
                self.document.push_str(" points=\"");
                self.points(points);
            }
            Kind::Fill(color) => {
                let _ = write!(self.document, "<polygon fill=\"{}\" points=\"", Color(color));
                self.points(points);
            }
            Kind::Box { fill, stroke } => {
                let [(x0, y0), (x1, y1)] = ends(points);
                let _ = write!(
                    self.document,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}",
                    Pixels(x0.min(x1)),
                    Pixels(y0.min(y1)),
                    Pixels((x1 - x0).abs()),
                    Pixels((y1 - y0).abs())
                );
                let paint =
                    |color: Option<RGBColor>| color.map_or("none".into(), |color| Color(color).to_string());
                let _ = write!(self.document, "\" fill=\"{}\" stroke=\"{}", paint(fill), paint(stroke));
            }
            Kind::Circle { color, radius } => {
                let [(x, y), _] = ends(points);
                let _ = write!(
                    self.document,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" fill=\"{}",
                    Pixels(x),
                    Pixels(y),
                    Color(color)
                );
            }
        }
        self.document.push_str("\"/>\n");
    }
}

/// Returns the first and the last point.
fn ends(mut points: impl Iterator<Item = BackendCoord>) -> [BackendCoord; 2] {
    let first = points.next().unwrap_or_default();
    [first, points.last().unwrap_or(first)]
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        if std::mem::take(&mut self.is_open) {
            self.document.push_str("</svg>\n");
        }
        Ok(())
    }

    /// Draws nothing: plots have no elements of single positions.
    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Drawn {
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let color = Some(rgb(style.color()));
        let (fill, stroke) = if fill { (color, None) } else { (None, color) };
        self.shape(&Kind::Box { fill, stroke }, [from, to].into_iter());
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if style.color().alpha > 0.0 {
            let (color, width) = (rgb(style.color()), pixels(style.stroke_width() as i32));
            self.shape(&Kind::Line { color, width, dash: None }, path.into_iter());
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        if text.is_empty() {
            return Ok(());
        }
        let (anchor, (x, y)) = (style.anchor(), (Pixels(x), Pixels(y)));
        let side = match anchor.h_pos {
            HPos::Left => "start",
            HPos::Right => "end",
            HPos::Center => "middle",
        };
        let below = match anchor.v_pos {
            VPos::Top => "0.76em",
            VPos::Center => "0.5ex",
            VPos::Bottom => "-0.5ex",
        };
        // plotters' sizes are those of the bounding box.
        let size = (style.size() / f64::from(GRID) / BOUNDING * 100.0).round() / 100.0;
        let turned = match style.transform() {
            FontTransform::None => String::new(),
            FontTransform::Rotate90 => format!(" transform=\"rotate(90, {x}, {y})\""),
            FontTransform::Rotate180 => format!(" transform=\"rotate(180, {x}, {y})\""),
            FontTransform::Rotate270 => format!(" transform=\"rotate(270, {x}, {y})\""),
        };
        let _ = write!(
            self.document,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{below}\" text-anchor=\"{side}\" font-family=\"{}\" \
             font-size=\"{size}\" fill=\"{}\"{turned}>",
            style.family().as_str(),
            Color(rgb(style.color())),
        );
        for c in text.chars() {
            match c {
                '<' => self.document.push_str("&lt;"),
                '>' => self.document.push_str("&gt;"),
                '&' => self.document.push_str("&amp;"),
                '"' => self.document.push_str("&quot;"),
                '\'' => self.document.push_str("&apos;"),
                c => self.document.push(c),
            }
        }
        self.document.push_str("</text>\n");
        Ok(())
    }
}

fn rgb(color: BackendColor) -> RGBColor {
    RGBColor(color.rgb.0, color.rgb.1, color.rgb.2)
}

/// Shape with its points on the grid.
pub struct Shape {
    pub points: Vec<BackendCoord>,
    pub kind: Kind,
}

/// Kind of a shape. Lengths are in pixels.
pub enum Kind {
    /// Line through all points; `dash` has the lengths of the dashes and of the gaps between them.
    Line { color: RGBColor, width: f64, dash: Option<(f64, f64)> },
    /// Filled area between all points.
    Fill(RGBColor),
    /// Rectangle between two points.
    Box { fill: Option<RGBColor>, stroke: Option<RGBColor> },
    /// Filled circle around a point.
    Circle { color: RGBColor, radius: f64 },
}

impl<'a> PointCollection<'a, BackendCoord> for &'a Shape {
    type Point = &'a BackendCoord;
    type IntoIter = &'a [BackendCoord];

    fn point_iter(self) -> Self::IntoIter {
        &self.points
    }
}

impl Drawable<Svg<'_>> for Shape {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, points: I, svg: &mut Svg<'_>, _: (u32, u32)) -> Drawn {
        svg.shape(&self.kind, points);
        Ok(())
    }
}

/// Position on the grid, shown in pixels.
struct Pixels(i32);

impl std::fmt::Display for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", pixels(self.0))
    }
}

/// Colour as SVG writes it.
struct Color(RGBColor);

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RGBColor(red, green, blue) = self.0;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}
