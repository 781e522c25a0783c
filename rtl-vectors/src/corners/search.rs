//! Random dot products for coverage bins that no other case hits.

use std::collections::BTreeSet;

use guardbit_hwmodels::MacLayer;
use guardbit_sim::trace::{TraceOperand, trace_observed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::{Maker, Output};
use crate::beats::Dot;
use crate::coverage::{Aim, Counter, Seen};
use crate::manifest::Arithmetic;

/// Greatest numbers of dot products, and of their products, that are tried.
const TRIED: usize = 4096;
const TRIED_PRODUCTS: usize = 1 << 21;

/// Returns dot products of `layer` that hit bins which `dots` do not hit, or show widths that `dots` do not show.
pub(crate) fn search(layer: &MacLayer, arithmetic: &Arithmetic, dots: &[Dot], seed: u64) -> Vec<Dot> {
    let mut maker = Maker::new(layer, arithmetic);
    let (terms, lanes) = (layer.order.len(), maker.lanes);
    let mut widths = Aim::of_widths(arithmetic, terms, lanes);
    let mut seen = |dot: &Dot| {
        let mut seen = Seen::new(arithmetic, dot, lanes);
        let mut watches: Vec<_> = widths.iter().map(Aim::watch).collect();
        let trace = trace_observed(&dot.layer, 0, &dot.operands, &mut |step| {
            seen.step(step);
            watches.iter_mut().for_each(|watch| watch.step(step));
        });
        let shown = watches.iter().map(|watch| watch.miss().is_some_and(|miss| miss.distance == 0));
        let mut shown = shown.collect::<Vec<_>>().into_iter();
        let before = widths.len();
        widths.retain(|_| shown.next() != Some(true));
        (seen.end(arithmetic, &trace, dot), widths.len() < before)
    };
    let mut counter = Counter::default();
    for dot in dots.iter().filter(|dot| dot.cut_after.is_none()) {
        counter.add(seen(dot).0);
    }
    let mut missed = counter.missed(arithmetic, terms, lanes);
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 2);
    let mut found: Vec<Dot> = Vec::new();
    let mut note = |dot: Dot, missed: &mut BTreeSet<(String, String)>, found: &mut Vec<Dot>| {
        let (hit, shows_width) = seen(&dot);
        let hit = hit.named(arithmetic);
        let before = missed.len();
        missed.retain(|bin| !hit.contains(bin));
        if missed.len() < before || shows_width {
            found.push(dot);
        }
    };
    for _ in 0..TRIED.min(TRIED_PRODUCTS / maker.terms.max(1)) {
        if missed.is_empty() {
            break;
        }
        let operands = maker.random(&mut random);
        let output = maker.random_output(&mut random);
        maker.push(format!("search_{}", found.len()), "search", operands, output);
        let Some(dot) = maker.dots.pop() else { continue };
        note(dot, &mut missed, &mut found);
    }
    // What is left is aimed at.
    for bin in missed.clone() {
        let Some(aim) = Aim::of_bin(arithmetic, lanes, &bin.0, &bin.1) else { continue };
        let Some((operands, output)) =
            missed.contains(&bin).then(|| maker.climb(&aim, maker.biases(), &mut random)).flatten()
        else {
            continue;
        };
        maker.push(format!("search_{}", found.len()), "search", operands, output);
        if let Some(dot) = maker.dots.pop() {
            note(dot, &mut missed, &mut found);
        }
    }
    for aim in widths {
        let Some((operands, output)) = maker.climb(&aim, maker.biases(), &mut random) else { continue };
        maker.push(format!("search_{}", found.len()), "search", operands, output);
        found.extend(maker.dots.pop());
    }
    found
}

impl Maker<'_> {
    /// Returns a dot product of several parts, each of random operands, of small ones, or of one extreme pair.
    pub(super) fn random(&self, random: &mut Pcg64Mcg) -> Vec<TraceOperand> {
        let mut below = |count: usize| (random.next_u64() % count.max(1) as u64) as usize;
        // Short ones, and often the longest.
        let length = if below(2) == 0 { self.terms } else { 1 + below(self.terms) };
        let mut operands = Vec::with_capacity(length);
        while operands.len() < length {
            let part = (1 + below(length)).min(length - operands.len());
            let (kind, shift, end) = (below(3), below(8), self.ranges.ends()[below(2)]);
            for _ in 0..part {
                let mut value = |min: i64, max: i64, shift: usize| {
                    let count = (i128::from(max) - i128::from(min) + 1) as usize;
                    (i128::from(min) + below(count) as i128) >> shift
                };
                let (a, w) = (&self.ranges.activation, &self.ranges.weight);
                operands.push(match kind {
                    0 => end,
                    kind => {
                        let shift = if kind == 1 { 0 } else { shift };
                        let activation = value(a.min, a.max, shift).clamp(a.min.into(), a.max.into());
                        let weight = value(w.min, w.max, shift).clamp(w.min.into(), w.max.into());
                        self.ranges.nearest(TraceOperand { activation, weight })
                    }
                });
            }
        }
        operands
    }

    /// Returns one of the layer's biases, or its least or greatest.
    fn random_output(&self, random: &mut Pcg64Mcg) -> Output {
        let Some(biases) = self.layer.bias.as_ref().filter(|biases| !biases.is_empty()) else {
            return Output::Visible;
        };
        let channel = (random.next_u64() % biases.len() as u64) as usize;
        match random.next_u64() % 4 {
            0 => Output::Visible,
            1 => Output::Biased(biases.iter().copied().max().unwrap_or(0)),
            2 => Output::Biased(biases.iter().copied().min().unwrap_or(0)),
            _ => Output::Biased(biases[channel]),
        }
    }
}
