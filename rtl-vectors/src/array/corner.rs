//! Corner tiles, which drive the whole array to its rails, whichever part of it the layer's own tiles use.
//!
//! All rows and columns of a tile take one path through one level: to a rail, beyond it, and back. If the
//! layer's terms and operands do not reach the rail, the path goes as far as they do. Random tiles make rows,
//! columns and pixels distinguishable.

use guardbit_hwmodels::MacLayer;
use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::TraceOperand;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use super::columns::Columns;
use super::info::{corner_gap, is_output_stationary, overflows};
use super::unshown::unshown;
use crate::corners::{result, walk};
use crate::coverage::halves;
use crate::fit::Fit;
use crate::manifest::{Arithmetic, ArrayInfo, Operand, TileInfo};

/// Greatest number of beats of all corner tiles.
const MAX_BEATS: usize = 4096;
/// Least number of pixels of a weight-stationary tile: one with a neighbour on either side.
const LEAST_PIXELS: usize = 3;

/// Matrices of a group of corner tiles.
struct Corner {
    class: String,
    /// Indexed `[pixel][k]`.
    activations: Vec<Vec<i64>>,
    /// Indexed `[channel][k]`.
    weights: Vec<Vec<i64>>,
}

impl Corner {
    /// Returns the dot products, of a uniform tile the only one.
    fn dots(&self) -> Vec<Vec<TraceOperand>> {
        let is_uniform = |lines: &[Vec<i64>]| lines.windows(2).all(|pair| pair[0] == pair[1]);
        let count = |lines: &[Vec<i64>]| if is_uniform(lines) { 1 } else { lines.len() };
        let (rows, cols) =
            (&self.activations[..count(&self.activations)], &self.weights[..count(&self.weights)]);
        let dot = |row: &[i64], col: &[i64]| row.iter().zip(col).map(|(&a, &w)| operand(a, w)).collect();
        rows.iter().flat_map(|row| cols.iter().map(|col| dot(row, col))).collect()
    }
}

/// Appends corner tiles and their operands to those of the layer.
pub(super) fn append(
    info: &mut ArrayInfo,
    columns: &mut Columns,
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    random: &mut Pcg64Mcg,
) {
    let pixels = if is_output_stationary(info) { info.rows } else { info.rows.max(LEAST_PIXELS) };
    let mut maker = Maker { layer, arithmetic, rows: info.rows, pixels, channels: info.cols, random };
    let terms = 2 * info.rows + info.rows / 2;
    let mut corners = maker.random_tiles(terms);
    if maker.pixels > info.rows {
        // Tiles that follow each other as closely as the rows allow.
        maker.pixels = info.rows;
        corners.extend(maker.random_tiles(terms));
        maker.pixels = pixels;
    }
    if is_output_stationary(info) {
        // Tiles whose sums arrive while the tile before drains; those of the first do not overflow, so that they differ.
        corners.extend(maker.random_tiles(info.rows));
    }
    corners.extend(maker.extremes());
    corners.extend(maker.paths());
    let shown: Vec<Vec<TraceOperand>> = corners.iter().flat_map(Corner::dots).collect();
    let found = unshown(layer, arithmetic, &mut shown.into_iter().chain(columns.dots()), maker.random);
    corners.extend(found.iter().map(|operands| maker.uniform("corner: found".into(), operands)));
    let mut next = info.beats + corner_gap(info) + if is_output_stationary(info) { 0 } else { info.rows };
    let (first, last) = (next, next + MAX_BEATS);
    for corner in corners {
        let tiles = tiles(info, &corner, columns.activations.len(), &mut next);
        let Some(end) = tiles.last().map(|tile| tile.first_beat + steps(info, tile)) else { continue };
        if end > last {
            next = info.beats.max(first);
            continue;
        }
        info.beats = end;
        info.words += tiles.iter().map(|tile| tile.words).sum::<usize>();
        info.tiles.extend(tiles);
        columns.activations.push(corner.activations);
        columns.weights.push(corner.weights);
    }
}

/// Returns the number of steps of an element in `tile`.
fn steps(info: &ArrayInfo, tile: &TileInfo) -> usize {
    if is_output_stationary(info) { tile.terms } else { tile.pixels }
}

/// Returns the tiles that `corner` occupies, the first one at beat `next` or later. Sets `next` to the beat
/// after the last step.
///
/// The last steps of adjacent tiles are at least `rows` beats apart: draining and loading a column takes that
/// long.
fn tiles(info: &ArrayInfo, corner: &Corner, group: usize, next: &mut usize) -> Vec<TileInfo> {
    let (terms, pixels) = (corner.activations[0].len(), corner.activations.len());
    let per_tile = if is_output_stationary(info) { terms } else { info.rows };
    let firsts = (0..terms).step_by(per_tile.max(1));
    firsts
        .map(|first_term| {
            let here = per_tile.min(terms - first_term);
            let is_done = first_term + here == terms;
            let tile = TileInfo {
                group,
                first_pixel: 0,
                pixels,
                first_channel: 0,
                channels: corner.weights.len(),
                first_term,
                terms: here,
                first_beat: 0,
                first_word: is_done.then_some(info.words),
                words: if is_done { pixels } else { 0 },
                class: corner.class.clone(),
            };
            let first_beat = *next + info.rows.saturating_sub(steps(info, &tile));
            *next = first_beat + steps(info, &tile);
            TileInfo { first_beat, ..tile }
        })
        .collect()
}

struct Maker<'a> {
    layer: &'a MacLayer,
    arithmetic: &'a Arithmetic,
    rows: usize,
    pixels: usize,
    channels: usize,
    random: &'a mut Pcg64Mcg,
}

impl Maker<'_> {
    /// Returns tiles of random operands: one with small operands, so that nothing overflows, and one with any
    /// operands.
    fn random_tiles(&mut self, terms: usize) -> Vec<Corner> {
        let terms = terms.clamp(1, self.layer.order.len());
        let small = (0..32).map(|halvings| self.random_tile("corner: random, small", terms, halvings));
        // At the latest, operands of 0 and -1 do not overflow.
        let small: Vec<Corner> = small.collect();
        let quiet = small.into_iter().find(|corner| !self.overflows(corner));
        quiet.into_iter().chain([self.random_tile("corner: random", terms, 0)]).collect()
    }

    /// Returns tiles in which every element multiplies all four pairs of extreme operands, each of them last once.
    fn extremes(&self) -> Vec<Corner> {
        let (a, w) = (&self.arithmetic.activation, &self.arithmetic.weight);
        let pairs = [(a.min, w.min), (a.min, w.max), (a.max, w.min), (a.max, w.max)];
        let terms = self.rows.max(pairs.len()).min(self.layer.order.len());
        let tile = |turn: usize| -> Vec<TraceOperand> {
            pairs.iter().cycle().skip(turn).take(terms).map(|&(a, w)| operand(a, w)).collect()
        };
        (0..pairs.len()).map(|turn| self.uniform(format!("corner: extremes {turn}"), &tile(turn))).collect()
    }

    fn random_tile(&mut self, class: &str, terms: usize, halvings: u32) -> Corner {
        let (activation, weight) = (self.arithmetic.activation.clone(), self.arithmetic.weight.clone());
        let shifts = [halvings.div_ceil(2), halvings / 2];
        let mut any = |range: &Operand, shift: u32| {
            let step = i128::from(range.step);
            let count = (i128::from(range.max) - i128::from(range.min)) / step + 1;
            let value = i128::from(range.min) + step * ((i128::from(self.random.next_u64()) * count) >> 64);
            // Values with gaps between them are not scaled down.
            if step == 1 { (value as i64) >> shift.min(63) } else { value as i64 }
        };
        let mut lines = |count: usize, range: &Operand, shift: u32| -> Vec<Vec<i64>> {
            (0..count).map(|_| (0..terms).map(|_| any(range, shift)).collect()).collect()
        };
        let activations = lines(self.pixels, &activation, shifts[0]);
        let weights = lines(self.channels, &weight, shifts[1]);
        Corner { class: class.into(), activations, weights }
    }

    fn overflows(&self, corner: &Corner) -> bool {
        let product = Fit::of(&self.arithmetic.product);
        let is_beyond = |o: &TraceOperand| {
            product.is_some_and(|fit| fit.apply(o.activation * o.weight).1 != (false, false))
        };
        corner.activations.iter().any(|row| {
            corner.weights.iter().any(|col| {
                let operands: Vec<_> = row.iter().zip(col).map(|(&a, &w)| operand(a, w)).collect();
                operands.iter().any(is_beyond) || overflows(self.layer, 0, &operands)
            })
        })
    }

    /// Returns paths to every rail of every level, beyond it, and back.
    fn paths(&self) -> Vec<Corner> {
        let mut corners = Vec::new();
        for (level, info) in self.arithmetic.levels.iter().enumerate() {
            let (Some(min), Some(max)) = (info.min, info.max) else { continue };
            for (rail, edge, out) in [("max", i128::from(max), 1), ("min", i128::from(min), -1)] {
                let paths = [
                    ("at", vec![edge]),
                    ("beyond", vec![edge, out]),
                    ("back", vec![edge, out, -edge / 4 - out]),
                ];
                // Where bits are dropped behind the register: back to values at which they show a rail that is off by one.
                let unit = 1i128 << info.register.shift;
                // A tie may go to either neighbour.
                let places = [("multiple", 0), ("half", unit / 2), ("next half", unit + unit / 2)];
                let shown = places.map(|(label, rest)| {
                    let target = (edge - edge / 4).div_euclid(unit) * unit + rest;
                    (label, vec![edge, out, target - edge])
                });
                let mut is_reached = true;
                for (label, steps) in paths.into_iter().chain(shown.into_iter().filter(|_| unit > 1)) {
                    let searched = || {
                        let value = if label == "at" { edge } else { edge + out };
                        let is_single = ["at", "beyond"].contains(&label);
                        is_single.then(|| result(self.layer, self.arithmetic, level, Range::point(value)))?
                    };
                    let walked = walk(self.layer, self.arithmetic, level, &steps).filter(|o| !o.is_empty());
                    match walked.or_else(searched) {
                        Some(operands) => {
                            let class = format!("corner: {} {rail} {label}", info.name);
                            corners.push(self.uniform(class, &operands));
                        }
                        None => is_reached = false,
                    }
                }
                if !is_reached {
                    // What a register of one bit less does not hold.
                    if let Some(operands) = result(self.layer, self.arithmetic, level, halves(edge)) {
                        let class = format!("corner: {} half {rail}", info.name);
                        corners.push(self.uniform(class, &operands));
                    }
                    let class = format!("corner: {} towards {rail}", info.name);
                    corners.push(self.uniform(class, &self.farthest(out)));
                }
            }
        }
        corners
    }

    /// Returns operands with the greatest sum, or the least one.
    fn farthest(&self, out: i128) -> Vec<TraceOperand> {
        let (a, w) = (&self.arithmetic.activation, &self.arithmetic.weight);
        let corners = [a.min, a.max].map(|a| [w.min, w.max].map(|w| operand(a, w)));
        let best = corners.as_flattened().iter().max_by_key(|o| out * o.activation * o.weight);
        vec![best.copied().unwrap_or(operand(0, 0)); self.layer.order.len()]
    }

    /// Returns matrices in which every element computes one dot product.
    fn uniform(&self, class: String, operands: &[TraceOperand]) -> Corner {
        let activations: Vec<i64> = operands.iter().map(|o| o.activation as i64).collect();
        let weights: Vec<i64> = operands.iter().map(|o| o.weight as i64).collect();
        Corner { class, activations: vec![activations; self.pixels], weights: vec![weights; self.channels] }
    }
}

fn operand(activation: i64, weight: i64) -> TraceOperand {
    TraceOperand { activation: activation.into(), weight: weight.into() }
}
