//! Array part of a bundle: generates it again, and interprets its replay.

use std::path::Path;

use guardbit_graph::Window;
use guardbit_hwmodels::Accelerator;

use super::files;
use super::outcome::{Divergence, Outcome};
use super::refused::{Refused, claim};
use super::report::{Ran, number, value};
use crate::arithmetic::{Layers, any_case};
use crate::array::{self, ArrayOfBundle, MAX_ELEMENTS, NoArray};
use crate::manifest::{Arithmetic, ArrayInfo, CaseGroup, Manifest};
use crate::words::{Mem, signed_field};

/// Returns the array part, generated from its own stimuli if present.
///
/// Only the exporter knows some reasons for a missing part, so these are taken from the manifest.
pub(super) fn part(
    dir: &Path,
    manifest: &Manifest,
    accelerator: &Accelerator,
    window: &Window,
    arithmetic: &Arithmetic,
    terms: usize,
) -> Result<ArrayOfBundle, Refused> {
    let layer = Layers::new(arithmetic)?.of(&any_case(terms, None), terms)?;
    let [rows, cols] = [accelerator.array.rows, accelerator.array.cols];
    let [a, w] = [arithmetic.activation.bits, arithmetic.weight.bits];
    let is_there = manifest.array.is_some() && rows * cols <= MAX_ELEMENTS;
    let read = |name: &str, lanes: usize, bits: u32| match is_there {
        true => files::mem(dir, name, lanes as u32 * bits).map(Some),
        false => Ok(None),
    };
    let [activations, weights] = [read("array/stim_a.mem", rows, a)?, read("array/stim_w.mem", cols, w)?];
    let lane = |mem: &Option<Mem>, beat: usize, lane: usize, bits: u32| {
        mem.as_ref().map_or(0, |mem| signed_field(mem.word(beat), lane as u32 * bits, bits))
    };
    let operands: [&dyn Fn(usize, usize) -> i64; 2] = [
        &|beat, row| {
            lane(&activations, beat, row, a).clamp(arithmetic.activation.min, arithmetic.activation.max)
        },
        &|beat, col| lane(&weights, beat, col, w).clamp(arithmetic.weight.min, arithmetic.weight.max),
    ];
    let first_pixel = manifest.array.as_ref().map_or(0, |info| info.first_pixel);
    let seed = manifest.source.seed;
    let made = array::again(accelerator, window, &layer, arithmetic, first_pixel, operands, seed);
    if made.is_err() || manifest.array.is_some() {
        return Ok(made.into());
    }
    let reason = manifest.array_absent.as_deref().and_then(NoArray::of_operands);
    let reason = reason.ok_or_else(|| claim("/array_absent", "a design of this array exists"))?;
    let has_activations = manifest.cases.iter().any(|case| case.group == CaseGroup::Real);
    if reason == NoArray::NoActivations && has_activations {
        return Err(claim("/array_absent", "the bundle has cases with real activations"));
    }
    Ok(ArrayOfBundle::Absent(reason))
}

/// Returns where the sums of a word belong.
pub(super) fn place(manifest: &Manifest, word: usize) -> String {
    manifest.array.as_ref().map_or(String::new(), |info| sum(info, word, 0).case)
}

/// Returns where a sum belongs.
fn sum(info: &ArrayInfo, word: usize, col: usize) -> Divergence {
    let case = info.output(word, col).map_or(String::new(), |o| {
        let (pixel, channel) = (info.first_pixel + o.pixel, o.channel);
        match info.tiles.get(o.tile).filter(|_| o.group >= info.groups) {
            None => format!("tile {} (group {}, pixel {pixel}, channel {channel} of it)", o.tile, o.group),
            Some(tile) => {
                format!("tile {} ({}, row or pixel {}, column {channel})", o.tile, tile.class, o.pixel)
            }
        }
    });
    Divergence { case, ..Divergence::default() }
}

/// Interprets the output of the array's bench.
pub(super) fn parse(text: &str, manifest: &Manifest) -> Ran {
    let (Some(result), Some(info)) =
        (text.lines().find_map(|line| Some(&line[line.find("RESULT ")?..])), &manifest.array)
    else {
        return Ran::Broken(text.into());
    };
    let mismatches = number(result, "mismatches").unwrap_or(1);
    if mismatches == 0 {
        let checked = number(result, "checked").unwrap_or(0);
        return Ran::Report(Outcome::Pass { checked, notes: notes(result, info) });
    }
    let line = text.lines().find_map(|line| Some(&line[line.find("MISMATCH ")?..])).unwrap_or("");
    let kind = value(line, "kind").unwrap_or_default();
    let at = |key: &str| number(line, key).unwrap_or(0) as usize;
    let place = if kind == "sum" { sum(info, at("word"), at("column")) } else { Divergence::default() };
    let details = line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
    Ran::Report(Outcome::Fail {
        mismatches,
        first: Divergence { kind: format!("array {kind}"), details, ..place },
    })
}

/// Returns the measured cycles next to those of the cycle model.
fn notes(result: &str, info: &ArrayInfo) -> Vec<String> {
    let model = &info.cycles;
    let both = |name: &str, key: &str, model: usize| {
        format!("{name} {} ({model})", value(result, key).unwrap_or_default())
    };
    let mut parts = vec![both("preload", "preload", model.preload), both("fill", "fill", model.fill)];
    let real = info.tiles.iter().filter(|tile| tile.group < info.groups).count();
    if real > 1 {
        parts.push(both("tile to tile", "period", model.period));
    }
    parts.push(both("drain", "drain", model.drain));
    let cycles = value(result, "cycles").unwrap_or_default();
    let mut notes = vec![
        format!(
            "{real} real tiles on {} x {} in {cycles} cycles, cycle model ({}) {}; {} corner tiles",
            info.rows,
            info.cols,
            model.convention,
            model.model,
            info.tiles.len() - real
        ),
        format!("measured (model): {}", parts.join(", ")),
    ];
    notes.extend(model.difference.clone());
    notes
}
