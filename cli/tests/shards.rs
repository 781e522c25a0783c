//! Shards of a sweep on the command line: killed and resumed, merged, and refused.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

use crate::common::writers::has_faults;
use crate::common::{assert_same, contents};
use assert_cmd::Command;

const NETWORK: &str = include_str!("../../study/tests/net.yaml");
const SWEEP: &str = "sweep net.yaml --hw fpga-int14-os --bits 9..=11 --overflow wrap,saturate --random 3";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
    dir
}

fn call(dir: &Path, args: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::cargo_bin("guardbit").unwrap();
    command.current_dir(dir).env_remove("SLURM_ARRAY_TASK_ID");
    command.envs(variables.iter().copied()).args(args.split_whitespace()).output().unwrap()
}

fn succeed(dir: &Path, args: &str) -> String {
    let output = call(dir, args, &[]);
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(dir: &Path, args: &str) -> String {
    let output = call(dir, args, &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
    stderr.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().into()
}

/// Runs every shard, in folders s1 to sN.
fn shards(dir: &Path, count: usize) {
    for index in 1..=count {
        succeed(dir, &format!("{SWEEP} --shard {index}/{count} -o s{index}"));
    }
}

/// A shard killed at any of its file operations, or before it began, is resumed; the result equals the sweep
/// without shards.
#[test]
fn a_killed_shard_is_run_again() {
    if !has_faults() {
        return;
    }
    let dir = folder();
    let dir = dir.path();
    let table = succeed(dir, &format!("{SWEEP} -o whole"));
    for (count, at) in [(1, 9), (2, 5), (3, 12), (4, 7)] {
        let folders: Vec<String> = (1..=count).map(|index| format!("n{count}s{index}")).collect();
        for (index, out) in folders.iter().enumerate() {
            let args = format!("{SWEEP} --shard {}/{count} -o {out}", index + 1);
            let killed = call(dir, &args, &[("GUARDBIT_FAULT", &format!("kill:{at}"))]);
            assert!(killed.status.signal().is_some(), "{args}: {:?}", killed.status);
            succeed(dir, &args);
        }
        let merged = format!("merged{count}");
        assert_eq!(succeed(dir, &format!("merge {} -o {merged}", folders.join(" "))), table);
        assert_same(&dir.join("whole"), &dir.join(&merged));
        fs::remove_dir_all(dir.join(merged)).unwrap();
    }
}

/// A task of a job array runs its shard only if asked to.
#[test]
fn a_task_of_a_job_array() {
    let dir = folder();
    let dir = dir.path();
    succeed(dir, &format!("{SWEEP} -o whole"));
    for (id, out) in [("0", "t0"), ("1", "t1")] {
        let variables = [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_MAX", "1"),
        ];
        let shard = call(dir, &format!("{SWEEP} --shard slurm -o {out}"), &variables);
        assert!(shard.status.success(), "{}", String::from_utf8_lossy(&shard.stderr));
        assert_eq!(fs::read_dir(dir.join(out).join("points")).unwrap().count(), 3);
        let whole = call(dir, &format!("{SWEEP} -o whole"), &variables);
        assert!(whole.status.success(), "without --shard the array makes no difference");
    }
    succeed(dir, "merge t1 t0 -o merged");
    assert_same(&dir.join("whole"), &dir.join("merged"));
}

/// A folder belongs to one shard: another shard, or the whole sweep, does not resume in it.
#[test]
fn a_folder_is_of_one_shard() {
    let dir = folder();
    let dir = dir.path();
    shards(dir, 2);
    succeed(dir, &format!("{SWEEP} -o whole"));
    let before = contents(dir);
    for (more, out) in [("--shard 2/2", "s1"), ("--shard 1/3", "s1"), ("", "s1"), ("--shard 1/2", "whole")] {
        let text = refused(dir, &format!("{SWEEP} {more} -o {out}"));
        assert!(text.contains("its results come from another shard"), "{more}: {text}");
    }
    assert!(contents(dir) == before, "nothing is touched");
}

#[test]
fn what_is_refused() {
    let dir = folder();
    let dir = dir.path();
    shards(dir, 3);
    let shown = |name: &str, args: &str| {
        insta::assert_snapshot!(name, refused(dir, args));
        assert!(!dir.join("out").exists(), "{name}");
    };
    shown("missing", "merge s3 s1 -o out");
    shown("overlap", "merge s1 s2 s3 s1 -o out");
    succeed(dir, &format!("{SWEEP} --seed 1 --shard 3/3 -o seed"));
    succeed(dir, &format!("{SWEEP} --mode isolated --set product.shift=1 --shard 2/3 -o mode"));
    succeed(dir, &format!("{SWEEP} --shard 1/2 -o half"));
    succeed(dir, &format!("{} --shard 2/3 -o points", SWEEP.replace("9..=11", "9..=12")));
    shown("stray", "merge s1 mode seed half points -o out");
    succeed(dir, &format!("{SWEEP} -o whole"));
    fs::create_dir(dir.join("empty")).unwrap();
    shown("no_shard", "merge s1 s2 whole empty absent -o out");
    // State after the machine goes down between two points.
    if has_faults() {
        let killed = call(dir, &format!("{SWEEP} --shard 2/3 -o killed"), &[("GUARDBIT_FAULT", "kill:12")]);
        assert!(killed.status.signal().is_some());
        shown("unfinished", "merge s1 killed -o out");
    }
    let point = dir.join("s2/points/00002.json");
    let text = fs::read_to_string(&point).unwrap();
    fs::write(&point, text.replacen('1', "2", 1)).unwrap();
    fs::remove_file(dir.join("s3/points/00005.json")).unwrap();
    shown("damaged", "merge s1 s2 s3 -o out");
    for (name, args) in [
        ("no_text", format!("{SWEEP} --shard 4/3 -o out")),
        ("no_folder", format!("{SWEEP} --shard 1/3")),
        ("no_task", format!("{SWEEP} --shard slurm -o out")),
        ("no_folders", "merge -o out".into()),
    ] {
        shown(name, &args);
    }
}

/// A manifest that names files outside its folder is refused, sealed or not.
#[test]
fn a_shard_has_no_files_elsewhere() {
    let dir = folder();
    let dir = dir.path();
    shards(dir, 2);
    fs::write(dir.join("secret"), "mine").unwrap();
    let manifest = dir.join("s1/sweep.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let seal = json["sha256"].as_str().unwrap();
    for (from, to) in [
        ("points/00000.json", "../secret"),
        ("\"index\": 1", "\"index\": 0"),
        ("\"count\": 2", "\"count\": 0"),
    ] {
        let forged = text.replacen(seal, guardbit_files::UNSEALED, 1).replacen(from, to, 1);
        assert_ne!(forged.replacen(guardbit_files::UNSEALED, seal, 1), text);
        fs::write(&manifest, guardbit_files::seal_text(&forged)).unwrap();
        let refusal = refused(dir, "merge s1 s2 -o out");
        assert!(refusal.contains("guardbit::merge::folder"), "{to}: {refusal}");
    }
}

/// Existing points of a sweep are merged and listed; `sweep` resumes in that folder and ends as without
/// shards.
#[test]
fn a_part_of_a_sweep_is_merged_and_completed() {
    if !has_faults() {
        return;
    }
    let dir = folder();
    let dir = dir.path();
    succeed(dir, &format!("{SWEEP} -o whole"));
    succeed(dir, &format!("{SWEEP} --shard 1/3 -o s1"));
    // Stops with both points of the shard stored, before its manifest is complete; the third shard never ran.
    let stored = |folder: &str| fs::read_dir(dir.join(folder).join("points")).map_or(0, Iterator::count);
    let at = (8..40).find(|at| {
        let _ = fs::remove_dir_all(dir.join("s2"));
        call(dir, &format!("{SWEEP} --shard 2/3 -o s2"), &[("GUARDBIT_FAULT", &format!("kill:{at}"))]);
        stored("s2") == 1
    });
    assert!(at.is_some(), "it was killed between its points");
    let missing = |output: Output| {
        assert_eq!(output.status.code(), Some(1));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let sweep = &json["sweeps"][0];
        let points = sweep["missing"].as_array().unwrap().iter().map(|one| {
            format!(
                "{} {} {}",
                one["point"],
                one["shard"].as_str().unwrap_or("-"),
                one["what"].as_str().unwrap()
            )
        });
        (sweep["missing_shards"].to_string(), points.collect::<Vec<_>>())
    };
    let (shards, points) = missing(call(dir, "status s1 s2 --json", &[]));
    assert_eq!(shards, r#"["3/3"]"#);
    assert_eq!(
        points,
        [
            "3 2/3 bits=9 overflow=saturate",
            "4 3/3 bits=10 overflow=saturate",
            "5 3/3 bits=11 overflow=saturate"
        ]
    );
    let text = String::from_utf8(call(dir, "status s1 s2", &[]).stdout).unwrap();
    assert!(text.contains("unfinished") && text.contains("missing shards: 3/3"), "{text}");
    // Arguments that are no sweeps are bad usage, not missing points.
    succeed(dir, "run net.yaml --hw fpga-int14-os --random 1 -o run");
    for (other, why) in [
        ("net.yaml", "net.yaml is not the folder of a sweep"),
        ("s9", "s9 does not exist"),
        ("run", "run is not the folder of a sweep: it has run.json"),
    ] {
        let text = refused(dir, &format!("status s1 {other}"));
        assert!(text.contains("guardbit::status::folder") && text.contains(why), "{text}");
    }
    assert!(refused(dir, "merge s1 s2 -o partial").contains("guardbit::merge::missing"));
    let merged = call(dir, "merge s2 s1 --partial -o partial --all", &[]);
    assert!(merged.status.success());
    assert!(String::from_utf8(merged.stderr).unwrap().contains("3 of 6 points missing"));
    assert_eq!(
        String::from_utf8(merged.stdout).unwrap().lines().take_while(|line| !line.is_empty()).count(),
        1 + 3
    );
    let (shards, points) = missing(call(dir, "status partial --json", &[]));
    assert_eq!((shards.as_str(), points.len()), ("[]", 3));
    assert!(refused(dir, "compare partial whole").contains("lacks 3 of its points"));
    succeed(dir, &format!("{SWEEP} -o partial"));
    assert_same(&dir.join("whole"), &dir.join("partial"));
    assert!(call(dir, "status partial whole s1", &[]).status.code() == Some(1), "shards of s1 are missing");
    assert!(call(dir, "status partial whole", &[]).status.success());
    assert!(refused(dir, "merge --partial whole -o out").contains("guardbit::merge::folder"));
}

/// Tables have the format that the shards requested.
#[test]
fn a_merge_keeps_the_format_of_tables() {
    let dir = folder();
    let dir = dir.path();
    let sweep = format!("{SWEEP} --format parquet");
    succeed(dir, &format!("{sweep} -o whole"));
    succeed(dir, &format!("{sweep} --shard 1/2 -o s1"));
    // The format is kept: a command that resumes a shard need not repeat it.
    succeed(dir, &format!("{SWEEP} --shard 1/2 -o s1"));
    succeed(dir, &format!("{sweep} --shard 2/2 -o s2"));
    succeed(dir, "merge s1 s2 -o merged");
    assert!(dir.join("merged/summary.parquet").exists());
    assert_same(&dir.join("whole"), &dir.join("merged"));
}

/// A shard is only read, and a manifest that does not list the files of its points is refused, sealed or not.
#[test]
fn shards_are_whole_and_not_the_output() {
    let dir = folder();
    let dir = dir.path();
    shards(dir, 2);
    let before = contents(dir);
    for out in ["s1", "./s2/../s1", "s2/deeper", "."] {
        let text = refused(dir, &format!("merge s1 s2 -o {out} --force"));
        assert!(text.contains("guardbit::merge::output"), "{out}: {text}");
    }
    assert!(contents(dir) == before, "nothing is touched");
    let manifest = dir.join("s1/sweep.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let files = json["files"].as_array_mut().unwrap();
    let removed = files.iter().position(|file| file["path"] == "points/00001.json").unwrap();
    for change in ["removed", "renamed", "all"] {
        let mut json = json.clone();
        let files = json["files"].as_array_mut().unwrap();
        match change {
            "removed" => drop(files.remove(removed)),
            "renamed" => files[removed]["path"] = "report.html".into(),
            _ => files.clear(),
        }
        json["sha256"] = guardbit_files::UNSEALED.into();
        fs::write(&manifest, guardbit_files::seal_text(&serde_json::to_string(&json).unwrap())).unwrap();
        let text = refused(dir, "merge s1 s2 -o out");
        assert!(text.contains("guardbit::merge::unlisted"), "{change}: {text}");
    }
}

/// A manifest that was changed and sealed again never makes `status` panic: shards with other numbers of
/// points are other sweeps.
#[test]
fn parts_of_other_sizes_are_other_sweeps() {
    let dir = folder();
    let dir = dir.path();
    shards(dir, 2);
    let manifest = dir.join("s1/sweep.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    // The first shard has fewer points, all of which exist.
    json["points"].as_array_mut().unwrap().truncate(2);
    json["sha256"] = guardbit_files::UNSEALED.into();
    fs::write(&manifest, guardbit_files::seal_text(&serde_json::to_string(&json).unwrap())).unwrap();
    let output = call(dir, "status s1 s2", &[]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout.matches("missing shards").count(), 2, "{stdout}");
}
