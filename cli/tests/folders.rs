//! Files of others are never replaced: `--force` only replaces what guardbit wrote and nobody changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::common::digits;
use crate::common::writers::{COMMANDS, Place, command, number_of, resumes, stderr};

/// Checks that `--force` is refused with a list, and that nothing is touched.
fn refuses(command: &str, prepare: impl Fn(&Place), listed: &[&str]) {
    let place = Place::new();
    prepare(&place);
    let state = |place: &Place| {
        let list =
            Command::new("ls").args(["-lAR", "--time-style=full-iso"]).arg(place.path()).output().unwrap();
        (place.found(), place.names(), String::from_utf8(list.stdout).unwrap())
    };
    let before = state(&place);
    let output = place.call(&format!("{command} --random 2 --force"), "");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{command}: {text}");
    assert!(text.contains("guardbit::folder::foreign"), "{text}");
    for line in listed {
        assert!(text.contains(line), "{command}, {line}: {text}");
    }
    // The lock next to `out` changes the time of the parent folder.
    let (found, names, list) = state(&place);
    assert_eq!((found, names), (before.0, before.1), "{command}");
    let below = |list: &str| list.split_once("/out:").map(|(_, below)| below.to_owned());
    assert_eq!(below(&list), below(&before.2), "{command}");
}

/// Folders to refuse: manifests and tables of another tool, and a source tree.
#[test]
fn a_project_survives() {
    let prepare = |place: &Place| {
        let files = r#"{"files": ["src/main.rs", "layers.csv", "../net.yaml", {"path": "src/main.rs"}]}"#;
        for name in ["manifest.json", "run.json", "size.json", "sweep.json"] {
            place.write(&format!("out/{name}"), files);
        }
        place.write("out/src/main.rs", "fn main() {}");
        place.write("out/layers.csv", "my,layers");
        place.write("out/points/00000.json", "{}");
    };
    let listed = [
        "layers.csv: not written by guardbit",
        "manifest.json: not written by guardbit",
        "points: not written by guardbit",
        "run.json: not written by guardbit",
        "src: not written by guardbit",
    ];
    for (_, command) in COMMANDS {
        refuses(command, prepare, &listed);
    }
}

/// A manifest that claims to be guardbit's has to prove it.
#[test]
fn a_manifest_proves_itself() {
    let prepare = |place: &Place| {
        let json = r#"{"tool": {"name": "guardbit", "version": "0.1.0"}, "files": [{"path": "a.txt", "sha256":
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}], "sha256":
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}"#;
        place.write("out/run.json", json);
        // A file with a correct SHA-256.
        place.write("out/a.txt", "a");
    };
    refuses(command("run"), prepare, &["a.txt: not written", "run.json: changed since guardbit wrote it"]);
}

#[test]
fn what_was_changed_or_added_stays() {
    for (name, command) in COMMANDS {
        let (changed, manifest) = match name {
            "vectors" => ("stim_a.mem", "manifest.json"),
            "sweep" => ("points/00001.json", "sweep.json"),
            "size" => ("recommended.yaml", "size.json"),
            "explore" => ("recommended.yaml", "explore.json"),
            _ => ("plots/sqnr.svg", "run.json"),
        };
        let edit = |place: &Place, file: &str| {
            place.succeed(&format!("{command} --random 2"));
            let path = place.out().join(file);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text + " ").unwrap();
        };
        refuses(command, |place| edit(place, changed), &[&format!("{changed}: changed since")]);
        refuses(command, |place| edit(place, manifest), &[&format!("{manifest}: changed since")]);
        let add = |place: &Place| {
            place.succeed(&format!("{command} --random 2"));
            place.write("elsewhere/thesis.tex", "years of work");
            place.write("out/notes.txt", "mine");
            fs::create_dir(place.out().join("empty")).unwrap();
            symlink("../elsewhere", place.out().join("link")).unwrap();
            let pipe = Command::new("mkfifo").arg(place.out().join("pipe")).status().unwrap();
            assert!(pipe.success());
        };
        let listed = [
            "notes.txt: not written by guardbit",
            "empty: not written by guardbit",
            "link: a symbolic link",
            "pipe: neither a file nor a folder",
        ];
        refuses(command, add, &listed);
    }
}

/// Returns every command, and how it writes a results folder called `out`; `None` for a command that writes
/// none. `check --work` has its own tests.
fn writers() -> Vec<(&'static str, Option<String>)> {
    let sampled = |name| Some(format!("{} --random 2", command(name)));
    let [float, calibration] = ["digits_float.onnx", "calibration.npy"].map(digits);
    let quantize =
        format!("quantize {float} --calibration {calibration} --samples 2 -o net.onnx --report out");
    vec![
        ("demo", Some("demo -o out".into())),
        ("run", sampled("run")),
        ("sweep", sampled("sweep")),
        ("merge", Some("merge whole -o out".into())),
        ("status", None),
        ("quantize", Some(quantize)),
        ("vectors", sampled("vectors")),
        ("check", None),
        ("diff-layer", None),
        ("discriminate", Some("discriminate --hw fpga-int14-os --hw exact-int32-os -o out".into())),
        ("size", sampled("size")),
        ("explore", sampled("explore")),
        ("compare", None),
        ("plot", None),
        ("inspect", None),
        ("hw", None),
        ("study", None),
        ("graph", None),
        ("cost", None),
        ("completions", None),
        ("man", None),
        ("explain", None),
        ("help", None),
    ]
}

/// With `--force`, every command replaces its own output.
#[test]
fn every_folder_of_results_is_replaced() {
    let place = Place::new();
    let help = String::from_utf8(place.call("--help", "").stdout).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let listed: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    let writers = writers();
    assert_eq!(listed, writers.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    place.succeed("sweep net.yaml --hw fpga-int14-os --bits 12..=14 --random 2 --shard 1/1 -o whole");
    for (name, args) in writers.iter().filter_map(|(name, args)| Some((name, args.as_ref()?))) {
        place.succeed(args);
        let first = place.found().unwrap();
        place.succeed(&format!("{args} --force"));
        assert!(place.found().unwrap() == first, "{name}");
        fs::remove_dir_all(place.out()).unwrap();
    }
}

/// A symbolic link does not count as a file of guardbit.
#[test]
fn links_are_not_followed() {
    let prepare = |place: &Place| {
        place.succeed(&format!("{} --random 2", command("run")));
        fs::rename(place.out().join("plots"), place.path().join("plots")).unwrap();
        symlink("../plots", place.out().join("plots")).unwrap();
    };
    refuses(command("run"), prepare, &["plots: a symbolic link"]);
}

#[test]
fn a_long_list_is_cut() {
    let prepare = |place: &Place| {
        (0..30).for_each(|index| place.write(&format!("out/{index:02}\u{1b}[31m.txt"), "mine"));
    };
    refuses(
        command("run"),
        prepare,
        &["00\u{fffd}[31m.txt: not written", "09\u{fffd}[31m.txt", "and 20 more"],
    );
}

/// A resumed sweep also overwrites no files of others.
#[test]
fn a_sweep_goes_on_beside_other_files() {
    let args = format!("{} --random 2", command("sweep"));
    let place = Place::new();
    place.succeed(&args);
    let whole = place.found().unwrap();
    place.write("out/notes.txt", "mine");
    fs::remove_file(place.out().join("summary.csv")).unwrap();
    place.succeed(&args);
    let mut expected = whole.clone();
    expected.insert("notes.txt".into(), b"mine".into());
    assert!(place.found().unwrap() == expected);
    // Files in the way are not overwritten.
    for (file, why) in [("summary.csv", "changed since"), ("points/00001.json", "changed since")] {
        let place = Place::with_out(&whole);
        place.write(&format!("out/{file}"), "mine");
        let output = place.call(&args, "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(&format!("{file}: {why}")), "{}", stderr(&output));
        assert_eq!(fs::read(place.out().join(file)).unwrap(), b"mine");
    }
    // Files are not written through a symbolic link.
    let place = Place::with_out(&whole);
    fs::create_dir(place.path().join("elsewhere")).unwrap();
    fs::remove_dir_all(place.out().join("plots")).unwrap();
    symlink("../elsewhere", place.out().join("plots")).unwrap();
    assert_eq!(place.call(&args, "").status.code(), Some(2));
    assert_eq!(fs::read_dir(place.path().join("elsewhere")).unwrap().count(), 0);
}

/// Only one writer at a time, for any options.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs a build with debug assertions")]
fn a_second_writer_is_refused() {
    let place = Place::new();
    for (name, command) in COMMANDS {
        let args = format!("{command} --random 2");
        let operations = Place::new().operations(&args, "").len();
        for at in [3, operations / 2] {
            let mut first = place.start_paused(&args, at, "");
            let before = (place.found(), place.names());
            for (_, other) in COMMANDS {
                for force in ["", " --force"] {
                    let second = place.call(&format!("{other} --random 2{force}"), "");
                    assert_eq!(second.status.code(), Some(2), "{name}: {}", stderr(&second));
                    let text = stderr(&second);
                    assert!(text.contains("guardbit::folder::busy"), "{text}");
                    assert!(text.contains("another guardbit is writing to out"), "{text}");
                }
            }
            assert!((place.found(), place.names()) == before, "{name}");
            first.kill().unwrap();
            first.wait().unwrap();
        }
        // Leftovers of a dead writer are taken over.
        let args = if resumes(name) { args } else { format!("{args} --force") };
        place.succeed(&args);
        place.assert_tidy(name);
        fs::remove_dir_all(place.out()).unwrap();
    }
}

/// Files that appear while results are computed are not overwritten.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs a build with debug assertions")]
fn what_appears_meanwhile_is_not_replaced() {
    let run = format!("{} --random 2", command("run"));
    let elsewhere = tempfile::tempdir().unwrap();
    let go = elsewhere.path().join("go");
    // A folder that did not exist before.
    let place = Place::new();
    let last = number_of(&Place::new().operations(&run, ""), " rename ", "out");
    let child = place.start_paused(&run, last, &format!("until:{}", go.display()));
    place.write("out/notes.txt", "mine");
    fs::write(&go, "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("out is not empty"), "{}", stderr(&output));
    assert_eq!(place.found().unwrap().into_keys().collect::<Vec<_>>(), ["notes.txt"]);
    place.assert_tidy("appeared");

    // A file in a folder that is to be replaced: it and the old results stay, even if the process is killed
    // at that moment.
    let old = Place::new();
    old.succeed(&format!("{} --random 3", command("run")));
    let old = old.found().unwrap();
    let forced = format!("{run} --force");
    for more in ["", ",plain-renames"] {
        let operations = Place::with_out(&old).operations(&forced, more);
        let swap = number_of(&operations, " exchange ", "out");
        for kill in [None, Some(swap + 1), Some(swap + 2), Some(swap + 3), Some(swap + 4)] {
            fs::remove_file(&go).unwrap();
            let place = Place::with_out(&old);
            let kill_at = kill.map_or(String::new(), |at| format!(",kill:{at}"));
            let until = format!("until:{}{kill_at}{more}", go.display());
            let child = place.start_paused(&forced, swap, &until);
            place.write("out/notes.txt", "mine");
            fs::write(&go, "").unwrap();
            let output = child.wait_with_output().unwrap();
            let mut expected = old.clone();
            expected.insert("notes.txt".into(), b"mine".into());
            // The next run cleans up, and is refused.
            let next = place.call(&forced, "");
            for output in [&output, &next].into_iter().skip(usize::from(kill.is_some())) {
                assert_eq!(output.status.code(), Some(2), "{more} {kill:?}");
                assert!(stderr(output).contains("notes.txt: not written by guardbit"), "{}", stderr(output));
            }
            let found = place.found().map(|found| found == expected);
            assert_eq!(
                found,
                Some(true),
                "{more} {kill:?}: {:?}",
                place.found().map(|f| f.into_keys().collect::<Vec<_>>())
            );
            place.assert_tidy(&format!("{more} {kill:?}"));
        }
    }
}

/// Names that lead elsewhere.
#[test]
fn targets_by_other_names() {
    let run = |place: &Place, out: &str| {
        let args = command("run").replace("-o out", &format!("-o {out}"));
        place.call(&format!("{args} --random 2 --quiet"), "").status.code()
    };
    let place = Place::new();
    // Parent folders are created, and removed again if the command fails.
    assert_eq!(run(&place, "a/b/out"), Some(0));
    let args = "run absent.yaml --hw fpga-int14-os -o c/d/out";
    assert_eq!(place.call(args, "").status.code(), Some(2));
    assert_eq!(place.names(), ["a", "net.yaml"]);
    // A link to a folder is treated as that folder.
    fs::create_dir(place.path().join("real")).unwrap();
    symlink("real", place.path().join("link")).unwrap();
    assert_eq!(run(&place, "link"), Some(0));
    assert!(place.path().join("real/run.json").exists());
    assert!(fs::symlink_metadata(place.path().join("link")).unwrap().is_symlink());
    // A dangling link, a file, and the root are refused.
    symlink("nowhere", place.path().join("dangling")).unwrap();
    for out in ["dangling", "net.yaml", "net.yaml/out", "/"] {
        assert_eq!(run(&place, out), Some(2), "{out}");
    }
    let long = "n".repeat(255);
    assert_eq!(run(&place, &long), Some(0));
    assert_eq!(place.names(), ["a", "dangling", "link", "net.yaml", &long, "real"]);
}

/// A lock that is a user's file is not touched.
#[test]
fn a_planted_lock_is_left_alone() {
    for link in [false, true] {
        let place = Place::new();
        place.write("precious", "mine");
        let lock = place.path().join(".out.guardbit-lock");
        if link {
            symlink("precious", &lock).unwrap()
        } else {
            fs::write(&lock, "mine").unwrap()
        }
        assert_eq!(place.call(command("run"), "").status.code(), Some(2));
        assert_eq!(fs::read(place.path().join("precious")).unwrap(), b"mine");
        assert!(lock.exists());
        assert!(place.found().is_none());
    }
}

/// Only certain leftovers are removed.
#[test]
fn folders_that_look_like_leftovers_stay() {
    let place = Place::new();
    let names = [".out.guardbit-abcdefABCDEF", ".out.guardbit-abcdefABCDE", ".out2.guardbit-abcdefABCDEF"];
    names.iter().for_each(|name| place.write(&format!("{name}/notes.txt"), "mine"));
    place.succeed(&format!("{} --random 2", command("run")));
    for name in names {
        assert!(place.path().join(name).join("notes.txt").exists(), "{name}");
    }
}

/// Stdin, stdout and stderr in every state.
#[test]
fn full_and_closed_streams_are_no_panic() {
    let shell = |script: &str| {
        let place = Place::new();
        let script = script.replace("guardbit", env!("CARGO_BIN_EXE_guardbit"));
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), stderr(&output))
    };
    let run = "guardbit run net.yaml --hw fpga-int14-os -o out";
    for (script, code) in [
        // Remarks and diagnostics.
        (format!("{run} 2>/dev/full"), 0),
        (format!("{run} 2>&-"), 0),
        ("guardbit run absent.yaml --hw fpga-int14-os -o out 2>/dev/full".into(), 2),
        ("guardbit run absent.yaml --hw fpga-int14-os -o out 2>&-".into(), 2),
        ("guardbit nonsense 2>/dev/full".into(), 2),
        ("guardbit hw check fpga-int14-os --set product.bits=40 2>/dev/full".into(), 0),
        // Results.
        (format!("{run} >/dev/full"), 2),
        (format!("{run} >/dev/full 2>/dev/full"), 2),
        ("guardbit hw list >/dev/full".into(), 2),
        ("guardbit hw list --json >/dev/full".into(), 2),
        ("guardbit --help >/dev/full".into(), 2),
        ("guardbit --version >/dev/full".into(), 2),
        // A reader that stops reading.
        ("(guardbit hw schema; echo $? >code) | true; cat code | { read code; exit $code; }".into(), 0),
    ] {
        let (found, text) = shell(&script);
        assert_eq!(found, Some(code), "{script}: {text}");
        assert!(!text.contains("panicked"), "{script}: {text}");
    }
}

/// Unreachable paths are reported immediately.
#[test]
fn large_numbers_are_refused() {
    let place = Place::new();
    let run = command("run");
    for (more, why) in [
        ("--threads 100000", "1 to 1024"),
        ("--threads 0", "1 to 1024"),
        ("--threads 18446744073709551616", "1 to 1024"),
        ("--random 1000000000", "1000000000"),
        ("--random 18446744073709551615", "18446744073709551615"),
    ] {
        let output = place.call(&format!("{run} {more}"), "");
        assert_eq!(output.status.code(), Some(2), "{more}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        place.assert_tidy(more);
    }
}

/// `check` builds in a new folder, or in one of an earlier check.
#[test]
fn a_folder_to_work_in_is_no_users() {
    let place = Place::new();
    place.succeed(&format!("{} --random 2 --quiet", command("vectors")));
    let check = "check out --simulator icarus --work work";
    // Without the simulator nothing is built, and the check does not pass.
    let code = |place: &Place, more: &str| place.call(&format!("{check} {more}"), "").status.code();
    let first = code(&place, "");
    assert_ne!(first, Some(2));
    let built = fs::exists(place.path().join("work/work.json")).unwrap();
    if built {
        assert_eq!(code(&place, ""), Some(2), "there is something");
        assert_eq!(code(&place, "--force"), first);
        place.write("work/icarus/tb.sv", "mine");
        let output = place.call(&format!("{check} --force"), "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("icarus/tb.sv: changed since"), "{}", stderr(&output));
    }
    let place = Place::with_out(&place.found().unwrap());
    place.write("work/icarus/tb.sv", "mine");
    for force in ["", "--force"] {
        assert_eq!(code(&place, force), Some(2));
    }
    assert_eq!(fs::read(place.path().join("work/icarus/tb.sv")).unwrap(), b"mine");
    assert_eq!(place.names(), ["net.yaml", "work"]);
}

/// `check` writes nothing into the bundle.
#[test]
fn a_folder_to_work_in_lies_beside_the_bundle() {
    let place = Place::new();
    place.succeed(&format!("{} --random 2 --quiet", command("vectors")));
    for work in ["out", "out/work", "out/of/work", "./out/../out/work"] {
        let output = place.call(&format!("check out --simulator icarus --work {work} --force"), "");
        assert_eq!(output.status.code(), Some(2), "{work}");
        assert!(stderr(&output).contains("which must not change"), "{}", stderr(&output));
        assert!(!place.path().join("out/work").exists() && !place.path().join("out/of").exists());
    }
}
