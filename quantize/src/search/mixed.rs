//! Widths per layer, and what they trade: error, accuracy, bytes, accumulator bits.
//!
//! The search has two paths that do not depend on any budget: from the widest step of every layer to the narrowest, each
//! time the layer goes down a step that loses least for what it saves: bytes and the bits of every accumulator, or the bits of the
//! widest ones above all. It meets the networks whose layers all have the same step, and exchanges around the best trade-offs. All
//! that it meets is kept, and a budget takes the best of it. So what a looser budget takes is never worse, and nothing that it takes
//! is worse than one width for all layers.

mod network;

pub use network::{NetworkChoices, Precision};

use crate::QuantizeError;

/// What widths cost and bring.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// By layer, which step it is at: 0 is the widest.
    pub steps: Vec<usize>,
    /// Error power of the outputs relative to the float network's outputs, overflow included.
    pub error: f64,
    /// The part of the samples that are right.
    pub accuracy: f64,
    /// Bytes of weights and biases.
    pub bytes: u64,
    /// By layer with weights, bits of the narrowest accumulator that no input makes overflow.
    pub layer_bits: Vec<u32>,
}

/// What a network has to keep within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// The greatest error; what is left is as small as possible.
    Error(f64),
    /// The least accuracy, likewise.
    Accuracy(f64),
    /// The most bytes; what is left has the least error.
    Bytes(u64),
    /// The widest accumulator, likewise.
    AccumulatorBits(u32),
}

/// A network whose layers have widths to choose from.
pub trait Choices {
    /// By layer, how many steps there are, the widest first; at least 1.
    fn steps(&self) -> Vec<usize>;

    /// What the network is with each layer at a step.
    ///
    /// # Errors
    /// [`QuantizeError`] if it cannot be quantized or run. That step is taken for impossible.
    fn point(&self, steps: &[usize]) -> Result<Point, QuantizeError>;
}

/// All that a search met.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    points: Vec<Point>,
    /// By layer, how much more error there is when it alone goes down by one step.
    sensitivity: Vec<f64>,
}

impl Point {
    /// Bits of the widest accumulator that no input makes overflow.
    pub fn accumulator_bits(&self) -> u32 {
        self.layer_bits.iter().copied().max().unwrap_or(0)
    }

    /// Whether this is no worse than another one in anything.
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

    /// What is least in the best one of those that keep a budget; the rest decides between equals.
    fn cost(&self, budget: Budget) -> [f64; 3] {
        let (bytes, bits) = (self.bytes as f64, f64::from(self.accumulator_bits()));
        match budget {
            Budget::Error(_) | Budget::Accuracy(_) => [bytes, bits, self.error],
            Budget::Bytes(_) => [self.error, bytes, bits],
            Budget::AccumulatorBits(_) => [self.error, bits, bytes],
        }
    }
}

/// Explores the widths of a network. `exchanges` is how many exchanges between two layers are tried around the trade-offs
/// of the path, at most.
///
/// # Errors
/// [`QuantizeError`] if not even the widest steps make a network.
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

    /// The point of these steps; `None` where they are impossible.
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

/// How much more error there is with one layer at its second step, all others at their widest.
fn sensitivity<C: Choices>(met: &mut Met<'_, C>, counts: &[usize]) -> Vec<f64> {
    let start = met.points[0].error;
    let of = |layer: usize, met: &mut Met<'_, C>| {
        let mut steps = vec![0; counts.len()];
        steps[layer] = 1;
        met.point(&steps).map_or(f64::INFINITY, |point| point.error - start)
    };
    (0..counts.len()).map(|layer| if counts[layer] > 1 { of(layer, met) } else { f64::INFINITY }).collect()
}

/// Down to the narrowest steps, each time by the step that loses least for what it saves.
fn descend<C: Choices>(met: &mut Met<'_, C>, counts: &[usize], steps: &[usize], saving: Saving) {
    let Some(mut here) = met.point(steps) else { return };
    let mut losses = vec![f64::NEG_INFINITY; counts.len()];
    while let Some(next) = step(met, counts, &here, &mut losses, saving) {
        here = next;
    }
}

/// The step of one layer that loses least for what it saves; `None` where there is no step left.
///
/// `losses` are what the layers' next steps lost when they were last looked at. They change little when another layer steps: so
/// steps are looked at from the least of them on, and the rest stays unseen once its own are no less than what was found (lazy greedy:
/// Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978).
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

/// What a step saves, above 0.
#[derive(Debug, Clone, Copy)]
enum Saving {
    /// The part of the bytes, and that of the bits of all accumulators.
    Everywhere,
    /// How many values accumulators hold: that of the widest ones, of which a bit less is half of them.
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

/// One layer a step up and another one down, around all that nothing dominates, until nothing new is found.
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
            // Of equals the first one stays.
            let beats = |(other, by): (usize, &Point)| {
                by.dominates(point) && (other < *index || !point.dominates(by)) && other != *index
            };
            !points.iter().enumerate().any(beats)
        })
        .map(|(_, point)| point)
}

impl Explored {
    /// Everything that was met, in the order in which it was.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// What nothing else dominates, from the least bytes on.
    pub fn pareto(&self) -> Vec<&Point> {
        let mut best: Vec<&Point> = pareto(&self.points).collect();
        best.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.error.total_cmp(&b.error)));
        best
    }

    /// By layer, how much more error there is when it alone goes down by one step; infinite where it cannot.
    pub fn sensitivity(&self) -> &[f64] {
        &self.sensitivity
    }

    /// The best of what keeps all budgets, by what the first one leaves open; `None` if nothing does.
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
