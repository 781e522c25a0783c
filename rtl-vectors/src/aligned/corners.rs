//! Corner cases: dot products that reach a bin that nothing else reaches, or show a fault that nothing else shows.
//!
//! Random dot products are drawn around the borders of the arithmetic. The model says what they reach.

use super::aimed::{self, AIMED};
use super::beats::{FloatDot, Noise};
use super::draw::{DRAWN, Draw, lone_specials};
use super::fault::{Fault, MUTANTS};
use super::model::{BINS, Beat, Model, Shown};
use super::scaled;
use super::unit::{Block, Unit};
use crate::manifest::CaseGroup;
use crate::real::id;

/// Number of drawn dot products in a row that may bring nothing new.
const IDLE: usize = 3000;
/// Dot products that each fault is shown by.
const SHOWN: usize = 2;

/// Counts of the cases that reach each bin, by the sign of what is in it.
pub(super) type Reach = [[usize; 2]; BINS.len()];

/// Adds what the beats of a case reach, and returns what the registers show after each.
pub(super) fn count(unit: &Unit, beats: &[Beat], is_cut: bool, reach: &mut Reach) -> Vec<Option<Shown>> {
    let mut seen = [[false; 2]; BINS.len()];
    let mut model = Model::new(*unit, None);
    let mut step = |beat| model.step(beat, &mut |name, negative| mark(&mut seen, name, negative));
    let shown = beats.iter().map(&mut step).collect();
    if is_cut {
        mark(&mut seen, "clear_mid", false);
    }
    for (counts, seen) in reach.iter_mut().zip(seen) {
        counts.iter_mut().zip(seen).for_each(|(count, seen)| *count += usize::from(seen));
    }
    shown
}

fn mark(seen: &mut [[bool; 2]; BINS.len()], name: &str, negative: bool) {
    if let Some(bin) = BINS.iter().position(|&bin| bin == name) {
        seen[bin][usize::from(negative)] = true;
    }
}

/// Returns the corner cases of a unit whose layer has dot products of `terms` products.
pub(super) fn corners(unit: &Unit, terms: usize, seed: u64) -> Vec<FloatDot> {
    let mut draw = Draw::new(unit, terms, seed);
    let mut reach: Reach = [[0; 2]; BINS.len()];
    let mut open: Vec<(Fault, usize)> = MUTANTS
        .iter()
        .filter(|mutant| mutant.fault != Fault::ResetIgnored && (mutant.applies)(unit))
        .filter(|mutant| (mutant.equivalent)(unit, draw.most).is_none())
        .map(|mutant| (mutant.fault, 0))
        .collect();
    let mut dots: Vec<FloatDot> = Vec::new();
    let mut idle = 0;
    // One operand that is not finite comes before all else: nothing hides it.
    let mut lone: Vec<([u32; 2], [u32; 2])> =
        lone_specials(unit).into_iter().map(|codes| (codes, unit.ones())).collect();
    if let Some(scales) = unit.scales {
        let plain = draw.plain(false);
        lone.extend(scaled::lone_ends(scales, unit.ones()).into_iter().map(|scales| (plain, scales)));
    }
    let drawn = lone.len() + DRAWN;
    for number in 0..drawn + AIMED {
        let is_aimed = number >= drawn || idle > IDLE;
        let mut products = match lone.get(number) {
            Some(&(codes, _)) => vec![codes],
            // Aims at what nothing has shown yet.
            None if is_aimed && open.iter().all(|(_, count)| *count > 0) => break,
            None if is_aimed => aimed::products(&mut draw, number),
            None => draw.products(number - lone.len()),
        };
        if products.is_empty() {
            continue;
        }
        let blocks = match lone.get(number) {
            Some(&(_, scales)) if unit.scales.is_some() => vec![Block { count: 1, scales }],
            Some(_) => Vec::new(),
            None => scaled::blocks(&mut draw, &mut products),
        };
        let mut dot = FloatDot {
            id: String::new(),
            group: CaseGroup::Corner,
            class: String::new(),
            place: None,
            products,
            blocks,
            bubble: None,
            is_cut: false,
        };
        let beats = Noise::new(unit, seed ^ number as u64).beats(&dot);
        let mut own: Reach = [[0; 2]; BINS.len()];
        let right = count(unit, &beats, false, &mut own);
        let is_new = |bin: usize| (0..2).any(|sign| own[bin][sign] > 0 && reach[bin][sign] == 0);
        let bin = (0..BINS.len()).find(|&bin| is_new(bin)).map(|bin| BINS[bin]);
        let shown: Vec<usize> =
            (0..open.len()).filter(|&at| differs(unit, open[at].0, &beats, &right)).collect();
        let fault = shown.first().map(|&at| open[at].0);
        let class = bin.or_else(|| {
            fault.and_then(|fault| {
                MUTANTS.iter().find(|mutant| mutant.fault == fault).map(|mutant| mutant.patch.name())
            })
        });
        idle += 1;
        let Some(class) = class else { continue };
        // The aimed ones go on.
        idle = if is_aimed { IDLE + 1 } else { 0 };
        reach.iter_mut().zip(own).for_each(|(all, own)| (0..2).for_each(|sign| all[sign] += own[sign]));
        shown.iter().for_each(|&at| open[at].1 += 1);
        open.retain(|(_, count)| *count < SHOWN);
        dot.class = class.into();
        dots.push(dot);
    }
    dots.extend(draw.control());
    for (number, dot) in dots.iter_mut().enumerate() {
        dot.id = id(&dot.class, number);
    }
    dots
}

/// Returns whether a fault shows.
fn differs(unit: &Unit, fault: Fault, beats: &[Beat], right: &[Option<Shown>]) -> bool {
    let mut model = Model::new(*unit, Some(fault));
    beats.iter().zip(right).any(|(beat, right)| model.step(beat, &mut |_, _| {}) != *right)
}
