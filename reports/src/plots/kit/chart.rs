//! Panel with two axes.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{Cartesian2d, SVGBackend};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::figure::{Area, DrawError, text};
use super::scale::Scale;
use super::style::{GREY, INK, Look, Marker, PALE, font, thin};

/// Font size of notes, in pixels.
const NOTE: f64 = 10.5;

/// Returns candidate positions of a note, the best first: distances in pixels from its point, and the side of
/// the text that faces the point.
fn beside() -> impl Iterator<Item = (i32, i32, HPos)> {
    [10, 18, 26, 34, 46, 58].into_iter().flat_map(|far| {
        [(8, far, HPos::Left), (8, -far, HPos::Left), (-8, far, HPos::Right), (-8, -far, HPos::Right)]
    })
}

/// Rectangle of pixels that something covers.
struct Covered {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Covered {
    fn marker((x, y): (i32, i32)) -> Self {
        Self { left: x - 7, right: x + 7, top: y - 5, bottom: y + 5 }
    }

    fn text(text: &str, (x, y): (i32, i32), side: HPos) -> Self {
        let width = (text.chars().count() as f64 * 0.6 * NOTE) as i32;
        let left = if matches!(side, HPos::Left) { x } else { x - width };
        Self { left, right: left + width, top: y - 6, bottom: y + 6 }
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
    context: ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>,
    x: Scale,
    y: Scale,
}

impl Axis {
    /// Returns an axis.
    pub fn new(title: impl Into<String>, scale: Scale) -> Self {
        Self { title: title.into(), scale }
    }
}

/// Draws a panel with grid, ticks and titles; `note` is a smaller line below the title.
pub fn chart<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    note: &str,
    x: &Axis,
    y: &Axis,
) -> Result<Chart<'a, 'b>, DrawError> {
    let longest = y.scale.ticks.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0) as u32;
    let mut context = ChartBuilder::on(area)
        .margin_top(8 + if title.is_empty() { 0 } else { 18 } + if note.is_empty() { 0 } else { 16 })
        .margin_right(18)
        .margin_bottom(6)
        .x_label_area_size(42)
        .y_label_area_size(28 + 7 * longest)
        .build_cartesian_2d(x.scale.clone(), y.scale.clone())?;
    context
        .configure_mesh()
        .bold_line_style(PALE)
        .light_line_style(PALE.mix(0.0))
        .axis_style(thin(GREY))
        .label_style(font(11.0, INK, (HPos::Center, VPos::Center)))
        .axis_desc_style(font(11.5, INK, (HPos::Center, VPos::Center)))
        .x_desc(&x.title)
        .y_desc(&y.title)
        .draw()?;
    text(area, title, 12.5, INK, (HPos::Left, VPos::Center), (10, 12))?;
    text(area, note, 10.5, GREY, (HPos::Left, VPos::Center), (10, 29))?;
    let chart = Chart { area, context, x: x.scale.clone(), y: y.scale.clone() };
    chart.splits()?;
    Ok(chart)
}

impl Chart<'_, '_> {
    /// Draws a line through points, with markers.
    pub fn line(&mut self, points: &[(f64, f64)], look: Look) -> Result<(), DrawError> {
        let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (self.x.at(x), self.y.at(y))).collect();
        let style = look.color.stroke_width(2);
        match look.dash {
            None => {
                self.context.draw_series(LineSeries::new(places.iter().copied(), style))?;
            }
            Some((dash, gap)) => {
                self.context.draw_series(DashedLineSeries::new(places.iter().copied(), dash, gap, style))?;
            }
        }
        self.points(points, look)
    }

    /// Draws a thin line through points, without markers.
    pub fn outline(&mut self, points: &[(f64, f64)], color: RGBColor) -> Result<(), DrawError> {
        let places = points.iter().map(|&(x, y)| (self.x.at(x), self.y.at(y)));
        self.context.draw_series(LineSeries::new(places.collect::<Vec<_>>(), color.stroke_width(1)))?;
        Ok(())
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
            vec![low, high],
            vec![(low.0 - 3, low.1), (low.0 + 3, low.1)],
            vec![(high.0 - 3, high.1), (high.0 + 3, high.1)],
        ];
        pieces
            .into_iter()
            .try_for_each(|piece| self.area.draw(&PathElement::new(piece, color.stroke_width(1))))?;
        Ok(())
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
        self.area.draw(&Rectangle::new(corners, fill.filled()))?;
        if let Some(edge) = edge {
            self.area.draw(&Rectangle::new(corners, thin(edge)))?;
        }
        Ok(())
    }

    /// Draws a dashed vertical line across the panel at a position of the x axis.
    pub fn upright(&self, x: f64, color: RGBColor) -> Result<(), DrawError> {
        self.dashes((x, self.y.range.0), (x, self.y.range.1), color, 2)
    }

    /// Draws a dashed horizontal line across the panel at a value of the y axis.
    pub fn level(&self, y: f64, color: RGBColor) -> Result<(), DrawError> {
        let y = self.y.at(y);
        self.dashes((self.x.range.0, y), (self.x.range.1, y), color, 2)
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
        text(self.area, note, NOTE, color, anchor, (x + offset.0, y + offset.1))
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
            let covered = |&(dx, dy, side): &(i32, i32, HPos)| Covered::text(note, (x + dx, y + dy), side);
            let worth = |beside: &(i32, i32, HPos)| {
                let own = covered(beside);
                (!inside(&own), taken.iter().filter(|other| own.meets(other)).count())
            };
            let Some(beside) = beside().min_by_key(worth) else { continue };
            taken.push(covered(&beside));
            let (dx, dy, side) = beside;
            text(self.area, note, NOTE, color, (side, VPos::Center), (x + dx, y + dy))?;
        }
        Ok(())
    }

    fn splits(&self) -> Result<(), DrawError> {
        if let Some(y) = self.y.split {
            self.dashes((self.x.range.0, y), (self.x.range.1, y), GREY, 1)?;
        }
        if let Some(x) = self.x.split {
            self.dashes((x, self.y.range.0), (x, self.y.range.1), GREY, 1)?;
        }
        Ok(())
    }

    fn dashes(&self, from: (f64, f64), to: (f64, f64), color: RGBColor, width: u32) -> Result<(), DrawError> {
        let (from, to) = (self.pixel(from), self.pixel(to));
        let length = (to.0 - from.0).abs().max((to.1 - from.1).abs());
        let along = |t: i32| {
            let step = |a: i32, b: i32| a + (b - a) * t.min(length) / length.max(1);
            (step(from.0, to.0), step(from.1, to.1))
        };
        for start in (0..length).step_by(8) {
            let dash = vec![along(start), along(start + 5)];
            self.area.draw(&PathElement::new(dash, color.stroke_width(width)))?;
        }
        Ok(())
    }

    /// Returns the pixel of a position, relative to the panel's own area.
    fn pixel(&self, place: (f64, f64)) -> (i32, i32) {
        let (x, y) = self.context.plotting_area().map_coordinate(&place);
        let (left, top) = self.area.get_base_pixel();
        (x - left, y - top)
    }
}

/// Draws a marker at a pixel.
pub fn marker(area: &Area<'_>, look: Look, (x, y): (i32, i32)) -> Result<(), DrawError> {
    let fill = look.color.filled();
    let line = |dx0: i32, dy0: i32, dx1: i32, dy1: i32| {
        let ends = vec![(x + dx0, y + dy0), (x + dx1, y + dy1)];
        area.draw(&PathElement::new(ends, look.color.stroke_width(2)))
    };
    match look.marker {
        Marker::Circle => area.draw(&Circle::new((x, y), 4, fill))?,
        Marker::Square => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], fill))?,
        Marker::Triangle => {
            area.draw(&Polygon::new(vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)], fill))?
        }
        Marker::Diamond => {
            area.draw(&Polygon::new(vec![(x, y - 6), (x + 5, y), (x, y + 6), (x - 5, y)], fill))?
        }
        Marker::Cross => {
            line(-4, -4, 4, 4)?;
            line(-4, 4, 4, -4)?;
        }
        Marker::Plus => {
            line(-5, 0, 5, 0)?;
            line(0, -5, 0, 5)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::kit::{Content, figure};

    /// Returns the places of the texts in a chart with these notes, at half of their height.
    fn places(notes: &[(&str, (f64, f64))]) -> Vec<(String, Covered)> {
        let notes: Vec<_> = notes.iter().map(|(note, place)| ((*note).to_owned(), *place)).collect();
        let markers: Vec<_> = notes.iter().map(|(_, place)| *place).collect();
        let axis = Axis::new("", Scale::between(0.0, 100.0));
        let content = Content::new(300, |area| {
            let chart = chart(area, "", "", &axis, &axis)?;
            chart.notes(&notes, &markers, INK)
        });
        let svg = figure("", "", &[content]).unwrap();
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
            assert!(own.right < 960 && own.bottom < 360, "{note}");
        }
    }
}
