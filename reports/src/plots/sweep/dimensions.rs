//! Settings that distinguish the points of a sweep.

use std::collections::HashSet;

use crate::tables::short_key;
use crate::{Fraction, PointRecord};

/// Setting that differs among points: an axis, network, accelerator, width or overflow mode.
pub(super) struct Dimension<'a> {
    /// Name in tables.
    pub name: &'a str,
    /// Value of every point.
    pub of: Vec<String>,
}

impl Dimension<'_> {
    /// Returns the distinct values, in the order of the points.
    pub fn values(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.of.iter().map(String::as_str).filter(|value| seen.insert(*value)).collect()
    }

    /// Returns the name in plots.
    pub fn short_name(&self) -> String {
        short_key(self.name)
    }

    /// Returns the title of an axis of its values: what they are, with their unit.
    pub fn axis(&self) -> String {
        axis_title(self.name)
    }

    /// Returns the value of every point as a number, if all values are numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let number = |value: &String| value.parse::<f64>().ok().filter(|number| number.is_finite());
        self.of.iter().map(number).collect()
    }
}

/// Returns every setting that differs among points, the axes last. A setting that repeats an axis is left
/// out.
pub(super) fn dimensions(points: &[PointRecord]) -> Vec<Dimension<'_>> {
    let of = |name, value: &dyn Fn(&PointRecord) -> String| Dimension {
        name,
        of: points.iter().map(value).collect(),
    };
    let axes = points.first().map_or(&[][..], |point| point.parameters.as_slice()).iter().enumerate();
    let axes: Vec<Dimension<'_>> =
        axes.map(|(axis, one)| of(&one.key, &|point| point.parameters[axis].value.clone())).collect();
    let own = [
        of("model", &|point| point.summary.model.clone()),
        of("hw", &|point| point.summary.hw.clone()),
        of("overflow", &|point| point.summary.overflow.clone()),
        of("bits", &|point| point.summary.bits.map_or(String::new(), |bits| bits.to_string())),
    ];
    // An axis with the setting's name repeats it: always for `model` and `hw`, otherwise if the values are
    // equal.
    let is_axis = |own: &Dimension<'_>| {
        axes.iter().any(|axis| {
            let names = axis.name == own.name || axis.name.ends_with(&format!(".{}", own.name));
            names && (axis.of == own.of || own.name == "hw" || own.name == "model")
        })
    };
    let own: Vec<Dimension<'_>> = own.into_iter().filter(|own| !is_axis(own)).collect();
    own.into_iter().chain(axes).filter(|dimension| dimension.values().len() > 1).collect()
}

/// Returns the title of an axis for the values of a setting.
pub(in crate::plots) fn axis_title(name: &str) -> String {
    let short = short_key(name);
    match short.strip_suffix(".bits") {
        Some(level) => format!("width of {level} (bits)"),
        None if name == "bits" => "accumulator width (bits)".into(),
        None => short,
    }
}

/// Share of a point that a plot shows.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    Accuracy,
    Agreement,
}

impl Shown {
    /// Returns the accuracy if there are labels, otherwise the agreement; `None` if nothing is classified.
    pub fn of(points: &[PointRecord]) -> Option<Self> {
        let any = |shown: Self| points.iter().any(|point| shown.share(point).is_some());
        [Self::Accuracy, Self::Agreement].into_iter().find(|&shown| any(shown))
    }

    /// Returns the name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "top-1 accuracy",
            Self::Agreement => "top-1 agreement with the exact network",
        }
    }

    /// Returns the name for an axis.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Accuracy => "top-1 accuracy",
            Self::Agreement => "top-1 agreement",
        }
    }

    /// Returns the accuracies of the exact networks of these points, each once; none for the agreement, which
    /// an exact network has with itself.
    pub fn exact(self, points: &[PointRecord]) -> Vec<Fraction> {
        let mut all: Vec<Fraction> = Vec::new();
        if matches!(self, Self::Accuracy) {
            for exact in points.iter().filter_map(|point| point.summary.accuracy_exact) {
                if all.iter().all(|known| known.value() != exact.value()) {
                    all.push(exact);
                }
            }
        }
        all
    }

    /// Returns the share of a point.
    pub fn share(self, point: &PointRecord) -> Option<Fraction> {
        match self {
            Self::Accuracy => point.summary.accuracy,
            Self::Agreement => point.summary.top1_agreement,
        }
    }

    /// Returns both ends of the share's interval.
    pub fn ends(self, point: &PointRecord) -> Option<(f64, f64)> {
        let row = &point.summary;
        let (low, high) = match self {
            Self::Accuracy => (row.accuracy_low, row.accuracy_high),
            Self::Agreement => (row.agreement_low, row.agreement_high),
        };
        Some((low?.value(), high?.value()))
    }
}

/// Reason shown if only one register is varied.
pub(super) const NOTHING_VARIED: &str = "Only one register is varied.";
/// Reason shown if nothing is classified.
pub(super) const NOTHING_CLASSIFIED: &str =
    "Accuracy and agreement are defined for classes, in propagated mode only.";
