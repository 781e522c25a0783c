//! Reconstructs the dot products of a bundle from its stimuli.

use std::ops::Range;
use std::path::Path;

use guardbit_sim::trace::TraceOperand;

use super::files;
use super::refused::{Refused, claim};
use crate::arithmetic::Layers;
use crate::beats::{CLEAR, Dot, RUN_LAST, VALID};
use crate::manifest::{Arithmetic, Case, Interface, Manifest, Operand};
use crate::sizes::MAX_PRODUCTS;
use crate::words::{Mem, field, signed_field};

/// Returns every dot product, with its description in the manifest.
pub(super) fn dots(
    dir: &Path,
    manifest: &Manifest,
    arithmetic: &Arithmetic,
    interface: &Interface,
    terms: usize,
) -> Result<Vec<Dot>, Refused> {
    let lanes = interface.lanes as u32;
    let keep_at = RUN_LAST + arithmetic.levels.len() as u32;
    let beats = Beats {
        ctrl: files::mem(dir, "ctrl.mem", keep_at + lanes)?,
        activations: files::mem(dir, "stim_a.mem", lanes * interface.activation_slot)?,
        weights: files::mem(dir, "stim_w.mem", lanes * interface.weight_slot)?,
        arithmetic,
        interface,
        keep_at,
    };
    let lengths = [&beats.ctrl, &beats.activations, &beats.weights].map(Mem::len);
    if lengths != [lengths[0]; 3] {
        return Err(claim(
            "ctrl.mem, stim_a.mem, stim_w.mem",
            format!("different numbers of beats: {lengths:?}"),
        ));
    }
    // Corner cases are in addition to the requested products.
    if lengths[0].saturating_mul(interface.lanes) > 4 * MAX_PRODUCTS {
        return Err(claim("ctrl.mem", format!("too many beats: {}", lengths[0])));
    }
    let spans = beats.spans();
    let (found, said) = (spans.len(), manifest.cases.len());
    if found != said {
        return Err(claim("/cases", format!("{said} cases, but ctrl.mem starts {found} dot products")));
    }
    let layers = Layers::new(arithmetic)?;
    let cases = manifest.cases.iter().enumerate().zip(spans);
    cases.map(|((index, case), span)| beats.dot(index, case, span, &layers, terms)).collect()
}

struct Beats<'a> {
    ctrl: Mem,
    activations: Mem,
    weights: Mem,
    arithmetic: &'a Arithmetic,
    interface: &'a Interface,
    keep_at: u32,
}

impl Beats<'_> {
    fn bit(&self, beat: usize, bit: u32) -> bool {
        field(self.ctrl.word(beat), bit, 1) == 1
    }

    /// Returns the beats of every dot product. Bubbles belong to the following beat.
    fn spans(&self) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        for beat in (0..self.ctrl.len()).filter(|&beat| self.bit(beat, VALID)) {
            match spans.last_mut() {
                Some(last) if !self.bit(beat, CLEAR) => last.end = beat + 1,
                _ => spans.push(from..beat + 1),
            }
            from = beat + 1;
        }
        spans
    }

    fn dot(
        &self,
        index: usize,
        case: &Case,
        span: Range<usize>,
        layers: &Layers,
        terms: usize,
    ) -> Result<Dot, Refused> {
        let at = |key: &str| format!("/cases/{index}/{key}");
        let valid: Vec<usize> = span.clone().filter(|&beat| self.bit(beat, VALID)).collect();
        let mut operands = Vec::new();
        for &beat in &valid {
            self.operands(beat, &mut operands)?;
        }
        if operands.is_empty() || operands.len() > terms {
            let sent = operands.len();
            return Err(claim(&at("terms"), format!("{sent} products; expected 1 to {terms}")));
        }
        let layer =
            layers.of(case, operands.len()).map_err(|error| claim(&at("multiplier"), error.to_string()))?;
        // Only the last beat of a dot product ends a run of the last level.
        let ends = |&beat: &usize| self.bit(beat, self.keep_at - 1);
        let is_cut = !valid.last().is_some_and(ends);
        if is_cut {
            // Append a further beat, which is never sent.
            operands.resize(operands.len() + self.interface.lanes, TraceOperand { activation: 0, weight: 0 });
        }
        // A bubble comes before every n-th beat.
        let before = span.clone().zip(&valid).position(|(beat, &valid)| beat != valid);
        Ok(Dot {
            id: case.id.clone(),
            group: case.group,
            class: case.class.clone(),
            place: case.place,
            layer,
            operands,
            bubble_every: before.map(|beats| beats + 1),
            cut_after: is_cut.then_some(valid.len()),
        })
    }

    /// Appends the products of a beat.
    fn operands(&self, beat: usize, all: &mut Vec<TraceOperand>) -> Result<(), Refused> {
        let lanes = self.interface.lanes as u32;
        let value = |file: &str, mem: &Mem, lane: u32, slot: u32, info: &Operand| {
            let value = signed_field(mem.word(beat), lane * slot, info.bits);
            match info.holds(value.into()) {
                true => Ok(i128::from(value)),
                false => {
                    let steps = if info.step == 1 { String::new() } else { format!(" by {}", info.step) };
                    let range =
                        format!("{value} in beat {beat}; expected {}..={}{steps}", info.min, info.max);
                    Err(claim(file, range))
                }
            }
        };
        for lane in (0..lanes).filter(|&lane| self.bit(beat, self.keep_at + lane)) {
            let Interface { activation_slot, weight_slot, .. } = *self.interface;
            all.push(TraceOperand {
                activation: value(
                    "stim_a.mem",
                    &self.activations,
                    lane,
                    activation_slot,
                    &self.arithmetic.activation,
                )?,
                weight: value("stim_w.mem", &self.weights, lane, weight_slot, &self.arithmetic.weight)?,
            });
        }
        Ok(())
    }
}
