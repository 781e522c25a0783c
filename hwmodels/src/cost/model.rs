//! A checked cost model, and what it says of one part.

use std::collections::BTreeMap;
use std::fmt;

use guardbit_num::Overflow;

use super::parts::{Item, Part, Variable};
use crate::Reduce;
use crate::expression::{Expression, Quantity};

/// Figures of the parts that accelerators are made of, from one source. What a model does not tell is `None` everywhere:
/// nothing is guessed.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// Its name, with the node that it was scaled to, as it stands beside each figure.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Where the figures are from.
    pub source: String,
    /// Unit of areas; empty where the model has none. Energies are in picojoules.
    pub area_unit: String,
    /// The technology that the figures are of, in nanometres, where they can be scaled to another one.
    pub node_nm: Option<f64>,
    /// What no figure of it covers, in words.
    pub leaves_out: String,
    /// What it says, in the order of the file: of a part the first figure that fits counts, of arrays all of them.
    pub figures: Vec<Figure>,
    /// What figures that scale are multiplied with: energies and areas.
    pub(super) scale: Option<[f64; 2]>,
}

/// What a model says of one kind of part.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The kind of part.
    pub part: Part,
    /// Which part of that kind, or what of it.
    pub of: String,
    /// The overflow modes that it speaks of; any, if there are none.
    pub overflow: Vec<Overflow>,
    /// The kinds of levels that it speaks of; any, if there are none.
    pub reduce: Vec<Reduce>,
    /// Bounds of variables within which it holds.
    pub ranges: Vec<(Variable, [f64; 2])>,
    /// Picojoules of one access.
    pub energy: Option<Formula>,
    /// Area of one instance.
    pub area: Option<Formula>,
    /// Flip-flops of one instance.
    pub flip_flops: Option<Formula>,
    /// Whether it scales with the technology.
    pub scales: bool,
    /// Where it is from.
    pub source: String,
    /// What a reader has to know of it.
    pub note: String,
}

/// How a figure depends on the variables of its part.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// By a formula.
    Expression(Expression<Variable>),
    /// At the points that were measured, and nowhere else.
    Table {
        /// The variables that the points are of.
        by: Vec<Variable>,
        /// What each point gives.
        rows: BTreeMap<Vec<u64>, f64>,
    },
}

/// What one part costs: an access, and an instance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// Picojoules of one access.
    pub energy: Option<f64>,
    /// Area of one instance, in the model's unit.
    pub area: Option<f64>,
    /// Flip-flops of one instance.
    pub flip_flops: Option<f64>,
}

impl CostModel {
    /// What the model says of a part.
    pub fn rates(&self, item: &Item) -> Rates {
        let figure = self.figures.iter().find(|figure| figure.fits(item));
        figure.map_or(Rates::default(), |figure| self.scaled(figure, item))
    }

    /// The figures of a whole array, each with what it says; none where the model tells parts one by one.
    pub fn of_arrays<'a>(&'a self, item: &'a Item) -> impl Iterator<Item = (&'a str, Rates)> {
        let fitting = self.figures.iter().filter(|figure| figure.fits(item));
        fitting.map(|figure| (figure.of.as_str(), self.scaled(figure, item)))
    }

    /// Whether it tells what arrays cost as a whole.
    pub fn tells_arrays(&self) -> bool {
        self.figures.iter().any(|figure| figure.part == Part::Array)
    }

    /// What kinds of figures it has at all: energies, areas, flip-flops.
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
            // Outside the chip nothing changes with its technology; of anything else nothing is known.
            Some(_) if figure.part == Part::Dram => Rates { energy, area: None, flip_flops: None },
            Some(_) => Rates::default(),
        }
    }
}

impl Figure {
    /// For which parts of its kind it holds, in words.
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
        // A figure of arrays names what of them it is.
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
    /// The value for a part. What is negative is no cost.
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

/// A whole number, if it is one.
pub(super) fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value.fract() == 0.0 && value < 9e15).then_some(value as u64)
}
