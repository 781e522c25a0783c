//! Dot products as beats, and the columns of the data files.

use guardbit_num::FloatFormat;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::model::Beat;
use super::unit::{Block, Scales, State, Unit};
use crate::bundle::Format;
use crate::columns::{DataFile, formatted};
use crate::manifest::{CaseGroup, Packing};
use crate::words::Words;

/// Control bits, from the least significant one on: a beat, the first one of a dot product, and its last one.
pub(crate) const VALID: u32 = 0;
pub(crate) const CLEAR: u32 = 1;
pub(crate) const LAST: u32 = 2;
/// First of the control bits that mark lanes in use.
pub(crate) const KEEP: u32 = 3;
/// Flag bits.
pub(crate) const CUT: u32 = 0;
pub(crate) const VANISHED: u32 = 1;

/// Dot product of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FloatDot {
    pub id: String,
    pub group: CaseGroup,
    pub class: String,
    pub place: Option<[usize; 5]>,
    /// Codes of activation and weight per product.
    pub products: Vec<[u32; 2]>,
    /// Terms, and their scales, of a unit with scales of blocks.
    pub blocks: Vec<Block>,
    /// Beat, from 1 on, before which there is a cycle without one.
    pub bubble: Option<usize>,
    /// Whether the next dot product's clear cuts it off.
    pub is_cut: bool,
}

/// Everything that enters, and what the registers hold.
#[derive(Debug, Default)]
pub(crate) struct Beats {
    /// What enters, cycle by cycle.
    pub stream: Vec<Beat>,
    /// The registers after each cycle.
    pub states: Vec<State>,
    /// Results of finished dot products.
    pub sums: Vec<u32>,
}

/// Codes that must not matter.
pub(crate) struct Noise<'u> {
    unit: &'u Unit,
    random: Pcg64Mcg,
}

impl<'u> Noise<'u> {
    pub fn new(unit: &'u Unit, seed: u64) -> Self {
        Self { unit, random: Pcg64Mcg::seed_from_u64(seed) }
    }

    fn codes(&mut self) -> [u32; 2] {
        [self.unit.activation, self.unit.weight].map(|format| self.random.next_u32() >> (32 - format.bits()))
    }

    fn scales(&mut self) -> Vec<[u32; 2]> {
        let Some(Scales { formats, .. }) = self.unit.scales else { return Vec::new() };
        // Random exponents may change nothing, so half of the codes are NaN.
        let mut code = |format: FloatFormat| {
            let any = self.random.next_u32();
            format.nan().filter(|_| any & 1 == 1).unwrap_or(any >> (32 - format.bits()))
        };
        (0..self.unit.terms()).map(|_| formats.map(&mut code)).collect()
    }

    /// Returns the beats of a dot product.
    pub fn beats(&mut self, dot: &FloatDot) -> Vec<Beat> {
        let lanes = self.unit.lanes();
        let additions = self.unit.additions(&dot.products, &dot.blocks);
        let count = additions.len();
        let mut beats = Vec::new();
        for (index, parts) in additions.into_iter().enumerate() {
            if dot.bubble == Some(index) {
                let mut bubble = Beat::bubble(lanes);
                bubble.codes.iter_mut().for_each(|codes| *codes = self.codes());
                bubble.scales = self.scales();
                beats.push(bubble);
            }
            let mut beat = Beat {
                valid: true,
                clear: index == 0,
                last: index + 1 == count && !dot.is_cut,
                ..Beat::bubble(0)
            };
            for (slot, (products, _)) in parts.iter().enumerate() {
                beat.codes.extend(*products);
                beat.keep.resize(beat.codes.len(), true);
                // A group may have fewer products than it has lanes.
                let end = if self.unit.scales.is_none() { 0 } else { (slot + 1) * self.unit.group() };
                beat.codes.resize_with(end.max(beat.codes.len()), || self.codes());
                beat.keep.resize(beat.codes.len(), false);
            }
            beat.codes.resize_with(lanes, || self.codes());
            beat.keep.resize(lanes, false);
            beat.scales = self.scales();
            let given = parts.into_iter().filter_map(|(_, scales)| scales);
            beat.scales.iter_mut().zip(given).for_each(|(scales, own)| *scales = own);
            beats.push(beat);
        }
        beats
    }
}

impl Beats {
    /// Sends a dot product, and returns its first beat and the word of its result.
    pub fn send(&mut self, dot: &FloatDot, unit: &Unit, noise: &mut Noise<'_>) -> (usize, Option<usize>) {
        let first = self.stream.len();
        let mut states = unit.states(&dot.products, &dot.blocks, !dot.is_cut).into_iter();
        let mut held = self.states.last().copied();
        // Before its first promotion, the float32 sum is that of the dot product before.
        let before = held.map_or(0, |state| state.total);
        let mut is_promoted = false;
        let count = states.len();
        let mut number = 0;
        for beat in noise.beats(dot) {
            if beat.valid
                && let Some(mut state) = states.next()
            {
                number += 1;
                let border = unit.promotion().is_some_and(|every| number % every == 0);
                is_promoted |= border || !dot.is_cut && number == count;
                if !is_promoted {
                    state.total = before;
                }
                held = Some(state);
            }
            self.states.push(held.unwrap_or(State { acc: 0, total: 0, cut: false, vanished: false }));
            self.stream.push(beat);
        }
        let word = (!dot.is_cut).then(|| {
            let last = self.states.last().copied();
            let sum = |state: State| if unit.promotion().is_some() { state.total } else { state.acc };
            self.sums.push(last.map_or(0, sum));
            self.sums.len() - 1
        });
        (first, word)
    }

    /// Returns the data files.
    pub fn files(&self, unit: &Unit, packing: Packing, formats: &[Format]) -> Vec<DataFile> {
        let lanes = unit.lanes();
        let operand = |side: usize, bits: u32| {
            let codes = self.stream.iter().flat_map(|beat| beat.codes.iter().map(|codes| codes[side].into()));
            Words::lanes(lanes, bits, packing, codes.collect()).unsigned()
        };
        let scale = |side: usize, bits: u32| {
            let codes =
                self.stream.iter().flat_map(|beat| beat.scales.iter().map(|codes| codes[side].into()));
            Words::lanes(unit.terms(), bits, packing, codes.collect()).unsigned()
        };
        let bits = |count: u32, word: &dyn Fn(usize) -> i64| {
            Words::values(count, false, (0..self.stream.len()).map(word).collect())
        };
        let control = |beat: &Beat| -> Vec<i64> {
            let bits = [beat.valid, beat.clear, beat.last];
            bits.iter().chain(&beat.keep).map(|&bit| i64::from(bit)).collect()
        };
        // The bits of a word of more than 64 are values of their own.
        let width = KEEP + lanes as u32;
        let control = if width <= u64::BITS {
            let word = |bits: Vec<i64>| bits.iter().rev().fold(0, |word, bit| word << 1 | bit);
            Words::values(width, false, self.stream.iter().map(|beat| word(control(beat))).collect())
        } else {
            let bits = self.stream.iter().flat_map(control).collect();
            Words::lanes(width as usize, 1, Packing::Dense, bits).unsigned()
        };
        let flags = |at: usize| {
            i64::from(self.states[at].cut) << CUT | i64::from(self.states[at].vanished) << VANISHED
        };
        let result = unit.dot.rule.result.bits();
        let sum_bits = if unit.promotion().is_some() { 32 } else { result };
        let sums = self.sums.iter().map(|&sum| sum.into()).collect();
        let mut columns = vec![
            ("stim_a", "stimulus: codes of activations", operand(0, unit.activation.bits())),
            ("stim_w", "stimulus: codes of weights", operand(1, unit.weight.bits())),
            ("ctrl", "stimulus: control", control),
            (
                "exp_acc",
                "expected: code of the accumulator after each beat",
                bits(result, &|at| self.states[at].acc.into()),
            ),
            ("exp_flags", "expected: flags", bits(2, &flags)),
            (
                "exp_sum",
                "expected per finished dot product: code of the result",
                Words::values(sum_bits, false, sums),
            ),
        ];
        if let Some(Scales { formats: [a, w], .. }) = unit.scales {
            columns.push(("stim_sa", "stimulus: codes of the scales of activations", scale(0, a.bits())));
            columns.push(("stim_sw", "stimulus: codes of the scales of weights", scale(1, w.bits())));
        }
        if unit.promotion().is_some() {
            let total = bits(32, &|at| self.states[at].total.into());
            columns.push(("exp_total", "expected: float32 sum after each beat", total));
        }
        columns.iter().flat_map(|(name, role, words)| formatted(name, role, words, formats)).collect()
    }
}
