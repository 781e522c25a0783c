//! Searches the narrowest design within an error budget by simulation.
//!
//! Narrowing follows paths that do not depend on the budget. Each step takes one bit off one level of one
//! layer, and the next step is always the least in some order. Every design on a path is narrower than all
//! earlier designs in one level, and wider in none. Bisection between the ends of a path checks whether the
//! network as a whole is within the budget. Whenever the tighter of two budgets accepts a design, the looser
//! one does too, so its search never ends at an earlier design. Therefore it never costs more, and neither
//! does the cheapest end of several paths.

use std::cmp::Ordering;

use guardbit_hwmodels::{MacLayer, Program, Register};
use guardbit_num::{MAX_BITS, MIN_BITS};
use guardbit_reports::Score;
use guardbit_sim::{LayerStats, Mode, Options, StatsLevel};

use super::budget::{Budget, Share};
use super::layers::SizedLayer;
use super::sizing::{Sizing, of_layers};
use crate::execute::execute_together;
use crate::sweep::POINTS_TOGETHER;
use crate::{StudyError, registers};

/// Bits per layer and level, innermost first; `None` keeps a level wide.
pub(super) type Widths = Vec<Vec<Option<u32>>>;

/// Finds the widths of every level of every layer, alone and together.
///
/// For a level alone, mismatch counts the layer's own output codes on exact activations, and accuracy is that
/// of the network in which only this level is narrow. The width is `None` if no width is within the budget.
pub(super) fn search(
    sizing: &Sizing<'_>,
    budget: Budget,
    layers: &mut [SizedLayer<'_>],
) -> Result<Option<Score>, StudyError> {
    let curves = curves(sizing, layers)?;
    match budget {
        Budget::Mismatch(share) => curves.iter().for_each(|curve| curve.within(share, layers)),
        Budget::Accuracy(_) | Budget::Agreement(_) => by_accuracy(sizing, budget, layers)?,
    }
    together(sizing, budget, &curves, layers)
}

/// Effect of narrowing one level of one layer on the layer's output, with everything else wide and exact
/// activations.
struct Curve {
    layer: usize,
    level: usize,
    /// Points from the width at which nothing overflows on the samples down to the narrowest register.
    points: Vec<CurvePoint>,
}

struct CurvePoint {
    bits: u32,
    /// Differing codes and all codes, for the layer and per channel.
    layer: [u64; 2],
    channels: Vec<[u64; 2]>,
    /// Sums of the squared error and of the squared output.
    noise: [u128; 2],
}

/// Position of a step in the order, as a fraction: higher is later.
#[derive(Debug, Clone, Copy)]
struct Damage {
    parts: u128,
    whole: u128,
}

impl Damage {
    fn cmp(self, other: Self) -> Ordering {
        let (a, b) = (self.parts.checked_mul(other.whole), other.parts.checked_mul(self.whole));
        // Overflow would require squares of 16-bit codes summed over more than 2^30 codes.
        a.unwrap_or(u128::MAX).cmp(&b.unwrap_or(u128::MAX))
    }
}

impl CurvePoint {
    fn new(bits: u32, stats: &LayerStats) -> Self {
        let total = stats.total();
        Self {
            bits,
            layer: [total.output_mismatch, total.dots],
            channels: stats.channels.iter().map(|counts| [counts.output_mismatch, counts.dots]).collect(),
            noise: [stats.output_error.noise, stats.output_error.signal.max(1)],
        }
    }
}

/// Order of narrowing: position of the step to a point that is `off` bits below the width without overflow.
type Order = fn(point: &CurvePoint, off: usize) -> Damage;

const ORDERS: [Order; 4] = [
    // By squared error relative to the layer's squared output.
    |point, _| Damage { parts: point.noise[0], whole: point.noise[1] },
    // By the fraction of the layer's codes that differ.
    |point, _| Damage { parts: point.layer[0].into(), whole: point.layer[1].max(1).into() },
    // All levels by equal numbers of bits.
    |_, off| Damage { parts: off as u128, whole: 1 },
    // The widest level first.
    |point, _| Damage { parts: (MAX_BITS + 1 - point.bits).into(), whole: 1 },
];

/// Whether uniform widths are narrowed with the widest level first, or all levels equally.
const UNIFORM_ORDERS: [bool; 2] = [false, true];

/// Maximum number of designs that [`designs`] finds: one per path.
pub(crate) const MOST_SEARCHED: usize = ORDERS.len() + UNIFORM_ORDERS.len();

impl Curve {
    /// Sets the least widths of the layer and its channels such that all wider ones are within `share` too.
    fn within(&self, share: Share, layers: &mut [SizedLayer<'_>]) {
        let least = |count: &dyn Fn(&CurvePoint) -> [u64; 2]| {
            let allowed = |point: &&CurvePoint| {
                let [parts, whole] = count(point);
                share.allows(parts, whole)
            };
            self.points.iter().take_while(allowed).last().map(|point| point.bits)
        };
        let sized = &mut layers[self.layer];
        sized.alone[self.level] = least(&|point| point.layer);
        if self.level == sized.last() {
            let channels = 0..sized.bounds.channels.len();
            sized.channel_budgets = channels.map(|c| least(&|point| point.channels[c])).collect();
        }
    }
}

/// Returns the least width without overflow on the samples.
fn harmless(layer: &SizedLayer<'_>, level: usize) -> u32 {
    layer.data_bits(level).prefixes.max(MIN_BITS)
}

/// Returns whether a level is searched. Trapping levels allow no error, observing levels cause none, and
/// packing fixes the width of its adder.
fn is_searched(layer: &SizedLayer<'_>, level: usize) -> bool {
    let overflow = registers::overflow(&layer.layer.datapath.levels[level]);
    !overflow.keeps_exact() && !layer.layer.packing.gives_register(level)
}

/// Returns the curves of every level. All layers run at once, because they are independent on exact
/// activations.
fn curves(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>]) -> Result<Vec<Curve>, StudyError> {
    let mut curves = Vec::new();
    let levels = layers.iter().map(|layer| layer.last() + 1).max().unwrap_or(0);
    for level in 0..levels {
        let searched: Vec<usize> = (0..layers.len())
            .filter(|&l| level <= layers[l].last() && is_searched(&layers[l], level))
            .collect();
        let steps = searched.iter().map(|&l| harmless(&layers[l], level) - MIN_BITS + 1).max().unwrap_or(0);
        let mut of_level: Vec<Curve> =
            searched.iter().map(|&layer| Curve { layer, level, points: Vec::new() }).collect();
        let all: Vec<u32> = (0..steps).collect();
        for steps in all.chunks(POINTS_TOGETHER) {
            let bits = |layer: usize, step: u32| {
                harmless(&layers[layer], level).checked_sub(step).filter(|&bits| bits >= MIN_BITS)
            };
            let widths = |step: u32| {
                let mut widths = wide(layers);
                searched.iter().for_each(|&layer| widths[layer][level] = bits(layer, step));
                widths
            };
            let counted =
                isolated(sizing, layers, &steps.iter().map(|&step| widths(step)).collect::<Vec<_>>())?;
            for (&step, stats) in steps.iter().zip(&counted) {
                let stats: Vec<&LayerStats> =
                    of_layers(sizing.program, stats).map(|(_, stats)| stats).collect();
                for curve in &mut of_level {
                    let point = bits(curve.layer, step).map(|bits| CurvePoint::new(bits, stats[curve.layer]));
                    curve.points.extend(point);
                }
            }
        }
        curves.append(&mut of_level);
    }
    Ok(curves)
}

/// Returns the statistics of several designs on exact activations.
fn isolated(
    sizing: &Sizing<'_>,
    layers: &[SizedLayer<'_>],
    designs: &[Widths],
) -> Result<Vec<Vec<Option<LayerStats>>>, StudyError> {
    let programs = designs.iter().map(|widths| narrowed(sizing, layers, widths));
    let programs: Vec<Program> = programs.collect::<Result<_, _>>()?;
    let options =
        Options { mode: Mode::Isolated, stats: StatsLevel::None, events_per_layer: 0, ..Options::default() };
    sizing.start("each level by itself", programs.len());
    let all: Vec<&Program> = programs.iter().collect();
    let together = execute_together(sizing.subject, &all, options, None, sizing.progress, &mut |_| Ok(()))?;
    let layers = together.each.into_iter().map(|executed| Ok(executed?.layers));
    layers.collect()
}

/// Searches level by level, by bisection between the narrowest register and the width required by the
/// samples.
fn by_accuracy(sizing: &Sizing<'_>, budget: Budget, layers: &mut [SizedLayer<'_>]) -> Result<(), StudyError> {
    for layer in 0..layers.len() {
        for level in 0..=layers[layer].last() {
            if !is_searched(&layers[layer], level) {
                continue;
            }
            let title = format!("accuracy, layer {} of {}", layer + 1, layers.len());
            let allows = |narrower: usize| {
                let mut widths = wide(layers);
                widths[layer][level] = Some(harmless(&layers[layer], level) - narrower as u32);
                let score = score(sizing, &title, &narrowed(sizing, layers, &widths)?)?;
                Ok(budget.allows(&score, 0).then_some(()))
            };
            let most = harmless(&layers[layer], level) - MIN_BITS;
            let found = furthest(most as usize, allows)?;
            layers[layer].alone[level] =
                found.map(|(narrower, ())| harmless(&layers[layer], level) - narrower as u32);
        }
    }
    Ok(())
}

/// Returns the cheapest design at which narrowing ends, with its results.
fn together(
    sizing: &Sizing<'_>,
    budget: Budget,
    curves: &[Curve],
    layers: &mut [SizedLayer<'_>],
) -> Result<Option<Score>, StudyError> {
    let cost = |(widths, _): &(Widths, Score)| widths.iter().flatten().flatten().sum::<u32>();
    let Some((widths, score)) = ends(sizing, budget, curves, layers)?.into_iter().min_by_key(cost) else {
        return Ok(None);
    };
    for (layer, widths) in layers.iter_mut().zip(widths) {
        layer.together = Some(widths);
    }
    Ok(Some(score))
}

/// Returns, for each path, the last design that is within the budget before one that is not, with its
/// results. Returns none if the first design of all paths is not within it.
fn ends(
    sizing: &Sizing<'_>,
    budget: Budget,
    curves: &[Curve],
    layers: &[SizedLayer<'_>],
) -> Result<Vec<(Widths, Score)>, StudyError> {
    let start = start(curves, layers);
    let mut ends = Vec::new();
    for order in ORDERS {
        let path = path(order, curves);
        let design = |steps: usize| {
            let mut widths = start.clone();
            path[..steps].iter().for_each(|step| widths[step.layer][step.level] = Some(step.bits));
            widths
        };
        let within = |steps: usize| allowed(sizing, budget, layers, &design(steps));
        let Some((steps, score)) = furthest(path.len(), within)? else { return Ok(Vec::new()) };
        ends.push((design(steps), score));
    }
    Ok(ends)
}

/// Returns every searched level at its least width without overflow on the samples.
fn start(curves: &[Curve], layers: &[SizedLayer<'_>]) -> Widths {
    let mut start = wide(layers);
    for curve in curves {
        start[curve.layer][curve.level] = Some(harmless(&layers[curve.layer], curve.level));
    }
    start
}

/// Returns the results of a design, if it is within the budget.
fn allowed(
    sizing: &Sizing<'_>,
    budget: Budget,
    layers: &[SizedLayer<'_>],
    widths: &Widths,
) -> Result<Option<Score>, StudyError> {
    let score = score(sizing, "all levels together", &narrowed(sizing, layers, widths)?)?;
    Ok(budget.allows(&score, sizing.codes_per_sample()).then_some(score))
}

/// Returns the ends of narrowing layer by layer, and of narrowing with one width per level for all layers.
pub(super) fn designs(
    sizing: &Sizing<'_>,
    budget: Budget,
    layers: &[SizedLayer<'_>],
) -> Result<[Vec<(Widths, Score)>; 2], StudyError> {
    let curves = curves(sizing, layers)?;
    Ok([ends(sizing, budget, &curves, layers)?, uniform_ends(sizing, budget, &curves, layers)?])
}

/// Returns the ends of narrowing with one width per level for all layers: all equally, and the widest first.
fn uniform_ends(
    sizing: &Sizing<'_>,
    budget: Budget,
    curves: &[Curve],
    layers: &[SizedLayer<'_>],
) -> Result<Vec<(Widths, Score)>, StudyError> {
    let levels = curves.iter().map(|curve| curve.level + 1).max().unwrap_or(0);
    let own = |level: usize| curves.iter().filter(move |curve| curve.level == level);
    let widest = |level: usize| own(level).map(|curve| harmless(&layers[curve.layer], level)).max();
    let first: Vec<Option<u32>> = (0..levels).map(widest).collect();
    let mut ends = Vec::new();
    for widest_first in UNIFORM_ORDERS {
        let path = uniform_path(&first, widest_first);
        let design = |steps: usize| {
            let mut bits = first.clone();
            path[..steps].iter().for_each(|&(level, narrower)| bits[level] = Some(narrower));
            let mut widths = wide(layers);
            curves.iter().for_each(|curve| widths[curve.layer][curve.level] = bits[curve.level]);
            widths
        };
        let within = |steps: usize| allowed(sizing, budget, layers, &design(steps));
        let Some((steps, score)) = furthest(path.len(), within)? else { return Ok(Vec::new()) };
        ends.push((design(steps), score));
    }
    Ok(ends)
}

/// Returns a level and its next width, step by step.
fn uniform_path(first: &[Option<u32>], widest_first: bool) -> Vec<(usize, u32)> {
    let mut bits = first.to_vec();
    let mut path = Vec::new();
    loop {
        let left = |&level: &usize| bits[level].is_some_and(|bits| bits > MIN_BITS);
        let off = |level: &usize| first[*level].unwrap_or(0) - bits[*level].unwrap_or(0);
        let next = (0..bits.len())
            .filter(left)
            .min_by_key(|level| if widest_first { MAX_BITS - bits[*level].unwrap_or(0) } else { off(level) });
        let Some(level) = next else { return path };
        let narrower = bits[level].unwrap_or(MIN_BITS + 1) - 1;
        bits[level] = Some(narrower);
        path.push((level, narrower));
    }
}

/// Step that takes one bit off one level of one layer.
struct PathStep {
    layer: usize,
    level: usize,
    /// Remaining bits.
    bits: u32,
    /// Maximum damage of this width and all wider ones.
    damage: Damage,
}

/// Returns all steps in an order; the steps of each level go from wide to narrow.
fn path(order: Order, curves: &[Curve]) -> Vec<PathStep> {
    let mut steps = Vec::new();
    for &Curve { layer, level, ref points } in curves {
        let mut most = Damage { parts: 0, whole: 1 };
        for (index, point) in points.iter().enumerate() {
            let damage = order(point, index);
            most = if damage.cmp(most).is_gt() { damage } else { most };
            if index > 0 {
                steps.push(PathStep { layer, level, bits: point.bits, damage: most });
            }
        }
    }
    steps.sort_by(|a, b| a.damage.cmp(b.damage));
    steps
}

/// Finds by bisection an index from 0 to `most` that is allowed while the next one is not, and returns it
/// with its result; `None` if not even 0 is allowed.
fn furthest<T>(
    most: usize,
    allows: impl Fn(usize) -> Result<Option<T>, StudyError>,
) -> Result<Option<(usize, T)>, StudyError> {
    let Some(first) = allows(0)? else { return Ok(None) };
    let (mut holds, mut fails) = ((0, first), most + 1);
    while fails - holds.0 > 1 {
        let middle = holds.0 + (fails - holds.0) / 2;
        match allows(middle)? {
            Some(made) => holds = (middle, made),
            None => fails = middle,
        }
    }
    Ok(Some(holds))
}

/// Returns the score of the network as a whole.
pub(super) fn score(sizing: &Sizing<'_>, title: &str, program: &Program) -> Result<Score, StudyError> {
    let options = Options {
        mode: Mode::Propagated,
        stats: StatsLevel::None,
        events_per_layer: 0,
        ..Options::default()
    };
    Ok(sizing.run(title, program, options)?.verdict.score)
}

fn wide(layers: &[SizedLayer<'_>]) -> Widths {
    layers.iter().map(|layer| vec![None; layer.last() + 1]).collect()
}

/// Returns the program with all registers wide, except those with a width in `widths`.
fn narrowed(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>], widths: &Widths) -> Result<Program, StudyError> {
    registers::with(sizing.subject, sizing.program, |layer, level| {
        let narrow = || -> Option<Register> {
            let index = layers.iter().position(|sized| sized.layer.node == layer.node)?;
            let bits = widths[index][level_index(layer, &level.name)?]?;
            registers::fixed(level, bits, registers::overflow(level))
        };
        Some(narrow().unwrap_or_else(|| registers::wide(level)))
    })
}

/// Returns the index of a level by name.
pub(super) fn level_index(layer: &MacLayer, name: &str) -> Option<usize> {
    layer.datapath.levels.iter().position(|other| other.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A looser budget, which allows all that a tighter one does, ends no earlier.
    #[test]
    fn a_looser_budget_never_ends_earlier() {
        let ends = |errors: &[u32], budget: u32| {
            let allows = |step: usize| Ok((errors[step] <= budget).then_some(()));
            furthest(errors.len() - 1, allows).unwrap().map(|(step, ())| step)
        };
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 24
        };
        for _ in 0..2000 {
            // Errors that are not monotonic.
            let errors: Vec<u32> = (0..20).map(|_| next()).collect();
            let ends: Vec<Option<usize>> = (0..256).step_by(5).map(|budget| ends(&errors, budget)).collect();
            assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "{errors:?} {ends:?}");
            let found = ends.iter().zip((0u32..256).step_by(5)).filter_map(|(end, b)| Some(((*end)?, b)));
            found.for_each(|(end, budget)| assert!(errors[end] <= budget));
        }
    }
}
