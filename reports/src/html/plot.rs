//! Plots that the script draws from typed data. Without the script, a page shows the plots of `plots/*.svg`.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::page::{json, marked};
use crate::plots::{Drawing, Drawn};

/// Greatest size in bytes of a picture that a page holds in addition to the plot's data.
const MOST_BYTES: usize = 300_000;

/// Data of a plot.
#[derive(Serialize, Default)]
pub(super) struct Spec {
    /// Which file of the script draws it.
    pub kind: Kind,
    /// Name of its quantities.
    pub x: Axis,
    #[serde(skip_serializing_if = "Axis::is_unnamed")]
    pub y: Axis,
    /// Series of points, of `lines` and `scatter`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Lines across the plot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Names of the values of each row of `bars`, or of the columns of `heat`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Rows of `bars`, or of `heat`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// Names of the sets of rows of `heat`, one of which is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<String>,
    /// Whether the values of a row of `bars` add up.
    #[serde(skip_serializing_if = "is_false")]
    pub stacked: bool,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Way of drawing.
#[derive(Serialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Lines of y over x, with intervals.
    #[default]
    Lines,
    /// Points.
    Scatter,
    /// One bar, or one dot per value, for every row.
    Bars,
    /// Dots on a common axis for every row.
    Dots,
    /// Table of shaded cells.
    Heat,
    /// Events of every processing element of one layer, from the data of layers.
    Places,
}

/// Axis of a plot.
#[derive(Serialize, Default)]
pub(super) struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How its values are written.
    pub format: Format,
    /// Whether it is logarithmic at first; `None` if it has to be linear.
    pub log: Option<bool>,
}

/// How values are written.
#[derive(Serialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    /// Four significant digits.
    #[default]
    Number,
    /// Shares as percentages.
    Percent,
}

/// Series of points.
#[derive(Serialize, Default)]
pub(super) struct Series {
    pub name: String,
    pub points: Vec<Point>,
    /// Whether its points are connected, in a scatter plot.
    #[serde(skip_serializing_if = "is_false")]
    pub joined: bool,
    /// Layer that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
}

/// Point of a series.
#[derive(Serialize, Default, Clone)]
pub(super) struct Point {
    pub x: f64,
    pub y: Option<f64>,
    /// Ends of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
    /// Text next to its values.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<usize>,
}

/// Line across a plot at a value of x or y.
#[derive(Serialize, Default)]
pub(super) struct Mark {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Points of a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<[f64; 2]>,
}

/// Row of bars, or of cells.
#[derive(Serialize, Default)]
pub(super) struct Row {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    pub values: Vec<Option<f64>>,
    /// Index of its set of rows.
    #[serde(skip_serializing_if = "is_zero")]
    pub view: usize,
    /// Value of a line across the row: for bars a value, for cells the index of the column before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<f64>,
    /// Text next to its values.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl Axis {
    /// Returns a linear axis of plain numbers.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Returns the axis with a switch between a linear and a logarithmic scale.
    pub fn log(self, at_first: bool) -> Self {
        Self { log: Some(at_first), ..self }
    }

    /// Returns the axis for shares.
    pub fn percent(self) -> Self {
        Self { format: Format::Percent, ..self }
    }

    fn is_unnamed(&self) -> bool {
        self.label.is_empty()
    }
}

impl Spec {
    fn is_empty(&self) -> bool {
        match self.kind {
            Kind::Lines | Kind::Scatter => self.series.iter().all(|series| series.points.is_empty()),
            Kind::Bars | Kind::Dots | Kind::Heat => self.rows.is_empty(),
            Kind::Places => false,
        }
    }

    /// Returns the plot without the values that are 0 in every row.
    pub fn without_zeros(mut self) -> Self {
        let used: Vec<bool> = (0..self.names.len())
            .map(|at| self.rows.iter().any(|row| row.values[at].is_some_and(|value| value != 0.0)))
            .collect();
        let kept = |at: usize| used.get(at).copied().unwrap_or(true);
        let mut at = 0..;
        self.names.retain(|_| at.next().is_some_and(kept));
        for row in &mut self.rows {
            let mut at = 0..;
            row.values.retain(|_| at.next().is_some_and(kept));
        }
        self
    }

    /// Returns the plot under a title; nothing without data. `instead` is what a page without a script shows.
    pub fn figure(&self, title: &str, caption: &str, instead: Option<&str>) -> Markup {
        if self.is_empty() {
            return html! {};
        }
        html! {
            figure.plot {
                figcaption { strong { (title) } @if !caption.is_empty() { span { (marked(caption)) } } }
                script type="application/json" { (PreEscaped(json(self))) }
                @if let Some(svg) = instead { noscript {
                    @if svg.len() <= MOST_BYTES { (PreEscaped(svg)) } @else { p.note { "A file in plots/ shows this plot." } }
                } }
                @if let Some(note) = &self.note { p.note { (marked(note)) } }
            }
        }
    }
}

/// Returns the SVG document of a plot, if it shows anything.
pub(super) fn svg_of<'a, S: ?Sized>(drawn: &'a [Drawn<S>], name: &str) -> Option<&'a str> {
    let found = drawn.iter().find(|drawn| drawn.plot.name == name)?;
    matches!(found.drawing, Drawing::Figure(_)).then_some(found.svg.as_str())
}

/// Returns a drawn plot as it is; nothing if it shows nothing.
pub(super) fn picture<S: ?Sized>(drawn: &[Drawn<S>], name: &str) -> Markup {
    let found = drawn.iter().find(|drawn| drawn.plot.name == name);
    html! {
        @if let (Some(svg), Some(found)) = (svg_of(drawn, name), found) {
            figure.picture {
                figcaption { strong { (found.plot.title) } span { (found.plot.caption) } }
                div.sheet role="img" aria-label=(found.plot.title) tabindex="0" { (PreEscaped(svg)) }
            }
        }
    }
}
