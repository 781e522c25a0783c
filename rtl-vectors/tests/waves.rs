//! Reads waveforms back with another library, and compares them with the data files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{UNITS, bundle};
use guardbit_rtl_vectors::manifest::Manifest;
use wellen::simple::Waveform;
use wellen::{Hierarchy, Scope};

/// Values of a signal after every beat.
type Column = Vec<String>;

fn collect(hierarchy: &Hierarchy, scope: &Scope, found: &mut Vec<(String, wellen::SignalRef)>) {
    for var in scope.vars(hierarchy) {
        found.push((hierarchy[var].full_name(hierarchy), hierarchy[var].signal_ref()));
    }
    for inner in scope.scopes(hierarchy) {
        collect(hierarchy, &hierarchy[inner], found);
    }
}

/// Returns every signal of a file by its full name, as bits per beat.
fn signals(path: &Path) -> BTreeMap<String, Column> {
    let mut wave: Waveform = wellen::simple::read(path).unwrap();
    let mut names = Vec::new();
    for scope in wave.hierarchy().scopes() {
        collect(wave.hierarchy(), &wave.hierarchy()[scope], &mut names);
    }
    let ids: Vec<_> = names.iter().map(|(_, id)| *id).collect();
    wave.load_signals(&ids);
    let times = wave.time_table();
    let beats = times.len() - 1;
    assert!(times.iter().enumerate().all(|(beat, &time)| time == 10 * beat as u64), "10 ns a beat");
    let column = |id| -> Column {
        let signal = wave.get_signal(id).unwrap();
        let at = |beat: usize| signal.get_offset(beat as u32).unwrap();
        (0..beats).map(|beat| signal.get_value_at(&at(beat), 0).to_bit_string().unwrap()).collect()
    };
    names.iter().map(|(name, id)| (name.clone(), column(*id))).collect()
}

/// Returns the words of a `.mem` file as bits.
fn words(dir: &Path, manifest: &Manifest, name: &str) -> Column {
    let path = format!("{name}.mem");
    let info = manifest.files.iter().find(|f| f.path == path).unwrap();
    let bits = info.bits.unwrap() as usize;
    let word = |line: &str| {
        let all: String = line.chars().map(|c| format!("{:04b}", c.to_digit(16).unwrap())).collect();
        all[all.len() - bits..].to_owned()
    };
    fs::read_to_string(dir.join(path)).unwrap().lines().map(word).collect()
}

/// Returns bit `index` of every word.
fn bit(words: &Column, index: usize) -> Column {
    words.iter().map(|w| w[w.len() - 1 - index..w.len() - index].to_owned()).collect()
}

#[test]
fn waves_show_what_the_files_hold() {
    for &unit in UNITS {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let manifest = bundle(dir, unit);
        for format in ["vcd", "fst"] {
            let path = format!("waves/vectors.{format}");
            let at = format!("{} {format}", unit.accelerator);
            assert!(manifest.files.iter().any(|f| f.path == path && f.role.starts_with("waves")), "{at}");
            let signals = signals(&dir.join(path));
            let same = |signal: &str, expected: &Column| {
                let found = signals.get(&format!("guardbit.{signal}"));
                assert!(found == Some(expected), "{at}: {signal}");
            };
            let [ctrl, flags, mask, wide] =
                ["ctrl", "exp_flags", "mask", "exp_wide"].map(|name| words(dir, &manifest, name));
            same("valid", &bit(&ctrl, 0));
            same("clear", &bit(&ctrl, 1));
            same("exact", &wide);
            let cases = manifest.cases.iter().enumerate();
            let numbers = cases.flat_map(|(index, case)| vec![format!("{index:032b}"); case.beats]);
            same("case", &numbers.collect());
            for (index, level) in manifest.arithmetic.levels.iter().enumerate() {
                let name = &level.name;
                same(&format!("{name}.acc"), &words(dir, &manifest, &format!("exp_acc_{name}")));
                same(&format!("{name}.updated"), &bit(&mask, index));
                same(&format!("{name}.run_last"), &bit(&ctrl, 2 + index));
                for (field, flag) in ["overflow", "high", "low", "sticky"].into_iter().enumerate() {
                    same(&format!("{name}.{flag}"), &bit(&flags, 4 * index + field));
                }
            }
            // With one level and without shifts, its own exact sum is the exact sum.
            let [level] = manifest.arithmetic.levels.as_slice() else { continue };
            if level.register.shift == 0 && manifest.arithmetic.product.shift == 0 {
                let exact = &signals[&format!("guardbit.{}.exact", level.name)];
                let beats = mask.iter().zip(exact.iter().zip(&wide));
                assert!(beats.filter(|(m, _)| *m == "1").all(|(_, (exact, wide))| exact == wide), "{at}");
            }
        }
    }
}

/// GTKWave's own reader of FST gives the values that another reader gives for VCD.
#[test]
#[ignore = "needs GTKWave's fst2vcd"]
fn gtkwave_reads_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    bundle(dir, UNITS[8]);
    let [vcd, fst, back] = ["waves/vectors.vcd", "waves/vectors.fst", "back.vcd"].map(|file| dir.join(file));
    let Ok(output) = Command::new("fst2vcd").arg(&fst).arg("-o").arg(&back).output() else {
        eprintln!("skipped: GTKWave's fst2vcd is not installed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(signals(&back) == signals(&vcd));
}
