//! Every file operation fails, or the process is killed there, or gets a signal behind it: what was there stays, or what is new is whole.
//!
//! Of operations that are alike, such as the writing of one file after the other, every 67th is tried; every 17th with
//! `GUARDBIT_TESTS=all`, all of them with `GUARDBIT_FAULTS=all`. `GUARDBIT_KILLS=N` makes N kills at random operations, see `scripts/kills`.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use guardbit_testing::is_full;

use crate::common::digits;
use crate::common::writers::{Place, RESUMED, command, has_faults, number_of, resumes, stderr};

/// A folder: files with their bytes.
type Folder = BTreeMap<String, Vec<u8>>;

/// Something that is done to a folder.
struct Case {
    name: String,
    args: String,
    /// What `out` is before.
    before: Option<Folder>,
    /// What it is afterwards.
    after: Folder,
    /// It goes on where it was.
    resumes: bool,
}

/// What is made of a new folder.
fn fresh(name: &str) -> Case {
    let place = Place::new();
    let args = format!("{} --random 2", command(name));
    place.succeed(&args);
    let after = place.found().unwrap();
    Case { name: name.into(), args, before: None, after, resumes: resumes(name) }
}

/// Older results are replaced.
fn forced(name: &str) -> Case {
    let place = Place::new();
    place.succeed(&format!("{} --random 3", command(name)));
    let fresh = fresh(name);
    let args = format!("{} --force", fresh.args);
    Case { name: format!("{name} --force"), args, before: place.found(), resumes: false, ..fresh }
}

/// A sweep goes on after its first point. Somebody keeps notes in its folder.
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

/// A network is written as a single file, beside what it is made of; with `more` options.
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

    /// Fails or kills at one operation, looks at what is left, and runs it again.
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
        // In the moment between two renames it is there under another name.
        let is_absent = killed && fault.contains("plain-renames") && found.is_none();
        assert!(is_whole || is_absent || self.is_begun(&found), "{what}: {:?}", found.map(names));
        self.run_again(&place, &what);
        assert!(place.found().as_ref() == Some(&self.after), "{what}: {:?}", place.found().map(names));
        place.assert_tidy(&what);
    }

    /// A failure is told; where there is none, the results are in place.
    fn check_told(&self, output: &Output, place: &Place, what: &str) {
        let text = stderr(output);
        assert!(!text.contains("panicked"), "{what}: {text}");
        if output.status.success() {
            assert!(place.found().as_ref() == Some(&self.after), "{what}");
        } else {
            assert_eq!(output.status.code(), Some(2), "{what}: {text}");
            // Lines of long paths are wrapped.
            let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "|").collect();
            assert!(words.join(" ").contains("a fault made by a test"), "{what}: {text}");
        }
    }

    /// Its manifest, if what it has begun can go on.
    fn manifest(&self) -> Option<&'static str> {
        RESUMED.into_iter().find(|name| self.after.contains_key(*name))
    }

    /// A sweep leaves some of its points behind, or some of its last files: nothing else. So does an exploration.
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
        // A sweep that has begun needs no force.
        let goes_on = self.manifest().is_some() && found.is_some() && found != self.before;
        let args = if goes_on { self.args.replace(" --force", "") } else { self.args.clone() };
        let output = place.call(&args, "");
        let refused = is_done && !self.resumes && !args.contains("--force") && !goes_on;
        let expected = if refused { Some(2) } else { Some(0) };
        assert_eq!(output.status.code(), expected, "{what}, again: {}", stderr(&output));
    }

    /// The operations that are tried.
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
        // Without `renameat2` only what replaces something is done in another way.
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

/// What is in `out`, but for what a process that is killed leaves to the next one.
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

/// A network and its report are each whole or absent, and no report is there without its network.
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

/// Folders above that are made for the results go with them, whenever the signal comes or an operation fails.
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
    // Numerical Recipes' generator: which ones are killed is the same every time.
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
