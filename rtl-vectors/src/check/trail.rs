//! The beats before a difference: what entered the design, and what its register should have done.

use guardbit_hwmodels::{BiasPlace, Check};
use guardbit_sim::trace::{LevelStep, StepKind, trace_observed};

use super::again::Made;
use super::outcome::{Divergence, TrailBeat};
use super::report::{number, value};
use crate::beats::{self, CLEAR, Dot, VALID};
use crate::manifest::Case;
use crate::words::{Mem, field, sign_extend};

/// Number of beats before the one that differs.
const BEFORE: usize = 8;

/// Returns the beats up to the one in which `first` differs; none if it belongs to no beat.
pub(super) fn trail(made: &Made, first: &Divergence) -> Vec<TrailBeat> {
    let cases = &made.bundle.manifest.cases;
    let levels = &made.bundle.manifest.arithmetic.levels;
    let place = |key| number(&first.details, key).map(|number| number as usize);
    // Of a sum or a code, the last beat of its dot product.
    let end = place("beat").or_else(|| {
        let case = cases.iter().find(|case| case.out_word.is_some() && case.out_word == place("word"))?;
        Some(case.first_beat + case.beats - 1)
    });
    // A reset drops what came before it.
    let end = end.filter(|_| first.kind != "reset");
    let (Some(end), Some(ctrl)) = (end.filter(|_| !first.case.is_empty()), ctrl(made)) else { return vec![] };
    let level = levels.iter().position(|level| level.name == first.level).unwrap_or(levels.len() - 1);
    let begin = end.saturating_sub(BEFORE);
    let mut rows = Vec::new();
    for (case, dot) in cases.iter().zip(&made.dots) {
        if case.first_beat <= end && case.first_beat + case.beats > begin {
            rows.extend(of_case(case, dot, level, &ctrl, made.bundle.manifest.interface.lanes));
        }
    }
    rows.retain(|row| (begin..=end).contains(&row.beat));
    if let Some(last) = rows.last_mut() {
        last.got = value(&first.details, "got_dec").and_then(|got| got.parse().ok()).or_else(|| {
            let bits = match first.kind.as_str() {
                "acc" => levels[level].acc_bits,
                _ => return None,
            };
            let got = u64::from_str_radix(value(&first.details, "got")?, 16).ok()?;
            Some(if levels[level].acc_signed { sign_extend(got, bits) } else { got as i64 })
        });
    }
    rows
}

/// Returns the control words.
fn ctrl(made: &Made) -> Option<Mem> {
    let find = |path: &str| made.bundle.files.iter().find(|(name, _)| name == path);
    let bits = made.bundle.manifest.files.iter().find(|file| file.path == "ctrl.mem")?.bits?;
    Mem::parse(&find("ctrl.mem")?.1, bits).ok()
}

/// Returns every beat of a dot product.
fn of_case(case: &Case, dot: &Dot, level: usize, ctrl: &Mem, lanes: usize) -> Vec<TrailBeat> {
    let mut steps: Vec<LevelStep> = Vec::new();
    trace_observed(&dot.layer, 0, &dot.operands, &mut |step| {
        if step.level == level {
            steps.push(*step);
        }
    });
    let mut rows = Vec::new();
    let mut exact = case_start(dot);
    let (mut sent, mut valid) = (0, 0);
    for beat in case.first_beat..case.first_beat + case.beats {
        let row = TrailBeat { beat, case: case.id.clone(), exact, ..TrailBeat::default() };
        if field(ctrl.word(beat), VALID, 1) == 0 {
            rows.push(row);
            continue;
        }
        let used = &dot.operands[sent..(sent + lanes).min(case.terms)];
        sent += used.len();
        exact += used.iter().map(|o| (o.activation * o.weight) as i64).sum::<i64>();
        let index = steps.iter().position(|step| step.last_k / lanes == valid && step.kind == StepKind::Add);
        let add = index.map(|index| (steps[index], held(dot, level, &steps, index)));
        // A tree shows what it hands on.
        let shown = steps.iter().find(|step| step.last_k / lanes == valid && step.kind == StepKind::HandOver);
        valid += 1;
        rows.push(TrailBeat {
            clear: field(ctrl.word(beat), CLEAR, 1) == 1,
            operands: used.iter().map(|o| [o.activation as i64, o.weight as i64]).collect(),
            held: add.map(|(_, held)| held),
            addend: add.map(|(step, held)| step.result as i64 - held),
            exact,
            expected: add.map(|(step, _)| step).or(shown.copied()).map(|step| step.value as i64),
            ..row
        });
    }
    rows
}

/// Returns the exact sum before the first beat.
fn case_start(dot: &Dot) -> i64 {
    match dot.layer.datapath.bias.at {
        BiasPlace::Preload => dot.layer.bias.as_ref().map_or(0, |bias| bias[0] as i64),
        BiasPlace::Post | BiasPlace::PostRequantize => 0,
    }
}

/// Returns the register of `level` before the addition at `index`.
fn held(dot: &Dot, level: usize, steps: &[LevelStep], index: usize) -> i64 {
    let before = steps[..index].iter().rfind(|step| step.kind == StepKind::Add);
    if let Some(before) = before.filter(|before| before.run == steps[index].run) {
        return before.value as i64;
    }
    let datapath = &dot.layer.datapath;
    if datapath.bias.at != BiasPlace::Preload || level + 1 != datapath.levels.len() {
        return 0;
    }
    let (bias, last) = (i128::from(beats::bias_input(dot)), &datapath.levels[level]);
    match last.register.fixed().filter(|_| last.check == Check::EachAdd) {
        Some((format, overflow)) => overflow.fit(bias, format).value as i64,
        None => bias as i64,
    }
}
