//! The array part of a bundle: its sums anew, and what its replay says.

use std::path::Path;

use guardbit_sim::trace::trace;

use super::recompute::column;
use super::simulators::{Ran, number, value};
use super::{Divergence, Outcome};
use crate::VectorError;
use crate::array::sum_bits;
use crate::contract::layer_of;
use crate::manifest::{ArrayInfo, Case, Expected, Manifest};
use crate::words::{field, sign_extend};

/// Every expected sum by the reference engine, from the operands in the stimuli.
pub(super) fn recompute(dir: &Path, manifest: &Manifest, info: &ArrayInfo) -> Result<Outcome, VectorError> {
    let read = |name: &str| column(dir, manifest, &format!("array/{name}"));
    let (activations, weights) = (read("stim_a")?, read("stim_w")?);
    let (sums, mask) = (read("exp_sum")?, read("exp_mask")?);
    let arithmetic = &manifest.arithmetic;
    let lane = |words: &Vec<Vec<u64>>, word: usize, lane: usize, bits: u32| {
        words.get(word).map_or(0, |w| sign_extend(field(w, lane as u32 * bits, bits), bits))
    };
    let layer = layer_of(arithmetic, &any_case(manifest))?;
    let (mut checked, mut mismatches, mut first) = (0, 0, None);
    for word in 0..info.words {
        for col in 0..info.cols {
            let output = info.output(word, col);
            let compared = mask.get(word).map_or(0, |w| field(w, col as u32, 1)) == 1;
            let expected = output.map(|output| {
                let operands = info.operands(
                    output,
                    |beat, row| lane(&activations, beat, row, arithmetic.activation.bits),
                    |beat, col| lane(&weights, beat, col, arithmetic.weight.bits),
                );
                trace(&layer, 0, &operands).delivered as i64
            });
            checked += u64::from(expected.is_some());
            let found = compared.then(|| lane(&sums, word, col, sum_bits(arithmetic)));
            if found != expected {
                mismatches += 1;
                let details =
                    format!("word {word}, column {col}: file {found:?}, reference engine {expected:?}");
                first.get_or_insert(Divergence { kind: "sum".into(), details, ..place(info, word, col) });
            }
        }
    }
    Ok(match first {
        Some(first) => Outcome::Fail { mismatches, first },
        None => Outcome::Pass { checked, notes: Vec::new() },
    })
}

/// A dot product without anything of its own: sums depend on neither bias nor multiplier.
fn any_case(manifest: &Manifest) -> Case {
    Case {
        id: "array".into(),
        group: String::new(),
        class: String::new(),
        place: None,
        bias: None,
        input_sum_factor: 0,
        multiplier: 0.5,
        first_beat: 0,
        beats: 0,
        terms: manifest.layer.terms,
        out_word: None,
        expected: Expected::default(),
    }
}

/// Where a sum belongs.
fn place(info: &ArrayInfo, word: usize, col: usize) -> Divergence {
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

/// What the bench of the array printed.
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
    let place = if kind == "sum" { place(info, at("word"), at("column")) } else { Divergence::default() };
    let details = line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
    Ran::Report(Outcome::Fail {
        mismatches,
        first: Divergence { kind: format!("array {kind}"), details, ..place },
    })
}

/// Measured cycles beside the cycle model's.
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
