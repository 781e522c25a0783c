//! Every file operation fails, or the process is killed there, or gets a signal after it. The old results
//! stay, or the new ones are complete.
//!
//! Of similar operations, such as writing many files, every 67th is tried; every 17th with
//! `GUARDBIT_TESTS=all`, and all of them with `GUARDBIT_FAULTS=all`. `GUARDBIT_KILLS=N` runs N kills at
//! random operations, see `scripts/kills`.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use guardbit_testing::is_full;

use crate::common::digits;
use crate::common::writers::{Place, RESUMED, command, has_faults, number_of, resumes, stderr};

/// Folder: files with their bytes.
type Folder = BTreeMap<String, Vec<u8>>;

/// Operation on a folder.
struct Case {
    name: String,
    args: String,
    /// Contents of `out` before.
    before: Option<Folder>,
    /// Contents of `out` afterwards.
    after: Folder,
    /// Whether the command resumes.
    resumes: bool,
}

/// Returns the case of a new folder.
fn fresh(name: &str) -> Case {
    let place = Place::new();
    let args = format!("{} --random 2", command(name));
    place.succeed(&args);
    let after = place.found().unwrap();
    Case { name: name.into(), args, before: None, after, resumes: resumes(name) }
}

/// Returns the case in which older results are replaced.
fn forced(name: &str) -> Case {
    let place = Place::new();
    place.succeed(&format!("{} --random 3", command(name)));
    let fresh = fresh(name);
    let args = format!("{} --force", fresh.args);
    Case { name: format!("{name} --force"), args, before: place.found(), resumes: false, ..fresh }
}

/// Returns the case of a sweep that resumes after its first point; its folder also has a user's notes.
fn resumed() -> Case {
    let fresh = fresh("sweep");
    let second = number_of(&Place::new().operations(&fresh.args, ""), "rename_new", "points/00001.json");
    let place = Place::new();
    place.call(&fresh.args, &format!("kill:{second}"));
    let mut before = place.found().unwrap();
    assert_eq!(before.keys().collect::<Vec<_>>(), ["points/00000.json", "sweep.json"]);
    before.insert("notes.txt".into(), b"mine".into());
    let mut after = fresh.after.clone();
    after.insert("notes.txt".into(), b"mine".into());
    Case { name: "sweep, resumed".into(), before: Some(before), after, ..fresh }
}

/// Returns the case of a network written as a single file next to its inputs, with `more` options.
fn quantized(force: bool, more: &str) -> Case {
    const INPUTS: [&str; 2] = ["digits_float.onnx", "calibration.npy"];
    let of_digits = |name: &str| (name.to_owned(), std::fs::read(digits(name)).unwrap());
    let inputs: Folder = INPUTS.into_iter().map(of_digits).collect();
    let made = |samples: u32| {
        let [float, calibration] = INPUTS;
        let args = format!(
            "quantize out/{float} --calibration out/{calibration} --samples {samples} -o out/net.onnx{more}"
        );
        let place = Place::with_out(&inputs);
        place.succeed(&args);
        (args, place.found().unwrap())
    };
    let (args, after) = made(2);
    let (name, args, before) = match force {
        true => ("quantize --force", format!("{args} --force"), made(3).1),
        false => ("quantize", args, inputs.clone()),
    };
    assert_ne!(before, after);
    Case { name: name.into(), args, before: Some(before), after, resumes: false }
}

impl Case {
    fn place(&self) -> Place {
        self.before.as_ref().map_or_else(Place::new, Place::with_out)
    }

    /// Fails or kills at one operation, checks the remaining files, and runs the command again.
    fn check(&self, fault: &str) {
        let what = format!("{}, {fault}", self.name);
        let place = self.place();
        let output = place.call(&self.args, fault);
        let killed = output.status.signal().is_some();
        if fault.contains("signal:") {
            assert_eq!(output.status.code(), Some(130), "{what}: {}", stderr(&output));
        }
        assert_eq!(killed, fault.contains("kill:"), "{what}: {}", stderr(&output));
        if !killed {
            place.assert_tidy(&what);
        }
        if !killed && !fault.contains("signal:") {
            self.check_told(&output, &place, &what);
        }
        let found = if killed { visible(&place) } else { place.found() };
        let is_whole = found == self.before || found.as_ref() == Some(&self.after);
        // Between two renames, the folder exists under another name.
        let is_absent = killed && fault.contains("plain-renames") && found.is_none();
        assert!(is_whole || is_absent || self.is_begun(&found), "{what}: {:?}", found.map(names));
        self.run_again(&place, &what);
        assert!(place.found().as_ref() == Some(&self.after), "{what}: {:?}", place.found().map(names));
        place.assert_tidy(&what);
    }

    /// Checks that a failure is reported, and that results are in place otherwise.
    fn check_told(&self, output: &Output, place: &Place, what: &str) {
        let text = stderr(output);
        assert!(!text.contains("panicked"), "{what}: {text}");
        if output.status.success() {
            assert!(place.found().as_ref() == Some(&self.after), "{what}");
        } else {
            assert_eq!(output.status.code(), Some(2), "{what}: {text}");
            // Lines with long paths are wrapped.
            let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "|").collect();
            assert!(words.join(" ").contains("a fault made by a test"), "{what}: {text}");
        }
    }

    /// Returns its manifest, if an interrupted run can resume.
    fn manifest(&self) -> Option<&'static str> {
        RESUMED.into_iter().find(|name| self.after.contains_key(*name))
    }

    /// Returns whether an interrupted sweep or exploration left only some of its points or last files.
    fn is_begun(&self, found: &Option<Folder>) -> bool {
        let (Some(found), Some(manifest)) = (found.as_ref(), self.manifest()) else {
            return false;
        };
        let of_after = |(name, bytes): (&String, &Vec<u8>)| {
            name == manifest || self.after.get(name).is_some_and(|expected| expected == bytes)
        };
        let notes = |folder: &Folder| folder.get("notes.txt").cloned();
        found.iter().all(of_after) && notes(found) == notes(&self.after)
    }

    fn run_again(&self, place: &Place, what: &str) {
        let found = visible(place);
        let is_done = found.as_ref() == Some(&self.after);
        // A sweep in progress needs no `--force`.
        let goes_on = self.manifest().is_some() && found.is_some() && found != self.before;
        let args = if goes_on { self.args.replace(" --force", "") } else { self.args.clone() };
        let output = place.call(&args, "");
        let refused = is_done && !self.resumes && !args.contains("--force") && !goes_on;
        let expected = if refused { Some(2) } else { Some(0) };
        assert_eq!(output.status.code(), expected, "{what}, again: {}", stderr(&output));
    }

    /// Returns the operations to try.
    fn chosen(&self, fault: &str) -> Vec<usize> {
        let all = std::env::var("GUARDBIT_FAULTS").is_ok_and(|value| value == "all");
        let apart = if is_full() { 17 } else { 67 };
        let operations = self.place().operations(&self.args, fault);
        let is_common = |line: &str| {
            let name = line.split(' ').nth(1).unwrap_or_default();
            ["write", "create_file", "remove_file", "sync", "rename_new", "link", "remove_dir"]
                .contains(&name)
                || line.contains("create_dir") && line.contains("/new/")
        };
        let chosen = |(at, line): &(usize, &String)| all || at % apart == 3 || !is_common(line);
        operations.iter().enumerate().filter(chosen).map(|(at, _)| at + 1).collect()
    }

    fn check_all(&self) {
        // Without `renameat2`, only replacing works differently.
        let plain = self.before.is_some() || self.resumes;
        for more in ["", ",plain-renames"].into_iter().take(1 + usize::from(plain)) {
            for at in self.chosen(more) {
                for kind in ["fail", "kill", "signal"] {
                    self.check(&format!("{kind}:{at}{more}"));
                }
            }
        }
    }
}

/// Returns the contents of `out`, without leftovers of a killed process that the next one removes.
fn visible(place: &Place) -> Option<Folder> {
    let mut found = place.found()?;
    found.retain(|name, _| !name.starts_with('.'));
    Some(found)
}

fn names(folder: Folder) -> Vec<String> {
    folder.into_keys().collect()
}

fn check(make: impl FnOnce() -> Case) {
    if has_faults() {
        make().check_all();
    }
}

#[test]
fn run() {
    check(|| fresh("run"));
}

#[test]
fn run_forced() {
    check(|| forced("run"));
}

#[test]
fn sweep() {
    check(|| fresh("sweep"));
}

#[test]
fn sweep_forced() {
    check(|| forced("sweep"));
}

#[test]
fn sweep_resumed() {
    check(resumed);
}

#[test]
fn explore() {
    check(|| fresh("explore"));
}

#[test]
fn explore_forced() {
    check(|| forced("explore"));
}

#[test]
fn size() {
    check(|| fresh("size"));
}

#[test]
fn size_forced() {
    check(|| forced("size"));
}

#[test]
fn vectors() {
    check(|| fresh("vectors"));
}

#[test]
fn vectors_forced() {
    check(|| forced("vectors"));
}

#[test]
fn single_file() {
    check(|| quantized(false, ""));
}

#[test]
fn single_file_forced() {
    check(|| quantized(true, ""));
}

/// A network and its report are each complete or absent, and a report never exists without its network.
#[test]
fn single_file_with_report() {
    if !has_faults() {
        return;
    }
    let case = quantized(false, " --report out/report");
    let mut network = case.after.clone();
    network.retain(|name, _| !name.starts_with("report/"));
    assert!(network.len() < case.after.len() && network.contains_key("net.onnx"));
    for at in case.chosen("") {
        for kind in ["fail", "kill"] {
            let place = case.place();
            place.call(&case.args, &format!("{kind}:{at}"));
            let found = visible(&place);
            let whole = [case.before.as_ref(), Some(&network), Some(&case.after)];
            assert!(whole.contains(&found.as_ref()), "{kind}:{at}: {:?}", found.map(names));
        }
    }
}

/// Parent folders created for the results are removed with them, at any signal or failed operation.
#[test]
fn folders_above() {
    if !has_faults() {
        return;
    }
    let args = format!("{} --random 2", command("vectors")).replace("-o out", "-o a/b/c/new");
    let operations = Place::new().operations(&args, "").len();
    for at in (1..8).chain(operations - 4..=operations) {
        for kind in ["fail", "signal"] {
            let (place, what) = (Place::new(), format!("{kind}:{at}"));
            place.call(&args, &what);
            let is_done = place.path().join("a/b/c/new").exists();
            let expected: &[&str] = if is_done { &["a", "net.yaml"] } else { &["net.yaml"] };
            assert_eq!(place.names(), expected, "{what}");
        }
    }
}

/// Kills at random operations of random commands.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs a build with debug assertions")]
fn kills() {
    let count: usize = std::env::var("GUARDBIT_KILLS").map_or(12, |text| text.parse().unwrap());
    let commands = ["run", "sweep", "size", "explore", "vectors"];
    let cases: Vec<Case> = commands
        .iter()
        .flat_map(|name| [fresh(name), forced(name)])
        .chain([resumed(), quantized(true, "")])
        .collect();
    let ways = ["", ",plain-renames"];
    let numbers = |case: &Case| ways.map(|way| case.place().operations(&case.args, way).len());
    let operations: Vec<[usize; 2]> = cases.iter().map(numbers).collect();
    // Generator of Numerical Recipes, so that kills are reproducible.
    let mut state = 11_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..count {
        let (case, way) = (random(cases.len()), random(ways.len()));
        let at = 1 + random(operations[case][way]);
        cases[case].check(&format!("kill:{at}{}", ways[way]));
    }
    println!("{count} kills: no folder gutted, no file lost, every sweep that went on ended byte-equal");
}
