//! Compares a bundle with the bundle generated again: the claims of its manifest, and the words of its files.

use std::path::Path;

use serde_json::Value;

use super::dut::Dut;
use super::outcome::{Divergence, Outcome};
use super::simulators::{Bench, find_case};
use super::{array, files};
use crate::bundle::Bundle;
use crate::manifest::{Compared, FileInfo, Manifest};
use crate::profile::DutProfile;
use crate::read;
use crate::words::{Mem, sign_extend};

/// Greatest length of a value that is shown.
const SHOWN: usize = 80;

/// Compares every field of the manifest except the hashes of files, which are compared with the files. If
/// these differ, the manifest's own hash differs too.
pub(super) fn claims(manifest: &Manifest, made: &Manifest) -> Outcome {
    let is_sealed = manifest.files == made.files;
    let json = |manifest: &Manifest| {
        let hidden = manifest.files.iter().map(|file| FileInfo { sha256: String::new(), ..file.clone() });
        let mut manifest = Manifest { files: hidden.collect(), ..manifest.clone() };
        if !is_sealed {
            manifest.sha256.clear();
        }
        serde_json::to_value(manifest).unwrap_or_default()
    };
    Fields::outcome(&json(manifest), &json(made))
}

/// Comparison of two manifests, field by field.
#[derive(Default)]
pub(crate) struct Fields {
    checked: u64,
    mismatches: u64,
    first: Option<String>,
}

impl Fields {
    /// Compares what a manifest says with what is expected.
    pub fn outcome(said: &Value, made: &Value) -> Outcome {
        let mut fields = Self::default();
        fields.compare(&mut String::new(), said, made);
        let Some(details) = fields.first else {
            return Outcome::Pass { checked: fields.checked, notes: Vec::new() };
        };
        let first = Divergence { kind: "claim".into(), details, ..Divergence::default() };
        Outcome::Fail { mismatches: fields.mismatches, first }
    }

    fn compare(&mut self, at: &mut String, said: &Value, made: &Value) {
        let length = at.len();
        match (said, made) {
            (Value::Object(said), Value::Object(made)) if said.len() == made.len() => {
                for (key, made) in made {
                    *at += &format!("/{key}");
                    self.compare(at, said.get(key).unwrap_or(&Value::Null), made);
                    at.truncate(length);
                }
            }
            (Value::Array(said), Value::Array(made)) => {
                for (index, (said, made)) in said.iter().zip(made).enumerate() {
                    *at += &format!("/{index}");
                    self.compare(at, said, made);
                    at.truncate(length);
                }
                if said.len() != made.len() {
                    let lengths = format!("{at}: found {} entries, expected {}", said.len(), made.len());
                    self.differs(lengths);
                }
            }
            _ => {
                self.checked += 1;
                if said != made {
                    self.differs(format!("{at}: the manifest has {}, expected {}", shown(said), shown(made)));
                }
            }
        }
    }

    fn differs(&mut self, details: String) {
        self.mismatches += 1;
        self.first.get_or_insert(details);
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Returns the number of values that a bench compares.
pub(super) fn comparisons(manifest: &Manifest, bench: Bench, dut: Option<&Dut>) -> u64 {
    let Compared { acc, sum, out, array_sum } = &manifest.compared;
    let profile = dut.map_or(DutProfile::Full, |dut| dut.profile);
    match bench {
        Bench::Array => *array_sum,
        Bench::Unit => {
            let acc = if profile.has_accumulators() { acc.iter().sum() } else { 0 };
            acc + sum + if profile.has_codes() { *out } else { 0 }
        }
    }
}

/// Compares every word of the files of the unit, or of the array; the expected words come from the reference
/// engine.
pub(super) fn words(dir: &Path, made: &Bundle, of_array: bool) -> Outcome {
    let (mut checked, mut mismatches, mut first) = (0, 0, None);
    let mut differs = |divergence: &dyn Fn() -> Divergence| {
        mismatches += 1;
        first.get_or_insert_with(divergence);
    };
    let is_here = |path: &str| files::has_words(path) && path.starts_with("array/") == of_array;
    for (path, expected) in made.files.iter().filter(|(path, _)| is_here(path)) {
        let bits = made.manifest.files.iter().find(|file| file.path == *path).and_then(|file| file.bits);
        let problem = |kind: &str, problem: String| {
            let details = format!("{path}: {problem}");
            Divergence { kind: kind.into(), details, ..Divergence::default() }
        };
        let [found, expected] = match both(dir, path, expected, bits.unwrap_or(1)) {
            Ok(both) => both,
            Err(text) => {
                differs(&|| problem("file", text.clone()));
                continue;
            }
        };
        let lengths = [found.len(), expected.len()];
        if lengths[0] != lengths[1] {
            differs(&|| problem("count", format!("found {} words, expected {}", lengths[0], lengths[1])));
        }
        checked += lengths[1] as u64;
        for word in (0..lengths[0].min(lengths[1])).filter(|&word| found.word(word) != expected.word(word)) {
            differs(&|| place(&made.manifest, path, word, [found.word(word), expected.word(word)], bits));
        }
    }
    match first {
        Some(first) => Outcome::Fail { mismatches, first },
        None => Outcome::Pass { checked, notes: Vec::new() },
    }
}

/// Returns the words of a file, and the expected words.
fn both(dir: &Path, path: &str, expected: &[u8], bits: u32) -> Result<[Mem; 2], String> {
    let found = read::bytes(dir, path, expected.len() as u64).map_err(|error| error.to_string())?;
    Ok([Mem::parse(&found, bits)?, Mem::parse(expected, bits)?])
}

/// Returns the location of a word that differs.
fn place(manifest: &Manifest, path: &str, word: usize, both: [&[u64]; 2], bits: Option<u32>) -> Divergence {
    let stem = path.trim_end_matches(".mem");
    let (kind, level) = match stem.strip_prefix("exp_") {
        Some(rest) => match rest.strip_prefix("acc_") {
            Some(level) => ("acc", level),
            None => (rest, ""),
        },
        None => (stem, ""),
    };
    let hex = |word: &[u64]| {
        let digits: String = word.iter().rev().map(|limb| format!("{limb:016x}")).collect();
        let digits = digits.trim_start_matches('0');
        match (bits, word) {
            (Some(bits @ 2..=64), [limb]) => format!("0x{digits:0>1} ({})", sign_extend(*limb, bits)),
            _ => format!("0x{digits:0>1}"),
        }
    };
    let [found, expected] = both.map(hex);
    let details = format!("{path} word {word}: found {found}, reference engine {expected}");
    if stem.starts_with("array/") {
        let column = if stem == "array/exp_sum" { array::place(manifest, word) } else { String::new() };
        return Divergence { kind: kind.into(), case: column, details, ..Divergence::default() };
    }
    let case = match kind {
        "sum" | "out" => find_case(manifest, None, Some(word)),
        _ if stem.starts_with("stim_") && !["stim_a", "stim_w"].contains(&stem) => manifest.cases.get(word),
        _ => find_case(manifest, Some(word), None),
    };
    let case = case.map_or(String::new(), |case| case.id.clone());
    Divergence { kind: kind.into(), case, level: level.into(), details, ..Divergence::default() }
}
