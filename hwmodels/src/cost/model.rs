//! Checked cost model, and its figures for one part.

use std::collections::BTreeMap;
use std::fmt;

use guardbit_num::Overflow;

use super::parts::{Item, Part, Variable};
use crate::Reduce;
use crate::expression::{Expression, Quantity};

/// Figures of the parts of accelerators, from one source. A figure that the model does not provide is `None`
/// everywhere; nothing is estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// Name as shown with each figure, including the technology to which the model was scaled.
    pub name: String,
    /// Description of one line, for lists.
    pub description: String,
    /// Source of the figures.
    pub source: String,
    /// Unit of areas; empty if the model has none. Energies are in picojoules.
    pub area_unit: String,
    /// Technology of the figures in nanometres, if they can be scaled to another one.
    pub node_nm: Option<f64>,
    /// Costs that none of the figures covers, in words.
    pub leaves_out: String,
    /// Figures in the order of the file. For a part, the first figure that fits is used; for an array, all of
    /// them.
    pub figures: Vec<Figure>,
    /// Factors of energies and areas for figures that scale.
    pub(super) scale: Option<[f64; 2]>,
}

/// Figure of one kind of part.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Kind of part.
    pub part: Part,
    /// Name of the part, or aspect of the array.
    pub of: String,
    /// Overflow modes to which it applies; empty for any.
    pub overflow: Vec<Overflow>,
    /// Kinds of levels to which it applies; empty for any.
    pub reduce: Vec<Reduce>,
    /// Bounds of variables within which it is valid.
    pub ranges: Vec<(Variable, [f64; 2])>,
    /// Energy of one access in picojoules.
    pub energy: Option<Formula>,
    /// Area of one instance.
    pub area: Option<Formula>,
    /// Flip-flops of one instance.
    pub flip_flops: Option<Formula>,
    /// Whether it scales with the technology.
    pub scales: bool,
    /// Source of the figure.
    pub source: String,
    /// Remark for the reader.
    pub note: String,
}

/// Dependence of a figure on the variables of its part.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// Given by a formula.
    Expression(Expression<Variable>),
    /// Given at measured points only.
    Table {
        /// Variables of the points.
        by: Vec<Variable>,
        /// Value at each point.
        rows: BTreeMap<Vec<u64>, f64>,
    },
}

/// Cost of one access and of one instance of a part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Energy of one access in picojoules.
    pub energy: Option<f64>,
    /// Area of one instance, in the model's unit.
    pub area: Option<f64>,
    /// Flip-flops of one instance.
    pub flip_flops: Option<f64>,
}

impl CostModel {
    /// Returns the model's figures for a part.
    pub fn rates(&self, item: &Item) -> Rates {
        let figure = self.figures.iter().find(|figure| figure.fits(item));
        figure.map_or(Rates::default(), |figure| self.scaled(figure, item))
    }

    /// Returns the figures of a whole array with the aspect that each describes; empty if the model describes
    /// parts one by one.
    pub fn of_arrays<'a>(&'a self, item: &'a Item) -> impl Iterator<Item = (&'a str, Rates)> {
        let fitting = self.figures.iter().filter(|figure| figure.fits(item));
        fitting.map(|figure| (figure.of.as_str(), self.scaled(figure, item)))
    }

    /// Returns whether the model describes arrays as a whole.
    pub fn tells_arrays(&self) -> bool {
        self.figures.iter().any(|figure| figure.part == Part::Array)
    }

    /// Returns which kinds of figures the model has: energies, areas, flip-flops.
    pub fn tells(&self) -> [bool; 3] {
        let any = |has: fn(&Figure) -> bool| self.figures.iter().any(has);
        [
            any(|figure| figure.energy.is_some()),
            any(|figure| figure.area.is_some()),
            any(|figure| figure.flip_flops.is_some()),
        ]
    }

    fn scaled(&self, figure: &Figure, item: &Item) -> Rates {
        let Rates { energy, area, flip_flops } = figure.rates(item);
        match self.scale {
            None => Rates { energy, area, flip_flops },
            Some([of_energy, of_area]) if figure.scales => Rates {
                energy: energy.map(|energy| energy * of_energy),
                area: area.map(|area| area * of_area),
                flip_flops,
            },
            // External memory does not depend on the chip's technology. For other parts the figure is
            // unknown.
            Some(_) if figure.part == Part::Dram => Rates { energy, area: None, flip_flops: None },
            Some(_) => Rates::default(),
        }
    }
}

impl Figure {
    /// Describes the parts of its kind to which the figure applies.
    pub fn holds_for(&self) -> String {
        let modes = self.overflow.iter().map(|mode| mode.name().to_owned());
        let kinds = self.reduce.iter().map(|kind| kind.name().to_owned());
        let bound = |(variable, [from, to]): &(Variable, [f64; 2])| match *to {
            f64::MAX => format!("{} from {from}", variable.name()),
            to => format!("{} {from} to {to}", variable.name()),
        };
        let all = kinds.chain(modes).chain(self.ranges.iter().map(bound));
        all.collect::<Vec<_>>().join(", ")
    }

    fn fits(&self, item: &Item) -> bool {
        let overflow =
            self.overflow.is_empty() || item.overflow.is_some_and(|mode| self.overflow.contains(&mode));
        let reduce = self.reduce.is_empty() || item.reduce.is_some_and(|kind| self.reduce.contains(&kind));
        // The name in a figure of an array is the aspect that it describes.
        let named = self.part == Part::Array || self.of.is_empty() || self.of == item.of;
        let within = |(variable, [from, to]): &(Variable, [f64; 2])| {
            item.value(*variable).is_some_and(|value| *from <= value && value <= *to)
        };
        self.part == item.part && named && overflow && reduce && self.ranges.iter().all(within)
    }

    fn rates(&self, item: &Item) -> Rates {
        let value = |formula: &Option<Formula>| formula.as_ref().and_then(|formula| formula.value(item));
        Rates { energy: value(&self.energy), area: value(&self.area), flip_flops: value(&self.flip_flops) }
    }
}

impl Formula {
    /// Returns the value for a part; `None` if it is negative, which no cost can be.
    fn value(&self, item: &Item) -> Option<f64> {
        let value = match self {
            Self::Expression(expression) => expression.value(&|variable| item.value(variable))?,
            Self::Table { by, rows } => {
                let point = |&variable: &Variable| item.value(variable).and_then(whole);
                *rows.get(&by.iter().map(point).collect::<Option<Vec<u64>>>()?)?
            }
        };
        (value >= 0.0).then_some(value)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression(expression) => expression.fmt(f),
            Self::Table { by, rows } => {
                let by: Vec<&str> = by.iter().map(|variable| variable.name()).collect();
                write!(f, "table of {} points by {}", rows.len(), by.join(", "))
            }
        }
    }
}

/// Returns a number as an integer, if it is a whole number.
pub(super) fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value.fract() == 0.0 && value < 9e15).then_some(value as u64)
}
