//! Every expected value anew: stimuli read back from the files, run through the reference engine.

use std::path::Path;

use guardbit_sim::trace::{TraceOperand, trace};

use super::{Divergence, Outcome, files};
use crate::VectorError;
use crate::beats::{self, CLEAR, Dot, FLAG_BITS, LevelState, RUN_LAST, VALID};
use crate::contract::{layer_of, multiplier_words};
use crate::manifest::{Case, Manifest};
use crate::words::{field, parse_mem, sign_extend};

pub(super) fn recompute(dir: &Path, manifest: &Manifest) -> Result<Outcome, VectorError> {
    let data = Data::read(dir, manifest)?;
    let mut checker = Checker { manifest, data, checked: 0, mismatches: 0, first: None };
    for (started, case) in manifest.cases.iter().enumerate() {
        checker.case(case, started)?;
    }
    let beats = manifest.cases.iter().map(|c| c.beats).sum::<usize>();
    let found = checker.data.ctrl.len();
    if beats != found {
        checker.differs("count", None, "", format!("{beats} beats in the cases, {found} in ctrl.mem"));
    }
    Ok(match checker.first {
        Some(first) => Outcome::Fail { mismatches: checker.mismatches, first },
        None => Outcome::Pass { checked: checker.checked, notes: Vec::new() },
    })
}

/// The words of a file.
pub(super) type Column = Vec<Vec<u64>>;

/// Reads `NAME.mem`.
pub(super) fn column(dir: &Path, manifest: &Manifest, name: &str) -> Result<Column, VectorError> {
    let file = format!("{name}.mem");
    let info = manifest.files.iter().find(|f| f.path == file);
    let sized = info.and_then(|f| Some((f.words?, f.bits?)));
    let (words, bits) = sized.ok_or_else(|| VectorError::Data {
        file: file.clone(),
        problem: "the manifest gives no number of words and bits".into(),
    })?;
    let text = files::read(&dir.join(&file))?;
    parse_mem(&text, bits, words).map_err(|problem| VectorError::Data { file, problem })
}

struct Data {
    activations: Column,
    weights: Column,
    ctrl: Column,
    bias: Column,
    multiplier: Column,
    exponent: Column,
    accs: Vec<Column>,
    flags: Column,
    mask: Column,
    wide: Column,
    sums: Column,
    codes: Column,
}

impl Data {
    fn read(dir: &Path, manifest: &Manifest) -> Result<Self, VectorError> {
        let column = |name: &str| column(dir, manifest, name);
        let levels = &manifest.arithmetic.levels;
        Ok(Self {
            activations: column("stim_a")?,
            weights: column("stim_w")?,
            ctrl: column("ctrl")?,
            bias: column("stim_bias")?,
            multiplier: column("stim_mult")?,
            exponent: column("stim_exp")?,
            accs: levels.iter().map(|l| column(&format!("exp_acc_{}", l.name))).collect::<Result<_, _>>()?,
            flags: column("exp_flags")?,
            mask: column("mask")?,
            wide: column("exp_wide")?,
            sums: column("exp_sum")?,
            codes: column("exp_out")?,
        })
    }

    /// Files of words per beat, and of words per dot product, must be as long as their like.
    fn beat(&self, column: &Column, beat: usize) -> Option<Vec<u64>> {
        column.get(beat).cloned()
    }
}

struct Checker<'a> {
    manifest: &'a Manifest,
    data: Data,
    checked: u64,
    mismatches: u64,
    first: Option<Divergence>,
}

impl Checker<'_> {
    fn differs(&mut self, kind: &str, case: Option<&Case>, level: &str, details: String) {
        self.mismatches += 1;
        let case = case.map_or(String::new(), |c| c.id.clone());
        self.first.get_or_insert(Divergence { kind: kind.into(), case, level: level.into(), details });
    }

    fn same(&mut self, kind: &str, case: &Case, level: &str, at: String, expected: i64, found: i64) {
        self.checked += 1;
        if expected != found {
            let details =
                format!("{at}: file {found:#x} ({found}), reference engine {expected:#x} ({expected})");
            self.differs(kind, Some(case), level, details);
        }
    }

    fn case(&mut self, case: &Case, started: usize) -> Result<(), VectorError> {
        let (arithmetic, interface) = (&self.manifest.arithmetic, &self.manifest.interface);
        let (levels, lanes) = (arithmetic.levels.len(), interface.lanes);
        let layer = layer_of(arithmetic, case)?;
        let keep_at = RUN_LAST + levels as u32;
        let mut operands = Vec::new();
        let mut sent = Vec::new();
        for beat in case.first_beat..case.first_beat + case.beats {
            let missing =
                || VectorError::Data { file: "ctrl.mem".into(), problem: format!("beat {beat} is missing") };
            let ctrl = self.data.beat(&self.data.ctrl, beat).ok_or_else(missing)?;
            if field(&ctrl, VALID, 1) == 0 {
                continue;
            }
            let a = self.data.beat(&self.data.activations, beat).ok_or_else(missing)?;
            let w = self.data.beat(&self.data.weights, beat).ok_or_else(missing)?;
            for lane in (0..lanes as u32).filter(|&lane| field(&ctrl, keep_at + lane, 1) == 1) {
                let value = |word: &[u64], slot: u32, bits: u32| {
                    i128::from(sign_extend(field(word, lane * slot, bits), bits))
                };
                operands.push(TraceOperand {
                    activation: value(&a, interface.activation_slot, arithmetic.activation.bits),
                    weight: value(&w, interface.weight_slot, arithmetic.weight.bits),
                });
            }
            sent.push((beat, ctrl));
        }
        let trace = trace(&layer, 0, &operands);
        let rows = beats::rows(&layer.datapath, &trace, lanes, sent.len().max(1));
        let ends = beats::run_ends(&layer.datapath, operands.len(), lanes);
        let is_cut = case.out_word.is_none();
        let mut wide = if arithmetic.bias.at == "preload" { i128::from(case.bias.unwrap_or(0)) } else { 0 };
        let mut next = operands.iter();
        for (index, (beat, ctrl)) in sent.iter().enumerate() {
            let kept = field(ctrl, keep_at, lanes as u32).count_ones() as usize;
            wide += next.by_ref().take(kept).map(|o| o.activation * o.weight).sum::<i128>();
            let found = self.word(&self.data.wide, *beat, 64);
            self.same("wide", case, "", format!("beat {beat}"), wide as i64, found);
            let clear = field(ctrl, CLEAR, 1) as i64;
            self.same("ctrl", case, "", format!("clear of beat {beat}"), i64::from(index == 0), clear);
            // The last beat of a dot product that is cut off ends no runs but those that were complete anyway.
            let cut_here = is_cut && index + 1 == sent.len();
            for (level, end) in ends.iter().enumerate().filter(|_| !cut_here) {
                let bit = field(ctrl, RUN_LAST + level as u32, 1) as i64;
                self.same(
                    "ctrl",
                    case,
                    "",
                    format!("run_last of level {level} in beat {beat}"),
                    end[index].into(),
                    bit,
                );
            }
            self.levels(case, *beat, &rows[index], cut_here.then_some(ctrl.as_slice()));
        }
        let dot = Dot {
            id: case.id.clone(),
            group: "",
            class: String::new(),
            place: None,
            layer,
            operands,
            bubble_every: None,
            cut_after: None,
        };
        if !is_cut {
            let found = self.word(&self.data.bias, started, arithmetic.bias.input_bits);
            self.same("bias", case, "", format!("dot product {started}"), beats::bias_input(&dot), found);
        }
        let [significand, exponent] = multiplier_words(dot.layer.requantizers[0]);
        let mult_bits = arithmetic.requantize.mult_bits;
        let found = [
            self.word(&self.data.multiplier, started, mult_bits),
            self.word(&self.data.exponent, started, 8),
        ];
        let at = format!("dot product {started}");
        self.same("multiplier", case, "", at.clone(), significand, found[0]);
        self.same("exponent", case, "", at, exponent, found[1]);
        if let Some(word) = case.out_word {
            let last = arithmetic.levels[levels - 1].stage.port_bits;
            let found = [
                self.word(&self.data.sums, word, last),
                self.word(&self.data.codes, word, arithmetic.requantize.out_bits),
            ];
            self.same("sum", case, "", format!("word {word}"), trace.delivered as i64, found[0]);
            self.same("out", case, "", format!("word {word}"), trace.code.into(), found[1]);
        }
        Ok(())
    }

    fn levels(&mut self, case: &Case, beat: usize, row: &[LevelState], cut: Option<&[u64]>) {
        let levels = &self.manifest.arithmetic.levels;
        let mask = self.data.mask.get(beat).map_or(0, |w| field(w, 0, levels.len() as u32));
        for (index, (level, state)) in levels.iter().zip(row).enumerate() {
            let ended = |i: usize| cut.is_none_or(|ctrl| field(ctrl, RUN_LAST + i as u32, 1) == 1);
            let updated = state.updated && (index == 0 || ended(index - 1));
            self.same(
                "mask",
                case,
                &level.name,
                format!("beat {beat}"),
                updated.into(),
                (mask >> index & 1) as i64,
            );
            if !updated {
                continue;
            }
            let raw = self.data.accs[index].get(beat).map_or(0, |w| field(w, 0, level.acc_bits));
            let found = if level.acc_signed { sign_extend(raw, level.acc_bits) } else { raw as i64 };
            self.same("acc", case, &level.name, format!("beat {beat}"), state.acc, found);
            if level.check == "hand_over" && !ended(index) {
                continue;
            }
            let flags = state.flags() as i64;
            let found =
                self.data.flags.get(beat).map_or(0, |w| field(w, index as u32 * FLAG_BITS, FLAG_BITS));
            self.same("flags", case, &level.name, format!("beat {beat}"), flags, found as i64);
        }
    }

    fn word(&self, column: &Column, index: usize, bits: u32) -> i64 {
        column.get(index).map_or(0, |w| sign_extend(field(w, 0, bits), bits))
    }
}
