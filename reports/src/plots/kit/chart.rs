//! Panel with two axes.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::prelude::Cartesian2d;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::area::Area;
use super::figure::DrawError;
use super::scale::Scale;
use super::sheet::{cut, letters};
use super::style::{GREY, INK, Look, Marker, PALE, font, thin};
use super::svg::{Svg, grid, pixels};

/// Font size of notes, in pixels.
const NOTE: f64 = 10.5;
/// Font size of the names of ticks, in pixels.
const LABEL: f64 = 11.0;
/// Room at the right, at the bottom, and for the names of an x axis with its title, in pixels.
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 6.0;
const BELOW: f64 = 42.0;

/// Returns candidate positions of a note, the best first: distances in pixels from its point, and the side of
/// the text that faces the point.
fn beside() -> impl Iterator<Item = (f64, f64, HPos)> {
    [10.0, 18.0, 26.0, 34.0, 46.0, 58.0].into_iter().flat_map(|far| {
        [(8.0, far, HPos::Left), (8.0, -far, HPos::Left), (-8.0, far, HPos::Right), (-8.0, -far, HPos::Right)]
    })
}

/// Rectangle of pixels that something covers.
struct Covered {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Covered {
    fn marker((x, y): (f64, f64)) -> Self {
        Self { left: x - 7.0, right: x + 7.0, top: y - 5.0, bottom: y + 5.0 }
    }

    fn text(text: &str, (x, y): (f64, f64), side: HPos) -> Self {
        let width = text.chars().count() as f64 * 0.6 * NOTE;
        let left = if matches!(side, HPos::Left) { x } else { x - width };
        Self { left, right: left + width, top: y - 6.0, bottom: y + 6.0 }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Title: the quantity with its unit.
    pub title: String,
    /// Mapping from values to positions.
    pub scale: Scale,
}

/// Panel on which series are drawn. Coordinates are values of the axes, not positions.
pub struct Chart<'a, 'b> {
    area: &'a Area<'b>,
    context: ChartContext<'a, Svg<'b>, Cartesian2d<Scale, Scale>>,
    x: Scale,
    y: Scale,
}

impl Axis {
    /// Returns an axis.
    pub fn new(title: impl Into<String>, scale: Scale) -> Self {
        Self { title: title.into(), scale }
    }
}

/// Draws a panel with grid, ticks and titles; `note` is a smaller line below the title. What does not fit into
/// the panel is cut, and names of ticks that would touch each other are left out.
pub fn chart<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    note: &str,
    x: &Axis,
    y: &Axis,
) -> Result<Chart<'a, 'b>, DrawError> {
    let (width, height) = area.size();
    let least = area.style.least_text;
    let top = 8 + if title.is_empty() { 0 } else { 18 } + if note.is_empty() { 0 } else { 16 };
    let (x_scale, mut y_scale) = (x.scale.clone(), y.scale.clone());
    y_scale.cut_names(letters(0.45 * width - 28.0, LABEL));
    let longest = y_scale.ticks.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0) as u32;
    let left = 28 + 7 * longest;
    let x_scale = x_scale
        .thinned(width - f64::from(left) - RIGHT, |name| name.chars().count() as f64 * 0.62 * LABEL + 5.0);
    let room = height - f64::from(top) - BOTTOM - BELOW;
    let y_scale = y_scale.thinned(room, |_| 1.1 * LABEL);
    let grid = |pixels: f64| grid(pixels).max(0) as u32;
    let mut context = ChartBuilder::on(&area.drawn)
        .margin_top(grid(f64::from(top)))
        .margin_right(grid(RIGHT))
        .margin_bottom(grid(BOTTOM))
        .x_label_area_size(grid(BELOW))
        .y_label_area_size(grid(f64::from(left)))
        .build_cartesian_2d(x_scale.clone(), y_scale.clone())?;
    let middle = (HPos::Center, VPos::Center);
    // The title of the y axis may be longer than the axis, but not than the panel.
    let middle_y = f64::from(top) + room / 2.0;
    context
        .configure_mesh()
        .set_all_tick_mark_size(grid(5.0))
        .bold_line_style(thin(PALE))
        .light_line_style(PALE.mix(0.0))
        .axis_style(thin(GREY))
        .label_style(font(LABEL.max(least), INK, middle))
        .axis_desc_style(font(11.5, INK, middle))
        .x_desc(cut(&x.title, letters(width - f64::from(left), 11.5)))
        .y_desc(cut(&y.title, letters(2.0 * middle_y.min(height - middle_y), 11.5)))
        .draw()?;
    let at_left = (HPos::Left, VPos::Center);
    area.text(&cut(title, letters(width - 10.0, 12.5)), 12.5, INK, at_left, (10, 12))?;
    area.text(
        &cut(note, letters(width - 10.0, NOTE)),
        NOTE,
        GREY,
        at_left,
        (10, if title.is_empty() { 12 } else { 29 }),
    )?;
    let chart = Chart { area, context, x: x_scale, y: y_scale };
    chart.splits()?;
    Ok(chart)
}

impl Chart<'_, '_> {
    /// Draws a line through points, with markers.
    pub fn line(&mut self, points: &[(f64, f64)], look: Look) -> Result<(), DrawError> {
        self.path(points, look.color, 2.0, look.dash)?;
        self.points(points, look)
    }

    /// Draws a thin line through points, without markers.
    pub fn outline(&mut self, points: &[(f64, f64)], color: RGBColor) -> Result<(), DrawError> {
        self.path(points, color, 1.0, None)
    }

    fn path(
        &self,
        points: &[(f64, f64)],
        color: RGBColor,
        width: f64,
        dash: Option<(f64, f64)>,
    ) -> Result<(), DrawError> {
        let places = points.iter().map(|&(x, y)| self.pixel((self.x.at(x), self.y.at(y))));
        self.area.line(places.collect::<Vec<_>>(), color, width, dash)
    }

    /// Draws markers without a line.
    pub fn points(&mut self, points: &[(f64, f64)], look: Look) -> Result<(), DrawError> {
        for &(x, y) in points {
            marker(self.area, look, self.pixel((self.x.at(x), self.y.at(y))))?;
        }
        Ok(())
    }

    /// Draws a vertical interval at `x`: a thin line with a bar at either end.
    pub fn whisker(&self, x: f64, (low, high): (f64, f64), color: RGBColor) -> Result<(), DrawError> {
        let at = |y: f64| self.pixel((self.x.at(x), self.y.at(y)));
        let (low, high) = (at(low), at(high));
        let pieces = [
            [low, high],
            [(low.0 - 3.0, low.1), (low.0 + 3.0, low.1)],
            [(high.0 - 3.0, high.1), (high.0 + 3.0, high.1)],
        ];
        pieces.into_iter().try_for_each(|piece| self.area.line(piece, color, 1.0, None))
    }

    /// Draws a box between two points; `edge` is the colour of its outline.
    pub fn bar(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        fill: RGBColor,
        edge: Option<RGBColor>,
    ) -> Result<(), DrawError> {
        let corners = [self.pixel(from), self.pixel(to)];
        self.area.fill(corners, fill)?;
        edge.map_or(Ok(()), |edge| self.area.frame(corners, edge))
    }

    /// Draws a dashed vertical line across the panel at a position of the x axis.
    pub fn upright(&self, x: f64, color: RGBColor) -> Result<(), DrawError> {
        self.dashes((x, self.y.range.0), (x, self.y.range.1), color, 2.0)
    }

    /// Draws a dashed horizontal line across the panel at a value of the y axis.
    pub fn level(&self, y: f64, color: RGBColor) -> Result<(), DrawError> {
        let y = self.y.at(y);
        self.dashes((self.x.range.0, y), (self.x.range.1, y), color, 2.0)
    }

    /// Returns the lowest position of the y axis.
    pub fn ground(&self) -> f64 {
        self.y.range.0
    }

    /// Returns the highest position of the y axis.
    pub fn ceiling(&self) -> f64 {
        self.y.range.1
    }

    /// Returns the last position of the x axis.
    pub fn end(&self) -> f64 {
        self.x.range.1
    }

    /// Returns the position of a value on the y axis.
    pub fn height(&self, y: f64) -> f64 {
        self.y.at(y)
    }

    /// Writes text at an offset in pixels from a position.
    pub fn note(
        &self,
        note: &str,
        place: (f64, f64),
        offset: (i32, i32),
        anchor: (HPos, VPos),
        color: RGBColor,
    ) -> Result<(), DrawError> {
        let (x, y) = self.pixel(place);
        self.area.text(note, NOTE, color, anchor, (x + f64::from(offset.0), y + f64::from(offset.1)))
    }

    /// Writes texts next to their positions. Each is placed so that it covers neither another text nor one of
    /// `markers`, if such a place exists.
    pub fn notes(
        &self,
        notes: &[(String, (f64, f64))],
        markers: &[(f64, f64)],
        color: RGBColor,
    ) -> Result<(), DrawError> {
        let ((left, low), (right, high)) =
            (self.pixel((self.x.range.0, self.y.range.0)), self.pixel((self.x.range.1, self.y.range.1)));
        let inside =
            |one: &Covered| one.left > left && one.right <= right && one.top >= high && one.bottom < low;
        let markers = markers.iter().map(|&place| Covered::marker(self.pixel(place)));
        let mut taken: Vec<Covered> = markers.collect();
        for (note, place) in notes {
            let (x, y) = self.pixel(*place);
            let covered = |&(dx, dy, side): &(f64, f64, HPos)| Covered::text(note, (x + dx, y + dy), side);
            let worth = |beside: &(f64, f64, HPos)| {
                let own = covered(beside);
                (!inside(&own), taken.iter().filter(|other| own.meets(other)).count())
            };
            let Some(beside) = beside().min_by_key(worth) else { continue };
            taken.push(covered(&beside));
            let (dx, dy, side) = beside;
            self.area.text(note, NOTE, color, (side, VPos::Center), (x + dx, y + dy))?;
        }
        Ok(())
    }

    fn splits(&self) -> Result<(), DrawError> {
        if let Some(y) = self.y.split {
            self.dashes((self.x.range.0, y), (self.x.range.1, y), GREY, 1.0)?;
        }
        if let Some(x) = self.x.split {
            self.dashes((x, self.y.range.0), (x, self.y.range.1), GREY, 1.0)?;
        }
        Ok(())
    }

    fn dashes(&self, from: (f64, f64), to: (f64, f64), color: RGBColor, width: f64) -> Result<(), DrawError> {
        self.area.line([self.pixel(from), self.pixel(to)], color, width, Some((5.0, 3.0)))
    }

    /// Returns the pixel of a position, relative to the panel's own area.
    fn pixel(&self, place: (f64, f64)) -> (f64, f64) {
        let (x, y) = self.context.plotting_area().map_coordinate(&place);
        let (left, top) = self.area.drawn.get_base_pixel();
        (pixels(x - left), pixels(y - top))
    }
}

/// Draws a marker at a pixel.
pub fn marker(area: &Area<'_>, look: Look, (x, y): (f64, f64)) -> Result<(), DrawError> {
    let line = |dx: f64, dy: f64| area.line([(x - dx, y - dy), (x + dx, y + dy)], look.color, 2.0, None);
    match look.marker {
        Marker::Circle => area.circle((x, y), 4.0, look.color),
        Marker::Square => area.fill([(x - 4.0, y - 4.0), (x + 4.0, y + 4.0)], look.color),
        Marker::Triangle => area.polygon([(x, y - 5.0), (x + 5.0, y + 4.0), (x - 5.0, y + 4.0)], look.color),
        Marker::Diamond => area.polygon([(x, y - 6.0), (x + 5.0, y), (x, y + 6.0), (x - 5.0, y)], look.color),
        Marker::Cross => {
            line(4.0, 4.0)?;
            line(4.0, -4.0)
        }
        Marker::Plus => {
            line(5.0, 0.0)?;
            line(0.0, 5.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::PlotStyle;
    use crate::plots::kit::{Content, Sheet, Style, figure};

    /// Returns the places of the texts in a chart with these notes, at half of their height.
    fn places(notes: &[(&str, (f64, f64))]) -> Vec<(String, Covered)> {
        let notes: Vec<_> = notes.iter().map(|(note, place)| ((*note).to_owned(), *place)).collect();
        let markers: Vec<_> = notes.iter().map(|(_, place)| *place).collect();
        let axis = Axis::new("", Scale::between(0.0, 100.0));
        let content = Content::new(300, |area| {
            let chart = chart(area, "", "", &axis, &axis)?;
            chart.notes(&notes, &markers, INK)
        });
        let svg =
            figure(Sheet { title: "", style: Style::of(&PlotStyle::default()) }, "", &[content]).unwrap();
        let text = |element: &str| {
            let attribute = |name: &str| element.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
            let side = if attribute("text-anchor") == Some("end") { HPos::Right } else { HPos::Left };
            let at = (attribute("x")?.parse().ok()?, attribute("y")?.parse().ok()?);
            let said = element.split('>').nth(1)?.split('<').next()?.trim().to_owned();
            notes
                .iter()
                .any(|(note, _)| *note == said)
                .then(|| (said.clone(), Covered::text(&said, at, side)))
        };
        svg.split("<text").filter_map(text).collect()
    }

    /// The points lie close together, as those of similar layers or designs do.
    #[test]
    fn notes_cover_neither_each_other_nor_stand_outside() {
        let close = [
            ("layer a", (50.0, 50.0)),
            ("layer b", (50.4, 50.0)),
            ("layer c", (51.0, 50.5)),
            ("corner d", (99.9, 0.1)),
        ];
        let places = places(&close);
        assert_eq!(places.len(), close.len());
        for (at, (note, own)) in places.iter().enumerate() {
            assert!(places[..at].iter().all(|(_, other)| !own.meets(other)), "{note}");
            assert!(own.right < 960.0 && own.bottom < 360.0, "{note}");
        }
    }
}
