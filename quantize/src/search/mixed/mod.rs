//! Widths per layer, and their trade-offs: error, accuracy, bytes, accumulator bits.
//!
//! The search follows two paths that do not depend on any budget, from the widest step of every layer to the
//! narrowest. At each point, the layer that loses least relative to its savings goes down a step. Savings are
//! either bytes and the bits of every accumulator, or mainly the bits of the widest accumulators. The search
//! also visits the networks whose layers all have the same step, and exchanges around the best trade-offs.
//! All visited points are kept, and a budget selects the best of them. A looser budget therefore never
//! selects a worse point, and no selected point is worse than one width for all layers.

mod network;

pub use network::{NetworkChoices, Precision};

use crate::QuantizeError;

/// Costs and quality of a choice of widths.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Step of each layer; 0 is the widest.
    pub steps: Vec<usize>,
    /// Error power of the outputs, including overflows, relative to the power of the float network's outputs.
    pub error: f64,
    /// Share of samples that are right.
    pub accuracy: f64,
    /// Number of bytes of weights and biases.
    pub bytes: u64,
    /// Bits of the narrowest accumulator that no input overflows, for each layer with weights.
    pub layer_bits: Vec<u32>,
}

/// Constraint on a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Greatest error; among the remaining networks, the smallest is the best.
    Error(f64),
    /// Least accuracy; among the remaining networks, the smallest is the best.
    Accuracy(f64),
    /// Greatest number of bytes; among the remaining networks, the one with the least error is the best.
    Bytes(u64),
    /// Widest accumulator in bits; among the remaining networks, the one with the least error is the best.
    AccumulatorBits(u32),
}

/// Network whose layers have a choice of widths.
pub trait Choices {
    /// Returns the number of steps of each layer, at least 1; the first step is the widest.
    fn steps(&self) -> Vec<usize>;

    /// Returns the point with each layer at a step.
    ///
    /// # Errors
    /// [`QuantizeError`] if the network cannot be quantized or run. The search then treats the step as
    /// impossible.
    fn point(&self, steps: &[usize]) -> Result<Point, QuantizeError>;
}

/// All points that a search visited.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    points: Vec<Point>,
    /// Additional error when a layer alone goes down by one step, for each layer.
    sensitivity: Vec<f64>,
}

impl Point {
    /// Returns the bits of the widest accumulator that no input overflows.
    pub fn accumulator_bits(&self) -> u32 {
        self.layer_bits.iter().copied().max().unwrap_or(0)
    }

    /// Returns whether this point is at least as good as another one in every respect.
    pub fn dominates(&self, other: &Self) -> bool {
        self.error <= other.error
            && self.accuracy >= other.accuracy
            && self.bytes <= other.bytes
            && self.accumulator_bits() <= other.accumulator_bits()
    }

    fn keeps(&self, budget: Budget) -> bool {
        match budget {
            Budget::Error(most) => self.error <= most,
            Budget::Accuracy(least) => self.accuracy >= least,
            Budget::Bytes(most) => self.bytes <= most,
            Budget::AccumulatorBits(most) => self.accumulator_bits() <= most,
        }
    }

    /// Returns the costs by which the best point within a budget is selected; later ones decide between equal
    /// ones.
    fn cost(&self, budget: Budget) -> [f64; 3] {
        let (bytes, bits) = (self.bytes as f64, f64::from(self.accumulator_bits()));
        match budget {
            Budget::Error(_) | Budget::Accuracy(_) => [bytes, bits, self.error],
            Budget::Bytes(_) => [self.error, bytes, bits],
            Budget::AccumulatorBits(_) => [self.error, bits, bytes],
        }
    }
}

/// Explores the widths of a network. `exchanges` is the greatest number of exchanges between two layers that
/// are tried around the trade-offs of the path.
///
/// # Errors
/// [`QuantizeError`] if not even the widest steps give a valid network.
pub fn explore(choices: &impl Choices, exchanges: usize) -> Result<Explored, QuantizeError> {
    let counts = choices.steps();
    let widest = vec![0; counts.len()];
    let mut met = Met { choices, points: vec![choices.point(&widest)?], impossible: Vec::new() };
    let sensitivity = sensitivity(&mut met, &counts);
    for saving in [Saving::Everywhere, Saving::Widest] {
        descend(&mut met, &counts, &widest, saving);
    }
    for step in 1..counts.iter().copied().max().unwrap_or(0) {
        met.point(&counts.iter().map(|&count| step.min(count - 1)).collect::<Vec<_>>());
    }
    exchange(&mut met, &counts, exchanges);
    Ok(Explored { points: met.points, sensitivity })
}

struct Met<'c, C> {
    choices: &'c C,
    points: Vec<Point>,
    impossible: Vec<Vec<usize>>,
}

impl<C: Choices> Met<'_, C> {
    fn known(&self, steps: &[usize]) -> bool {
        self.points.iter().any(|point| point.steps == steps)
            || self.impossible.iter().any(|known| known == steps)
    }

    /// Returns the point of these steps; `None` if they are impossible.
    fn point(&mut self, steps: &[usize]) -> Option<Point> {
        if let Some(point) = self.points.iter().find(|point| point.steps == steps) {
            return Some(point.clone());
        }
        match self.choices.point(steps).ok().filter(|point| !point.error.is_nan()) {
            Some(point) => {
                self.points.push(point.clone());
                Some(point)
            }
            None => {
                self.impossible.push(steps.to_vec());
                None
            }
        }
    }
}

/// Returns the additional error with one layer at its second step and all others at their widest, for each
/// layer.
fn sensitivity<C: Choices>(met: &mut Met<'_, C>, counts: &[usize]) -> Vec<f64> {
    let start = met.points[0].error;
    let of = |layer: usize, met: &mut Met<'_, C>| {
        let mut steps = vec![0; counts.len()];
        steps[layer] = 1;
        met.point(&steps).map_or(f64::INFINITY, |point| point.error - start)
    };
    (0..counts.len()).map(|layer| if counts[layer] > 1 { of(layer, met) } else { f64::INFINITY }).collect()
}

/// Descends to the narrowest steps, each time by the step that loses least relative to its savings.
fn descend<C: Choices>(met: &mut Met<'_, C>, counts: &[usize], steps: &[usize], saving: Saving) {
    let Some(mut here) = met.point(steps) else { return };
    let mut losses = vec![f64::NEG_INFINITY; counts.len()];
    while let Some(next) = step(met, counts, &here, &mut losses, saving) {
        here = next;
    }
}

/// Returns the step of one layer that loses least relative to its savings; `None` if there is no step left.
///
/// `losses` holds the losses of the layers' next steps when they were last evaluated. They change little when
/// another layer steps. Therefore steps are evaluated in ascending order of them, and evaluation ends once
/// the remaining ones are no less than the best one found (lazy greedy: Minoux, "Accelerated greedy
/// algorithms for maximizing submodular set functions", 1978).
fn step<C: Choices>(
    met: &mut Met<'_, C>,
    counts: &[usize],
    here: &Point,
    losses: &mut [f64],
    saving: Saving,
) -> Option<Point> {
    let mut layers: Vec<usize> =
        (0..counts.len()).filter(|&layer| here.steps[layer] + 1 < counts[layer]).collect();
    layers.sort_by(|&a, &b| losses[a].total_cmp(&losses[b]));
    let mut best: Option<(usize, Point)> = None;
    for layer in layers {
        if best.as_ref().is_some_and(|&(least, _)| losses[least] <= losses[layer]) {
            break;
        }
        let mut steps = here.steps.clone();
        steps[layer] += 1;
        let point = met.point(&steps);
        losses[layer] = point
            .as_ref()
            .map_or(f64::INFINITY, |point| (point.error - here.error) / saving.between(here, point));
        if let Some(point) = point
            && best.as_ref().is_none_or(|&(least, _)| losses[layer] < losses[least])
        {
            best = Some((layer, point));
        }
    }
    let (layer, point) = best?;
    losses[layer] = f64::NEG_INFINITY;
    Some(point)
}

/// Savings of a step, above 0.
#[derive(Debug, Clone, Copy)]
enum Saving {
    /// Relative savings of bytes and of the bits of all accumulators.
    Everywhere,
    /// Savings of the number of values that accumulators hold, which the widest ones dominate: one bit less
    /// is half of it.
    Widest,
}

impl Saving {
    fn between(self, before: &Point, after: &Point) -> f64 {
        let part = |before: f64, after: f64| (before - after) / before.max(1.0);
        let saved = match self {
            Self::Everywhere => {
                let bits = |point: &Point| point.layer_bits.iter().map(|&bits| f64::from(bits)).sum();
                part(before.bytes as f64, after.bytes as f64) + part(bits(before), bits(after))
            }
            Self::Widest => {
                let values =
                    |point: &Point| point.layer_bits.iter().map(|&bits| f64::from(bits).exp2()).sum::<f64>();
                values(before) - values(after)
            }
        };
        saved.max(1e-6)
    }
}

/// Moves one layer a step up and another one down, around all undominated points, until nothing new is found.
fn exchange<C: Choices>(met: &mut Met<'_, C>, counts: &[usize], mut left: usize) {
    loop {
        let around: Vec<Vec<usize>> = pareto(&met.points).map(|point| point.steps.clone()).collect();
        let before = met.points.len();
        for steps in around {
            for (up, down) in pairs(counts.len()) {
                if left == 0 {
                    return;
                }
                if steps[up] == 0 || steps[down] + 1 == counts[down] {
                    continue;
                }
                let mut next = steps.clone();
                next[up] -= 1;
                next[down] += 1;
                if !met.known(&next) {
                    met.point(&next);
                    left -= 1;
                }
            }
        }
        if met.points.len() == before {
            return;
        }
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |up| (0..count).filter(move |&down| down != up).map(move |down| (up, down)))
}

fn pareto(points: &[Point]) -> impl Iterator<Item = &Point> {
    points
        .iter()
        .enumerate()
        .filter(|(index, point)| {
            // Of equal points the first one is kept.
            let beats = |(other, by): (usize, &Point)| {
                by.dominates(point) && (other < *index || !point.dominates(by)) && other != *index
            };
            !points.iter().enumerate().any(beats)
        })
        .map(|(_, point)| point)
}

impl Explored {
    /// Returns all visited points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the points that no other point dominates, sorted by bytes.
    pub fn pareto(&self) -> Vec<&Point> {
        let mut best: Vec<&Point> = pareto(&self.points).collect();
        best.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.error.total_cmp(&b.error)));
        best
    }

    /// Returns the additional error when a layer alone goes down by one step, for each layer; infinite if it
    /// cannot.
    pub fn sensitivity(&self) -> &[f64] {
        &self.sensitivity
    }

    /// Returns the best point that satisfies all budgets, by the criterion of the first budget; `None` if
    /// there is none.
    pub fn within(&self, budgets: &[Budget]) -> Option<&Point> {
        let first = *budgets.first()?;
        let keeps = |point: &&Point| budgets.iter().all(|&budget| point.keeps(budget));
        let order = |a: &[f64; 3], b: &[f64; 3]| {
            a.iter()
                .zip(b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        self.points.iter().filter(keeps).min_by(|a, b| order(&a.cost(first), &b.cost(first)))
    }
}
