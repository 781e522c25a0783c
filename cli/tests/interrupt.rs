//! A signal ends guardbit with a message about what was kept, and no temporary files remain.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::writers::{COMMANDS, Place, command, number_of, resumes, stderr};

/// Interrupts a command at one of its file operations. Returns its message.
fn interrupt(place: &Place, args: &str, at: usize, signal: &str) -> String {
    let child = place.start_paused(args, at, "");
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{args}, {at}: {}", stderr(&output));
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    said.trim_end().strip_prefix("guardbit was interrupted: ").expect(&said).to_owned()
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs a build with debug assertions")]
fn nothing_temporary_stays() {
    for (index, (name, command)) in COMMANDS.into_iter().enumerate() {
        let args = format!("{command} --random 2 --quiet");
        let (fresh, old) = (Place::new(), Place::new());
        old.succeed(&format!("{command} --random 3 --quiet"));
        let old = old.found().unwrap();
        let operations = fresh.operations(&args, "");
        let whole = fresh.found().unwrap();
        let published = number_of(&operations, " rename ", "out");
        for at in (2..=operations.len()).step_by(11) {
            let signal = ["INT", "TERM", "HUP"][(at + index) % 3];
            let place = Place::new();
            let said = interrupt(&place, &args, at, signal);
            place.assert_tidy(&format!("{name} {at}"));
            if resumes(name) && at > published {
                // The command resumes.
                place.succeed(&args);
                assert!(place.found().unwrap() == whole, "{at}");
            } else if at > published {
                assert_eq!(said, "the results in out are complete");
                assert!(place.found().unwrap() == whole, "{name} {at}");
            } else if at > 2 {
                assert_eq!(said, "nothing was written to out", "{at}");
                assert_eq!(place.found(), None);
            }
        }
        // Either the old results or the new ones.
        let forced = format!("{args} --force");
        let operations = Place::with_out(&old).operations(&forced, "");
        let swap = number_of(&operations, " exchange ", "out");
        for at in [3, swap, swap + 1, swap + 3] {
            let place = Place::with_out(&old);
            let said = interrupt(&place, &forced, at, "INT");
            place.assert_tidy(&format!("{name} {at}"));
            let found = place.found().unwrap();
            if at <= swap {
                assert_eq!(said, "out is unchanged");
                assert!(found == old, "{name} {at}");
            } else if !resumes(name) {
                assert!(found == whole, "{name} {at}");
            }
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs a build with debug assertions")]
fn a_sweep_says_how_far_it_is() {
    let args = format!("{} --random 2 --quiet", command("sweep"));
    let fresh = Place::new();
    let operations = fresh.operations(&args, "");
    let whole = fresh.found().unwrap();
    for (file, kept) in [
        ("points/00000.json", "0 of 3 points are kept in out; run the same command again to continue"),
        ("points/00002.json", "2 of 3 points are kept in out; run the same command again to continue"),
        ("summary.csv", "3 of 3 points are kept in out; run the same command again to continue"),
    ] {
        let place = Place::new();
        let at = number_of(&operations, "rename_new", file);
        assert_eq!(interrupt(&place, &args, at, "INT"), kept);
        place.assert_tidy(file);
        place.succeed(&args);
        assert!(place.found().unwrap() == whole, "{file}");
    }
}

/// A simulator that never ends is stopped too, and its working folder is removed.
#[test]
fn simulators_end_with_the_check() {
    let place = Place::new();
    place.succeed(&format!("{} --random 2 --quiet", command("vectors")));
    let bin = tempfile::tempdir().unwrap();
    let (fake, started) = (bin.path().join("iverilog"), bin.path().join("started"));
    let script = format!(
        "#!/bin/sh\ncase $1 in --version|-V) exit;; esac\necho $$ >{0}.new; mv {0}.new {0}; exec sleep 1000\n",
        started.display()
    );
    fs::write(&fake, script).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let mut child = Command::new("env")
        .args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_guardbit")])
        .args(["check", "out", "--simulator", "icarus"])
        .current_dir(place.path())
        .envs([("PATH", path.as_str()), ("TMPDIR", &temporary.path().to_string_lossy())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !started.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the check ended before it started a simulator");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).trim_end()), (Some(130), "guardbit was interrupted"));
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    let simulator = fs::read_to_string(&started).unwrap();
    let status = || fs::read_to_string(format!("/proc/{}/status", simulator.trim())).unwrap_or_default();
    // Its parent is gone, and its exit status may not have been collected.
    let ended = |status: String| status.is_empty() || status.contains("State:\tZ");
    let waited = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        ended(status())
    });
    assert!(waited, "{}", status());
}
